"""Nodes of the intermediate form as nodes of an SQL tree."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatchmethod
from math import inf
from typing import Any

from sqlglot import exp

from suffice.export.expressions import (
    Above,
    Cell,
    Choice,
    Expression,
    Log,
    Log1p,
    LogJoint,
    Number,
    Product,
    Quotient,
    Square,
    Steps,
    Sum,
)

__all__ = [
    "SUBSTITUTING",
    "NodeWriter",
    "alias",
    "balanced",
    "cast",
    "double",
    "name_of",
    "names_of",
    "paren",
    "select",
    "source",
]

IMPOSSIBLE = -1e300  # stands for log 0, as not every database has an infinity
SUBSTITUTING = ("spark", "spark2", "databricks", "hive")


class NodeWriter:
    """Writes expressions over the cells x0, x1, ... of a log joint."""

    joint: LogJoint
    dialect: str
    first_place: int  # in an array

    def literal(self, value: Any) -> exp.Expression:
        """A value, in two halves where the dialect would put a variable in the place of ${...}."""
        if isinstance(value, str) and self.dialect in SUBSTITUTING and "${" in value:
            pieces = value.replace("${", "$\0{").split("\0")
            return exp.Concat(expressions=[exp.Literal.string(piece) for piece in pieces])
        return plain(value)

    # -- expressions

    @singledispatchmethod
    def write(self, node: Any) -> exp.Expression:
        """One node of the tree."""
        raise TypeError(type(node))

    @write.register
    def _(self, node: Number) -> exp.Expression:
        return double(node.value)

    @write.register
    def _(self, node: Cell) -> exp.Expression:
        return name_of(f"x{node.column}")

    @write.register
    def _(self, node: Sum) -> exp.Expression:
        return paren(added([self.write(term) for term in node.terms]))

    @write.register
    def _(self, node: Product) -> exp.Expression:
        return exp.Mul(this=self._factor(node.left), expression=self._factor(node.right))

    @write.register
    def _(self, node: Quotient) -> exp.Expression:
        left, right = self._factor(node.left), self._factor(node.right)
        return paren(exp.Div(this=left, expression=right, typed=True, safe=False))

    @write.register
    def _(self, node: Square) -> exp.Expression:
        return paren(exp.Mul(this=self._factor(node.of), expression=self._factor(node.of)))

    @write.register
    def _(self, node: Log) -> exp.Expression:
        return exp.Ln(this=self.write(node.of))

    @write.register
    def _(self, node: Log1p) -> exp.Expression:
        """Kahan's form, exact to rounding: log(w) u / (w − 1) with w = 1 + u."""
        u = paren(self.write(node.of))
        w = paren(exp.Add(this=cast(double(1.0)), expression=u))
        rounded = paren(exp.Sub(this=w.copy(), expression=double(1.0)))
        ratio = paren(exp.Div(this=u.copy(), expression=rounded, typed=True, safe=False))
        product = exp.Mul(this=exp.Ln(this=w.copy()), expression=ratio)
        same = exp.EQ(this=w, expression=double(1.0))
        return paren(exp.Case().when(same, u.copy(), copy=False).else_(product, copy=False))

    @write.register
    def _(self, node: Choice) -> exp.Expression:
        number = self.joint.columns[node.column].bounds is not None
        otherwise = exp.Null() if node.otherwise is None else plain(node.otherwise)
        if not node.cases:
            return otherwise
        case = exp.Case(this=name_of(f"x{node.column}"))
        for value, result in node.cases:
            case = case.when(
                double(value) if number else self.literal(value), plain(result), copy=False
            )
        return case.else_(otherwise, copy=False)

    @write.register
    def _(self, node: Above) -> exp.Expression:
        above = exp.GT(this=name_of(f"x{node.column}"), expression=double(node.threshold))
        return (
            exp.Case()
            .when(above, double(node.above), copy=False)
            .else_(double(node.below), copy=False)
        )

    @write.register
    def _(self, node: Steps) -> exp.Expression:
        if not node.starts:
            return plain(node.values[0])
        start, below, rest = node.halves
        is_below = exp.LT(this=name_of(f"x{node.column}"), expression=double(start))
        case = exp.Case().when(is_below, self.write(below), copy=False)
        return case.else_(self.write(rest), copy=False)

    def looked_up(self, numbers: Sequence[float | None], place: str) -> exp.Expression:
        """The element of an array at the place that a column holds."""
        wide = exp.Array(expressions=[exp.Null() if n is None else double(n) for n in numbers])
        kind = exp.DataType.build("array<double>")
        array = paren(exp.Cast(this=wide, to=kind))
        return exp.Bracket(this=array, expressions=[name_of(place)], offset=self.first_place)

    def _factor(self, node: Expression) -> exp.Expression:
        made = self.write(node)
        return paren(made) if isinstance(made, exp.Case | exp.Neg) else made


def paren(made: exp.Expression) -> exp.Paren:
    """An expression in parentheses."""
    return exp.Paren(this=made)


def alias(made: exp.Expression, name: str) -> exp.Alias:
    """An expression under a name."""
    return exp.Alias(this=made, alias=exp.to_identifier(name, quoted=True))


def select(*columns: exp.Expression) -> exp.Select:
    """SELECT of columns."""
    return exp.Select(expressions=list(columns))


def source(name: str) -> exp.Table:
    """A step of the statement, as a table."""
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def name_of(name: str) -> exp.Column:
    """A column."""
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def names_of(names: Sequence[str]) -> list[exp.Expression]:
    """Columns."""
    return [name_of(name) for name in names]


def double(value: float) -> exp.Expression:
    """A literal that every dialect reads as a double, as it has an exponent."""
    if value == -inf:
        value = IMPOSSIBLE
    digits = repr(abs(float(value)))
    literal = exp.Literal.number(digits if "e" in digits else f"{digits}e0")
    return exp.Neg(this=literal) if value < 0 else literal


def plain(value: Any) -> exp.Expression:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, float):
        return double(value)
    literal = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def cast(made: exp.Expression) -> exp.Cast:
    """An expression as a double."""
    return exp.Cast(this=made, to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def added(terms: Sequence[exp.Expression]) -> exp.Expression:
    total = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return total


def balanced(terms: Sequence[exp.Expression]) -> exp.Expression:
    """A sum in halves of halves: its depth stays small, and so does its rounding error."""
    if len(terms) <= 8:
        return added(terms)
    half = len(terms) // 2
    return exp.Add(this=paren(balanced(terms[:half])), expression=paren(balanced(terms[half:])))
