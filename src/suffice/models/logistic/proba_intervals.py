"""Intervals of the probabilities of a logistic regression, from the covariance of its estimates.

Scores are linear in the coefficients, B ~ N(B̂, I⁻¹): with the row z and RᵀR = I⁻¹,

::

    Cov(t_a, t_b) = (R_a z)ᵀ(R_b z)

which is exact where the coefficients are normal.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.models.base.options import generator
from suffice.models.base.proba_intervals import Ends, from_moments, from_scores
from suffice.models.logistic.model import LogisticModel, of_every_class
from suffice.statistics.batch import Batch

__all__ = ["ends_of"]

DRAWN_CELLS = 2**22  # scores of all draws that are held at a time


def ends_of(model: LogisticModel, options: tuple[float, int, Any]) -> Ends:
    """What gives the ends of a batch, whose rows need all their cells."""
    level, draws, seed = options
    ends = (
        partial(_drawn_ends, model, level, draws, seed) if draws else partial(_ends, model, level)
    )
    return partial(_of_determined, model, ends) if model.null.shape[1] else ends


def _of_determined(model: LogisticModel, ends: Ends, batch: Batch) -> NDArray[np.float64]:
    """The ends of a batch; 0 and 1 of a row that the rows of the fit do not determine."""
    found = ends(batch)
    found[~model.determined(batch)] = 0.0, 1.0
    return found


def _ends(model: LogisticModel, level: float, batch: Batch) -> NDArray[np.float64]:
    mean = of_every_class(model.scores(batch))
    ends = []
    first = 0
    for across in _across(model, batch):
        here = mean[first : first + len(across)]
        first += len(across)
        covariance = across @ across.swapaxes(1, 2)
        ends.append(from_moments(here, np.zeros_like(here), covariance, level))
    return np.concatenate(ends) if ends else np.zeros((0, len(model.classes), 2))


def _drawn_ends(
    model: LogisticModel, level: float, draws: int, seed: Any, batch: Batch
) -> NDArray[np.float64]:
    assert model.root is not None
    z = generator(seed).standard_normal((draws, len(model.root)))
    mean, ends, first = of_every_class(model.scores(batch)), [], 0
    for across in _across(model, batch):
        here = mean[first : first + len(across)]
        first += len(across)
        height = max(DRAWN_CELLS // (draws * mean.shape[1]), 1)
        for start in range(0, len(across), height):
            rows = slice(start, start + height)
            moved = np.einsum("sq,ncq->snc", z, across[rows])
            ends.append(from_scores(here[rows] + moved, level))
    return np.concatenate(ends) if ends else np.zeros((0, len(model.classes), 2))


def _across(model: LogisticModel, batch: Batch) -> Any:
    """Yield R_c z of every class, (rows, k, q), some rows at a time."""
    assert model.root is not None
    m, D = model.coefficients.shape
    root = model.root.reshape(-1, m, D)
    for (z,) in model.centred.pieces(model.answerable(batch), False):
        across = np.stack([np.asarray(z @ root[:, c].T) for c in range(m)], axis=1)
        yield of_every_class(across.swapaxes(1, 2)).swapaxes(1, 2)
