"""What to say of a column without a value, and of a table without a row to learn from."""

from __future__ import annotations

from collections.abc import Collection

from suffice.data.schema import Layout
from suffice.errors import DataError
from suffice.sums.by_class import ByClass


def learnt_rows(sums: ByClass, layout: Layout) -> str:
    """Which rows sums are over, where they may not be all rows of the table; else nothing."""
    labelled = "labelled " if sums.unlabelled.value > 0 else ""
    weighted = " whose weight is not zero" if layout.weight is not None else ""
    return f"{labelled}row{weighted}" if labelled or weighted else ""


def without_value(column: str, targets: Collection[str] = (), rows: str = "") -> DataError:
    """The error of a column of which no cell is there; it may be a target.

    Parameters
    ----------
    column : str
    targets : collection of str
    rows : str
        The rows that are learnt from, as `learnt_rows` has them.
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
