"""Decisions by least expected cost, where errors are not equally bad."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.predictions import Predictions
from suffice.sums.batch import Batch

__all__ = ["by_costs", "checked_costs", "expected_costs", "of_threshold"]


def expected_costs(weights: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Σ_i w_i A_ij of every row and decision, (n, m).

    Parameters
    ----------
    weights : ndarray (n, k)
        P(i | x) or P(i, x).
    costs : ndarray (k, m)
        A.

    Examples
    --------
    >>> expected_costs(np.array([[0.75, 0.25]]), np.array([[0.0, 1.0], [9.0, 0.0]]))
    array([[2.25, 0.75]])
    """
    # Class by class, so that the bits of a row do not depend on its neighbours.
    out = np.zeros((len(weights), costs.shape[1]))
    for weight, cost in zip(weights.T, costs, strict=True):
        out += weight[:, None] * cost
    return out


def checked_costs(costs: Any, k: int) -> NDArray[np.float64]:
    """A (k, k), checked."""
    try:
        given = np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"costs={costs!r}", "a cost is a number") from None
    if given.shape != (k, k):
        raise ParameterError(
            f"costs has shape {given.shape}",
            f"there are {k} classes, and costs[i][j] is the cost of deciding j when the truth is i",
        )
    bad = np.argwhere(~(np.isfinite(given) & (given >= 0)))
    if len(bad):
        i, j = bad[0]
        raise ParameterError(
            f"costs[{i}][{j}]={given[i, j]}",
            "a cost is a finite number, 0 or more",
            "add a constant to its row: that changes no decision",
        )
    return given


def of_threshold(threshold: float) -> NDArray[np.float64]:
    """Costs (2, 2) by which the second class is chosen where its probability is above a threshold.

    Deciding for it costs P(first)·t, deciding against it P(second)·(1 − t); these are equal where
    P(second) = t.

    Examples
    --------
    >>> of_threshold(0.25)
    array([[0.  , 0.25],
           [0.75, 0.  ]])
    """
    return np.array([[0.0, threshold], [1.0 - threshold, 0.0]])


def by_costs(
    costs: NDArray[np.float64],
    answer: Callable[..., Predictions],
    batch: Batch,
    proba: bool = False,
    log_proba: bool = False,
) -> Predictions:
    """What a model answers for a batch, with the labels of least expected cost."""
    found = answer(batch, proba=True, log_proba=log_proba)
    assert found.posterior is not None  # it was asked for
    best = expected_costs(found.posterior, costs).argmin(axis=1)
    return replace(found, best=best, posterior=found.posterior if proba else None)
