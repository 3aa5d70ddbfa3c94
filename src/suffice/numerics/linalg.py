"""Linear algebra of symmetric positive semidefinite matrices in double-double.

Everything follows from one factorisation, A = L D Lᵀ, of the matrix scaled by powers of two to a
diagonal near 1. A singular matrix is no exception: a column that is a linear combination of
earlier ones has pivot 0, and what is computed holds on the other columns, the independent ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from suffice.errors import DataError
from suffice.numerics import kernels
from suffice.numerics.arrays import Bools, Floats
from suffice.numerics.elementary import log, log_of
from suffice.numerics.error_free import divide, in_parts, multiply, quick_two_sum, two_product
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.interruption import interruptible

SHARPEST = 2.0**-100  # noise of a factorisation in double-double
LEAST_PIVOT = 2.0**-80  # see `factorise`
ROUNDED_MATRIX = 2.0**-48  # noise of a matrix that was rounded to double: 2⁻⁵³ an element, and sums


@dataclass(frozen=True, eq=False)
class Factor:
    """A = S⁻¹ L D Lᵀ S⁻¹, what `factorise` makes of a symmetric positive semidefinite matrix.

    L is unit lower triangular: column j below the diagonal is 0 for a dependent column j, and its
    row is kept, so that L D Lᵀ is the whole matrix. Row j of L⁻¹ holds 1 for column j and minus its
    regression coefficients on the earlier ones; times S, that of a dependent column is a null
    vector of A.

    Source: G. H. Golub and C. F. Van Loan, Matrix Computations, 4th ed. (2013), sections 4.1.2
    and 4.2.8.
    """

    scale: Floats  # diagonal of S, (d,): powers of two, so that scaling rounds nothing
    lower: DoubleDouble  # L, (d, d)
    lower_inverse: DoubleDouble  # L⁻¹, (d, d)
    pivots: DoubleDouble  # diagonal of D, (d,): what earlier columns leave of (S A S)_jj, 0 of none
    noise: Floats  # the part of (S A S)_jj that means nothing, (d,)

    @property
    def independent(self) -> Bools:
        """Return whether each column, (d,), is no linear combination of earlier ones."""
        return self.pivots.hi > 0.0

    @property
    def dependent(self) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.pivots.hi <= 0.0).tolist())

    @property
    def rank(self) -> int:
        return int(self.independent.sum())

    @property
    def log_determinant(self) -> float:
        """log det A of the independent columns: Σ log d_j − 2 Σ log s_j; 0 if there are none."""
        used = self.independent
        mantissas, exponents = np.frexp(self.pivots.hi[used])
        exponent = exponents.sum() - 2 * (np.frexp(self.scale[used])[1] - 1).sum()
        return math.fsum([*log(mantissas), exponent * log_of(2.0)])

    @cached_property
    def cholesky(self) -> DoubleDouble:
        """C = S⁻¹ L D^½, lower triangular (d, d), with C Cᵀ = A."""
        root, _ = self._roots
        columns = in_parts(multiply, self.lower.hi, self.lower.lo, root.hi, root.lo)
        return _scaled(DoubleDouble(*columns), 1.0 / self.scale[:, None])

    @cached_property
    def whitening(self) -> DoubleDouble:
        """W = D^{+½} L⁻¹ S, lower triangular (d, d), with W A Wᵀ = I on the independent columns.

        The rows and columns of dependent columns are 0; abs(W v)² = vᵀ A⁻ v.
        """
        _, reciprocal = self._roots
        hi, lo = reciprocal.hi[:, None], reciprocal.lo[:, None]
        rows = in_parts(multiply, self.lower_inverse.hi, self.lower_inverse.lo, hi, lo)
        return _scaled(DoubleDouble(*rows), self.scale)

    @cached_property
    def _roots(self) -> tuple[DoubleDouble, DoubleDouble]:
        """D^½ and D^{+½}, its inverse where it is not 0; (d,) each."""
        used = self.independent
        square = DoubleDouble(np.where(used, self.pivots.hi, 1.0), self.pivots.lo)
        root = np.sqrt(square.hi)
        p, e = two_product(root, root)
        root, rest = quick_two_sum(root, ((square.hi - p) - e + square.lo) / (2.0 * root))
        reciprocal, off = divide(np.ones_like(root), np.zeros_like(root), root, rest)
        return DoubleDouble(root * used, rest * used), DoubleDouble(reciprocal * used, off * used)

    def inverse_diagonal(self) -> DoubleDouble:
        """Diagonal of A⁻, (d,), without the rest of it."""
        hi, lo = self.whitening.hi, self.whitening.lo
        return DoubleDouble(*in_parts(multiply, hi, lo, hi, lo)).sum(axis=0)

    def solve(self, b: DoubleDouble) -> DoubleDouble:
        """Return x = A⁻ b, (d, t), for b (d, t): 0 in the dependent columns.

        A x = b where b is in the range of A, as the sums Xᵀy of the normal equations are.
        Where it is not, the rows of dependent columns are disregarded.
        """
        upper, x = _rows(self.lower.T), _rows(_scaled(b, self.scale[:, None]))
        kernels.factor.solve(*upper, self.pivots.hi, self.pivots.lo, *x)
        return _scaled(DoubleDouble(*x), self.scale[:, None])

    def combination(self, column: int) -> dict[int, float]:
        """Say of which earlier independent columns a dependent one is made, and how much of each.

        Coefficients are rounded to the decimals that noise leaves them, and left out if that is
        0. The combination of a zero column is empty.
        """
        c = self.lower_inverse.hi[column]
        coefficients = -c[:column] * self.scale[:column] / self.scale[column]
        spread = np.sqrt((self.whitening.hi[:column] ** 2).sum(axis=0)[:column])
        unknown = np.sqrt((c**2 * self.noise).sum()) / self.scale[column] * spread
        decimals = -np.ceil(np.log10(np.maximum(unknown, 1e-300)))
        rounded = map(round, coefficients.tolist(), decimals.astype(int).tolist())
        return {i: coefficient for i, coefficient in enumerate(rounded) if coefficient}

    def left_over(self, column: int) -> float:
        """Return how much of a dependent column its combination may leave, as a fraction of √A_jj.

        ::

            √(Σ_i c_i² tolerance_i A_ii / A_jj)

        in the words of `factorise`, and 1 where noise explains all of the column; 0 for a zero
        column.
        """
        own = (self.lower.hi[column] ** 2 * self.pivots.hi).sum()
        unknown = (self.lower_inverse.hi[column] ** 2 * self.noise).sum()
        return min(math.sqrt(unknown / own), 1.0) if own > 0 else float(unknown > 0)


def factorise(a: DoubleDouble, tolerance: ArrayLike = LEAST_PIVOT) -> Factor:
    """Factor a symmetric positive semidefinite matrix A (d, d) as L D Lᵀ, columns in their order.

    Column j is dependent if noise alone explains what the earlier columns leave of it: with c_j = 1
    and −c_i the coefficients of its regression on them,

    ::

        cᵀ A c ≤ Σ_i c_i² tolerance_i A_ii

    This does not depend on the units of the columns, and no column of a matrix is dependent whose
    smallest eigenvalue, scaled to a unit diagonal, is above the tolerance.

    The default, 2⁻⁸⁰, lies between what rounding does and what real designs are. A sum of columns
    that was rounded to double is off by 2⁻¹⁰⁹ m², where m is their mean in standard deviations
    (scatter matrix; 1 for raw sums of squares): it is found for m up to 10⁴. Exact sums and this
    factorisation are off by 2⁻⁹⁵ or less. The most ill-conditioned reference design of NIST, the
    polynomial of degree 10 of *Filip*, is at 2⁻⁶¹, and 2⁻⁸⁰ is a condition number of 10¹² of the
    scaled design. For columns further from 0, give them their own tolerance (d,), 2⁻¹⁰⁴ m². Of A
    the upper triangle is read.
    """
    for i, j in np.argwhere(~np.isfinite(a.hi)):
        raise DataError(f"entry ({i}, {j}) of a matrix is {a.hi[i, j]}", "it must be finite")
    diagonal = np.maximum(np.diagonal(a.hi), 0.0)
    scale = np.ldexp(1.0, -(np.frexp(diagonal)[1] // 2))
    scaled = (np.triu(part * scale * scale[:, None]) for part in (a.hi, a.lo))
    upper, upper_lo = map(np.ascontiguousarray, scaled)
    noise = np.multiply(tolerance, diagonal * scale * scale)
    negative, *pairs = kernels.factor.factorise(upper, upper_lo, noise)
    if negative >= 0:
        raise DataError(
            f"column {negative}: given the columns before it, its variance is "
            f"{upper[negative, negative] / scale[negative] / scale[negative]:.3g}",
            "a matrix of covariances must be positive semidefinite",
        )
    lower = DoubleDouble(upper.T, upper_lo.T)
    pivots, inverse = DoubleDouble(*pairs[:2]), DoubleDouble(*pairs[2:])
    return Factor(scale, lower, inverse, pivots, noise)


def floored(sigma: DoubleDouble, total: Factor, epsilon: float) -> tuple[DoubleDouble, bool]:
    """Raise the variance of Σ to ε times that of T in every direction in which it is less.

    With C Cᵀ = T and W = C⁻, the relative variances are the eigenvalues λ of W Σ Wᵀ; with X the
    eigenvectors of those below ε,

    ::

        Σ + C X (ε I − Xᵀ W Σ Wᵀ X) Xᵀ Cᵀ

    An invertible linear change of the columns changes the result likewise. The directions X are
    found in double, and what they lack in double-double. Σ (d, d) is symmetric, and has the range
    of T or a part of it; with it is returned whether any λ was below ε ≥ 0.
    """
    whitening = total.whitening[total.independent]
    relative = product(whitening, product(whitening, sigma).T)
    variances, axes = eigh(relative.value)
    if not (variances < epsilon).any():
        return sigma, False
    x = DoubleDouble.of(axes[:, variances < epsilon])
    missing = DoubleDouble.of(epsilon * np.eye(x.shape[1])) - _congruence(x.T, relative)
    directions = product(total.cholesky[:, total.independent], x)
    return sigma + _congruence(directions, missing), True


def is_above(a: DoubleDouble, b: Floats) -> bool:
    """Return whether A − B, symmetric (d, d), is positive definite beyond doubt; in double.

    A Cholesky factorisation of S(A − B)S − cI that runs to its end proves it, where S scales A to
    a diagonal of at most 2 and c = 2⁻⁵⁰ d (d + 3) bounds all rounding errors. False says nothing.

    Source: S. M. Rump, Verification of positive definiteness, BIT Numerical Mathematics 46 (2006),
    theorem 2.3.
    """
    diagonal = np.diagonal(a.hi)
    if not (diagonal > 0).all():
        return False
    scale, d = np.ldexp(1.0, -(np.frexp(diagonal)[1] // 2)), len(diagonal)
    scaled = (a.hi - b) * scale * scale[:, None]
    scaled[np.diag_indices(d)] -= 2.0**-50 * d * (d + 3)
    try:
        interruptible(np.linalg.cholesky, scaled)
    except np.linalg.LinAlgError:
        return False
    return True


def eigh(a: Floats) -> tuple[Floats, Floats]:
    """Return λ and X with A X = X diag(λ) of symmetric matrices, the same bits on every processor.

    LAPACK chooses its loops by the processor, and may divide the work between threads. Of A
    (..., d, d), which is finite, the lower triangle is read; λ (..., d) ascend, and X (..., d, d)
    has a column for each.
    """
    if not np.isfinite(a).all():
        raise ValueError("eigenvalues of a matrix that is not finite")
    rows = np.array(a, np.float64, order="C").reshape(math.prod(a.shape[:-2]), *a.shape[-2:])
    values = np.empty(rows.shape[:2])
    if not kernels.eigen.symmetric(rows, values):
        raise ArithmeticError("QL steps did not converge")
    return values.reshape(a.shape[:-1]), rows.reshape(a.shape).swapaxes(-1, -2)


def _scaled(a: DoubleDouble, scale: Floats) -> DoubleDouble:
    """Multiply by powers of two, without rounding."""
    return DoubleDouble(a.hi * scale, a.lo * scale)


def _rows(a: DoubleDouble) -> tuple[Floats, Floats]:
    """Lay a matrix out row by row, as kernels want it."""
    return np.ascontiguousarray(a.hi), np.ascontiguousarray(a.lo)


def product(a: DoubleDouble, b: DoubleDouble) -> DoubleDouble:
    """Return a b, (n, m), of a (n, d) and b (d, m)."""
    return DoubleDouble(*kernels.factor.product(*_rows(a), *_rows(b)))


def _congruence(b: DoubleDouble, a: DoubleDouble) -> DoubleDouble:
    """Return b a bᵀ, (n, n), for a symmetric (d, d): its upper triangle, mirrored."""
    c = product(b, product(b, a).T)
    hi, lo = (np.triu(part) + np.triu(part, 1).T for part in (c.hi, c.lo))
    return DoubleDouble(hi, lo)
