"""Kernels that predict the rows of a part by a generative model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.models.generative.model import GenerativeModel
from suffice.numerics.logspace import log_normalise, log_sum_exp, normalise, scores
from suffice.sums.batch import Batch, scored_rows

Prediction = Callable[[GenerativeModel, Batch, Any], tuple[NDArray[Any], int]]
"""What to say of every row of a batch, and how many rows are impossible under every class. The
third argument is where to write it, or None."""


def predictions(
    part: Part, params: tuple[GenerativeModel, Prediction, NDArray[Any] | None]
) -> list[tuple[NDArray[Any], int]]:
    """Kernel of a prediction: the answers of a part, batch by batch, written to `out` if given."""
    model, answer, out = params
    done = getattr(part, "first", 0)

    def one(batch: Batch) -> tuple[NDArray[Any], int]:
        nonlocal done
        rows = slice(done, done + batch.rows)
        done = rows.stop
        return answer(model, batch, None if out is None else out[rows])

    return list(each_batch(part, model.layout, one, scored_rows(len(model.classes))))


def marginals(part: Part, model: GenerativeModel) -> list[NDArray[np.float64]]:
    """Return log p(x) = log Σ_c P(x, c) of the rows of a part, batch by batch."""

    def one(batch: Batch) -> NDArray[np.float64]:
        return log_sum_exp(model.log_joint(batch))

    return list(each_batch(part, model.layout, one, scored_rows(len(model.classes))))


def buffer_for(answer: Prediction, n: int, k: int) -> NDArray[Any] | None:
    """An array for the answers of n rows, if their shape is known beforehand."""
    if answer is evidence:
        return None
    return np.empty(n, np.intp) if answer is best else scores(n, k)


def joint(model: GenerativeModel, batch: Batch, out: Any) -> tuple[NDArray[np.float64], int]:
    """Answer log P(x, c), (n, k)."""
    return model.log_joint(batch, out), 0


def discriminants(
    model: GenerativeModel, batch: Batch, out: Any
) -> tuple[NDArray[np.float64], int]:
    """Answer log P(c | x), (n, k), up to a term of each row."""
    logs = model.discriminants(batch, out)
    nowhere = np.flatnonzero(logs.max(axis=1) == -np.inf)
    logs[nowhere] = model.log_prior
    return logs, len(nowhere)


def log_posterior(
    model: GenerativeModel, batch: Batch, out: Any
) -> tuple[NDArray[np.float64], int]:
    """Answer log P(c | x), (n, k)."""
    logs, impossible = log_normalise(model.discriminants(batch), model.log_prior)
    if out is None:
        return logs, impossible
    out[:] = logs
    return out, impossible


def posterior(model: GenerativeModel, batch: Batch, out: Any) -> tuple[NDArray[np.float64], int]:
    """Answer P(c | x), (n, k)."""
    return normalise(model.discriminants(batch, out), model.prior)


def best(model: GenerativeModel, batch: Batch, out: Any) -> tuple[NDArray[np.intp], int]:
    """Answer the code of the most probable class, (n,)."""
    codes = np.empty(batch.rows, np.intp) if out is None else out
    return codes, model.best(model.discriminants(batch), codes)


def evidence(model: GenerativeModel, batch: Batch, out: Any) -> tuple[NDArray[np.float64], int]:
    """Answer what every cell contributes, (n, columns, k)."""
    return model.evidence(batch), 0
