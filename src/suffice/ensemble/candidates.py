"""The models that are candidates, and how well each answers rows that it has not learnt."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import SufficeError
from suffice.linear_model import LogisticRegression
from suffice.model_selection.division import EqualRowsTogether
from suffice.model_selection.evaluated_folds import FoldEvaluations
from suffice.model_selection.stratified import stratified
from suffice.models.estimator import Estimator
from suffice.naive_bayes import NaiveBayes
from suffice.naive_bayes.aode import AODE
from suffice.numerics.elementary import log_of
from suffice.numerics.in_print import Printed, Table, percent

__all__ = ["CANDIDATES", "IMPOSSIBLE", "Candidate", "Candidates", "Folds", "Roles", "naive_bayes"]

FOLDS = 10
ENOUGH_TESTED = 6_000  # rows: then no further fold is begun; log losses to about 0.01 nats
MOST_TESTED = 20_000  # of a fold
MOST_LEARNT = 200_000  # of a fold
LEAST_ANSWERED = 0.9  # of the rows: else log losses are not of the same rows
IMPOSSIBLE = -log_of(1e-15)  # nats of a row whose class was impossible, as in scikit-learn


T = TypeVar("T", bound=Estimator)


@dataclass(frozen=True)
class Roles:
    """What the user says of columns.

    Parameters
    ----------
    categorical, text : sequence of str, optional
        Columns that are categories or texts, whatever their cells suggest.
    """

    categorical: Sequence[str] | None
    text: Sequence[str] | None
    ignore: Sequence[str]

    def told(self, model: T) -> T:
        """Return a candidate that leaves the same columns out."""
        model._ignore = self.ignore
        return model


def naive_bayes(roles: Roles, kind: Any = NaiveBayes, **options: Any) -> Any:
    """Naive Bayes, or a model like it, with the columns that the user named."""
    families = dict.fromkeys(roles.categorical or (), "categorical")
    families |= dict.fromkeys(roles.text or (), "multinomial")
    return roles.told(kind(families or None, **options))


def _logistic(roles: Roles, **options: Any) -> LogisticRegression:
    return roles.told(LogisticRegression(categorical=roles.categorical, text=roles.text, **options))


def _discriminant(roles: Roles, kind: Any, **options: Any) -> Any:
    return roles.told(kind(categorical=roles.categorical, **options))


CANDIDATES: Mapping[str, Callable[[Roles], Any]] = {
    "naive-bayes": naive_bayes,
    "aode": partial(naive_bayes, kind=AODE),
    "logistic": partial(_logistic, standardize=True, incomplete="drop"),
    "logistic-bins": partial(_logistic, C=3.0, tol=1e-3, numbers="bins", incomplete="indicator"),
    "lda": partial(_discriminant, kind=LinearDiscriminantAnalysis),
    "qda": partial(_discriminant, kind=QuadraticDiscriminantAnalysis, shrinkage="auto"),
    "qda-light": partial(_discriminant, kind=QuadraticDiscriminantAnalysis, shrinkage=0.03),
}
"""By the names that the command line has for them; a new one is a line here."""


@dataclass(frozen=True)
class Candidate:
    """What one candidate is worth.

    Parameters
    ----------
    name : str
    log_loss, error : float
        Of rows that it had not learnt: mean −log P(y | x) in nats, where an impossible class
        counts as −log 1e-15, and the share of wrong labels. NaN where it is left out.
    weight : float
        Its share of the answer.
    refusal : str, optional
        Why it is left out: it cannot learn this table.
    """

    name: str
    log_loss: float
    error: float
    weight: float = 0.0
    refusal: str | None = None

    @classmethod
    def of(cls, name: str, found: FoldEvaluations | Exception, rows: float) -> Candidate:
        """Of what its folds showed, or its error; ``rows`` is Σw of those that were asked about."""
        if isinstance(found, SufficeError):  # its next step is for who wants this model alone
            refusal = "; ".join(filter(None, (found.fact, found.rule)))
            return cls(name, np.nan, np.nan, refusal=refusal)
        if isinstance(found, Exception):
            return cls(name, np.nan, np.nan, refusal=str(found))
        judged = found.pooled
        answered = judged.weight / rows
        if answered < LEAST_ANSWERED:
            refusal = f"it answers {100 * answered:.0f} % of the rows, as cells are missing"
            return cls(name, np.nan, np.nan, refusal=refusal)
        finite, infinite = judged.log_loss_sum.value, judged.infinite.value[0]
        log_loss = float((finite + infinite * IMPOSSIBLE) / judged.weight)
        return cls(name, log_loss, judged.error)


class Candidates(Printed, tuple[Candidate, ...]):
    """All candidates, the best first."""

    def table(self) -> Table:
        """Return the candidates as a table, and why others are left out."""
        rows = [
            [
                one.name,
                f"{one.log_loss:.4f}",
                percent(one.error),
                percent(one.weight) if one.weight else "-",
            ]
            for one in self
            if one.refusal is None
        ]
        losses = [one.log_loss for one in self if one.refusal is None]
        reasons = [f"{one.name} is left out: {one.refusal}" for one in self if one.refusal]
        notes = ["Judged on held-out rows; log loss in nats a row.", *reasons]
        header = ["model", "log loss", "error", "share of the answer"]
        return Table("", header, rows, notes, bars=losses)


class Folds(EqualRowsTogether):
    """A splitter: 10 stratified folds in random order, of which few are enough of many rows.

    A fold learns from at most 200,000 rows, and is judged on at most 20,000.

    Parameters
    ----------
    seed : int
        Of the order.
    together : bool
        Whether equal rows are copies, and in one fold.
    """

    def __init__(self, seed: int, together: bool = False) -> None:
        self._seed, self._together = seed, together

    def split(
        self, X: Any, y: NDArray[np.intp], groups: Any = None
    ) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield places of rows to learn from, and to be judged on."""
        n = len(y)
        order = np.random.default_rng(self._seed).permutation(n)
        first = place = np.arange(n)
        if self._together:
            _, start, place = np.unique(groups[order], return_index=True, return_inverse=True)
            first = np.sort(start)
            place = np.searchsorted(first, start)[place]
        labels = y[order][first]
        k = max(2, min(FOLDS, int(np.bincount(labels).max())))
        of_order = stratified(labels, k)[place]
        for f in range(min(k, -(-k * ENOUGH_TESTED // n))):
            learnt, asked = order[of_order != f][:MOST_LEARNT], order[of_order == f][:MOST_TESTED]
            yield np.sort(learnt), np.sort(asked)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """At most 10."""
        return FOLDS
