"""Formulas, ``size * C(year) + I(size**2)``: read by formulaic, and products of what they name.

A factor is a column, or a function of the cells of one row such as ``log(price / size)``. Its text
is parsed to a tree of known operations. Nothing is evaluated by Python, so that a model file can
hold expressions.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.numerics.elementary import exp, log, log1p
from suffice.numerics.in_print import listed
from suffice.rules import rule
from suffice.sums.block import BadCell

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


def _less_one(x: Any) -> Any:
    """eˣ − 1; for small x as (e − 1) x/log e of the rounded e = eˣ, which has all digits.

    Source: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed. (2002), section
    1.14.1.
    """
    e = exp(x)
    with np.errstate(all="ignore"):
        return np.where(e == 1.0, x, (e - 1.0) * np.where(np.abs(x) < 1.0, x / log(e), 1.0))


INVERSES: Mapping[str, Callable[[Any], Any]] = {
    "log": exp,
    "log1p": _less_one,
    "sqrt": lambda x: np.square(np.maximum(x, 0.0)),
}
"""Functions of a left side: each increases, and no target is below its range."""

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

POWERS, LONGEST = range(1, 65), 400
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
    tree : ast.expr
        Its operations; names in it are those of columns.
    columns : tuple of str
        The columns that it is a function of.

    Examples
    --------
    >>> found = expression("log(`floor area`) * (rooms > 2)")
    >>> found.columns
    ('floor area', 'rooms')
    >>> found.value({"floor area": np.array([1.0, np.e]), "rooms": np.array([3.0, 3.0])}).round(9)
    array([0., 1.])
    """

    text: str
    tree: ast.expr
    columns: tuple[str, ...] = ()

    def value(self, cells: Cells) -> NDArray[np.float64]:
        """Return the values (n,); NaN where a cell is missing."""
        with np.errstate(all="ignore"):
            return np.asarray(self._value(self.tree, cells))

    def _value(self, tree: ast.expr, cells: Cells) -> Any:
        fact = "something in it is no function of the cells of one row"
        match tree:
            case ast.Name(name):
                return cells[name]
            case ast.Constant(int() | float() as number):
                return float(number)
            case ast.UnaryOp(ast.USub() | ast.UAdd() as sign, operand):
                return (-1.0 if isinstance(sign, ast.USub) else 1.0) * self._value(operand, cells)
            case ast.BinOp(base, ast.Pow(), ast.Constant(n)) if n in POWERS and type(n) is int:
                return _power(self._value(base, cells), n)
            case ast.BinOp(left, operation, right) if type(operation) in OPERATIONS:
                pair = self._value(left, cells), self._value(right, cells)
                return OPERATIONS[type(operation)](*pair)
            case ast.Compare(left, [test], [right]) if type(test) in COMPARISONS:
                pair = self._value(left, cells), self._value(right, cells)
                return _indicator(COMPARISONS[type(test)], *pair)
            case ast.Call(called, arguments, keywords):
                function = self._function(called)
                if len(arguments) == 1 and not keywords:
                    return function(self._value(arguments[0], cells))
            case ast.BinOp(_, ast.Pow(), _):
                fact = f"a power is a whole number from 1 to {POWERS[-1]}"
            case ast.BinOp():
                fact = "it has an unknown operation"
        raise _refused_term(self.text, fact)

    def _function(self, called: ast.expr) -> Callable[[Any], Any]:
        """The function that a call names, with or without ``np.`` before it."""
        match called:
            case ast.Name(name) | ast.Attribute(ast.Name("np" | "numpy"), name):
                pass
            case _:
                name = ""
        if name in OF_ALL_ROWS:
            raise ParameterError(
                f"the formula's term {self.text} has {name}(), whose value depends on other rows",
                "a term is a function of one row, the same at fit and ever after",
                "write powers as I(x**2); columns are centred and scaled where a fit needs it"
                if name in ("center", "scale", "standardize", "poly")
                else "compute such columns beforehand, or write powers as I(x**2)",
            )
        if name not in FUNCTIONS:
            raise _refused_term(self.text, f"{ast.unparse(called)}() is unknown")
        return FUNCTIONS[name]


