"""Classes whose rows all have weight 0: a fit does not see them."""

from __future__ import annotations

from suffice.data.array_source import ArraySource
from suffice.data.table_source import TableSource
from suffice.errors import DataError
from suffice.numerics.in_print import listed
from suffice.sums.vocabulary import Vocabulary

__all__ = ["require_weights"]


def require_weights(
    source: TableSource | ArraySource, classes: Vocabulary, fewest: int = 2
) -> None:
    """Refuse rows of too few classes if it is for their weights, and name the other classes.

    Parameters
    ----------
    source : TableSource or ArraySource
        The rows.
    classes : Vocabulary
        Labels of rows whose weight is above 0.
    fewest : int
        How many there are to be.

    Raises
    ------
    DataError
        If other labels are shown, with weights of 0.
    """
    if not 0 < len(classes) < fewest:
        return
    others = [label for label in source.shown_labels() if label not in classes.codes]
    if others and len(classes) + len(others) >= fewest:
        which = (
            f"class {others[0]!r}" if len(others) == 1 else f"classes {listed(map(repr, others))}"
        )
        raise DataError(
            f"the rows of {which} have weight 0: those of {classes.values[0]!r} are left",
            "a classifier needs rows of two classes or more whose weight is above 0",
            "check the weights",
        )
