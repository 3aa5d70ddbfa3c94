"""Formulas as people write them, ``size * C(year) + I(size**2)``: read by formulaic."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from suffice.errors import ParameterError
from suffice.models.design.expression import OF_ALL_ROWS, expression, quoted
from suffice.models.design.formula import Factor, Formula, is_column

CALL = re.compile(r"(?:\w+|\.)*\([^()]*\)|\{[^{}]*\}")
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
        The right side, or both.
    columns : sequence of str
        Those that there are, the meaning of ``.`` among them.
    targets : sequence of str
        What may stand on the left.
    """
    terms = _terms(text, columns, targets)
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
    formula = Formula(text, ordered, intercept)
    for name in formula.columns:
        if name not in columns:
            raise ParameterError(
                f"the formula names the column {name!r}",
                f"the columns are {', '.join(map(repr, columns[:20]))}",
            )
    both = sorted(formula.functions_of & categories.keys())
    if both:
        raise ParameterError(
            f"the formula has {both[0]!r} in C() and as a number",
            "a column is read in one way",
            "give the table a copy of the column under another name",
        )
    return formula, tuple(categories)


def _terms(text: str, columns: Sequence[str], targets: Sequence[str]) -> Sequence[Any]:
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
    _refuse_powers(text)
    context = {"__formulaic_variables_available__": list(columns)}
    try:
        read: Any = DefaultFormulaParser().get_terms(text, context=context)
    except (FormulaParsingError, SyntaxError) as error:
        raise _refused(text, str(error).splitlines()[0].rstrip(".")) from None
    left = [str(term) for term in getattr(read, "lhs", ())]
    if left and left != list(targets):
        raise ParameterError(
            f"the formula's left side is {' + '.join(left)}",
            f"the target is {' + '.join(targets) or 'an array'}",
            "write the right side alone",
        )
    right = read.rhs if left else read.root
    if isinstance(right, tuple):
        raise _refused(text, "it has several parts, divided by |")
    return list(right)


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
