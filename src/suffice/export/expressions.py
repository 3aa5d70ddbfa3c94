"""The intermediate form of every export: a model's log joint as terms of columns.

::

    s_c(x) = start_c + Σ_terms weight · term_c(x),        log P(c, x) = s_c(x) + a term of the row

A classifier's answers follow from s by log-sum-exp; a regressor's predictions are s itself. Of an
average every member has a log joint, and the answer is the mean of their probabilities.
A reader of models makes the terms, a writer of a language walks them: neither knows the other.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from math import inf
from sys import float_info
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

LARGEST = 1e150  # a model refuses larger numbers, and so does what is exported
DOUBLE = float_info.max
NEGLIGIBLE = 1e-13  # part of a variance that is rounding

ColumnKind = Literal[
    "number", "count", "whole", "date", "time", "string", "integer", "boolean", "text"
]
Missing = Literal["nothing", "refused"]
Operation = Literal["cell", "sum", "product", "quotient", "square", "log", "log1p"]
Numbers = float | NDArray[np.float64]


class Column(NamedTuple):
    """One column that a model reads.

    A ``number`` is at most 1e150 in size, a ``count`` also 0 or more, ``whole`` also without a
    fraction; cells that break the rule are refused. A ``date``, or a point in time, is the number
    of seconds since 1970-01-01, a ``time`` of day that since midnight. ``string``, ``integer`` and
    ``boolean`` cells are read by `Values` only; an ``integer`` may be any finite number, and a
    ``text`` is read by `Words`.
    """

    name: str
    kind: ColumnKind

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest cell that is answered; None where cells are no numbers."""
        if self.kind in ("string", "boolean", "text"):
            return None
        if self.kind == "integer":
            return -DOUBLE, DOUBLE
        return (0.0 if self.kind in ("count", "whole") else -LARGEST), LARGEST


@dataclass(frozen=True, eq=False)
class Expression:
    """An operation on expressions and numbers; ``cell`` is the number in the cell of a column.

    Numbers differ between the outputs where they are arrays (k,).
    """

    operation: Operation
    of: tuple[Expression | Numbers, ...] = ()

    __array_ufunc__ = None  # so that arrays are operands, and not their elements

    def __add__(self, other: Expression | Numbers) -> Expression:
        terms = self.of if self.operation == "sum" else (self,)
        return Expression("sum", (*terms, other))

    def __radd__(self, other: Numbers) -> Expression:
        return Expression("sum", (other, self))

    def __sub__(self, other: Numbers) -> Expression:
        return self + -other

    def __mul__(self, other: Expression | Numbers) -> Expression:
        return Expression("product", (self, other))

    def __rmul__(self, other: Numbers) -> Expression:
        return Expression("product", (other, self))

    def __rtruediv__(self, other: Numbers) -> Expression:
        return Expression("quotient", (other, self))

    def of_output(self, c: int) -> Expression:
        """Return the expression of one output, whose numbers are floats."""
        of = (
            one.of_output(c)
            if isinstance(one, Expression)
            else one
            if isinstance(one, float)
            else float(one[c])
            for one in self.of
        )
        return Expression(self.operation, tuple(of))

    def square(self) -> Expression:
        return Expression("square", (self,))

    def log(self) -> Expression:
        """Return the natural logarithm of something positive."""
        return Expression("log", (self,))

    def log1p(self) -> Expression:
        """Return log(1 + u) of u ≥ 0, right also where u is small."""
        return Expression("log1p", (self,))


CELL = Expression("cell")


@dataclass(frozen=True)
class Steps:
    """Places of numbers: b, where b of the ascending ``starts`` are at most the cell."""

    starts: tuple[float, ...]


@dataclass(frozen=True)
class Values:
    """Places of cells: i of those that equal value i, and the last of all others."""

    values: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class Lookup:
    """Numbers by the place of the cell, of which there are b."""

    places: Steps | Values
    by_output: NDArray[np.float64]  # (k, b); NaN refuses the cell


@dataclass(frozen=True, eq=False)
class Words:
    """The sum over the words of a text of what one word adds to every output."""

    parameters: Any  # of a multinomial family


Adds = Expression | Lookup | Words


@dataclass(frozen=True, eq=False)
class Term:
    """The contribution of the cell of a column to every output.

    If the cell is missing, the term is ``nothing``, or the row is ``refused``.
    """

    column: int
    adds: Adds
    missing: Missing = "nothing"
    weight: float = 1.0

    @property
    def columns(self) -> tuple[int]:
        return (self.column,)


