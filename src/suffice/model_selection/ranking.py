"""Models ranked by their scores on held-out rows, and which of them are as good as the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from math import floor, isfinite, log10
from operator import add
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.model_selection.paired_scores import ScoreDifference, compare_scores
from suffice.model_selection.scores import OF_ONE_CLASS, named_score, scores_of
from suffice.numerics.in_print import Printed, Table
from suffice.phrases import amount, rows_in_print, rows_of_classes

SHOWN = ("log loss", "error rate", "ROC area", *OF_ONE_CLASS, "RMSE", "MAE", "R²")
LEVEL = 0.95
BOUNDED, ABSOLUTE = "error rate", "MAE"
AS_GOOD = "as good"
LOG_LOSS, NEGLIGIBLE = "log loss", 0.01  # nats in a fold, of which nobody asks who makes them


@dataclass(frozen=True, repr=False)
class FoldEvaluations(Printed):
    """The evaluation of every fold, by the model of the rows outside it.

    Parameters
    ----------
    folds : tuple of Evaluation or RegressionEvaluation
    test_share : float
        Rows that a model is judged on, for each that it has learnt; the mean over folds.
    seconds : float
        Time for fits and evaluations; of what models share, each has an equal part.
    positive : label, optional
        A class whose precision, recall and F1 are scores, too.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from suffice.model_selection import evaluate_folds
    >>> from suffice.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> found = evaluate_folds(GaussianNB(), X, y, cv=5, shuffle=True, random_state=0)
    >>> len(found.folds), found.pooled.weight, round(found.mean("error rate"), 3)
    (5, 150.0, 0.047)
    """

    folds: tuple[Any, ...]
    test_share: float
    seconds: float
    positive: Any = None

    @cached_property
    def pooled(self) -> Any:
        """The evaluation of the rows of all folds together."""
        return reduce(add, self.folds)

    @property
    def infinite_rows(self) -> dict[Any, float]:
        """Σw of the rows whose label had probability 0, by label; they make a log loss infinite."""
        return getattr(self.pooled, "infinite_rows", {})

    @property
    def of_single_rows(self) -> bool:
        """Return whether every row was left out by itself; there is one evaluation of all."""
        return len(self.folds) == 1

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the scores that all folds have."""
        known = scores_of(self.folds[0], self.positive)
        return tuple(name for name in known if not np.isnan(self.scores(name)).any())

    def scores(self, name: str) -> NDArray[np.float64]:
        """A score of every fold, (f,).

        Raises
        ------
        ParameterError
            If there is no such score.
        """
        known = scores_of(self.folds[0], self.positive)
        if name not in known:
            raise ParameterError(f"the score {name!r}", f"it is one of {', '.join(known)}")
        return np.array([known[name].of(fold) for fold in self.folds])

    def mean(self, name: str) -> float:
        """The mean of a score over folds."""
        return float(self.scores(name).mean())

    def standard_error(self, name: str) -> float:
        """s/√f of a score: how far its mean may be off; NaN of single rows and infinite scores."""
        scores = self.scores(name)
        if self.of_single_rows:
            return float("nan")
        with np.errstate(invalid="ignore"):
            return float(scores.std(ddof=1) / np.sqrt(len(scores)))

    def in_print(self, name: str) -> str:
        """Return the mean of a score with the digits that its error leaves."""
        if name not in self.names:
            return "-"
        factor, unit, most = (100, " %", 2) if name == BOUNDED else (1, "", 3)
        mean = factor * self.mean(name)
        if self.of_single_rows:
            return f"{mean:,.{most}f}{unit}".replace("inf", "∞")
        error = factor * self.standard_error(name)
        if not (isfinite(mean) and isfinite(error)):
            return f"{mean:.4g}{unit}".replace("inf", "∞")
        places = most if error == 0 else min(max(0, 1 - floor(log10(error))), most)
        return f"{mean:,.{places}f} ± {error:,.{places}f}{unit}"

    def table(self) -> Table:
        """Return the mean of every score, with its error, as a table."""
        by, rows = f"{len(self.folds)} folds, mean ± standard error", self.infinite_rows
        title = "every row by the model of all others" if self.of_single_rows else by
        notes = [f"The log loss is ∞ by {rows_of_classes(rows)}."] if rows else []
        return Table(title, ["", ""], [[name, self.in_print(name)] for name in self.names], notes)


