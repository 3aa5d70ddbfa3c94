"""Bernoulli naive Bayes: columns of two outcomes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError
from suffice.families import Bernoulli
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.options import Evidence
from suffice.models.base.checks import ClassWeight
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod
from suffice.naive_bayes.discrete import DiscreteMethod, checked_alpha, class_log_prior_of
from suffice.naive_bayes.families import alpha_evidence_of
from suffice.numerics.elementary import log
from suffice.sums.counts import Counts


@dataclass(repr=False, eq=False, kw_only=True)
class BernoulliNB(GenerativeClassifier):
    """Bernoulli naive Bayes: two outcomes, p(x_j = 1 | c) = θ_cj.

    θ_cj = (N_cj + α)/(N_c + 2α), the posterior mean under a Beta(α, α) prior.

    Parameters
    ----------
    alpha : float, array-like (d,) or "evidence"
        Pseudo-count of each outcome; 0 is allowed. Or, for each column, the one of greatest
        evidence: see ``alpha_evidence_``.
    binarize : float, optional
        Numbers above it are 1, the others 0. With None, columns hold 0 and 1, or −1 and 1.
    force_alpha, fit_prior, class_prior, class_weight
        As in `MultinomialNB`.

    Attributes
    ----------
    class_count_, class_prior_, class_log_prior_ : ndarray (k,)
    classes_ : ndarray (k,)
    feature_count_ : ndarray (k, d)
        Σw of the rows with outcome 1.
    feature_log_prob_ : ndarray (k, d)
        log θ.
    alpha_evidence_ : AlphaEvidence or None
        What α was chosen from.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: ``alpha=0`` gives probabilities 0 and 1 without NaN; missing
    cells (NaN) are left out instead of refused; with ``binarize=None`` other numbers than two
    outcomes are refused.

    Examples
    --------
    >>> model = BernoulliNB().fit([[0, 1], [1, 1], [1, 0]], ["a", "a", "b"])
    >>> model.predict_proba([[1, np.nan]])
    array([[0.6, 0.4]])
    """

    kind = replace(
        GenerativeClassifier.kind, dtype="numeric", poor_score=True, reading=("binarize",)
    )

    alpha: float | ArrayLike | Evidence = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ArrayLike | None = None
    class_weight: ClassWeight = None
    binarize: float | None = 0.0

    def method(self) -> GenerativeMethod:
        number = isinstance(self.binarize, Real) and self.binarize == self.binarize
        if not (number or self.binarize is None):
            raise ParameterError(f"binarize={self.binarize!r}", "binarize is a number, or None")
        family = Bernoulli(checked_alpha(self))
        return DiscreteMethod.of(self, family, reading={"threshold": self.binarize})

    alpha_evidence_ = property(alpha_evidence_of)
    class_log_prior_ = property(class_log_prior_of)

    @property
    def feature_count_(self) -> NDArray[np.float64]:
        """Σw of the rows with outcome 1, (k, d)."""
        (block,) = self.model_.statistic.blocks
        return cast(Counts, block).ones

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """log P(x_j = 1 | c), (k, d)."""
        (parameters,) = self.model_.parameters
        return log(cast(BernoulliParameters, parameters).theta[:, :, 1])
