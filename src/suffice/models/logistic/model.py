"""A fitted logistic regression: its coefficients, and what they say of rows."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.models.base.answers import Predictions
from suffice.models.base.options import Unseen
from suffice.models.design.matrix import Design
from suffice.models.logistic.rows import CentredDesign
from suffice.numerics.elementary import exp, log1p, log_of
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible
from suffice.numerics.logspace import log_normalise, scores
from suffice.numerics.rows import affine, is_sparse
from suffice.sums.batch import Batch
from suffice.sums.block import RealBlock
from suffice.sums.vocabulary import Vocabulary

LEAST_TOLD = 1e-12  # of the largest singular value of R: below, it is rounding
SEEN = 1e-6  # of a coefficient: what rounding of R may leave


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """Coefficients of rows z, and how these are made."""

    centred: CentredDesign
    classes: Vocabulary  # the k labels
    coefficients: NDArray[np.float64]  # B: of t₁ − t₀ of two classes, or of every t_c, (m, D)
    has_intercept: bool = True  # whether b is estimated; else it is 0
    root: NDArray[np.float64] | None = None  # R with RᵀR = I(B)⁻¹, Fisher's inverse, (q, mD)
    unseen: Unseen = "error"  # what an unknown or missing category is taken for

    @property
    def layout(self) -> Layout:
        return self.centred.layout

    @property
    def design(self) -> Design:
        return self.centred.design

    @property
    def by_term(self) -> tuple[Any, ...]:
        """Labels, terms, coefficients without the intercepts, and standard deviations of terms."""
        w = self.coefficients[:, 1:]
        return self.classes.values, self.design.terms, w, self.term_scales

    @property
    def term_means(self) -> NDArray[np.float64]:
        return np.asarray(self.centred.mean, np.float64)

    @property
    def term_scales(self) -> NDArray[np.float64]:
        return self.centred.scale

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """Log probabilities of an impossible row; there is none."""
        return np.full(len(self.classes), -log_of(len(self.classes)))

    @cached_property
    def intercept(self) -> NDArray[np.float64]:
        """b (m,) = B₀ − Σ_j B_j m_j."""
        terms = DoubleDouble.of(self.coefficients[:, 1:]) * self.centred.mean
        return (DoubleDouble.of(self.coefficients[:, 0]) - terms.sum(axis=1)).value

    def about(self, centred: CentredDesign) -> NDArray[np.float64]:
        """Return these coefficients, (m, D), for rows about other means."""
        coefficients = self.coefficients.copy()
        shift = coefficients[:, 1:] @ centred.mean
        coefficients[:, 0] = self.intercept + shift
        return coefficients

    @cached_property
    def null(self) -> NDArray[np.float64]:
        """N, (D, r): directions u in which the rows say nothing of coefficients, Ru = 0.

        In units of the columns; those of constant columns come first.
        """
        assert self.root is not None
        root = self.root.reshape(-1, self.centred.width)
        unit = np.append(1.0, self.term_scales)
        shown = root.any(axis=0) & (unit > 0)
        absent = np.eye(self.centred.width)[:, ~shown]
        absent = absent[:, absent[0] == 0.0]  # without an intercept, that is no direction
        if len(self.root) == (len(self.classes) - 1) * shown.sum():
            return absent
        told = root[:, shown] * unit[shown]
        _, size, axes = interruptible(np.linalg.svd, told)
        rank = int((size > LEAST_TOLD * size.max(initial=0.0)).sum())
        moved = np.zeros((self.centred.width, len(axes) - rank))
        moved[shown] = axes[rank:].T * unit[shown, None]
        return np.concatenate([absent, moved], axis=1)

    @cached_property
    def estimable(self) -> NDArray[np.bool_]:
        """Tell which coefficients of a score the rows determine, (q,), the intercept first.

        Of a constant column, the intercept is that of the model without it.
        """
        asked, null = np.eye(self.centred.width), self.null
        single = (null != 0).sum(axis=0) == 1
        asked[0, 1:] = -self.centred.mean * ~null[1:, single].any(axis=1)
        unit = np.append(1.0, np.where(self.term_scales > 0, self.term_scales, 1.0))
        moved = np.abs(asked @ null) > SEEN * (np.abs(asked) @ unit)[:, None]
        return np.asarray(~moved.any(axis=1)[int(not self.has_intercept) :])

    def determined(self, batch: Batch) -> NDArray[np.bool_]:
        """Tell of which rows of a batch the rows of the fit determine the scores, (n,)."""
        size = np.append(0.0, np.abs(self.centred.mean) + self.term_scales)
        found = [np.ones(0, np.bool_)]
        for (z,) in self.centred.pieces(self.answerable(batch)):
            dense = z.toarray() if is_sparse(z) else z
            moved = np.abs(dense @ self.null)
            found.append((moved <= SEEN * ((np.abs(dense) + size) @ np.abs(self.null))).all(axis=1))
        return np.concatenate(found)

    def against(self, reference: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coefficients of x for log-odds against one class, and their covariance matrix.

        Returns
        -------
        coefficients : ndarray (k − 1, q)
            (b, w) of every other class; without b if there is no intercept.
        covariance : ndarray ((k − 1)q, (k − 1)q)
        """
        assert self.root is not None
        k, width = len(self.classes), self.centred.width
        contrasts = np.delete(np.eye(k), reference, axis=0) - np.eye(k)[reference]
        if len(self.coefficients) == 1:
            contrasts = np.array([[1.0 if reference == 0 else -1.0]])
        to_raw = np.eye(width)
        to_raw[0, 1:] = -self.centred.mean
        raw = np.column_stack([self.intercept, self.coefficients[:, 1:]])
        change = np.kron(contrasts, to_raw[int(not self.has_intercept) :])
        kept = (contrasts @ raw)[:, int(not self.has_intercept) :]
        across = self.root @ change.T
        return kept, across.T @ across

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """t (n, m) of every row."""
        batch = self.answerable(batch)
        b, w = self.coefficients[:, 0], self.coefficients[:, 1:]
        if (x := self.centred.sparse_rows(batch)) is not None:
            t = affine(x, self.centred.mean, w, b)
        else:
            t = scores(batch.rows, len(b))
            for start, rows in self.centred.tables(batch):
                affine(rows, self.centred.mean, w, b, t[start : start + len(rows)])
        if not np.isfinite(t).all():
            self.centred.refuse_incomplete(batch)
        return t

    @property
    def known_values(self) -> dict[str, Vocabulary]:
        return self.design.known_values

    def answerable(self, batch: Batch) -> Batch:
        """Return the rows with what is taken for an unknown category."""
        return self.design.answerable(batch, self.unseen == "reference", False)

    def complete(self, batch: Batch) -> NDArray[np.bool_]:
        return self.design.complete(self.answerable(batch))

    def contributions(self, batch: Batch) -> NDArray[np.float64]:
        """Return what each column adds to the score of each class, (x_j − m_j) w_cj, (n, d, k)."""
        batch, w = self.answerable(batch), self.coefficients[:, 1:]
        parts = [
            self.design.by_column((x - self.centred.mean)[:, None] * w)
            for _, x in self.centred.tables(batch)
        ]
        t = np.concatenate(parts).swapaxes(1, 2)
        if not np.isfinite(t).all():
            self.centred.refuse_incomplete(batch)
        return of_every_class(t)

    def partial_log_posterior(
        self, batch: Batch, hidden: Collection[str] = ()
    ) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k); a missing cell is as in the average row of the fit.

        So are unknown categories, and the cells of ``hidden`` columns.
        """
        design, mean = self.centred.design, self.centred.mean
        known = design.known(batch)
        t, b, w = scores(batch.rows, len(self.coefficients)), *np.split(self.coefficients, [1], 1)
        left_out = np.zeros(len(mean), np.bool_)
        left_out[design.places(sorted(hidden))] = True
        if self.centred.is_sparse and (x := self.centred.sparse_rows(batch)) is not None:
            return log_probabilities(affine(x, mean, w * ~left_out, b[:, 0]))  # mean is 0
        for start, rows in self.centred.tables(known):
            x = np.where(np.isnan(rows) | left_out, mean, rows)
            affine(x, mean, w, b[:, 0], t[start : start + len(x)])
        if not np.isfinite(t).all():
            numbers = cast(RealBlock, known.blocks[0])  # one of which is too large
            values = np.where(np.isnan(numbers.values), 0.0, numbers.values)
            self.centred.refuse_incomplete(Batch(known.rows, (RealBlock(values),)))
        return log_probabilities(t)

    def log_posterior(self, batch: Batch) -> NDArray[np.float64]:
        return log_probabilities(self.scores(batch))

    def posterior(self, batch: Batch) -> NDArray[np.float64]:
        return exp(self.log_posterior(batch))

    def best(self, batch: Batch) -> NDArray[np.intp]:
        return _best(self.scores(batch))

    def answers(self, batch: Batch, proba: bool = False) -> Predictions:
        t = self.scores(batch)
        return Predictions(_best(t), exp(log_probabilities(t)) if proba else None)

    log_joint = log_posterior  # what `evaluation` asks a model for


def of_every_class(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scores (…, k) from t (…, m): of two classes, half of t₁ − t₀ for the second, and against it.

    Examples
    --------
    >>> of_every_class(np.array([3.0]))
    array([-1.5,  1.5])
    """
    return np.concatenate([-t / 2, t / 2], axis=-1) if t.shape[-1] == 1 else t


def _best(t: NDArray[np.float64]) -> NDArray[np.intp]:
    """The codes (n,) of the largest scores (n, m), or of two classes, of the sign of t₁ − t₀."""
    return (t[:, 0] > 0).astype(np.intp) if t.shape[1] == 1 else t.argmax(axis=1)


def log_probabilities(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return log P(c | t) (..., k) of scores t (..., m): t₁ − t₀ of two classes, every t_c of more.

    Examples
    --------
    >>> np.exp(log_probabilities(np.array([[0.0], [np.log(3.0)]]))).round(12)
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """
    if t.shape[-1] > 1:
        shape = t.shape
        rows = t.reshape(-1, shape[-1])
        return log_normalise(rows, np.full(shape[-1], -log_of(shape[-1])))[0].reshape(shape)
    tail = log1p(exp(-np.abs(t)))
    return np.concatenate([-np.maximum(t, 0.0) - tail, np.minimum(t, 0.0) - tail], axis=-1)


Prediction = Callable[[LogisticModel, Batch], NDArray[Any]]
"""Answers for every row of a batch."""
