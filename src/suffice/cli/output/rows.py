"""Rows: predictions and drawn rows as delimited text, Parquet, Arrow, JSON lines or a document."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, cast

from suffice.atomic import atomic_writer
from suffice.cli.output.tables import deliver, plain, standard_output
from suffice.errors import ParameterError

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["deliver_rows", "opener"]

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


# With --json --------------------------------------------------------------------------------


@dataclass
class _Passed:
    """What has passed by: the columns, the rows, and how many have no prediction."""

    empty_as: str | None
    place: int = 0  # of the column of predictions
    columns: list[str] = field(default_factory=list)
    rows: int = 0
    empty: int = 0

    def by(self, tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
        for table in tables:
            self.columns = list(table.column_names)
            self.rows += table.num_rows
            self.empty += table.column(self.place).null_count
            yield table

    @property
    def counts(self) -> dict[str, int]:
        return {"rows": self.rows} | ({self.empty_as: self.empty} if self.empty_as else {})


def deliver_rows(
    facts: Mapping[str, Any],
    name: str,
    tables: Iterable[pa.Table],
    opened: Callable[[], Any],
    output: Path | None,
    empty_as: str | None = None,
    place: int = 0,
) -> None:
    """Print facts as JSON, with the rows under a name; these go to a file if there is one.

    Parameters
    ----------
    facts : mapping
        What is known before the first row.
    name : str
        Of the entry that lists the rows.
    tables : iterable of pyarrow.Table
        The rows, a part at a time: memory does not grow with them.
    opened : callable
        Opens the file, as `suffice.cli.output.rows.opener` has it.
    output : Path, optional
    empty_as : str, optional
        The name of an entry that counts the rows without a prediction.
    place : int
        The column of predictions.
    """
    passed = _Passed(empty_as, place)
    if output is None:
        _print(facts, name, passed, tables)
        return
    with opened() as write:
        for table in passed.by(tables):
            write(table)
    found = {"columns": passed.columns, **passed.counts}
    deliver({**facts, "output": str(output), **found}, list, True, None)


def _print(
    facts: Mapping[str, Any], name: str, passed: _Passed, tables: Iterable[pa.Table]
) -> None:
    """Print one document, a row in a line."""
    line = None  # which is printed when it is known what follows
    for table in passed.by(tables):
        if line is None:
            head = _text({**facts, "output": None, "columns": passed.columns}, indent=2)
            _say(f"{head[:-2]},\n  {json.dumps(name)}: [\n")
            line = ""
        for row in table.to_pylist():
            _say(line and f"{line},\n")
            line = f"    {_text(row)}"
    _say((f"{line}\n" if line else "") + "  ],\n" + _text(passed.counts, indent=2)[2:] + "\n")


def _say(text: str) -> None:
    with standard_output() as stream:
        stream.write(text)


def _text(value: Any, indent: int | None = None) -> str:
    return json.dumps(plain(value), indent=indent, ensure_ascii=False, allow_nan=False)
