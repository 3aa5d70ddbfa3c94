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

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.generative.model import GenerativeModel, revealed
from suffice.models.generative.paired_columns import PairedColumns, PairedRows, paired_rows
from suffice.numerics import kernels
from suffice.numerics.elementary import log
from suffice.numerics.logspace import log_sum_exp
from suffice.sums.batch import Batch
from suffice.sums.pairs import PairCounts, pair_places

LEAST_PARENT = 1.0  # Σw of the rows that show a bin, for it to be a parent
M = 1.0  # of the m-estimates
CELLS = 2**20  # sums over children that are held at a time


@dataclass(frozen=True, eq=False)
class OneDependence:
    """Log-likelihoods of rows by the counts of pairs."""

    pairs: PairCounts  # of every class
    weight: NDArray[np.float64]  # Σw of the rows of each class, (k,)

    @cached_property
    def terms(self) -> NDArray[np.float64]:
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

    @cached_property
    def parent(self) -> NDArray[np.bool_]:
        """Return which bins have rows enough to be a parent, (M,)."""
        return np.asarray(self.pairs.alone.value.sum(axis=0) >= LEAST_PARENT)

    @property
    def n_free(self) -> int:
        """Probabilities that are free: P(c, x_i) and P(x_j | c, x_i) for every parent i."""
        k, m = self.pairs.k, np.array([len(one) for one in self.pairs.bins], np.int64)
        others = (m - 1).sum() - (m - 1)
        return int((k * m - 1).sum() + (k * m * others).sum())

    def log_likelihood(self, block: PairedRows) -> NDArray[np.float64]:
        """Return log P(c, x) − log P(c), (n, k), of columns side by side; 0 without any cell."""
        n, k, d = block.rows, self.pairs.k, self.pairs.d
        places = pair_places(self.pairs.bins, [block.column(j) for j in range(d)], n)
        out = np.zeros((n, k))
        log_class = log(self.weight / self.weight.sum())
        step = max(1, CELLS // max(1, k * d))
        for start in range(0, n, step):
            some = np.ascontiguousarray(places[start : start + step])
            sums = np.empty((len(some), k, d))
            kernels.pair_counts.sum_by_parent(some, self.parent, self.terms, sums)
            parents = np.isfinite(sums[:, 0]).sum(axis=1) if d else np.zeros(len(some), np.intp)
            rows = np.flatnonzero(parents)
            logs = log_sum_exp(sums[rows].reshape(-1, d)).reshape(-1, k) if len(rows) else 0.0
            mean = logs - log(np.maximum(parents[rows], 1).astype(np.float64))[:, None]
            known = np.where(np.isfinite(log_class), log_class, 0.0)
            out[start + rows] = mean - known
        return out


@dataclass(frozen=True)
class AODEModel(GenerativeModel):
    """A naive Bayes model, and the pairs of columns beside it.

    ::

        log p(c | x) = log π_c + t log P(x | c) + Σ_j w_j log p(x_j | c) + const

    with P(x | c) of one-dependence estimators and p(x_j | c) of naive Bayes. Without a calibration
    t is 1, and naive Bayes says nothing.
    """

    pairs: PairCounts | None = None  # of the classes of the model

    @classmethod
    def of(cls, model: GenerativeModel, pairs: PairCounts) -> AODEModel:
        fields = (model.parts, model.layout, model.classes, model.prior, model.statistic)
        return cls(*fields, pairs=pairs)

    @property
    def known_pairs(self) -> PairCounts:
        """The pairs, which every such model has."""
        assert self.pairs is not None
        return self.pairs

    @property
    def usual_weights(self) -> NDArray[np.float64]:
        """Return those of one-dependence estimators alone, whose term is the last, (g,)."""
        return np.append(np.zeros_like(super().usual_weights), 1.0)

    def without(self, batch: Batch, factor: float = 1.0) -> AODEModel | None:
        others = super().without(batch, factor)
        if others is None:
            return None
        pairs = self.known_pairs
        rows = PairedColumns(pairs.columns, pairs.bins).accumulator()
        cells: Any = paired_rows(self.parts, pairs.columns, batch)
        rows.add(cells, batch.learnt(self.classes), batch.weights, len(self.classes))
        gone = rows.statistic()
        return replace(others, pairs=pairs - (gone if factor == 1 else gone.scaled(factor)))

    @property
    def n_free(self) -> int:
        return super().n_free + self.one_dependence.n_free

    @property
    def pair_weight(self) -> float:
        """Return t, the weight of log P(x | c) of one-dependence estimators."""
        return 1.0 if self.calibration is None else float(self.calibration.weights[-1])

    @cached_property
    def one_dependence(self) -> OneDependence:
        return OneDependence(self.known_pairs, self.statistic.weight.value)

    def pair_scores(self, batch: Batch) -> NDArray[np.float64]:
        """Return log P(x | c) of one-dependence estimators, (n, k)."""
        rows = paired_rows(self.parts, self.known_pairs.columns, batch)
        return self.one_dependence.log_likelihood(rows)

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
