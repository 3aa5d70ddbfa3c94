"""The evaluation of a linear model: a function of exact moments of its errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.least_squares import LeastSquares
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import Printed, Table, explained, number
from suffice.numerics.linalg import product
from suffice.phrases import amount
from suffice.sums.comoments import Comoments
from suffice.sums.moments import Moments

MEANING = "1 is perfect, 0 is no better than "
UNCENTRED = "R² (uncentred)"


@dataclass(frozen=True, eq=False, repr=False)
class RegressionEvaluation(Printed):
    """Errors e = y − ŷ of rows whose target is known, target by target.

    Parameters
    ----------
    targets : tuple of str
        Names of the t targets.
    moments : Moments
        Of e, of its size and of y, 3t columns.
    intercept : bool
        Whether the model has one. R² of a model without compares it with 0 in the place of ȳ, as
        its summary does: it is uncentred.

    Examples
    --------
    >>> from suffice.linear_model import LinearRegression
    >>> model = LinearRegression().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    >>> found = model.evaluate([[0.0], [1.0], [2.0]], [0, 1, 5])
    >>> found.mean_squared_error, found.r_squared.round(3)
    (array([3.]), array([0.357]))
    """

    targets: tuple[str, ...]
    moments: Moments
    intercept: bool = True

    @classmethod
    def of(cls, targets: tuple[str, ...], moments: Moments, intercept: bool = True) -> Self:
        """The evaluation of one row at least."""
        if not moments.total.all():
            raise DataError(
                "there is no row whose target is known and whose weight is not zero",
                "an evaluation needs at least one",
                "check the targets and the weights",
            )
        return cls(targets, moments, intercept)

    @property
    def centred(self) -> Self:
        """Return the evaluation with R² about the mean."""
        return replace(self, intercept=True)

    @property
    def _r_squared(self) -> str:
        return "R²" if self.intercept else UNCENTRED

    def table(self) -> Table:
        """Return the errors of every target as a table, with what they mean."""
        root, nothing = np.sqrt(self.mean_squared_error), "the mean" if self.intercept else "0"
        figures = {
            self._r_squared: (map(explained, self.unexplained.tolist()), MEANING + nothing),
            "RMSE": (map(number, root.tolist()), "root of the mean squared error"),
            "MAE": (map(number, self.mean_absolute_error.tolist()), "mean absolute error"),
            "mean error": (map(number, self.bias.tolist()), "truth less prediction"),
            "n": (map(amount, self.weight.tolist()), "rows compared"),
        }
        rows = [[name, *cells, meaning] for name, (cells, meaning) in figures.items()]
        return Table("", ["", *self.targets, ""], rows, left=(0, len(self.targets) + 1))

    def __add__(self, other: Self) -> Self:
        return replace(self, moments=self.moments + other.moments)

    @property
    def in_short(self) -> dict[str, str]:
        """Figures as they are printed, by name; of several targets the means."""
        root, bias = self.mean_squared_error.mean() ** 0.5, self.bias.mean()
        return {
            "rows": f"{self.weight.max():,g}",
            self._r_squared: explained(float(self.unexplained.mean())),
            "RMSE": f"{root:.4g}",
            "MAE": f"{self.mean_absolute_error.mean():.4g}",
            "mean error": f"{bias:.4g}" if abs(bias) > 1e-12 * root else "0",
        }

    @property
    def weight(self) -> NDArray[np.float64]:
        """Σw of the rows counted, (t,)."""
        return self.moments.total[0, : len(self.targets)]

    @property
    def bias(self) -> NDArray[np.float64]:
        """Mean of e, (t,)."""
        return self.moments.mean[0, : len(self.targets)]

    @property
    def mean_squared_error(self) -> NDArray[np.float64]:
        """Mean of e², (t,)."""
        scatter = self.moments.scatter[0, : len(self.targets)]
        return scatter / np.where(self.weight > 0, self.weight, 1.0) + self.bias**2

    @property
    def mean_absolute_error(self) -> NDArray[np.float64]:
        """Mean of the size of e, (t,)."""
        t = len(self.targets)
        return self.moments.mean[0, t : 2 * t]

    @property
    def r_squared(self) -> NDArray[np.float64]:
        """R² = 1 − Σe²/Σ(y − ȳ)², (t,), or 1 − Σe²/Σy² without an intercept.

        Where y has one value only, 1 if e is 0, else 0.
        """
        return 1.0 - self.unexplained

    @property
    def unexplained(self) -> NDArray[np.float64]:
        """1 − R², (t,): where R² is nearly 1, with the digits that it has not."""
        t = len(self.targets)
        total = self.moments.scatter[0, 2 * t :]
        if not self.intercept:
            total = total + self.weight * self.moments.mean[0, 2 * t :] ** 2
        rss = self.mean_squared_error * self.weight
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.where(total > 0, rss / total, np.sign(rss)))


def r_squared_of_sums(fit: LeastSquares, rows: Comoments) -> float | None:
    """R² of rows that a model need not have learnt, from their sums; the mean over targets.

    ::

        Σe² = Σ(y − ȳ)² − 2wᵀXᵀy + wᵀXᵀXw + n (ȳ − b − x̄ᵀw)²

    with products about the means of these rows. None if a cell is missing, the rows have other
    terms, or a target has one value only.
    """
    p, t = fit.equations.xy.shape
    if rows.is_empty or not rows.complete or rows.d != p + t:
        return None
    sums, w = NormalEquations.of(rows, p), DoubleDouble.of(fit.coefficients)
    squares = (w * (product(sums.xx, w) - sums.xy * 2.0)).sum(axis=0) + sums.yy
    far = ((sums.x_mean - DoubleDouble.of(fit.origin))[:, None] * w).sum(axis=0)
    bias = (sums.y_mean - DoubleDouble.of(fit.at_origin) - far).value
    tss = sums.yy.value
    if not (tss > 0).all():
        return None
    rss = np.maximum(squares.value, 0.0) + sums.rows * bias**2
    return float((1.0 - rss / tss).mean())
