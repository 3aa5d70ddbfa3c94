"""Complement naive Bayes: counts of events, by the classes that a row is not of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.families import Complement
from suffice.families.complement import ComplementParameters
from suffice.families.options import Alpha, Evidence
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod
from suffice.models.generative.model import GenerativeModel, Prior, class_prior
from suffice.models.generative.reader import GenerativeReader
from suffice.naive_bayes.discrete import (
    DiscreteMethod,
    checked_alpha,
    class_log_prior_of,
    event_counts_of,
    prior_of,
)
from suffice.naive_bayes.families import alpha_evidence_of
from suffice.sums.by_class import ByClass


@dataclass(frozen=True, eq=False, kw_only=True)
class _ComplementMethod(DiscreteMethod):
    """Counts whose scores use no prior; one that is given is checked all the same."""

    unused: Prior

    def plain(self, reader: GenerativeReader, sums: ByClass) -> GenerativeModel:
        found = super().plain(reader, sums)
        class_prior(found.statistic, self.unused)
        return found


@dataclass(repr=False, eq=False, kw_only=True)
class ComplementNB(GenerativeClassifier):
    """Complement naive Bayes: counts scored by the other classes, for classes of uneven size.

    Scores are Σ_v x_v w_cv with the weights of `suffice.families.Complement`; normalised, they
    serve as probabilities, but they are no likelihood.

    Parameters
    ----------
    alpha : float or array-like (d,)
        Pseudo-count of each event, more than 0.
    norm : bool
        Divide the weights of a class by their sum.
    force_alpha, fit_prior, class_prior
        As in `MultinomialNB`; the prior is for ``class_log_prior_`` alone, the scores use none.

    Attributes
    ----------
    class_count_, class_prior_, class_log_prior_ : ndarray (k,)
    classes_ : ndarray (k,)
    feature_count_ : ndarray (k, d)
        Σwx of every event.
    feature_all_ : ndarray (d,)
        The same over all classes.
    feature_log_prob_ : ndarray (k, d)
        The weights w.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: ``alpha=0`` is refused, because a word of one class alone would
    get an infinite weight and NaN for an answer; missing cells are left out.

    Examples
    --------
    >>> model = ComplementNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    kind = replace(
        GenerativeClassifier.kind,
        dtype="numeric",
        tags=("sparse", "positive_only"),
        poor_score=True,
        is_density=False,
    )

    alpha: float | ArrayLike | Evidence = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ArrayLike | None = None
    norm: bool = False

    def method(self) -> GenerativeMethod:
        family = Complement(cast(Alpha, checked_alpha(self)), self.norm)
        return _ComplementMethod.of(self, family, prior="uniform", unused=prior_of(self))

    alpha_evidence_ = property(alpha_evidence_of)
    class_log_prior_ = property(class_log_prior_of)
    feature_count_ = property(event_counts_of)

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c) by the options, (k,), which the scores do not use."""
        return class_prior(self.model_.statistic, prior_of(self))

    def predict_joint_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Return the scores Σ_v x_v w_cv, (n, k)."""
        return super().predict_joint_log_proba(X) - self.model_.log_prior

    @property
    def feature_all_(self) -> NDArray[np.float64]:
        """Σwx of every event over all classes, (d,)."""
        return np.asarray(self.feature_count_.sum(axis=0))

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """Weights w, (k, d)."""
        (parameters,) = self.model_.parameters
        return cast(ComplementParameters, parameters).weights
