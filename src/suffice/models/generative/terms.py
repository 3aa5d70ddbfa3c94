"""Gaussians of the terms that numbers and categories become: see `suffice.models.design`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.encode import stored_cells
from suffice.families.family import Form, JointParameters, complete
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.models.design.matrix import MISSING, Design
from suffice.numerics.exact import DoubleDouble
from suffice.sums.base import nonnegative
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, CodedBlock, MixedBlock, RealBlock
from suffice.sums.comoments import Comoments, FourthMoments
from suffice.sums.kept_rows import KeptRows


class TermAccumulator:
    """Adds the terms of rows to the sums of a family; sparse rows of many terms are kept so."""

    def __init__(self, sums: Any, design: Design, is_sparse: bool) -> None:
        self._sums, self._design, self._is_sparse = sums, design, is_sparse

    def add(
        self, block: MixedBlock, codes: NDArray[np.intp], weights: NDArray[np.float64], k: int
    ) -> None:
        """Add the rows of a block; those without a class need no known category."""
        shown = np.where((codes >= 0)[:, None], block.categories.codes, -1)
        block = replace(block, categories=CodedBlock(shown, block.categories.vocabularies))
        if self._is_sparse:
            with _located(self._design, 0):
                cells = stored_cells(self._design.sparse_rows(_batch(block)))
                self._sums.add(cells, codes, weights, k)
            return
        for start, x in _rows(self._design, block):
            rows = slice(start, start + len(x))
            with _located(self._design, start):
                self._sums.add(RealBlock(x), codes[rows], weights[rows], k)

    def statistic(self) -> Any:
        return self._sums.statistic()


@dataclass(frozen=True, eq=False)
class TermParameters(JointParameters):
    """A Gaussian of the p terms that d columns become."""

    of_terms: MultivariateGaussianParameters
    design: Design

    @property
    def factored(self) -> Any:
        return self.of_terms.factored

    @property
    def course(self) -> Any:
        return self.of_terms.course

    @property
    def n_free(self) -> int:
        return self.of_terms.n_free

    @cached_property
    def places(self) -> tuple[NDArray[np.intp], ...]:
        return tuple(self.design.places([name]) for name in self.design.columns)

    def is_number(self, j: int) -> bool:
        """Return whether column j is one term, the number."""
        return self.design.columns[j] not in self.design.categories

    def add_log_likelihood(self, block: MixedBlock, out: NDArray[np.float64]) -> None:
        for start, x in _known_rows(self.design, block):
            with _located(self.design, start):
                self.of_terms.add_log_likelihood(RealBlock(x), out[start : start + len(x)])

    def add_discriminants(self, block: MixedBlock, out: NDArray[np.float64]) -> None:
        for start, x in _known_rows(self.design, block):
            with _located(self.design, start):
                self.of_terms.add_discriminants(RealBlock(x), out[start : start + len(x)])

    def column(self, j: int) -> TermParameters:
        factored = self.factored.columns(self.places[j])
        return TermParameters(
            replace(self.of_terms, factored=factored), self.design.keep([self.design.columns[j]])
        )

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw terms; a category is the value of the largest indicator.

        That of the value without a term is what the others leave of 1.
        """
        drawn = self.of_terms.sample(codes, rng)
        columns = []
        for j, name in enumerate(self.design.columns):
            own = [drawn[place] for place in self.places[j]]
            if self.is_number(j):
                columns += own
                continue
            levels = np.array([*self.design.levels(name), None], object)
            rest = 1.0 - sum(own, np.zeros(len(codes)))
            columns.append(levels[np.argmax([rest, *own], axis=0)])
        return columns

    def describe(self, j: int) -> dict[str, list[float]]:
        """Mean and standard deviation of a number; means of the indicators of a category."""
        if self.is_number(j):
            return self.of_terms.describe(int(self.places[j][0]))
        at = self.places[j].tolist()
        return {str(self.feature_names[t][1]): self.of_terms.describe(t)["mean"] for t in at}

    @cached_property
    def feature_names(self) -> tuple[Any, ...]:
        """Return the column of a number, and column and value of an indicator, (p,)."""
        found: list[Any] = []
        for j, name in enumerate(self.design.columns):
            if self.is_number(j):
                found.append(j)
                continue
            own = [MISSING] if name in self.design.missing else []
            found += [(j, value) for value in (*self.design.levels(name)[1:], *own)]
        return tuple(found)

    def form(self) -> Form | None:
        form = self.of_terms.form()
        return None if form is None else form._replace(features=self.feature_names)

    def features(self, block: MixedBlock) -> NDArray[np.float64]:
        """The terms of complete rows, (n, p)."""
        with _located(self.design, 0):
            return complete(term_values(self.design, block))

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        return self.of_terms.remarks(self.design.terms, classes)


def shown_terms(design: Design, sums: Comoments | FourthMoments | KeptRows) -> Design:
    """Return the design of the values that some row shows, and of missing cells where there are."""
    categories, missing = dict(design.categories), []
    rows = (sums if isinstance(sums, KeptRows) else sums.columns).one_class
    for name in design.categories:
        total, own = rows.sums_of(design.places([name]))
        first = (total - own.sum(axis=0))[None]
        shown = nonnegative(DoubleDouble.concatenate([first, own]), total).hi > 0
        if name in design.missing and shown[-1]:
            missing.append(name)
        kept = np.flatnonzero(shown[design.ranks(name)])
        categories[name] = design.categories[name].take(kept)
    return replace(design, categories=categories, missing=tuple(missing))


def term_values(design: Design, block: MixedBlock) -> NDArray[np.float64]:
    """Return the terms of rows, (n, p); NaN where a cell is missing."""
    return np.concatenate([x for _, x in _known_rows(design, block)])


def _known_rows(design: Design, block: MixedBlock) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the terms of rows; NaN where a category is missing, or was not seen in the fit."""
    of_missing = [design.places([name]) for name in design.missing]
    for start, x in _rows(design, block, known=True):
        for places in of_missing:
            x[np.ix_(x[:, places[-1]] == 1, places)] = np.nan
        yield start, x


def _rows(
    design: Design, block: MixedBlock, known: bool = False
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    batch = _batch(block)
    return design.rows(design.known(batch) if known else batch)


def _batch(block: MixedBlock) -> Batch:
    numbers = (block.numbers,) if block.numbers.width else ()
    return Batch(block.rows, (*numbers, block.categories))


@contextmanager
def _located(design: Design, first: int) -> Iterator[None]:
    """Name the row and the column of a bad cell of terms that begin at a row."""
    try:
        yield
    except BadCell as bad:
        bad.row += first
        if isinstance(bad.column, int):
            bad.column = design.column(bad.column)
        raise
