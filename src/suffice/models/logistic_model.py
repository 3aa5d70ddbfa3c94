"""A fitted logistic regression: its coefficients, and what they say of rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Split
from suffice.models.centring import Centring
from suffice.models.generative import each_batch
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.logspace import log_normalise
from suffice.statistics.batch import Batch
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Answer", "LogisticModel", "answers"]


@dataclass(frozen=True, eq=False)
class LogisticModel:
    """Coefficients of rows z, and how these are made.

    Parameters
    ----------
    centring : Centring
    classes : Vocabulary
        The k labels.
    coefficients : ndarray (m, D)
        B: of t₁ − t₀ for two classes, of every t_c for more.
    has_intercept : bool
        Whether b is estimated; else it is 0.
    covariance : ndarray (mD, mD), optional
        I(B)⁻¹, the inverse Fisher information.
    """

    centring: Centring
    classes: Vocabulary
    coefficients: NDArray[np.float64]
    has_intercept: bool = True
    covariance: NDArray[np.float64] | None = None

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        return self.centring.layout

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """What an impossible row would be answered with; there is none."""
        return np.full(len(self.classes), -np.log(len(self.classes)))

    @cached_property
    def intercept(self) -> NDArray[np.float64]:
        """b (m,) = B₀ − Σ_j B_j m_j."""
        terms = DoubleDouble.of(self.coefficients[:, 1:]) * self.centring.mean
        return (DoubleDouble.of(self.coefficients[:, 0]) - terms.sum(axis=1)).value

    def about(self, centring: Centring) -> NDArray[np.float64]:
        """The same coefficients, (m, D), of rows about other means."""
        coefficients = self.coefficients.copy()
        coefficients[:, 0] = self.intercept + coefficients[:, 1:] @ centring.mean
        return coefficients

    def against(self, reference: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Coefficients of x for log-odds against one class, and their covariance matrix.

        Returns
        -------
        coefficients : ndarray (k − 1, q)
            (b, w) of every other class; without b if there is no intercept.
        covariance : ndarray ((k − 1)q, (k − 1)q)
        """
        assert self.covariance is not None
        k, width = len(self.classes), self.centring.width
        contrasts = np.delete(np.eye(k), reference, axis=0) - np.eye(k)[reference]
        if len(self.coefficients) == 1:
            contrasts = np.array([[1.0 if reference == 0 else -1.0]])
        to_raw = np.eye(width)
        to_raw[0, 1:] = -self.centring.mean
        raw = np.column_stack([self.intercept, self.coefficients[:, 1:]])
        change = np.kron(contrasts, to_raw[int(not self.has_intercept) :])
        kept = (contrasts @ raw)[:, int(not self.has_intercept) :]
        return kept, change @ self.covariance @ change.T

    def scores(self, batch: Batch) -> NDArray[np.float64]:
        """t (n, m) of every row.

        Raises
        ------
        BadCell
            If a cell is missing or infinite.
        """
        parts = [z @ self.coefficients.T for (z,) in self.centring.pieces(batch, False)]
        t = np.concatenate(parts) if parts else np.empty((0, len(self.coefficients)))
        if not np.isfinite(t).all():
            self.centring.refuse_incomplete(batch)
        return t

    def log_posterior(self, batch: Batch) -> NDArray[np.float64]:
        """Return log P(c | x) of every row, (n, k)."""
        t = self.scores(batch)
        if t.shape[1] > 1:
            return log_normalise(t, self.log_prior)[0]
        rest = np.log1p(np.exp(-np.abs(t)))
        return np.concatenate([-np.maximum(t, 0.0) - rest, np.minimum(t, 0.0) - rest], axis=1)

    def posterior(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(c | x) of every row, (n, k)."""
        return np.exp(self.log_posterior(batch))

    def best(self, batch: Batch) -> NDArray[np.intp]:
        """Return the code of the most probable class of every row, (n,)."""
        t = self.scores(batch)
        return (t[:, 0] > 0).astype(np.intp) if t.shape[1] == 1 else t.argmax(axis=1)

    def log_joint(self, batch: Batch) -> NDArray[np.float64]:
        """Return what `evaluation` asks a model for: here log P(c | x), (n, k)."""
        return self.log_posterior(batch)


Answer = Callable[[LogisticModel, Batch], NDArray[Any]]
"""What to say of every row of a batch."""


def answers(split: Split, task: tuple[LogisticModel, Answer]) -> list[NDArray[Any]]:
    """Kernel of a prediction: the answers of a split, batch by batch."""
    model, answer = task
    return list(each_batch(split, model.layout, lambda batch: answer(model, batch)))
