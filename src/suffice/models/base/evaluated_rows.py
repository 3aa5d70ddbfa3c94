"""Rows that are evaluated: what a model says of them is held against their labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split, each_batch
from suffice.errors import DataError
from suffice.models.base.checks import check_one_type
from suffice.models.base.costs import expected_costs
from suffice.models.base.evaluation import Evaluation
from suffice.numerics import kernels
from suffice.numerics.elementary import exp, log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.logspace import log_normalise, row_sums
from suffice.statistics.batch import Batch, scored_rows
from suffice.statistics.pass_memory import NUMBER, PassMemory, PassRows
from suffice.statistics.ranking_accumulator import RankingAccumulator, ranking_memory
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Classifies", "evaluation", "evaluation_memory", "known_codes", "require_known"]

AT_ONCE = 6  # arrays of scores of a batch that are there together
RANKED = 20  # classes, each of which is ranked against all others
BINS = 10  # of equal width, in which probabilities are held against frequencies


class Classifies(Protocol):
    """A model of the joint distribution of rows and classes, whose predictions are judged."""

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        ...

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
    split: Split,
    model: Classifies,
    costs: NDArray[np.float64] | None = None,
    ranked: bool = False,
) -> Evaluation:
    """Kernel of an evaluation.

    Parameters
    ----------
    split : Split
    model : Classifies
    costs : ndarray (k, k), optional
        The label predicted is the one with the least expected cost; by default the most probable.
    ranked : bool
        Whether rows are ranked by their log-odds.

    Raises
    ------
    DataError
        If a label was never seen in training, or is of another type than those.
    """
    k = len(model.classes)
    sums, confusion = DoubleDouble.zeros((1, 5)), np.zeros((k, 2, k))
    every_class = np.zeros(1, np.int64), np.array([k]), np.array([0, k])  # low, size, offsets
    reliability = DoubleDouble.zeros((BINS, 3))
    rankings = [RankingAccumulator() for _ in range(_ranked_classes(k) if ranked else 0)]
    impossible = unlabelled = 0

    def add(batch: Batch) -> tuple[int, int]:
        codes = known_codes(batch, model)
        log_joint = model.log_joint(batch)
        log_posterior, without = log_normalise(log_joint, model.log_prior)
        weights = batch.weights if batch.weights.size else np.ones(batch.rows)
        unknown = int((codes < 0).sum())
        rows = np.flatnonzero((codes >= 0) & (weights > 0))
        codes, weights, log_posterior = codes[rows], weights[rows], log_posterior[rows]
        posterior = exp(log_posterior)
        if costs is None:
            predicted = log_posterior.argmax(axis=1)
        else:
            predicted = expected_costs(posterior, costs).argmin(axis=1)
        for i, (c, odds) in enumerate(_log_odds(log_posterior, posterior, len(rankings))):
            rankings[i].add(odds, codes == c, weights)
        kernels.counts.add_weighted_codes(
            predicted[:, None], *every_class, codes, weights, confusion
        )
        truth = np.zeros((len(rows), k))
        truth[np.arange(len(rows)), codes] = 1
        loss, fit = -log_posterior[np.arange(len(rows)), codes], log_joint[rows, codes]
        losses = np.stack(
            [
                np.where(np.isinf(loss), 0.0, loss),
                row_sums((posterior - truth) ** 2),
                np.where(np.isinf(fit), 0.0, fit),
                np.isinf(loss),
                np.isinf(fit),
            ],
            axis=1,
        )
        p = posterior[np.arange(len(rows)), predicted]
        found = np.stack([np.ones(len(rows)), p, predicted == codes], axis=1)
        bins = np.minimum(p * BINS, BINS - 1).astype(np.intp)
        kernels.counts.add_events(found, bins, weights, reliability.hi, reliability.lo)
        kernels.counts.add_events(losses, np.zeros(len(rows), np.intp), weights, sums.hi, sums.lo)
        return without, unknown

    for without, unknown in each_batch(split, model.layout, add, scored_rows(k)):
        impossible += without
        unlabelled += unknown
    total = DoubleDouble.from_sums(sums.hi, sums.lo)[0]
    return Evaluation(
        model.classes.values,
        DoubleDouble.from_table(confusion),
        total[0],
        total[1],
        total[2],
        total[3:],
        DoubleDouble.from_sums(reliability.hi, reliability.lo),
        impossible,
        unlabelled,
        tuple(rows.ranking() for rows in rankings),
    )


def evaluation_memory(k: int, ranked: bool, rows: PassRows) -> PassMemory:
    """What an evaluation takes under k classes beside reading.

    Scores (n, k) are there `AT_ONCE` times while a batch is judged; a table (k, k) is made in pairs
    and kept in pairs.
    """
    scores, table = NUMBER * k * min(rows.batch, scored_rows(k)), 2 * NUMBER * k**2
    ranks = ranking_memory(rows) * (_ranked_classes(k) if ranked else 0)
    return ranks + PassMemory(AT_ONCE * scores + table, table, table)


def _ranked_classes(k: int) -> int:
    """How many classes are ranked: one says all of two."""
    return 0 if k < 2 or k > RANKED else 1 if k == 2 else k


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


def known_codes(batch: Batch, model: Classifies) -> NDArray[np.intp]:
    """Codes of the true labels among the classes of the model; −1 where there is none.

    Raises
    ------
    DataError
        If a label was never seen in training, or is of another type than those.
    """
    check_one_type(model.classes, batch.classes, "the labels learnt", "those of this table")
    place = model.classes.index(batch.classes.values, -2)
    codes = np.append(place, -1)[batch.codes]
    strangers = np.flatnonzero(codes == -2)
    if len(strangers):
        raise _unknown(batch.classes.values[batch.codes[strangers[0]]], model.classes)
    return codes


def require_known(labels: Vocabulary, classes: Vocabulary) -> None:
    """Refuse labels of rows that are not among the classes of a model.

    Raises
    ------
    DataError
        As `known_codes` does.
    """
    check_one_type(classes, labels, "the labels learnt", "those of this table")
    for label in labels.values:
        if label not in classes.codes:
            raise _unknown(label, classes)


def _unknown(label: Any, classes: Vocabulary) -> DataError:
    return DataError(
        f"the label {label!r} was never seen in training",
        f"the model knows {', '.join(map(repr, classes.values[:10]))}",
        "clean the labels, or learn the new class first",
    )
