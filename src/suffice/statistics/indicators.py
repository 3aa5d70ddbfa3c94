"""Categories as columns of numbers: 1 where a row shows a value, 0 where it shows another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.statistics.block import RealBlock, require_held
from suffice.statistics.mixed_block import MixedBlock
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Indicators", "indicators"]


def indicators(
    rank: NDArray[Any], levels: NDArray[Any], at_least: bool = False
) -> NDArray[np.bool_]:
    """Which rows (n,) show each level, or this one and those above it, (n, m).

    Examples
    --------
    >>> indicators(np.array([0, 2]), np.array([1, 2])).astype(int)
    array([[0, 0],
           [0, 1]])
    """
    column = rank[:, None]
    return np.asarray(column >= levels if at_least else column == levels)


@dataclass(frozen=True)
class Indicators:
    """The p terms that d columns become: the numbers, then indicators of values of categories.

    Parameters
    ----------
    is_number : ndarray of bool (d,)
        Which columns are numbers.
    vocabularies : tuple of b Vocabulary
        The values of the others.
    all_values : bool
        Whether every value has a term; else not the first of several, which the others tell.

    Examples
    --------
    >>> color = Vocabulary(("blue", "green", "red"))
    >>> Indicators(np.array([False, True]), (color,), False).names(["color", "size"])
    ['size', 'color[green]', 'color[red]']
    """

    is_number: NDArray[np.bool_]
    vocabularies: tuple[Vocabulary, ...]
    all_values: bool = True

    @cached_property
    def values(self) -> tuple[tuple[Any, ...], ...]:
        """The values of each category that have a term."""
        first = [0 if self.all_values or len(v) < 2 else 1 for v in self.vocabularies]
        return tuple(v.values[f:] for v, f in zip(self.vocabularies, first, strict=True))

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Where the terms of every category start, and where the last end, (b + 1,)."""
        widths = [len(values) for values in self.values]
        numbers = int(np.count_nonzero(self.is_number))
        return numbers + np.concatenate([[0], np.cumsum(widths)]).astype(np.intp)

    def __len__(self) -> int:
        return int(self.starts[-1])

    @cached_property
    def columns(self) -> NDArray[np.intp]:
        """The column of every term, (p,)."""
        categories = np.repeat(np.flatnonzero(~self.is_number), np.diff(self.starts))
        return np.concatenate([np.flatnonzero(self.is_number), categories]).astype(np.intp)

    def places(self, j: int) -> NDArray[np.intp]:
        """The terms of column j, increasing."""
        return np.flatnonzero(self.columns == j)

    @property
    def features(self) -> tuple[Any, ...]:
        """Of a number its column, of an indicator its column and value, (p,)."""
        values = [None] * int(self.starts[0]) + [v for values in self.values for v in values]
        pairs = zip(self.columns.tolist(), values, strict=True)
        return tuple(j if self.is_number[j] else (j, value) for j, value in pairs)

    def names(self, columns: Sequence[str]) -> list[str]:
        """What the terms are called."""
        return [
            f"{columns[f[0]]}[{f[1]}]" if isinstance(f, tuple) else columns[f]
            for f in self.features
        ]

    def rows(self, block: MixedBlock, missing: float = np.nan) -> NDArray[np.float64]:
        """The terms of every row, (n, p); of a missing or unknown category, ``missing``.

        Raises
        ------
        BadCell
            If a whole number is no double.
        """
        require_held(block.numbers.values)
        z = np.empty((block.rows, len(self)))
        z[:, : self.starts[0]] = block.numbers.values
        codes = block.categories.recode(self.vocabularies)
        for b, known in enumerate(self.vocabularies):
            part = z[:, self.starts[b] : self.starts[b + 1]]
            code = codes[:, b]
            part[:] = indicators(code, np.arange(len(known) - len(self.values[b]), len(known)))
            part[(code < 0) | (code == len(known))] = missing
        return z

    def block(self, block: MixedBlock) -> RealBlock:
        """The terms as numbers, NaN where a cell is missing or a category unknown."""
        return RealBlock(self.rows(block))

    def sampled(self, terms: Sequence[NDArray[np.float64]], n: int) -> list[NDArray[Any]]:
        """Columns of n rows from terms that were drawn.

        A category is the value of the largest indicator; that of a value without a term is what the
        others leave of 1.
        """
        numbers = np.flatnonzero(self.is_number).tolist()
        drawn: dict[int, NDArray[Any]] = dict(zip(numbers, terms, strict=False))
        for b, j in enumerate(np.flatnonzero(~self.is_number).tolist()):
            own, known = terms[self.starts[b] : self.starts[b + 1]], self.vocabularies[b].values
            rest = 1.0 - sum(own, np.zeros(n))
            first = [rest] * (len(known) - len(own))
            shown = np.argmax([*first, *own, np.full(n, -np.inf)], axis=0)
            drawn[j] = np.array([*known, None], object)[shown]
        return [drawn[j] for j in range(len(self.is_number))]

    def without_first(self) -> tuple[Indicators, NDArray[np.intp]]:
        """The same without a term for the first values, and which terms are kept."""
        fewer = Indicators(self.is_number, self.vocabularies, False)
        gone = self.starts[:-1][np.diff(self.starts) > np.diff(fewer.starts)]
        return fewer, np.setdiff1d(np.arange(len(self)), gone)

    def among(self, wider: Indicators) -> NDArray[np.intp]:
        """Where these terms stand among those of wider vocabularies, (p,)."""
        numbers = np.arange(self.starts[0])
        pairs = zip(self.vocabularies, wider.vocabularies, wider.starts[:-1], strict=True)
        places = (start + more.index(mine.values, -1) for mine, more, start in pairs)
        return np.concatenate([numbers, *places]).astype(np.intp)
