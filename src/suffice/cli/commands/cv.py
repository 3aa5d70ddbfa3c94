"""``suffice cv``: models compared by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages import sentence
from suffice.cli.options import (
    AsJson,
    Columns,
    Data,
    Parameters,
    ReadAs,
    Reading,
    Running,
    Weight,
    estimator_of,
    given_columns,
    points_of,
    reported,
    selected,
    typed,
)
from suffice.cli.output import CommandLine, deliver
from suffice.cli.results import fold_facts
from suffice.cli.values import REGRESSIONS, class_of, listed
from suffice.errors import ParameterError, SchemaError
from suffice.phrases import rows_in_print

if TYPE_CHECKING:
    from suffice.model_selection.ranking import RankedModels
    from suffice.numerics.in_print import Table

FOR_CLASSES = ("naive-bayes", "lda", "qda", "logistic")
FOR_NUMBERS = ("linear", "ridge", "lasso")


def cv(
    *,
    data: Data,
    label: Annotated[
        str, typer.Option("--label", "--target", metavar="COL", help="Column to predict.")
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Models, as for fit (default: those for the label)."),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B,C", help="Compare values of a parameter."),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Rank by 'log loss', 'error rate', 'ROC area', RMSE, R²."
        ),
    ] = None,
    as_json: AsJson = False,
    parameters: Parameters = None,
    folds: Annotated[
        str,
        typer.Option(metavar="K|loo", help="Folds; loo: leave one out.", rich_help_panel="Folds"),
    ] = "10",
    by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Groups that stay together.", rich_help_panel="Folds"),
    ] = None,
    shuffle: Annotated[
        bool | None,
        typer.Option(
            "--shuffle/--in-order",
            help="At random (default without --by), or stretches of the file.",
            rich_help_panel="Folds",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Of the random order.", rich_help_panel="Folds")
    ] = 0,
    read: ReadAs = None,
    columns: Columns,
    weight: Weight = None,
    running: Running,
) -> None:
    """Compare models by cross-validation.

    Models of sufficient statistics read the table twice, whatever the number of
    folds.
    """
    from suffice.data.schema import stored_as
    from suffice.model_selection import evaluate_models
    from suffice.model_selection.folds import InOrder
    from suffice.model_selection.ranking import RankedModels

    reading, loo = Reading.of(read), folds == "loo"
    if not loo and not (folds.isdecimal() and int(folds) > 1):
        rule = "it is a whole number, 2 or more, or loo"
        raise ParameterError(f"--folds {folds}", rule, "write --folds 10")
    _check_ways(loo, by, shuffle)
    shuffled = shuffle or (shuffle is None and by is None and not loo)
    division: Any = "loo" if loo else InOrder(int(folds)) if shuffle is False else int(folds)
    table = selected(reading.open(data), columns, [label], weight, by)
    if by is not None and by not in table.names:
        names = ", ".join(map(repr, table.names))
        fact, step = f"there is no column {by!r}", "give --by one of these"
        raise SchemaError(fact, f"the columns are {names}", step)
    numbers = stored_as(table.shown.schema.field(label).type) == "number"
    models = _known(listed(model) or (FOR_NUMBERS if numbers else FOR_CLASSES))
    points = list(points_of(models, parameters, grid or []))
    learners = {
        point.name: estimator_of(point.model, point.parameters, columns, reading, models)
        for point in points
    }
    how: Any = {"cv": division, "groups": by, "shuffle": shuffled, "random_state": seed}
    with reported(f"Evaluating models on {', '.join(data)}") as report, running.chosen(report):
        ranked = RankedModels(evaluate_models(learners, table, label, weight, **how), score)
    best = next(point for point in points if point.name == ranked.best)
    words = [*data, "--label", label, *typed({"weight": weight, **given_columns(columns)})]
    words += [*typed({"ignore": by}), *reading.words, "--model", best.model, *best.words]
    facts = {
        **fold_facts(ranked),
        "seed": seed if shuffled else None,
        "in_order": shuffle is False,
        "next": join(["suffice", "fit", *words]),
    }
    deliver(facts, lambda: _shown(facts, ranked), as_json)


def _shown(facts: dict[str, Any], ranked: RankedModels) -> Iterator[str | Table]:
    yield ranked.table()
    dealt = "" if facts["seed"] is None else f" dealt at random (seed {facts['seed']})"
    stretches = ", each a stretch of the table" if facts["in_order"] else ""
    rows = rows_in_print(facts["rows"])
    if facts["folds"] == 1:
        yield f"  {rows}, each left out of the fit that predicts it."
    else:
        yield f"  {rows}{dealt} in {facts['folds']} folds{stretches}; mean ± standard error."
    for name, refused in ranked.found.items():
        if isinstance(refused, Exception):
            yield f"  {name}: not fitted; {sentence(refused)}"
    yield CommandLine(f"\n  {facts['next']}")


def _check_ways(loo: bool, by: str | None, shuffle: bool | None) -> None:
    """Refuse two ways to make folds."""
    given = ["--folds loo"] * loo + ["--by"] * (by is not None)
    given += [] if shuffle is None else ["--shuffle" if shuffle else "--in-order"]
    if len(given) > 1 and given != ["--by", "--shuffle"]:
        one = "single rows are left out, and there are no folds"
        raise ParameterError(
            f"{given[0]} and {given[1]} are both given",
            one if loo else "folds are made in one way",
            "leave one of them out",
        )


def _known(models: Sequence[str]) -> list[str]:
    """Return the models, each of which there is; classifiers alone, or regressions."""
    for name in models:
        class_of(name)
    if len({name in REGRESSIONS for name in models}) > 1:
        raise ParameterError(
            f"--model {','.join(models)}",
            "some predict a class, the others a number",
            "compare models of one kind",
        )
    return list(dict.fromkeys(models))
