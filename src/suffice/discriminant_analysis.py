"""Linear and quadratic discriminant analysis under scikit-learn's names: Gaussian classes.

::

    log P(c | x) = log P(c) − ½(x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − ½ log |Σ_c| + const

With one covariance matrix for all classes (linear) the squares of x cancel; with one for each
(quadratic) they do not. Both are `suffice.families.MultivariateGaussian` over all columns, fitted
from exact sums: they learn in batches to the same bits, take weights and missing cells, forget,
merge and explain.
"""

from __future__ import annotations

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from suffice.data.source import Split
from suffice.engines.choice import Choice
from suffice.errors import ParameterError
from suffice.families import MultivariateGaussian
from suffice.families.family import check_nonnegative
from suffice.families.multivariate.parameters import LOG_2PI, MultivariateGaussianParameters
from suffice.families.multivariate.spread import Spread, add_complete, fill
from suffice.families.multivariate_gaussian import Shrinkage
from suffice.models.generative import (
    GenerativeModel,
    Prior,
    discriminants,
    each_batch,
    joint,
    posterior,
)
from suffice.models.model_file import COVARIANCES, is_covariance
from suffice.models.one_family import OneFamilyClassifier
from suffice.numerics import kernels
from suffice.numerics.logspace import scores
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock

__all__ = ["LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"]


class _DiscriminantAnalysis(OneFamilyClassifier):
    """What both have in common: the family, and the attributes that are its parameters."""

    solver: str
    shrinkage: Any
    priors: ArrayLike | None
    store_covariance: bool
    tol: float
    covariance_estimator: Any
    ddof: int
    variance_floor: float
    precision: Literal["exact", "double"]

    fewest_classes = 2
    prior_option = "priors"
    pooling: float  # λ of the family
    solvers: tuple[str, ...]

    def _family(self) -> MultivariateGaussian:
        self._check()
        return MultivariateGaussian(
            estimation="mle",
            pooling=self.pooling,
            shrinkage=self._share(),
            ddof=self.ddof,
            variance_floor=self.variance_floor,
            precision=self.precision,
        )

    def _check(self) -> None:
        if self.solver not in self.solvers:
            raise ParameterError(
                f"solver={self.solver!r}", f"solver is one of {', '.join(map(repr, self.solvers))}"
            )
        check_nonnegative(tol=self.tol)

    def _share(self) -> Shrinkage:
        """Share of the diagonal in the covariance."""
        if self.covariance_estimator is not None:
            if self.shrinkage:
                raise ParameterError(
                    f"shrinkage={self.shrinkage!r} with covariance_estimator",
                    "both say how a covariance is estimated",
                    "leave one of them out",
                )
            return _shrinkage_of(self.covariance_estimator)
        share = 0.0 if self.shrinkage is None else self.shrinkage
        if not (share == "auto" or (isinstance(share, Real) and 0 <= float(share) <= 1)):
            raise ParameterError(
                f"shrinkage={share!r}", "shrinkage is None, a number from 0 to 1, or 'auto'"
            )
        return "ledoit-wolf" if share == "auto" else float(share)

    def _prior(self) -> tuple[Prior, float]:
        return ("empirical" if self.priors is None else cast(Prior, self.priors)), 0.0

    @property
    def _gaussian(self) -> MultivariateGaussianParameters:
        return cast(MultivariateGaussianParameters, self._estimates)

    @property
    def _spread(self) -> Spread:
        return self._gaussian.spread

    @property
    def n_iter_(self) -> int:
        """Steps of expectation-maximisation; 0 where no cell was missing."""
        return len(self._gaussian.course.log_likelihood)

    @property
    def converged_(self) -> bool:
        """Whether expectation-maximisation came to rest."""
        return self._gaussian.course.converged

    @property
    def priors_(self) -> NDArray[np.float64]:
        """P(c), (k,)."""
        return self.class_prior_

    @property
    def means_(self) -> NDArray[np.float64]:
        """Means (k, d)."""
        return self._spread.mean

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Return δ_c(x), log P(c | x) up to a term that all classes share, (n, k).

        With two classes, log P(c₂ | x) − log P(c₁ | x), (n,).
        """
        if len(self._fitted().classes) > 2:
            return self._discriminants(X)
        logs = self._answers(X, discriminants)
        return np.asarray(logs[:, -1] - logs[:, 0])

    @abstractmethod
    def _discriminants(self, X: Any) -> NDArray[np.float64]:
        """δ_c(x) on scikit-learn's level, (n, k)."""


