"""``suffice cv``: how good models are on rows that they have not learnt."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import remarked
from suffice.cli.messages.sentences import sentences
from suffice.cli.options.estimators import Options
from suffice.cli.options.learner import estimator_of, selected
from suffice.cli.options.names import listed
from suffice.cli.options.points import own_roles, points_of
from suffice.cli.options.recipes import MODELS
from suffice.cli.options.roles import COLUMNS, Roles
from suffice.cli.options.running import Running, refuse_threads
from suffice.cli.options.shared import (
    AsJson,
    Data,
    Labels,
    Reading,
    ResultFile,
    Weight,
    typed,
)
from suffice.cli.output.cross_validation import fold_facts, fold_tables
from suffice.cli.output.tables import deliver, refuse_result
from suffice.errors import ParameterError, SchemaError

if TYPE_CHECKING:
    from suffice.cli.documents import CrossValidation

__all__ = ["cv"]

FOR_CLASSES = ("naive-bayes", "lda", "qda", "logistic")
FOR_NUMBERS = ("linear", "ridge", "lasso")
REGRESSIONS = (*FOR_NUMBERS, "elastic-net")
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
        int | None,
        typer.Option(
            metavar="K", help="How many parts the rows are divided into.", show_default="10"
        ),
    ] = None,
    loo: Annotated[
        bool,
        typer.Option(
            "--loo",
            help="Leave every row out by itself, in closed form, instead of folds.",
        ),
    ] = False,
    by: Annotated[
        str | None,
        typer.Option(
            metavar="COL",
            help="Rows with the same value stay in one fold, such as those of a patient. The "
            "column is no feature.",
        ),
    ] = None,
    by_content: Annotated[
        bool,
        typer.Option(
            "--by-content",
            help="Folds by what the rows say, whatever their order; equal rows stay together.",
        ),
    ] = False,
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
        typer.Option(metavar="OPTION=A,B,C", help="Compare the values of an option of fit, too."),
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
    output: ResultFile = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Predict from these columns only; names may be comma lists.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    roles: Roles,
    reading: Reading,
    labels: Labels,
    options: Options,
    running: Running,
) -> None:
    """Compare models on rows that they have not learnt.

    The rows are divided into folds. Each fold is answered by models that have
    learnt the others; nothing is kept. Models of sums read the table twice,
    whatever the number of folds.
    """
    from suffice.model_selection import ByContent, evaluate_models
    from suffice.model_selection.division import InOrder

    refuse_result(output, data)
    refuse_threads(running, options.threads)
    ways = {
        "--by": by is not None,
        "--by-content": by_content,
        "--in-order": shuffle is False,
        "--shuffle": shuffle is True,
        "--folds": folds is not None,
    }
    _check_ways([way for way, given in ways.items() if given], loo)
    shuffled = shuffle or (shuffle is None and by is None and not by_content and not loo)
    parts = FOLDS if folds is None else folds
    in_order = InOrder(parts) if shuffle is False else parts
    division: Any = "loo" if loo else ByContent(parts) if by_content else in_order
    table = remarked(reading.open(data))
    table = selected(table, roles, [label], weight, _features(features, by))
    _check_column(table.names, by)
    names = listed(model) or _models_for(table, label)
    points = list(points_of(_known(names), options, grid or []))
    with running.reported(f"Judging models on {', '.join(data)}") as report:
        engine, learners = running.chosen(report, options.threads), {}
        for name, kind, own in points:
            learner = estimator_of(kind, own, own_roles(kind, names, roles), reading, labels)
            learner.engine = engine
            learners[name] = learner
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
    again = {
        name: ["--model", kind, *typed(own), *typed(own_roles(kind, names, roles))]
        for name, kind, own in points
    }
    told = [*data, "--label", label, *typed({"weight": weight, "features": features})]
    told += [*typed({"ignore": by}), *typed(reading), *typed(labels)]
    judged = fold_facts(sentences({name: found[name] for name in again}), score)
    facts: CrossValidation = {
        **judged,
        "seed": seed if shuffled else None,
        "in_order": shuffle is False,
        "next": join(["suffice", "fit", *told, *again[judged["best"]]]),
    }
    deliver(facts, lambda: fold_tables(facts), as_json, output)


def _check_ways(given: Sequence[str], loo: bool) -> None:
    """Refuse two ways to make folds."""
    if loo and given:
        raise ParameterError(
            f"--loo and {given[0]} are both given",
            "single rows are left out, and there are no folds",
            "leave one of them out",
        )
    made = [way for way in given if way != "--folds"]
    if len(made) > 1 and made != ["--by", "--shuffle"]:
        raise ParameterError(
            f"{made[0]} and {made[1]} are both given",
            "folds are made in one way",
            "leave one of them out",
        )


def _features(features: Sequence[str] | None, by: str | None) -> list[str]:
    """The columns that are read, if not all are."""
    named = listed(features)
    return [*named, by] if named and by else [*named]


def _known(models: Sequence[str]) -> list[str]:
    """The models, each of which there is; classifiers alone, or regressions."""
    for name in models:
        if name not in MODELS:
            raise ParameterError(
                f"--model {name!r}", f"the models are {', '.join(map(repr, MODELS))}"
            )
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
