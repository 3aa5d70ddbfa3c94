"""Regularised discriminant analysis: covariances between linear and quadratic, full and round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.discriminant_analysis.chosen import ChosenRegularization
from suffice.errors import ParameterError
from suffice.families import RegularizedGaussian
from suffice.families.multivariate.parameters import LOG_2PI
from suffice.families.options import check_nonnegative, is_finite
from suffice.models.base.class_weights import ClassWeight
from suffice.models.generative.calibrated import CalibratedClassifier
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.regularization import Regularization
from suffice.models.generative.regularization_choice import (
    POOLING,
    SHRINKAGE,
    chosen_regularization,
)
from suffice.models.generative.row_answers import joint
from suffice.statistics.row_sample import RowSample

__all__ = ["RegularizedDiscriminantAnalysis"]

UNKNOWN = 0.5  # λ or γ where no row is there to choose them by


@dataclass(repr=False, eq=False)
class RegularizedDiscriminantAnalysis(ChosenRegularization, CalibratedClassifier):
    """Regularised discriminant analysis: p(x | c) = N(x; x̄_c, Σ_c), covariances drawn together.

    With n_c rows of class c, n in all, and S_c = Σ(x − x̄_c)(x − x̄_c)ᵀ over the rows of class c:

    ::

        M_c = [(1 − λ)S_c + λ Σ_c S_c + ν₀D] / [(1 − λ)n_c + λn + ν₀]
        Σ_c = (1 − γ)M_c + γ v_c D    v_c = Σ_j (M_c)_jj / D_jj / d
        log P(c | x) = log P(c) + t log N(x; x̄_c, Σ_c) + const

    with D the diagonal of the variances within classes. λ = 1 are linear, λ = 0 quadratic
    discriminants; γ = 1 compares distances from means in units of D. The unit of a column changes
    nothing.

    λ and γ are chosen by leave-one-out: of 6 values of each, those whose probabilities have the
    least log loss for rows that are not in the sums. Rows leave the scatters in closed form, in the
    units D of all rows; where cells are missing, in five folds, but of a table with categories
    rows without a missing cell are asked about, where they are half of all. Weights of rows are
    relative: a row is left out with all its weight, copies included. The temperature t is
    then learnt as by `NaiveBayes`. At most 4,096 rows are asked about; these are kept in memory,
    and in no file. Categories become columns as in
    `LinearDiscriminantAnalysis`.

    Parameters
    ----------
    pooling : float or "loo"
        λ, from 0 to 1.
    shrinkage : float or "loo"
        γ, from 0 to 1.
    prior_rows : float
        ν₀, 0 or more: what the prior of covariances weighs. Above 0 no covariance is singular.
    priors : array-like (k,), optional
        P(c), divided by their sum; default: relative frequencies.
    calibration : {"temperature", "none"}
        With ``"none"``, t is 1.
    class_weight, variance_floor, costs, categorical
        As in `LinearDiscriminantAnalysis`.

    Attributes
    ----------
    pooling_, shrinkage_ : float
        λ and γ, given or chosen.
    regularization_ : Regularization or None
        The log loss of every λ and γ that were tried.
    calibration_ : Calibration or None
        t, and what it is worth.
    classes_ : ndarray (k,)
    priors_, class_count_ : ndarray (k,)
        P(c), and Σw of the rows of each class.
    means_ : ndarray (k, d)
    covariance_ : list of k ndarray (d, d)
        Σ_c.
    n_iter_, converged_ : int, bool
        Steps of expectation-maximisation over missing cells, and whether it converged.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Source: J. H. Friedman, Regularized discriminant analysis, JASA 84 (1989), with columns in units
    of D, and log loss in place of the rate of errors.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> model = RegularizedDiscriminantAnalysis("loo", 0.05).fit(X, y)
    >>> model.pooling_, model.shrinkage_
    (0.1, 0.05)
    >>> print(model.regularization_)
    log loss      shrinkage 0.05
    pooling 1             0.0180
    pooling 0.6           0.0127
    pooling 0.3           0.0084
    pooling 0.1         0.0039 *
    pooling 0.02          0.0082
    pooling 0             0.0104
    """

    pooling: float | Literal["loo"] = "loo"  # type: ignore[assignment]
    shrinkage: float | Literal["loo"] = "loo"
    _: KW_ONLY
    prior_rows: float = 1.0
    priors: ArrayLike | None = None
    class_weight: ClassWeight = None
    calibration: Literal["temperature", "none"] = "temperature"
    variance_floor: float = 1e-9
    costs: Any = None
    categorical: Sequence[str] | None = None

    @property
    def pooling_(self) -> float:
        """λ."""
        return self._gaussian_family.pooling

    @property
    def shrinkage_(self) -> float:
        """γ."""
        return self._gaussian_family.shrinkage

    @property
    def covariance_(self) -> list[NDArray[np.float64]]:
        """Σ_c, k of (d, d)."""
        return list(self._factored.covariance)

    @property
    def _gaussian_family(self) -> RegularizedGaussian:
        (part,) = self._fitted().parts
        return cast(RegularizedGaussian, part.family)

    def _discriminants(self, X: Any) -> NDArray[np.float64]:
        t = float(self._fitted().part_weights[0][0])
        logs = self._predictions(X, joint)
        return np.asarray(logs + 0.5 * t * self._factored.rank * LOG_2PI)

    # -- options

    def _family(self) -> RegularizedGaussian:  # type: ignore[override]
        self._check()
        return RegularizedGaussian(
            UNKNOWN if self.pooling == "loo" else self.pooling,
            UNKNOWN if self.shrinkage == "loo" else self.shrinkage,
            self.prior_rows,
            self.variance_floor,
        )

    def _check(self) -> None:
        for name in ("pooling", "shrinkage"):
            given = getattr(self, name)
            if not (given == "loo" or (is_finite(given) and 0 <= given <= 1)):
                rule = f"{name} is a number from 0 to 1, or 'loo'"
                raise ParameterError(f"{name}={given!r}", rule)
        check_nonnegative(prior_rows=self.prior_rows)
        if self.calibration not in ("temperature", "none"):
            rule = "calibration is 'temperature' or 'none'"
            raise ParameterError(f"calibration={self.calibration!r}", rule)

    def _check_options(self) -> None:
        super()._check_options()
        self._check()

    @property
    def _is_chosen(self) -> bool:
        return self.pooling == "loo" or self.shrinkage == "loo"

    def _judged(self, model: GenerativeModel, sample: RowSample) -> Regularization | None:
        pooling = POOLING if self.pooling == "loo" else (self.pooling,)
        shrinkage = SHRINKAGE if self.shrinkage == "loo" else (self.shrinkage,)
        return chosen_regularization(model, sample, pooling, shrinkage)
