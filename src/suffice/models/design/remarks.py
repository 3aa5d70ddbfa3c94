"""Columns and coefficients in words: what lacks a value, depends on others, and per what it is."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Column, Layout, UniformColumns
from suffice.errors import DataError
from suffice.models.design.matrix import Design
from suffice.numerics.in_print import NAMED, Table, bound, listed, probability
from suffice.numerics.linalg import Factor
from suffice.sums.batch import WEIGHT_ROUNDING
from suffice.sums.by_class import ByClass


def learnt_rows(sums: ByClass, layout: Layout) -> str:
    """Describe the rows of sums where they may not be all rows of the table; else nothing."""
    labelled = "labelled " if sums.unlabelled.value > 0 else ""
    weighted = " whose weight is not zero" if layout.weight is not None else ""
    return f"{labelled}row{weighted}" if labelled or weighted else ""


def weight_missing(sums: ByClass, layout: Layout) -> dict[str, float]:
    """Return Σw of the rows in which a column has no cell, by column, where there are such rows.

    Refuse a column that has none at all. Blocks that are not summed, the last ones, are left out.
    """
    weight, found = sums.weight.value.sum(), dict[str, float]()
    for block, read in zip(sums.blocks, layout.blocks, strict=False):
        shown = block.total.sum(axis=0)
        for j in np.flatnonzero(weight - shown > WEIGHT_ROUNDING * weight).tolist():
            if not shown[j]:
                raise without_value(read.columns[j], rows=learnt_rows(sums, layout))
            found[read.columns[j]] = float(weight - shown[j])
    return found


def without_value(column: str, targets: Collection[str] = (), rows: str = "") -> DataError:
    """The error of a column of which no cell is there.

    It may be a target; ``rows`` are those that are learnt from, as `learnt_rows` has them.
    """
    if column in targets:
        return DataError(
            f"the target {column!r} has no value",
            "a model learns from rows whose target is known",
            "check the column",
        )
    leave = f"leave it out: ignore={[column]}"
    fact = f"column {column!r} has no value"
    if rows:
        fact += f" in any {rows}"
        leave = f"check the labels and weights of rows that have one, or {leave}"
    return DataError(fact, "what depends on it cannot be estimated", leave)


def without_rows(labelled: bool) -> DataError:
    """The error of a table without a row that a linear model could learn from."""
    if labelled:
        return DataError(
            "there is no labelled row whose weight is not zero",
            "a classifier needs two classes or more",
            "check the label column and the weights",
        )
    return DataError(
        "there is no row whose weight is not zero",
        "a linear model needs at least one",
        "check the table and the weights",
    )


def dependence(
    dependent: Sequence[int], factor: Factor | None, terms: Sequence[str], intercept: bool
) -> Iterator[str]:
    """Say what every column is made of that depends on columns before it.

    Parameters
    ----------
    dependent : sequence of int
        Those columns, increasing.
    factor : Factor, optional
        Of all columns; without it, the dependent ones are constant.
    terms : sequence of str
        Names of all columns.
    intercept : bool
        Whether the model has an intercept, which makes constant columns dependent.

    Examples
    --------
    >>> list(dependence([1], None, ["size", "one"], True))
    ["column 'one' has one value only"]
    """
    constant = " plus a constant" if intercept else ""
    size = "standard deviation" if intercept else "root mean square"
    for j in dependent[:NAMED]:
        made_of = {} if factor is None else factor.combination(j)
        sum_of = " + ".join(f"{value:g} × {terms[i]!r}" for i, value in made_of.items())
        if len(made_of) > NAMED:
            sum_of = f"a combination of {len(made_of)} columns before it"
        left_over = 0.0 if factor is None else factor.left_over(j)
        if sum_of:
            up_to = f", up to {bound(left_over)} of its {size}"
            yield f"column {terms[j]!r} is {sum_of}{constant}{up_to}"
        elif left_over:
            yield f"column {terms[j]!r} varies by no more than the rounding of its values"
        elif intercept:
            yield f"column {terms[j]!r} has one value only"
        else:
            yield f"column {terms[j]!r} is 0 in every row"
    if len(dependent) > NAMED:
        yield (
            f"{len(dependent) - NAMED} columns more are combinations of the columns before "
            f"them, {terms[dependent[NAMED]]!r} the first of these"
        )


MOST_NAMED = 8


def measures(design: Design, columns: Sequence[Column]) -> tuple[str, ...]:
    """Lines that say what coefficients are compared with, and per what they are.

    Examples
    --------
    >>> from suffice.sums.vocabulary import Vocabulary
    >>> measures(Design(("hue",), ("price",), {"hue": Vocabulary(("blue", "red"))}), ())
    ('Categories are compared with hue[blue].',)
    """
    names = design.reference_terms
    compared = f"Categories are compared with {listed(names, MOST_NAMED)}."
    return (*([compared] if names else []), *units(columns))


def units(columns: Sequence[Column]) -> tuple[str, ...]:
    """A line for every column of times: the unit that its numbers are in.

    Examples
    --------
    >>> from suffice.data.schema import DATES
    >>> units([Column("sold", "time", "real", DATES), Column("size", "number", "real", "numbers")])
    ('sold: dates, in seconds since 1970-01-01',)
    """
    if isinstance(columns, UniformColumns):
        return ()
    return tuple(f"{c.name}: {c.reason}" for c in columns if c.stored == "time")


DIGITS = 4  # significant digits of a standard error, which its estimate is printed to
MOST_DECIMALS = 9
TERMS, TABLES = 20, 4  # that a notebook shows


def percents(level: float) -> tuple[str, str]:
    """Titles of the ends of central intervals.

    Examples
    --------
    >>> percents(0.9)
    ('5 %', '95 %')
    """
    return f"{100 * (1 - level) / 2:.4g} %", f"{100 * (1 + level) / 2:.4g} %"


def header(statistic: str, level: float) -> list[str]:
    """Titles of the columns that `row` fills."""
    tests = f"{statistic} value", f"Pr(>|{statistic}|)"
    return ["", "Estimate", "Std. Error", *tests, *percents(level)]


def rows_left_out(weight: float) -> list[str]:
    """The line that says how many rows were left out, if some were."""
    return [f"Rows left out for missing cells: {weight:g}"] if weight else []


def row(
    term: str, estimate: float, error: float, statistic: float, p: float, *ends: float
) -> list[str]:
    """A coefficient, its standard error, test statistic, p-value and interval as cells.

    Examples
    --------
    >>> row("size", -0.950049, 0.038733, -24.5279, 5.1e-88, -1.02615, -0.87395)
    ['size', '-0.95005', '0.03873', '-24.53', '<2e-16', '-1.02615', '-0.87395']
    >>> row("size", -0.950049, *[float("nan")] * 5)
    ['size', '-0.950049', '', '', '', '', '']
    """
    decimals = DIGITS - 1 - int(np.floor(np.log10(error))) if error > 0.0 else None
    form = f".{DIGITS + 2}g"
    if decimals is not None and decimals <= MOST_DECIMALS:
        form = f".{max(decimals, 0)}f"
    tests = "" if np.isnan(statistic) else f"{statistic:.2f}", "" if np.isnan(p) else probability(p)
    cells = ["" if np.isnan(value) else f"{value:{form}}" for value in (error, *ends)]
    return [term, f"{estimate:{form}}", cells[0], *tests, *cells[1:]]


def coefficient_tables(
    model: Any,
    outcomes: Sequence[Any],
    terms: Sequence[str],
    coefficients: NDArray[np.float64],
    scale: NDArray[np.float64],
) -> str:
    """A table for each target or class, the terms that move it most first.

    Parameters
    ----------
    model : estimator
        Whose coefficients they are.
    outcomes : sequence of r targets or classes
        Or two classes, of which the second has the coefficients.
    terms : sequence of p str
    coefficients : ndarray (r, p)
    scale : ndarray (p,)
        Standard deviations of the terms. A bar is the coefficient times that: what one standard
        deviation of the term adds.
    """
    name = type(model).__name__
    titles = [f"{name} of {outcome}" for outcome in outcomes]
    if len(coefficients) == 1 and len(outcomes) == 2:
        titles = [f"{name} of {outcomes[1]} against {outcomes[0]}"]
    tables = []
    for title, own in zip(titles[:TABLES], coefficients, strict=False):
        moves = own * scale
        order = np.argsort(-np.abs(moves), kind="stable")[:TERMS].tolist()
        left = len(terms) - len(order)
        more = f"; {left:,} more terms" if left else ""
        header = ["term", "coefficient", "per standard deviation"]
        rows = [[terms[j], f"{own[j]:.4g}", f"{moves[j]:+.3g}"] for j in order]
        bars = moves[order].tolist()
        tables.append(Table(f"{title}{more}", header, rows, bars=bars).html())
    if left := len(titles) - len(tables):
        tables.append(Table(f"and {left:,} more", [], []).html())
    return "".join(tables)
