"""Logistic regression: class probabilities whose log-ratios are linear in the columns.

::

    two classes       P(1 | x) = σ(t) = 1/(1 + e⁻ᵗ)           t   = b + wᵀx
    k > 2 classes     P(c | x) = exp(t_c) / Σ_a exp(t_a)       t_c = b_c + w_cᵀx

One pass over the rows sums what they say of given coefficients: −Σ w log P(y | x), its gradient
and its Hessian.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.source import Part, each_batch
from suffice.families.dirichlet import by_event
from suffice.models.logistic.rows import TrainingRows
from suffice.numerics import kernels
from suffice.numerics.arrays import Floats
from suffice.numerics.exact import DoubleDouble
from suffice.sums.batch import Batch
from suffice.sums.loss_sums import LossSums

TILE_CELLS = 2**22  # of the chosen columns, laid out at a time
NO_HESSIAN = np.zeros((0, 0))
NEGLIGIBLE_WEIGHT = 1e-60  # fraction of the largest in a Hessian: far below the last digit

Doubles = tuple[Floats | float, ...]
"""The fields of `LossSums` in double."""


@dataclass(frozen=True, eq=False)
class LossRequest:
    """Parameters of a pass over the rows."""

    rows: TrainingRows
    coefficients: NDArray[np.float64]  # B of z: one row for two classes, else k, (m, D)
    checksum: NDArray[np.float64]  # the vector c of the checksum Σ w cᵀz, (D,)
    hessian: bool  # whether the Hessian is asked for
    root: NDArray[np.float64] | None = None  # R with RRᵀ = I(B)⁻¹: then by Firth, (D, D)


def loss_sums(part: Part, request: LossRequest) -> LossSums:
    """Kernel of a pass: sums over every batch in double, which are added in pairs."""
    centred = request.rows.centred
    few = centred.is_sparse or (centred.design.categories and centred.is_of_few_cells)
    of: Callable[[LossRequest, Batch], Doubles] = _of_dense
    if few and request.root is None:
        alone = centred.is_sparse and len(request.coefficients) == 1 and not request.hessian
        of = _of_one_score if alone else _of_few_cells
    elif request.hessian or request.root is not None or centred.whitener is not None:
        of = _to_second_order
    batches = each_batch(part, centred.layout, partial(of, request))
    return reduce(add, (LossSums(*map(DoubleDouble.of, sums)) for sums in batches))


def _of_dense(request: LossRequest, batch: Batch) -> Doubles:
    batch, codes, weights = request.rows.of(batch)
    k, loss = len(request.rows.classes), 0.0
    weight, checksum = np.zeros((2, k))
    gradient = np.zeros(request.coefficients.shape)
    directions = np.concatenate([request.coefficients, request.checksum[None]])
    for start, x in request.rows.centred.tables(batch):
        rows = slice(start, start + len(x))
        loss += kernels.logistic.add_gradient(
            *(x, request.rows.centred.mean, directions, codes[rows], weights[rows]),
            *(request.rows.class_weights, weight, checksum, gradient),
        )
    return weight, checksum, loss, gradient, NO_HESSIAN


def _of_few_cells(request: LossRequest, batch: Batch) -> Doubles:
    """The sums of rows with few cells; indicators are centred in the sums.

    Of an ordered category, the one cell is its level: sums are of levels first.
    """
    batch, codes, weights = request.rows.of(batch)
    k, (m, width) = len(request.rows.classes), request.coefficients.shape
    centred = request.rows.centred
    shift = np.zeros(width - 1) if centred.is_sparse else centred.of_indicators
    directions = np.concatenate([request.coefficients, request.checksum[None]])
    directions[:, 0] -= directions[:, 1:] @ shift
    directions[:, 1:] = centred.design.by_level(directions[:, 1:])
    table = by_event(directions)
    weight, checksum, loss = np.zeros(k), np.zeros(k), 0.0
    sums, hessian = [weight, checksum, np.zeros(table.shape)], NO_HESSIAN
    add_rows: Any = kernels.logistic.add_sparse_gradient
    if request.hessian:
        sums.append(np.zeros((width * width, _room_for_pairs(m))))
        add_rows = kernels.logistic.add_sparse_hessian
    for part, cells in centred.compressed(batch, request.hessian):
        rows = codes[part], weights[part], request.rows.class_weights
        loss += add_rows(*cells, table, *rows, *sums)
    gradient = np.ascontiguousarray(sums[2][:, :m].T)
    by_step = centred.design.by_step
    gradient[:, 1:] = by_step(gradient[:, 1:]) - shift * gradient[:, :1]
    if request.hessian:
        hessian = _whole(sums[3].reshape(width, width, -1), m, shift, by_step)
    return weight, checksum, loss, gradient, hessian


def _of_one_score(request: LossRequest, batch: Batch) -> Doubles:
    """The sums of sparse rows of two classes, by products with a vector."""
    batch, codes, w = request.rows.of(batch)
    directions = np.stack([request.coefficients[0], request.checksum], axis=1)
    x = request.rows.centred.sparse_rows(batch)
    t = x @ directions[1:] + directions[0]
    weight, checksum = np.zeros((2, 2))
    weight += np.bincount(codes, w, 2)
    checksum += np.bincount(codes, w * t[:, 1], 2)
    w = w * request.rows.class_weights[codes]
    found = loss_derivatives(t[:, :1], codes)
    residual = w * found.residual[:, 0]
    gradient = np.concatenate([[residual.sum()], x.T @ residual])[None]
    return weight, checksum, float(w @ found.loss), gradient, NO_HESSIAN


def _to_second_order(request: LossRequest, batch: Batch) -> Doubles:
    return summed(request, request.rows.centred.pieces(*request.rows.of(batch)))


def summed(request: LossRequest, pieces: Iterable[tuple[Any, ...]]) -> Doubles:
    """The sums of rows z, codes and weights by products of matrices, with what is asked for."""
    k, (m, width) = len(request.rows.classes), request.coefficients.shape
    directions = np.concatenate([request.coefficients, request.checksum[None]]).T
    weight, checksum, loss = np.zeros(k), np.zeros(k), 0.0
    gradient = np.zeros((m, width))
    hessian = np.zeros((m, width, m, width) if request.hessian else (0,) * 4)
    for z, code, w in pieces:
        t = z @ directions
        weight += np.bincount(code, w, k)
        checksum += np.bincount(code, w * t[:, m], k)
        w = w * request.rows.class_weights[code]
        found = loss_derivatives(t[:, :m], code)
        if request.root is not None:
            found = found.firth(z @ request.root)
        loss += float(w @ found.loss)
        gradient += (z.T @ (w[:, None] * found.residual)).T
        if request.hessian:
            found.add_hessian(z, w, hessian)
    side = m * width * request.hessian
    return weight, checksum, loss, gradient, hessian.reshape(side, side)


def _room_for_pairs(m: int) -> int:
    """Pairs of m scores, up to whole lanes of the kernel."""
    pairs = m * (m + 1) // 2
    return 1 if pairs == 1 else -(-pairs // kernels.scores.CLASS_TILE) * kernels.scores.CLASS_TILE


def _whole(
    halves: NDArray[np.float64],
    m: int,
    shift: NDArray[np.float64],
    by_step: Callable[[NDArray[np.float64]], NDArray[np.float64]],
) -> NDArray[np.float64]:
    """The Hessian (mD, mD), of columns less ``shift`` (D − 1,).

    ``halves`` (D, D, pairs) has each pair of columns once, for each pair of scores; ``by_step``
    makes sums of terms from those of levels, along the last axis.
    """
    width = len(halves)
    hessian = np.empty((m, width, m, width))
    for p, (a, b) in enumerate(zip(*np.tril_indices(m), strict=True)):
        half = halves[:, :, p]
        block = half + half.T - np.diag(np.diagonal(half))
        block[:, 1:] = by_step(block[:, 1:])
        block[1:] = by_step(block[1:].T).T
        block[1:] -= shift[:, None] * block[0]
        block[:, 1:] -= shift * block[:, :1]
        hessian[a, :, b] = hessian[b, :, a] = block
    return hessian.reshape(m * width, m * width)


@dataclass(frozen=True, eq=False)
class SecondDerivatives:
    """Parameters of a pass that sums second derivatives by a few coefficients of z."""

    rows: TrainingRows
    coefficients: NDArray[np.float64]  # B, (m, D)
    scores: NDArray[np.intp]  # of every coefficient, those of one side by side, (q,)
    columns: NDArray[np.intp]  # of z, (q,)
    inverse_scale: NDArray[np.float64]  # what the second derivatives are multiplied by, (q,)

    def of(self, batch: Batch) -> NDArray[np.float64]:
        """The sums of a batch of dense rows, (q, q).

        ::

            Σ w (p_a [a = b] − p_a p_b) z_i z_j        of two classes Σ w p(1 − p) z_i z_j
        """
        found = np.zeros((len(self.columns),) * 2)
        waiting, cells = list[tuple[Any, ...]](), 0
        for z, code, w in self.rows.centred.pieces(*self.rows.of(batch)):
            chosen = z[:, self.columns] * self.inverse_scale
            waiting.append((chosen, w, code, z @ self.coefficients.T))
            cells += len(code) * len(self.columns)
            if cells > TILE_CELLS:
                self._add(found, *_joined(waiting))
                waiting, cells = [], 0
        if waiting:
            self._add(found, *_joined(waiting))
        return found

    def factors_of(self, batch: Batch) -> tuple[csr_array, csr_array]:
        """A and B with AᵀA − BᵀB the sums of a batch of compressed rows.

        ::

            A = √(w p_a) z_i in row (n, a), for coefficients of score a      B = √w p_a z_i
            A = √(w p(1 − p)) z_i, of two classes                            B = 0
        """
        ((z, code, w),) = self.rows.centred.pieces(*self.rows.of(batch))
        w = w * self.rows.class_weights[code]
        at = loss_derivatives(np.asarray(z @ self.coefficients.T), code)
        used, m = z[:, self.columns], at.probability.shape[1]
        used.data *= self.inverse_scale[used.indices]
        stored, q = np.diff(used.indptr), len(self.columns)
        if m == 1:
            root = np.sqrt(w * at.probability[:, 0] * at.other[:, 0])
            cells = used.data * np.repeat(root, stored)
            plus = csr_array((cells, used.indices, used.indptr), shape=used.shape)
            return plus, csr_array((0, q))
        rows, score = np.repeat(np.arange(z.shape[0]), stored), self.scores[used.indices]
        p = at.probability[rows, score]
        cells = used.data * np.sqrt(w[rows] * p)
        plus = csr_array((cells, (rows * m + score, used.indices)), shape=(z.shape[0] * m, q))
        cells = used.data * np.sqrt(w)[rows] * p
        return plus, csr_array((cells, used.indices, used.indptr), shape=used.shape)

    def _add(
        self,
        out: NDArray[np.float64],
        z: NDArray[np.float64],
        w: NDArray[np.float64],
        codes: NDArray[np.intp],
        t: NDArray[np.float64],
    ) -> None:
        """Add what some rows say, given the chosen columns z (n, q) and scores t (n, m)."""
        at, w = loss_derivatives(t, codes), w * self.rows.class_weights[codes]
        if at.probability.shape[1] == 1:
            out += _gram(z, w * at.probability[:, 0] * at.other[:, 0])
            return
        out -= _gram(z * at.probability[:, self.scores], w)
        edges = np.searchsorted(self.scores, np.arange(at.probability.shape[1] + 1))
        for a, (first, stop) in enumerate(pairwise(edges.tolist())):
            own = slice(first, stop)
            out[own, own] += _gram(z[:, own], w * at.probability[:, a])


def _joined(pieces: list[tuple[Any, ...]]) -> Any:
    return (np.concatenate(arrays) for arrays in zip(*pieces, strict=True))


def second_derivatives(part: Part, request: SecondDerivatives) -> NDArray[np.float64]:
    return reduce(add, each_batch(part, request.rows.centred.layout, request.of))


@dataclass(frozen=True, eq=False)
class LossDerivatives:
    """−log P(y | x) of n rows as a function of scores t (n, m): its value and derivatives."""

    loss: NDArray[np.float64]  # (n,)
    residual: NDArray[np.float64]  # ∂loss/∂t, (n, m)
    probability: NDArray[np.float64]  # p of every class, or of class 1 of two, (n, m)
    other: NDArray[np.float64]  # 1 − p

    def firth(self, rooted: NDArray[np.float64]) -> LossDerivatives:
        """Two classes: residuals of the modified score, p − y − h(½ − p), h = p(1 − p)|Rᵀz|²."""
        p = self.probability
        hat = p * self.other * (rooted**2).sum(axis=1)[:, None]
        return replace(self, residual=self.residual - hat * (0.5 - p))

    def add_hessian(
        self, z: NDArray[np.float64], w: NDArray[np.float64], out: NDArray[np.float64]
    ) -> None:
        """Add Σ w (diag p − p pᵀ) ⊗ z zᵀ; for two classes, Σ w p(1 − p) z zᵀ."""
        p = self.probability
        for a in range(p.shape[1]):
            out[a, :, a] += _gram(z, w * p[:, a] * self.other[:, a])
            for b in range(a):
                block = _gram(z, w * p[:, a] * p[:, b])
                out[a, :, b] -= block
                out[b, :, a] -= block


def loss_derivatives(t: NDArray[np.float64], codes: NDArray[np.intp]) -> LossDerivatives:
    """Loss of every row and its derivatives at scores t, (n, 1) for two classes, else (n, k).

    Examples
    --------
    >>> far = loss_derivatives(np.array([[-800.0], [0.0]]), np.array([1, 1]))
    >>> far.loss.tolist(), far.residual.ravel()
    ([800.0, 0.6931471805599453], array([-1. , -0.5]))
    >>> loss_derivatives(np.zeros((1, 4)), np.array([2])).residual
    array([[ 0.25,  0.25, -0.75,  0.25]])
    """
    t = np.ascontiguousarray(t)
    found = LossDerivatives(np.empty(len(t)), *np.empty((3, *t.shape)))
    kernels.logistic.loss_derivatives(
        t, codes, found.loss, found.residual, found.probability, found.other
    )
    return found


def _gram(z: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Σ weight z zᵀ, for weights of 0 or more.

    Weights that change no digit are left out: products of subnormal numbers take long.
    """
    weights = np.where(weights > NEGLIGIBLE_WEIGHT * weights.max(initial=0.0), weights, 0.0)
    a = z * np.sqrt(weights)[:, None]
    return np.asarray(a.T @ a)