@dataclass(frozen=True, repr=False, eq=False)
class RankedModels(Printed, Mapping[str, FoldEvaluations | Exception]):
    """The evaluations of several models on the same folds, ranked by the mean of a score.

    A model is as good as the best if 0 is in the interval of the differences of their scores,
    corrected for folds that overlap, and a sign test of the folds does not tell the two apart. A
    loss has no bound, so a few rows can make any interval as wide as one likes: the error rate of
    classes, and the mean absolute error of numbers, has to pass as well, and so has every model
    that is ranked above it.
    """

    found: Mapping[str, FoldEvaluations | Exception]
    asked: str | None = None  # the score, however it is spelt; by default the log loss, or RMSE
    positive: Any = None  # a class whose precision, recall and F1 are scores, too

    def __post_init__(self) -> None:
        if not self.judged:
            raise next(error for error in self.found.values() if isinstance(error, Exception))
        self.first_choice  # noqa: B018, which refuses unknown scores

    def __getitem__(self, name: str) -> FoldEvaluations | Exception:
        return self.found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def ranked_by(self, score: str | None, positive: Any = None) -> Self:
        """Return the models ranked by a score, as "ROC area", or the recall of a class."""
        return replace(self, asked=score, positive=positive)

    @cached_property
    def judged(self) -> dict[str, FoldEvaluations]:
        """The models that could be fitted."""
        return {
            name: replace(one, positive=self.positive)
            for name, one in self.found.items()
            if isinstance(one, FoldEvaluations)
        }

    @cached_property
    def known(self) -> Mapping[str, Any]:
        """The scores by name."""
        return scores_of(next(iter(self.judged.values())).folds[0], self.positive)

    @cached_property
    def first_choice(self) -> str:
        """The score that is asked for."""
        return next(iter(self.known)) if self.asked is None else named_score(self.asked, self.known)

    @cached_property
    def score(self) -> str:
        """The score that models are ranked by: the first that is finite for one of them."""
        names = (self.first_choice, *self.known)
        finite = (n for n in names if any(isfinite(m.mean(n)) for m in self.judged.values()))
        return next(finite, self.first_choice)

    @cached_property
    def order(self) -> list[str]:
        """Names of models, the best first; those without a finite score last."""

        def loss(name: str) -> tuple[bool, float]:
            mean = self.judged[name].mean(self.score)
            return not isfinite(mean), -mean if self.more_is_better else mean

        return sorted(self.judged, key=loss)

    @property
    def best(self) -> str:
        """The name of the best model."""
        return self.order[0]

    @property
    def more_is_better(self) -> bool:
        """True of a score that is no loss."""
        return bool(self.known[self.score].more_is_better)

    @property
    def folds(self) -> int:
        """The number of folds; 1 for single rows left out."""
        return len(self.judged[self.best].folds)

    def rows(self, name: str) -> float:
        """Return Σw of the rows that a model is judged on."""
        weight = self.judged[name].pooled.weight
        return float(weight if isinstance(weight, float) else weight.max())

    def gap(self, name: str) -> ScoreDifference | None:
        """Return the difference of a model from the best; None of single rows."""
        one, best = self.judged[name], self.judged[self.best]
        if one.of_single_rows:
            return None
        return compare_scores(
            one.scores(self.score), best.scores(self.score), one.test_share, LEVEL
        )

    def verdict(self, name: str) -> str:
        """Return "best", "as good" as the best, or nothing."""
        one, best = self.judged[name], self.judged[self.best]
        if name == self.best:
            return "best"
        above = self.order[self.order.index(name) - 1]
        if one.of_single_rows or not isfinite(one.mean(self.score)) or not self.verdict(above):
            return ""
        for score in {self.score: None, BOUNDED if BOUNDED in self.known else ABSOLUTE: None}:
            sign = -1 if self.known[score].more_is_better else 1
            mine, others = sign * one.scores(score), sign * best.scores(score)
            gap, worse = compare_scores(mine, others, one.test_share, LEVEL), mine > others
            often = gap.sign_p_value <= 1 - LEVEL and worse.mean() > 0.5
            always = worse.all() and self.has_heavy_tails(name, score)
            if gap.low > 0 or often or always:
                return ""
        return AS_GOOD

    def has_heavy_tails(self, name: str, score: str | None = None) -> bool:
        """Return whether a few rows make most of a loss: folds vary by more than its mean."""
        one, score = self.judged[name], score or self.score
        if one.of_single_rows or self.known[score].more_is_better:
            return False
        folds = one.scores(score)
        return bool(isfinite(folds.sum()) and folds.std(ddof=1) > folds.mean())

    def is_fitted_to(self, name: str, label: Any) -> bool:
        """Return whether models that hold a label impossible had rows of it in training data."""
        one = self.judged[name]
        rows = [fold.confusion.value[fold.classes.index(label)].sum() for fold in one.folds]
        lost = [fold.infinite_rows.get(label, 0.0) for fold in one.folds]
        if one.of_single_rows:
            return bool(rows[0] > 1)
        return any(mine > 0 and own < sum(rows) for mine, own in zip(lost, rows, strict=True))

    def table(self) -> Table:
        """Return the scores of the models, the best first."""
        names = [
            n
            for n in SHOWN
            if any(n in m.names and isfinite(m.mean(n)) for m in self.judged.values())
        ]
        names = [self.score, *(name for name in names if name != self.score)]
        differ = len({self.rows(name) for name in self.order}) > 1
        rows = []
        for name in self.order:
            one = self.judged[name]
            cells = [one.in_print(score) for score in names]
            cells += [amount(self.rows(name))] if differ else []
            rows.append([name, *cells, f"{one.seconds:.2g}", self.verdict(name)])
        header = ["model", *names, *["rows"] * differ, "seconds", ""]
        return Table("", header, rows, list(self._notes(names, differ)), (0, len(header) - 1))

    def _notes(self, shown: Sequence[str], differ: bool) -> Iterator[str]:
        rows = rows_in_print(self.rows(self.best))
        if self.folds == 1:
            yield f"{rows}, each left out of the fit that predicts it"
        else:
            yield f"{rows} in {self.folds} folds; mean ± standard error"
        for name, error in self.found.items():
            if isinstance(error, Exception):
                yield f"{name}: not fitted; {error}"
        if differ:
            yield "Models that need every cell are evaluated on fewer rows: compare with care."
        if self.score != self.first_choice:
            asked = self.first_choice
            yield f"Ranked by {self.score}, as no model has a finite {asked} in all folds."
        yield from self._infinite()
        if any(self.verdict(name) == AS_GOOD for name in self.order):
            also = BOUNDED if BOUNDED in shown else ABSOLUTE
            nor = "" if also == self.score else f", and its {also} passes the same"
            yield (
                f"{AS_GOOD}: its {self.score} cannot be told from that of the best "
                f"({LEVEL:.0%} interval of the difference, corrected for folds that overlap, and "
                f"sign test of the folds){nor}."
            )
        heavy = [
            f"{name} ({folds.min():,.2g} to {folds.max():,.2g} by fold)"
            for name in filter(self.has_heavy_tails, self.order)
            for folds in [self.judged[name].scores(self.score)]
            if self.score != LOG_LOSS or folds.max() >= NEGLIGIBLE
        ]
        if heavy:
            yield f"A few rows make most of the {self.score} of {', '.join(heavy)}."

    def _infinite(self) -> Iterator[str]:
        causes: dict[str, list[str]] = {}
        for name in self.order:
            if rows := self.judged[name].infinite_rows:
                new = not any(self.is_fitted_to(name, label) for label in rows)
                why = ", which is not in the training data of their folds" if new else ""
                causes.setdefault(f"{rows_of_classes(rows)}{why}", []).append(name)
        for cause, names in causes.items():
            whose = "" if len(names) == len(self.judged) else f" of {', '.join(names)}"
            yield f"The log loss{whose} is ∞ by {cause}."
