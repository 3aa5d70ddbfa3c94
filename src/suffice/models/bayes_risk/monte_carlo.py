"""The Bayes risk of whatever can be sampled: the mean over drawn rows, with bounds that hold."""

from __future__ import annotations

from math import ceil, log, sqrt

import numpy as np
from numpy.typing import NDArray

from suffice.models.base.costs import expected_costs
from suffice.models.bayes_risk.bayes_error import BayesError
from suffice.models.bayes_risk.class_densities import ClassDensities
from suffice.models.bayes_risk.costs import largest_risk, without_poles
from suffice.numerics.logspace import normalise, safe_log

__all__ = ["monte_carlo"]

BLOCK = 8_192  # rows drawn at a time


def monte_carlo(
    densities: ClassDensities,
    costs: NDArray[np.float64],
    n_samples: int,
    confidence: float,
    rng: np.random.Generator,
) -> BayesError:
    """The mean of the least conditional cost r(x) = min_j Σ_i P(i | x) A_ij of drawn rows.

    Class c gives n_c rows, a fraction of n. Drawn rows are not decided and counted: r(x) is known,
    so that the mean of P(c) n/n_c r(x) has the expectation R* and less variance. The bounds are

    ::

        mean ± (√(2 V log(4/δ) / n) + 7 b log(4/δ) / (3(n − 1)))        δ = 1 − confidence

    with V the sample variance and b the largest value that a term can have. They hold for every
    n and however rare errors are, as they rest on no normal approximation.

    Parameters
    ----------
    densities : ClassDensities
        They must be able to sample.
    costs : ndarray (k, m)
        A.
    n_samples : int
        n, at least; no class has a part of a row.
    confidence : float
        Between 0 and 1.
    rng : Generator

    Source: Maurer and Pontil (2009), theorem 4; theorem 11 for terms that are independent but
    not of one distribution. Each side has δ/2.
    """
    prior = densities.prior
    counts = np.array([ceil(fraction * n_samples - 1e-9) for fraction in prior])
    n, largest = int(counts.sum()), largest_risk(costs)
    weight = np.divide(prior * n, counts, out=np.zeros(len(prior)), where=counts > 0)
    terms = []
    for c in np.flatnonzero(counts):
        for start in range(0, int(counts[c]), BLOCK):
            codes = np.full(min(BLOCK, counts[c] - start), c)
            log_joint = densities.log_joint(densities.sample(codes, rng))
            posterior, _ = normalise(without_poles(log_joint, safe_log(prior)), prior)
            terms.append(weight[c] * expected_costs(posterior, costs).min(axis=1))
    term = np.concatenate(terms)
    t = log(4 / (1 - confidence))
    most = largest * float(weight.max())
    slack = sqrt(2 * float(term.var(ddof=1)) * t / n) + 7 * most * t / (3 * (n - 1))
    blind = float(expected_costs(prior[None], costs).min())  # deciding without looking at x
    mean = min(float(term.mean()), blind)
    return BayesError(
        mean, max(0.0, mean - slack), min(mean + slack, blind), confidence, "monte_carlo"
    )
