"""What a value of one column says for a class, and against it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import all_batches
from suffice.errors import ParameterError
from suffice.models.base.options import check_level
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.proba_intervals import evidence_ends
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import row_sums, safe_log
from suffice.plotting.cells import (
    Cells,
    cells_of,
    counted,
    log_likelihoods,
    require_generative,
    rows_with,
)
from suffice.plotting.style import (
    QUIET,
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

__all__ = ["EvidenceDisplay"]


class EvidenceDisplay:
    """Evidence of one column for every class against all others, as a function of its value.

    ::

        e_c(x) = log p(x_j | c) − log p(x_j | not c),
        p(x_j | not c) = Σ_{b ≠ c} P(b) p(x_j | b) / (1 − P(c))

    the log of the Bayes factor, in nats. 0 says nothing; 2.3 makes the odds of the class ten times
    as large. Where columns have weights, p(x_j | c) is to the power of that of the column.

    Parameters
    ----------
    cells : Cells
        m values of the column.
    evidence : ndarray (m, k)
        e_c of every value.
    classes : tuple
        The k labels.
    label : str, optional
        What the classes are classes of.
    weight : float
        How often what the column says is counted.
    interval : ndarray (m, k, 2), optional
        Ends of an interval for e_c, as the parameters were learnt from finitely many rows. It is
        that of `predict_proba_interval`, with this column alone and the class prior as known;
        infinite where the posterior is improper.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Notes
    -----
    With two classes the evidence for one is that against the other, so one line is drawn.

    Source: I. J. Good, Probability and the Weighing of Evidence (1950), chapter 6.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from suffice import NaiveBayes
    >>> fruit = {"hue": ["red", "red", "blue", "red"]}
    >>> model = NaiveBayes.textbook().fit(fruit, ["apple", "apple", "plum", "plum"])
    >>> EvidenceDisplay.from_estimator(model, "hue").evidence.round(3)
    array([[-0.693,  0.693],
           [ 0.405, -0.405]])
    """

    ax_: Axes
    figure_: Figure

    def __init__(
        self,
        cells: Cells,
        evidence: NDArray[np.float64],
        classes: tuple[Any, ...],
        label: str | None = None,
        weight: float = 1.0,
        interval: NDArray[np.float64] | None = None,
    ) -> None:
        self.cells, self.evidence, self.interval = cells, evidence, interval
        self.classes, self.label, self.weight = classes, label, weight

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        column: str | int,
        *,
        level: float | None = 0.95,
        ax: Axes | None = None,
    ) -> Self:
        """Draw a column of a fitted naive Bayes model or discriminant analysis.

        Parameters
        ----------
        model : generative classifier
        column : str or int
            Its name, or its place.
        level : float, optional
            Posterior probability of the interval that is drawn as a band; None draws none. Models
            without a posterior, such as complement naive Bayes and AODE, have none either.
        ax : matplotlib Axes, optional

        Raises
        ------
        ParameterError
            If the model has no such column, or no density of it.
        """
        generative = require_generative(model)
        cells = cells_of(generative, column)
        logs = log_likelihoods(generative, cells)
        fitted = generative.model_
        evidence = _against_the_rest(logs, fitted.prior)
        weight = counted(generative, cells.column)
        classes, label = fitted.classes.values, generative.layout_.label
        interval = None if level is None else _interval(generative, cells, level)
        return cls(cells, evidence, classes, label, weight, interval).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on the axes given, or on new ones."""
        ax = sized_axes(ax)
        ax.axhline(0, color=QUIET, linewidth=0.8)
        drawn = range(1, 2) if len(self.classes) == 2 else range(len(self.classes))
        labels = named(self.classes)
        for c in drawn:
            marker = "o" if self.cells.discrete else None
            style = class_style(c) | ({"linestyle": ":"} if self.cells.discrete else {})
            finite = np.where(np.isfinite(self.evidence[:, c]), self.evidence[:, c], np.nan)
            ax.plot(self.cells.positions, finite, label=labels[c], marker=marker, **style)
            if self.interval is not None:
                self._band(ax, c, style["color"])
        if not self.cells.are_numbers:
            ax.set_xticks(self.cells.positions, named(self.cells.values))
            ax.margins(x=0.1)
            if len(self.cells.values) > 6:
                ax.tick_params(axis="x", rotation=90)
        ax.set_xlabel(shortened(self.cells.column, 48))
        times = "" if self.weight == 1 else f",\ncounted {self.weight:.2f} times"
        ax.set_ylabel(f"evidence, in nats{times}")
        if len(drawn) == 1:
            ax.set_title(f"for {labels[1]}, against {labels[0]}", fontsize="medium")
        else:
            legend_beside(ax, self.label)
        self.ax_, self.figure_ = ax, figure_of(ax)
        return self

    def _band(self, ax: Axes, c: int, colour: str) -> None:
        """The interval of class c: a band along numbers, bars at other values."""
        assert self.interval is not None
        ends = self.interval[:, c]
        known = np.isfinite(ends).all(axis=1)
        low, high = np.where(known, ends.T, np.nan)
        if self.cells.discrete:
            ax.vlines(self.cells.positions[known], low[known], high[known], color=colour, alpha=0.6)
        else:
            ax.fill_between(self.cells.positions, low, high, color=colour, alpha=0.15, linewidth=0)


def _interval(
    model: GenerativeClassifier, cells: Cells, level: float
) -> NDArray[np.float64] | None:
    """Ends of the evidence of every value, (m, k, 2); None of a model without a posterior."""
    check_level(level)
    if getattr(model.model_, "pairs", None) is not None:
        return None
    rows = rows_with(model, {cells.column: cells.values})
    (batch,) = model._batches(rows, all_batches, model._layout_to_answer())
    try:
        return evidence_ends(model, batch, level)
    except ParameterError:
        return None


def _against_the_rest(logs: NDArray[np.float64], prior: NDArray[np.float64]) -> NDArray[np.float64]:
    """Log Bayes factors of each class against the others, (m, k), from log p(x | c), (m, k)."""
    found = np.zeros_like(logs)
    for c in range(len(prior)):
        others = np.delete(np.arange(len(prior)), c)
        share = prior[others]
        if not share.sum() > 0:
            continue
        joint = logs[:, others] + safe_log(share / share.sum())
        top = joint.max(axis=1, keepdims=True)
        safe = np.where(np.isfinite(top), top, 0.0)
        rest = safe[:, 0] + safe_log(row_sums(exp(joint - safe)))
        with np.errstate(invalid="ignore"):
            found[:, c] = np.nan_to_num(logs[:, c] - rest, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return found
