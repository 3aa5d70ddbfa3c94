"""``suffice predict``: an answer for every row, in order."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

from suffice.atomic import atomic_writer
from suffice.cli.models import is_generative, load, predicts_numbers, refuse_tokens
from suffice.cli.options import Data, ModelFile, Reading
from suffice.cli.output import refuse_overwriting, standard_output
from suffice.cli.running import Running
from suffice.errors import ParameterError, warn

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from suffice.data.schema import Layout
    from suffice.data.source import Split
    from suffice.data.table import Table
    from suffice.engines.progress import Report
    from suffice.linear_model import LogisticRegression
    from suffice.models.generative.classifier import GenerativeClassifier
    from suffice.models.linear.least_squares import LeastSquares
    from suffice.models.linear.posterior import Posterior
    from suffice.models.linear.regressor import LinearRegressor
    from suffice.statistics.batch import Batch

__all__ = ["predict"]

Write = Callable[["pa.Table"], None]
Read = Callable[["Sequence[Split]", "Layout", Callable[["Batch"], Any]], Iterator[Any]]
"""Applies a function to every batch of splits that are read by a layout."""


def predict(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help=".csv, .tsv, .parquet or .arrow; by default CSV to stdout."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the probability of every class.")
    ] = False,
    log_proba: Annotated[
        bool, typer.Option("--log-proba", help="Add its natural logarithm.")
    ] = False,
    interval: Annotated[
        str | None,
        typer.Option(
            metavar="prediction|confidence",
            help="linear, ridge: add the ends of an interval for the row, or for its mean.",
        ),
    ] = None,
    level: Annotated[float, typer.Option(help="Probability of the interval.")] = 0.95,
    reading: Reading,
    running: Running,
) -> None:
    """Answer every row, in order.

    Rows stream through: memory does not grow with the files. With --engine or
    --workers, whole parts of a file are answered at a time. The column to be
    predicted may be there or not.
    """
    opened = _opener(output)
    refuse_overwriting(output, [model, *data])
    fitted = load(model)
    _check_options(fitted, proba, log_proba, interval)
    table = reading.open(data, fitted.format_)
    refuse_tokens(fitted, reading, table, data[0])
    with running.reported(f"Predicting {', '.join(data)}") as report:
        read = _reader(running, report)
        if predicts_numbers(fitted):
            predictions = _numbers(fitted, table, read, interval, level)
        elif is_generative(fitted):
            missing = (*fitted.layout_.missing, *(reading.missing or ()))
            predictions = _generative(fitted, table, read, missing, proba, log_proba)
        else:
            predictions = _discriminative(fitted, table, read, proba, log_proba)
        with opened() as write:
            for part in predictions:
                write(part)


def _reader(running: Running, report: Report) -> Read:
    """Apply functions to batches, one after another here, or whole splits at a time elsewhere."""
    from suffice.data.source import each_batch
    from suffice.engines.watched import each_watched

    if not running.here:
        engine = running.chosen(report)
        return lambda splits, layout, function: chain.from_iterable(
            engine.map(_answered, (layout, function), splits)
        )
    return lambda splits, layout, function: chain.from_iterable(
        each_batch(split, layout, function) for split in each_watched(splits, report)
    )


def _answered(split: Split, task: tuple[Layout, Callable[[Batch], Any]]) -> list[Any]:
    """Kernel of a prediction: what a function makes of every batch."""
    from suffice.data.source import each_batch

    return list(each_batch(split, *task))


def _check_options(model: Any, proba: bool, log_proba: bool, interval: str | None) -> None:
    """Refuse what the answers of a model do not have.

    Raises
    ------
    ParameterError
        Naming the option.
    """
    name = type(model).__name__
    if predicts_numbers(model):
        for option, given in (("proba", proba), ("log-proba", log_proba)):
            if given:
                raise ParameterError(
                    f"--{option} is given for a {name}",
                    "its answers are numbers, not classes",
                    "use --interval prediction",
                )
    elif interval is not None:
        raise ParameterError(
            f"--interval is given for a {name}",
            "its answers are classes, not numbers",
            "use --proba",
        )
    if interval not in (None, "prediction", "confidence"):
        raise ParameterError(f"--interval {interval!r}", "it is one of 'prediction', 'confidence'")


def _generative(
    model: GenerativeClassifier,
    table: Table,
    read: Read,
    missing: tuple[str, ...],
    proba: bool,
    log_proba: bool,
) -> Iterator[pa.Table]:
    """Answer batch by batch, and say how many rows no class could have produced."""
    from suffice.data.open import open_table
    from suffice.numerics.logspace import log_normalise, normalise

    def predicted(log_joint: NDArray[np.float64]) -> pa.Table:
        logs = log_normalise(log_joint, known.log_prior)[0]
        shares = normalise(log_joint.copy(), known.prior)[0] if proba else None
        return _classes(known.classes.values, logs, shares, log_proba)

    rows = impossible = 0
    known, layout = model.model_, replace(model._layout_to_answer(), missing=missing)
    splits = open_table(table).splits(layout, workers=1)
    # A table without rows gets an answer without rows, not an empty file.
    yield predicted(known.log_prior[None][:0])
    for log_joint in read(splits, layout, known.log_joint):
        rows += len(log_joint)
        impossible += int((log_joint.max(axis=1) == float("-inf")).sum())
        yield predicted(log_joint)
    if impossible:
        warn(
            f"{impossible} of {rows} rows are impossible under every class; they were answered by "
            "the class prior. Smoothing (--alpha above 0) avoids this."
        )


def _discriminative(
    model: LogisticRegression, table: Table, read: Read, proba: bool, log_proba: bool
) -> Iterator[pa.Table]:
    """Answer batch by batch."""
    import numpy as np

    from suffice.data.open import open_table

    known, layout = model.model_, model.layout_

    def predicted(logs: NDArray[np.float64]) -> pa.Table:
        return _classes(known.classes.values, logs, np.exp(logs) if proba else None, log_proba)

    splits = open_table(table).splits(layout, workers=1)
    yield predicted(known.log_prior[None][:0])
    yield from map(predicted, read(splits, layout, known.log_posterior))


def _classes(
    classes: Sequence[Any],
    log_posterior: NDArray[np.float64],
    posterior: NDArray[np.float64] | None,
    log_proba: bool,
) -> pa.Table:
    import pyarrow as pa

    columns = {"prediction": pa.array(classes).take(pa.array(log_posterior.argmax(axis=1)))}
    if posterior is not None:
        columns |= {f"P({c})": pa.array(p) for c, p in zip(classes, posterior.T, strict=True)}
    if log_proba:
        columns |= {
            f"log P({c})": pa.array(p) for c, p in zip(classes, log_posterior.T, strict=True)
        }
    return pa.table(columns)


def _numbers(
    model: LinearRegressor, table: Table, read: Read, interval: str | None, level: float
) -> Iterator[pa.Table]:
    """Answer batch by batch, with the ends of intervals where these are asked for."""
    import numpy as np
    import pyarrow as pa

    from suffice.data.open import open_table

    known: Any = model.model_
    fit, targets = known.fit, known.design.targets
    ends = ("lower", "upper") if interval else ()
    names = [
        f"{kind} of {target}" if len(targets) > 1 else kind
        for target in targets
        for kind in ("prediction", *ends)
    ]
    answer = fit.predict
    if interval:
        # A row that has to be completed has an error that the interval does not know of.
        known, posterior = replace(known, cells=None), model.posterior()
        reach, noise = posterior.quantile(level), float(interval == "prediction")
        answer = partial(_with_interval, fit, posterior, reach, noise)

    def predicted(part: NDArray[np.float64]) -> pa.Table:
        return pa.table(dict(zip(names, map(pa.array, part.T), strict=True)))

    splits = open_table(table).splits(known.layout, workers=1)
    yield predicted(np.empty((0, len(names))))
    for parts in read(splits, known.layout, partial(known.predicted, answer)):
        yield from map(predicted, parts)


def _with_interval(
    fit: LeastSquares, posterior: Posterior, reach: float, noise: float, x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Predictions and the ends of their intervals, target by target."""
    import numpy as np

    from suffice.models.linear.model import within

    ends = within(fit, posterior, reach, noise, x)
    return np.concatenate([fit.predict(x)[:, :, None], ends], axis=2).reshape(len(x), -1)


