"""The coefficients of a regression, each for one standard deviation of its term."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.in_print import AGAINST, FOR
from suffice.plotting.cells import contrast, what_to_draw_of
from suffice.plotting.style import INK, figure_of, named, shortened, sized_axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]


class CoefficientDisplay:
    """Coefficients times the standard deviations of their terms, the largest first.

    Columns in different units can be compared so: s_j w_j is what one standard deviation of term j
    adds to the log-odds, in nats, or to the prediction, in units of the target. A coefficient that
    has an interval is drawn with it: without a penalty that of its standard error, with the penalty
    of a ridge regression that of the posterior.

    Parameters
    ----------
    terms : tuple of p str
    effects : ndarray (p,)
        s_j w_j.
    intervals : ndarray (p, 2)
        Their ends; NaN where there are none.
    title, unit : str

    Attributes
    ----------
    shown : tuple of str
        The terms that are drawn, from above.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Notes
    -----
    Source: A. Gelman, Scaling regression inputs by dividing by two standard deviations (2008), who
    divides by two; for one, H. Schielzeth, Simple means to improve the interpretability of
    regression coefficients (2010).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from suffice import LinearRegression
    >>> rows = {"metres": [1.0, 2.0, 3.0, 5.0], "grams": [3000.0, 1000.0, 4000.0, 2000.0]}
    >>> model = LinearRegression().fit(rows, [2.0, 3.5, 6.0, 9.0])
    >>> display = CoefficientDisplay.from_estimator(model)
    >>> display.shown, display.effects.round(2).tolist()
    (('metres', 'grams'), [2.66, 0.29])
    """

    ax_: Axes
    figure_: Figure
    shown: tuple[str, ...]

    def __init__(
        self, terms: tuple[str, ...], effects: Array, intervals: Array, title: str, unit: str
    ) -> None:
        self.terms, self.effects, self.intervals = terms, effects, intervals
        self.title, self.unit = title, unit

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        label: Any = None,
        against: Any = None,
        level: float = 0.95,
        most: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted linear or logistic regression.

        Parameters
        ----------
        model : estimator
        label, against : label, optional
            The class that coefficients speak for, the last one by default, and the one that it is
            weighed against, which has to be named where there are more than two. Of a regression
            of several targets, the target.
        level : float
            Confidence of the intervals.
        most : int
            How many terms are drawn.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the model has no coefficients, or there is no such class or target.
        """
        check_is_fitted(model)
        if isinstance(model, GenerativeClassifier) or not hasattr(model, "coef_"):
            raise ParameterError(
                f"{type(model).__name__} has no coefficients of its columns",
                "linear and logistic regression do",
                what_to_draw_of(model),
            )
        what, a, b = contrast(model, label, against)
        target, fitted, w = shortened(what, 48), model.model_, np.atleast_2d(model.coef_)
        if b is None:
            w, title, unit = w[a], f"prediction of {target}", "units of the target"
            asked: dict[str, Any] = {"target": a}
        else:
            w = w[a] - w[b] if len(w) > 1 else w[0] * (a - b)
            one, other = named([model.classes_[a], model.classes_[b]])
            title, unit = f"{target}: {one} against {other}", "log-odds, in nats"
            asked = {"reference": model.classes_.tolist()[b]}
        scales = fitted.term_scales
        try:
            found = model.summary(level=level, **asked)
        except (ParameterError, DataError):  # the penalty is not one of intervals, or rows are few
            ends = np.full((len(w), 2), np.nan)
        else:
            of = () if b is None else (found.outcomes.index(model.classes_.tolist()[a]),)
            ends = np.stack([found.lower[of], found.upper[of]], axis=-1)[-len(w) :]
        terms = tuple(fitted.design.terms)
        said = f"{unit}, for one standard deviation"
        made = cls(terms, scales * w, scales[:, None] * ends, title, said)
        return made.plot(most=most, ax=ax)

    def plot(self, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Draw the coefficients on the axes given, or on new ones."""
        order = np.argsort(-np.abs(self.effects), kind="stable")[:most]
        names = named(self.terms[j] for j in order)
        ax = sized_axes(ax, 5.6, 1.3 + 0.28 * max(len(order), 3), names)
        at, effects = np.arange(len(order)), self.effects[order]
        colours = [FOR if effect >= 0 else AGAINST for effect in effects]
        ax.hlines(at, *self.intervals[order].T, colors=colours, linewidth=2.5, alpha=0.5)
        ax.scatter(effects, at, c=colours, s=28, zorder=3)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_yticks(at, names)
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.grid(axis="y", alpha=0.3)
        hidden = len(self.terms) - len(order)
        titled(ax, self.title, f"{self.unit}{f'; {hidden:,} more terms' if hidden else ''}")
        self.shown = tuple(self.terms[j] for j in order)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
