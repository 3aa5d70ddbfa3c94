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
from numbers import Integral, Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.bayes_risk.bayes_error import BayesError
from suffice.models.bayes_risk.class_densities import ClassDensities, KnownDensities
from suffice.models.bayes_risk.closed_form import closed_form
from suffice.models.bayes_risk.densities import MOST_ATOMS
from suffice.models.bayes_risk.exact_sum import exact_sum
from suffice.models.bayes_risk.monte_carlo import monte_carlo
from suffice.models.bayes_risk.quadrature import quadrature

__all__ = ["Method", "bayes_risk"]

Method = Literal["auto", "closed_form", "sum", "quadrature", "monte_carlo"]

SHARP = 1e-6  # width of an interval that "auto" is content with


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