# Writers ----------------------------------------------------------------------------------------


def _opener(output: Path | None) -> Callable[[], Any]:
    """How to open what the answers are written to, by its suffix.

    Raises
    ------
    ParameterError
        If the suffix names no format.
    """
    if output is None:
        return _standard_output
    openers = {
        ".csv": lambda: _text_file(output, ","),
        ".tsv": lambda: _text_file(output, "\t"),
        ".parquet": lambda: _parquet_file(output),
        ".arrow": lambda: _arrow_file(output),
    }
    if output.suffix.lower() not in openers:
        raise ParameterError(
            f"--output {output}", f"the suffix tells the format: {', '.join(openers)}"
        )
    return openers[output.suffix.lower()]


@contextmanager
def _standard_output() -> Iterator[Write]:
    with standard_output() as stdout:
        text = io.TextIOWrapper(stdout.buffer, "utf-8", newline="", write_through=True)
    written = _delimited(text, ",")

    def write(predictions: pa.Table) -> None:
        with standard_output():
            written(predictions)

    try:
        yield write
    finally:
        # The buffer belongs to sys.stdout, which is still in use.
        with standard_output():
            text.detach()


@contextmanager
def _text_file(path: Path, delimiter: str) -> Iterator[Write]:
    with atomic_writer(path, "w") as file:
        yield _delimited(file, delimiter)


def _delimited(file: TextIO, delimiter: str) -> Write:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    begun = False

    def write(predictions: pa.Table) -> None:
        nonlocal begun
        if not begun:
            writer.writerow(predictions.column_names)
            begun = True
        writer.writerows(zip(*(column.to_pylist() for column in predictions.columns), strict=True))

    return write


@contextmanager
def _parquet_file(path: Path) -> Iterator[Write]:
    from pyarrow.parquet import ParquetWriter

    with atomic_writer(path) as file, _once(lambda schema: ParquetWriter(file, schema)) as write:
        yield write


@contextmanager
def _arrow_file(path: Path) -> Iterator[Write]:
    import pyarrow as pa

    with (
        atomic_writer(path) as file,
        _once(lambda schema: pa.ipc.new_file(cast(io.IOBase, file), schema)) as write,
    ):
        yield write


@contextmanager
def _once(opened: Callable[[pa.Schema], Any]) -> Iterator[Write]:
    """Open a writer when the first answers tell the schema, and close it at the end."""
    writers: list[Any] = []

    def write(predictions: pa.Table) -> None:
        if not writers:
            writers.append(opened(predictions.schema))
        writers[0].write_table(predictions)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()
