"""One prediction as a sum: where it starts, what every column adds, where it ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.explanation import Contribution, Evidence, RowExplanation
from suffice.numerics.in_print import AGAINST, FOR
from suffice.plotting.style import INK, QUIET, Display, named, shortened, sized_axes, titled

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LedgerDisplay(Display):
    """One prediction as a waterfall.

    Of a classifier, the log-odds of one class against another, in nats::

        log P(a | x) − log P(b | x) = log P(a) − log P(b) + Σ_j [log p(x_j | a) − log p(x_j | b)]

    Of a regression, the prediction in units of the target, from the average row.

    Parameters
    ----------
    explanation : RowExplanation
        Such as ``model.explain(X).row(3)``.

    Attributes
    ----------
    start : float
        Before any column is looked at.
    steps : ndarray (d,)
        What every column adds, the largest first.
    columns : tuple of d str
    title : str
    total : float
        Where it ends: start + Σ steps.
    shown : tuple of str
        The columns that are drawn one by one, those that add the most first.

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

    shown: tuple[str, ...]

    def __init__(self, explanation: RowExplanation, label: str | None = None) -> None:
        self.explanation, self.label = explanation, label
        self.start = float(explanation.start[1][0])
        self.steps = np.array([one.adds[0] for one in explanation.contributions])
        self.columns = tuple(one.column for one in explanation.contributions)
        self.title, self._last = self._words()

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
        found = model.explain(row)
        of_classes = isinstance(found, Evidence)
        one = found.row(0, label=label, against=against) if of_classes else found.row(0)
        return cls(one, model.reader_.layout.label if of_classes else None).plot(most=most, ax=ax)

    @property
    def total(self) -> float:
        """Return the end of the last bar."""
        return float(self.start + self.steps.sum())

    def plot(self, *, most: int = 12, ax: Axes | None = None) -> Self:
        """Draw the waterfall on the axes given, or on new ones."""
        found, telling = self.explanation, int(np.count_nonzero(self.steps))
        number = min(most, max(telling, 1), len(self.steps))
        steps = self.steps[:number].tolist()
        names = [_name(one) for one in found.contributions[:number]]
        if others := len(self.steps) - number:
            steps.append(float(self.steps[number:].sum()))
            names.append("1 other column" if others == 1 else f"{others:,} other columns")
        ends = self.start + np.cumsum([0.0, *steps])
        names = [f"{found.start[0]}: {self.start:.3g}", *names, self._last]
        ax = sized_axes(ax, 5.6, 1.6 + 0.3 * len(steps), names)
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
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6, "alpha": 0.8},
            )
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set_yticks(range(len(steps) + 2), names)
        ax.invert_yaxis()
        ax.use_sticky_edges = False
        ax.margins(x=0.12)
        low, high = ax.get_xlim()
        ax.set_xlim(low, high + 0.08 * (high - low))  # so that the numbers are inside
        titled(ax, self.title, shortened(found.outputs[0], 48))
        self.shown = self.columns[:number]
        return self.drawn(ax)

    def _words(self) -> tuple[str, str]:
        """Return the title, and the name of the last bar."""
        found = self.explanation
        if found.probability is None:
            return f"prediction of {shortened(found.outputs[0], 48)}", found.end
        one, other = named([found.prediction, found.against])
        label = f"{shortened(self.label)}: " if self.label else ""
        last = f"P({shortened(found.prediction, 12)} | x) {_certain(found.probability)}"
        return f"{label}{one} against {other}", last


def _name(one: Contribution) -> str:
    cell = f" = {shortened(one.cell, 12)}" if one.cell else ""
    return f"{shortened(one.column)}{cell}"


def _certain(p: float) -> str:
    """A probability; rounding makes nothing certain."""
    return "> 0.9999" if p > 0.9999 else "< 0.0001" if p < 0.0001 else f"= {p:.4g}"