class Whitened(NamedTuple):
    """log N of some numbers, up to a term that all classes share.

    ::

        constant_c − ½ |W_c ψ − slope_c|²,  or  constant_c + slope_cᵀψ,    ψ = x − origin
    """

    origin: NDArray[np.float64]  # (p,)
    constant: NDArray[np.float64]  # (k,)
    slope: NDArray[np.float64]  # (k, p)
    whitening: NDArray[np.float64] | None = None  # W, lower triangular, (k, p, p); none of one Σ


@dataclass(frozen=True, eq=False)
class Gaussian:
    """log N(x; μ_c, Σ_c) of columns together, of those that a row shows.

    A row that lacks cells is answered by Cholesky's factor L of Σ_c without the columns j that it
    lacks, and without those whose variance given the columns before is no more than rounding:

    ::

        v_ij = Σ_ij − Σ_{l<j} L_il L_jl      g_j = 1/√v_jj, or 0      L_ij = g_j v_ij
        z_j = g_j (x_j − μ_j − Σ_{l<j} L_jl z_l)        log N = Σ_j log(g_j/√2π) − ½ z_j²

    A feature is the number in a column, or with a value the indicator of this value.
    """

    columns: tuple[int, ...]  # d of them
    features: tuple[tuple[int, Any], ...]  # p pairs: a column, and a value or None
    values: Mapping[int, tuple[Any, ...]]  # of columns that are categories; other cells are missing
    offset: NDArray[np.float64]  # μ − origin of the complete form, (k, p)
    covariance: NDArray[np.float64] | None  # (k, p, p), or (1, p, p); None of too many columns
    complete: Whitened  # the score of a row that lacks no cell
    lacking: tuple[str, ...] = ()  # columns of which rows of the fit lacked cells
    weight: float = 1.0

    @property
    def products(self) -> float:
        """Number of products in L; infinite without Σ."""
        if self.covariance is None:
            return inf
        s, p, _ = self.covariance.shape
        return float(s * p * (p + 1) * (p + 2) / 6)

    @property
    def least(self) -> NDArray[np.float64]:
        """The variances that are rounding, (s, p)."""
        assert self.covariance is not None
        return NEGLIGIBLE * np.diagonal(self.covariance, axis1=1, axis2=2)


@dataclass(frozen=True, eq=False)
class Pairs:
    """``weight`` (log P(c, x) − log P(c)) of one-dependence estimators, 0 without a parent.

    ::

        P(c, x) = 1/|I| Σ_{i ∈ I} exp Σ_j t_c[b_i, b_j]

    over the columns I whose bin b_i is a ``parent``; j are all columns that the row shows. Bins are
    counted through all d columns, in ``bins`` those of each; cells without a bin are missing.
    """

    columns: tuple[int, ...]
    places: tuple[Steps | Values, ...]
    bins: tuple[NDArray[np.intp], ...]  # by place; −1 of cells that are missing
    sizes: tuple[int, ...]  # numbers of bins
    counts: NDArray[np.float64]  # (k, M(M + 1)/2), of which t is: `suffice.models.generative.aode`
    rows: NDArray[np.float64]  # Σw of every class, (k,)
    terms: NDArray[np.float64]  # t, (k, M, M)
    parent: NDArray[np.bool_]  # (M,)
    log_class: NDArray[np.float64]  # log P(c), (k,)
    weight: float

    @property
    def ends(self) -> tuple[int, ...]:
        """First bin of every column, and M."""
        return tuple(accumulate(self.sizes, initial=0))


AnyTerm = Term | Gaussian | Pairs


@dataclass(frozen=True)
class Member:
    """The log joint of one model; the only one, or one of an average."""

    start: tuple[float, ...]  # log P(c), or intercepts, (k,)
    prior: tuple[float, ...]  # P(c) of a row that is impossible under every class; none of numbers
    terms: tuple[AnyTerm, ...]
    name: str = ""  # of the candidate
    share: float = 1.0  # its weight in the average

    @property
    def fallback(self) -> int:
        """The class answered where all are impossible: the first of the largest prior."""
        return self.prior.index(max(self.prior))


@dataclass(frozen=True)
class LogJoint:
    """A fitted model, ready to be written in another language.

    The probabilities of several members are averaged, P(c | x) = Σ_m share_m P_m(c | x).
    """

    task: Literal["classes", "numbers"]  # log joints of classes, or predictions of targets
    outputs: tuple[Any, ...]  # k labels, or names of targets
    columns: tuple[Column, ...]  # those of one member after those of another
    members: tuple[Member, ...]

    def integrates(self, most: float) -> bool:
        """Return whether so many products are enough to answer rows that lack cells."""
        terms = [term for member in self.members for term in member.terms]
        return sum(term.products for term in terms if isinstance(term, Gaussian)) <= most
