"""``suffice predict``: an answer for every row, in order."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.decision import Decision
from suffice.cli.options.models import load, predicts_numbers
from suffice.cli.options.names import listed, no_such_column
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.running import Running, reported
from suffice.cli.options.shared import Data, Ignore, ModelFile, RowsAsJson
from suffice.cli.output.rows import deliver_rows, opener
from suffice.cli.output.tables import refuse_result
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.data.table import Table

__all__ = ["predict"]

KINDS = ("prediction", "confidence", "conformal")  # of intervals


def predict(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help=".csv, .tsv, .jsonl, .parquet, .arrow; default: CSV to stdout."
        ),
    ] = None,
    as_json: RowsAsJson = False,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every class.")
    ] = False,
    log_proba: Annotated[
        bool, typer.Option("--log-proba", help="Add its natural logarithm.")
    ] = False,
    interval: Annotated[
        str | None,
        typer.Option(
            metavar="prediction|confidence|conformal",
            help="linear, ridge: add the ends of an interval for the row, or for its mean; "
            "'conformal' is for the row, by the errors of rows of 'suffice calibrate'. "
            "Classifiers: 'confidence' adds the ends of an interval for each probability, as the "
            "parameters were learnt from so many rows.",
        ),
    ] = None,
    level: Annotated[
        float | None, typer.Option(help="Probability of the interval.", show_default="0.95")
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            "--id",
            metavar="COL",
            help="Write columns of the input before the predictions, as they stand in the file: "
            "comma lists of names, or all.",
        ),
    ] = None,
    ignore: Ignore = None,
    decision: Decision,
    read: ReadAs = None,
    running: Running,
) -> None:
    """Predict every row, in order.

    Rows stream through: memory does not grow with the files. The column to be
    predicted may be there or not. A malformed row that is left out (-r
    skip_bad_rows=N) has an empty prediction.
    """
    from suffice.data.beside import beside, cells_as_stored, skipped_rows

    reading = Reading.of(read)
    written = opener(output)
    refuse_result(output, [model, *data])
    fitted = decision.applied(load(model))
    wanted = _options(fitted, proba, log_proba, interval, level)
    opened = remarked(reading.open(data, fitted.format_))
    kept = _kept(opened, keep)
    table = known_columns(opened, fitted, ignore=ignore, kept=kept)
    skipped = skipped_rows(opened)
    with reported(f"Predicting {', '.join(data)}") as report, running.chosen(report, 1):
        answers = fitted.predict_batches(table, unanswerable="empty", **wanted)
        cells = cells_as_stored(opened, kept) if kept else None
        rows = beside(answers, cells, skipped)
        if as_json:
            facts = {"model": str(model), "type": type(fitted).__name__}
            found = {"skipped": [{"file": one.file, "line": one.line} for one in skipped]}
            deliver_rows(
                {**facts, **found}, "answers", rows, written, output, "unanswered", len(kept)
            )
            return
        with written() as write:
            for part in rows:
                write(part)


def _kept(table: Table, keep: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns that are to stand beside the predictions."""
    names = tuple(dict.fromkeys(listed(keep)))
    if names == ("all",) and "all" not in table.names:
        return table.names
    for name in names:
        if name not in table.names:
            raise no_such_column("keep", name, table.names)
    return names


def _options(
    model: Any, proba: bool, log_proba: bool, interval: str | None, level: float | None
) -> dict[str, Any]:
    """What the answers of a model are to hold.

    Raises
    ------
    ParameterError
        Naming an option of other models.
    """
    name = type(model).__name__
    if interval not in (None, *KINDS):
        known = ", ".join(map(repr, KINDS))
        raise ParameterError(f"--interval {interval!r}", f"it is one of {known}")
    if level is not None and interval is None:
        raise ParameterError(
            f"--level {level:g} is given without --interval",
            "it is the probability of an interval",
            f"add --interval {'prediction' if predicts_numbers(model) else 'confidence'}",
        )
    ends = {"interval": interval, "level": 0.95 if level is None else level}
    if not predicts_numbers(model):
        if interval in ("prediction", "conformal"):
            raise ParameterError(
                f"--interval {interval} is given for a {name}",
                "its answers are classes, not numbers",
                "use --interval confidence, which is of their probabilities",
            )
        return {"proba": proba, "log_proba": log_proba, **ends}
    for option, given in (("proba", proba), ("log-proba", log_proba)):
        if given:
            _refuse(option, model)
    return ends


def _refuse(option: str, model: Any) -> None:
    raise ParameterError(
        f"--{option} is given for a {type(model).__name__}",
        "its answers are numbers, not classes",
        "use --interval prediction",
    )