@lru_cache(1 << 12)
def expression(text: str) -> Expression:
    """Read an expression; names of columns that are no identifiers stand in backticks."""
    names: dict[str, str] = {}

    def named(found: re.Match[str]) -> str:
        names[f"_column_{len(names)}"] = found.group(1)
        return list(names)[-1]

    if len(text) > LONGEST:
        raise _refused_term(text[:LONGEST], f"it is longer than {LONGEST} characters")
    try:
        tree = ast.parse(QUOTED.sub(named, text).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        raise _refused_term(text, "it cannot be read") from None
    for part in ast.walk(tree):
        if isinstance(part, ast.Name):
            part.id = names.get(part.id, part.id)
    found = Expression(text, tree)
    shown = defaultdict[str, NDArray[np.float64]](lambda: np.empty(0))
    try:
        found.value(shown)  # of no rows: it asks for all columns, and refuses what it does not know
    except OverflowError:
        raise _refused_term(text, "a number in it is larger than a double holds") from None
    if not shown:
        raise _refused_term(text, "it names no column")
    return replace(found, columns=tuple(shown))


def _power(x: Any, n: int) -> Any:
    """xⁿ by products in one order: the same bits on every processor."""
    found = x
    for _ in range(n - 1):
        found = found * x
    return found


def _indicator(test: Callable[[Any, Any], Any], left: Any, right: Any) -> Any:
    """1 where a comparison holds, 0 where it does not, NaN where a cell is missing."""
    return np.where(np.isnan(left) | np.isnan(right), np.nan, test(left, right))


def _refused_term(text: str, fact: str) -> ParameterError:
    return ParameterError(f"the formula's term {text!r}: {fact}", KNOWN)


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
    left : tuple of str
        The function of every target that is modelled, "" for the target itself; () if none has one.

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
    left: tuple[str, ...] = ()

    @rule("the left side has functions that can be undone, or none")
    def _has_left(self) -> bool:
        return set(self.left) <= {"", *INVERSES} and any(self.left) == bool(self.left)

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
            values = read.value(cells)
            undefined = ~np.isfinite(values)
            for name in read.columns:
                undefined &= ~np.isnan(cells[name])
            for row in np.flatnonzero(undefined)[:1].tolist():
                name = read.columns[0]
                raise BadCell(first + row, name, float(cells[name][row]), f"{factor}: {UNDEFINED}")
            found[factor] = values
        return found

    def modelled(
        self, y: NDArray[np.float64], targets: Sequence[str], first: int = 0
    ) -> NDArray[np.float64]:
        """Return the left side, (n, t), of targets (n, t); ``first`` is the number of row 0."""
        if not self.left:
            return y
        found = np.array(y, np.float64)
        for j, (name, target) in enumerate(zip(self.left, targets, strict=True)):
            with np.errstate(all="ignore"):
                found[:, j] = FUNCTIONS[name or "I"](found[:, j])
            undefined = ~np.isfinite(found[:, j]) & ~np.isnan(y[:, j])
            for row in np.flatnonzero(undefined)[:1].tolist():
                value = float(y[row, j])
                raise BadCell(first + row, target, value, f"{name}({target}): {UNDEFINED}")
        return found

    def undone(self, answers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return targets, (n, t, ...), of what is answered of the left side.

        Examples
        --------
        >>> Formula("log1p(y) ~ x", (("`x`",),), left=("log1p",)).undone(np.array([[1e-20]]))
        array([[1.e-20]])
        """
        if not self.left:
            return answers
        found = np.array(answers, np.float64)
        with np.errstate(over="ignore"):
            for j, name in enumerate(self.left):
                found[:, j] = INVERSES[name](answers[:, j]) if name else found[:, j]
        return found


def is_column(factor: Factor) -> bool:
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


CALL = re.compile(r"(?:\w+|\.)*\([^()]*\)|\{[^{}]*\}")
TILDE, PLUS = (re.compile(f"[{sign}](?=[^`]*(?:`[^`]*`[^`]*)*$)") for sign in "~+")  # unquoted
TARGET = re.compile(
    r"(?:(?:np\.|numpy\.)?(?P<function>\w+)\()?(?:`(?P<quoted>[^`]+)`|(?P<plain>[^\W\d]\w*))"
    r"(?(function)\))"
)
POWER_OF_ONE = re.compile(r"(\w+|`[^`]+`)\s*(?:\*\*|\^)\s*(\d+)")
CATEGORY = re.compile(r"C\((?:`([^`]+)`|(\w+))\)")
ONE = "1"


def formula_of(
    text: str, columns: Sequence[str], targets: Sequence[str]
) -> tuple[Formula, tuple[str, ...]]:
    """Read a formula: its terms, and the columns that stand in ``C()``.

    Parameters
    ----------
    text : str
        The right side, or both, of which `left_side` reads the other.
    columns : sequence of str
        Those that there are, the meaning of ``.`` among them.
    targets : sequence of str
        What may stand on the left.
    """
    left = left_side(text)
    if left and tuple(left) != tuple(targets):
        raise ParameterError(
            f"the formula's left side is {' + '.join(left)}",
            f"the target is {' + '.join(targets) or 'an array'}",
            "write the right side alone",
        )
    terms = _terms(text, columns)
    intercept = any([str(f.expr) for f in term.factors] == [ONE] for term in terms)
    categories: dict[str, None] = {}
    factors: dict[frozenset[Factor], tuple[Factor, ...]] = {}
    for term in terms:
        found = tuple(_factor(str(f.expr), columns, categories) for f in term.factors)
        found = tuple(dict.fromkeys(factor for factor in found if factor != ONE))
        if found:
            factors.setdefault(frozenset(found), found)
    if not factors:
        raise _refused(text, "it has a term at least")
    ordered = tuple(sorted(factors.values(), key=len))  # columns before products
    functions = tuple(left.values()) if any(left.values()) else ()
    formula = Formula(text, ordered, intercept, functions)
    for name in formula.columns:
        if name not in columns:
            raise ParameterError(
                f"the formula names the column {name!r}",
                f"the columns are {listed(map(repr, columns))}",
            )
    both = sorted(formula.functions_of & categories.keys())
    if both:
        raise ParameterError(
            f"the formula has {both[0]!r} in C() and as a number",
            "a column is read in one way",
            "give the table a copy of the column under another name",
        )
    return formula, tuple(categories)


def left_side(text: Any) -> dict[str, str]:
    """Return the targets of a formula and the function of each that is modelled, or "".

    Examples
    --------
    >>> left_side("log(`last price`) + cost ~ size"), left_side("size")
    ({'last price': 'log', 'cost': ''}, {})
    """
    left, *right = TILDE.split(text, maxsplit=1) if isinstance(text, str) else ("",)
    if not right or not left.strip():
        return {}
    found = [TARGET.fullmatch(part.strip()) for part in PLUS.split(left)]
    names = {one["plain"] or one["quoted"]: one["function"] or "" for one in found if one}
    if len(names) < len(found) or not set(names.values()) <= {"", *INVERSES}:
        functions = ", ".join(f"{name}()" for name in INVERSES)
        raise ParameterError(
            f"the formula's left side is {left.strip()}",
            f"it is a column or {functions} of one, or several such, joined by +",
            "compute other targets beforehand",
        )
    return names


def targets_of(estimator: Any) -> str | list[str] | None:
    """Return the targets that the left side of an estimator's formula names, or None."""
    names = list(left_side(getattr(estimator, "formula", None)))
    return names[0] if len(names) == 1 else names or None


def _terms(text: str, columns: Sequence[str]) -> Sequence[Any]:
    """The terms of the right side, as formulaic has them."""
    try:
        from formulaic.errors import FormulaParsingError
        from formulaic.parser import DefaultFormulaParser
    except ImportError:
        raise ParameterError(
            f"formula={text!r}",
            "formulaic, which reads formulas, is not installed",
            "pip install 'suffice[formula]'",
        ) from None
    if not isinstance(text, str) or not text.strip():
        raise ParameterError(f"formula={text!r}", "it is a text such as 'size * C(year)'")
    right = TILDE.split(text, maxsplit=1)[-1]
    if TILDE.search(right):
        raise _refused(text, "it has one ~")
    _refuse_powers(right)
    context = {"__formulaic_variables_available__": list(columns)}
    try:
        read: Any = DefaultFormulaParser().get_terms(right, context=context)
    except (FormulaParsingError, SyntaxError) as error:
        raise _refused(text, str(error).splitlines()[0].rstrip(".")) from None
    if isinstance(read.root, tuple):
        raise _refused(text, "it has several parts, divided by |")
    return list(read.root)


def _refuse_powers(text: str) -> None:
    """Refuse ``x**2`` and ``x^2``, which formulas take for x: all products of columns of x."""
    outside, before = text, ""
    while outside != before:
        before, outside = outside, CALL.sub("", outside)
    found = POWER_OF_ONE.search(outside)
    if found:
        name, power = found.groups()
        raise ParameterError(
            f"the formula has {found.group()}, which formulas read as {name} alone",
            "powers of sums are products of their columns",
            f"write I({name}**{power})",
        )


def _factor(text: str, columns: Sequence[str], categories: dict[str, None]) -> Factor:
    """A factor as a `Formula` has it; a column in ``C()`` is noted among the categories."""
    if text == ONE:
        return ONE
    if text in columns:
        return quoted(text)
    found = CATEGORY.fullmatch(text)
    if found:
        name = found.group(1) or found.group(2)
        categories[name] = None
        return quoted(name)
    if text.startswith("C("):
        raise ParameterError(
            f"the formula has {text}", "C() takes one column", "write C(column) alone"
        )
    if text.isidentifier() and text not in OF_ALL_ROWS:
        return quoted(text)
    read = expression(text)
    return text if not is_column(text) or len(read.columns) != 1 else quoted(read.columns[0])


def _refused(text: str, rule: str) -> ParameterError:
    step = "write it as 'size * C(year) + I(size**2)'"
    return ParameterError(f"formula={text!r}", rule, step)
