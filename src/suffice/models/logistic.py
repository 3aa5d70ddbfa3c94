"""Logistic regression: class probabilities whose log-ratios are linear in the columns.

::

    two classes       P(1 | x) = σ(t) = 1/(1 + e⁻ᵗ)           t   = b + wᵀx
    k > 2 classes     P(c | x) = exp(t_c) / Σ_a exp(t_a)       t_c = b_c + w_cᵀx

One pass over the rows sums what they say of given coefficients: −Σ w log P(y | x), its gradient
and its Hessian.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.source import Split
from suffice.models.centring import Centring
from suffice.models.generative import each_batch
from suffice.numerics.logspace import log_normalise
from suffice.statistics.batch import Batch
from suffice.statistics.curvature import Curvature
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ManyClasses", "Pass", "TwoClasses", "curvature", "many_classes", "two_classes"]

FAINT = 1e-60  # share of the largest weight of a Hessian


@dataclass(frozen=True, eq=False)
class Pass:
    """What a pass over the rows needs to know.

    Parameters
    ----------
    centring : Centring
        How rows z = (1, x − m) are made.
    classes : Vocabulary
        The k labels.
    factors : ndarray (k,)
        What the weight of a row is multiplied by, for its class.
    coefficients : ndarray (m, D)
        B: one row of coefficients of z for two classes, k rows for more.
    probe : ndarray (D,)
        The vector c of the fingerprint.
    hessian : bool
        Whether the Hessian is asked for.
    root : ndarray (D, D), optional
        R with R Rᵀ = I(B)⁻¹, the inverse Fisher information of two classes: then the gradient is
        that of Firth's penalised likelihood.
    """

    centring: Centring
    classes: Vocabulary
    factors: NDArray[np.float64]
    coefficients: NDArray[np.float64]
    probe: NDArray[np.float64]
    hessian: bool
    root: NDArray[np.float64] | None = None

    def of(self, batch: Batch) -> Curvature:
        """The sums of a batch, added in double."""
        batch = self.centring.to_fit(batch)
        k, (m, width) = len(self.classes), self.coefficients.shape
        directions = np.concatenate([self.coefficients, self.probe[None]]).T
        weight, fingerprint, loss = np.zeros(k), np.zeros(k), 0.0
        gradient = np.zeros((m, width))
        hessian = np.zeros((m, width, m, width) if self.hessian else (0,) * 4)
        codes = np.append(self.classes.index(batch.classes.values, -1), -1)[batch.codes]
        columns = (codes, batch.weights) if len(batch.weights) else (codes,)
        for z, *parts in self.centring.pieces(batch, self.hessian, *columns):
            z, code, w = _present(z, *parts)
            t = z @ directions
            weight += np.bincount(code, w, k)
            fingerprint += np.bincount(code, w * t[:, m], k)
            w = w * self.factors[code]
            outcome = two_classes(t[:, 0], code) if m == 1 else many_classes(t[:, :m], code)
            if self.root is not None and isinstance(outcome, TwoClasses):
                outcome = outcome.firth(z @ self.root)
            loss += float(w @ outcome.loss)
            gradient += (z.T @ (w[:, None] * outcome.residual)).T
            if self.hessian:
                outcome.add_hessian(z, w, hessian)
        side = m * width * self.hessian
        return Curvature.of(weight, fingerprint, loss, gradient, hessian.reshape(side, side))


def curvature(split: Split, task: Pass) -> Curvature:
    """Kernel of a pass: loss, gradient and Hessian of the rows of one split."""
    k, (m, width) = len(task.classes), task.coefficients.shape
    total = Curvature.empty(k, m, width, task.hessian)
    for part in each_batch(split, task.centring.layout, task.of):
        total = total + part
    return total


def _present(
    z: Any, codes: NDArray[np.intp], weights: NDArray[np.float64] | None = None
) -> tuple[Any, NDArray[np.intp], NDArray[np.float64]]:
    """The rows that have a class and a weight."""
    weights = np.ones(len(codes)) if weights is None else weights
    there = (codes >= 0) & (weights > 0)
    return (z, codes, weights) if there.all() else (z[there], codes[there], weights[there])


@dataclass(frozen=True, eq=False)
class TwoClasses:
    """−log P(y | x) of two classes as a function of t: its value and derivatives."""

    loss: NDArray[np.float64]
    residual: NDArray[np.float64]
    probability: NDArray[np.float64]
    variance: NDArray[np.float64]

    def firth(self, spread: NDArray[np.float64]) -> TwoClasses:
        """Residuals of the modified score, p − y − h(½ − p) with h = p(1 − p) |spread|²."""
        hat = self.variance * (spread**2).sum(axis=1)
        return replace(self, residual=self.residual - (hat * (0.5 - self.probability))[:, None])

    def add_hessian(self, z: Any, w: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Add Σ w p(1 − p) z zᵀ."""
        out[0, :, 0] += _gram(z, w * self.variance)


