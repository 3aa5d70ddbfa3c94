"""The Bayes risk of one continuous column, by integration between the boundaries of decisions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from suffice.models.base.costs import expected_costs
from suffice.models.bayes_risk.bayes_error import PHI_ERROR, BayesError, between
from suffice.models.bayes_risk.class_densities import KnownDensities
from suffice.models.bayes_risk.closed_form import distance
from suffice.models.bayes_risk.costs import without_poles
from suffice.models.bayes_risk.densities import OneColumn
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import normalise, safe_log
from suffice.numerics.quadrature import integrate

__all__ = ["quadrature"]

BRACKET_HALVINGS = 80  # of the bracket around a boundary between decisions

# Quantiles that cut the line: even in the middle, by decades in the tails.
_QUANTILES = np.concatenate([np.arange(1, 33) / 64, 10.0 ** -np.arange(2, 17)])


def quadrature(known: KnownDensities, costs: NDArray[np.float64]) -> BayesError | None:
    """One continuous column: the risk of the regions of decision, checked by integration.

    The line is cut where the best decision changes; the risk of deciding so is a sum of
    differences of distribution functions, and no rule whatever has less than R*. The integral of
    the least cost, by Gauss's rule, is an answer of its own. The distance of the two and the
    estimated error of integration make the bounds.

    Two Gaussian classes of one covariance matrix, of any number of columns, are as far apart as
    N(0, 1) and N(Δ, 1) on the line of the discriminant, which says all that a row can say.
    """
    delta = distance(known)
    if delta is not None:
        line = OneColumn(stats.norm(0, 1)), OneColumn(stats.norm(delta, 1))
        known = replace(known, densities=line)
    columns = [density.columns for density in known.densities]
    if not all(len(one) == 1 and not one[0].discrete[0] for one in columns):
        return None
    lines = [one[0] for one in columns]

    def least(x: NDArray[np.float64]) -> NDArray[np.float64]:
        joint = known.joint_of(x[:, None])
        mass = np.where(np.isposinf(joint), 0.0, exp(joint))
        return np.asarray(expected_costs(mass, costs).min(axis=1))

    def decide(x: NDArray[np.float64]) -> NDArray[np.intp]:
        joint = without_poles(known.joint_of(x[:, None]), safe_log(known.prior))
        weights, _ = normalise(joint, known.prior)
        return np.asarray(expected_costs(weights, costs).argmin(axis=1))

    with np.errstate(all="ignore"):
        ends = [end for line in lines for end in line.support if np.isfinite(end)]
        cuts = np.unique(np.concatenate([ends, *(line.quantiles(_QUANTILES) for line in lines)]))
        if len(cuts) < 2:
            return None
        boundaries, decisions = _regions(decide, _finer(cuts, 4))
        edges = np.concatenate([[-np.inf], boundaries, [np.inf]])
        probabilities = np.array([line.probabilities(edges) for line in lines])  # (k, regions)
        region_risk = float((known.prior[:, None] * probabilities * costs[:, decisions]).sum())
        integral, error = integrate(least, np.unique(np.concatenate([cuts, boundaries])))
    # Differences of distribution functions are right to an absolute ε, hence the last term.
    slack = abs(region_risk - integral) + error + PHI_ERROR * region_risk
    slack += float(np.finfo(np.float64).eps * costs.max()) * len(decisions)
    if delta is not None:
        # A distance off by ε moves a Gaussian by less than 0.4 ε in total variation.
        slack += 0.4 * PHI_ERROR * delta * float(costs.max())
    return between(region_risk, slack, "quadrature")


def _finer(cuts: NDArray[np.float64], pieces: int) -> NDArray[np.float64]:
    """Cut every interval into so many pieces."""
    inner = [cuts[:-1] + np.diff(cuts) * (i / pieces) for i in range(pieces)]
    return np.unique(np.concatenate([*inner, cuts[-1:]]))


def _regions(
    decide: Callable[[NDArray[np.float64]], NDArray[np.intp]], x: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Where the decision changes between the given points, and the decision of each region.

    An interval whose ends decide differently is halved, and so are its halves, until it has no
    inside. A region that lies between two neighbouring points alone is not seen.
    """
    choice = decide(x)
    for _ in range(BRACKET_HALVINGS):
        left = np.flatnonzero(choice[1:] != choice[:-1])
        middle = x[left] / 2 + x[left + 1] / 2
        inside = (middle > x[left]) & (middle < x[left + 1])
        if not inside.any():
            break
        left, middle = left[inside] + 1, middle[inside]
        x, choice = np.insert(x, left, middle), np.insert(choice, left, decide(middle))
    change = np.flatnonzero(choice[1:] != choice[:-1])
    return x[change], np.append(choice[change], choice[-1])
