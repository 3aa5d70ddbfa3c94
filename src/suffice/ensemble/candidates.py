"""The models that are candidates, what they cost, and how well each predicts held-out rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.engines.engine import engine_for, map_batches
from suffice.engines.progress import fits_watched
from suffice.errors import DataError, ParameterError, SufficeError
from suffice.families.density import COMPARED, are_compared
from suffice.linear_model import LogisticRegression
from suffice.model_selection.fits import models_of_folds
from suffice.model_selection.folds import Folds, Partition, stratified
from suffice.model_selection.rows import Rows
from suffice.models.classifier import Classifier
from suffice.naive_bayes import NaiveBayes
from suffice.naive_bayes.aode import AODE
from suffice.numerics.elementary import log_of
from suffice.numerics.in_print import Printed, Table, percent
from suffice.sums.batch import Batch

FOLDS = 10, 5, 3  # the most for which there is time
SECONDS, MORE = 2.7, 12.0  # for all fits of a small table, and of others
SMALL = 1_000, 100  # rows and columns
ENOUGH_TESTED = 6_000  # rows: then no further fold is begun; log losses to about 0.01 nats
MOST_TESTED = 20_000  # of a fold
MOST_LEARNT = 200_000  # of a fold
FEW = 2_000  # rows
LEAST_COMPLETE = 0.9  # of the rows: what is fitted to these says little of others
IMPOSSIBLE = -log_of(1e-15)  # nats that a row counts at most, as in scikit-learn


class Roles(NamedTuple):
    """Columns that the user calls categories or texts."""

    categorical: Sequence[str] | None
    text: Sequence[str] | None


def naive_bayes(roles: Roles, kind: Any = NaiveBayes, **options: Any) -> Any:
    """Naive Bayes, or a model like it, with the columns that the user named."""
    families = dict.fromkeys(roles.categorical or (), "categorical")
    families |= dict.fromkeys(roles.text or (), "multinomial")
    return kind(families or None, **options)


def _logistic(roles: Roles, **options: Any) -> LogisticRegression:
    return LogisticRegression(categorical=roles.categorical, text=roles.text, **options)


def _discriminant(roles: Roles, kind: Any, **options: Any) -> Any:
    return kind(categorical=roles.categorical, **options)


@dataclass(frozen=True)
class Size:
    """Rows, columns of numbers and of categories, all their categories, and classes.

    ``gaps`` is the share of the cells of numbers that are missing.
    """

    rows: int
    numbers: int
    categories: int
    levels: int
    classes: int
    gaps: float = 0.0

    @property
    def columns(self) -> int:
        """Number of columns."""
        return self.numbers + self.categories

    @property
    def terms(self) -> int:
        """Number of terms of a linear model."""
        return self.numbers + self.levels

    @property
    def covariances(self) -> int:
        """Number of covariances of the terms, of which each class has its sums."""
        return self.classes * min(self.terms, self.rows) ** 2

    def excludes(self, name: str) -> str | None:
        """Tell why a candidate is not among the best; None where it may be.

        Of categories, indicators are constant in some class; of many rows, others know more. How
        many rows lack no number is foreseen as if gaps were independent of each other.
        """
        if name.startswith("qda") and self.rows > FEW and self.levels > self.numbers:
            return "categories of many rows are no Gaussians"
        if name == "logistic" and (1.0 - self.gaps) ** self.numbers < LEAST_COMPLETE:
            return "too many rows lack a number"
        return None

    @property
    def pass_over_rows(self) -> float:
        """Seconds in which every cell is read once."""
        return 2e-7 * min(self.rows, MOST_LEARNT) * self.columns


def _naive_bayes_seconds(size: Size) -> float:
    is_compared = are_compared(size.rows, size.numbers * size.classes)
    compared = min(size.numbers, COMPARED) if is_compared else 0
    by_number = (1.2e-3 + 8e-4 * size.classes) * (compared + size.numbers / 100)
    fitted = 3e-2 + by_number + 4e-3 * size.categories
    again = 1e-5 * min(size.numbers, COMPARED) ** 2 if size.rows < 11 * size.columns else 0.0
    return fitted + again + size.pass_over_rows


def _aode_seconds(size: Size) -> float:
    pairs = min(size.rows, 4_096) * min(size.columns, 100) ** 2
    bins = 2e-3 * size.numbers + size.pass_over_rows
    return 1.2 * _naive_bayes_seconds(size) + bins + 5e-8 * size.classes * pairs


def _logistic_seconds(size: Size) -> float:
    free = min(size.terms, size.rows) * (size.classes - 1)
    return 1e-2 + (2.5e-4 + 3e-7 * min(size.rows, MOST_LEARNT)) * free


def _bins_seconds(size: Size) -> float:
    by_column = (3e-3 + 1e-6 * size.columns) * size.columns
    by_bin = 7e-6 * (10 * size.numbers + 3 * size.levels) * size.classes
    return by_column + by_bin + 2 * size.pass_over_rows


def _linear_seconds(size: Size) -> float:
    by_column = 5e-4 * size.levels + 1e-5 * size.numbers
    summed = by_column + 4e-8 * size.covariances + size.pass_over_rows
    steps = 30 if size.rows >= 4 * size.terms else 100
    return 1e-2 + summed + _missing_seconds(size, 1, steps)


def _quadratic_seconds(size: Size) -> float:
    summed = 2e-6 * size.covariances + size.pass_over_rows
    return 2e-2 + summed + _missing_seconds(size, size.classes, 100)


def _missing_seconds(size: Size, covariances: int, steps: int) -> float:
    """Foresee expectation-maximisation over missing cells; beside categories it is one step."""
    if not size.gaps:
        return 0.0
    p = size.terms
    by_row = 1e-10 * min(size.rows, MOST_LEARNT) * size.gaps * size.numbers * p**2
    step = by_row + covariances * (5e-7 * p**2 + 5e-9 * p**3)
    return step if size.categories else steps * step


class Entry(NamedTuple):
    """A model that may be judged.

    Parameters
    ----------
    make : callable
        Returns the estimator, with the columns that the user named.
    seconds : callable
        Foreseen of one fit, as measured on one core of a server, to a factor of two.
    worth : float
        Milli-nats a row that the mean loses without it, roughly.
    """

    make: Callable[[Roles], Any]
    seconds: Callable[[Size], float]
    worth: float


BINS: Mapping[str, Any] = {"C": 3.0, "tol": 1e-3, "numbers": "bins", "incomplete": "indicator"}
QUADRATIC = partial(_discriminant, kind=QuadraticDiscriminantAnalysis)
CANDIDATES: Mapping[str, Entry] = {
    "naive-bayes": Entry(naive_bayes, _naive_bayes_seconds, 2.5),
    "aode": Entry(partial(naive_bayes, kind=AODE), _aode_seconds, 6.0),
    "logistic": Entry(
        partial(_logistic, standardize=True, incomplete="drop"), _logistic_seconds, 2.0
    ),
    "logistic-bins": Entry(partial(_logistic, **BINS), _bins_seconds, 2.0),
    "lda": Entry(partial(_discriminant, kind=LinearDiscriminantAnalysis), _linear_seconds, 2.0),
    "qda": Entry(partial(QUADRATIC, shrinkage="auto"), _quadratic_seconds, 1.0),
    "qda-light": Entry(partial(QUADRATIC, shrinkage=0.03), _quadratic_seconds, 0.5),
}
"""By the names that the command line has for them; a new one is a line here."""
STEADY = frozenset(("naive-bayes", "aode", "lda"))  # one of which is judged: few rows suffice
FOLDS_WORTH = {10: 1.2, 5: 0.8, 3: 0.0}


def planned(
    names: Sequence[str] | None, size: Size, best: int, seconds: float | None = None
) -> tuple[list[str], int]:
    """Return the candidates that are judged, and the number of folds: 10, 5 or 3.

    Candidates and folds are those that are worth the most, together, among those whose fits are
    foreseen to take ``seconds``, by default 2.7, or 12 of more than 1,000 rows or 100 columns;
    ``best`` candidates are fitted to all rows at last. Quadratic discriminant analysis is left out
    of more than 2,000 rows with more categories than numbers, and what is fitted to complete rows
    where too few are. One of naive Bayes, AODE and LDA is among them if there is time for it.
    None of given names is dropped.

    Examples
    --------
    >>> planned(None, Size(300, 5, 0, 0, 2), 3)[1]
    10
    >>> names, folds = planned(None, Size(1000, 100, 0, 0, 30), 3)
    >>> "aode" in names, folds
    (False, 10)
    >>> sorted(planned(None, Size(30_000, 6, 8, 99, 2), 3)[0])
    ['aode', 'lda', 'logistic', 'logistic-bins']
    """
    if seconds is None:
        seconds = SECONDS if size.rows <= SMALL[0] and size.columns <= SMALL[1] else MORE
    if names is not None:
        return list(names), _folds_in_time(names, size, best, seconds) or FOLDS[-1]
    paying = [name for name in CANDIDATES if size.excludes(name) is None]
    subsets = chain.from_iterable(combinations(paying, m) for m in range(len(paying), 0, -1))
    in_time = {
        kept: folds for kept in subsets if (folds := _folds_in_time(kept, size, best, seconds))
    }
    if not in_time:
        return [min(CANDIDATES, key=lambda name: CANDIDATES[name].seconds(size))], FOLDS[-1]
    steady = {kept: folds for kept, folds in in_time.items() if not STEADY.isdisjoint(kept)}
    kept, folds = max((steady or in_time).items(), key=lambda plan: _worth(*plan))
    return list(kept), folds


def left_out(name: str, names: Sequence[str], folds: int, size: Size) -> ParameterError:
    """Say why a candidate is none of those that are judged."""
    rule = "it is judged where candidates= names it"
    if fact := size.excludes(name):
        return ParameterError(fact, rule)
    if name == "naive-bayes" and "aode" in names:
        return ParameterError("it is part of aode", rule)
    seconds = folds * CANDIDATES[name].seconds(size)
    fact = f"{folds} folds of it would take about {seconds:.2g} s"
    return ParameterError(fact, f"{rule}, or seconds= is larger")


def _worth(names: Sequence[str], folds: int) -> float:
    """Return what candidates are worth; AODE has naive Bayes in it, and not beside it."""
    if "aode" in names and "naive-bayes" in names:
        return 0.0
    return sum(CANDIDATES[name].worth for name in names) + FOLDS_WORTH[folds]


def _folds_in_time(names: Sequence[str], size: Size, best: int, seconds: float) -> int:
    """Return for how many folds there is time; 0 if for none of the numbers.

    Of so many rows that one fold of five is enough there are no ten, of which two are judged.
    """
    each = sorted(CANDIDATES[name].seconds(size) for name in names)
    for folds in FOLDS:
        fits = min(folds, -(-folds * ENOUGH_TESTED // max(size.rows, 1)))
        enough = size.rows >= FOLDS[1] * ENOUGH_TESTED and fits > 1
        if not enough and fits * sum(each) + sum(each[-best:]) <= seconds:
            return folds
    return 0


def dealt(
    codes: NDArray[np.intp], seed: int, folds: int, hashes: NDArray[np.uint64] | None = None
) -> Folds:
    """Divide rows into stratified folds in random order, of which few are enough of many rows.

    A fold is fitted to at most 200,000 rows, and judged on at most 20,000. Rows of code −1 are in
    no fold; rows of one hash are copies, and in one fold.
    """
    known = np.flatnonzero(codes >= 0)
    n = len(known)
    if not n:
        raise DataError("no row has a label", "folds are made of rows with labels")
    order = known[np.random.default_rng(seed).permutation(n)]
    first = place = np.arange(n)
    if hashes is not None:
        _, start, place = np.unique(hashes[order], return_index=True, return_inverse=True)
        first = np.sort(start)
        place = np.searchsorted(first, start)[place]
    labels = codes[order][first]
    k = max(2, min(folds, int(np.bincount(labels).max())))
    fold = stratified(labels, k)[place]
    return [
        (np.sort(order[fold != f][:MOST_LEARNT]), np.sort(order[fold == f][:MOST_TESTED]))
        for f in range(min(k, -(-k * ENOUGH_TESTED // n)))
    ]


@dataclass(frozen=True)
class HeldOut:
    """Predictions for n held-out rows: log P(y | x), weights, and which are correct.

    A log-probability is −log 1e-15 at least.
    """

    log_p: NDArray[np.float64]
    weights: NDArray[np.float64]
    right: NDArray[np.bool_]

    @classmethod
    def of(cls, models: Sequence[Classifier], tests: Sequence[tuple[Any, Any, Any]]) -> HeldOut:
        """Ask the model of every fold about the rows outside it."""
        found = list[NDArray[np.float64]]()
        for model, test in zip(models, tests, strict=True):
            source, said = model._open_judged(*test), partial(_said, model.model_)
            found += map_batches(engine_for(source), said, source, model.reader_.to_answer)
        log_p, weights, right = np.concatenate(found, axis=1)
        return cls(np.maximum(log_p, -IMPOSSIBLE), weights, right > 0)


def _said(model: Any, batch: Batch) -> NDArray[np.float64]:
    """Return log P(y | x), ω, and 1 where y is the most probable label, (3, n).

    A class that the model does not know has −∞. Missing cells say nothing.
    """
    logs, codes = model.partial_log_posterior(batch), batch.learnt(model.classes)
    own = np.where(codes >= 0, logs[np.arange(batch.rows), codes], -np.inf)
    weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
    found = np.stack([own, weights, logs.argmax(axis=1) == codes])
    return np.asarray(found[:, batch.codes >= 0])


def held_out(
    learners: Mapping[str, Classifier],
    rows: Rows,
    hashes: NDArray[np.uint64] | None,
    folds: int,
    seed: int,
) -> dict[str, HeldOut | SufficeError]:
    """Return predictions of held-out rows by every candidate, or why there are none."""
    assert rows.codes is not None  # those of a classifier
    pairs = dealt(rows.codes, seed, folds, hashes)
    tests = [rows.at(test) for _, test in pairs]
    divided = Partition.found_in(pairs, rows.n) or pairs
    with fits_watched(len(learners) * len(pairs)) as done:
        fits = models_of_folds(list(learners.values()), rows, divided, done)
    found: dict[str, HeldOut | SufficeError] = {}
    for name, fit in zip(learners, fits, strict=True):
        try:
            found[name] = fit.error or HeldOut.of(fit.models, tests)
        except (DataError, ParameterError) as error:
            found[name] = error
    return found


@dataclass(frozen=True)
class Candidate:
    """A candidate, and how well it predicts held-out rows.

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
    def of(cls, name: str, found: HeldOut | SufficeError) -> Candidate:
        """Judge the predictions for held-out rows."""
        if isinstance(found, SufficeError):  # its next step is for who wants this model alone
            refusal = "; ".join(filter(None, (found.fact, found.rule)))
            return cls(name, np.nan, np.nan, refusal=refusal)
        log_loss = np.average(-found.log_p, weights=found.weights)
        return cls(name, float(log_loss), float(np.average(~found.right, weights=found.weights)))


