"""The models that are candidates, what they cost, and how well each predicts held-out rows."""

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
from suffice.model_selection.evaluated_folds import FoldEvaluations
from suffice.model_selection.folds import EqualRowsTogether, stratified
from suffice.models.estimator import Estimator
from suffice.naive_bayes import NaiveBayes
from suffice.naive_bayes.aode import AODE
from suffice.numerics.elementary import log_of
from suffice.numerics.in_print import Printed, Table, percent

FOLDS = 10, 5, 3  # the most for which there is time
SECONDS = 10.0  # for all fits, of a table of CELLS or fewer
CELLS = 100_000
ENOUGH_TESTED = 6_000  # rows: then no further fold is begun; log losses to about 0.01 nats
MOST_TESTED = 20_000  # of a fold
MOST_LEARNT = 200_000  # of a fold
LEAST_ANSWERED = 0.9  # of the rows: else log losses are not of the same rows
IMPOSSIBLE = -log_of(1e-15)  # nats that a row counts at most, as in scikit-learn


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
"""By the names that the command line has for them; a new one is a line here, and one of `COSTS`."""


@dataclass(frozen=True)
class Size:
    """What the time of a fit depends on.

    Parameters
    ----------
    rows, numbers, categories, classes : int
        Rows, columns of numbers and of categories, and classes.
    levels : int
        Categories of all columns together.
    """

    rows: int
    numbers: int
    categories: int
    levels: int
    classes: int

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.numbers + self.categories

    @property
    def terms(self) -> int:
        """Number of terms of a linear model."""
        return self.numbers + self.levels

    @property
    def pass_over_rows(self) -> float:
        """Seconds in which every cell is read once."""
        return 2e-7 * min(self.rows, MOST_LEARNT) * self.columns


def _naive_bayes_seconds(size: Size) -> float:
    compared = min(size.numbers, 128) + size.numbers / 100  # densities of others are not compared
    return (3e-3 + 1e-3 * size.classes) * compared + 4e-3 * size.categories + size.pass_over_rows


def _aode_seconds(size: Size) -> float:
    pairs = min(size.rows, 4_096) * min(size.columns, 100) ** 2
    bins = 2e-3 * size.numbers + size.pass_over_rows
    return 1.2 * _naive_bayes_seconds(size) + bins + 5e-8 * size.classes * pairs


def _logistic_seconds(size: Size) -> float:
    free = min(size.terms, size.rows) * (size.classes - 1)
    return 1e-2 + (3e-4 + 3e-7 * min(size.rows, MOST_LEARNT)) * free


def _bins_seconds(size: Size) -> float:
    by_column = (3e-3 + 1e-6 * size.columns) * size.columns
    by_bin = 7e-6 * (10 * size.numbers + 3 * size.levels) * size.classes
    return by_column + by_bin + 2 * size.pass_over_rows


def _linear_seconds(size: Size) -> float:
    return 5e-3 + 4e-4 * size.levels + 1e-5 * size.numbers + size.pass_over_rows


def _quadratic_seconds(size: Size) -> float:
    covariances = size.classes * min(size.terms, size.rows) ** 2
    return 1e-2 + 2e-6 * covariances + size.pass_over_rows


COSTS: Mapping[str, Callable[[Size], float]] = {
    "naive-bayes": _naive_bayes_seconds,
    "aode": _aode_seconds,
    "logistic": _logistic_seconds,
    "logistic-bins": _bins_seconds,
    "lda": _linear_seconds,
    "qda": _quadratic_seconds,
    "qda-light": _quadratic_seconds,
}
"""Seconds of a fit, as measured on one core of a server, to a factor of two."""


WORTH: Mapping[str, float] = {
    "naive-bayes": 3.0,
    "aode": 4.0,
    "logistic": 2.0,
    "logistic-bins": 2.0,
    "lda": 2.0,
    "qda": 1.0,
    "qda-light": 1.0,
}
"""What the mean loses without a candidate, roughly; the dearest for its worth is dropped first."""


def seconds(name: str, size: Size) -> float:
    """Return what a fit is foreseen to take; nothing depends on a clock."""
    return COSTS[name](size)


def planned(names: Sequence[str], size: Size, best: int) -> tuple[list[str], int]:
    """Return the candidates that are judged, and the number of folds.

    All fits together may take 10 s, or 100 µs a cell where that is more. There are 10 folds, or 5,
    or 3; while 3 folds of all take longer, the one that is dearest for its worth is
    dropped.

    Parameters
    ----------
    names : sequence of str
    size : Size
        Of the whole table.
    best : int
        Candidates that are fitted to all rows at last.

    Examples
    --------
    >>> planned(list(CANDIDATES), Size(500, 10, 0, 0, 2), 3)[1]
    10
    >>> names, folds = planned(list(CANDIDATES), Size(1000, 100, 0, 0, 30), 3)
    >>> "aode" in names, folds
    (False, 3)
    """
    kept = list(names)
    while not (folds := folds_in_time(kept, size, best)) and len(kept) > 1:
        kept.remove(max(kept, key=lambda name: seconds(name, size) / WORTH[name]))
    return kept, folds or FOLDS[-1]


def folds_in_time(names: Sequence[str], size: Size, best: int) -> int:
    """Return for how many folds there is time; 0 if for none of the numbers."""
    allowed = SECONDS * max(1.0, size.rows * size.columns / CELLS)
    each = sorted(seconds(name, size) for name in names)
    for folds in FOLDS:
        fits = min(folds, -(-folds * ENOUGH_TESTED // max(size.rows, 1)))
        if fits * sum(each) + sum(each[-best:]) <= allowed:
            return folds
    return 0


@dataclass(frozen=True)
class Candidate:
    """What one candidate is worth.

    Parameters
    ----------
    name : str
    log_loss, error : float
        Of held-out rows: mean −log P(y | x) in nats, where a row counts −log 1e-15 at most, and the
        share of wrong labels. NaN where it is left out.
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
        answered = judged.weight / rows if rows else 0.0
        if answered < LEAST_ANSWERED:
            refusal = f"it answers {100 * answered:.0f} % of the rows, as cells are missing"
            return cls(name, np.nan, np.nan, refusal=refusal)
        log_p, weights = np.concatenate(found.label_scores).T
        log_loss = np.average(np.minimum(-log_p, IMPOSSIBLE), weights=weights)
        return cls(name, float(log_loss), judged.error)


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
    """A splitter: stratified folds in random order, of which few are enough of many rows.

    A fold is fitted to at most 200,000 rows, and judged on at most 20,000.

    Parameters
    ----------
    seed : int
        Of the order.
    together : bool
        Whether equal rows are copies, and in one fold.
    folds : int
        Their number, at most.
    """

    def __init__(self, seed: int, together: bool = False, folds: int = FOLDS[0]) -> None:
        self._seed, self._together, self._folds = seed, together, folds

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
        k = max(2, min(self._folds, int(np.bincount(labels).max())))
        of_order = stratified(labels, k)[place]
        for f in range(min(k, -(-k * ENOUGH_TESTED // n))):
            learnt, asked = order[of_order != f][:MOST_LEARNT], order[of_order == f][:MOST_TESTED]
            yield np.sort(learnt), np.sort(asked)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds, at most."""
        return self._folds
