"""``suffice evaluate``: how well a model answers rows whose label is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.decision import Decision
from suffice.cli.options.models import (
    label_of,
    load,
    predicts_numbers,
    refuse_labels,
    weight_of,
)
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.running import Running, reported
from suffice.cli.options.shared import (
    AsJson,
    Data,
    Ignore,
    ModelFile,
    Weight,
)
from suffice.cli.output.evaluation import (
    class_facts,
    class_tables,
    error_facts,
)
from suffice.cli.output.tables import deliver
from suffice.errors import DataError

if TYPE_CHECKING:
    from suffice.cli.documents import GroupEvaluations

__all__ = ["evaluate"]


def evaluate(
    *,
    model: ModelFile,
    data: Data,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            "--target",
            metavar="COL",
            help="The column of true answers; by default that of the fit.",
        ),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Judge the rows of every value of a column apart."),
    ] = None,
    weight: Weight = None,
    as_json: AsJson = False,
    ignore: Ignore = None,
    decision: Decision,
    read: ReadAs = None,
    running: Running,
) -> None:
    """Compare the answers with the truth.

    For classes: error rate, log loss, Brier score, confusions. For numbers: R²
    and the size of the errors.
    """
    reading = Reading.of(read)
    fitted = decision.applied(load(model))
    refuse_labels(fitted, reading)
    opened = remarked(reading.open(data, fitted.reader_.format))
    table = known_columns(opened, fitted, label, weight, by, ignore=ignore)
    with reported(f"Evaluating {', '.join(data)}") as report, running.chosen(report):
        truth = label_of(fitted, label), weight_of(fitted, weight, table)
        if by is None:
            found = fitted.evaluate(table, *truth, unanswerable="empty")
        else:
            groups = fitted.evaluate_by(table, truth[0], by, truth[1], unanswerable="empty")
    facts_of = _written(fitted, decision)
    if by is None:
        facts = facts_of(found)
        numbers = predicts_numbers(fitted)
        tables = (lambda: [found.table()]) if numbers else partial(class_tables, facts)
        deliver(facts, tables, as_json, None)
        return
    if not groups:
        raise DataError(f"{data[0]} holds no row", "an evaluation needs at least one")
    listed: list[Any] = [{"group": value, **facts_of(found)} for value, found in groups.items()]
    of_groups: GroupEvaluations = {"by": by, "groups": listed}
    deliver(of_groups, lambda: [groups.table()], as_json, None)


def _written(model: Any, decision: Decision) -> Callable[[Any], Any]:
    """How the evaluation of a model is written for programs."""
    if predicts_numbers(model):
        return error_facts
    costs = None if decision.threshold is not None else model.costs
    return partial(class_facts, costs=costs, classes=model.model_.classes.values)
