"""``suffice predict``: a prediction for every row, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli import options
from suffice.cli.models import known_columns, load_model, predicts_numbers, refuse_result
from suffice.cli.options import option
from suffice.cli.output import rows_to
from suffice.cli.values import check_columns, listed
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.data.table import Table


def predict(
    *,
    model: options.ModelFile,
    data: options.Data,
    keep: Annotated[
        list[str] | None,
        option(
            "COL",
            "Write these columns of DATA, too, as they are: comma lists, or all.",
            "--keep",
            "--id",
        ),
    ] = None,
    output: options.RowsFile = None,
    as_json: options.RowsAsJson = False,
    proba: Annotated[bool, typer.Option("--proba", help="Add P(class).")] = False,
    interval: Annotated[
        str | None,
        option(
            "KIND", "Add a prediction, confidence or conformal interval; of classes: confidence."
        ),
    ] = None,
    level: Annotated[float | None, option("P", "Of the interval (default: 0.95).")] = None,
    threshold: options.Threshold = None,
    costs: options.Costs = None,
    read: options.ReadAs = None,
    ignore: options.Ignore = None,
    engine: options.Engine = None,
) -> None:
    """Predict every row, in order.

    Memory does not grow with the files. A malformed row that --skip-bad-rows N leaves
    out has an empty prediction, and in JSON its line.

    Example: suffice predict adult.suffice new.csv --keep id --proba -o out.csv
    """
    from suffice.data.beside import beside, cells_as_stored, skipped_rows

    reading = options.Reading.of(read)
    refuse_result(output, [model, *data])
    fitted = options.decided(load_model(model), threshold, costs)
    wanted = _options(fitted, proba, interval, level)
    opened = reading.open(data, fitted.reader_.format)
    kept = _kept(opened, keep)
    table = known_columns(opened, fitted, ignore=ignore, kept=kept)
    skipped = skipped_rows(opened)
    with options.running(engine, f"Predicting {', '.join(data)}", 1):
        answers = fitted.predict_batches(table, unanswerable="empty", **wanted)
        cells = cells_as_stored(opened, kept) if kept else None
        rows = beside(answers, cells, skipped, lines=as_json)
        with rows_to(output, as_json) as write:
            for part in rows:
                write(part)


def _kept(table: Table, keep: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that are to stand beside the predictions."""
    names = tuple(dict.fromkeys(listed(keep)))
    if names == ("all",) and "all" not in table.names:
        return table.names
    check_columns("keep", names, table.names)
    return names


def _options(model: Any, proba: bool, interval: str | None, level: float | None) -> dict[str, Any]:
    """Return what the predictions of a model are to hold."""
    numbers = predicts_numbers(model)
    if level is not None and interval is None:
        raise ParameterError(
            f"--level {level:g} is given without --interval",
            "it is the probability of an interval",
            f"add --interval {'prediction' if numbers else 'confidence'}",
        )
    ends = {"interval": interval, "level": 0.95 if level is None else level}
    if numbers and proba:
        raise ParameterError(
            f"--proba is given for a {type(model).__name__}",
            "its predictions are numbers, not classes",
            "use --interval prediction",
        )
    return ends if numbers else {"proba": proba, **ends}
