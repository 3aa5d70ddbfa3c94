"""What products of columns tell of the rows that show a rare value: the other cells of these rows.

Where an indicator is 1 in one row only, its product with a number, summed over all rows, is the
number of that row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.privacy.finding import Finding
from suffice.statistics.grouped_rows import GroupedRows

__all__ = ["ShownValue", "told_by_products"]

NAMED = 3  # numbers of a finding
HALF = 0.5  # of a row: sums of indicators below are rounding


class ShownValue(NamedTuple):
    """A value of a column, and its indicator as a sum of terms.

    Parameters
    ----------
    column : str
    value : object
    terms : ndarray (d + 1,)
        The factor of every term, after a constant.
    """

    column: str
    value: Any
    terms: NDArray[np.float64]


def told_by_products(
    block: GroupedRows,
    names: Sequence[str],
    labels: Sequence[Any],
    shown: Sequence[ShownValue],
    m: float,
) -> Iterator[Finding]:
    """Numbers and categories of the rows that show a value, where these are fewer than m.

    Parameters
    ----------
    block : GroupedRows
        Sums of d terms, and of their products.
    names : sequence of d str
        The terms.
    labels : sequence
        The k classes; None for rows without classes.
    shown : sequence of ShownValue
        Of categories. Any other term that is 0 or 1 in all rows is looked at as well.
    m : float
        What is about fewer rows is found.
    """
    for place in range(int(block.product_index.max(initial=-1)) + 1):
        groups = np.flatnonzero(block.product_index == place)
        there = block.patterns[block.pattern[groups[0]]]
        weight = block.group_weight.value[groups]
        ones = np.column_stack([np.ones(len(groups)), block.mean.value[groups]])
        products = (weight[:, None] * ones).T @ ones
        products[1:, 1:] += block.scatter.value[place]
        known = [one for one in shown if there[one.terms[1:] != 0].all()]
        free = there.copy()
        for one in shown:
            free &= one.terms[1:] == 0
        binary = _of_binary(products, np.flatnonzero(free), names)
        if not (known or binary):
            continue
        table = np.stack([one.terms for one in (*known, *binary)])
        beside, rows_of = table @ products, (ones @ table.T) * weight[:, None]
        count = np.round(beside[:, 0], 6)
        label = [_only(block.code[groups][of > HALF], labels) for of in rows_of.T]
        for v in np.flatnonzero((count > HALF) & (count < m)).tolist():
            one, rows = (*known, *binary)[v], float(count[v])
            if v >= len(known):
                yield Finding("rare value", one.column, label[v], one.value, rows)
            others = [j for j in np.flatnonzero(free).tolist() if not one.terms[j + 1]]
            if others:
                few = (f"{names[j]} {beside[v, j + 1] / rows:.8g}" for j in others[:NAMED])
                told = f"{one.value}: {'' if rows == 1 else 'means '}{', '.join(few)}"
                yield Finding("numbers of a rare value", one.column, label[v], told, rows)
        together = np.triu(beside[: len(known)] @ table[: len(known)].T, 1)
        for v, w in np.argwhere((together > HALF) & (together < m)).tolist():
            if known[v].column != known[w].column:
                columns = f"{known[v].column}, {known[w].column}"
                told, rows = f"{known[v].value}, {known[w].value}", float(together[v, w])
                yield Finding("rare combination", columns, label[v], told, round(rows, 6))


def _of_binary(
    products: NDArray[np.float64], places: NDArray[np.intp], names: Sequence[str]
) -> list[ShownValue]:
    """The two values of every term that is 0 or 1 in all rows, as Σwx² = Σwx tells."""
    found = []
    for j in places.tolist():
        total, squares = products[0, j + 1], products[j + 1, j + 1]
        if total > HALF and abs(squares - total) <= 1e-9 * total:
            one, zero = np.zeros((2, len(names) + 1))
            one[j + 1], zero[0], zero[j + 1] = 1.0, 1.0, -1.0
            found += [ShownValue(names[j], 1, one), ShownValue(names[j], 0, zero)]
    return found


def _only(codes: NDArray[np.intp], labels: Sequence[Any]) -> Any:
    """The label of the only class that shows a value; None where there are several."""
    return labels[codes[0]] if len(codes) == 1 else None
