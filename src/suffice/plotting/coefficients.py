"""Coefficients with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.design.matrix import INTERCEPT
from suffice.plotting.style import (
    QUIET,
    class_style,
    figure_of,
    legend_beside,
    named,
    shortened,
    sized_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class CoefficientDisplay:
    """Estimates and intervals of the coefficients of a linear or logistic regression.

    Parameters
    ----------
    terms : tuple of p str
        What the coefficients belong to, without the intercept.
    estimate, lower, upper : ndarray (r, p)
        One row for every target, or for every class but the reference; bounds that are not known
        are NaN.
    outcomes : tuple of r str
        What each row is about.
    level : float
        Of the intervals.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Notes
    -----
    A coefficient is per unit of its column. Columns in different units are not comparable, so a
    long bar is no sign of importance.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LinearRegression
    >>> X, _ = load_iris(return_X_y=True)
    >>> model = LinearRegression().fit(X[:, :3], X[:, 3])
    >>> CoefficientDisplay.from_estimator(model).estimate.round(3)
    array([[-0.207,  0.223,  0.524]])
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        terms: tuple[str, ...],
        estimate: NDArray[np.float64],
        lower: NDArray[np.float64],
        upper: NDArray[np.float64],
        outcomes: tuple[str, ...],
        level: float,
    ) -> None:
        self.terms, self.outcomes, self.level = terms, outcomes, level
        self.estimate, self.lower, self.upper = estimate, lower, upper

    @classmethod
    def from_estimator(
        cls, model: Any, *, level: float = 0.95, most: int = 30, ax: Axes | None = None
    ) -> Self:
        """Draw the coefficients of a fitted model.

        Parameters
        ----------
        model : estimator
            A linear or logistic regression. A penalised fit has no standard errors, and its
            coefficients are drawn without intervals.
        level : float
            Of the intervals.
        most : int
            How many terms are drawn.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the model has no coefficients.
        """
        check_is_fitted(model)
        if not (hasattr(model, "coef_") and hasattr(model, "summary")):
            raise ParameterError(
                f"{type(model).__name__} has no table of coefficients",
                "linear and logistic regression have",
                "draw what it has: the displays of docs/pictures.md",
            )
        try:
            parts = _parts(model.summary(level=level))
        except ParameterError:  # a penalised estimate has no standard errors
            return cls._without_intervals(model, level).plot(most=most, ax=ax)
        terms = parts[0].terms
        kept = [j for j, term in enumerate(terms) if term != INTERCEPT]
        estimate, lower, upper = (
            np.concatenate([np.atleast_2d(getattr(part, name)) for part in parts])[:, kept]
            for name in ("estimate", "lower", "upper")
        )
        made = cls(
            tuple(terms[j] for j in kept), estimate, lower, upper, tuple(_outcomes(parts)), level
        )
        return made.plot(most=most, ax=ax)

    @classmethod
    def _without_intervals(cls, model: Any, level: float) -> Self:
        estimate = np.atleast_2d(np.asarray(model.coef_, np.float64))
        terms = tuple(term for term in model.terms_ if term != INTERCEPT)
        if hasattr(model, "classes_"):
            classes = model.classes_.tolist()
            binary = len(estimate) == 1
            outcomes = (
                (f"{classes[1]} against {classes[0]}",) if binary else tuple(map(str, classes))
            )
        else:
            outcomes = tuple(model.design_.targets)
        unknown = np.full_like(estimate, np.nan)
        return cls(terms, estimate, unknown, unknown, outcomes, level)

    def plot(self, *, most: int = 30, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones."""
        shown = min(most, len(self.terms))
        several = len(self.outcomes)
        ax = sized_axes(ax, height=1.2 + (0.14 + 0.14 * several) * max(shown, 3))
        ax.axvline(0, color=QUIET, linewidth=0.8)
        for r, outcome in enumerate(named(self.outcomes)):
            at = np.arange(shown) + 0.7 * ((r + 0.5) / several - 0.5)
            middle = self.estimate[r, :shown]
            reach = np.abs([self.lower[r, :shown] - middle, self.upper[r, :shown] - middle])
            ax.errorbar(
                middle,
                at,
                xerr=np.nan_to_num(reach),
                fmt="o",
                markersize=4,
                color=class_style(r)["color"],
                label=outcome,
            )
        ax.set_yticks(range(shown), named(self.terms[:shown]))
        ax.set_ylim(shown - 0.4, -0.6)  # downward
        rest = len(self.terms) - shown
        note = f"; {rest:,} more terms" if rest else ""
        known = not np.isnan(self.lower).all()
        interval = f", {100 * self.level:g} % interval" if known else ", penalised"
        ax.set_xlabel(f"coefficient{interval}{note}")
        if several > 1:
            legend_beside(ax, None)
        else:
            ax.set_title(shortened(self.outcomes[0], 48), fontsize="medium")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self


def _parts(summary: Any) -> tuple[Any, ...]:
    """A summary for every target."""
    return tuple(summary) if isinstance(summary, tuple | list) else (summary,)


def _outcomes(parts: tuple[Any, ...]) -> list[str]:
    """Name the rows of coefficients: targets, or classes against the reference."""
    if hasattr(parts[0], "outcomes"):
        return [f"{one} against {parts[0].reference}" for one in parts[0].outcomes]
    return [str(part.target) for part in parts]