class Candidates(Printed, tuple[Candidate, ...]):
    """All candidates, the best first."""

    @property
    def best(self) -> Candidate:
        """The single model of least log loss."""
        return self[0]

    def table(self) -> Table:
        """Return the candidates as a table, and why others are left out."""
        judged = [one for one in self if one.refusal is None]
        rows = [
            [
                one.name,
                f"{one.log_loss:.4f}",
                percent(one.error),
                percent(one.weight) if one.weight else "-",
            ]
            for one in judged
        ]
        header = ["model", "log loss", "error", "share of the answer"]
        losses = [one.log_loss for one in judged]
        left_out = [f"{one.name} is left out: {one.refusal}" for one in self if one.refusal]
        return Table("", header, rows, [*self._choice(), *left_out], bars=losses)

    def _choice(self) -> Iterator[str]:
        """Yield what was judged, how the best single model is taken, and what has no sums."""
        yield "Judged on held-out rows; log loss in nats a row."
        members = [one.name for one in self if one.weight]
        name = self.best.name
        if members == [name]:
            return
        way = f"candidates=['{name}'] fits it alone, as -p candidates={name} does"
        if name in members:
            way += f"; members_[{members.index(name)}] is it"
        yield f"The best single model is {name}, log loss {self.best.log_loss:.4f}: {way}."
        if passes := [one for one in members if one.startswith("logistic")]:
            verb = "has" if len(passes) == 1 else "have"
            yield (
                f"{' and '.join(passes)} {verb} no sums: the average is fitted again to all rows, "
                "and not updated, merged or forgotten from."
            )
