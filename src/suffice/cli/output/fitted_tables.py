"""Tables as wide as a terminal: numbers stay whole, and what is too wide is printed in parts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.table import Table

if TYPE_CHECKING:
    from rich.table import Column

__all__ = ["fitted"]

TIGHT = (0, 1, 0, 0)
LONGEST_WORD = 16  # of a text; longer ones are broken where it must be
LETTERS = re.compile(r"[^\W\d_]+")
IN_NUMBERS = {"e", "to"}
JOINTS = "_-./:=[(,;"


@dataclass(frozen=True)
class Span:
    """How wide a column is at its best, and at least."""

    best: int
    least: int

    @classmethod
    def of(cls, column: Column) -> Span:
        """Where words may be folded, and numbers may not."""
        header, *cells = _texts(column)
        words = [header, *(cell for cell in cells if not _is_number(cell))]
        longest = max((cell_len(word) for text in words for word in text.split()), default=1)
        whole = max((cell_len(cell) for cell in cells if _is_number(cell)), default=1)
        best = max((cell_len(text) for text in (header, *cells)), default=1)
        return cls(best, max(whole, min(longest, LONGEST_WORD)))


def fitted(table: Table, width: int) -> Iterator[Table]:
    """The table in a width, or parts of it that have the first column in common.

    Nothing is cut: words are folded, then columns stand closer, then the last ones go below.

    Parameters
    ----------
    table : Table
        Whose cells are strings.
    width : int
        In cells of the terminal.
    """
    spans = [Span.of(column) for column in table.columns]
    if sum(span.best for span in spans) + _between(table.padding, len(spans)) <= width:
        yield table
        return
    for part in _parts([span.least for span in spans], width):
        chosen = [spans[j] for j in part]
        widths = _shared(chosen, width - _between(TIGHT, len(part)))
        yield _part(table, part, widths)


def _between(padding: Sequence[int], columns: int) -> int:
    """What stands between and around so many columns, in cells."""
    _, right, _, left = padding
    return columns * (left + right) + columns + 1


def _parts(least: Sequence[int], width: int) -> list[list[int]]:
    """Columns that fit beside the first, again and again."""
    parts = [[0]]
    for j in range(1, len(least)):
        beside = [*parts[-1], j]
        if len(beside) > 2 and sum(least[i] for i in beside) + _between(TIGHT, len(beside)) > width:
            beside = [0, j]
            parts.append(beside)
        parts[-1] = beside
    return parts


def _shared(spans: Sequence[Span], width: int) -> list[int]:
    """A width for every column: the widest give way first, down to their least."""

    def below(level: int) -> list[int]:
        return [max(span.least, min(span.best, level)) for span in spans]

    levels = range(max(span.best for span in spans), 0, -1)
    narrowest = [max(1, width - sum(span.least for span in spans[1:])), *below(0)[1:]]
    return next((below(level) for level in levels if sum(below(level)) <= width), narrowest)


def _part(table: Table, chosen: Sequence[int], widths: Sequence[int]) -> Table:
    """Some columns of a table, so wide, with the words folded that are wider."""
    part = Table(
        box=table.box,
        show_header=table.show_header,
        padding=TIGHT,
    )
    texts = []
    for j, width in zip(chosen, widths, strict=True):
        column = table.columns[j]
        header, *cells = (_broken(text, width) for text in _texts(column))
        part.add_column(header, justify=column.justify, overflow="fold", width=width)
        texts.append(cells)
    for row, line in zip(table.rows, zip(*texts, strict=True), strict=True):
        part.add_row(*line, end_section=row.end_section)
    return part


def _texts(column: Column) -> list[str]:
    """Header and cells."""
    return [str(column.header), *map(str, column.cells)]


def _is_number(cell: str) -> bool:
    """Whether a cell is numbers and their signs."""
    return set(LETTERS.findall(cell)) <= IN_NUMBERS and any(map(str.isdigit, cell))


def _broken(text: str, width: int) -> str:
    """A text whose words are at most so wide, broken after joints such as "_" where there are."""
    return " ".join("\n".join(_pieces(word, width)) for word in text.split(" "))


def _pieces(word: str, width: int) -> Iterator[str]:
    while cell_len(word) > width:
        head = set_cell_size(word, width).rstrip(" ")
        joint = max(map(head.rfind, JOINTS)) + 1
        at = joint if joint > width // 2 else max(1, len(head))
        yield word[:at]
        word = word[at:]
    yield word
