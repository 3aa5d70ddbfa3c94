"""Effects: what each column adds to one prediction of a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.design.matrix import Design
from suffice.models.linear.descent import Coefficients
from suffice.models.linear.rows import Fit
from suffice.numerics.in_print import Printed, Table
from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import is_sparse

COLUMNS = 30  # of a row in print: those that add the most


@dataclass(frozen=True, repr=False)
class Effects(Printed):
    """The contribution of every column to ŷ, compared with the average row.

    ::

        ŷ = b + x̄ᵀw + Σ_j (x_j − x̄_j) w_j

    Of a category it is the sum over its indicators. The effects are in units of the target, and
    add up to the prediction; or both are of the function of it that a formula has on its left.

    Parameters
    ----------
    columns : tuple of str
        The d columns.
    targets : tuple of str
        The t targets.
    average : ndarray (t,)
        b + x̄ᵀw: what is predicted for the average row.
    contributions : ndarray (n, d, t)
        (x_j − x̄_j) w_j.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [1.0, 0.0, 4.0])
    >>> found = model.explain([[2.0, 0.0]])
    >>> found.average.round(9), found.contributions[0, :, 0].round(9), found.predictions.round(9)
    (array([1.66666667]), array([ 0.66666667, -1.66666667]), array([[0.66666667]]))
    """

    columns: tuple[str, ...]
    targets: tuple[str, ...]
    average: NDArray[np.float64]
    contributions: NDArray[np.float64]

    @property
    def predictions(self) -> NDArray[np.float64]:
        """ŷ, (n, t)."""
        return self.average + row_sums(self.contributions)

    def table(self) -> Table:
        """Return what the columns add to the prediction of row 0 as a table."""
        if not len(self.contributions):
            return Table("Effects(0 rows)", [], [])
        n, nothing = len(self.contributions), float("nan")
        cells, answer = self.contributions[0], self.predictions[0]
        largest = np.argsort(-np.abs(cells).max(axis=1, initial=0.0), kind="stable")
        columns = np.sort(largest[:COLUMNS])
        table = [["average row", *_numbers(self.average)]]
        adds = [nothing, *cells[columns, 0].tolist()]
        table += [[self.columns[j], *_numbers(cells[j])] for j in columns]
        if len(columns) < len(self.columns):
            others = np.delete(cells, columns, axis=0).sum(axis=0)
            table += [[f"{len(self.columns) - len(columns):,} other columns", *_numbers(others)]]
            adds.append(float(others[0]))
        table += [["prediction", *_numbers(answer)]]
        title, header = f"Row 0 of {n:,}:", ["", *self.targets]
        return Table(title, header, table, bars=[*adds, nothing])


def effects(design: Design, fit: Fit | Coefficients, x: Any) -> NDArray[np.float64]:
    """(x_j − o_j) w_j of rows (n, p), by column, (n, d, t)."""
    if not is_sparse(x):
        return design.by_column((x - fit.origin)[:, None] * fit.coefficients.T).swapaxes(1, 2)
    found = [
        design.by_column(x.multiply(w).tocsr()) - design.by_column((fit.origin * w)[None])
        for w in fit.coefficients.T
    ]
    return np.stack(found, axis=2)


def _numbers(values: NDArray[np.float64]) -> list[str]:
    return [f"{value:.6g}" for value in values]
