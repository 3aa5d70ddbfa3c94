"""Columns by what they tell: bits of a class, or the effect of one standard deviation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.bayes import column_information
from suffice.errors import DataError, ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.in_print import AGAINST, FOR
from suffice.plotting.cells import contrast, what_to_draw_of
from suffice.plotting.style import INK, Display, named, shortened, sized_axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class ColumnImportanceDisplay(Display):
    """The importance of every column, the largest first.

    Of naive Bayes and discriminant analysis, the mutual information of a column and the class, in
    bits. Of linear and logistic regression, s_j w_j: what one standard deviation of a term adds to
    the log-odds, in nats, or to the prediction, in units of the target.

    Parameters
    ----------
    columns : tuple of d str
        Columns, or terms of a regression.
    values : ndarray (d,)
        Bits, or s_j w_j; NaN of a column that is not drawn.
    title, unit : str
    intervals : ndarray (d, 2), optional
        Ends of the intervals of s_j w_j; NaN where there are none.
    uncounted : tuple of str
        Columns of weight 0, which repeat others; drawn hollow.

    See Also
    --------
    suffice.bayes.column_information : The formula of bits, and the numbers as a table.

    Notes
    -----
    Source: H. Schielzeth, Simple means to improve the interpretability of regression coefficients
    (2010).

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from suffice import LinearRegression
    >>> rows = {"grams": [3000.0, 1000.0, 4000.0, 2000.0], "metres": [1.0, 2.0, 3.0, 5.0]}
    >>> model = LinearRegression().fit(rows, [2.0, 3.5, 6.0, 9.0])
    >>> display = ColumnImportanceDisplay.from_estimator(model)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['metres', 'grams']
    """

    columns: tuple[str, ...]
    values: Array
    title: str
    unit: str
    intervals: Array | None = None
    uncounted: tuple[str, ...] = ()

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        label: Any = None,
        against: Any = None,
        most: int = 20,
        ax: Axes | None = None,
    ) -> Self:
        """Draw naive Bayes, discriminant analysis, a linear or a logistic regression.

        Without a penalty a coefficient has the 95 % interval of its standard error, and that of the
        posterior with the penalty of a ridge regression.

        Parameters
        ----------
        model : estimator
        label, against : label, optional
            Of a logistic regression, the class that coefficients speak for, the last one by
            default, and the one that it is weighed against, which has to be named where there are
            more than two. Of a regression of several targets, the target.
        most : int
            How many columns are drawn.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the model does not say what its columns tell, one by one, or has no such class.
        """
        check_is_fitted(model)
        if isinstance(model, GenerativeClassifier):
            return cls(*_bits(model)).plot(most=most, ax=ax)
        if hasattr(model, "coef_"):
            return cls(*_effects(model, label, against)).plot(most=most, ax=ax)
        raise ParameterError(
            f"{type(model).__name__} does not say what one column tells",
            "naive Bayes, discriminant analysis and regressions do",
            what_to_draw_of(model),
        )

    def plot(self, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Draw the bars on the axes given, or on new ones."""
        order = np.argsort(-np.abs(self.values), kind="stable")  # NaN comes last
        shown = order[: min(most, int(np.isfinite(self.values).sum()))]
        values, names = self.values[shown], named(self.columns[j] for j in shown)
        ax = sized_axes(ax, 5.6, 1.2 + 0.28 * max(len(shown), 3), names)
        colours = [FOR if value >= 0 else AGAINST for value in values]
        hollow = [self.columns[j] in self.uncounted for j in shown]
        faces = ["none" if one else colour for one, colour in zip(hollow, colours, strict=True)]
        at = np.arange(len(shown))
        ax.barh(at, values, color=faces, edgecolor=colours, height=0.7)
        if self.intervals is not None:
            low, high = self.intervals[shown].T
            ax.hlines(at, low, high, colors=INK, linewidth=1.2)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_yticks(at, names)
        ax.invert_yaxis()
        left_out = len(self.columns) - len(shown)
        note = f"; {left_out:,} more columns" if left_out else ""
        why = "\nhollow: not counted, as other columns tell it" if any(hollow) else ""
        titled(ax, self.title, f"{self.unit}{note}{why}")
        return self.drawn(ax)


def _bits(model: GenerativeClassifier) -> tuple[tuple[str, ...], Array, str, str, None, Any]:
    """Return the columns of a model of classes, and the mutual information of each."""
    found = column_information(model)
    if np.isnan(found.bits).all():
        raise ParameterError(
            "no column of this model has a distribution of its own",
            "bits are those that one column tells alone",
            "draw a prediction: LedgerDisplay",
        )
    weights = model.model_.column_weights
    uncounted = tuple(
        name
        for name, bits in zip(found.columns, found.bits, strict=True)
        if not np.isnan(bits) and not hasattr(model.model_, "pairs") and weights[name] == 0
    )  # columns that have no weight of their own may still be counted in pairs
    title = (
        f"What each column tells about {shortened(model.reader_.layout.label or 'the class', 48)}"
    )
    unit = f"bits, of {found.entropy:.3g} that tell the class"
    return found.columns, found.bits, title, unit, None, uncounted


def _effects(
    model: Any, label: Any, against: Any
) -> tuple[tuple[str, ...], Array, str, str, Array]:
    """Return the terms of a regression, and what one standard deviation of each adds."""
    what, a, b = contrast(model, label, against)
    target, fitted, w = shortened(what, 48), model.model_, np.atleast_2d(model.coef_)
    if b is None:
        w, title, unit = w[a], f"Prediction of {target}", "units of the target"
        asked: dict[str, Any] = {"target": a}
    else:
        w = w[a] - w[b] if len(w) > 1 else w[0] * (a - b)
        one, other = named([model.classes_[a], model.classes_[b]])
        title, unit = f"{target}: {one} against {other}", "log-odds, in nats"
        asked = {"reference": model.classes_.tolist()[b]}
    ends = np.full((len(w), 2), np.nan)
    try:
        found = model.summary(**asked)
    except (ParameterError, DataError):  # a penalty without a posterior, or too few rows
        pass
    else:
        of = () if b is None else (found.outcomes.index(model.classes_.tolist()[a]),)
        ends = np.stack([found.lower[of], found.upper[of]], axis=-1)[-len(w) :]
    scales = fitted.term_scales
    unit = f"{unit}, for one standard deviation"
    return tuple(fitted.design.terms), scales * w, title, unit, scales[:, None] * ends
