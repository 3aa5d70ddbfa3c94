"""Where a classifier changes its mind: the plane of two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from suffice.data.source import all_batches
from suffice.discriminant_analysis.shared import on_axes
from suffice.errors import ParameterError
from suffice.families.multivariate.mixed import MixedParameters
from suffice.families.multivariate.parameters import MultivariateGaussianParameters
from suffice.families.univariate.parameters import GaussianParameters
from suffice.models.base.evaluated_rows import known_codes
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import log_of
from suffice.numerics.logspace import log_normalise, safe_log
from suffice.plotting.cells import cells_of, rows_with
from suffice.plotting.style import (
    INK,
    class_style,
    figure_of,
    legend_beside,
    named,
    require_place,
    shortened,
    sized_axes,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from suffice.discriminant_analysis import LinearDiscriminantAnalysis

__all__ = ["DecisionBoundaryDisplay"]

REACH = 3.0  # standard deviations around points on discriminants


class DecisionBoundaryDisplay:
    """The most probable class in the plane of two numeric columns.

    The boundary of class a is where log P(a | x) = max log P(b | x) over all other classes b: the
    zero line of the difference, which matplotlib interpolates on the grid. Other columns are held
    at given values; of naive Bayes models and discriminant analysis they are left out exactly, as
    missing cells, unless they are given.

    Parameters
    ----------
    columns : tuple of two str
    x, y : ndarray (m,)
        Values of the two columns.
    log_proba : ndarray (m, m, k)
        log P(c | x), rows along y.
    classes : tuple
        The k labels.
    held : mapping from column to cell
    label : str, optional
        What the classes are classes of.
    gaussians : mapping from label to (mean (2,), covariance (2, 2)), optional
        Those of the two columns, where the classes are Gaussian: ellipses that hold 95 % of them.
    rows : tuple of ndarray (n, 2) and ndarray of int (n,), optional
        Points, and the codes of their classes.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from suffice import LinearDiscriminantAnalysis
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LinearDiscriminantAnalysis().fit(X, y)
    >>> display = DecisionBoundaryDisplay.from_estimator(model, ("x2", "x3"), points=50)
    >>> display.log_proba.shape
    (50, 50, 3)
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        columns: tuple[str, str],
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        log_proba: NDArray[np.float64],
        classes: tuple[Any, ...],
        held: Mapping[str, Any] | None = None,
        label: str | None = None,
        gaussians: Mapping[Any, Gaussian] | None = None,
        rows: tuple[NDArray[np.float64], NDArray[np.intp]] | None = None,
    ) -> None:
        self.columns, self.x, self.y, self.log_proba = columns, x, y, log_proba
        self.classes, self.held, self.label = classes, dict(held or {}), label
        self.gaussians, self.rows = dict(gaussians or {}), rows

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        columns: tuple[str | int, str | int] = (0, 1),
        *,
        held: Mapping[str, Any] | None = None,
        limits: tuple[tuple[float, float], tuple[float, float]] | None = None,
        points: int = 300,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted classifier.

        Parameters
        ----------
        model : classifier
        columns : pair of str or int
            The columns of the two axes.
        held : mapping from column to cell, optional
            Cells of other columns.
        limits : pair of pairs, optional
            From where to where either axis goes; else as far as the model's own rows.
        points : int
            Values along each axis.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If there is no such column, it holds no numbers, or limits are needed.
        DataError
            If the model needs the cells of other columns.
        """
        check_is_fitted(model)
        names = model.layout_.names
        chosen = (names[require_place(columns[0], names)], names[require_place(columns[1], names)])
        cells = dict(held or {})
        for name in cells:
            if name in chosen:
                raise ParameterError(f"column {name!r} is held and drawn", "it is one of the two")
            require_place(name, names)
        ends = _limits(model, chosen) if limits is None else limits
        x, y = (np.linspace(*end, points) for end in ends)
        across, up = np.meshgrid(x, y)
        grid = {chosen[0]: across.ravel(), chosen[1]: up.ravel()}
        rows = grid | {name: [cell] * points**2 for name, cell in cells.items()}
        logs = model.predict_log_proba(rows_with(model, rows))
        classes = tuple(model.classes_.tolist())
        made = cls(
            chosen,
            x,
            y,
            logs.reshape(points, points, -1),
            classes,
            cells,
            model.layout_.label,
            None if cells else gaussians_of(model, chosen),
        )
        return made.plot(ax=ax)

    @classmethod
    def of_discriminants(
        cls,
        model: LinearDiscriminantAnalysis,
        X: Any = None,
        y: Any = None,
        *,
        points: int = 300,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the plane of the two axes that divide the classes most.

        ::

            z = (x − x̄) a,    z | c ~ N((μ_c − x̄) a, I)

        for the axes a of `LinearDiscriminantAnalysis.transform`. All other axes are left out
        exactly; of three classes there is none.

        Parameters
        ----------
        model : LinearDiscriminantAnalysis
        X : table (n, d), optional
        y : array (n,) or name of a column, optional
            Rows and their labels, drawn as points.
        points : int
            Values along each axis.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the model is another one, or has one such axis only.
        DataError
            If the rows cannot be read, or a label was never seen in training.

        Source: R. A. Fisher, The use of multiple measurements in taxonomic problems (1936); T.
        Hastie, R. Tibshirani, J. Friedman, The Elements of Statistical Learning, section 4.3.3.
        """
        check_is_fitted(model)
        if not hasattr(model, "transform") or not hasattr(model, "xbar_"):
            raise ParameterError(
                f"{type(model).__name__} has no axes that divide its classes",
                "linear discriminant analysis has",
                "fit LinearDiscriminantAnalysis, or draw two columns: from_estimator",
            )
        means = ((model.means_ - model.xbar_) @ model.scalings_)[:, :2]
        if means.shape[1] < 2:
            raise ParameterError(
                "the model has one axis that divides its classes",
                "a plane has two, which takes three classes and two columns",
                "draw a column: ClassDensityDisplay",
            )
        rows = None if X is None else _on_axes(model, X, y)
        every = means if rows is None else np.concatenate([means, rows[0]])
        low, high = every.min(axis=0) - REACH, every.max(axis=0) + REACH
        x, up = (np.linspace(low[i], high[i], points) for i in range(2))
        grid = np.stack(np.meshgrid(x, up), axis=-1)
        away = ((grid[:, :, None] - means) ** 2).sum(axis=-1)
        logs = log_normalise(
            (safe_log(model.priors_) - away / 2).reshape(points**2, -1), safe_log(model.priors_)
        )[0]
        classes = tuple(model.classes_.tolist())
        made = cls(
            ("first discriminant", "second discriminant"),
            x,
            up,
            logs.reshape(points, points, -1),
            classes,
            None,
            model.layout_.label,
            dict(zip(classes, ((mean, np.eye(2)) for mean in means), strict=True)),
            rows,
        ).plot(ax=ax)
        made.ax_.set_aspect("equal")  # one unit is one standard deviation, in any direction
        return made

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones."""
        ax = sized_axes(ax, 5.6, 4.6)
        winner = self.log_proba.argmax(axis=2)
        shades = np.array([to_rgb(class_style(c)["color"]) for c in range(len(self.classes))])
        light = 1 - 0.22 * (1 - shades)
        ends = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        ax.imshow(
            light[winner], origin="lower", extent=ends, aspect="auto", interpolation="nearest"
        )
        labels = named(self.classes)
        for c in np.unique(winner).tolist():
            self._contour(ax, c)
            ax.fill([], [], facecolor=light[c], edgecolor=INK, linewidth=0.6, label=labels[c])
        self._classes(ax)
        ax.set_xlim(self.x[0], self.x[-1])
        ax.set_ylim(self.y[0], self.y[-1])
        ax.set_xlabel(shortened(self.columns[0], 48))
        ax.set_ylabel(shortened(self.columns[1], 48))
        if self.held:
            cells = [f"{shortened(n, 16)} = {shortened(v, 12)}" for n, v in self.held.items()]
            ax.set_title(
                ", ".join(cells[:3]) + (" ..." if len(cells) > 3 else ""), fontsize="small"
            )
        legend_beside(ax, self.label)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _contour(self, ax: Axes, c: int) -> None:
        """Draw where class c is as probable as the best other one, from the grid."""
        others = np.delete(self.log_proba, c, axis=2)
        if others.shape[2]:
            lead = _lead(self.log_proba[:, :, c], others.max(axis=2))
            ax.contour(self.x, self.y, lead, levels=[0.0], colors=INK, linewidths=0.9)

    def _classes(self, ax: Axes) -> None:
        """Draw the ellipses of Gaussian classes, and the rows."""
        for c, label in enumerate(self.classes):
            style = class_style(c)
            if self.rows is not None:
                at = self.rows[0][self.rows[1] == c]
                ax.plot(*at.T, "o", color=style["color"], markersize=3, alpha=0.7)
            if label in self.gaussians:
                mean, covariance = self.gaussians[label]
                ax.plot(*ellipse(mean, covariance).T, linewidth=1.4, **style)


def _lead(one: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much a class leads, in nats, between −50 and 50."""
    with np.errstate(invalid="ignore"):
        return np.clip(np.nan_to_num(one - others, nan=0.0), -50, 50)


