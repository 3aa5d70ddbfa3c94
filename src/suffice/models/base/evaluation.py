"""The evaluation of a model: a statistic like any other, an exact sum over labelled rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import isnan, sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.models.base.options import check_level
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import Printed, Table, percent
from suffice.phrases import amount, rows_in_print, rows_of_classes
from suffice.sums.ranking import Area, Ranking
from suffice.sums.vocabulary import Vocabulary

CLASSES = 10  # of a confusion table in print
ADDED = (
    "confusion",
    "log_loss_sum",
    "brier_sum",
    "log_likelihood_sum",
    "infinite",
    "reliability",
    "infinite_by_class",
    "impossible",
    "unlabelled",
)


def wilson_interval(p: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Ends of an interval for a probability, where a share p of n rows had it.

    ::

        (p + z²/2n ± z √(p(1 − p)/n + z²/4n²)) / (1 + z²/n)

    Source: E. B. Wilson, Probable inference, the law of succession, and statistical inference
    (1927).

    Examples
    --------
    >>> [round(end, 4) for end in wilson_interval(0.0, 10)]
    [0.0, 0.2775]
    """
    check_level(level)
    if not n:
        return 0.0, 1.0
    z = NormalDist().inv_cdf((1 + level) / 2)
    middle = p + z**2 / (2 * n)
    half = z * sqrt(p * (1 - p) / n + (z / (2 * n)) ** 2)
    low, high = (middle - half) / (1 + z**2 / n), (middle + half) / (1 + z**2 / n)
    return max(low, 0.0), min(high, 1.0)