class LinearDiscriminantAnalysis(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    _DiscriminantAnalysis,
):
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
        Accepted for compatibility: all give the same exact answer, with every option.
    shrinkage : float or "auto", optional
        Share s of the diagonal in (1 − s)Σ + s diag(Σ), from 0 to 1; "auto" is that of
        Ledoit and Wolf for the correlations.
    priors : array-like (k,), optional
        P(c); default: relative frequencies.
    n_components : int, optional
        Number of axes of `transform`, at most min(k − 1, d); default: all.
    store_covariance : bool
        Accepted for compatibility: ``covariance_`` is always there.
    tol : float
        An axis on which the classes' spread √λ is at most this share of the largest is left out.
        Predictions do not depend on it.
    covariance_estimator : object, optional
        `EmpiricalCovariance`, `ShrunkCovariance`, `LedoitWolf` or `OAS` of `sklearn.covariance`,
        for the shrinkage that they stand for; that of OAS is the formula of Chen et al. (2010),
        from which scikit-learn departs.
    ddof : int
        0 for maximum likelihood, 1 for the unbiased covariance, as R's ``MASS::lda`` and earlier
        releases of scikit-learn.
    variance_floor : float
        In no direction is the variance less than this share of that over all classes.
    precision : {"exact", "double"}
        Add products without rounding, or in plain double precision.
    threads : int, optional
        Default: all cores.
    engine : str or Engine, optional
        Where the rows are summed: see `suffice.set_engine`.

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
        Steps of expectation-maximisation over missing cells, and whether it came to rest.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: shrinkage is towards each column's own variance, not towards
    the mean variance of all columns, so the unit of a column changes nothing, and "auto" chooses
    it once for Σ, not for every class; given ``priors`` do not change Σ (with scikit-learn's
    "lsqr" and "eigen" they do); a column that others determine, or that is constant, is left out
    with a warning and has the coefficient 0, whatever the scale of the columns; ``scalings_`` has
    no column beyond k − 1; sums are exact; missing cells, weights and batches are taken.

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
    """

    pooling = 1.0
    solvers = ("svd", "lsqr", "eigen")

    def __init__(
        self,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        n_components: int | None = None,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        *,
        ddof: int = 0,
        variance_floor: float = 1e-9,
        precision: Literal["exact", "double"] = "exact",
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_components = n_components
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.ddof = ddof
        self.variance_floor = variance_floor
        self.precision = precision
        self.threads = threads
        self.engine = engine

    def _check(self) -> None:
        super()._check()
        n = self.n_components
        if n is not None and not (isinstance(n, Integral) and n >= 1):
            raise ParameterError(
                f"n_components={n!r}", "the number of axes is a whole number, 1 or more"
            )

    def transform(self, X: Any) -> NDArray[np.float64]:
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
            If there are fewer axes than ``n_components``.
        """
        model = self._fitted()
        axes = self.scalings_[:, : self._n_features_out]
        return np.concatenate(self._batches(X, on_axes, (model, self.xbar_, axes)))

    def _discriminants(self, X: Any) -> NDArray[np.float64]:
        # Σ_c P(c) δ_c(x) is the same for every x, as Σ_c P(c)(μ_c − x̄) = 0.
        logs, known = self._answers(X, discriminants), self.priors_ > 0
        prior = self.priors_[known]
        logs += (prior @ self._constants[known] - logs[:, known] @ prior)[:, None]
        return logs

    @property
    def covariance_(self) -> NDArray[np.float64]:
        """Σ (d, d)."""
        covariance: NDArray[np.float64] = self._spread.covariance[0]
        return covariance

    @property
    def xbar_(self) -> NDArray[np.float64]:
        """x̄ = Σ_c P(c)μ_c, (d,)."""
        return np.asarray(self.priors_ @ self.means_)

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Σ⁻¹(μ_c − x̄), (k, d), or Σ⁻¹(μ₂ − μ₁), (1, d), for two classes."""
        return _one_of_two(self._offsets @ self._spread.whitening[0])

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """δ_c(0), (k,), or δ₂(0) − δ₁(0), (1,), for two classes."""
        at_mean = _one_of_two(self._constants)
        return np.asarray(at_mean - self.coef_ @ self.xbar_)

    @property
    def scalings_(self) -> NDArray[np.float64]:
        """The axes a, (d, r)."""
        directions, _ = self._axes
        return np.asarray((directions @ self._spread.whitening[0]).T)

    @property
    def explained_variance_ratio_(self) -> NDArray[np.float64]:
        """λ / Σλ of every axis that `transform` has, (r,)."""
        _, variances = self._axes
        return np.asarray((variances / variances.sum())[: self._n_features_out])

    @property
    def _n_features_out(self) -> int:
        """Number of axes that `transform` has."""
        most = min(len(self.classes_) - 1, self.n_features_in_)
        if self.n_components is not None and self.n_components > most:
            raise ParameterError(
                f"n_components={self.n_components!r}",
                f"{len(self.classes_)} classes of {self.n_features_in_} columns are divided by "
                f"{most} axes at most",
            )
        _, variances = self._axes
        return min(len(variances), self.n_components or most)

    @property
    def _offsets(self) -> NDArray[np.float64]:
        """W(μ_c − x̄), (k, d), where WᵀW = Σ⁻¹."""
        shift = self._spread.shift
        return np.asarray(shift - self.priors_ @ shift)

    @property
    def _constants(self) -> NDArray[np.float64]:
        """δ_c(x̄), (k,)."""
        return np.asarray(self.model_.log_prior - 0.5 * (self._offsets**2).sum(axis=1))

    @property
    def _axes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Eigenvectors (r, d) and eigenvalues (r,) of WBWᵀ."""
        offsets = self._offsets
        most = min(len(offsets) - 1, offsets.shape[1])
        _, spread, directions = np.linalg.svd(
            np.sqrt(self.priors_)[:, None] * offsets, full_matrices=False
        )
        kept = np.flatnonzero(spread[:most] > self.tol * spread[0])
        side = np.where(directions[kept] @ offsets[-1] < 0, -1.0, 1.0)
        return side[:, None] * directions[kept], spread[kept] ** 2


