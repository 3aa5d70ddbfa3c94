"""The Bayes risk of discrete columns: a sum over all combinations of their values."""

from __future__ import annotations

from functools import reduce
from math import prod

import numpy as np
from numpy.typing import NDArray

from suffice.models.base.costs import expected_costs
from suffice.models.bayes_risk.bayes_error import BayesError, between
from suffice.models.bayes_risk.class_densities import KnownDensities
from suffice.models.bayes_risk.costs import largest_risk
from suffice.models.bayes_risk.densities import MOST_ATOMS, REST
from suffice.numerics.elementary import exp

__all__ = ["exact_sum"]


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
        mass = exp(reduce(np.add.outer, logs)).ravel()
        missing += float(known.prior[c]) * abs(1.0 - float(mass.sum()))
        joint[:, c] = known.prior[c] * mass
    value = float(expected_costs(joint, costs).min(axis=1).sum())
    return between(value, largest_risk(costs) * (missing + REST), "sum")