def _on_axes(
    model: LinearDiscriminantAnalysis, X: Any, y: Any
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Rows on the first two discriminants, and the codes of their classes; labelled ones."""
    source = model._open_judged(X, y, None)
    layout, axes = model._layout_to_answer(), model.scalings_[:, :2]
    places, codes = [], []
    for split in source.splits(layout, 1):
        places += on_axes(split, (model.model_, model.xbar_, axes))
        codes += [known_codes(batch, model.model_) for batch in all_batches(split, layout)]
    at, known = np.concatenate(places), np.concatenate(codes)
    return at[known >= 0], known[known >= 0]


def _limits(
    model: Any, columns: tuple[str, str]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """From where to where the rows that a model draws go."""
    if not isinstance(model, GenerativeClassifier):
        raise ParameterError(
            f"{type(model).__name__} does not know where rows lie",
            "naive Bayes and discriminant analysis do",
            "give limits=((x0, x1), (y0, y1))",
        )
    found = []
    for name in columns:
        cells = cells_of(model, name)
        if not cells.are_numbers:
            raise ParameterError(
                f"column {name!r} holds no numbers", "the axes are two columns of numbers"
            )
        found.append((float(cells.values[0]), float(cells.values[-1])))
    return found[0], found[1]


SHARE = 0.95  # of a class that its ellipse holds
Gaussian = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Mean (2,) and covariance (2, 2)."""


def gaussians_of(model: Any, columns: tuple[str, str]) -> dict[Any, Gaussian]:
    """Mean and covariance of two columns in every class; none where they are no Gaussians."""
    if not isinstance(model, GenerativeClassifier):
        return {}
    k, found = len(model.model_.classes), {}
    mean, covariance = np.zeros((k, 2)), np.zeros((k, 2, 2))
    for part, parameters in zip(model.parts_, model.model_.parameters, strict=True):
        names = list(part.layout.columns)
        here = [i for i in range(2) if columns[i] in names]
        at = [names.index(columns[i]) for i in here]
        if not here:
            continue
        if isinstance(parameters, MixedParameters):
            at = [int(parameters.terms.places(j)[0]) for j in at]
            parameters = parameters.of_terms
        if isinstance(parameters, MultivariateGaussianParameters):
            block = parameters.covariance[:, at][:, :, at]
        elif isinstance(parameters, GaussianParameters):
            block = parameters.variance[:, at, None] * np.eye(len(at))
        else:
            return {}
        mean[:, here] = parameters.mean[:, at]
        covariance[np.ix_(range(k), here, here)] = np.broadcast_to(block, (k, len(at), len(at)))
    for c, label in enumerate(model.model_.classes.values):
        found[label] = mean[c], covariance[c]
    return found


def ellipse(mean: NDArray[np.float64], covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (m, 2) of the ellipse that holds 95 % of a Gaussian: d²(x, μ) = −2 log 0.05.

    Examples
    --------
    >>> points = ellipse(np.zeros(2), np.eye(2))
    >>> np.round((points**2).sum(axis=1)[[0, 50]], 3)
    array([5.991, 5.991])
    """
    turn = np.linspace(0, 2 * np.pi, 181)
    variances, axes = np.linalg.eigh(covariance)
    radii = np.sqrt(-2 * log_of(1 - SHARE) * np.maximum(variances, 0.0))
    circle = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.asarray(mean + (circle * radii) @ axes.T)
