"""The fitted density of one column in every class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.models.generative.described import missing_rows
from suffice.models.generative.model import generative
from suffice.numerics.elementary import exp
from suffice.plotting.cells import (
    Axis,
    Cells,
    Shown,
    cells_of,
    log_densities,
    shown_by,
    what_to_draw_of,
)
from suffice.plotting.style import (
    INK,
    Display,
    area_style,
    class_style,
    legend_beside,
    named,
    shortened,
    sized_axes,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BINS = 30  # of the histogram of rows, at most
MOST_VALUES = 24  # with names
Array = NDArray[np.float64]


@dataclass(eq=False, repr=False)
class ClassDensityDisplay(Display):
    """p(x_j | c) of one column in every class: curves for numbers, bars for other values.

    Numbers have a linear axis. Where that would show one spike and nothing else, it is logarithmic,
    or one of ranks, on which every range of values has the same room; the height is then the share
    of the class in a tenfold, or in a range. Values that have names are sorted, the most frequent
    first.

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

    cells: Cells
    density: Array
    classes: tuple[Any, ...]
    missing: Array
    label: str | None = None
    shown: Shown | None = None

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
        fitted = generative(model, what_to_draw_of(model))
        cells = cells_of(model, column)
        density = exp(log_densities(model, cells))
        absent = missing_rows(fitted)[cells.column]
        rows = fitted.statistic.over(fitted.classes).weight.value
        made = cls(
            cells,
            density,
            fitted.classes.values,
            np.divide(absent, rows, out=np.zeros_like(absent), where=rows > 0),
            model.reader_.layout.label,
            None if X is None else shown_by(model, [cells], X, y),
        )
        return made.plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw the densities on the axes given, or on new ones."""
        labels = [
            name if share < 0.0005 else f"{name} ({100 * share:.1f} % missing)"
            for name, share in zip(named(self.classes), self.missing.tolist(), strict=True)
        ]
        order = self._order()
        row = max(0.26, 0.1 * len(labels))
        height = 4.0 if self.cells.are_numbers else max(2.4, 1.2 + row * len(order))
        ax = sized_axes(ax, height=height, beside=labels)
        column = shortened(self.cells.column, 48)
        titled(ax, f"{column}, by {shortened(self.label, 48) if self.label else 'class'}")
        if not self.cells.are_numbers:
            self._bars(ax, labels, order, horizontal=True)
            ax.set_yticks(np.arange(len(order)), [named(self.cells.values)[i] for i in order])
            ax.invert_yaxis()
            hidden = len(self.cells.values) - len(order)
            more = f"; {hidden:,} rarer values are not shown" if hidden else ""
            ax.set_xlabel(f"share of the class{more}")
        else:
            if self.cells.axis is None:
                self._bars(ax, labels, order, horizontal=False)
                ax.set_ylabel("share of the class")
            else:
                self._curves(ax, labels, self.cells.axis)
                per = {
                    "log": "share of the class in a tenfold",
                    "rank": "share of the class in a range",
                }
                ax.set_ylabel(per.get(self.cells.axis.kind, "density in the class"))
            ax.set_ylim(bottom=0)
            ax.set_xlabel(column)
        legend_beside(ax, self.label)
        return self.drawn(ax)

    def _order(self) -> NDArray[np.intp]:
        """Places of the values that are drawn: those that have names, by their shares."""
        if self.cells.are_numbers:
            return np.arange(len(self.cells.values))
        first = np.argsort(-self.density.mean(axis=1), kind="stable")[:MOST_VALUES]
        numbers = all(isinstance(value, int | float) for value in self.cells.values)
        return np.sort(first) if numbers else first

    def _bars(self, ax: Axes, labels: list[str], order: NDArray[np.intp], horizontal: bool) -> None:
        """One group of bars for every value, and a dot for the share of the rows."""
        width = 0.8 / len(labels)
        at = self.cells.values if self.cells.are_numbers else np.arange(float(len(order)))
        draw = ax.barh if horizontal else ax.bar
        for c, label in enumerate(labels):
            place = at - 0.4 + (c + 0.5) * width
            draw(place, self.density[order, c], width, label=label, **area_style(c))
            if self.shown is not None:
                shown = self.shown.values[self.shown.codes == c, 0]
                values = self.cells.positions[order]
                share = (shown == values[:, None]).sum(axis=1) / max(len(shown), 1)
                dots = (share, place) if horizontal else (place, share)
                ax.plot(*dots, "o", color=INK, markersize=3, zorder=3)

    def _curves(self, ax: Axes, labels: list[str], axis: Axis) -> None:
        """Draw the density in units of the axis, and a histogram of the rows in the same units."""
        x = self.cells.values
        height = self.density
        if axis.kind != "linear":  # of bins, which start and end at two values
            room = np.diff(x)[::2] / np.diff(axis.position(x))[::2]
            height = height * np.repeat(room, 2)[:, None]
        if self.shown is not None:
            edges, found = self._of_rows(self.shown, axis)
        for c, label in enumerate(labels):
            style = class_style(c)
            ax.plot(x, height[:, c], label=label, **style)
            ax.fill_between(x, height[:, c], color=style["color"], alpha=0.08, linewidth=0)
            if self.shown is not None:
                ax.stairs(found[:, c], edges, color=style["color"], alpha=0.6)
        axis.put(ax, "x")

    def _of_rows(self, shown: Shown, axis: Axis) -> tuple[Array, Array]:
        """Edges of bins (b + 1,), and the densities of the rows of each class in them, (b, k)."""
        values = shown.values[:, 0]
        if axis.kind == "linear" and (values == np.round(values)).all():
            low, high = axis.cuts
            step = np.ceil((high - low) / BINS)  # as many whole numbers in every bin
            edges = np.arange(np.floor(low), np.ceil(high) + step + 0.5, step) - 0.5
        else:
            edges = axis.spaced(min(BINS, max(len(np.unique(values)), 1)) + 1)
        if axis.kind == "rank":  # numbers beyond the ends count as of the range next to them
            values, edges = np.clip(values, *axis.cuts[[0, -1]]), axis.cuts
        found = np.zeros((len(edges) - 1, len(self.classes)))
        for c in range(len(self.classes)):
            mine = values[shown.codes == c]
            rows = max(int((shown.codes == c).sum()), 1)
            found[:, c] = np.histogram(mine, edges)[0] / np.diff(axis.position(edges)) / rows
        return edges, found
