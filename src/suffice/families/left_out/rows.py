"""Leave-one-out of a family: what it adds to the scores of rows that it has not learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError

__all__ = ["FOLDS_INSTEAD", "LearntRows", "LeaveOneOut", "no_closed_form"]

FOLDS_INSTEAD = "use cv=10"


@dataclass(frozen=True)
class LearntRows:
    """What a block of rows weighed in the sums.

    Parameters
    ----------
    codes : ndarray of int (n,)
        Their classes; −1 of rows that are in no sum.
    weights : ndarray (n,)
        w; 0 of these.
    """

    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    def take(self, rows: NDArray[np.intp]) -> LearntRows:
        """Some of them."""
        return LearntRows(self.codes[rows], self.weights[rows])

    def of_class(self, c: int) -> NDArray[np.float64]:
        """What each row weighs in class c, (n,)."""
        return np.where(self.codes == c, self.weights, 0.0)

    def by_class(self, k: int) -> NDArray[np.float64]:
        """What each row weighs in each class, (n, k)."""
        return np.where(self.codes[:, None] == np.arange(k), self.weights[:, None], 0.0)


class LeaveOneOut(Protocol):
    """The estimates of a family without one row, for every row."""

    def add_log_likelihood(self, block: Any, rows: LearntRows, out: NDArray[np.float64]) -> None:
        """Add log p(x | c), estimated from all rows but x, to ``out`` (n, k).

        Parameters
        ----------
        block : Block
            Rows that were learnt, or that weigh nothing.
        rows : LearntRows
        out : ndarray (n, k)
            Gets NaN for a row without which the closed form loses digits, or does not hold.
        """
        ...


def no_closed_form(what: Any, reason: str) -> ParameterError:
    """The error of a model whose rows cannot be left out one by one without refitting."""
    return ParameterError(
        f"leave-one-out of {what}",
        f"there is no closed form: {reason}",
        FOLDS_INSTEAD,
    )
