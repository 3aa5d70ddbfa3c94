"""From the blocks of a batch to rows of numbers: the design matrix of a linear model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout, Numbered
from suffice.rules import rule
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell, CodedBlock, require_held
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["INTERCEPT", "TILE_ROWS", "Design"]

INTERCEPT = "(Intercept)"
TILE_ROWS = 4_096  # rows laid out at a time: of 16 columns, 512 kB, which stay in cache
UNSEEN = "a category must be one of those of the first fit"
SHOW_ALL = "fit the model to rows that show them all, or leave the row out"


@dataclass(frozen=True)
class Design:
    """The p terms that d columns become, and the t targets.

    A number is one term. A category of m values is m − 1 terms, indicators of all values but the
    first, which is the reference that the others are compared with.

    Parameters
    ----------
    columns : sequence of str
        The d columns.
    targets : tuple of str
        The t targets.
    categories : mapping of str to Vocabulary
        The values of those columns that are categories.

    Examples
    --------
    >>> color = Vocabulary(("blue", "green", "red"))
    >>> Design(("size", "color"), ("price",), {"color": color}).terms
    ('size', 'color[green]', 'color[red]')
    """

    columns: Sequence[str]
    targets: tuple[str, ...]
    categories: Mapping[str, Vocabulary] = field(default_factory=dict)

    @rule("categories are among the columns, and those of an array are numbers")
    def _has_categories(self) -> bool:
        listed = () if isinstance(self.columns, Numbered) else self.columns
        return set(self.categories) <= set(listed)

    @property
    def numbers(self) -> Sequence[str]:
        """The columns that are numbers."""
        if not self.categories:
            return self.columns
        return tuple(name for name in self.columns if name not in self.categories)

    @property
    def blocks(self) -> tuple[BlockLayout, ...]:
        """How the columns are read: numbers together, then categories."""
        real = (BlockLayout("real", self.numbers),) if len(self.numbers) else ()
        return (*real, *self.category_block)

    @property
    def category_block(self) -> tuple[BlockLayout, ...]:
        """How categories are read, if there are any."""
        return (BlockLayout("category", tuple(self.categories)),) if self.categories else ()

    @property
    def target_block(self) -> BlockLayout:
        """How targets are read."""
        return BlockLayout("real", self.targets)

    @cached_property
    def terms(self) -> tuple[str, ...]:
        """Names of the columns of the design matrix."""
        return tuple(
            term
            for name in self.columns
            for term in (
                [f"{name}[{value}]" for value in self.categories[name].values[1:]]
                if name in self.categories
                else [name]
            )
        )

    def __len__(self) -> int:
        indicators = (max(len(values) - 1, 0) for values in self.categories.values())
        return len(self.columns) - len(self.categories) + sum(indicators)

    def places(self, names: Sequence[str]) -> NDArray[np.intp]:
        """Which terms the given columns make, increasing."""
        chosen = set(names)
        return np.flatnonzero([column in chosen for column in self._column_of_term])

    def column(self, place: int) -> str:
        """The column, or target, that makes a term; targets come after the terms."""
        p = len(self)
        return self._column_of_term[place] if place < p else self.targets[place - p]

    @property
    def outline(self) -> tuple[tuple[str, ...], ...]:
        """Columns, those that are categories, and targets: all but the values of categories."""
        return tuple(self.columns), tuple(self.categories), self.targets

    def keep(self, names: Sequence[str]) -> Design:
        """The design of some of the columns."""
        chosen = set(names)
        kept = {name: values for name, values in self.categories.items() if name in chosen}
        return Design(tuple(c for c in self.columns if c in chosen), self.targets, kept)

    def narrowed(self, categories: Mapping[str, Vocabulary]) -> tuple[Design, NDArray[np.intp]]:
        """The design of fewer values of the categories, and which terms it keeps, increasing.

        Examples
        --------
        >>> color = Vocabulary(("blue", "green", "red"))
        >>> design = Design(("size", "color"), ("price",), {"color": color})
        >>> fewer, kept = design.narrowed({"color": Vocabulary(("green", "red"))})
        >>> fewer.terms, kept
        (('size', 'color[red]'), array([0, 2]))
        """
        kept = [
            value is None or categories[name].codes.get(value, 0) > 0  # 0 is that of the reference
            for name in self.columns
            for value in (self.categories[name].values[1:] if name in self.categories else [None])
        ]
        return replace(self, categories=categories), np.flatnonzero(kept)

    @cached_property
    def _column_of_term(self) -> Sequence[str]:
        if not self.categories:
            return self.columns
        return tuple(
            name
            for name in self.columns
            for _ in range(len(self.categories[name]) - 1 if name in self.categories else 1)
        )

    def by_column(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the terms of each column, (…, d), of what there is of every term, (…, p)."""
        if not self.categories:
            return terms
        places = map(self.places, ([name] for name in self.columns))
        return np.stack([terms[..., place].sum(axis=-1) for place in places], axis=-1)

    # -- rows

    def rows(
        self, batch: Batch, with_targets: bool = False
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield rows of x, or of x and y, with the number of the first of them.

        Missing cells are NaN. At least one part comes, without rows if the batch has none.

        Raises
        ------
        BadCell
            If a category is unknown, or a whole number is no double.
        """
        blocks: Iterator[Any] = iter(batch.blocks)
        nothing = np.empty((batch.rows, 0))
        numbers = next(blocks).values if len(self.numbers) else nothing
        codes = self._codes(next(blocks)) if self.categories else nothing
        targets = next(blocks).values if with_targets else nothing
        p = len(self)
        for start in range(0, max(batch.rows, 1), TILE_ROWS):
            part = slice(start, min(start + TILE_ROWS, batch.rows))
            _require_held(numbers[part], start, self.numbers)
            _require_held(targets[part], start, self.targets)
            if not self.categories and not with_targets:
                yield start, np.asarray(numbers[part], np.float64)
                continue
            z = np.empty((part.stop - start, p + targets.shape[1]))
            z[:, self._number_places] = numbers[part]
            z[:, p:] = targets[part]
            lacking = (codes[part] < 0).any()
            for code, (places, levels) in zip(codes[part].T, self._indicators, strict=True):
                z[:, places] = code[:, None] == levels
                if lacking:
                    z[np.ix_(code < 0, places)] = np.nan
            yield start, z

    @cached_property
    def _number_places(self) -> Any:
        return self.places(self.numbers) if self.categories else slice(0, len(self))

    @cached_property
    def _indicators(self) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Of every category the places of its indicators, and the codes that they stand for."""
        return [
            (self.places([name]), np.arange(1, len(values)))
            for name, values in self.categories.items()
        ]

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return np.array([len(vocabulary) for vocabulary in self.categories.values()], np.intp)

    def known(self, batch: Batch) -> Batch:
        """The same rows; a category that is unknown is missing."""
        if not self.categories:
            return batch
        values = tuple(self.categories.values())
        codes = self._coded(batch).recode(values)
        known = np.where(codes == self._sizes, -1, codes)
        return self._with_codes(batch, CodedBlock(known, values))

    def complete(self, batch: Batch) -> NDArray[np.bool_]:
        """Which rows have a value in every cell, and no unknown category, (n,)."""
        blocks: Iterator[Any] = iter(self.known(batch).blocks)
        complete = np.ones(batch.rows, np.bool_)
        if len(self.numbers):
            numbers = next(blocks).values
            if numbers.dtype.kind == "f":
                complete &= ~np.isnan(numbers).any(axis=1)
        if self.categories:
            complete &= (next(blocks).codes >= 0).all(axis=1)
        return complete

    def present(self, batch: Batch) -> Batch:
        """The same rows; one of weight 0 is absent and shows no category, known or not."""
        if not self.categories or batch.weights.all():
            return batch
        block, absent = self._coded(batch), (batch.weights == 0)[:, None]
        codes = np.where(absent, -1, block.codes)
        return self._with_codes(batch, CodedBlock(codes, block.vocabularies))

    def _coded(self, batch: Batch) -> CodedBlock:
        return cast(CodedBlock, batch.blocks[int(len(self.numbers) > 0)])

    def _with_codes(self, batch: Batch, block: CodedBlock) -> Batch:
        blocks = list(batch.blocks)
        blocks[int(len(self.numbers) > 0)] = block
        return replace(batch, blocks=tuple(blocks))

    def _codes(self, block: CodedBlock) -> NDArray[Any]:
        codes = block.recode(tuple(self.categories.values()))
        if not (unseen := codes == self._sizes).any():
            return codes
        j = int(unseen.any(axis=0).argmax())
        row = int(unseen[:, j].argmax())
        name, values = list(self.categories.items())[j]
        value = block.vocabularies[j].values[block.codes[row, j]]
        raise BadCell(row, name, value, f"{UNSEEN}: {_listed(values)}", SHOW_ALL)


def _require_held(values: NDArray[Any], first: int, names: Sequence[str]) -> None:
    try:
        require_held(values, first)
    except BadCell as bad:
        bad.column = names[cast(int, bad.column)]
        raise


def _listed(values: Vocabulary, most: int = 10) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(repr, values.values[:most])) + more
