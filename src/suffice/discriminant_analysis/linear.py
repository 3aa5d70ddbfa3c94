"""Linear discriminant analysis: one covariance for all classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from numbers import Integral
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.discriminant_analysis.shared import (
    Share,
    check_axes,
    converged_of,
    decisions,
    discriminant_method,
    factored_of,
    means_of,
    n_iter_of,
    on_axes,
    one_of_two,
    terms_of,
)
from suffice.errors import ParameterError
from suffice.models.base.checks import ClassWeight
from suffice.models.base.scikit_learn import accepts, in_container
from suffice.models.estimator import answers_by_batch, fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod
from suffice.models.generative.row_answers import discriminants
from suffice.models.reading import in_precision
from suffice.numerics.interruption import interruptible
from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import linear
from suffice.rules import NONNEGATIVE


@dataclass(repr=False, eq=False)
@accepts("shrinkage", solver="svd")
@accepts("tol", store_covariance=False)
class LinearDiscriminantAnalysis(GenerativeClassifier):
    """Linear discriminant analysis: p(x | c) = N(x; μ_c, Σ), one covariance for all classes.

    ::

        μ_c = x̄_c    Σ = Σ_c Σ_{i in c}(xᵢ − x̄_c)(xᵢ − x̄_c)ᵀ / (n − ddof·k)
        δ_c(x) = (x − x̄)ᵀΣ⁻¹(μ_c − x̄) − ½(μ_c − x̄)ᵀΣ⁻¹(μ_c − x̄) + log P(c)

    with x̄ = Σ_c P(c)μ_c. The axes of `transform` are the solutions a of B a = λΣa with
    B = Σ_c P(c)(μ_c − x̄)(μ_c − x̄)ᵀ, the largest λ first, scaled to aᵀΣa = 1; the last class is
    on their positive side.

    Parameters
    ----------
    solver : {"svd", "lsqr", "eigen"}
        Accepted, without effect: all give the same exact answer, with every option.
    shrinkage : float or "auto", optional
        Weight s of the diagonal in (1 − s)Σ + s diag(Σ), from 0 to 1; "auto" is that of
        Ledoit and Wolf for the correlations, in which the number of rows is Σw.
    priors : array-like (k,), optional
        P(c), divided by their sum; default: relative frequencies.
    class_weight : mapping of label to float, or "balanced", optional
        P(c) ∝ f_c N_c: how often the rows of a class count there, and only there; "balanced"
        makes all classes that have rows equally likely.
    n_components : int, optional
        Number of axes of `transform`, at most min(k − 1, d); default: all.
    store_covariance : bool
        Accepted, without effect: ``covariance_`` follows from the sums.
    tol : float
        An axis on which the classes' spread √λ is at most this fraction of the largest is left out.
        Predictions do not depend on it.
    covariance_estimator : object, optional
        `EmpiricalCovariance`, `ShrunkCovariance` or `LedoitWolf` of `sklearn.covariance`, for the
        shrinkage that they stand for.
    ddof : int
        0 for maximum likelihood, 1 for the unbiased covariance, as R's ``MASS::lda`` and
        ``MASS::qda`` and earlier releases of scikit-learn. In no direction is a variance less than
        1e-9 of that over all classes.
    costs : array (k, k), optional
        ``costs[i][j]`` is the cost of answering label j where i is true, labels sorted. The label
        answered is the one of least expected cost; by default the most probable.
    categorical : sequence of str, optional
        Columns of numbers that are categories, besides those of strings.

    Attributes
    ----------
    classes_ : ndarray (k,)
    priors_, class_count_ : ndarray (k,)
        P(c), and Σw of the rows of each class.
    means_ : ndarray (k, d)
    xbar_ : ndarray (d,)
        x̄.
    covariance_ : ndarray (d, d)
        Σ.
    coef_ : ndarray (k, d), or (1, d) for two classes
        Σ⁻¹(μ_c − x̄); for two classes, Σ⁻¹(μ₂ − μ₁).
    intercept_ : ndarray (k,), or (1,)
        δ_c(0); for two classes, δ₂(0) − δ₁(0).
    scalings_ : ndarray (d, r)
        The axes a.
    explained_variance_ratio_ : ndarray (r,)
        λ / Σλ.
    n_iter_, converged_ : int, bool
        Steps of expectation-maximisation over missing cells, and whether it converged.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    terms_ : tuple of str (p,)
        Names of the numbers that a row becomes; d above is p where columns are categories.

    Notes
    -----
    A column of strings is a category, and becomes the terms that it has in linear models: an
    indicator of each value but the first, and of missing cells where the first fit has some. Later
    rows of a fit must have the values of the first. In a prediction, a missing cell or unseen value
    is left out. In the fit, missing numbers are expected from the mean of their class, or, in a
    table without categories, from the other cells too, by expectation-maximisation.

    Differences from scikit-learn: shrinkage is towards each column's own variance, not towards
    the mean variance of all columns, so the unit of a column changes nothing, and "auto" chooses
    it once for Σ, not for every class; given ``priors`` do not change Σ (with scikit-learn's
    "lsqr" and "eigen" they do); a column that others determine, or that is constant, is left out
    with a warning and has the coefficient 0, whatever the scale of the columns; ``scalings_`` has
    no column beyond k − 1; sums are exact; missing cells, weights and batches are taken.

    More than 256 columns and no more rows than columns are fitted in the space of the rows, as by
    scikit-learn's "svd", and 384 terms and more of categories from compressed rows; a file of
    such a model predicts, and refuses `partial_fit` and `forget`.

    Source: C. R. Rao, The utilization of multiple measurements in problems of biological
    classification, J. R. Stat. Soc. B 10 (1948); T. Hastie, R. Tibshirani and J. Friedman, The
    Elements of Statistical Learning, 2nd ed. (2009), eq. 4.10 and section 4.3.3.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = LinearDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1], [np.nan, 0.5]])
    array([1, 2])
    >>> model.transform([[-1, -1]]).round(3)
    array([[-2.121]])

    >>> table = {"size": [1.0, 2.0, 2.5, 4.0, 5.0, 7.0], "color": ["red", "blue", "red"] * 2}
    >>> mixed = LinearDiscriminantAnalysis().fit(table, list("aaabbb"))
    >>> mixed.terms_, mixed.predict({"size": [4.5], "color": ["green"]})
    (('size', 'color[red]'), array(['b'], dtype='<U1'))
    """

    kind = replace(
        GenerativeClassifier.kind,
        mixins=(
            "ClassNamePrefixFeaturesOutMixin",
            "TransformerMixin",
            *GenerativeClassifier.kind.mixins,
        ),
        dtype="numeric",
        in_single=True,
    )

    shrinkage: Share = None
    priors: ArrayLike | None = None
    n_components: int | None = None
    tol: Annotated[float, NONNEGATIVE] = 1e-4
    covariance_estimator: Any = None
    _: KW_ONLY
    class_weight: ClassWeight = None
    ddof: int = 0
    costs: Any = None
    categorical: Sequence[str] | None = None

    def method(self) -> GenerativeMethod:
        n = self.n_components
        if n is not None and not (isinstance(n, Integral) and n >= 1):
            raise ParameterError(
                f"n_components={n!r}", "the number of axes is a whole number, 1 or more"
            )
        solvers = "svd", "lsqr", "eigen"
        return discriminant_method(self, 1.0, solvers, n_components=n)

    terms_ = property(terms_of)
    n_iter_ = property(n_iter_of)
    converged_ = property(converged_of)
    means_ = property(means_of)
    decision_function = decisions

    @property
    def priors_(self) -> NDArray[np.float64]:
        """P(c), (k,)."""
        return self.class_prior_

    def transform(self, X: Any) -> Any:
        """Return the rows on the axes that divide the classes most, (x − x̄)ᵀa, (n, r).

        Of a row with missing cells, its expectation given the others, whatever the class:
        that of x, with m_c = Σ_oo⁻¹(x_o − μ_co) of the cells o that it shows, is

        ::

            Σ_c P(c | x_o) (μ_c + Σ_·o m_c)

        Raises
        ------
        DataError
            If a number is infinite or larger than 1e150.
        ParameterError
            If there are fewer axes than ``n_components``: `partial_fit` may not have seen all
            classes yet.
        """
        return in_container(self, X, self._transformed)

    def _transformed(self, X: Any) -> NDArray[np.float64]:
        model = fitted(self)
        axes = self.scalings_[:, : self._n_features_out]
        found = answers_by_batch(self, X, partial(on_axes, model, self.xbar_, axes))
        return in_precision(self.reader_, X, np.concatenate(found))

    def _discriminants(self, X: Any) -> NDArray[np.float64]:
        # Σ_c P(c) δ_c(x) is the same for every x, as Σ_c P(c)(μ_c − x̄) = 0.
        logs, known = self._predictions(X, discriminants), self.priors_ > 0
        prior = self.priors_[known]
        at_mean = row_sums((prior * self._constants[known])[None])
        logs += (at_mean - row_sums(logs[:, known] * prior))[:, None]
        return logs

    @property
    def covariance_(self) -> NDArray[np.float64]:
        """Σ, (d, d)."""
        covariance: NDArray[np.float64] = factored_of(self).covariance[0]
        return covariance

    @property
    def xbar_(self) -> NDArray[np.float64]:
        """x̄ = Σ_c P(c)μ_c, (d,)."""
        return np.asarray(linear(self.priors_[None], self.means_)[0])

    @property
    def coef_(self) -> NDArray[Any]:
        """Σ⁻¹(μ_c − x̄), (k, d), or Σ⁻¹(μ₂ − μ₁), (1, d), for two classes.

        In single precision if the rows of the fit were, as the intercept.
        """
        return self._as_rows_came(self._slopes)

    @property
    def intercept_(self) -> NDArray[Any]:
        """δ_c(0), (k,), or δ₂(0) − δ₁(0), (1,), for two classes."""
        at_mean = one_of_two(self._constants)
        return self._as_rows_came(at_mean - linear(self._slopes, self.xbar_[:, None])[:, 0])

    def _as_rows_came(self, coefficients: NDArray[np.float64]) -> NDArray[Any]:
        return coefficients.astype(np.float32) if self.reader_.single else coefficients

    @property
    def _slopes(self) -> NDArray[np.float64]:
        """The coefficients, in double precision."""
        return one_of_two(linear(self._offsets, factored_of(self).whitening[0]))

    @property
    def scalings_(self) -> NDArray[np.float64]:
        """The axes a, (d, r)."""
        directions, _ = self._axes
        return np.asarray((directions @ factored_of(self).whitening[0]).T)

    @property
    def explained_variance_ratio_(self) -> NDArray[np.float64]:
        """λ / Σλ of every axis that `transform` has, (r,)."""
        _, variances = self._axes
        return np.asarray((variances / variances.sum())[: self._n_features_out])

    @property
    def _n_features_out(self) -> int:
        most = check_axes(self.n_components, len(self.classes_), self.means_.shape[1])
        _, variances = self._axes
        return min(len(variances), self.n_components or most)

    @property
    def _offsets(self) -> NDArray[np.float64]:
        """W(μ_c − x̄), (k, d), where WᵀW = Σ⁻¹."""
        shift = factored_of(self).shift
        return np.asarray(shift - linear(self.priors_[None], shift))

    @property
    def _constants(self) -> NDArray[np.float64]:
        """δ_c(x̄), (k,)."""
        return np.asarray(self.model_.log_prior - 0.5 * (self._offsets**2).sum(axis=1))

    @property
    def _axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Eigenvectors (r, d) and eigenvalues (r,) of WBWᵀ."""
        offsets = self._offsets
        most = min(len(offsets) - 1, offsets.shape[1])
        _, singular, directions = interruptible(
            np.linalg.svd, np.sqrt(self.priors_)[:, None] * offsets, full_matrices=False
        )
        kept = np.flatnonzero(singular[:most] > self.tol * singular.max(initial=0.0))
        side = np.where(directions[kept] @ offsets[-1] < 0, -1.0, 1.0)
        return side[:, None] * directions[kept], singular[kept] ** 2
