"""Predictions of the rows of a batch by a generative model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.generative.model import GenerativeModel
from suffice.numerics.logspace import log_normalise, log_sum_exp, normalise
from suffice.sums.batch import Batch

Prediction = Callable[[GenerativeModel, Batch], tuple[NDArray[Any], int]]
"""A prediction of every row of a batch, with the number of rows impossible under every class."""


def marginals(model: GenerativeModel, batch: Batch) -> NDArray[np.float64]:
    """Return log p(x) = log Σ_c P(x, c), (n,)."""
    return log_sum_exp(model.log_joint(batch))


def joint(model: GenerativeModel, batch: Batch) -> tuple[NDArray[np.float64], int]:
    """Answer log P(x, c), (n, k)."""
    return model.log_joint(batch), 0


def discriminants(model: GenerativeModel, batch: Batch) -> tuple[NDArray[np.float64], int]:
    """Answer log P(c | x), (n, k), up to a term of each row."""
    logs = model.discriminants(batch)
    nowhere = np.flatnonzero(logs.max(axis=1) == -np.inf)
    logs[nowhere] = model.log_prior
    return logs, len(nowhere)


def log_posterior(model: GenerativeModel, batch: Batch) -> tuple[NDArray[np.float64], int]:
    """Answer log P(c | x), (n, k)."""
    return log_normalise(model.discriminants(batch), model.log_prior)


def posterior(model: GenerativeModel, batch: Batch) -> tuple[NDArray[np.float64], int]:
    """Answer P(c | x), (n, k)."""
    return normalise(model.discriminants(batch), model.prior)


def best(model: GenerativeModel, batch: Batch) -> tuple[NDArray[np.intp], int]:
    """Answer the code of the most probable class, (n,)."""
    codes = np.empty(batch.rows, np.intp)
    return codes, model.best(model.discriminants(batch), codes)


def evidence(model: GenerativeModel, batch: Batch) -> tuple[NDArray[np.float64], int]:
    """Answer what every cell contributes, (n, columns, k)."""
    return model.evidence(batch), 0
