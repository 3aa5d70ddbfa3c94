"""Rows that are evaluated: what a model says of them is held against their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.errors import DataError, warn
from suffice.models.base.answers import expected_costs
from suffice.models.base.evaluation import Evaluation
from suffice.numerics import kernels
from suffice.numerics.elementary import exp, log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.logspace import log_normalise, row_sums
from suffice.phrases import rows_of_classes
from suffice.sums.batch import Batch, scored_rows
from suffice.sums.ranking import RankingAccumulator
from suffice.sums.vocabulary import Value, Vocabulary, check_one_type

RANKED = 20  # classes, each of which is ranked against all others
BINS = 10  # of equal width, in which probabilities are held against frequencies
UNKNOWN = -2  # the code of a label that is none of the classes of a model
MOST_UNKNOWN = 100  # labels of a batch: more are the values of another column


class Classifies(Protocol):
    """A model of the joint distribution of rows and classes, whose predictions are judged."""

    @property
    def layout(self) -> Layout: ...

    @property
    def classes(self) -> Vocabulary:
        """The k labels."""
        ...

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """log P(c), (k,)."""
        ...

    def log_joint(self, batch: Batch) -> NDArray[np.float64]:
        """log P(x, c), (n, k), up to a constant of each row."""
        ...


def evaluation(
    part: Part,
    model: Classifies,
    costs: NDArray[np.float64] | None = None,
    ranked: bool = False,
) -> Evaluation:
    """Kernel of an evaluation.

    A label that is none of the classes joins them: its probability is 0, so its rows are errors of
    infinite log loss. They are ranked among the others of each class, where there are more than
    two, and not ranked between two.

    Parameters
    ----------
    part : Part
    model : Classifies
    costs : ndarray (k, k), optional
        The label predicted is the one with the least expected cost; by default the most probable.
    ranked : bool
        Whether rows are ranked by their log-odds.
    """
    k = len(model.classes)
    ranks = 0 if k < 2 or k > RANKED or not ranked else 1 if k == 2 else k
    sums, before = _Sums(model.classes), list[Evaluation]()  # of more classes, and of fewer
    rankings = [RankingAccumulator() for _ in range(ranks)]
    impossible = unlabelled = 0

    def add(batch: Batch) -> tuple[int, int]:
        nonlocal sums
        codes = label_codes(batch, model.classes)
        log_joint = model.log_joint(batch)
        log_posterior, without = log_normalise(log_joint, model.log_prior)
        posterior = exp(log_posterior)
        if costs is None:
            predicted = log_posterior.argmax(axis=1)
        else:
            predicted = expected_costs(posterior, costs).argmin(axis=1)
        weights = batch.weights if batch.weights.size else np.ones(batch.rows)
        ranked = np.flatnonzero((codes >= 0 if k == 2 else codes != -1) & (weights > 0))
        odds = _log_odds(log_posterior[ranked], posterior[ranked], ranks)
        for ranking, (c, of_class) in zip(rankings, odds, strict=True):
            ranking.add(of_class, codes[ranked] == c, weights[ranked])

        strange = np.unique(batch.codes[(codes == UNKNOWN) & (weights > 0)])
        if len(strange) > MOST_UNKNOWN:
            raise unknown_label(batch.classes.values[strange[0]], model.classes)
        classes = sums.classes | batch.classes.take(strange)
        if len(classes) > len(sums.classes):
            before[:] = [sum(before, start=sums.evaluation())]
            sums = _Sums(classes)
        if len(classes) > k:
            codes = label_codes(batch, classes)
            logs = (among_all(one, model.classes, classes) for one in (log_joint, log_posterior))
            log_joint, log_posterior = logs
            posterior = exp(log_posterior)
            predicted = classes.index(model.classes.values, -1)[predicted]
        rows = np.flatnonzero((codes >= 0) & (weights > 0))
        place = rows, codes[rows]
        losses = -log_posterior[place], log_joint[place]
        sums.add(posterior[rows], predicted[rows], weights[rows], place[1], *losses)
        return without, int((codes == -1).sum())

    for without, unknown in each_batch(part, model.layout, add, scored_rows(k)):
        impossible += without
        unlabelled += unknown
    return replace(
        sum(before, start=sums.evaluation()),
        impossible=impossible,
        unlabelled=unlabelled,
        rankings=tuple(rows.ranking() for rows in rankings),
        known=model.classes.values,
        costs=costs,
    )


class _Sums:
    """The sums of an evaluation over k classes."""

    def __init__(self, classes: Vocabulary) -> None:
        k = len(classes)
        self.classes = classes
        self._sums, self._confusion = DoubleDouble.zeros((1, 5)), np.zeros((k, 2, k))
        self._every_class = np.zeros(1, np.int64), np.array([k]), np.array([0, k])
        self._reliability, self._infinite = (DoubleDouble.zeros(s) for s in ((BINS, 3), (k, 1)))

    def add(
        self,
        posterior: NDArray[np.float64],
        predicted: NDArray[np.intp],
        weights: NDArray[np.float64],
        codes: NDArray[np.intp],
        loss: NDArray[np.float64],
        fit: NDArray[np.float64],
    ) -> None:
        """Add rows with P(c | x) (n, k), predictions, weights and labels.

        ``loss`` and ``fit`` are −log P(y | x) and log P(x, y), (n,).
        """
        place, truth = np.arange(len(codes)), np.zeros_like(posterior)
        truth[place, codes] = 1
        brier = row_sums((posterior - truth) ** 2)
        kernels.counts.add_weighted_codes(
            predicted[:, None], *self._every_class, codes, weights, self._confusion
        )
        lost, unlikely = np.isinf(loss), np.isinf(fit)
        finite = np.where(lost, 0.0, loss), brier, np.where(unlikely, 0.0, fit)
        losses = np.stack([*finite, lost, unlikely], axis=1)
        p = posterior[place, predicted]
        found = np.stack([np.ones(len(codes)), p, predicted == codes], axis=1)
        bins = np.minimum(p * BINS, BINS - 1).astype(np.intp)
        for values, group, sums in (
            (found, bins, self._reliability),
            (losses, np.zeros(len(codes), np.intp), self._sums),
            (lost[:, None].astype(np.float64), codes, self._infinite),
        ):
            kernels.counts.add_events(values, group, weights, sums.hi, sums.lo)

    def evaluation(self) -> Evaluation:
        """The evaluation of the rows so far, without rankings; no more may be added."""
        total = DoubleDouble.from_sums(self._sums.hi, self._sums.lo)[0]
        return Evaluation(
            self.classes.values,
            DoubleDouble.from_table(self._confusion),
            total[0],
            total[1],
            total[2],
            total[3:],
            DoubleDouble.from_sums(self._reliability.hi, self._reliability.lo),
            DoubleDouble.from_sums(self._infinite.hi, self._infinite.lo)[:, 0],
        )


def _log_odds(
    log_posterior: NDArray[np.float64], posterior: NDArray[np.float64], classes: int
) -> Iterator[tuple[int, NDArray[np.float64]]]:
    """Yield the code and log P(c | x) − log P(not c | x), (n,), of every class that is ranked."""
    if classes == 1:
        yield 1, log_posterior[:, 1] - log_posterior[:, 0]
        return
    for c in range(classes):
        others = row_sums(np.delete(posterior, c, axis=1))
        yield c, log_posterior[:, c] - log(others)


def among_all(
    logs: NDArray[np.float64], classes: Vocabulary, every: Vocabulary
) -> NDArray[np.float64]:
    """Columns (..., k) of some classes among those of all, where the others are impossible."""
    whole = np.full((*logs.shape[:-1], len(every)), -np.inf)
    whole[..., every.index(classes.values, -1)] = logs
    return whole


def label_codes(batch: Batch, classes: Vocabulary) -> NDArray[np.intp]:
    """Codes of the true labels among the classes; −1 without a label, −2 for one of no class."""
    check_one_type(classes, batch.classes, "the labels learnt", "those of this table")
    if batch.classes == classes:
        return batch.codes
    place = classes.index(batch.classes.values, UNKNOWN)
    return np.asarray(np.append(place, -1)[batch.codes])


def known_codes(batch: Batch, model: Classifies) -> NDArray[np.intp]:
    """Codes of the true labels among the classes of the model; −1 where there is none."""
    codes = label_codes(batch, model.classes)
    strangers = np.flatnonzero(codes == UNKNOWN)
    if len(strangers):
        raise unknown_label(batch.classes.values[batch.codes[strangers[0]]], model.classes)
    return codes


def require_known(labels: Vocabulary, classes: Vocabulary) -> None:
    """Refuse labels of rows that are not among the classes of a model."""
    check_one_type(classes, labels, "the labels learnt", "those of this table")
    for label in labels.values:
        if label not in classes.codes:
            raise unknown_label(label, classes)


def unknown_label(label: Value, classes: Vocabulary) -> DataError:
    """The error of a label that is none of the classes."""
    return DataError(
        f"the label {label!r} was never seen in training",
        f"the model knows {', '.join(map(repr, classes.values[:10]))}",
        "clean the labels, or learn the new class first",
    )


def tell_of_unknown(classes: Vocabulary, found: Iterable[Evaluation]) -> None:
    """Warn of rows with an unknown label."""
    rows: dict[Value, float] = {}
    for one in found:
        for label, weight in zip(one.classes, one.confusion.value.sum(axis=1), strict=True):
            rows[label] = rows.get(label, 0.0) + float(weight)
    others = {label: weight for label, weight in rows.items() if label not in classes.codes}
    if not others:
        return
    if sum(others.values()) == sum(rows.values()):
        raise unknown_label(next(iter(others)), classes)
    warn(
        f"{rows_of_classes(others)}, which the model has not learnt: counted as errors, and the "
        "log loss is infinite."
    )
