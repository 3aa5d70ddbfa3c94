"""Models ranked by their scores on held-out rows, and which of them are as good as the best."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import floor, isfinite, log10
from typing import Any

from suffice.model_selection.evaluated_folds import FoldEvaluations
from suffice.model_selection.paired_scores import ScoreDifference, compare_scores
from suffice.model_selection.scores import OF_ONE_CLASS, named_score, scores_of
from suffice.numerics.in_print import Printed, Table
from suffice.phrases import amount, rows_of_classes

SHOWN = ("log loss", "error rate", "ROC area", *OF_ONE_CLASS, "RMSE", "MAE", "R²")
LEVEL = 0.95
BOUNDED, ABSOLUTE = "error rate", "MAE"
AS_GOOD = "as good"


@dataclass(frozen=True, repr=False)
class RankedModels(Printed):
    """The evaluations of several models on the same folds, ranked by the mean of a score.

    A model is as good as the best if 0 is in the interval of the differences of their scores,
    corrected for folds that overlap, and a sign test of the folds does not tell the two apart. A
    loss has no bound, so a few rows can make any interval as wide as one likes: the error rate of
    classes, and the mean absolute error of numbers, has to pass as well.

    Parameters
    ----------
    found : mapping of str to FoldEvaluations or Exception
        What `evaluate_models` returns.
    asked : str, optional
        The score, however it is spelt; by default the log loss, or RMSE.
    positive : label, optional
        A class whose precision, recall and F1 are scores, too.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> import suffice
    >>> from suffice.model_selection import evaluate_models
    >>> models = {"lda": suffice.LinearDiscriminantAnalysis(), "nb": suffice.NaiveBayes()}
    >>> ranked = RankedModels(evaluate_models(models, *load_iris(return_X_y=True), cv=10))
    >>> ranked.best, ranked.score, ranked.verdict("nb")
    ('lda', 'log loss', '')
    """

    found: Mapping[str, FoldEvaluations | Exception]
    asked: str | None = None
    positive: Any = None

    def __post_init__(self) -> None:
        if not self.judged:
            raise next(error for error in self.found.values() if isinstance(error, Exception))
        self.first_choice  # noqa: B018, which refuses unknown scores

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
        if one.of_single_rows or not isfinite(one.mean(self.score)):
            return ""
        for score in {self.score: None, BOUNDED if BOUNDED in self.known else ABSOLUTE: None}:
            sign = -1 if self.known[score].more_is_better else 1
            mine, others = sign * one.scores(score), sign * best.scores(score)
            gap = compare_scores(mine, others, one.test_share, LEVEL)
            often = gap.sign_p_value <= 1 - LEVEL and (mine > others).mean() > 0.5
            if (
                gap.low > 0
                or often
                or ((mine > others).all() and self.has_heavy_tails(name, score))
            ):
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
            cells = [self.in_print(name, score) for score in names]
            cells += [amount(self.rows(name))] if differ else []
            rows.append([name, *cells, f"{one.seconds:.2g}", self.verdict(name)])
        header = ["model", *names, *["rows"] * differ, "seconds", ""]
        return Table("", header, rows, list(self._notes(names, differ)), (0, len(header) - 1))

    def in_print(self, name: str, score: str) -> str:
        """Return the mean of a score with the digits that its error leaves."""
        one = self.judged[name]
        if score not in one.names:
            return "-"
        factor, unit, most = (100, " %", 2) if score == BOUNDED else (1, "", 3)
        mean = factor * one.mean(score)
        if one.of_single_rows:
            return f"{mean:,.{most}f}{unit}".replace("inf", "∞")
        error = factor * one.standard_error(score)
        if not (isfinite(mean) and isfinite(error)):
            return f"{mean:.4g}{unit}".replace("inf", "∞")
        places = most if error == 0 else min(max(0, 1 - floor(log10(error))), most)
        return f"{mean:,.{places}f} ± {error:,.{places}f}{unit}"

    def _notes(self, shown: Sequence[str], differ: bool) -> Iterator[str]:
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
        for name in filter(self.has_heavy_tails, self.order):
            folds = self.judged[name].scores(self.score)
            yield (
                f"{name}: heavy tails; a few rows make most of its {self.score}, which is "
                f"{folds.min():,.4g} in one fold and {folds.max():,.4g} in another."
            )

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