class QuadraticDiscriminantAnalysis(_DiscriminantAnalysis):
    """Quadratic discriminant analysis: p(x | c) = N(x; μ_c, Σ_c), a covariance for every class.

    ::

        μ_c = x̄_c    Σ_c = Σ_{i in c}(xᵢ − x̄_c)(xᵢ − x̄_c)ᵀ / (n_c − ddof)
        δ_c(x) = −½(x − μ_c)ᵀΣ_c⁻¹(x − μ_c) − ½ log |Σ_c| + log P(c)

    Parameters
    ----------
    solver : {"svd", "eigen"}
        Accepted for compatibility: both give the same exact answer, with every option.
    shrinkage : float or "auto", optional
        Share s of the diagonal in (1 − s)Σ_c + s diag(Σ_c), from 0 to 1; "auto" is that of
        Ledoit and Wolf for each class's correlations.
    priors : array-like (k,), optional
        P(c); default: relative frequencies.
    reg_param : float
        The same as ``shrinkage``, which it excludes.
    store_covariance : bool
        Accepted for compatibility: ``covariance_`` is always there.
    tol : float
        Accepted for compatibility: a singular matrix is found from exact sums.
    covariance_estimator : object, optional
        `EmpiricalCovariance`, `ShrunkCovariance`, `LedoitWolf` or `OAS` of `sklearn.covariance`,
        for the shrinkage that they stand for; that of OAS is the formula of Chen et al. (2010),
        from which scikit-learn departs.
    ddof : int
        0 for maximum likelihood, 1 for the unbiased covariance, as R's ``MASS::qda`` and earlier
        releases of scikit-learn.
    variance_floor : float
        In no direction is the variance less than this share of that over all classes.
    precision : {"exact", "double"}
        Add products without rounding, or in plain double precision.
    threads : int, optional
        Default: all cores.
    engine : str or Engine, optional
        Where the rows are summed: see `suffice.set_engine`.

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
        Steps of expectation-maximisation over missing cells, and whether it came to rest.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: ``shrinkage`` and ``reg_param`` are towards each column's own
    variance, not towards the mean variance of all columns or towards 1, so the unit of a column
    changes nothing; a singular covariance is no error: a column that others determine in all rows
    is left out, variances that would be 0 within a class are kept at ``variance_floor``, and a
    warning says so; sums are exact; missing cells, weights and batches are taken.

    Source: T. Hastie, R. Tibshirani and J. Friedman, The Elements of Statistical Learning, 2nd ed.
    (2009), eq. 4.12.

    Examples
    --------
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1], [np.nan, 0.5]])
    array([1, 2])
    """

    pooling = 0.0
    solvers = ("svd", "eigen")

    def __init__(
        self,
        *,
        solver: str = "svd",
        shrinkage: float | str | None = None,
        priors: ArrayLike | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: Any = None,
        ddof: int = 0,
        variance_floor: float = 1e-9,
        precision: Literal["exact", "double"] = "exact",
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.ddof = ddof
        self.variance_floor = variance_floor
        self.precision = precision
        self.threads = threads
        self.engine = engine

    def _check(self) -> None:
        super()._check()
        check_nonnegative(reg_param=self.reg_param)
        if self.reg_param > 1:
            raise ParameterError(
                f"reg_param={self.reg_param!r}", "reg_param is a number from 0 to 1"
            )
        if self.reg_param and (self.shrinkage or self.covariance_estimator is not None):
            raise ParameterError(
                f"reg_param={self.reg_param!r} with shrinkage or covariance_estimator",
                "all of them say how a covariance is estimated",
                "leave one of them out",
            )

    def _share(self) -> Shrinkage:
        return self.reg_param or super()._share()

    def _discriminants(self, X: Any) -> NDArray[np.float64]:
        return np.asarray(self._answers(X, joint) + 0.5 * self._spread.rank * LOG_2PI)

    @property
    def covariance_(self) -> list[NDArray[np.float64]]:
        """Σ_c, k of (d, d)."""
        return list(self._spread.covariance)

    @property
    def rotations_(self) -> list[NDArray[np.float64]]:
        """Principal axes of Σ_c, as columns, k of (d, d)."""
        return list(np.linalg.eigh(self._spread.covariance).eigenvectors[:, :, ::-1])

    @property
    def scalings_(self) -> list[NDArray[np.float64]]:
        """Variances along the principal axes, k of (d,)."""
        return list(np.linalg.eigvalsh(self._spread.covariance)[:, ::-1])


def on_axes(
    split: Split, params: tuple[GenerativeModel, NDArray[np.float64], NDArray[np.float64]]
) -> list[NDArray[np.float64]]:
    """Kernel of a transform: (x − origin) axes of the rows of a split, batch by batch."""
    model, origin, axes = params
    (parameters,) = model.parameters
    spread = cast(MultivariateGaussianParameters, parameters).spread
    terms = origin, np.ascontiguousarray(axes.T), np.zeros(axes.shape[1])

    def one(batch: Batch) -> NDArray[np.float64]:
        x = np.ascontiguousarray(cast(RealBlock, batch.blocks[0]).values, np.float64)
        out = scores(len(x), axes.shape[1], 0.0)
        rest = add_complete(kernels.linear.add_complete, x, terms, out)
        if len(rest):
            shares, _ = posterior(model, batch, None)
            filled = fill(x[rest], shares[rest] @ spread.mean, spread.covariance[0])
            out[rest] = (filled - origin) @ axes
        return out

    return list(each_batch(split, model.layout, one))


def _one_of_two(by_class: NDArray[np.float64]) -> NDArray[np.float64]:
    """Differences of two classes (1, ...), or the values of all others (k, ...)."""
    return by_class[1:] - by_class[:1] if len(by_class) == 2 else by_class


def _shrinkage_of(estimator: Any) -> Shrinkage:
    """The shrinkage that an object of `sklearn.covariance` stands for.

    Raises
    ------
    ParameterError
        If it stands for none.
    """
    if not is_covariance(estimator) or estimator.assume_centered:
        raise ParameterError(
            f"covariance_estimator={estimator!r}",
            f"covariances follow from exact sums, not from rows; {', '.join(COVARIANCES)} of "
            "sklearn.covariance are understood, without assume_centered",
            "use shrinkage",
        )
    chosen: dict[str, Shrinkage] = {"LedoitWolf": "ledoit-wolf", "OAS": "oas"}
    return chosen.get(type(estimator).__name__, getattr(estimator, "shrinkage", 0.0))
