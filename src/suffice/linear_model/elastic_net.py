"""The lasso and the elastic net: linear regression with a penalty that makes coefficients 0."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated

from suffice.models.base.scikit_learn import accepts
from suffice.models.linear.l1_regressor import L1Regressor
from suffice.rules import NONNEGATIVE, Within


@dataclass(repr=False, eq=False)
@accepts(precompute=False, copy_X=True, warm_start=False, random_state=None, selection="cyclic")
class ElasticNet(L1Regressor):
    """Linear regression with a penalty of absolute values and squares.

    ::

        minimise  Σ(y − b − xᵀw)²/(2n) + αρ Σ|w_j| + ½α(1 − ρ) Σ w_j²

    where n is the weight of the rows. The intercept is never penalised. A fit is a function of
    exact sums over the rows, which are read once: coordinate descent on the normal equations finds
    which coefficients are 0, and the others are solved for in double-double.

    Parameters
    ----------
    alpha : float
        α, 0 or more.
    l1_ratio : float
        ρ, from 0, which is ridge regression with penalty nα, to 1, which is the lasso.
    fit_intercept : bool
        As in `LinearRegression`.
    max_iter : int
        Most sweeps of coordinate descent over the columns.
    tol : float
        How far the conditions of a minimum may be missed before the others are solved for, as a
        fraction of the largest gradient at w = 0, in units of the columns.
    positive : bool
        Allow only w ≥ 0.
    standardize : bool
        Penalise coefficients of columns in units of their standard deviations (divisor n): the
        unit of a column then changes nothing. ``coef_`` stays in given units.
    incomplete, categorical, text, words, ordered, formula, reference, unseen
        As in `LinearRegression`.
    precompute, copy_X, warm_start, random_state, selection
        Accepted, without effect: the result does not depend on where the descent begins, nor on
        the order of columns. `path` answers for many penalties.

    Attributes
    ----------
    coef_ : ndarray (d,), or (t, d) for targets (n, t)
    intercept_ : float, or ndarray (t,)
    sparse_coef_ : scipy.sparse.csr_matrix (1, d), or (t, d)
        The coefficients that are not 0.
    n_iter_ : int
        Sweeps of coordinate descent.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    There are no standard errors: the penalty chooses columns by the same rows.

    Differences from scikit-learn: the rows are read once, and `partial_fit`, `forget`, `merge` and
    `path` read none of them again; what is printed is the minimum, not a point where a gap is below
    ``tol``; ``alpha=0`` is least squares.

    Source: H. Zou and T. Hastie, Regularization and variable selection via the elastic net (2005);
    J. Friedman, T. Hastie and R. Tibshirani, Regularization paths for generalized linear models
    via coordinate descent (2010), eq. 1.

    Examples
    --------
    >>> x, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]], [1.0, 3.0, 5.0, 7.0]
    >>> ElasticNet(alpha=0.5).fit(x, y).coef_
    array([1.5, 0. ])
    """

    alpha: Annotated[float, NONNEGATIVE] = 1.0
    _: KW_ONLY
    l1_ratio: Annotated[float, Within(0.0, 1.0)] = 0.5
    max_iter: int = 1_000
    tol: Annotated[float, NONNEGATIVE] = 1e-12
    standardize: bool = False


@dataclass(repr=False, eq=False)
@accepts(precompute=False, copy_X=True, warm_start=False, random_state=None, selection="cyclic")
class Lasso(L1Regressor):
    """Linear regression with a penalty of absolute values.

    ::

        minimise  Σ(y − b − xᵀw)²/(2n) + α Σ|w_j|

    where n is the weight of the rows: the elastic net with ``l1_ratio=1``.

    Parameters
    ----------
    alpha : float
        α, 0 or more.
    fit_intercept, max_iter, tol, positive, standardize
        As in `ElasticNet`.
    incomplete, categorical, text, words, ordered, formula, reference, unseen
        As in `LinearRegression`.
    precompute, copy_X, warm_start, random_state, selection
        Accepted, without effect.

    Attributes
    ----------
    coef_ : ndarray (d,), or (t, d) for targets (n, t)
    intercept_ : float, or ndarray (t,)
    sparse_coef_ : scipy.sparse.csr_matrix (1, d), or (t, d)
        The coefficients that are not 0.
    n_iter_ : int
        Sweeps of coordinate descent.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    As for `ElasticNet`.

    Source: R. Tibshirani, Regression shrinkage and selection via the lasso (1996).

    Examples
    --------
    >>> x, y = [[0.0, 1.0], [1.0, 0.0], [2.0, 3.0], [3.0, 1.0]], [1.0, 3.0, 5.0, 7.0]
    >>> model = Lasso(alpha=0.5).fit(x, y)
    >>> model.coef_, Lasso(alpha=0.0).fit(model.sums_).coef_
    (array([1.6, 0. ]), array([2., 0.]))
    """

    alpha: Annotated[float, NONNEGATIVE] = 1.0
    _: KW_ONLY
    max_iter: int = 1_000
    tol: Annotated[float, NONNEGATIVE] = 1e-12
    standardize: bool = False
    l1_ratio = 1.0
