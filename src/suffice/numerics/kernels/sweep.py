"""What rows with missing cells are expected to add to the sums of complete rows.

Conventions: d features. Rows form *cells*: all those that show the same columns o, and lack the
others m, under the same covariance Σ. A cell holds groups of rows, one for each of its classes.
Sweeping Σ on the columns o leaves all that is wanted of it:

    −Σ_oo⁻¹   Bᵀ        B = Σ_mo Σ_oo⁻¹   the regression of the missing columns on those shown
      B       C         C = Σ_mm − B Σ_om  the covariance that it leaves

and the product of the pivots is the determinant of Σ_oo.

Source: R. J. A. Little and D. B. Rubin, Statistical Analysis with Missing Data, 3rd ed. (2019),
sections 7.4 and 11.2.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from suffice.numerics.kernels.pairs import compiled

__all__ = ["expect"]

LOG_2PI = math.log(2.0 * math.pi)


@compiled
def _add_multiple(s: Any, f: Any, x: Any) -> None:
    """Add f · x to s, both (d,)."""
    for j in range(s.shape[0]):
        s[j] += f * x[j]


@compiled
def _sweep(a: Any, i: Any, row: Any) -> Any:
    """Sweep a symmetric matrix (d, d) on column i, in place; return the pivot."""
    pivot = a[i, i]
    for j in range(a.shape[0]):
        row[j] = a[i, j] / pivot
    for j in range(a.shape[0]):
        if j != i:
            _add_multiple(a[j], -a[i, j], row)
            a[j, i] = row[j]
    a[i] = row
    a[i, i] = -1.0 / pivot
    return pivot


@compiled
def _add_scatter(a: Any, products: Any, shown: Any, lost: Any, row: Any, scatter: Any) -> Any:
    """Add A S Aᵀ with A = [I; B] to ``scatter`` (d, d), S being ``products``; return tr Σ_oo⁻¹ S.

    ``row`` (d,) is room for one of B S.
    """
    trace = 0.0
    for i in shown:
        for j in shown:
            scatter[i, j] += products[i, j]
            trace -= products[i, j] * a[i, j]
    for j in lost:
        row[:] = 0.0
        for i in shown:
            _add_multiple(row, a[j, i], products[i])
        for i in shown:
            scatter[i, j] += row[i]
            scatter[j, i] += row[i]
            for h in lost:
                scatter[j, h] += row[i] * a[i, h]
    return trace


@compiled
def expect(
    observed: Any,
    start: Any,
    matrix: Any,
    place: Any,
    products: Any,
    code: Any,
    weight: Any,
    mean: Any,
    covariance: Any,
    x: Any,
    scatter: Any,
    log_likelihood: Any,
) -> None:
    """Fill in the missing columns of groups of rows, and add what their cells scatter.

    Cell i shows the columns ``observed[i]`` (d,), has the groups from ``start[i]`` to
    ``start[i + 1]``, the covariance ``covariance[matrix[i]]``, and the scatter of its groups,
    each about its own mean, at ``products[place[i]]``; −1 where that is 0.

    Group g is of class ``code[g]``, has the total ``weight[g]`` and the mean ``x[g]`` (d,), to
    whose missing columns the expected ones are written. A S Aᵀ + nC is added to
    ``scatter[matrix[i]]``, and the log-likelihood of the cell is written to ``log_likelihood[i]``.
    """
    d = x.shape[1]
    a, row, r, y = np.empty((d, d)), np.empty(d), np.empty(d), np.empty(d)
    for i in range(observed.shape[0]):
        shown, lost = np.flatnonzero(observed[i]), np.flatnonzero(~observed[i])
        m = matrix[i]
        a[:] = covariance[m]
        log_determinant = 0.0
        for j in shown:
            log_determinant += math.log(_sweep(a, j, row))
        n, distance = 0.0, 0.0
        if place[i] >= 0:
            distance += _add_scatter(a, products[place[i]], shown, lost, row, scatter[m])
        for g in range(start[i], start[i + 1]):
            # y = [−Σ_oo⁻¹; B] (x − μ), so that both the distance and x̂ follow from it.
            y[:] = 0.0
            for j in shown:
                r[j] = x[g, j] - mean[code[g], j]
                _add_multiple(y, r[j], a[j])
            for j in shown:
                distance -= weight[g] * r[j] * y[j]
            for j in lost:
                x[g, j] = mean[code[g], j] + y[j]
            n += weight[g]
        for j in lost:
            for h in lost:
                scatter[m, j, h] += n * a[j, h]
        log_likelihood[i] = -0.5 * (n * (shown.shape[0] * LOG_2PI + log_determinant) + distance)
