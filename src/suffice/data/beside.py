"""Rows of files beside their predictions: cells as they stand in the file, and rows left out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from suffice.data.source import PartView, RecordPart
from suffice.data.table import Table
from suffice.data.text.table import TextPart
from suffice.errors import ParameterError
from suffice.numerics.in_print import listed


class SkippedRow(NamedTuple):
    """A malformed row of a text file that is left out."""

    before: int  # how many rows of the table come before it
    file: str
    line: int


def cells_as_stored(table: Table, names: Sequence[str]) -> Iterator[pa.Table]:
    r"""Yield some columns of a table, in order, with their cells as the file has them.

    The first piece has no rows. A cell of a text file is its text: blanks, leading zeros and
    missing tokens stay. Other files give the values that they store.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from suffice.data.file_formats import open_files
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = pathlib.Path(folder, "a.csv")
    ...     _ = file.write_text("id,x\n007,1\nNA,2\n")
    ...     [part.to_pydict() for part in cells_as_stored(open_files(file), ["id"])][1:]
    [{'id': ['007', 'NA']}]
    """
    types = dict.fromkeys(names, pa.string() if table.about.guesses else None)
    schema = table.shown.schema
    kinds = [(name, types[name] or schema.field(name).type) for name in names]
    yield pa.schema(kinds).empty_table()
    for part in table.parts(types):
        for batch in _as_stored(part).record_batches():
            yield pa.Table.from_batches([batch])


def _as_stored(part: RecordPart) -> RecordPart:
    """Return a part whose text is neither stripped nor matched with missing tokens."""
    if isinstance(part, PartView):
        return replace(part, inside=_as_stored(part.inside))
    if isinstance(part, TextPart):
        format = replace(part.text.format, missing=(), strip=False, written=())
        grammar = replace(part.text.grammar, strip=False)
        plain = replace(part.text, format=format, grammar=grammar)
        return replace(part, text=plain, head=None, behind=0)
    return part


def skipped_rows(table: Table) -> list[SkippedRow]:
    """Return the malformed rows that ``skip_bad_rows`` leaves out of a table.

    Text files are walked through record by record, which is slow; others have no such rows.
    """
    if table.about.format is None or not table.about.format.skip_bad_rows:
        return []
    found, before = [], 0
    for part in table.parts({table.names[0]: pa.string()}):
        while isinstance(part, PartView):
            part = part.inside
        if not isinstance(part, TextPart):
            continue
        for record in part.text.scan():
            if part.text.malformed(record) is None:
                before += 1
            else:
                found.append(SkippedRow(before, part.text.path.name, record.line))
    return found


def beside(
    answers: Iterable[pa.Table],
    cells: Iterator[pa.Table] | None,
    skipped: Sequence[SkippedRow],
    lines: bool = False,
) -> Iterator[pa.Table]:
    """Yield predictions with the cells of their rows before them.

    Answers and cells are of the same rows in the same order, in pieces of any size; in the place of
    each row skipped comes one of nulls, and its line in a further column if there are ``lines``.

    Examples
    --------
    >>> answers = pa.table({"prediction": [0.5, 1.5]}), pa.table({"prediction": [2.5]})
    >>> rows = beside(answers, iter([pa.table({"id": ["a", "b", "c"]})]), [SkippedRow(2, "", 4)])
    >>> [row for part in rows for row in part.to_pylist()][2:]
    [{'id': None, 'prediction': None}, {'id': 'c', 'prediction': 2.5}]
    """
    done, gaps, lines = 0, list(skipped), lines and bool(skipped)
    last: pa.Table | None = None
    for answer in answers if cells is None else _with_cells(answers, cells):
        last = answer.slice(0, 0)
        yield _with_gaps(answer, done, gaps, lines)
        done += len(answer)
    if gaps and last is not None:
        yield _with_gaps(last, done, gaps, lines)


def _with_cells(answers: Iterable[pa.Table], pieces: Iterator[pa.Table]) -> Iterator[pa.Table]:
    """Yield answers with the cells of their rows, which come in pieces of other sizes."""
    waiting = next(pieces)
    for answer in answers:
        rows, names = len(answer), answer.column_names
        while len(waiting) < rows and (piece := next(pieces, None)) is not None:
            waiting = pa.concat_tables([waiting, piece])
        for place, name in enumerate(waiting.column_names):
            if name in names:
                raise ParameterError(
                    f"the column {name!r} is to stand beside the predictions",
                    f"these have a column of that name: {listed(map(repr, names))}",
                    "rename it in the file, or name the other columns one by one",
                )
            answer = answer.add_column(place, name, waiting.column(name).slice(0, rows))
        waiting = waiting.slice(rows)
        yield answer


def _with_gaps(answer: pa.Table, done: int, gaps: list[SkippedRow], lines: bool) -> pa.Table:
    """Return rows from number ``done`` on, with a row of nulls for each that was left out."""
    end = done + max(1, len(answer))
    due = [gap for gap in gaps if gap.before < end]
    del gaps[: len(due)]
    at = [gap.before - done for gap in due]
    places = np.insert(np.arange(len(answer)), at, -1)
    skipped = np.insert(np.full(len(answer), -1), at, [gap.line for gap in due])
    if due:
        answer = answer.take(pa.array(places, mask=places < 0))
    if lines:
        answer = answer.append_column("skipped_line", pa.array(skipped, mask=skipped < 0))
    return answer
