"""Whether single rows are all there is of a class: they have no covariance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.phrases import Phrase, PythonOnly
from suffice.statistics.by_class import ByClass
from suffice.statistics.grouped_rows import GroupedRows

__all__ = ["require_rows_of_a_class", "require_rows_of_each_class"]


def require_rows_of_a_class(statistic: ByClass) -> None:
    """Refuse one row of every class, unless all of them are alike.

    Raises
    ------
    DataError
        Saying so.
    """
    columns, k = _columns(statistic), len(statistic.classes.values)
    if columns.rows <= k and _differ(_means(columns)) and not _vary(columns).any():
        raise DataError(
            f"{columns.rows:g} rows of {k} classes",
            "The number of samples must be more than the number of classes: the covariance is that "
            "of rows within classes",
            "add rows",
        )


def require_rows_of_each_class(statistic: ByClass) -> None:
    """Refuse a class of one row, unless all rows of all classes are alike.

    Raises
    ------
    DataError
        Naming the class.
    """
    columns = _columns(statistic)
    vary = _vary(columns)
    if not (vary.any() or _differ(_means(columns))):
        return
    weight = statistic.weight.value
    for label, rows, several in zip(statistic.classes.values, weight, vary, strict=True):
        if 0 < rows <= 1 and not several:
            raise DataError(
                f"y has only 1 sample in class {label!r}",
                "covariance is ill defined: it is that of the rows of each class",
                Phrase(
                    "add rows, leave the class out, or share one covariance with ",
                    PythonOnly("LinearDiscriminantAnalysis", "--model lda"),
                ),
            )


def _columns(statistic: ByClass) -> GroupedRows:
    """The co-moments of the one block."""
    (block,) = statistic.blocks
    columns: GroupedRows = block.columns
    return columns


def _vary(columns: GroupedRows) -> NDArray[np.bool_]:
    """Whether the rows of a class differ in a column, (k,); of pooled products, those of some."""
    squares = np.diagonal(columns.scatter.value, axis1=1, axis2=2)
    within = np.append((squares > 0).any(axis=1), False)[columns.product_index]
    vary = np.zeros(columns.k, bool)
    vary[columns.code[within]] = True
    means = _means(columns)
    for c in range(columns.k):
        vary[c] |= _differ(means[columns.code == c])
    return vary


def _means(columns: GroupedRows) -> NDArray[np.float64]:
    """The mean of every group of rows, (g, d); NaN in the columns that it does not show."""
    return np.where(columns.patterns[columns.pattern], columns.mean.value, np.nan)


def _differ(rows: NDArray[np.float64]) -> bool:
    """Whether rows differ in a column that both show."""
    return len(rows) > 1 and bool((np.fmax.reduce(rows) > np.fmin.reduce(rows)).any())
