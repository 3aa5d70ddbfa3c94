"""The intermediate form of every export: a model's log joint as expression trees over columns.

::

    s_c(x) = start_c + Σ_terms expression_c(x),        log P(c, x) = s_c(x) + a term of the row

A classifier's answers follow from s by log-sum-exp; a regressor's predictions are s itself.
A reader of models makes these trees, a writer of a language walks them: neither knows the other.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from sys import float_info
from typing import Any, Literal

LARGEST = 1e150  # a model refuses larger numbers, and so does what is exported
DOUBLE = float_info.max

ColumnKind = Literal["number", "count", "whole", "string", "integer", "boolean"]
Missing = Literal["nothing", "refused"]


@dataclass(frozen=True)
class Column:
    """One column that a model reads.

    A ``number`` is at most 1e150 in size, a ``count`` also 0 or more, ``whole`` also without a
    fraction; cells that break the rule are refused. ``string``, ``integer`` and ``boolean`` cells
    are read by `Choice` only; an ``integer`` may be any finite number.
    """

    name: str
    kind: ColumnKind

    @property
    def is_number(self) -> bool:
        """Return whether the cells are read as doubles, and not compared with values."""
        return self.kind in ("number", "count", "whole")

    @property
    def bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest cell that is answered; None where cells are no numbers."""
        if self.kind in ("string", "boolean"):
            return None
        if self.kind == "integer":
            return -DOUBLE, DOUBLE
        return (-LARGEST if self.kind == "number" else 0.0), LARGEST


@dataclass(frozen=True)
class Number:
    """A constant; −∞ is the logarithm of what is impossible."""

    value: float


@dataclass(frozen=True)
class Cell:
    """The number in a column, by its place among the columns."""

    column: int


@dataclass(frozen=True)
class Sum:
    """The sum of all terms, from left to right."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True)
class Product:
    """The product of two factors."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Quotient:
    """``left`` divided by ``right``, which is not 0."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class Square:
    """Something times itself."""

    of: Expression


@dataclass(frozen=True)
class Log:
    """The natural logarithm of something positive."""

    of: Expression


@dataclass(frozen=True)
class Log1p:
    """log(1 + u) of u ≥ 0, right also where u is small."""

    of: Expression


@dataclass(frozen=True)
class Choice:
    """A number for each value of a column, and one for all others: None refuses these."""

    column: int
    cases: tuple[tuple[Any, float], ...]
    otherwise: float | None


@dataclass(frozen=True)
class Above:
    """A step at a threshold: one number above it, and one at and below it."""

    column: int
    threshold: float
    above: float
    below: float


@dataclass(frozen=True)
class Steps:
    """``values[b]``, where b of the ascending ``starts`` are at most the cell."""

    column: int
    starts: tuple[float, ...]
    values: tuple[float, ...]

    @property
    def halves(self) -> tuple[float, Steps, Steps]:
        """A start in the middle, and the steps below it and from it on; of two values or more."""
        m = (len(self.starts) + 1) // 2
        below = Steps(self.column, self.starts[: m - 1], self.values[:m])
        return self.starts[m - 1], below, Steps(self.column, self.starts[m:], self.values[m:])


Expression = (
    Number | Cell | Sum | Product | Quotient | Square | Log | Log1p | Choice | Above | Steps
)


def weighed(node: Expression, weight: float) -> Expression:
    """An expression times a weight above 0."""
    match node:
        case Number(value):
            return Number(weight * value)
        case Choice(_, cases, otherwise):
            products = tuple((value, weight * number) for value, number in cases)
            rest = otherwise if otherwise is None else weight * otherwise
            return replace(node, cases=products, otherwise=rest)
        case Above(_, _, above, below):
            return replace(node, above=weight * above, below=weight * below)
        case Steps(_, _, values):
            return replace(node, values=tuple(weight * value for value in values))
        case _:
            return Product(Number(weight), node)


@dataclass(frozen=True)
class Term:
    """The contribution of some columns to every output.

    If one of them is missing, the term is ``nothing``, or the row is ``refused``.
    """

    columns: tuple[int, ...]
    by_output: tuple[Expression, ...]
    missing: Missing = "nothing"

    def weighed(self, weight: float) -> Term:
        """The term times a weight above 0."""
        if weight == 1:
            return self
        return replace(self, by_output=tuple(weighed(one, weight) for one in self.by_output))


@dataclass(frozen=True)
class LogJoint:
    """A fitted model, ready to be written in another language.

    Parameters
    ----------
    task : {"classes", "numbers"}
        Whether the outputs are log joints of classes, or predictions of targets.
    outputs : tuple of k labels, or names of targets
    start : tuple of k numbers
        log P(c), or intercepts.
    prior : tuple of k numbers
        Probabilities of a row that is impossible under every class; empty for numbers.
    columns : tuple of Column
    terms : tuple of Term
    """

    task: Literal["classes", "numbers"]
    outputs: tuple[Any, ...]
    start: tuple[float, ...]
    prior: tuple[float, ...]
    columns: tuple[Column, ...]
    terms: tuple[Term, ...]

    @property
    def fallback(self) -> int:
        """The class answered where all are impossible: the first of the largest prior."""
        return self.prior.index(max(self.prior))

    @property
    def refusing(self) -> tuple[str, ...]:
        """Names of the columns without whose cells a row gets no answer."""
        places = sorted({j for t in self.terms if t.missing == "refused" for j in t.columns})
        return tuple(self.columns[j].name for j in places)
