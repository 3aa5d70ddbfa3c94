"""Multinomial naive Bayes: counts of events."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.families import Multinomial
from suffice.families.multinomial import MultinomialParameters
from suffice.families.options import Evidence
from suffice.models.base.checks import ClassWeight
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod
from suffice.naive_bayes.discrete import (
    DiscreteMethod,
    checked_alpha,
    class_log_prior_of,
    event_counts_of,
)
from suffice.naive_bayes.families import alpha_evidence_of
from suffice.numerics.elementary import log


@dataclass(repr=False, eq=False, kw_only=True)
class MultinomialNB(GenerativeClassifier):
    """Multinomial naive Bayes: counts of events, p(x | c) ∝ Π_v θ_cv^x_v.

    θ_cv = (N_cv + α)/(Σ_v N_cv + Mα), the posterior mean under a Dirichlet(α) prior.

    Parameters
    ----------
    alpha : float, array-like (d,) or "evidence"
        Pseudo-count of each event; 0 is allowed. Or the one of greatest evidence for all: see
        ``alpha_evidence_``.
    force_alpha : bool
        If False, α below 1e-10 becomes 1e-10.
    fit_prior : bool
        Relative frequencies of the classes as P(c), else all alike.
    class_prior : array-like (k,), optional
        P(c).
    class_weight : mapping of label to float, or "balanced", optional
        P(c) ∝ f_c N_c: how often the rows of a class count there, and only there; "balanced"
        makes all classes that have rows equally likely.

    Attributes
    ----------
    class_count_, class_prior_, class_log_prior_ : ndarray (k,)
    classes_ : ndarray (k,)
    feature_count_ : ndarray (k, d)
        Σwx of every event.
    feature_log_prob_ : ndarray (k, d)
        log θ.
    alpha_evidence_ : AlphaEvidence or None
        What α was chosen from.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: ``alpha=0`` gives impossible events without NaN; missing cells
    are left out; a class without any event borrows the fractions of all classes together.

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    kind = replace(
        GenerativeClassifier.kind,
        dtype="numeric",
        tags=("sparse", "positive_only"),
        poor_score=True,
    )

    alpha: float | ArrayLike | Evidence = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ArrayLike | None = None
    class_weight: ClassWeight = None

    def method(self) -> GenerativeMethod:
        return DiscreteMethod.of(self, Multinomial(checked_alpha(self)))

    alpha_evidence_ = property(alpha_evidence_of)
    class_log_prior_ = property(class_log_prior_of)
    feature_count_ = property(event_counts_of)

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """log θ, (k, d)."""
        (parameters,) = self.model_.parameters
        return log(cast(MultinomialParameters, parameters).theta)
