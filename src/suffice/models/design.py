"""From the blocks of a batch to rows of numbers: the design matrix of a linear model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout
from suffice.statistics.batch import Batch
from suffice.statistics.block import BadCell, CodedBlock
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["INTERCEPT", "Design"]

INTERCEPT = "(Intercept)"
ROWS = 4_096  # rows laid out at a time
UNSEEN = "a category must be one of those of the first fit"


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
        return len(self.terms)

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

    @cached_property
    def _column_of_term(self) -> Sequence[str]:
        if not self.categories:
            return self.columns
        return tuple(
            name
            for name in self.columns
            for _ in range(len(self.categories[name]) - 1 if name in self.categories else 1)
        )

    # -- rows

    def rows(
        self, batch: Batch, with_targets: bool = False
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield rows of x, or of x and y, with the number of the first of them.

        Missing cells are NaN. At least one part comes, without rows if the batch has none.

        Raises
        ------
        BadCell
            If a category is unknown.
        """
        blocks: Iterator[Any] = iter(batch.blocks)
        nothing = np.empty((batch.rows, 0))
        numbers = next(blocks).values if len(self.numbers) else nothing
        codes = self._codes(next(blocks)) if self.categories else nothing
        targets = next(blocks).values if with_targets else nothing
        p = len(self)
        for start in range(0, max(batch.rows, 1), ROWS):
            part = slice(start, min(start + ROWS, batch.rows))
            if not self.categories and not with_targets:
                yield start, np.asarray(numbers[part], np.float64)
                continue
            z = np.empty((part.stop - start, p + targets.shape[1]))
            z[:, self._number_places] = numbers[part]
            z[:, p:] = targets[part]
            for name, code in zip(self.categories, codes[part].T, strict=True):
                indicators = code[:, None] == np.arange(1, len(self.categories[name]))
                z[:, self._category_places[name]] = np.where(code[:, None] < 0, np.nan, indicators)
            yield start, z

    @cached_property
    def _number_places(self) -> Any:
        return self.places(self.numbers) if self.categories else slice(0, len(self))

    @cached_property
    def _category_places(self) -> dict[str, NDArray[np.intp]]:
        return {name: self.places([name]) for name in self.categories}

    def known(self, batch: Batch) -> Batch:
        """The same rows; a category that is unknown is missing."""
        if not self.categories:
            return batch
        blocks, place = list(batch.blocks), int(len(self.numbers) > 0)
        values = tuple(self.categories.values())
        codes = cast(CodedBlock, blocks[place]).recode(values)
        sizes = np.array([len(vocabulary) for vocabulary in values])
        blocks[place] = CodedBlock(np.where(codes == sizes, -1, codes), values)
        return replace(batch, blocks=tuple(blocks))

    def _codes(self, block: CodedBlock) -> NDArray[Any]:
        codes = block.recode(tuple(self.categories.values()))
        for j, (name, values) in enumerate(self.categories.items()):
            unseen = np.flatnonzero(codes[:, j] == len(values))
            if len(unseen):
                row = int(unseen[0])
                value = block.vocabularies[j].values[block.codes[row, j]]
                raise BadCell(row, name, value, f"{UNSEEN}: {_listed(values)}")
        return codes


def _listed(values: Vocabulary, most: int = 10) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(repr, values.values[:most])) + more
