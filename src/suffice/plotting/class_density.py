"""The fitted density of one column in every class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.elementary import exp
from suffice.plotting.cells import (
    Cells,
    Shown,
    cells_of,
    log_densities,
    require_generative,
    shown_by,
)
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

BINS = 30  # of the histogram of rows, at most
MARGIN = 0.05  # of the width of a picture: numbers as near as this to it are drawn


class ClassDensityDisplay:
    """p(x_j | c) of one column in every class: curves for numbers, bars for other values.

    Parameters
    ----------
    cells : Cells
        m values of the column.
    density : ndarray (m, k)
        p(x_j | c), or P(x_j | c) of values that are counted.
    classes : tuple
        The k labels.
    missing : ndarray (k,)
        Share of the rows of each class without a value.
    label : str, optional
        What the classes are classes of.
    shown : Shown, optional
        What rows show of the column, which is drawn below: a histogram of numbers in each class, or
        a dot for the share of every other value.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit(*load_iris(return_X_y=True))
    >>> display = ClassDensityDisplay.from_estimator(model, "x2")
    >>> display.density.shape
    (400, 3)
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        cells: Cells,
        density: NDArray[np.float64],
        classes: tuple[Any, ...],
        missing: NDArray[np.float64],
        label: str | None = None,
        shown: Shown | None = None,
    ) -> None:
        self.cells, self.density, self.classes = cells, density, classes
        self.missing, self.label, self.shown = missing, label, shown

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        column: str | int,
        X: Any = None,
        y: Any = None,
        *,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a column of a fitted naive Bayes model or discriminant analysis.

        Parameters
        ----------
        model : generative classifier
        column : str or int
            Its name, or its place.
        X : table (n, d), optional
        y : array (n,) or name of a column, optional
            Rows and their labels: the column is drawn over them.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the model has no such column, or no density of it.
        DataError
            If the rows cannot be read, or a label was never seen in training.
        """
        generative = require_generative(model)
        cells = cells_of(generative, column)
        density = exp(log_densities(generative, cells))
        fitted = generative.model_
        made = cls(
            cells,
            density,
            fitted.classes.values,
            _missing(fitted, cells.column),
            generative.reader_.layout.label,
            None if X is None else shown_by(generative, cells, X, y),
        )
        return made.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the densities on the axes given, or on new ones."""
        ax = sized_axes(ax)
        labels = [
            name if share < 0.0005 else f"{name} ({100 * share:.1f} % missing)"
            for name, share in zip(named(self.classes), self.missing.tolist(), strict=True)
        ]
        if self.cells.discrete:
            self._bars(ax, labels)
        else:
            for c, label in enumerate(labels):
                style = class_style(c)
                ax.plot(self.cells.values, self.density[:, c], label=label, **style)
                ax.fill_between(
                    self.cells.values,
                    self.density[:, c],
                    color=style["color"],
                    alpha=0.08,
                    linewidth=0,
                )
            ax.margins(x=0)
        if self.shown is not None:
            self._rows(ax, *self._of_rows(self.shown))
        ax.set_ylim(bottom=0)
        ax.set_xlabel(shortened(self.cells.column, 48))
        ax.set_ylabel("share of the class" if self.cells.discrete else "density in the class")
        legend_beside(ax, self.label)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _of_rows(self, shown: Shown) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Edges of bins (b + 1,), and the densities of the rows of each class in them, (b, k)."""
        at = self.cells.positions
        if self.cells.discrete:  # one bin a value
            half = 0.5 if len(at) < 2 else (at[1] - at[0]) / 2
            edges = np.append(at - half, at[-1] + half)
        else:
            near = MARGIN * (at[-1] - at[0])
            inside = shown.values[(shown.values >= at[0] - near) & (shown.values <= at[-1] + near)]
            ends = np.append(inside, at[[0, -1]])
            bins = min(BINS, max(len(np.unique(inside)), 1))
            edges = np.linspace(ends.min(), ends.max(), bins + 1)
        found = np.zeros((len(edges) - 1, len(self.classes)))
        for c in range(len(self.classes)):
            mine = shown.values[shown.codes == c]
            found[:, c] = np.histogram(mine, edges)[0] / np.diff(edges) / max(len(mine), 1)
        return edges, found

    def _rows(self, ax: Axes, edges: NDArray[np.float64], found: NDArray[np.float64]) -> None:
        """Draw labelled rows: stairs of numbers, dots of other values."""
        k = len(self.classes)
        for c in range(k):
            if self.cells.discrete:
                at = self.cells.positions - 0.4 + (c + 0.5) * 0.8 / k
                ax.plot(at, found[:, c], "o", color=INK, markersize=3, zorder=3)
            else:
                ax.stairs(found[:, c], edges, color=class_style(c)["color"], alpha=0.6)

    def _bars(self, ax: Axes, labels: list[str]) -> None:
        """One group of bars for every value."""
        width = 0.8 / len(labels)
        for c, label in enumerate(labels):
            at = self.cells.positions - 0.4 + (c + 0.5) * width
            ax.bar(at, self.density[:, c], width, label=label, color=class_style(c)["color"])
        if not self.cells.are_numbers:
            ax.set_xticks(self.cells.positions, named(self.cells.values))
            if len(self.cells.values) > 6:
                ax.tick_params(axis="x", rotation=90)


def _missing(model: Any, column: str) -> NDArray[np.float64]:
    """Share of the rows of each class that show no value of a column, (k,)."""
    statistic = model.statistic.over(model.classes)
    for part, block in zip(model.parts, statistic.blocks, strict=True):
        if column in part.layout.columns:
            j = min(list(part.layout.columns).index(column), block.total.shape[1] - 1)
            weight = statistic.weight.value
            absent = np.asarray(weight - block.total[:, j], np.float64)
            share = np.zeros_like(absent)
            np.divide(absent, weight, out=share, where=weight > 0)
            return share
    return np.zeros(len(model.classes))
