"""Terms of a formula: products of columns, and of functions of the cells of one row."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.design.expression import Expression, expression
from suffice.rules import rule
from suffice.sums.block import BadCell

UNDEFINED = "the formula has no finite value there"
Factor = str
"""A column, whose name stands in backticks, or an expression of columns."""

Coded = tuple[tuple[Factor, bool], ...]
"""Factors of a product, and whether each is a category with an indicator of every value."""


@dataclass(frozen=True)
class Formula:
    """The terms of a linear model, without the intercept.

    A category enters by indicators of all its values but the first wherever the intercept and the
    terms before span the rest; so no column of the design matrix follows from others.

    Parameters
    ----------
    text : str
        As it was written.
    factors : tuple of tuple of str
        Those of every term.
    intercept : bool
        Whether there is one: else the first category has an indicator of every value.

    Examples
    --------
    >>> found = Formula("a * log(b)", (("`a`",), ("log(b)",), ("`a`", "log(b)")))
    >>> found.labels, found.columns
    (('a', 'log(b)', 'a:log(b)'), ('a', 'b'))

    Source: J. M. Chambers and T. J. Hastie, Statistical Models in S (1992), section 2.4.1.
    """

    text: str
    factors: tuple[tuple[Factor, ...], ...]
    intercept: bool = True

    @rule("every factor is a column or an expression, and no term is there twice")
    def _has_terms(self) -> bool:
        try:
            self.read  # noqa: B018 - raises
        except ParameterError:
            return False
        distinct = {frozenset(term) for term in self.factors}
        return len(distinct) == len(self.factors) and all(self.factors)

    @property
    def read(self) -> Mapping[Factor, Expression]:
        """The expression of every factor; not kept here, as functions do not travel to workers."""
        return {factor: expression(factor) for term in self.factors for factor in term}

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that the terms are functions of."""
        found = (name for factor in self.read.values() for name in factor.columns)
        return tuple(dict.fromkeys(found))

    @cached_property
    def functions_of(self) -> frozenset[str]:
        """The columns whose cells are computed with, so that they have to be numbers."""
        inner = (e.columns for factor, e in self.read.items() if not is_column(factor))
        return frozenset(name for names in inner for name in names)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Names of the terms."""
        return tuple(":".join(map(label, term)) for term in self.factors)

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms, a 0 for no intercept among them.

        Examples
        --------
        >>> Formula("0 + a", (("`a`",),), intercept=False).terms
        ('0', 'a')
        """
        return self.labels if self.intercept else ("0", *self.labels)

    def keep(self, labels: Sequence[str]) -> Formula:
        """Some of the terms."""
        kept = (t for t, name in zip(self.factors, self.labels, strict=True) if name in set(labels))
        return replace(self, factors=tuple(kept))

    def coded(self, categories: Mapping[str, object]) -> tuple[tuple[Coded, ...], ...]:
        """The products that every term becomes.

        Examples
        --------
        >>> Formula("a:b", (("`a`", "`b`"),)).coded({"a": ...})
        (((('`a`', True), ('`b`', False)),),)
        >>> Formula("0 + a", (("`a`",),), intercept=False).coded({"a": ...})
        (((('`a`', True),),),)
        """
        constant = {frozenset[Factor]()} if self.intercept else set[frozenset[Factor]]()
        spanned = {frozenset[Factor](): constant}
        found = []
        for term in self.factors:
            coded = [f for f in term if is_column(f) and label(f) in categories]
            numbers = frozenset(term) - frozenset(coded)
            before = spanned.setdefault(numbers, set())
            subsets = [
                frozenset(chosen)
                for size in range(len(coded) + 1)
                for chosen in combinations(coded, size)
                if frozenset(chosen) not in before
            ]
            before.update(subsets)
            pieces = _joined([frozenset((f, False) for f in subset) for subset in subsets])
            found.append(tuple(_in_order(term, numbers, piece) for piece in pieces))
        return tuple(found)

    def values(
        self, cells: Mapping[str, NDArray[np.float64]], first: int = 0
    ) -> dict[Factor, NDArray[np.float64]]:
        """Values (n,) of every factor that is an expression."""
        found = {}
        for factor, read in self.read.items():
            if is_column(factor):
                continue
            with np.errstate(all="ignore"):
                values = read.value(cells)
            undefined = ~np.isfinite(values)
            for name in read.columns:
                undefined &= ~np.isnan(cells[name])
            for row in np.flatnonzero(undefined)[:1].tolist():
                name = read.columns[0]
                raise BadCell(first + row, name, float(cells[name][row]), f"{factor}: {UNDEFINED}")
            found[factor] = values
        return found


def is_column(factor: Factor) -> bool:
    """Whether a factor is a column itself."""
    return factor[:1] == "`" == factor[-1:] and factor.count("`") == 2


def label(factor: Factor) -> str:
    """A factor in names of terms.

    Examples
    --------
    >>> label("`floor area`"), label("log(`floor area`)")
    ('floor area', 'log(`floor area`)')
    """
    return factor[1:-1] if is_column(factor) else factor


def _joined(pieces: list[frozenset[tuple[Factor, bool]]]) -> list[frozenset[tuple[Factor, bool]]]:
    """Fewer products that span the same: s and s·f⁻ are s·f, with an indicator of every value."""
    for i, short in enumerate(pieces):
        for j in range(i + 1, len(pieces)):
            rest = pieces[j] - short
            if short < pieces[j] and len(rest) == 1:
                ((factor, full),) = rest
                if not full:
                    joined = short | {(factor, True)}
                    others = [p for q, p in enumerate(pieces) if q not in (i, j)]
                    return _joined([*others[: j - 1], joined, *others[j - 1 :]])
    return pieces


def _in_order(
    term: Sequence[Factor], numbers: frozenset[Factor], piece: frozenset[tuple[Factor, bool]]
) -> Coded:
    coded = dict(piece)
    return tuple((f, coded.get(f, False)) for f in term if f in numbers or f in coded)


def products(parts: Sequence[NDArray[np.float64]], rows: int) -> NDArray[np.float64]:
    """Products (n, q₁ q₂ …) of the columns of several tables (n, q_i), the last running fastest.

    Examples
    --------
    >>> products([np.array([[1.0, 2.0]]), np.array([[3.0, 5.0]])], 1)
    array([[ 3.,  5.,  6., 10.]])
    """
    found = np.ones((rows, 1))
    for part in parts:
        found = (found[:, :, None] * part[:, None, :]).reshape(rows, -1)
    return found


def names(parts: Sequence[Sequence[str]]) -> Iterator[str]:
    """Names of the columns of `products`."""
    found = [""]
    for part in parts:
        found = [f"{before}:{name}" if before else name for before in found for name in part]
    return iter(found)
