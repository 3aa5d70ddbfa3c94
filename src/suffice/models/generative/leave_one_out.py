"""Leave-one-out of generative classifiers: class weights less one row, and families without it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.families.family import LearntRows, LeaveOneOut
from suffice.models.generative.model import GenerativeModel
from suffice.numerics.elementary import log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.logspace import scores
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell, in_block
from suffice.sums.by_class import ByClass
from suffice.sums.moments import ABSENT
from suffice.sums.vocabulary import Vocabulary

DOUBTFUL = "without it a sum loses its digits, so leave-one-out has no closed form here"


@dataclass(frozen=True)
class GenerativeLeftOut:
    """For every training row, the model of all others; it is judged like a model.

    ::

        log P(x, c) = log P(c; N without x) + Σ_b log p(x_b | c; sums without x)

    A row that is the only one of its class has a model without this class, to which the class is
    impossible. A row without a label, or of weight 0, is scored by the model of all rows.
    """

    whole: GenerativeModel  # of all rows
    layout: Layout  # how rows are read together with their labels and weights
    families: Sequence[LeaveOneOut]  # one for every block of columns
    prior_of: Callable[[ByClass], NDArray[np.float64]]  # P(c), (k,), from the sums of rows

    @property
    def classes(self) -> Vocabulary:
        return self.whole.classes

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """log P(c) of all rows, (k,)."""
        return self.whole.log_prior

    def log_joint(self, batch: Batch) -> NDArray[np.float64]:
        """log P(x, c) of every row by the model of the others, (n, k)."""
        logs = self._scores(batch)[0]
        doubtful = np.isnan(logs).any(axis=1)
        if doubtful.any():
            raise BadCell(int(doubtful.argmax()), None, "this row", DOUBTFUL)
        return logs

    def answers(self, batch: Batch) -> NDArray[np.float64]:
        """Answer by the class prior where no class is possible; NaN: no closed form."""
        logs, log_prior = self._scores(batch)
        nowhere = logs.max(axis=1) == -np.inf
        logs[nowhere] = log_prior[nowhere]
        return logs

    def _scores(self, batch: Batch) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Log joint and log prior of every row, (n, k) each."""
        codes = batch.learnt(self.classes)
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        rows = LearntRows(codes, np.where(codes >= 0, weights, 0.0))
        log_prior = self._log_priors(rows)
        logs = scores(batch.rows, len(self.classes))
        logs[:] = log_prior
        for b, (family, block) in enumerate(zip(self.families, batch.blocks, strict=True)):
            with in_block(b):
                family.add_log_likelihood(block, rows, logs)
        logs[log_prior == -np.inf] = -np.inf
        return logs, log_prior

    def _log_priors(self, rows: LearntRows) -> NDArray[np.float64]:
        """log P(c) of the other rows, (n, k): found once for rows of like class and weight."""
        weights, of_weight = np.unique(rows.weights, return_inverse=True)
        k = len(self.classes)
        different, place = np.unique(of_weight * (k + 1) + rows.codes + 1, return_inverse=True)
        pairs = zip((different % (k + 1) - 1).tolist(), different // (k + 1), strict=True)
        found = [self._log_prior(c, float(weights[w])) for c, w in pairs]
        return np.array(found).reshape(-1, k)[place]

    def _log_prior(self, c: int, w: float) -> NDArray[np.float64]:
        """log P(c) without a row of weight w of a class, (k,)."""
        if c < 0:
            return self.log_prior
        statistic = self.whole.statistic
        weight = statistic.weight.value.copy()
        weight[c] = weight[c] - w if weight[c] - w > ABSENT * weight[c] else 0.0
        left = replace(statistic, weight=DoubleDouble.of(weight)).pruned()
        prior = np.zeros(len(weight))
        prior[self.classes.index(left.classes.values, -1)] = self.prior_of(left)
        return log(prior)
