"""Rows that are evaluated: what a model says of them is held against their labels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Protocol

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
from suffice.numerics.in_print import listed
from suffice.numerics.logspace import log_normalise, row_sums
from suffice.phrases import rows_of_classes
from suffice.sums.base import tree_sum
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
    rankings = [RankingAccumulator() for _ in range(ranks)]

    def of_batch(batch: Batch) -> Evaluation:
        codes = label_codes(batch, model.classes)
        log_joint = model.log_joint(batch)
        log_posterior, impossible = log_normalise(log_joint, model.log_prior)
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

        classes, strange = model.classes, np.unique(batch.codes[(codes == UNKNOWN) & (weights > 0)])
        if len(strange) > MOST_UNKNOWN:
            raise unknown_label(batch.classes.values[strange[0]], classes)
        if len(strange):
            classes = classes | batch.classes.take(strange)
            codes = label_codes(batch, classes)
            logs = (among_all(one, model.classes, classes) for one in (log_joint, log_posterior))
            log_joint, log_posterior = logs
            posterior = exp(log_posterior)
            predicted = classes.index(model.classes.values, -1)[predicted]
        rows = np.flatnonzero((codes >= 0) & (weights > 0))
        labels = codes[rows]
        logs_of_truth = log_posterior[rows, labels], log_joint[rows, labels]
        of_rows = posterior[rows], predicted[rows], labels, weights[rows], *logs_of_truth
        found = _summed(classes, *of_rows)
        return replace(found, impossible=impossible, unlabelled=int((codes == -1).sum()))

    found = tree_sum(each_batch(part, model.layout, of_batch, scored_rows(k)))
    ranked_rows = tuple([rows.ranking() for rows in rankings])
    return replace(found, rankings=ranked_rows, known=model.classes.values, costs=costs)


def _summed(
    classes: Vocabulary,
    posterior: NDArray[np.float64],
    predicted: NDArray[np.intp],
    codes: NDArray[np.intp],
    weights: NDArray[np.float64],
    log_posterior: NDArray[np.float64],
    log_joint: NDArray[np.float64],
) -> Evaluation:
    """Sum rows with P(c | x), (n, k), codes of predictions and labels, and weights, (n,).

    The logarithms are log P(y | x) and log P(x, y), (n,).
    """
    k, place, truth = len(classes), np.arange(len(codes)), np.zeros_like(posterior)
    truth[place, codes] = 1
    brier = row_sums((posterior - truth) ** 2)
    confusion = np.zeros((k, 2, k))
    kernels.counts.add_weighted_codes(
        predicted[:, None],
        np.zeros(1, np.int64),
        np.array([k]),
        np.array([0, k]),
        codes,
        weights,
        confusion,
    )
    lost, unlikely = np.isinf(log_posterior), np.isinf(log_joint)
    finite = np.where(lost, 0.0, -log_posterior), brier, np.where(unlikely, 0.0, log_joint)
    p = posterior[place, predicted]

    def by_place(size: int, places: NDArray[np.intp], *numbers: NDArray[Any]) -> DoubleDouble:
        sums = DoubleDouble.zeros((size, len(numbers)))
        columns = np.stack(numbers, axis=1, dtype=np.float64)
        kernels.counts.add_events(columns, places, weights, sums.hi, sums.lo)
        return DoubleDouble.from_sums(sums.hi, sums.lo)

    total = by_place(1, np.zeros_like(codes), *finite, lost, unlikely)[0]
    bins = np.minimum(p * BINS, BINS - 1).astype(np.intp)
    return Evaluation(
        classes.values,
        DoubleDouble.from_table(confusion),
        *(total[0], total[1], total[2], total[3:]),
        by_place(BINS, bins, np.ones(len(codes)), p, predicted == codes),
        by_place(k, codes, lost)[:, 0],
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
        f"the model knows {listed(map(repr, classes.values))}",
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