@dataclass(frozen=True, repr=False)
class Evaluation(Printed):
    """Exact sums over the labelled rows of a table.

    Parameters
    ----------
    classes : tuple
        The k labels.
    confusion : DoubleDouble (k, k)
        Σw by true label (rows) and predicted label (columns).
    log_loss_sum, brier_sum, log_likelihood_sum : DoubleDouble ()
        Σ −w log P(y | x),  Σ w Σ_c (P(c | x) − [c = y])²,  Σ w log P(x, y), of finite terms.
    infinite : DoubleDouble (2,)
        Σw of the rows left out of the first and of the last of these: infinity has no sum that
        could be taken away again.
    reliability : DoubleDouble (10, 3)
        Σw, Σw p and Σw [the prediction is right] of the rows whose prediction has a probability p
        in each tenth of 0 to 1.
    infinite_by_class : DoubleDouble (k,)
        Σw of the rows left out of the first of these sums, by true label.
    impossible, unlabelled : int
        Rows impossible under every class, and rows left out for want of a label.
    rankings : tuple of Ranking
        How the log-odds of a class order rows: of the second one where there are two, of each where
        there are 3 to 20; none of more classes.
    known : tuple
        The classes of the model; rows of others are errors.
    costs : array (k, k), optional
        Of errors, by which labels were predicted, of the classes of the model.

    Source: G. W. Brier, Verification of forecasts expressed in terms of probability (1950), eq. 2;
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, On calibration of modern neural networks (2017),
    eq. 3, for the calibration error.
    """

    classes: tuple[Any, ...]
    confusion: DoubleDouble
    log_loss_sum: DoubleDouble
    brier_sum: DoubleDouble
    log_likelihood_sum: DoubleDouble
    infinite: DoubleDouble
    reliability: DoubleDouble
    infinite_by_class: DoubleDouble
    impossible: int = 0
    unlabelled: int = 0
    rankings: tuple[Ranking, ...] = ()
    known: tuple[Any, ...] = ()
    costs: Any = field(default=None, compare=False)

    def table(self) -> Table:
        """Return the scores; below, the confusions, and how often probabilities were right."""
        scores = Table("", ["", "", ""], list(self._scores()), left=(0, 2))
        return replace(scores, below=[self._confusions(), self._reliability()])

    def _scores(self) -> Iterator[list[str]]:
        most = self.confusion.value.sum(axis=1).max(initial=0.0)
        alone = 1 - most / self.weight if self.weight else float("nan")
        yield [
            "error rate",
            _percent(self.error),
            f"of the most frequent label alone: {percent(alone)}",
        ]
        yield ["accuracy", _percent(self.accuracy), ""]
        yield ["balanced accuracy", _percent(self.balanced_accuracy), "mean recall of the classes"]
        for name, area, meaning in (
            ("ROC area", self.roc_area, "0.5: no better than chance, 1: perfect order"),
            ("average precision", self.average_precision, "area below precision against recall"),
        ):
            if not isnan(area.value):
                low, high = f"{area.lower:.4f}", f"{area.upper:.4f}"
                value = f"{area.value:.4f}" if low == high else f"{low} to {high}"
                yield [name, value, meaning]
        if self.costs is not None:
            cost = f"{self.mean_cost(self.costs, self.known):.4g}"
            yield ["mean cost", cost, "a row, by the costs of errors"]
        if self.infinite_rows:
            yield ["log loss", "∞", f"{rows_of_classes(self.infinite_rows)}: probability 0"]
        else:
            yield ["log loss", f"{self.log_loss:.4f}", "nats per row; 0 is perfect"]
        yield ["Brier score", f"{self.brier:.4f}", "from 0, perfect, to 2"]
        gap = "gap between probability and how often it is right"
        yield ["calibration error", _percent(self.calibration_error), gap]

    def _confusions(self) -> Table:
        """Return the confusions; of many classes what each is most often taken for."""
        names, counts = list(map(str, self.classes)), self.confusion.value
        shares = [list(map(percent, of.tolist())) for of in (self.precision, self.recall)]
        if len(names) > CLASSES:
            errors = np.where(np.eye(len(names), dtype=bool), 0.0, counts)
            taken = [(names[j], float(row[j])) for row in errors for j in [int(row.argmax())]]
            mistaken = [f"{name} ({amount(w)})" if w else "" for name, w in taken]
            columns = names, map(amount, self.rows_by_class.values()), *shares, mistaken
            header = ["label", "rows", "precision", "recall", "most often mistaken for"]
            return Table("", header, list(map(list, zip(*columns, strict=True))), left=(0, 4))
        rows = [
            [name, *map(amount, row), recall]
            for name, row, recall in zip(names, counts.tolist(), shares[1], strict=True)
        ]
        rows.append(["precision", *shares[0], ""])
        bars = [*self.recall.tolist(), float("nan")]
        return Table("", ["true \\ predicted", *names, "recall"], rows, bars=bars)

    def _reliability(self) -> Table:
        """Return how often predictions were right, by their probability; and what was left out."""
        bins = self.reliability.value.tolist()
        rows = [
            [f"{i / len(bins):.0%} to {(i + 1) / len(bins):.0%}", amount(w), *map(percent, shares)]
            for i, (w, p, right) in enumerate(bins)
            if w
            for shares in [(p / w, right / w)]
        ]
        impossible = f", {amount(self.impossible)} impossible under every class"
        notes = [
            f"{rows_in_print(self.weight)} compared, {amount(self.unlabelled)} left out without "
            f"label{impossible if self.impossible else ''}"
        ]
        if unseen := {c: w for c, w in self.rows_by_class.items() if c not in self.known}:
            notes.append(f"Unseen in fit, and counted as errors: {rows_of_classes(unseen)}")
        return Table("", ["probability of the prediction", "rows", "mean", "right"], rows, notes)

    @property
    def rows_by_class(self) -> dict[Any, float]:
        """Σw of the rows of every class, by label."""
        return dict(zip(self.classes, self.confusion.value.sum(axis=1).tolist(), strict=True))

    def __add__(self, other: Evaluation) -> Evaluation:
        return self._merged(other, operator.add)

    def __sub__(self, other: Evaluation) -> Evaluation:
        return self._merged(other, operator.sub)

    def _over(self, classes: tuple[Any, ...]) -> Evaluation:
        at = Vocabulary(classes).index(self.classes, -1)
        k = len(classes)
        confusion, infinite = DoubleDouble.zeros((k, k)), DoubleDouble.zeros(k)
        for whole, mine, place in (
            (confusion, self.confusion, np.ix_(at, at)),
            (infinite, self.infinite_by_class, at),
        ):
            whole.hi[place], whole.lo[place] = mine.hi, mine.lo
        return replace(self, classes=classes, confusion=confusion, infinite_by_class=infinite)

    def _merged(self, other: Evaluation, merged: Callable[[Any, Any], Any]) -> Evaluation:
        if self.classes != other.classes:
            every = (Vocabulary(self.classes) | Vocabulary(other.classes)).values
            return self._over(every)._merged(other._over(every), merged)
        pairs = zip(self.rankings, other.rankings, strict=True)
        found: Any = {name: merged(getattr(self, name), getattr(other, name)) for name in ADDED}
        return replace(self, **found, rankings=tuple([merged(*pair) for pair in pairs]))

    @property
    def weight(self) -> float:
        """Return Σw of the evaluated rows."""
        return float(self.confusion.value.sum())

    @property
    def accuracy(self) -> float:
        """Share of rows whose label is predicted; NaN without rows."""
        return float(np.trace(self.confusion.value)) / self.weight if self.weight else float("nan")

    @property
    def error(self) -> float:
        """Share of rows whose label is not predicted: of these, not what accuracy leaves of 1."""
        missed = self.confusion.value * ~np.eye(len(self.classes), dtype=bool)
        return float(missed.sum()) / self.weight if self.weight else float("nan")

    def error_interval(self, level: float = 0.95) -> tuple[float, float]:
        """Ends of Wilson's interval for the probability of an error, of n = Σw rows."""
        return wilson_interval(self.error, self.weight, level)

    @property
    def in_short(self) -> dict[str, str]:
        low, high = self.error_interval()
        area = self.roc_area.value
        return {
            "rows": f"{self.weight:,g}",
            "error rate": f"{100 * self.error:.2f} %",
            "95 % interval": f"{100 * low:.2f} to {100 * high:.2f} %",
            "log loss": f"{self.log_loss:.4f}",
            "ROC area": "" if isnan(area) else f"{area:.4f}",
        }

    @property
    def log_loss(self) -> float:
        """Mean of −log P(y | x), in nats; ∞ if a true label was held impossible."""
        if self.infinite.value[0] > 0:
            return float("inf")
        return float(self.log_loss_sum.value) / self.weight if self.weight else float("nan")

    @property
    def infinite_rows(self) -> dict[Any, float]:
        """Σw of the rows whose true label had probability 0, by label; empty if there is none."""
        found = zip(self.classes, self.infinite_by_class.value.tolist(), strict=True)
        return {label: weight for label, weight in found if weight > 0}

    @property
    def log_likelihood(self) -> float:
        """Σ w log P(x, y), in nats; −∞ if a row is impossible under its own class."""
        return float("-inf") if self.infinite.value[1] > 0 else float(self.log_likelihood_sum.value)

    @property
    def brier(self) -> float:
        """Mean of Σ_c (P(c | x) − [c = y])², from 0 to 2."""
        return float(self.brier_sum.value) / self.weight if self.weight else float("nan")

    @property
    def precision(self) -> NDArray[np.float64]:
        """Share of the rows predicted as c that are c, (k,); NaN where none was."""
        return self._fraction_right(axis=0)

    @property
    def recall(self) -> NDArray[np.float64]:
        """Share of the rows of class c that are predicted as c, (k,); NaN where there is none."""
        return self._fraction_right(axis=1)

    @property
    def f1(self) -> NDArray[np.float64]:
        """Harmonic mean of precision and recall, 2 TP/(2 TP + FP + FN), (k,); NaN without rows."""
        table = self.confusion.value
        with np.errstate(invalid="ignore"):
            return np.asarray(2 * np.diag(table) / (table.sum(axis=0) + table.sum(axis=1)))

    @property
    def balanced_accuracy(self) -> float:
        """Mean recall of the classes that have rows; NaN without rows."""
        recall = self.recall
        shown = ~np.isnan(recall)
        return float(recall[shown].mean()) if shown.any() else float("nan")

    @property
    def calibration_error(self) -> float:
        """Expected calibration error: Σ_b W_b/W |mean of p − fraction right|, from 0 to 1."""
        weight, expected, right = self.reliability.value.T
        return float(np.abs(expected - right).sum() / weight.sum()) if self.weight else float("nan")

    @property
    def roc_area(self) -> Area:
        """Area below the ROC curve; of more than two classes the mean of one against the rest.

        Classes that no row or every row has are left out. NaN where no class is ranked.
        """
        return _mean([ranking.roc_area for ranking in self.rankings])

    @property
    def average_precision(self) -> Area:
        """Average precision of the second of two classes; of more, the mean over classes."""
        return _mean([ranking.average_precision for ranking in self.rankings])

    def mean_cost(self, costs: ArrayLike, classes: Sequence[Any] | None = None) -> float:
        """Σ_ij C_ij A_ij / W of the confusion table C and costs A (k, k); NaN without rows.

        Costs are of ``classes``, all of the table by default; rows of others are left out.
        """
        at = Vocabulary(self.classes).index(self.classes if classes is None else classes, -1)
        table = self.confusion.value[np.ix_(at, at)]
        weight = float(table.sum())
        return float((table * np.asarray(costs)).sum()) / weight if weight else float("nan")

    def _fraction_right(self, axis: int) -> NDArray[np.float64]:
        table = self.confusion.value
        with np.errstate(invalid="ignore"):
            return np.asarray(np.diag(table) / table.sum(axis=axis))


def _percent(fraction: float) -> str:
    """Write a share to a hundredth of a percent."""
    return "-" if isnan(fraction) else f"{100 * fraction:.2f} %"


def _mean(areas: list[Area]) -> Area:
    """The mean of the areas that are known, and of their bounds."""
    known = [area for area in areas if not np.isnan(area.value)]
    if not known:
        return Area(*[float("nan")] * 3)
    return Area(*np.mean(known, axis=0).tolist())
