"""The Bayes risk: the least expected cost that any decision rule can have, and the Bayes error.

::

    R* = ∫ min_j Σ_i P(i) p(x | i) A_ij dx        A_ij: cost of deciding j when the truth is i

The Bayes error is R* for A = 1 − I: the probability of a wrong label under the best rule,
1 − E[max_c P(c | x)]. Four ways lead to it, from the sharpest to the most general.

Sources: R. O. Duda, P. E. Hart, D. G. Stork, Pattern Classification, 2nd ed. (2001), sections 2.2
to 2.4; C. K. Chow, On optimum recognition error and reject tradeoff (1970); A. Maurer, M. Pontil,
Empirical Bernstein bounds and sample variance penalization (2009).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import reduce
from math import ceil, log, prod, sqrt
from numbers import Integral, Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.optimize import linprog
from scipy.special import ndtr

from suffice.errors import ParameterError
from suffice.models.bayes_risk.class_densities import ClassDensities, KnownDensities
from suffice.models.bayes_risk.densities import MOST_ATOMS, REST, Density, OneColumn
from suffice.numerics.error_free import multiply, two_sum
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import factorise
from suffice.numerics.logspace import normalise, safe_log
from suffice.numerics.quadrature import integrate

__all__ = [
    "BayesError",
    "Method",
    "bayes_risk",
    "closed_form",
    "exact_sum",
    "expected_costs",
    "gaussian",
    "largest_risk",
    "monte_carlo",
    "quadrature",
    "without_poles",
    "zero_one",
]

Method = Literal["auto", "closed_form", "sum", "quadrature", "monte_carlo"]

SHARP = 1e-6  # width of an interval that "auto" is content with
ROUNDING = 1e-14  # relative, of a distance and of Φ
BLOCK = 8_192  # rows drawn at a time
HALVINGS = 80  # of the bracket around a boundary between decisions

_NORMAL, _MULTIVARIATE_NORMAL = type(stats.norm), type(stats.multivariate_normal([0.0]))

# Quantiles that cut the line: even in the middle, by decades in the tails.
_QUANTILES = np.concatenate([np.arange(1, 33) / 64, 10.0 ** -np.arange(2, 17)])


@dataclass(frozen=True)
class BayesError:
    """A Bayes error or Bayes risk, and how well it is known.

    Parameters
    ----------
    value : float
        The answer.
    low, high : float
        Bounds. Rounding, truncation and the error of integration are in them, too.
    confidence : float
        Probability, at least, that chance does not break the bounds: 1 but for Monte Carlo.
    method : {"closed_form", "sum", "quadrature", "monte_carlo"}
        How it was found.
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str


def zero_one(k: int) -> NDArray[np.float64]:
    """Costs (k, k) of which the expectation is the probability of a wrong label: 1 − I."""
    return 1.0 - np.eye(k)


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


