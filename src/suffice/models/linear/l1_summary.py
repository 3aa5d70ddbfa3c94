"""What is known of the coefficients that a penalty of absolute values has left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.coefficient_table import rows_left_out
from suffice.numerics.in_print import Printed, Table

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["L1Summary"]

HEADER = ["", "Estimate"]


@dataclass(frozen=True, eq=False, repr=False)
class L1Summary(Printed):
    """Estimates under a penalty of absolute values, of one target.

    The penalty chose the columns by the same rows, and drew what it left towards 0: standard
    errors, intervals and tests of a model with these columns would claim too much.

    Parameters
    ----------
    target : str
        Name of y.
    terms : tuple of str
        Names of the q coefficients; the intercept comes first.
    estimate : ndarray (q,)
    rows : float
        Number of rows.
    penalty, l1_ratio : float
        α, and ρ, the part of it that is of absolute values.
    chosen, columns : int
        How many coefficients of columns are not 0, of how many.
    left_out : float
        Weight of the rows left out for missing cells; rows without any value are not counted.
    units : tuple of str
        What the numbers of columns of times are in.

    Source: R. Lockhart, J. Taylor, R. Tibshirani and R. Tibshirani, A significance test for the
    lasso (2014), section 1.

    Examples
    --------
    >>> from suffice.linear_model import Lasso
    >>> x, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]], [1.0, 3.0, 5.0, 7.0]
    >>> print(Lasso(0.5).fit(x, y).summary())
                 Estimate
    (Intercept)       1.6
    x0                1.6
    x1                  0
    <BLANKLINE>
    Penalty: 0.5, of absolute values: 1; columns chosen: 1 of 2; rows: 4
    Standard errors are not given: the penalty chose these columns by the same rows.
    """

    target: str
    terms: tuple[str, ...]
    estimate: NDArray[np.float64]
    rows: float
    penalty: float
    l1_ratio: float
    chosen: int
    columns: int
    left_out: float = 0.0
    units: tuple[str, ...] = ()

    def frame(self) -> DataFrame:
        """One row per coefficient as a pandas DataFrame."""
        from pandas import DataFrame

        return DataFrame({"estimate": self.estimate}, index=list(self.terms))

    def table(self) -> Table:
        """Return the coefficients as a table."""
        estimates = self.estimate.tolist()
        rows = [[term, f"{b:.4g}"] for term, b in zip(self.terms, estimates, strict=True)]
        return Table("", HEADER, rows, self._notes(), bars=estimates)

    def _notes(self) -> list[str]:
        return [
            f"Penalty: {self.penalty:.4g}, of absolute values: {self.l1_ratio:.3g}; "
            f"columns chosen: {self.chosen} of {self.columns}; rows: {self.rows:g}",
            "Standard errors are not given: the penalty chose these columns by the same rows.",
            *rows_left_out(self.left_out),
            *self.units,
        ]
