"""What divides the rows of two models, column by column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.errors import ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.plotting.style import AGAINST, FOR, figure_of, named, sized_axes
from suffice.statistics.comparison import Comparison

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DriftDisplay"]


class DriftDisplay:
    """Hellinger's distance of every column between two tables, the largest first.

    0 is no difference, 1 no overlap. A dot is the largest distance within one class: a column may
    look the same over all rows and differ in a class.

    Parameters
    ----------
    comparison : Comparison

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from suffice.naive_bayes import GaussianNB
    >>> before = GaussianNB().fit([[1.0, 5.0], [2.0, 4.0], [3.0, 9.0]], [0, 1, 1])
    >>> after = GaussianNB().fit([[7.0, 5.0], [8.0, 4.0], [9.0, 9.0]], [0, 0, 1])
    >>> display = DriftDisplay.from_estimators(before, after)
    >>> [f"{column.distance:.3f}" for column in display.comparison.columns]
    ['0.999', '0.000']
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, comparison: Comparison) -> None:
        self.comparison = comparison

    @classmethod
    def from_estimators(
        cls, before: Any, after: Any, *, most: int = 20, ax: Axes | None = None
    ) -> Self:
        """Draw what `compare` says of two fitted models.

        Parameters
        ----------
        before, after : estimator
            Two models of the same columns.
        most : int
            How many columns are drawn.
        ax : matplotlib Axes, optional

        Raises
        ------
        SchemaError
            If the two models do not read the same columns in the same way.
        ParameterError
            If a model keeps no sums that could be compared.
        """
        for model in (before, after):
            check_is_fitted(model)
            if not hasattr(model, "compare"):
                raise ParameterError(
                    f"{type(model).__name__} keeps no sums of its rows",
                    "what is compared are sums of rows, not models",
                    "compare two models of the same rows that keep them, such as NaiveBayes",
                )
        return cls(before.compare(after)).plot(most=most, ax=ax)

    def plot(self, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones."""
        found = self.comparison
        names, distances, within = [], [], []
        if found.labels is not None:
            names, distances, within = ["(labels)"], [found.labels.hellinger], [np.nan]
        for column in found.columns[:most]:
            worst = found.most_within(column)
            names.append(column.column)
            distances.append(column.distance)
            within.append(np.nan if worst is None else worst[1].hellinger)
        at = np.arange(len(names))
        ax = sized_axes(ax, height=1.2 + 0.28 * max(len(names), 3))
        ax.barh(at, distances, height=0.7, color=FOR, label="all rows")
        if not np.isnan(within).all():
            ax.plot(within, at, "o", color=AGAINST, label="the class that differs most")
            ax.legend(frameon=False)
        ax.set_yticks(at, named(names))
        ax.invert_yaxis()
        ax.set_xlim(0, 1.02)
        rest = len(found.columns) - most
        ax.set_xlabel("Hellinger's distance" + (f"; {rest:,} more columns" if rest > 0 else ""))
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
