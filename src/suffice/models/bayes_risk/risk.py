"""The Bayes error: the least probability of a wrong label that any decision rule can have.

::

    E* = ∫ min_j Σ_{c ≠ j} P(c) p(x | c) dx = 1 − E[max_c P(c | x)]

Source: R. O. Duda, P. E. Hart, D. G. Stork, Pattern Classification, 2nd ed. (2001), sections 2.2
to 2.4.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from math import ceil, prod
from numbers import Integral
from typing import Literal, get_args

import numpy as np
from numpy.polynomial.legendre import leggauss

from suffice.errors import ParameterError
from suffice.models.bayes_risk.densities import (
    MOST_VALUES,
    Densities,
    cut_points,
    log_density,
    values_of,
)
from suffice.numerics.arrays import Floats
from suffice.numerics.elementary import exp, log
from suffice.numerics.in_print import Printed, Table
from suffice.numerics.logspace import normalise
from suffice.numerics.quadrature import integrate

Method = Literal["auto", "sum", "quadrature", "simulation"]
RULES = {
    "sum": f"it is for discrete columns that have {MOST_VALUES} combinations of values at most",
    "quadrature": "it is for one or two columns of real numbers with `ppf`",
}

SHARP = 1e-5  # uncertainty that "auto" is content with
TAIL = 1e-15  # probability that neither a sum nor an integral reaches
BLOCK = 8_192  # rows drawn at a time
QUANTILES = np.concatenate([np.arange(1, 33) / 64, 10.0 ** -np.arange(2, 17)])
FEW_QUANTILES = np.concatenate([np.arange(1, 17) / 32, [1e-2, 1e-3, 1e-4, 1e-6, 1e-9, 1e-12]])


@dataclass(frozen=True, repr=False)
class BayesError(Printed):
    """A Bayes error, and how well it is known.

    Parameters
    ----------
    value : float
    uncertainty : float
        The standard error of a simulation; the probability that a sum leaves out; the estimated
        error of an integral.
    method : {"sum", "quadrature", "simulation"}

    Examples
    --------
    >>> BayesError(0.0227, 0.0002, "simulation")
    value            0.0227
    uncertainty      0.0002
    method       simulation
    """

    value: float
    uncertainty: float
    method: str

    def table(self) -> Table:
        rows = [["value", f"{self.value:.10g}"], ["uncertainty", f"{self.uncertainty:.2g}"]]
        return Table("", ["", ""], [*rows, ["method", self.method]])


def bayes_error(
    densities: Densities, method: Method, n_samples: int, rng: np.random.Generator
) -> BayesError:
    """Return the Bayes error of densities.

    ``"auto"`` takes the first method that applies and has an uncertainty of at most `SHARP`.
    """
    if method not in get_args(Method):
        raise ParameterError(
            f"method={method!r}", f"it is one of {', '.join(map(repr, get_args(Method)))}"
        )
    if not (isinstance(n_samples, Integral) and n_samples >= 2):
        raise ParameterError(f"n_samples={n_samples!r}", "it is a whole number, 2 or more")
    for name, way in (("sum", _sum), ("quadrature", _quadrature)):
        if method not in ("auto", name):
            continue
        found = way(densities)
        if found is None and method == name:
            raise ParameterError(f"method={method!r} does not apply", RULES[name], "use 'auto'")
        if found is not None and (method == name or found.uncertainty <= SHARP):
            return found
    return _simulation(densities, n_samples, rng)


def _sum(known: Densities) -> BayesError | None:
    """Sum over all combinations of the values of discrete independent columns."""
    if not all(here.columns and all(here.discrete) for here in known.densities):
        return None
    values: list[Floats] = []
    for column in zip(*(here.columns for here in known.densities), strict=True):
        values.append(values_of(column))
        if prod(map(len, values)) > MOST_VALUES:
            return None
    joint = np.empty((prod(map(len, values)), len(known.prior)))
    for c, here in enumerate(known.densities):
        with np.errstate(all="ignore"):
            logs = [log_density(one, x) for one, x in zip(here.columns, values, strict=True)]
        joint[:, c] = known.prior[c] * exp(reduce(np.add.outer, logs)).ravel()
    left_out = float(np.abs(known.prior - joint.sum(axis=0)).sum()) + TAIL
    return BayesError(float(least_wrong(joint).sum()), left_out, "sum")


def _quadrature(known: Densities) -> BayesError | None:
    """Integrate what the best label misses over one or two real columns.

    The lines are cut at quantiles of all classes. One column: Gauss's rule, halving pieces until
    halving changes nothing. Two columns: the product rule with 10 nodes on each piece, and its
    distance from the one with 5 nodes as the error.
    """
    lines = list(zip(*(here.marginals for here in known.densities), strict=True))
    if not 1 <= len(lines) <= 2 or any(any(here.discrete) for here in known.densities):
        return None

    def least(rows: Floats) -> Floats:
        joint = known.log_joint(rows)
        return least_wrong(np.where(np.isposinf(joint), 0.0, exp(joint)))

    quantiles = QUANTILES if len(lines) == 1 else FEW_QUANTILES
    with np.errstate(all="ignore"):
        cuts = [cut_points(line, quantiles) for line in lines]
        if min(map(len, cuts)) < 2:
            return None
        if len(lines) == 1:
            value, error = integrate(lambda x: least(x[:, None]), cuts[0])
        else:
            x_cuts, y_cuts = cuts
            value, rough = (_product_rule(least, x_cuts, y_cuts, nodes) for nodes in (10, 5))
            error = abs(value - rough)
    return BayesError(value, error + TAIL, "quadrature")


def _product_rule(
    f: Callable[[Floats], Floats], x_cuts: Floats, y_cuts: Floats, nodes: int
) -> float:
    """∫∫ f(x, y) by Gauss's rule on every piece between cuts."""
    at, weights = leggauss(nodes)
    (x, wx), (y, wy) = (
        (
            ((cuts[1:] + cuts[:-1])[:, None] / 2 + np.diff(cuts)[:, None] / 2 * at).ravel(),
            (np.diff(cuts)[:, None] / 2 * weights).ravel(),
        )
        for cuts in (x_cuts, y_cuts)
    )
    total, step = 0.0, max(1, BLOCK // len(x))
    for first in range(0, len(y), step):
        part = y[first : first + step]
        values = f(np.column_stack([np.tile(x, len(part)), np.repeat(part, len(x))]))
        total += float(wy[first : first + step] @ (values.reshape(len(part), len(x)) @ wx))
    return total


def _simulation(densities: Densities, n_samples: int, rng: np.random.Generator) -> BayesError:
    """Average r(x) = 1 − max_c P(c | x) over drawn rows.

    Class c gives n_c rows, at least P(c) n. r(x) is known, so that drawn rows are not decided and
    counted. The estimate is Σ_c P(c) mean_c, its standard error √(Σ_c P(c)² s_c² / n_c).
    """
    prior = densities.prior
    value, variance = 0.0, 0.0
    for c in np.flatnonzero(prior).tolist():
        n = max(2, ceil(prior[c] * n_samples - 1e-9))
        wrong = []
        for first, end in pairwise([*range(0, n, BLOCK), n]):
            drawn = densities.sample(np.full(end - first, c), rng)
            log_joint = without_poles(densities.log_joint(drawn), log(prior))
            posterior, _ = normalise(log_joint, prior)
            wrong.append(least_wrong(posterior))
        r = np.concatenate(wrong)
        value += prior[c] * float(r.mean())
        variance += prior[c] ** 2 * float(r.var(ddof=1)) / n
    return BayesError(value, float(np.sqrt(variance)), "simulation")


def least_wrong(mass: Floats) -> Floats:
    """Return min_j Σ_{c ≠ j} m_c of every row (n, k); 1 − max cancels where it is small."""
    out = np.zeros_like(mass)
    for c, of_class in enumerate(mass.T):
        others = np.arange(mass.shape[1]) != c
        out[:, others] += of_class[:, None]
    return np.asarray(out.min(axis=1))


def without_poles(log_joint: Floats, log_prior: Floats) -> Floats:
    """Take the limit where a density is infinite: only such classes remain, weighed by P(c)."""
    pole = np.isposinf(log_joint)
    at = pole.any(axis=1)
    if at.any():
        log_joint[at] = np.where(pole[at], log_prior, -np.inf)
    return log_joint
