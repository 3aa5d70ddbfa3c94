"""The decision boundary of a classifier in the plane of two columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from matplotlib.colors import to_rgb
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.checks import require_place
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.plotting.cells import cells_of, rows_with
from suffice.plotting.style import (
    INK,
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


MOST_NATS = 50  # by which a class leads, for a contour


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
    ) -> None:
        self.columns, self.x, self.y, self.log_proba = columns, x, y, log_proba
        self.classes, self.held, self.label = classes, dict(held or {}), label

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
        names = model.reader_.layout.names
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
            model.reader_.layout.label,
        )
        return made.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the plane and its boundaries on the axes given, or on new ones."""
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
            if len(self.classes) > 1:  # where it is as probable as the best other one
                others = np.delete(self.log_proba, c, axis=2).max(axis=2)
                with np.errstate(invalid="ignore"):
                    lead = np.nan_to_num(self.log_proba[:, :, c] - others, nan=0.0)
                lead = np.clip(lead, -MOST_NATS, MOST_NATS)
                ax.contour(self.x, self.y, lead, levels=[0.0], colors=INK, linewidths=0.9)
            ax.fill([], [], facecolor=light[c], edgecolor=INK, linewidth=0.6, label=labels[c])
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