def two_classes(t: NDArray[np.float64], codes: NDArray[np.intp]) -> TwoClasses:
    """Loss log(1 + exp(−|t|)) + max(∓t, 0), residual p − y and variance p(1 − p), of every row.

    Examples
    --------
    >>> far = two_classes(np.array([-800.0, 0.0]), np.array([1, 1]))
    >>> far.loss.tolist(), far.residual.ravel()
    ([800.0, 0.6931471805599453], array([-1. , -0.5]))
    """
    small = np.exp(-np.abs(t))
    positive = codes == 1
    loss = np.log1p(small) + np.maximum(np.where(positive, -t, t), 0.0)
    rare, common = small / (1.0 + small), 1.0 / (1.0 + small)
    probability = np.where(t >= 0, common, rare)
    wrong = np.where(positive == (t >= 0), rare, common)  # probability of the other class
    residual = np.where(positive, -wrong, wrong)
    return TwoClasses(loss, residual[:, None], probability, rare * common)


@dataclass(frozen=True, eq=False)
class ManyClasses:
    """−log P(y | x) of k classes as a function of t (k,): its value and derivatives."""

    loss: NDArray[np.float64]
    residual: NDArray[np.float64]
    probability: NDArray[np.float64]
    other: NDArray[np.float64]

    def add_hessian(self, z: Any, w: NDArray[np.float64], out: NDArray[np.float64]) -> None:
        """Add Σ w (diag p − p pᵀ) ⊗ z zᵀ."""
        p = self.probability
        for a in range(p.shape[1]):
            out[a, :, a] += _gram(z, w * p[:, a] * self.other[:, a])
            for b in range(a):
                block = _gram(z, w * p[:, a] * p[:, b])
                out[a, :, b] -= block
                out[b, :, a] -= block


def many_classes(t: NDArray[np.float64], codes: NDArray[np.intp]) -> ManyClasses:
    """Loss log Σ exp(t) − t_y, residuals p − e_y and 1 − p, of every row.

    Examples
    --------
    >>> many_classes(np.zeros((1, 4)), np.array([2])).residual
    array([[ 0.25,  0.25, -0.75,  0.25]])
    """
    rows = np.arange(len(t))
    log_p = log_normalise(t, np.zeros(t.shape[1]))[0]
    p = np.exp(log_p)
    other = -np.expm1(log_p)
    residual = p.copy()
    residual[rows, codes] = -other[rows, codes]
    return ManyClasses(-log_p[rows, codes], residual, p, other)


def _gram(z: Any, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ weight z zᵀ, for weights of 0 or more.

    Weights that change no digit are left out: products of subnormal numbers take long.
    """
    weights = np.where(weights > FAINT * weights.max(initial=0.0), weights, 0.0)
    if isinstance(z, csr_array):
        return np.asarray((z.T @ z.multiply(weights[:, None])).toarray())
    a = z * np.sqrt(weights)[:, None]
    return np.asarray(a.T @ a)
