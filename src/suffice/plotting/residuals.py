"""What a linear regression leaves unexplained: the four pictures of R's ``plot.lm``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import matplotlib.pyplot as plt
import numpy as np
from numpy.typing import NDArray
from scipy import stats

from suffice.errors import DataError, ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.plotting.style import AGAINST, FOR, QUIET, figure_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ResidualDisplay"]

NAMED = 3  # rows whose numbers are written beside them


class ResidualDisplay:
    """Residuals against fitted values, their quantiles, their scale, and leverage.

    ::

        r_i = (y_i − ŷ_i) / (σ̂ √(1 − h_i)),        D_i = r_i² h_i / (p (1 − h_i))

    r are standardised residuals, h leverages, D Cook's distances, p the number of coefficients.

    Parameters
    ----------
    fitted, residual, leverage : ndarray (n,)
        ŷ, y − ŷ, h.
    sigma : float
        σ̂, with its degrees of freedom taken off.
    parameters : float
        p, the sum of the leverages.

    Attributes
    ----------
    standardised, cook : ndarray (n,)
        r and D.
    axes_ : ndarray of matplotlib Axes (2, 2)
    figure_ : matplotlib Figure

    Notes
    -----
    A row of leverage 1 fits itself: its residual is 0, and r and D are NaN.

    Source: R. D. Cook and S. Weisberg, Residuals and Influence in Regression (1982), chapter 3.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from suffice import LinearRegression
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0]])
    >>> y = np.array([0.1, 0.9, 2.1, 2.9, 4.5])
    >>> display = ResidualDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    >>> display.cook.round(3)
    array([0.818, 0.075, 0.   , 0.409, 1.841])
    """

    axes_: NDArray[Any]
    figure_: Figure

    def __init__(
        self,
        fitted: NDArray[np.float64],
        residual: NDArray[np.float64],
        leverage: NDArray[np.float64],
        sigma: float,
        parameters: float,
    ) -> None:
        self.fitted, self.residual, self.leverage = fitted, residual, leverage
        self.sigma, self.parameters = sigma, parameters
        with np.errstate(divide="ignore", invalid="ignore"):
            free = np.where(leverage < 1 - 1e-12, 1 - leverage, np.nan)
            self.standardised = residual / (sigma * np.sqrt(free))
            self.cook = self.standardised**2 * leverage / (parameters * free)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any) -> Self:
        """Draw the rows that a linear regression of one target was fitted to.

        Parameters
        ----------
        model : LinearRegression or Ridge
        X, y : array-like (n, d), (n,)
            The rows of the fit.

        Raises
        ------
        ParameterError
            If the model is no linear regression, or has several targets.
        DataError
            If there are no degrees of freedom left.
        """
        check_is_fitted(model)
        if not hasattr(model, "leverage"):
            raise ParameterError(
                f"{type(model).__name__} has no leverages", "linear and ridge regression have"
            )
        target = np.asarray(y, np.float64)
        fitted = model.predict(X)
        if fitted.ndim != 1:
            raise ParameterError(
                f"the model has {fitted.shape[1]} targets", "the rows of one target are drawn"
            )
        leverage, residual = model.leverage(X), target - fitted
        parameters = float(leverage.sum())
        free = len(target) - parameters
        if free < 0.5:
            raise DataError(
                f"{len(target)} rows for {parameters:.3g} coefficients",
                "residuals have a scale where there are more rows than coefficients",
            )
        sigma = float(np.sqrt((residual**2).sum() / free))
        return cls(fitted, residual, leverage, sigma, parameters).plot()

    def plot(self) -> Self:
        """Draw the four pictures on a new figure."""
        figure, axes = plt.subplots(2, 2, figsize=(9.0, 7.0), layout="constrained")
        r = self.standardised
        order = np.argsort(np.argsort(np.nan_to_num(r)))
        normal = stats.norm.ppf((order + 0.5) / len(r))
        pictures = [
            (axes[0, 0], self.fitted, self.residual, "fitted", "residual"),
            (axes[0, 1], normal, r, "normal quantile", "standardised residual"),
            (axes[1, 0], self.fitted, np.sqrt(np.abs(r)), "fitted", "√|standardised residual|"),
            (axes[1, 1], self.leverage, r, "leverage", "standardised residual"),
        ]
        for ax, x, y, x_name, y_name in pictures:
            ax.plot(x, y, "o", markersize=3, color=FOR, alpha=0.6, markeredgewidth=0)
            ax.set_xlabel(x_name)
            ax.set_ylabel(y_name)
            self._number_rows(ax, x, y)
        for ax in (axes[0, 0], axes[1, 1]):
            ax.axhline(0, color=QUIET, linewidth=0.8)
        axes[0, 1].axline((0, 0), slope=1, color=QUIET, linewidth=0.8)
        self._draw_cook(axes[1, 1])
        self.axes_, self.figure_ = axes, figure_of(axes[0, 0])
        assert self.figure_ is figure
        return self

    def _number_rows(self, ax: Axes, x: NDArray[np.float64], y: NDArray[np.float64]) -> None:
        """Write the numbers of the rows with the largest standardised residuals."""
        for i in np.argsort(-np.nan_to_num(np.abs(self.standardised)), kind="stable")[:NAMED]:
            if np.isfinite(y[i]):
                ax.annotate(
                    str(i), (x[i], y[i]), (4, 2), textcoords="offset points", fontsize="x-small"
                )

    def _draw_cook(self, ax: Axes) -> None:
        """Lines of Cook's distance 0.5 and 1, within the picture."""
        limits = ax.get_xlim(), ax.get_ylim()
        h = np.linspace(max(limits[0][0], 1e-4), min(limits[0][1], 1 - 1e-6), 200)
        for distance, line in ((0.5, ":"), (1.0, "--")):
            reach = np.sqrt(distance * self.parameters * (1 - h) / h)
            label = f"Cook's distance {distance:g}"
            ax.plot(h, reach, line, color=AGAINST, linewidth=0.8, label=label)
            ax.plot(h, -reach, line, color=AGAINST, linewidth=0.8)
        ax.set_xlim(limits[0])
        ax.set_ylim(limits[1])
        ax.legend(frameon=False, fontsize="small")
