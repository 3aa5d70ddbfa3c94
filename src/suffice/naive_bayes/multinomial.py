"""Multinomial naive Bayes: counts of events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from suffice.families import Family, Multinomial
from suffice.families.multinomial import MultinomialParameters
from suffice.models.base.class_weights import ClassWeight
from suffice.naive_bayes.event_counts import EventCounts
from suffice.numerics.logspace import safe_log

__all__ = ["MultinomialNB"]


@dataclass(repr=False, eq=False, kw_only=True)
class MultinomialNB(EventCounts):
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

    class_weight: ClassWeight = None

    def _family(self) -> Family:
        return Multinomial(self._check_alpha())

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """log θ, (k, d)."""
        return safe_log(cast(MultinomialParameters, self._estimates).theta)
