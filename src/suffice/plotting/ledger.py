"""One prediction as a sum: where it starts, what every column adds, where it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.answers import Evidence
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.numerics.in_print import AGAINST, FOR
from suffice.plotting.style import (
    INK,
    QUIET,
    Display,
    named,
    require_place,
    shortened,
    sized_axes,
    titled,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class LedgerDisplay(Display):
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
    values : mapping from column to cell, optional
        Written beside the names.

    Attributes
    ----------
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

    start: float
    steps: NDArray[np.float64]
    columns: tuple[str, ...]
    title: str
    first: str
    last: str
    unit: str
    values: Mapping[str, Any] = field(default_factory=dict)

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
        if not len(found.contributions):
            raise ParameterError("there is no row", "one row is drawn")
        values = _cells(row, found.columns)
        if isinstance(found, Evidence):
            c, b = _two_classes(found, label, against)
            start, (steps, *_) = found.log_odds(c, b)
            one, other = named([found.classes[c], found.classes[b]])
            label = model.reader_.layout.label
            title = f"{f'{shortened(label)}: ' if label else ''}{one} against {other}"
            certain = _certain(found.probabilities[0, c])
            last = f"P({shortened(found.classes[c], 12)} | x) {certain}"
            said = title, found.start, last, "log-odds, in nats"
        else:
            start, steps = found.average[0], found.contributions[0, :, 0]
            target = shortened(found.targets[0], 48)
            said = f"prediction of {target}", "average row", "prediction", target
        return cls(float(start), steps, found.columns, *said, values).plot(most=most, ax=ax)

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
        names = [f"{self.first}: {self.start:.3g}", *names, self.last]
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
        titled(ax, self.title, self.unit)
        self.shown = tuple(self.columns[j] for j in shown)
        return self.drawn(ax)

    def _name(self, column: str) -> str:
        if column not in self.values:
            return shortened(column)
        value = self.values[column]
        missing = value is None or value != value
        cell = "missing" if missing else f"{value:.4g}" if isinstance(value, float) else value
        return f"{shortened(column)} = {shortened(cell, 12) or '(empty)'}"


def _certain(p: float) -> str:
    """A probability; rounding makes nothing certain."""
    return "> 0.9999" if p > 0.9999 else "< 0.0001" if p < 0.0001 else f"= {p:.4g}"


def _two_classes(found: Evidence, label: Any, against: Any) -> tuple[int, int]:
    """Choose the class that is drawn, and the one that it is measured against."""
    ranked = np.argsort(-found.log_joint[0], kind="stable").tolist()
    if len(ranked) < 2:
        raise ParameterError("the model has one class", "evidence weighs one against another")
    other = None if against is None else require_place(against, found.classes, "class")
    if label is None:
        one = next(c for c in ranked if c != other)
    else:
        one = require_place(label, found.classes, "class")
    return one, next(c for c in ranked if c != one) if other is None else other


def _cells(row: Any, columns: tuple[str, ...]) -> dict[str, Any]:
    """The cells of the first row by the names of the columns, as far as they can be had."""
    if hasattr(row, "to_pylist"):
        row = row.slice(0, 1).to_pylist()[0]
    elif hasattr(row, "iloc"):
        row = (row if row.ndim == 1 else row.iloc[0]).to_dict()
    elif isinstance(row, np.ndarray):
        row = dict(zip(columns, np.atleast_2d(row)[0].tolist(), strict=False))
    elif isinstance(row, list) and row and isinstance(row[0], Mapping):
        row = row[0]
    if not isinstance(row, Mapping):
        return {}
    firsts = {
        name: cell[0] if isinstance(cell, list | np.ndarray) else cell for name, cell in row.items()
    }
    return {name: firsts.get(name) for name in columns}
