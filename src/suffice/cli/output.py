"""Results of commands: tables for people, JSON for programs, rows as files of several formats."""

from __future__ import annotations

import csv
import errno
import io
import json
import math
import os
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import typer

from suffice.atomic import atomic_writer
from suffice.cli.messages import columns, width_of, wrapped
from suffice.cli.signals import READER_GONE, write_no_more
from suffice.errors import ParameterError
from suffice.numerics.in_print import Table, aligned
from suffice.phrases import printable

if TYPE_CHECKING:
    import pyarrow as pa

NARROWEST = 24  # of a column whose words are folded
Write = Callable[["pa.Table"], None]
SEPARATORS = {".csv": ",", ".tsv": "\t"}
WRITTEN = (*SEPARATORS, ".parquet", ".arrow", ".jsonl")  # what rows are written to


@contextmanager
def standard_output() -> Iterator[TextIO]:
    """Give standard output to a block that only writes to it; an error there names it."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        yield sys.stdout
        sys.stdout.flush()  # else what its buffer holds is written when nothing can be said of it
    except OSError as error:
        write_no_more(sys.stdout)
        if isinstance(error, BrokenPipeError):
            raise typer.Exit(READER_GONE) from None
        raise OSError(error.errno, error.strerror or str(error), "standard output") from None


# For people -------------------------------------------------------------------------------------


class CommandLine(str):
    """A command to be typed again: a line that is never broken."""

    __slots__ = ()


def print_all(parts: Iterable[str | Table]) -> None:
    """Print to stdout, as wide as its terminal; as it is for a program."""
    for part in _flat(parts):
        with standard_output() as stream:
            width = width_of(stream) or columns()
            if isinstance(part, Table):
                lines = [part.title] if part.title else []
                lines += _lines(part, width)
                notes = [f"  {note}" for note in part.notes]
                lines += notes if width is None else [wrapped(note, width) for note in notes]
            elif isinstance(part, CommandLine) or width is None:
                lines = [part]
            else:
                lines = [wrapped(part, width)]
            stream.write("\n".join([*lines, ""]))


def _flat(parts: Iterable[str | Table]) -> Iterator[str | Table]:
    """Yield tables, and those below them after empty lines."""
    for part in parts:
        yield part
        for table in part.below if isinstance(part, Table) else ():
            yield from ("", *_flat([table]))


def _lines(table: Table, width: int | None) -> list[str]:
    """Return the lines of a table that is cut into parts, or folded, where it is too wide."""
    rows = [
        [printable(cell.replace("\n", " ")) for cell in row]
        for row in (table.header, *table.rows)
        if any(row)
    ]
    if not rows:
        return []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    *_, last = widths
    over = 0 if width is None else sum(widths) + 2 * (len(widths) - 1) - width
    if over <= 0 or width is None:
        return aligned(rows, table.left)
    if len(widths) - 1 in table.left and last - over >= NARROWEST:
        return aligned(list(_folded(rows, last - over)), table.left)
    parts = [[0]]
    for j in range(1, len(widths)):
        beside = [*parts[-1], j]
        if len(beside) > 2 and sum(widths[i] + 2 for i in beside) - 2 > width:
            parts.append([0, j])
        else:
            parts[-1] = beside
    lines: list[str] = []
    for part in parts:
        left = [place for place, j in enumerate(part) if j in table.left]
        lines += [*[""] * bool(lines), *aligned([[row[j] for j in part] for row in rows], left)]
    return lines


def _folded(rows: Iterable[Sequence[str]], width: int) -> Iterator[list[str]]:
    """Yield rows whose last cells are at most so wide; more lines follow in rows of their own."""
    for *cells, text in rows:
        first, *more = textwrap.wrap(text, width) or [""]
        yield [*cells, first]
        yield from ([*[""] * len(cells), line] for line in more)


# For programs -----------------------------------------------------------------------------------


def deliver(facts: Mapping[str, Any], parts: Iterable[str | Table], as_json: bool) -> None:
    """Print a result: as JSON, or as tables and lines."""
    if as_json:
        with standard_output() as stream:
            stream.write(_json(facts, indent=2) + "\n")
    else:
        print_all(parts)


def _json(value: Any, indent: int | None = None) -> str:
    return json.dumps(_plain(value), indent=indent, ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    """Return what JSON can hold: infinity and NaN become null, dates become text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


# Rows -------------------------------------------------------------------------------------------


def suffix_of(name: str) -> str:
    """Return the suffix of a file of rows that can be written as this one is; else .csv."""
    suffix = Path(name).suffix.lower()
    return suffix if suffix in WRITTEN else ".csv"


@contextmanager
def rows_to(
    output: Path | None, as_json: bool, separator: str | None = None, header: bool = True
) -> Iterator[Write]:
    """Open standard output, or a file of a format that its suffix tells; give what writes rows.

    ``separator`` and ``header`` are of text; by default it is separated as the suffix says.
    """
    suffix = "" if output is None else output.suffix.lower()
    if output is None:
        with standard_output() as stdout:
            text = io.TextIOWrapper(stdout.buffer, "utf-8", newline="", write_through=True)
        to_text = _json_lines(text) if as_json else _delimited(text, ",")

        def write(rows: pa.Table) -> None:
            with standard_output():
                to_text(rows)

        try:
            yield write
        finally:
            # The buffer belongs to sys.stdout, which is still in use.
            with standard_output():
                text.detach()
    elif suffix not in WRITTEN:
        rule = f"the suffix tells the format: {', '.join(WRITTEN)}"
        raise ParameterError(f"--output {output}", rule)
    elif suffix in (".parquet", ".arrow"):
        with atomic_writer(output) as file, ExitStack() as stack:
            yield _arrow(file, stack, suffix)
    else:
        with atomic_writer(output, "w") as lines:
            mark = separator or SEPARATORS.get(suffix, "")
            yield _json_lines(lines) if suffix == ".jsonl" else _delimited(lines, mark, header)


def _delimited(file: TextIO, delimiter: str, header: bool = True) -> Write:
    writer = csv.writer(file, delimiter=delimiter, lineterminator="\n")
    begun = not header

    def write(rows: pa.Table) -> None:
        nonlocal begun
        if not begun:
            writer.writerow(rows.column_names)
            begun = True
        writer.writerows(zip(*(column.to_pylist() for column in rows.columns), strict=True))

    return write


def _json_lines(file: TextIO) -> Write:
    return lambda rows: file.writelines(f"{_json(row)}\n" for row in rows.to_pylist())


def _arrow(file: Any, stack: ExitStack, suffix: str) -> Write:
    """Open a writer when the first rows tell the schema; the stack closes it."""
    writers: list[Any] = []

    def write(rows: pa.Table) -> None:
        from pyarrow import ipc, parquet

        if not writers:
            opened: Any = parquet.ParquetWriter if suffix == ".parquet" else ipc.new_file
            writers.append(stack.enter_context(opened(file, rows.schema)))
        writers[0].write_table(rows)

    return write
