"""A pass over the rows whose sums no order of them changes: loss, gradient and Hessian.

::

    z′ = z/2ᵉ  with |z′| ≤ 1       t = (B 2ᵉ) z′       v′ = v/2^E ≤ 1

Powers of two that bound the columns and the weights are fixed for a whole fit, so every term is at
most 1 and is cut at fixed places (``src/native/fixed_sums.hpp``); they round nothing. The score of
a row adds its columns in one order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Split, each_batch
from suffice.models.logistic.loss import LossDerivatives, loss_derivatives, present
from suffice.models.logistic.training_rows import TrainingRows
from suffice.numerics import kernels
from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import linear
from suffice.statistics.batch import Batch
from suffice.statistics.exact_loss_sums import ExactLossSums

__all__ = ["ExactLossRequest", "exact_loss_sums", "power_above"]

Array = NDArray[np.float64]
ROUNDING = 1.0 + 2.0**-30  # of a bound that is a sum of rounded terms, generously
FIRTH = 0.5  # the most that Firth's penalty adds to a residual, times its weight


def power_above(bound: Array | float) -> Array:
    """Return powers of two that are no less than bounds; 1 for 0.

    Examples
    --------
    >>> power_above(np.array([3.0, 4.0, 0.0])).tolist()
    [4.0, 4.0, 1.0]
    """
    fraction, exponent = np.frexp(bound)
    power = np.ldexp(1.0, exponent - (fraction == 0.5))
    return np.asarray(np.where(fraction == 0.0, 1.0, power))


@dataclass(frozen=True, eq=False)
class ExactLossRequest:
    """What a pass over the rows needs to know.

    Parameters
    ----------
    rows, coefficients, checksum, hessian, root
        As of `suffice.models.logistic.loss.LossRequest`.
    reach : ndarray (D,)
        The most that an element of z can be.
    heaviest : float
        The largest weight of a row, without that of its class.
    """

    rows: TrainingRows
    coefficients: Array
    checksum: Array
    hessian: bool
    root: Array | None
    reach: Array
    heaviest: float

    @cached_property
    def _unit(self) -> Array:
        """2ᵉ of every element of z, (D,)."""
        return power_above(self.reach)

    @cached_property
    def _heaviest(self) -> float:
        """2^E, of the weights of rows and classes together and, with Firth's penalty, its share."""
        most = self.heaviest * float(self.rows.class_weights.max())
        return float(power_above(ROUNDING * (most + FIRTH * (self.root is not None))))

    @cached_property
    def _directions(self) -> Array:
        """The coefficients of z′ and, as a last row, the vector of the checksum, (m + 1, D)."""
        return np.concatenate([self.coefficients, self.checksum[None]]) * self._unit

    @cached_property
    def _most(self) -> Array:
        """Powers of two above the loss of a row, its weight, and its part of the checksum, (3,)."""
        scores, check = np.split(row_sums(np.abs(self._directions)), [-1])
        loss = 2.0 * scores.max() + len(self.rows.classes)
        weight = self.heaviest
        return power_above(ROUNDING * np.array([loss, weight, weight * check[0]]))

    def of(self, batch: Batch) -> ExactLossSums:
        """The sums of a batch."""
        batch, codes = self.rows.of(batch)
        k, (m, width) = len(self.rows.classes), self.coefficients.shape
        sums = ExactLossSums.empty(k, m, width, self.hessian)
        if self.hessian or self.root is not None or self.rows.centred.whitener is not None:
            self._add_second_order(batch, codes, sums)
        else:
            self._add_slopes(batch, codes, sums)
        return self._in_units(sums)

    def _in_units(self, sums: ExactLossSums) -> ExactLossSums:
        """The sums of z in place of z′: powers of two round nothing."""
        loss, weight, checksum = self._most
        heaviest, unit = self._heaviest, np.tile(self._unit, len(self.coefficients))
        of_hessian = unit if self.hessian else unit[:0]
        return ExactLossSums(
            sums.weight * weight,
            sums.checksum * checksum,
            sums.loss * loss * heaviest,
            sums.gradient * self._unit * heaviest,
            sums.hessian * of_hessian * of_hessian[:, None] * (heaviest / 4.0),
        )

    def _add_slopes(self, batch: Batch, codes: NDArray[np.intp], sums: ExactLossSums) -> None:
        centred = self.rows.centred
        for start, x in centred.tables(batch):
            rows = slice(start, start + len(x))
            table, code, w = present(x, codes[rows], batch.weights[rows])
            kernels.exact_logistic.add_gradient(
                np.ascontiguousarray(table, np.float64),
                *(centred.mean, 1.0 / self._unit, self._directions, code, w),
                *(self.rows.class_weights / self._heaviest, 1.0 / self._most),
                *(sums.loss, sums.weight, sums.checksum, sums.gradient),
            )

    def _add_second_order(self, batch: Batch, codes: NDArray[np.intp], sums: ExactLossSums) -> None:
        """Add what scores and derivatives of rows say, which are computed apart."""
        m, k = len(self.coefficients), len(self.rows.classes)
        weights = batch.weights if len(batch.weights) else np.ones(len(codes))
        totals = np.zeros((4, 2 * k + 1))
        most_loss, most_weight, most_check = self._most
        for z, *parts in self.rows.centred.pieces(batch, True, codes, weights):
            z, code, w = present(z, *parts)
            z = np.ascontiguousarray(z / self._unit)
            t = linear(z, self._directions.T)
            columns = np.zeros((len(code), 2 * k + 1))
            of_class = np.where(code[:, None] == np.arange(k), w[:, None], 0.0)
            columns[:, :k], columns[:, k:-1] = of_class, of_class * (t[:, m:] / most_check)
            w = w * (self.rows.class_weights / self._heaviest)[code]
            found = loss_derivatives(t[:, :m], code)
            columns[:, -1] = w * found.loss / most_loss
            columns[:, :k] /= most_weight
            kernels.exact_logistic.add_columns(columns, totals)
            if self.root is not None:
                found = found.firth(linear(z, self.root * self._unit[:, None]))
            terms = np.ascontiguousarray(w[:, None] * found.residual)
            kernels.exact_logistic.add_products(terms, z, sums.gradient)
            if self.hessian:
                _add_hessian(found, z, w, sums.hessian)
        sums.weight[...] = totals[:, :k]
        sums.checksum[...] = totals[:, k:-1]
        sums.loss[...] = totals[:, -1]


def _add_hessian(found: LossDerivatives, z: Array, w: Array, out: Array) -> None:
    """Add four times Σ w (diag p − p pᵀ) ⊗ z zᵀ to parts (4, mD, mD)."""
    p, width = found.probability, z.shape[1]
    for a in range(p.shape[1]):
        for b in range(a + 1):
            other = found.other[:, a] if a == b else p[:, b]
            upper = np.zeros((4, width, width))
            kernels.exact_logistic.add_squares(4.0 * w * p[:, a] * other, z, upper)
            block = np.triu(upper) + np.triu(upper, 1).swapaxes(1, 2)
            rows, columns = (slice(c * width, (c + 1) * width) for c in (a, b))
            if a == b:
                out[:, rows, columns] += block
            else:
                out[:, rows, columns] -= block
                out[:, columns, rows] -= block


def exact_loss_sums(split: Split, request: ExactLossRequest) -> ExactLossSums:
    """Kernel of a reproducible pass: loss, gradient and Hessian of the rows of one split."""
    return reduce(add, each_batch(split, request.rows.centred.layout, request.of))
