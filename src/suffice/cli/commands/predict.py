"""``suffice predict``: an answer for every row, in order."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.decision import Decision
from suffice.cli.options.models import load, predicts_numbers
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.running import Running, reported
from suffice.cli.options.shared import Data, Ignore, ModelFile, RowsAsJson
from suffice.cli.output.rows import deliver_rows, opener
from suffice.cli.output.tables import refuse_result
from suffice.errors import ParameterError

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
    ignore: Ignore = None,
    decision: Decision,
    read: ReadAs = None,
    running: Running,
) -> None:
    """Answer every row, in order.

    Rows stream through: memory does not grow with the files. With --engine or
    --threads, whole parts of a file are answered at a time. The column to be
    predicted may be there or not.
    """
    reading = Reading.of(read)
    opened = opener(output)
    refuse_result(output, [model, *data])
    fitted = decision.applied(load(model))
    wanted = _options(fitted, proba, log_proba, interval, level)
    table = known_columns(
        remarked(reading.open(data, fitted.reader_.format)), fitted, ignore=ignore
    )
    with reported(f"Predicting {', '.join(data)}") as report, running.chosen(report, 1):
        answers = fitted.predict_batches(table, unanswerable="empty", **wanted)
        if as_json:
            facts = {"model": str(model), "type": type(fitted).__name__}
            deliver_rows(facts, "answers", answers, opened, output, "unanswered")
            return
        with opened() as write:
            for part in answers:
                write(part)


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
