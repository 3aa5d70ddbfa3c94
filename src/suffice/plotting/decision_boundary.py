"""The decision boundary of a classifier in the plane of two columns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.checks import require_place
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import exp
from suffice.numerics.in_print import COLOURS
from suffice.plotting.cells import Axis, Cells, Shown, cells_of, rows_with, shown_by
from suffice.plotting.style import (
    INK,
    Display,
    class_style,
    legend_beside,
    named,
    point_style,
    shortened,
    sized_axes,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_NATS = 50  # by which a class leads, for a contour
MOST_POINTS = 2_000  # rows that are drawn
LEAST, MOST = 0.1, 0.6  # strength of the colour where a class is the best of equals, and is certain

Limits = tuple[tuple[float, float], tuple[float, float]]


@dataclass(eq=False, repr=False)
class DecisionBoundaryDisplay(Display):
    """The most probable class in the plane of two numeric columns, stronger where it is surer.

    The boundary of class a is where log P(a | x) = max log P(b | x) over all other classes b: the
    zero line of the difference, which matplotlib interpolates on the grid. Other columns are held
    at given values; of naive Bayes models and discriminant analysis they are left out exactly, as
    missing cells, unless they are given. Axes are linear, logarithmic, or of ranks, as those of
    `ClassDensityDisplay`.

    Parameters
    ----------
    columns : tuple of two str
    x, y : ndarray (m,)
        Values of the two columns.
    log_proba : ndarray (m, m, k)
        log P(c | x), rows along y.
    classes : tuple
        The k labels.
    axes : pair of Axis
    held : mapping from column to cell
    label : str, optional
        What the classes are classes of.
    shown : Shown, optional
        Labelled rows, drawn as points; 2,000 of them, drawn at random, if there are more.

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

    columns: tuple[str, str]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    log_proba: NDArray[np.float64]
    classes: tuple[Any, ...]
    axes: tuple[Axis, Axis]
    held: Mapping[str, Any]
    label: str | None = None
    shown: Shown | None = None

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        columns: tuple[str | int, str | int] = (0, 1),
        X: Any = None,
        y: Any = None,
        *,
        held: Mapping[str, Any] | None = None,
        limits: Limits | None = None,
        points: int = 300,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a fitted classifier.

        Parameters
        ----------
        model : classifier
        columns : pair of str or int
            The columns of the two axes.
        X : table (n, d), optional
        y : array (n,) or name of a column, optional
            Rows and their labels, which are drawn as points.
        held : mapping from column to cell, optional
            Cells of other columns.
        limits : pair of pairs, optional
            From where to where either axis goes; else as far as the rows drawn, or as far as those
            that naive Bayes and discriminant analysis expect.
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
        names = model.reader_.layout.names
        chosen = (names[require_place(columns[0], names)], names[require_place(columns[1], names)])
        cells = dict(held or {})
        for name in cells:
            if name in chosen:
                raise ParameterError(f"column {name!r} is held and drawn", "it is one of the two")
            require_place(name, names)
        shown = None
        if X is not None:
            shown = shown_by(model, [Cells(name, np.empty(0)) for name in chosen], X, y)
        if limits is not None:
            axes = (_linear(limits[0]), _linear(limits[1]))
        elif shown is not None and len(shown.values):
            axes = (Axis.of_rows(shown.values[:, 0]), Axis.of_rows(shown.values[:, 1]))
        else:
            axes = (_axis(model, chosen[0]), _axis(model, chosen[1]))
        x, up = (axis.spaced(points) for axis in axes)
        across, upward = np.meshgrid(x, up)
        grid = {chosen[0]: across.ravel(), chosen[1]: upward.ravel()}
        rows = grid | {name: [cell] * points**2 for name, cell in cells.items()}
        logs = model.predict_log_proba(rows_with(model, rows))
        logs = logs.reshape(points, points, -1)
        classes, label = tuple(model.classes_.tolist()), model.reader_.layout.label
        made = cls(chosen, x, up, logs, classes, axes, cells, label, shown)
        return made.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the plane and its boundaries on the axes given, or on new ones."""
        labels = named(self.classes)
        ax = sized_axes(ax, 5.6, 4.6, labels)
        self.axes[0].put(ax, "x")
        self.axes[1].put(ax, "y")
        k = len(labels)
        winner = self.log_proba.argmax(axis=2)
        paint = 1 - np.array([to_rgb(class_style(c)["color"]) for c in range(k)])  # less white
        sure = (exp(self.log_proba.max(axis=2)) - 1 / k) / max(1 - 1 / k, 1 / k)
        strength = LEAST + (MOST - LEAST) * np.clip(np.nan_to_num(sure), 0, 1)
        shades = 1 - strength[:, :, None] * paint[winner]
        ax.pcolormesh(self.x, self.y, shades, shading="nearest", rasterized=True)
        for c in np.unique(winner).tolist():
            if k > 1:  # where it is as probable as the best other one
                others = np.delete(self.log_proba, c, axis=2).max(axis=2)
                with np.errstate(invalid="ignore"):
                    lead = np.nan_to_num(self.log_proba[:, :, c] - others, nan=0.0)
                lead = np.clip(lead, -MOST_NATS, MOST_NATS)
                ax.contour(self.x, self.y, lead, levels=[0.0], colors=INK, linewidths=0.9)
            light = 1 - MOST * paint[c]
            ax.fill([], [], facecolor=light, edgecolor=INK, linewidth=0.6, label=labels[c])
            if k > len(COLOURS):
                row, column = _inside(winner == c)
                at = float(self.x[column]), float(self.y[row])
                ground = {"facecolor": "white", "edgecolor": "none", "pad": 0.8, "alpha": 0.75}
                ax.text(*at, labels[c], ha="center", va="center", fontsize=7, zorder=4, bbox=ground)
        if self.shown is not None:
            self._points(ax, self.shown)
        names = [shortened(name, 48) for name in self.columns]
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        cells = [f"{shortened(n, 16)} = {_cell(v)}" for n, v in self.held.items()]
        held = f"; {', '.join(cells[:3])}{' ...' if len(cells) > 3 else ''}" if cells else ""
        titled(ax, f"{shortened(self.label or 'class', 48)}, by {names[0]} and {names[1]}{held}")
        legend_beside(ax, self.label)
        return self.drawn(ax)

    def _points(self, ax: Axes, shown: Shown) -> None:
        """Draw rows as points in the colours of their classes, in random order."""
        ends = np.array([self.x[[0, -1]], self.y[[0, -1]]])
        inside = ((shown.values >= ends[:, 0]) & (shown.values <= ends[:, 1])).all(axis=1)
        chosen = np.random.default_rng(0).permutation(np.flatnonzero(inside))[:MOST_POINTS]
        values, codes = shown.values[chosen], shown.codes[chosen]
        for c in np.unique(codes).tolist():
            x, y = values[codes == c].T
            style = point_style(c)
            ax.scatter(
                x, y, s=12, edgecolors="white", linewidths=0.4, zorder=3, clip_on=False, **style
            )


def _linear(ends: Any) -> Axis:
    return Axis("linear", np.asarray(ends, np.float64))


def _cell(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shortened(value, 12)


def _inside(region: NDArray[np.bool_]) -> tuple[int, int]:
    """Return the cell of a region that is the nearest to its middle."""
    cells = np.argwhere(region)
    row, column = cells[((cells - cells.mean(axis=0)) ** 2).sum(axis=1).argmin()].tolist()
    return row, column


def _axis(model: Any, column: str) -> Axis:
    """Return the axis of a column, as far as the rows go that a model draws."""
    if not isinstance(model, GenerativeClassifier):
        raise ParameterError(
            f"{type(model).__name__} does not know where rows lie",
            "naive Bayes and discriminant analysis do",
            "give rows, X and y, or limits=((x0, x1), (y0, y1))",
        )
    cells = cells_of(model, column)
    if not cells.are_numbers:
        raise ParameterError(
            f"column {column!r} holds no numbers", "the axes are two columns of numbers"
        )
    return cells.axis or _linear(cells.values[[0, -1]])
