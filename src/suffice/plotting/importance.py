"""The mutual information of each column and the class, in bits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.bayes import ColumnInformation, column_information
from suffice.errors import ParameterError
from suffice.numerics.in_print import FOR
from suffice.plotting.cells import counted, require_generative
from suffice.plotting.style import figure_of, named, shortened, sized_axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class ColumnImportanceDisplay:
    """Mutual information of every column and the class, in bits, the most telling first.

    Parameters
    ----------
    information : ColumnInformation
    weights : mapping from column to float, optional
        Weights of the columns. A column of weight 0, which repeats others, is drawn hollow.
    label : str, optional
        What the classes are classes of.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    See Also
    --------
    suffice.bayes.column_information : The formula, and the numbers as a table.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> model = GaussianNB().fit(*load_iris(return_X_y=True))
    >>> display = ColumnImportanceDisplay.from_estimator(model)
    >>> [text.get_text() for text in display.ax_.get_yticklabels()]
    ['x3', 'x2', 'x0', 'x1']
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        information: ColumnInformation,
        weights: Mapping[str, float] | None = None,
        label: str | None = None,
    ) -> None:
        self.information, self.weights, self.label = information, weights or {}, label

    @classmethod
    def from_estimator(cls, model: Any, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Draw the columns of a fitted naive Bayes model or discriminant analysis.

        Parameters
        ----------
        model : generative classifier
        most : int
            How many columns are drawn.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the model does not say how columns look in a class, one by one.
        """
        information = column_information(require_generative(model))
        if np.isnan(information.bits).all():
            raise ParameterError(
                "no column of this model has a distribution of its own",
                "bits are those that one column tells alone",
                "draw a prediction: LedgerDisplay",
            )
        weights = {
            name: counted(model, name)
            for name, bits in zip(information.columns, information.bits, strict=True)
            if not np.isnan(bits) and not hasattr(model.model_, "pairs")
        }  # columns that have no weight of their own may still be counted in pairs
        label = model.reader_.layout.label
        return cls(information, weights, label).plot(most=most, ax=ax)

    def plot(self, *, most: int = 20, ax: Axes | None = None) -> Self:
        """Draw the bars on the axes given, or on new ones."""
        found = self.information
        known = [int(j) for j in found.order if not np.isnan(found.bits[j])]
        shown = known[:most]
        names = named(found.columns[j] for j in shown)
        ax = sized_axes(ax, 5.6, 1.2 + 0.28 * max(len(shown), 3), names)
        at = np.arange(len(shown))
        idle = [self.weights.get(found.columns[j], 1.0) == 0 for j in shown]
        colours = ["none" if one else FOR for one in idle]
        ax.barh(at, found.bits[shown], color=colours, edgecolor=FOR, height=0.7)
        ax.set_yticks(at, names)
        ax.invert_yaxis()
        ax.set_xlim(left=0)
        left_out = len(found.columns) - len(shown)
        note = f"; {left_out:,} more columns" if left_out else ""
        hollow = "\nhollow: not counted, as other columns tell it" if any(idle) else ""
        title = f"What each column tells about {shortened(self.label or 'the class', 48)}"
        titled(ax, title, f"bits, of {found.entropy:.3g} that tell the class{note}{hollow}")
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self
