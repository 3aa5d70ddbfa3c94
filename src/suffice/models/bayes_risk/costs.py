"""Costs of decisions, those of deciding nothing too, and the most that they can come to."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from suffice.errors import ParameterError

__all__ = ["largest_risk", "with_rejection", "without_poles", "zero_one"]


def zero_one(k: int) -> NDArray[np.float64]:
    """Costs (k, k) of which the expectation is the probability of a wrong label: 1 − I."""
    return 1.0 - np.eye(k)


def with_rejection(costs: NDArray[np.float64], cost: float | None) -> NDArray[np.float64]:
    """A (k, k + 1), with a column for deciding nothing; A (k, k) where there is no such thing."""
    if cost is None:
        return costs
    if not (isinstance(cost, Real) and 0 <= cost < np.inf):
        raise ParameterError(f"rejection_cost={cost!r}", "a cost is a finite number, 0 or more")
    return np.column_stack([costs, np.full(len(costs), float(cost))])


def without_poles(
    log_joint: NDArray[np.float64], log_prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take the limit where a density is infinite: only such classes remain, weighed by P(c)."""
    pole = np.isposinf(log_joint)
    at = pole.any(axis=1)
    if at.any():
        log_joint[at] = np.where(pole[at], log_prior, -np.inf)
    return log_joint


def largest_risk(costs: NDArray[np.float64]) -> float:
    """max_P min_j Σ_i P_i A_ij: the value of the game against nature; 1 − 1/k for `zero_one`.

    Any mixture q of decisions bounds it by max_i Σ_j A_ij q_j; linear programming finds the best,
    and the bound holds whatever the tolerance of the solver.

    Source: J. von Neumann, Zur Theorie der Gesellschaftsspiele (1928).

    Examples
    --------
    >>> round(largest_risk(zero_one(4)), 12)
    0.75
    """
    k, m = costs.shape
    scale = float(costs.max()) or 1.0
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=np.column_stack([costs / scale, -np.ones(k)]),
        b_ub=np.zeros(k),
        A_eq=np.append(np.ones(m), 0.0)[None],
        b_eq=[1.0],
    )
    mixture = np.full(m, 1.0 / m) if found.x is None else np.maximum(found.x[:-1], 0.0)
    return float((costs @ (mixture / mixture.sum())).max())
