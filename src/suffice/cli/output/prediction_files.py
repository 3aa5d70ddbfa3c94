"""Where ``suffice predict`` writes: a text, Parquet, Arrow or JSON file, or standard output."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from suffice.atomic import atomic_writer
from suffice.cli.output.tables import plain, standard_output
from suffice.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["opener"]

Write = Callable[["pa.Table"], None]


def opener(output: Path | None) -> Callable[[], Any]:
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
        ".jsonl": lambda: _json_lines(output),
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
def _json_lines(path: Path) -> Iterator[Write]:
    with atomic_writer(path, "w") as file:

        def write(predictions: pa.Table) -> None:
            for row in predictions.to_pylist():
                file.write(json.dumps(plain(row), ensure_ascii=False, allow_nan=False) + "\n")

        yield write


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
