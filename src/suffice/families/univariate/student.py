"""The Gaussian's posterior predictive at the numbers of a column, each of them left out or not."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.cells import Cells
from suffice.numerics import kernels
from suffice.statistics.moments import Moments

__all__ = ["student_densities"]


def student_densities(
    moments: Moments, j: int, cells: Cells
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return log p(x | c) in the middle of every cell, and the same without x in class c, (k, m).

    Of column j by the prior of `suffice.families.gaussian.Gaussian`: one row at the mean of all
    classes, and two of their variance. Without x, with n' = n − 1,

    ::

        x̄' = x̄ − (x − x̄)/n'    Σ' = Σ − (x − x̄)² n/n'

    Source: K. P. Murphy, Conjugate Bayesian analysis of the Gaussian distribution (2007), eqs.
    86-89 and 110.
    """
    pooled, logs, without = moments.one_class, *np.empty((2, *cells.counts.shape))
    kernels.densities.student(
        cells.at,
        moments.total[:, j],
        moments.mean[:, j],
        moments.scatter[:, j],
        float(pooled.mean[0, j]),
        float(pooled.variance[0, j]),
        logs,
        without,
    )
    return logs, without
