"""Formulas in the syntax that C and JavaScript share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import singledispatchmethod
from math import inf
from typing import Any, ClassVar

from suffice.export.expressions import (
    Above,
    Cell,
    Choice,
    Log,
    Log1p,
    Number,
    Product,
    Quotient,
    Square,
    Steps,
    Sum,
    Term,
)

__all__ = ["CLike"]


class CLike(ABC):
    """Writes terms and formulas. Each language says how its numbers, cells and functions are named.

    Attributes
    ----------
    infinity : str
        The number ∞.
    logs : str
        What stands before the names of logarithms.
    equals : str
        The comparison of two numbers.
    """

    infinity: ClassVar[str]
    logs: ClassVar[str]
    equals: ClassVar[str]

    @abstractmethod
    def cell(self, column: int) -> str:
        """The number in a column of the row."""

    @classmethod
    def number(cls, value: float) -> str:
        """A constant."""
        if value == -inf:
            return f"-{cls.infinity}"
        return f"({value!r})" if value < 0 else repr(float(value))

    def added(self, term: Term, indent: str) -> list[str]:
        """Statements that add a term to every output."""
        return [
            f"{indent}out[{c}] += {self.write(made)};\n" for c, made in enumerate(term.by_output)
        ]

    @singledispatchmethod
    def write(self, node: Any) -> str:
        """One node of the tree."""
        raise TypeError(type(node))

    @write.register
    def _(self, node: Number) -> str:
        return self.number(node.value)

    @write.register
    def _(self, node: Cell) -> str:
        return self.cell(node.column)

    @write.register
    def _(self, node: Sum) -> str:
        return "(" + " + ".join(map(self.write, node.terms)) + ")"

    @write.register
    def _(self, node: Product) -> str:
        return f"({self.write(node.left)} * {self.write(node.right)})"

    @write.register
    def _(self, node: Quotient) -> str:
        return f"({self.write(node.left)} / {self.write(node.right)})"

    @write.register
    def _(self, node: Square) -> str:
        return f"square({self.write(node.of)})"

    @write.register
    def _(self, node: Log) -> str:
        return f"{self.logs}log({self.write(node.of)})"

    @write.register
    def _(self, node: Log1p) -> str:
        return f"{self.logs}log1p({self.write(node.of)})"

    @write.register
    def _(self, node: Choice) -> str:
        """Of numbers only: other columns are looked up in tables."""
        made = self.number(node.otherwise or 0.0)
        for value, number in reversed(node.cases):
            equal = f"{self.cell(node.column)} {self.equals} {self.number(float(value))}"
            made = f"({equal} ? {self.number(number)} : {made})"
        return made

    @write.register
    def _(self, node: Above) -> str:
        above = f"{self.cell(node.column)} > {self.number(node.threshold)}"
        return f"({above} ? {self.number(node.above)} : {self.number(node.below)})"

    @write.register
    def _(self, node: Steps) -> str:
        if not node.starts:
            return self.number(node.values[0])
        start, below, rest = node.halves
        is_below = f"{self.cell(node.column)} < {self.number(start)}"
        return f"({is_below} ? {self.write(below)} : {self.write(rest)})"
