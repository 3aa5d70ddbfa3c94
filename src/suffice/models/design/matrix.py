"""From the blocks of a batch to rows of numbers: the design matrix of a linear model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.bins import levels_of, with_bins
from suffice.models.design.formula import is_column, label, products
from suffice.models.design.terms import Terms, summed_down, summed_up
from suffice.numerics.rows import is_sparse
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, CodedBlock, SparseBlock, require_held
from suffice.sums.kept_rows import LEAST_COLUMNS
from suffice.sums.vocabulary import Vocabulary

INTERCEPT = "(Intercept)"
TILE_ROWS = 4_096  # rows laid out at a time: of 16 columns, 512 kB, which stay in cache
LAID_OUT = 2**22  # cells of rows of many terms that are laid out at a time
TILE_CELLS = 32_768  # or few cells of rows, whose memory is not asked of the system each time
UNSEEN = "a category must be one of those of the first fit"
SHOW_ALL = "fit the model to rows that show them all, or leave the row out"

Compressed = tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""Rows as a CSR matrix has them: where each begins (n + 1,), columns of cells, and cells."""


@dataclass(frozen=True)
class Design(Terms):
    """The terms that columns become, and the rows of numbers that rows of a table become.

    Examples
    --------
    >>> color = Vocabulary(("blue", "green", "red"))
    >>> Design(("size", "color"), ("price",), {"color": color}).terms
    ('size', 'color[green]', 'color[red]')
    """

    def rows(
        self, batch: Batch, with_targets: bool = False
    ) -> Iterator[tuple[int, NDArray[np.float64]]]:
        """Yield rows of x, or of x and y, with the number of the first of them.

        Missing cells are NaN. At least one part comes, without rows if the batch has none.
        """
        if self.bins:
            yield from self.coded.rows(self.recoded(batch), with_targets)
            return
        blocks: Iterator[Any] = iter(batch.blocks)
        nothing = np.empty((batch.rows, 0))
        numbers: Any = _numbers(next(blocks)) if len(self.numbers) else nothing
        codes = self._codes(next(blocks)) if self.categories else nothing
        texts = [next(blocks) for _ in self.words]
        targets = next(blocks).values if with_targets else nothing
        p, as_they_are = len(self), self.is_plain and not self.categories
        tile = max(1, min(TILE_ROWS, LAID_OUT // max(1, p)))
        for start in range(0, max(batch.rows, 1), tile):
            part = slice(start, min(start + tile, batch.rows))
            values = numbers[part].toarray() if is_sparse(numbers) else numbers[part]
            _require_held(values, start, self.numbers)
            _require_held(targets[part], start, self.targets)
            if as_they_are and not with_targets:
                yield start, np.asarray(values, np.float64)
                continue
            z = np.empty((part.stop - start, p + targets.shape[1]))
            z[:, p:] = targets[part]
            cut = [text.cut(part.start, part.stop) for text in texts]
            if self.formula is None:
                self._lay_out(z, values, codes[part], cut)
            else:
                z[:, :p] = self._multiplied(values, codes[part], cut, start)
            yield start, z

    def compressed_rows(
        self, batch: Batch, origin: NDArray[np.float64]
    ) -> Iterator[tuple[slice, Compressed]]:
        """Yield some rows x of a design of cells with categories, each as few cells.

        They are the numbers less those of ``origin`` (p,), and 1 for the level of every category,
        also of an ordered one: `by_level` gives the coefficients of these. The other indicators are
        0. A missing category that has no term of its own is as the one without a term.
        """
        blocks: Any = batch.blocks
        *numbers, coded = blocks
        codes = self._codes(coded)
        q, d = len(self.numbers), len(self.categories)
        places, present, first = self._indicator_cells
        tile = max(TILE_CELLS // (q + d), 1)
        for start in range(0, batch.rows, tile):
            part = slice(start, min(start + tile, batch.rows))
            n = part.stop - start
            columns, cells = np.empty((n, q + d), np.int32), np.empty((n, q + d))
            if q:
                values = numbers[0].values[part]
                _require_held(values, start, self.numbers)
                columns[:, :q] = self._number_places
                np.subtract(values, origin[self._number_places], out=cells[:, :q])
            one = first + codes[part]
            columns[:, q:], cells[:, q:] = places[one], present[one]
            yield part, (np.arange(n + 1) * (q + d), columns.ravel(), cells.ravel())

    @cached_property
    def is_sparse(self) -> bool:
        """Whether a row is few cells: there are many terms, of categories and words."""
        return (
            len(self) >= LEAST_COLUMNS
            and self.formula is None
            and not self.bins
            and bool(self.categories or self.words)
        )

    @property
    def level_blocks(self) -> tuple[slice, ...]:
        """Where the levels of unordered categories are, if a row is few cells."""
        blocks = self._indicators if self.is_sparse else []
        return tuple(at for at, _, _, is_ordered in blocks if not is_ordered and at.stop > at.start)

    def sparse_rows(self, batch: Batch) -> Any:
        """Return rows x (n, p) as a CSR array, if they come or are laid out so; else None.

        The first term of a category or text that is missing is NaN, unless its missing cells have
        a term.
        """
        blocks: Iterator[Any] = iter(batch.blocks)
        if not self.is_sparse:
            first = batch.blocks[0]
            return _numbers(first) if isinstance(first, SparseBlock) and not self.words else None
        from scipy.sparse import csr_array

        n, d = batch.rows, len(self.numbers)
        values = next(blocks).values if d else np.empty((n, 0))
        _require_held(values, 0, self.numbers)
        codes = self._codes(next(blocks)) if self.categories else np.empty((n, 0), np.intp)
        columns = [np.broadcast_to(np.arange(len(self))[self._number_places], (n, d))]
        cells = [np.asarray(values, np.float64)]
        more = []
        of_columns = zip(codes.T, self._indicators, self._missing_places, strict=True)
        for code, (places, ranks, _, is_ordered), own in of_columns:
            rank = np.where(code < 0, 0, ranks[code])
            if is_ordered:
                more.append(_reached(rank, places.start, len(self)))
                rank = np.zeros_like(rank)
            missing = code < 0 if places.stop > places.start or own is not None else code < -1
            cell = np.where(missing, np.nan if own is None else 1.0, rank > 0)
            at = np.where(missing, places.start if own is None else own, places.start + rank - 1)
            columns.append(np.clip(at, 0, len(self) - 1)[:, None])
            cells.append(cell[:, None])
        at, found = np.concatenate(columns, axis=1), np.concatenate(cells, axis=1)
        starts = np.arange(n + 1) * found.shape[1]
        x = csr_array((found.ravel(), at.ravel(), starts), shape=(n, len(self)))
        x.eliminate_zeros()
        x.sort_indices()
        for (name, words), text in zip(self.words.items(), blocks, strict=False):
            more.append(words.sparse_counts(text, int(self.places([name])[0]), len(self)))
        for part in more:
            x = x + part
        return x

    def _lay_out(
        self,
        z: NDArray[np.float64],
        numbers: NDArray[Any],
        codes: NDArray[Any],
        texts: Sequence[SparseBlock],
    ) -> None:
        """Write the terms of every column to rows z."""
        z[:, self._number_places] = numbers
        lacking = (codes < 0).any()
        of_columns = zip(codes.T, self._indicators, self._missing_places, strict=True)
        for code, (places, ranks, later, is_ordered), own in of_columns:
            z[:, places] = indicators(ranks[code], later, is_ordered)
            if lacking:
                z[code < 0, places] = np.nan if own is None else 0.0
            if own is not None:
                z[:, own] = code < 0
        for (name, words), text in zip(self.words.items(), texts, strict=True):
            z[:, self.places([name])] = words.counts(text)

    def _multiplied(
        self,
        numbers: NDArray[Any],
        codes: NDArray[Any],
        texts: Sequence[SparseBlock],
        first: int,
    ) -> NDArray[np.float64]:
        """The products of a formula, (n, p)."""
        assert self.formula is not None
        rows = len(numbers)
        columns = np.asarray(numbers, np.float64).T
        cells = dict(zip(self.numbers, columns, strict=True))
        code = dict(zip(self.categories, codes.T, strict=True))
        counts = {
            name: words.counts(text)
            for (name, words), text in zip(self.words.items(), texts, strict=True)
        }
        values = self.formula.values(cells, first)

        def factor(text: str, full: bool) -> NDArray[np.float64]:
            name = label(text)
            if not is_column(text):
                return values[text][:, None]
            if name in counts:
                return counts[name]
            if name not in code:
                return np.asarray(cells[name][:, None])
            ranks = self.ranks(name)
            levels, at_least = (
                np.arange(int(not full), len(ranks)),
                name in self.ordered and not full,
            )
            found = indicators(ranks[code[name]], levels, at_least).astype(np.float64)
            found[code[name] < 0] = np.nan
            return found

        parts = (
            products([factor(text, full) for text, full in coded], rows)
            for group in self.products
            for coded in group
        )
        return np.concatenate([np.empty((rows, 0)), *parts], axis=1)

    @cached_property
    def _number_places(self) -> Any:
        return self.places(self.numbers) if len(self.numbers) < len(self) else slice(0, len(self))

    @cached_property
    def _indicators(self) -> list[tuple[slice, NDArray[np.intp], NDArray[np.intp], bool]]:
        """Of every category the places of its indicators, ranks of its values, and its kind."""
        found = []
        for name in self.categories:
            ranks, places = self.ranks(name), self.places([name])
            first = int(places[0]) if len(places) else 0
            side_by_side = slice(first, first + len(places) - (name in self.missing))
            later = np.arange(1, len(places) + 1 - (name in self.missing))
            found.append((side_by_side, ranks, later, name in self.ordered))
        return found

    @cached_property
    def _missing_places(self) -> list[int | None]:
        """Of every category the place of its term of missing cells, if it has one."""
        return [
            int(self.places([name])[-1]) if name in self.missing else None
            for name in self.categories
        ]

    @cached_property
    def _has_term(self) -> NDArray[np.bool_]:
        """Of every category, whether its missing cells have a term."""
        return np.array([name in self.missing for name in self.categories], np.bool_)

    @cached_property
    def _indicator_cells(self) -> tuple[NDArray[np.int32], NDArray[np.float64], NDArray[np.intp]]:
        """Place and cell of the codes −1, 0, 1, ... of every category; where code 0 of each is."""
        sizes = 1 + self._sizes
        first = 1 + np.cumsum(sizes) - sizes
        places, present = np.zeros(sizes.sum(), np.int32), np.zeros(sizes.sum())
        of_columns = zip(first, self._indicators, self._missing_places, strict=True)
        for at, (term, ranks, _, _), own in of_columns:
            if own is not None:
                places[at - 1], present[at - 1] = own, 1.0
            known = slice(at, at + len(ranks))
            present[known] = ranks > 0
            places[known] = np.where(ranks > 0, term.start + ranks - 1, 0)
        return places, present, first

    # -- numbers that are cut into bins

    @cached_property
    def coded(self) -> Design:
        """The same terms, where numbers that are cut are ordered categories."""
        levels = {name: levels_of(self.bins[name]) for name in self.numbers if name in self.bins}
        values = {name: vocabulary for name, (vocabulary, _) in levels.items()} | {
            **self.categories
        }
        return replace(
            self,
            categories={name: values[name] for name in self.columns if name in values},
            ordered={**self.ordered} | {name: order for name, (_, order) in levels.items()},
            bins={},
        )

    def recoded(self, batch: Batch) -> Batch:
        """The same rows as `coded` has them."""
        return with_bins(self, tuple(self.coded.categories), batch)

    # -- ordered categories, by level in place of by step

    @cached_property
    def _steps(self) -> list[slice]:
        """Where the indicators of ordered categories are."""
        return [places for places, _, _, is_ordered in self._indicators if is_ordered]

    def by_level(self, coefficients: NDArray[np.float64]) -> NDArray[np.float64]:
        """What each level adds, (…, p), where a coefficient is the step to it from the one below.

        Examples
        --------
        >>> sizes = Vocabulary(("L", "M", "S"))
        >>> design = Design(("size",), (), {"size": sizes}, {"size": ("S", "M", "L")})
        >>> design.by_level(np.array([2.0, 3.0])), design.by_step(np.array([7.0, 1.0]))
        (array([2., 5.]), array([8., 1.]))
        """
        return summed_up(coefficients, self._steps)

    def by_step(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over the rows of this level and those above it, (…, p), of sums for every level."""
        return summed_down(sums, self._steps)

    @cached_property
    def _sizes(self) -> NDArray[np.intp]:
        return np.array([len(vocabulary) for vocabulary in self.categories.values()], np.intp)

    def known(self, batch: Batch, every: bool = True) -> Batch:
        """The same rows; a category that is unknown is missing.

        Of ``every`` column, or of those only whose missing cells have a term of their own.
        """
        if not self.categories:
            return batch
        values = tuple(self.categories.values())
        mine = self._coded(batch).coded()
        codes = mine.recode(values)
        unknown = (codes == self._sizes) & (every | self._has_term)
        if every:
            return self._with_codes(batch, CodedBlock(np.where(unknown, -1, codes), values))
        left = np.where(unknown, -1, mine.codes)
        return self._with_codes(batch, CodedBlock(left, mine.vocabularies))

    def at_reference(self, batch: Batch) -> Batch:
        """The same rows; a category that is unknown or missing is the one without a term.

        It stays missing where that has a term of its own.
        """
        if not self.categories:
            return batch
        values = tuple(self.categories.values())
        first = np.array([int(self.ranks(name).argmin()) for name in self.categories])
        codes = self._coded(batch).recode(values)
        absent = (codes == self._sizes) | ((codes < 0) & ~self._has_term)
        return self._with_codes(batch, CodedBlock(np.where(absent, first, codes), values))

    @cached_property
    def known_values(self) -> dict[str, Vocabulary]:
        """The values of categories, and the words of texts that are counted, by column."""
        words = {name: words.known for name, words in self.words.items() if not words.places}
        return {**self.categories, **words}

    def answerable(self, batch: Batch, as_reference: bool, expecting: bool) -> Batch:
        """The same rows, with what is taken for an unknown category, or can be expected of it."""
        if as_reference:
            return self.at_reference(batch)
        return self.known(batch, expecting) if expecting or self.missing else batch

    def complete(self, batch: Batch) -> NDArray[np.bool_]:
        """Which rows have a value in every cell, and no unknown category, (n,)."""
        blocks: Iterator[Any] = iter(self.known(batch).blocks)
        complete = np.ones(batch.rows, np.bool_)
        if len(self.numbers):
            numbers = next(blocks).values
            if numbers.dtype.kind == "f":
                complete &= ~np.isnan(numbers[:, self._needed(self.numbers)]).any(axis=1)
        if self.categories:
            codes = next(blocks).codes
            complete &= (codes[:, self._needed(tuple(self.categories))] >= 0).all(axis=1)
        for _ in self.words:
            complete &= ~next(blocks).missing[:, 0]
        return complete

    def _needed(self, columns: Sequence[str]) -> Any:
        """Where columns are whose missing cells have no term of their own."""
        return [name not in self.missing for name in columns] if self.missing else slice(None)

    def present(self, batch: Batch) -> Batch:
        """The same rows; one of no weight or label is absent, and shows no category at all."""
        if not self.categories:
            return batch
        absent = self._absent(batch)
        if not absent.any():
            return batch
        block = self._coded(batch)
        codes = np.where(absent[:, None], -1, block.codes)
        return self._with_codes(batch, CodedBlock(codes, block.vocabularies))

    def require_words(self, batch: Batch) -> None:
        """Refuse words that the first fit did not count, where a row has a class and a weight."""
        rows = ~self._absent(batch)
        first = int(len(self.numbers) > 0) + int(len(self.categories) > 0)
        for (name, words), block in zip(self.words.items(), batch.blocks[first:], strict=False):
            words.require_known(cast(SparseBlock, block), rows, name)

    @staticmethod
    def _absent(batch: Batch) -> NDArray[np.bool_]:
        """Which rows have no weight, or no label where there are labels."""
        absent = np.zeros(batch.rows, np.bool_)
        for gone in (batch.weights == 0, batch.codes < 0):
            if len(gone):
                absent |= gone
        return absent

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


def _reached(rank: NDArray[np.intp], start: int, width: int) -> Any:
    """CSR array (n, width) with 1 in the first ``rank`` cells from ``start`` on."""
    from scipy.sparse import csr_array

    ends = np.concatenate([[0], np.cumsum(rank)])
    places = start + np.arange(ends[-1]) - np.repeat(ends[:-1], rank)
    return csr_array((np.ones(len(places)), places, ends), shape=(len(rank), width))


def _numbers(block: Any) -> Any:
    """The cells of a block of numbers (n, d); compressed as they come."""
    if not isinstance(block, SparseBlock):
        return block.values
    from scipy.sparse import csr_array

    whole = block.merged()
    return csr_array((whole.data, whole.indices, whole.indptr), shape=(block.rows, block.width))


def _require_held(values: NDArray[Any], first: int, names: Sequence[str]) -> None:
    try:
        require_held(values, first)
    except BadCell as bad:
        bad.column = names[cast(int, bad.column)]
        raise


def _listed(values: Vocabulary, most: int = 10) -> str:
    more = f" and {len(values) - most} more" if len(values) > most else ""
    return ", ".join(map(repr, values.values[:most])) + more
