"""Functions of the cells of one row, such as ``log(price / size)``: read, and computed.

Text is parsed to a tree of known operations. Nothing is evaluated by Python, so that a model file
can hold expressions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.numerics.elementary import exp, log, log1p

Cells = Mapping[str, NDArray[np.float64]]
"""Numbers (n,) by the names of their columns."""

FUNCTIONS: Mapping[str, Callable[[Any], Any]] = {
    "abs": np.abs,
    "exp": exp,
    "floor": np.floor,
    "I": np.positive,
    "log": log,
    "log1p": log1p,
    "sqrt": np.sqrt,
}
OPERATIONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Add: np.add,
    ast.Sub: np.subtract,
    ast.Mult: np.multiply,
    ast.Div: np.divide,
}
COMPARISONS: Mapping[type, Callable[[Any, Any], Any]] = {
    ast.Lt: np.less,
    ast.LtE: np.less_equal,
    ast.Gt: np.greater,
    ast.GtE: np.greater_equal,
    ast.Eq: np.equal,
    ast.NotEq: np.not_equal,
}
OF_ALL_ROWS = frozenset(
    [
        *("bs", "cc", "center", "cr", "cs", "cyclic_cubic_spline", "hashed", "lag", "lead"),
        *("natural_cubic_spline", "poly", "scale", "standardize", "te"),
    ]
)
"""Functions of formulas elsewhere whose value in one row depends on other rows."""

LARGEST_POWER, LONGEST = 64, 400
QUOTED = re.compile(r"`([^`]+)`")
KNOWN = "a term is made of columns, numbers, + - * / **, comparisons, and "
KNOWN += ", ".join(f"{name}()" for name in FUNCTIONS)


def quoted(name: str) -> str:
    """The name of a column as an expression has it.

    Examples
    --------
    >>> quoted("floor area")
    '`floor area`'
    """
    return f"`{name}`"


@dataclass(frozen=True)
class Expression:
    """A function of the cells of one row.

    Parameters
    ----------
    text : str
        As it was written.
    columns : tuple of str
        The columns that it is a function of.
    value : callable
        Its values (n,) from `Cells`; NaN where a cell is missing.

    Examples
    --------
    >>> found = expression("log(`floor area`) * (rooms > 2)")
    >>> found.columns
    ('floor area', 'rooms')
    >>> found.value({"floor area": np.array([1.0, np.e]), "rooms": np.array([3.0, 3.0])}).round(9)
    array([0., 1.])
    """

    text: str
    columns: tuple[str, ...]
    value: Callable[[Cells], NDArray[np.float64]]


@lru_cache(1 << 12)
def expression(text: str) -> Expression:
    """Read an expression; names of columns that are no identifiers stand in backticks."""
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        names[f"_column_{len(names)}"] = found.group(1)
        return list(names)[-1]

    if len(text) > LONGEST:
        raise _refused(text[:LONGEST], f"it is longer than {LONGEST} characters")
    source = QUOTED.sub(named, text)
    try:
        tree = ast.parse(source.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise _refused(text, "it cannot be read") from None
    columns: dict[str, None] = {}
    value = _compiled(tree, text, names, columns)
    if not columns:
        raise _refused(text, "it names no column")
    return Expression(text, tuple(columns), value)


def _compiled(
    tree: ast.AST, text: str, names: Mapping[str, str], columns: dict[str, None]
) -> Callable[[Cells], Any]:
    """What computes a tree; the columns that it names are added to ``columns``."""

    def inner(part: ast.AST) -> Callable[[Cells], Any]:
        return _compiled(part, text, names, columns)

    if isinstance(tree, ast.Name):
        name = names.get(tree.id, tree.id)
        columns[name] = None
        return lambda cells: cells[name]
    if isinstance(tree, ast.Constant) and isinstance(tree.value, int | float):
        number = float(tree.value)
        return lambda cells: number
    if isinstance(tree, ast.UnaryOp) and isinstance(tree.op, ast.USub | ast.UAdd):
        operand, sign = inner(tree.operand), -1.0 if isinstance(tree.op, ast.USub) else 1.0
        return lambda cells: sign * operand(cells)
    if isinstance(tree, ast.BinOp):
        return _operation(tree, text, inner)
    if isinstance(tree, ast.Compare) and len(tree.ops) == 1 and type(tree.ops[0]) in COMPARISONS:
        left, right = inner(tree.left), inner(tree.comparators[0])
        test = COMPARISONS[type(tree.ops[0])]
        return lambda cells: _indicator(test, left(cells), right(cells))
    if isinstance(tree, ast.Call):
        function = _function(tree, text)
        if len(tree.args) == 1 and not tree.keywords:
            argument = inner(tree.args[0])
            return lambda cells: function(argument(cells))
    raise _refused(text, "something in it is no function of the cells of one row")


def _operation(
    tree: ast.BinOp, text: str, inner: Callable[[ast.AST], Callable[[Cells], Any]]
) -> Callable[[Cells], Any]:
    left = inner(tree.left)
    if isinstance(tree.op, ast.Pow):
        power = tree.right
        if isinstance(power, ast.Constant) and type(power.value) is int:
            n = power.value
            if 1 <= n <= LARGEST_POWER:
                return lambda cells: _power(left(cells), n)
        raise _refused(text, f"a power is a whole number from 1 to {LARGEST_POWER}")
    if type(tree.op) not in OPERATIONS:
        raise _refused(text, "it has an unknown operation")
    right, operation = inner(tree.right), OPERATIONS[type(tree.op)]
    return lambda cells: operation(left(cells), right(cells))


def _function(tree: ast.Call, text: str) -> Callable[[Any], Any]:
    """The function that a call names, with or without ``np.`` before it."""
    called = tree.func
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        name = called.attr if called.value.id in ("np", "numpy") else ""
    else:
        name = called.id if isinstance(called, ast.Name) else ""
    if name in OF_ALL_ROWS:
        raise ParameterError(
            f"the formula's term {text} has {name}(), whose value depends on other rows",
            "a term is a function of one row, the same at fit and ever after",
            "write powers as I(x**2); columns are centred and scaled where a fit needs it"
            if name in ("center", "scale", "standardize", "poly")
            else "compute such columns beforehand, or write powers as I(x**2)",
        )
    if name not in FUNCTIONS:
        raise _refused(text, f"{ast.unparse(called)}() is unknown")
    return FUNCTIONS[name]


def _power(x: Any, n: int) -> Any:
    """xⁿ by products in one order: the same bits on every processor."""
    found = x
    for _ in range(n - 1):
        found = found * x
    return found


def _indicator(test: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """1 where a comparison holds, 0 where it does not, NaN where a cell is missing."""
    return np.where(np.isnan(left) | np.isnan(right), np.nan, test(left, right))


def _refused(text: str, fact: str) -> ParameterError:
    return ParameterError(f"the formula's term {text!r}: {fact}", KNOWN)
