"""Averaged one-dependence estimators: the mean of models in which all columns depend on one.

::

    P(c, x) = 1/|I| Σ_{i ∈ I} P(c, x_i) Π_{j ≠ i} P(x_j | c, x_i)

over the columns I whose bin was shown at least once. Every probability is an m-estimate, m = 1:

::

    P(c, x_i)       = (N(c, x_i) + 1/(k mᵢ)) / (N_i + 1)
    P(x_j | c, x_i) = (N(c, x_i, x_j) + 1/mⱼ) / (N_j(c, x_i) + 1)

N_i counts the rows that show column i, and N_j(c, x_i) those of class c and bin x_i that show
column j. A missing cell is neither parent nor child.

Source: G. I. Webb, J. R. Boughton, Z. Wang, Not so naive Bayes: aggregating one-dependence
estimators (Machine Learning 58, 2005), eqs. 8 and 9; smoothing and missing cells as in Weka 3.6.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.generative.model import GenerativeModel, revealed
from suffice.models.generative.paired_columns import paired_rows
from suffice.numerics import kernels
from suffice.numerics.elementary import log
from suffice.numerics.logspace import log_sum_exp
from suffice.sums.batch import Batch
from suffice.sums.pairs import PairCountAccumulator, PairCounts, pair_places

LEAST_PARENT = 1.0  # Σw of the rows that show a bin, for it to be a parent
M = 1.0  # of the m-estimates
CELLS = 2**20  # sums over children that are held at a time


@dataclass(frozen=True)
class AODEModel(GenerativeModel):
    """A naive Bayes model, and the pairs of columns beside it.

    ::

        log p(c | x) = log π_c + t log P(x | c) + Σ_j w_j log p(x_j | c) + const

    with P(x | c) of one-dependence estimators and p(x_j | c) of naive Bayes. Without a calibration
    t is 1, and naive Bayes says nothing.
    """

    pairs: PairCounts = field(kw_only=True)  # of the classes of the model

    @classmethod
    def of(cls, model: GenerativeModel, pairs: PairCounts) -> AODEModel:
        fields = (model.parts, model.layout, model.classes, model.prior, model.statistic)
        return cls(*fields, pairs=pairs)

    @property
    def usual_weights(self) -> NDArray[np.float64]:
        """Return those of one-dependence estimators alone, whose term is the last, (g,)."""
        return np.append(np.zeros_like(super().usual_weights), 1.0)

    def without(self, batch: Batch, factor: float = 1.0) -> AODEModel | None:
        others = super().without(batch, factor)
        if others is None:
            return None
        pairs = self.pairs
        rows = PairCountAccumulator(pairs.columns, pairs.bins)
        cells: Any = paired_rows(self.parts, pairs.columns, batch)
        rows.add(cells, batch.learnt(self.classes), batch.weights, len(self.classes))
        gone = rows.statistic()
        return replace(others, pairs=pairs - (gone if factor == 1 else gone.scaled(factor)))

    @property
    def n_free(self) -> int:
        """Return also the probabilities P(c, x_i) and P(x_j | c, x_i) that are free, of each i."""
        k, m = self.pairs.k, np.array([len(one) for one in self.pairs.bins], np.int64)
        others = (m - 1).sum() - (m - 1)
        return super().n_free + int((k * m - 1).sum() + (k * m * others).sum())

    @property
    def pair_weight(self) -> float:
        """Return t, the weight of log P(x | c) of one-dependence estimators."""
        return 1.0 if self.calibration is None else float(self.calibration.weights[-1])

    @cached_property
    def pair_terms(self) -> NDArray[np.float64]:
        """Log P(x_j = w | c, x_i = v), (k, M, M) at [c, v, w]; log P(c, v) where w is v."""
        k, size, column = self.pairs.k, self.pairs.size, self.pairs.column_of
        starts = np.flatnonzero(np.diff(column, prepend=-1))
        bins = np.bincount(column, minlength=self.pairs.d).astype(np.float64)[column]
        alone = self.pairs.alone.value
        shown = np.add.reduceat(alone.sum(axis=0), starts)[column] if size else bins
        found = np.empty((k, size, size))
        for c in range(k):
            table = self.pairs.table(c)
            both = np.add.reduceat(table, starts, axis=1)[:, column] if size else table
            found[c] = log((table + M / bins) / (both + M))
            diagonal = log((alone[c] + M / (k * bins)) / (shown + M))
            np.fill_diagonal(found[c], diagonal)
        return found

    @property
    def parents(self) -> NDArray[np.bool_]:
        """Return which bins have rows enough to be a parent, (M,)."""
        return np.asarray(self.pairs.alone.value.sum(axis=0) >= LEAST_PARENT)

    def pair_scores(self, batch: Batch) -> NDArray[np.float64]:
        """Return log P(c, x) − log P(c) of one-dependence estimators, (n, k); 0 without a cell."""
        n, k, d, terms = batch.rows, self.pairs.k, self.pairs.d, self.pair_terms
        rows, parent = paired_rows(self.parts, self.pairs.columns, batch), self.parents
        places = pair_places(self.pairs.bins, [rows.column(j) for j in range(d)], n)
        out, log_class = np.zeros((n, k)), log(self.statistic.weight.value / self.statistic.rows)
        step = max(1, CELLS // max(1, k * d))
        for start in range(0, n, step):
            some = np.ascontiguousarray(places[start : start + step])
            sums = np.empty((len(some), k, d))
            kernels.pair_counts.sum_by_parent(some, parent, terms, sums)
            parents = np.isfinite(sums[:, 0]).sum(axis=1) if d else np.zeros(len(some), np.intp)
            shown = np.flatnonzero(parents)
            logs = log_sum_exp(sums[shown].reshape(-1, d)).reshape(-1, k) if len(shown) else 0.0
            mean = logs - log(np.maximum(parents[shown], 1).astype(np.float64))[:, None]
            known = np.where(np.isfinite(log_class), log_class, 0.0)
            out[start + shown] = mean - known
        return out

    def terms(self, batch: Batch) -> NDArray[np.float64]:
        """The terms of naive Bayes, and last that of pairs, (groups, n, k)."""
        return np.concatenate([super().terms(batch), self.pair_scores(batch)[None]])

    def log_joint(self, batch: Batch) -> NDArray[np.float64]:
        """Return log π_c + t log P(x | c) + Σ_j w_j log p(x_j | c) of every row, (n, k)."""
        parts = [] if self.calibration is None else self.weighted
        plain = replace(batch, blocks=batch.blocks if parts else ())
        out = self._sum(plain, [part.add_log_likelihood for part in parts])
        if self.pair_weight:
            out += self.pair_weight * self.pair_scores(batch)
        return out

    discriminants = log_joint

    def evidence(self, batch: Batch) -> NDArray[np.float64]:
        """Return the change of the log joint as each column is `revealed`, (n, columns, k)."""
        names = list(self.layout.names)
        return revealed(lambda hidden: self.log_joint(self.showing(batch, hidden)), names)[1]

    def refuse_weights(self, asked: str) -> None:
        self.refuse_pairs(asked)

    def refuse_pairs(self, asked: str) -> None:
        """Refuse what is said of columns that are independent in a class."""
        raise ParameterError(
            f"{asked} of a model that counts pairs of columns",
            "it is given of models that are sums over single columns",
            "fit NaiveBayes, whose columns are counted one by one",
        )
