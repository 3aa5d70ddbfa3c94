"""One prediction as a sum: where it starts, what every column adds, where it ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.explanation import Evidence
from suffice.numerics.in_print import AGAINST, FOR
from suffice.plotting.style import INK, QUIET, figure_of, shortened, sized_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class LedgerDisplay:
    """One prediction as a waterfall.

    Of a classifier, the log-odds of one class against another, in nats::

        log P(a | x) − log P(b | x) = log P(a) − log P(b) + Σ_j [log p(x_j | a) − log p(x_j | b)]

    Of a regression, the prediction in units of the target, from the average row.

    Parameters
    ----------
    start : float
        Before any column is looked at.
    steps : ndarray (d,)
        What every column adds.
    columns : tuple of d str
    title : str
    first, last : str
        What the first and the last number are.
    unit : str
    values : mapping of str to str, optional
        Cells by column.
        Written beside the names.

    Attributes
    ----------
    total : float
        Where it ends: start + Σ steps.
    shown : tuple of str
        The columns that are drawn one by one, those that add the most first.
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianNB().fit(X, y)
    >>> display = LedgerDisplay.from_estimator(model, X[:1])
    >>> p = model.predict_proba(X[:1])[0]
    >>> abs(display.total - np.log(p[0] / p[1])) < 1e-9
    np.True_
    """

    ax_: Axes
    figure_: Figure
    shown: tuple[str, ...]

    def __init__(
        self,
        start: float,
        steps: NDArray[np.float64],
        columns: tuple[str, ...],
        title: str,
        first: str,
        last: str,
        unit: str,
        values: Mapping[str, str] | None = None,
    ) -> None:
        self.start, self.steps, self.columns = start, steps, columns
        self.title, self.first, self.last, self.unit = title, first, last, unit
        self.values = values or {}

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        row: Any,
        *,
        label: Any = None,
        against: Any = None,
        most: int = 12,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the first row of a table, as a fitted model answers it.

        Parameters
        ----------
        model : estimator
            One that can `explain`.
        row : array, frame or dict
            As for `explain`.
        label, against : label, optional
            Two classes; by default the most probable one, and the next.
        most : int
            How many columns are drawn one by one.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If there is no such class, or no row.
        """
        check_is_fitted(model)
        explained = model.explain(row)
        of_classes = isinstance(explained, Evidence)
        found = explained.row(0, label=label, against=against) if of_classes else explained.row(0)
        if of_classes:
            title = f"{shortened(found.prediction)} against {shortened(found.against)}"
            last = f"P({shortened(found.prediction, 12)} | x) {_certain(found.probability)}"
            unit = "log-odds, in nats"
        else:
            title = unit = shortened(found.outputs[0], 48)
            last = found.end
        return cls(
            float(found.start[1][0]),
            np.array([one.adds[0] for one in found.contributions]),
            tuple(one.column for one in found.contributions),
            title,
            found.start[0],
            last,
            unit,
            {one.column: one.cell for one in found.contributions if one.cell},
        ).plot(most=most, ax=ax)

    @property
    def total(self) -> float:
        """Return the end of the last bar."""
        return float(self.start + self.steps.sum())

    def plot(self, *, most: int = 12, ax: Axes | None = None) -> Self:
        """Draw the waterfall on the axes given, or on new ones."""
        order = np.argsort(-np.abs(self.steps), kind="stable")
        telling = int(np.count_nonzero(self.steps))
        shown, others = np.split(order, [min(most, max(telling, 1))])
        steps = [float(self.steps[j]) for j in shown]
        names = [self._name(self.columns[j]) for j in shown]
        if len(others):
            steps.append(float(self.steps[others].sum()))
            names.append("1 other column" if len(others) == 1 else f"{len(others):,} other columns")
        ends = self.start + np.cumsum([0.0, *steps])
        ax = sized_axes(ax, height=1.6 + 0.3 * len(steps))
        at = np.arange(1, len(steps) + 1)
        finite = np.nan_to_num(ends, posinf=1e3, neginf=-1e3)
        widths = np.diff(finite)
        ax.barh(
            at,
            widths,
            left=finite[:-1],
            height=0.62,
            color=[FOR if step >= 0 else AGAINST for step in steps],
        )
        ax.barh([0, len(steps) + 1], [finite[0], finite[-1]], height=0.62, color=QUIET)
        for above, end in enumerate(finite[:-1]):
            ax.plot([end, end], [above - 0.31, above + 1.31], color=INK, linewidth=0.6)
        for row, step in enumerate(steps, 1):
            right = max(finite[row - 1], finite[row])
            ax.annotate(
                f"{step:+.3g}",
                (right, row),
                (3, 0),
                textcoords="offset points",
                va="center",
                fontsize="small",
            )
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_yticks(range(len(steps) + 2), [f"{self.first}: {self.start:.3g}", *names, self.last])
        ax.invert_yaxis()
        ax.use_sticky_edges = False
        ax.margins(x=0.12)
        low, high = ax.get_xlim()
        ax.set_xlim(low, high + 0.08 * (high - low))  # so that the numbers are inside
        ax.set_xlabel(self.unit)
        ax.set_title(self.title, fontsize="medium")
        self.shown = tuple(self.columns[j] for j in shown)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _name(self, column: str) -> str:
        cell = self.values.get(column)
        return f"{shortened(column)} = {shortened(cell, 12)}" if cell else shortened(column)


def _certain(p: float) -> str:
    """A probability; rounding makes nothing certain."""
    return "> 0.9999" if p > 0.9999 else "< 0.0001" if p < 0.0001 else f"= {p:.4g}"
