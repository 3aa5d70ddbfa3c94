"""``suffice predict``: an answer for every row, in order."""

from __future__ import annotations

import csv
import io
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TextIO, cast

import typer

import suffice
from suffice.atomic import atomic_writer
from suffice.cli.options import Data, ModelFile, Reading
from suffice.cli.output import refuse_overwriting, working
from suffice.errors import ParameterError, SufficeWarning

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from suffice.data.table import Table
    from suffice.models.estimator import GenerativeClassifier

__all__ = ["predict"]

Write = Callable[["pa.Table"], None]


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
    reading: Reading,
) -> None:
    """Answer every row, in order.

    Rows stream through: memory does not grow with the files. The label column
    may be there or not.
    """
    opened = _opener(output)
    refuse_overwriting(output, [model, *data])
    fitted = suffice.load(model)
    table = reading.open(data, fitted.format_)
    missing = (*fitted.layout_.missing, *(reading.missing or ()))
    with opened() as write, working(f"Predicting {', '.join(data)}"):
        for log_joint in _log_joints(fitted, table, missing):
            write(_answers(fitted, log_joint, proba, log_proba))


def _log_joints(
    model: GenerativeClassifier, table: Table, missing: tuple[str, ...]
) -> Iterator[NDArray[np.float64]]:
    """Yield log P(x, c), (rows, k), batch by batch."""
    from suffice.data.opening import open_table
    from suffice.models.generative import each_batch

    rows = impossible = 0
    layout = replace(model.layout_, missing=missing)
    splits = open_table(table).splits(layout, workers=1)
    # A table without rows gets an answer without rows, not an empty file.
    yield model.model_.log_prior[None][:0]
    for split in splits:
        for log_joint in each_batch(split, layout, model.model_.log_joint):
            rows += len(log_joint)
            impossible += int((log_joint.max(axis=1) == float("-inf")).sum())
            yield log_joint
    if impossible:
        warnings.warn(
            f"{impossible} of {rows} rows are impossible under every class; they were answered by "
            "the class prior. Smoothing (--alpha above 0) avoids this.",
            SufficeWarning,
        )


def _answers(
    model: GenerativeClassifier, log_joint: NDArray[np.float64], proba: bool, log_proba: bool
) -> pa.Table:
    import pyarrow as pa

    from suffice.numerics.logspace import log_normalise, normalise

    classes, prior = model.model_.classes.values, model.model_.prior
    log_posterior = log_normalise(log_joint, model.model_.log_prior)[0]
    columns = {"prediction": pa.array(classes).take(pa.array(log_posterior.argmax(axis=1)))}
    if proba:
        posterior = normalise(log_joint.copy(), prior)[0]
        columns |= {f"P({c})": pa.array(p) for c, p in zip(classes, posterior.T, strict=True)}
    if log_proba:
        columns |= {
            f"log P({c})": pa.array(p) for c, p in zip(classes, log_posterior.T, strict=True)
        }
    return pa.table(columns)


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
    text = io.TextIOWrapper(sys.stdout.buffer, "utf-8", newline="", write_through=True)
    try:
        yield _delimited(text, ",")
    finally:
        # The buffer belongs to sys.stdout, which is still in use.
        text.detach()


@contextmanager
def _text_file(path: Path, delimiter: str) -> Iterator[Write]:
    with atomic_writer(path, "w") as file:
        yield _delimited(file, delimiter)


def _delimited(file: TextIO, delimiter: str) -> Write:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    begun = False

    def write(answers: pa.Table) -> None:
        nonlocal begun
        if not begun:
            writer.writerow(answers.column_names)
            begun = True
        writer.writerows(zip(*(column.to_pylist() for column in answers.columns), strict=True))

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

    def write(answers: pa.Table) -> None:
        if not writers:
            writers.append(opened(answers.schema))
        writers[0].write_table(answers)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()