def without_poles(
    log_joint: NDArray[np.float64], log_prior: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Take the limit where a density is infinite: only such classes remain, weighed by P(c)."""
    pole = np.isposinf(log_joint)
    at = pole.any(axis=1)
    if at.any():
        log_joint[at] = np.where(pole[at], log_prior, -np.inf)
    return log_joint


def bayes_risk(
    densities: ClassDensities,
    costs: NDArray[np.float64],
    method: Method,
    n_samples: int,
    confidence: float,
    rng: np.random.Generator,
) -> BayesError:
    """The Bayes risk by one method, or by the first that gives a sharp answer.

    Parameters
    ----------
    densities : ClassDensities
        Class prior and class-conditional distributions.
    costs : ndarray (k, m)
        A, of m decisions.
    method : {"auto", "closed_form", "sum", "quadrature", "monte_carlo"}
    n_samples, confidence, rng
        See `monte_carlo`.

    Raises
    ------
    ParameterError
        If the method is unknown or does not apply.
    """
    if method not in get_args(Method):
        raise ParameterError(
            f"method={method!r}", f"it is one of {', '.join(map(repr, get_args(Method)))}"
        )
    _check_sampling(n_samples, confidence)
    useful = _undominated(costs[densities.prior > 0])
    known = None if method == "monte_carlo" else densities.known()
    for name, (exact, rule) in _EXACT.items():
        if method not in ("auto", name):
            continue
        found = None if known is None else exact(known.possible(), useful)
        if method == name:
            if found is None:
                raise ParameterError(f"method={method!r} does not apply", rule, "use 'auto'")
            return found
        if found is not None and found.high - found.low <= SHARP:
            return found
    return monte_carlo(densities, costs, n_samples, confidence, rng)


def _undominated(costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out decisions that cost no less than another one, whatever the truth."""
    kept: list[int] = []
    for j in np.argsort(costs.sum(axis=0), kind="stable"):
        if not any((costs[:, i] <= costs[:, j]).all() for i in kept):
            kept.append(int(j))
    return costs[:, sorted(kept)]


# -- closed form


def closed_form(known: KnownDensities, costs: NDArray[np.float64]) -> BayesError | None:
    """Two Gaussian classes of one covariance matrix Σ; or a decision that needs no look at x.

    ::

        P(error) = π₁ Φ(−Δ/2 + log(π₂/π₁)/Δ) + π₂ Φ(−Δ/2 − log(π₂/π₁)/Δ)
        Δ² = (μ₁ − μ₂)ᵀ Σ⁻¹ (μ₁ − μ₂)

    With costs, π_i is replaced by the regret π_i (max_j A_ij − min_j A_ij), and Σ_i π_i min_j A_ij
    is added.

    Source: T. W. Anderson, An Introduction to Multivariate Statistical Analysis, 3rd ed. (2003),
    section 6.4; Duda, Hart and Stork (2001), section 2.2.1, for the costs.
    """
    if costs.shape[1] == 1:
        return _between(float(known.prior @ costs[:, 0]), 0.0, "closed_form")
    delta = _distance(known)
    if delta is None or costs.shape != (2, 2):
        return None
    right = costs.min(axis=1)  # neither decision dominates: each is right for one class
    regret = known.prior * (costs.max(axis=1) - right)
    least = float(known.prior @ right)
    value, low, high = (
        least + _gaussian_error(regret, delta * (1 + slack)) for slack in (0, ROUNDING, -ROUNDING)
    )
    return BayesError(value, low * (1 - ROUNDING), high * (1 + ROUNDING), 1.0, "closed_form")


def _gaussian_error(weight: NDArray[np.float64], delta: float) -> float:
    """∫ min(w₁ p₁, w₂ p₂) for two Gaussians at distance Δ."""
    if not (weight > 0).all() or delta == 0:
        return float(weight.min())
    shift = float(np.log(weight[1] / weight[0])) / delta
    return float(weight @ ndtr([-delta / 2 + shift, -delta / 2 - shift]))


def gaussian(density: Density) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Mean (d,) and covariance matrix (d, d) of a Gaussian; None of anything else.

    What SciPy takes for singular is something else: its density is that of a subspace.
    """
    joint = getattr(density, "distribution", None)
    if isinstance(joint, _MULTIVARIATE_NORMAL):
        if joint.cov_object.rank < joint.dim:
            return None
        return np.asarray(joint.mean), np.asarray(joint.cov)
    ones = [column.distribution for column in density.columns]
    if not ones or not all(isinstance(getattr(one, "dist", None), _NORMAL) for one in ones):
        return None
    return np.array([one.mean() for one in ones]), np.diag([one.std() for one in ones]) ** 2


def _distance(known: KnownDensities) -> float | None:
    """Mahalanobis distance Δ of two Gaussian classes of the same, regular covariance matrix."""
    pair = [gaussian(density) for density in known.densities]
    if len(pair) != 2 or pair[0] is None or pair[1] is None:
        return None
    (mean, covariance), (other, same) = pair[0], pair[1]
    if not np.array_equal(covariance, same):
        return None
    factor = factorise(DoubleDouble.of(covariance))
    if factor.dependent:
        return None
    difference = DoubleDouble(*two_sum(mean, -other))
    solution = factor.solve(difference[:, None])[:, 0]
    terms = multiply(difference.hi, difference.lo, solution.hi, solution.lo)
    return sqrt(float(DoubleDouble(*terms).sum(axis=0).value))


# -- discrete columns


def exact_sum(known: KnownDensities, costs: NDArray[np.float64]) -> BayesError | None:
    """Discrete independent columns: the sum over all combinations of their values.

    Values are listed until less than 10⁻¹⁵ of the probability is missing. What is missing, or too
    much by rounding, costs at most the largest risk there is; that is the width of the bounds.
    """
    table = [density.columns for density in known.densities]
    if not all(columns and all(column.discrete[0] for column in columns) for columns in table):
        return None
    atoms: list[NDArray[np.float64]] = []
    for same in zip(*table, strict=True):
        atoms.append(np.unique(np.concatenate([column.atoms() for column in same])))
        if prod(map(len, atoms)) > MOST_ATOMS:
            return None
    joint = np.empty((prod(map(len, atoms)), len(table)))
    missing = 0.0
    for c, columns in enumerate(table):
        with np.errstate(all="ignore"):
            logs = [
                column.log_density(values) for column, values in zip(columns, atoms, strict=True)
            ]
        mass = np.exp(reduce(np.add.outer, logs)).ravel()
        missing += float(known.prior[c]) * abs(1.0 - float(mass.sum()))
        joint[:, c] = known.prior[c] * mass
    value = float(expected_costs(joint, costs).min(axis=1).sum())
    return _between(value, largest_risk(costs) * (missing + REST), "sum")


def _between(value: float, slack: float, method: str) -> BayesError:
    return BayesError(value, max(0.0, value - slack), value + slack, 1.0, method)


# -- one continuous column


def quadrature(known: KnownDensities, costs: NDArray[np.float64]) -> BayesError | None:
    """One continuous column: the risk of the regions of decision, checked by integration.

    The line is cut where the best decision changes; the risk of deciding so is a sum of
    differences of distribution functions, and no rule whatever has less than R*. The integral of
    the least cost, by Gauss's rule, is an answer of its own. The distance of the two and the
    estimated error of integration make the bounds.

    Two Gaussian classes of one covariance matrix, of any number of columns, are as far apart as
    N(0, 1) and N(Δ, 1) on the line of the discriminant, which says all that a row can say.
    """
    delta = _distance(known)
    if delta is not None:
        line = OneColumn(stats.norm(0, 1)), OneColumn(stats.norm(delta, 1))
        known = replace(known, densities=line)
    columns = [density.columns for density in known.densities]
    if not all(len(one) == 1 and not one[0].discrete[0] for one in columns):
        return None
    lines = [one[0] for one in columns]

    def least(x: NDArray[np.float64]) -> NDArray[np.float64]:
        joint = known.joint_of(x[:, None])
        mass = np.where(np.isposinf(joint), 0.0, np.exp(joint))
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
        shares = np.array([line.probabilities(edges) for line in lines])  # (k, regions)
        region_risk = float((known.prior[:, None] * shares * costs[:, decisions]).sum())
        integral, error = integrate(least, np.unique(np.concatenate([cuts, boundaries])))
    # Differences of distribution functions are right to an absolute ε, hence the last term.
    slack = abs(region_risk - integral) + error + ROUNDING * region_risk
    slack += float(np.finfo(np.float64).eps * costs.max()) * len(decisions)
    if delta is not None:
        # A distance off by ε moves a Gaussian by less than 0.4 ε in total variation.
        slack += 0.4 * ROUNDING * delta * float(costs.max())
    return _between(region_risk, slack, "quadrature")


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
    for _ in range(HALVINGS):
        left = np.flatnonzero(choice[1:] != choice[:-1])
        middle = x[left] / 2 + x[left + 1] / 2
        inside = (middle > x[left]) & (middle < x[left + 1])
        if not inside.any():
            break
        left, middle = left[inside] + 1, middle[inside]
        x, choice = np.insert(x, left, middle), np.insert(choice, left, decide(middle))
    change = np.flatnonzero(choice[1:] != choice[:-1])
    return x[change], np.append(choice[change], choice[-1])


# -- Monte Carlo


def monte_carlo(
    densities: ClassDensities,
    costs: NDArray[np.float64],
    n_samples: int,
    confidence: float,
    rng: np.random.Generator,
) -> BayesError:
    """The mean of the least conditional cost r(x) = min_j Σ_i P(i | x) A_ij of drawn rows.

    Class c gives n_c rows, its share of n. Drawn rows are not decided and counted: r(x) is known,
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
    counts = np.array([ceil(share * n_samples - 1e-9) for share in prior])
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


def _check_sampling(n_samples: int, confidence: float) -> None:
    if not (isinstance(n_samples, Integral) and n_samples >= 2):
        raise ParameterError(f"n_samples={n_samples!r}", "it is a whole number, 2 or more")
    if not (isinstance(confidence, Real) and 0 < confidence < 1):
        raise ParameterError(f"confidence={confidence!r}", "it lies between 0 and 1")


_EXACT: dict[
    str, tuple[Callable[[KnownDensities, NDArray[np.float64]], BayesError | None], str]
] = {
    "closed_form": (
        closed_form,
        "it is for two classes that are Gaussian with one regular covariance matrix "
        "(scipy.stats.norm, multivariate_normal or a fitted model), and without rejection",
    ),
    "sum": (
        exact_sum,
        f"it is for discrete columns that have {MOST_ATOMS} combinations of values at most",
    ),
    "quadrature": (
        quadrature,
        "it is for one continuous column, of a fitted model or with `ppf` and `cdf`",
    ),
}
