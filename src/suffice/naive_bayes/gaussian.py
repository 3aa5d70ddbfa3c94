"""Gaussian naive Bayes: real columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.families import Gaussian
from suffice.families.gaussian import GaussianParameters
from suffice.families.options import VarianceFloor
from suffice.models.base.checks import ClassWeight
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod, OneFamilyMethod
from suffice.models.generative.model import Prior
from suffice.rules import check_options


@dataclass(repr=False, eq=False, kw_only=True)
class GaussianNB(GenerativeClassifier):
    """Gaussian naive Bayes: real columns, p(x_j | c) = N(x_j; μ_cj, σ²_cj).

    Parameters
    ----------
    priors : array-like (k,), optional
        P(c); default: relative frequencies.
    var_smoothing : float or "loo"
        Smallest variance of a column, as a fraction of its variance over all classes;
        2⁻¹⁰⁰ at least. With ``"loo"`` it is one of 1e-9, 1e-8, …, 0.1 for all columns, chosen by
        the leave-one-out log loss to be expected from the moments: no row is read again, and it
        follows rows that are added and forgotten.
    class_weight : mapping of label to float, or "balanced", optional
        P(c) ∝ f_c N_c: how often the rows of a class count there, and only there; "balanced"
        makes all classes that have rows equally likely.

    Attributes
    ----------
    class_count_, class_prior_ : ndarray (k,)
        Σw of the rows of each class, and P(c).
    classes_ : ndarray (k,)
    theta_, var_ : ndarray (k, d)
        Means and variances.
    epsilon_ : ndarray (d,)
        The smallest variance of each column.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: ``var_smoothing`` is a floor under each column's own variance,
    not a fraction of the *largest* variance of any column added to all of them, so the unit of a
    column changes nothing and ``epsilon_`` is an array; `partial_fit` gives the bits of `fit`, in
    any order, and needs no ``classes``; sums are exact; missing cells are left out.

    Examples
    --------
    >>> model = GaussianNB().fit([[-2.0], [-1.0], [1.0], [2.0]], [1, 1, 2, 2])
    >>> model.predict([[-0.8], [np.nan]])
    array([1, 1])
    """

    kind = replace(GenerativeClassifier.kind, dtype="numeric", in_single=True)

    priors: ArrayLike | None = None
    var_smoothing: VarianceFloor = 1e-9
    class_weight: ClassWeight = None

    def method(self) -> GenerativeMethod:
        check_options(self)
        family = Gaussian(estimation="mle", variance_floor=self.var_smoothing)
        prior = "empirical" if self.priors is None else cast(Prior, self.priors)
        return OneFamilyMethod(
            family=family,
            name="GaussianNB",
            prior=prior,
            class_weight=self.class_weight,
            option="priors",
        )

    @property
    def theta_(self) -> NDArray[np.float64]:
        """Means (k, d)."""
        (parameters,) = self.model_.parameters
        return cast(GaussianParameters, parameters).mean

    @property
    def var_(self) -> NDArray[np.float64]:
        """Variances (k, d)."""
        (parameters,) = self.model_.parameters
        return cast(GaussianParameters, parameters).variance

    @property
    def epsilon_(self) -> NDArray[np.float64]:
        """Smallest variance of each column, (d,)."""
        (part,), (block,) = self.model_.parts, self.model_.statistic.blocks
        floor: NDArray[np.float64] = cast(Gaussian, part.family).least_variance(block)[0]
        return floor
