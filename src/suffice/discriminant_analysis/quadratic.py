"""Quadratic discriminant analysis: a covariance for every class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.discriminant_analysis.shared import (
    Share,
    converged_of,
    decisions,
    discriminant_method,
    factored_of,
    means_of,
    n_iter_of,
    terms_of,
)
from suffice.families.multivariate_gaussian import LOG_2PI
from suffice.models.base.checks import ClassWeight
from suffice.models.base.scikit_learn import accepts
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod
from suffice.models.generative.row_answers import joint
from suffice.numerics.interruption import interruptible
from suffice.rules import Within


@dataclass(repr=False, eq=False, kw_only=True)
@accepts(solver="svd", store_covariance=False, tol=1e-4)
class QuadraticDiscriminantAnalysis(GenerativeClassifier):
    """Quadratic discriminant analysis: p(x | c) = N(x; μ_c, Σ_c), a covariance for every class.

    ::

        μ_c = x̄_c    Σ_c = Σ_{i in c}(xᵢ − x̄_c)(xᵢ − x̄_c)ᵀ / (n_c − ddof)
        δ_c(x) = −½(x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − ½ log |Σ_c| + log P(c)

    Parameters
    ----------
    solver : {"svd", "eigen"}
        Accepted, without effect: both give the same exact answer, with every option.
    shrinkage : float or "auto", optional
        Weight s of the diagonal in (1 − s)Σ_c + s diag(Σ_c), from 0 to 1; "auto" is that of
        Ledoit and Wolf for each class's correlations.
    priors : array-like (k,), optional
        P(c), divided by their sum; default: relative frequencies.
    class_weight : mapping of label to float, or "balanced", optional
        P(c) ∝ f_c N_c: how often the rows of a class count there, and only there; "balanced"
        makes all classes that have rows equally likely.
    reg_param : float
        The same as ``shrinkage``, which it excludes.
    tol : float
        Accepted, without effect: a singular matrix is found from exact sums.
    store_covariance : bool
        Accepted, without effect: ``covariance_`` follows from the sums.
    covariance_estimator, ddof, costs, categorical
        As in `LinearDiscriminantAnalysis`.

    Attributes
    ----------
    classes_ : ndarray (k,)
    priors_, class_count_ : ndarray (k,)
        P(c), and Σw of the rows of each class.
    means_ : ndarray (k, d)
    covariance_ : list of k ndarray (d, d)
        Σ_c.
    rotations_ : list of k ndarray (d, d)
        The principal axes of Σ_c, as columns.
    scalings_ : list of k ndarray (d,)
        The variances along them, the largest first.
    n_iter_, converged_ : int, bool
        Steps of expectation-maximisation over missing cells, and whether it converged.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)
    terms_ : tuple of str (p,)
        As in `LinearDiscriminantAnalysis`.

    Notes
    -----
    Categories become columns of 0 and 1 as in `LinearDiscriminantAnalysis`. Their squares have one
    row more in every class, with the variance v_j over all classes: Σ_c has v_j/(n_c − ddof) more
    in the diagonal there, so that a class of one value is not certain of it.

    Differences from scikit-learn: ``shrinkage`` and ``reg_param`` are towards each column's own
    variance, not towards the mean variance of all columns or towards 1, so the unit of a column
    changes nothing; a singular covariance is no error: a column that others determine in all rows
    is left out, variances that would be 0 within a class are kept above it, and a
    warning says so (but `fit` refuses a class of one row); sums are exact; missing
    cells, weights and batches are taken. More than 256 columns and no more rows than columns need
    ``shrinkage`` or ``reg_param``.

    Source: T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical Learning, 2nd ed.
    (2009), eq. 4.12.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1], [np.nan, 0.5]])
    array([1, 2])
    """

    kind = replace(GenerativeClassifier.kind, dtype="numeric")

    shrinkage: Share = None
    priors: ArrayLike | None = None
    class_weight: ClassWeight = None
    reg_param: Annotated[float, Within(0, 1)] = 0.0
    covariance_estimator: Any = None
    ddof: int = 0
    costs: Any = None
    categorical: Sequence[str] | None = None

    def method(self) -> GenerativeMethod:
        return discriminant_method(self, 0.0, ("svd", "eigen"))

    terms_ = property(terms_of)
    n_iter_ = property(n_iter_of)
    converged_ = property(converged_of)
    means_ = property(means_of)
    decision_function = decisions

    @property
    def priors_(self) -> NDArray[np.float64]:
        return self.class_prior_

    def _discriminants(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._predictions(X, joint) + 0.5 * factored_of(self).rank * LOG_2PI)

    @property
    def covariance_(self) -> list[NDArray[np.float64]]:
        """Σ_c, k of (d, d)."""
        return list(factored_of(self).covariance)

    @property
    def rotations_(self) -> list[NDArray[np.float64]]:
        """Principal axes of Σ_c, as columns, k of (d, d)."""
        return list(
            interruptible(np.linalg.eigh, factored_of(self).covariance).eigenvectors[:, :, ::-1]
        )

    @property
    def scalings_(self) -> list[NDArray[np.float64]]:
        """Variances along the principal axes, k of (d,)."""
        return list(interruptible(np.linalg.eigvalsh, factored_of(self).covariance)[:, ::-1])
