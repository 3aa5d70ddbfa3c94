"""``suffice cv``: how good models are on rows that they have not learnt."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import remarked
from suffice.cli.messages.sentences import sentences
from suffice.cli.options.learner import (
    Columns,
    estimator_of,
    given_columns,
    points_of,
    selected,
)
from suffice.cli.options.names import listed
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.recipes import REGRESSIONS, class_of
from suffice.cli.options.running import Running, reported
from suffice.cli.options.shared import AsJson, Data, Parameters, Weight, typed
from suffice.cli.output.cross_validation import fold_facts, fold_tables
from suffice.cli.output.tables import deliver
from suffice.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from suffice.cli.documents import CrossValidation

__all__ = ["cv"]

FOR_CLASSES = ("naive-bayes", "lda", "qda", "logistic")
FOR_NUMBERS = ("linear", "ridge", "lasso")
FOLDS = 10


def cv(
    *,
    data: Data,
    label: Annotated[
        str,
        typer.Option(
            "--label",
            "--target",
            metavar="COL",
            help="The column to be predicted.",
            show_default=False,
        ),
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A,B",
            help="The models to compare, as fit names them; by default those for such a label.",
        ),
    ] = None,
    folds: Annotated[
        str,
        typer.Option(
            metavar="K|loo",
            help="How many parts the rows are divided into; loo: every row is one.",
        ),
    ] = "10",
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Rows with the same value stay in one fold, such as those of a patient. The "
            "column is no feature.",
        ),
    ] = None,
    shuffle: Annotated[
        bool | None,
        typer.Option(
            "--shuffle/--in-order",
            help="Deal the rows to the folds at random, each class evenly (with --by, the groups), "
            "or let each fold be a stretch of the file, whatever its classes, as for rows in the "
            "order of time.",
            show_default="shuffle; in order of size with --by",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(metavar="N", help="Of the random order.")] = 0,
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B,C", help="Compare these values of a parameter, too."),
    ] = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="What models are ranked by, such as 'log loss', 'error rate', 'ROC area', RMSE.",
        ),
    ] = None,
    weight: Weight = None,
    as_json: AsJson = False,
    parameters: Parameters = None,
    read: ReadAs = None,
    columns: Columns,
    running: Running,
) -> None:
    """Compare models on rows that they have not learnt.

    The rows are divided into folds. Each fold is answered by models that have
    learnt the others; nothing is kept. Models of sums read the table twice,
    whatever the number of folds.
    """
    from suffice.model_selection import evaluate_models
    from suffice.model_selection.folds import InOrder

    reading, loo, parts = Reading.of(read), folds == "loo", _number(folds)
    _check_ways(loo, by, shuffle)
    shuffled = shuffle or (shuffle is None and by is None and not loo)
    division: Any = "loo" if loo else InOrder(parts) if shuffle is False else parts
    table = remarked(reading.open(data))
    table = selected(table, columns, [label], weight, by)
    _check_column(table.names, by)
    names = _known(listed(model) or _models_for(table, label))
    points = list(points_of(names, parameters, grid or []))
    learners = {
        point.name: estimator_of(point.model, point.parameters, columns, reading, names)
        for point in points
    }
    with reported(f"Judging models on {', '.join(data)}") as report, running.chosen(report):
        found = evaluate_models(
            learners,
            table,
            label,
            weight,
            cv=division,
            groups=by,
            shuffle=shuffled,
            random_state=seed,
        )
    told = [*data, "--label", label, *typed({"weight": weight, **given_columns(columns)})]
    told += [*typed({"ignore": by}), *reading.words]
    judged = fold_facts(sentences({point.name: found[point.name] for point in points}), score)
    best = next(point for point in points if point.name == judged["best"])
    facts: CrossValidation = {
        **judged,
        "seed": seed if shuffled else None,
        "in_order": shuffle is False,
        "next": join(["suffice", "fit", *told, "--model", best.model, *best.words]),
    }
    deliver(facts, lambda: fold_tables(facts), as_json, None)


def _number(folds: str) -> int:
    """Return the number of folds; 0 for leave-one-out."""
    if folds == "loo":
        return 0
    if not folds.isdecimal():
        rule = "it is a whole number, 2 or more, or loo"
        raise ParameterError(f"--folds {folds}", rule, "write --folds 10")
    return int(folds)


def _check_ways(loo: bool, by: str | None, shuffle: bool | None) -> None:
    """Refuse two ways to make folds."""
    given = ["--folds loo"] * loo + ["--by"] * (by is not None)
    given += [] if shuffle is None else ["--shuffle" if shuffle else "--in-order"]
    if len(given) > 1 and given != ["--by", "--shuffle"]:
        raise ParameterError(
            f"{given[0]} and {given[1]} are both given",
            "single rows are left out, and there are no folds"
            if loo
            else "folds are made in one way",
            "leave one of them out",
        )


def _known(models: Sequence[str]) -> list[str]:
    """The models, each of which there is; classifiers alone, or regressions."""
    for name in models:
        class_of(name)
    if len({name in REGRESSIONS for name in models}) > 1:
        raise ParameterError(
            f"--model {','.join(models)}",
            "some predict a class, the others a number",
            "compare models of one kind",
        )
    return list(dict.fromkeys(models))


def _models_for(table: Any, label: str) -> tuple[str, ...]:
    """Regressions where the labels are numbers with fractions, classifiers elsewhere."""
    from suffice.data.arrow_columns import stored_as

    stored = stored_as(table.shown.schema.field(label).type)
    return FOR_NUMBERS if stored == "number" else FOR_CLASSES


def _check_column(names: Sequence[str], by: str | None) -> None:
    if by is not None and by not in names:
        raise SchemaError(
            f"there is no column {by!r}",
            f"the columns are {', '.join(map(repr, names))}",
            "give --by one of these",
        )
