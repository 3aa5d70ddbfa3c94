"""Complement naive Bayes: counts of events, by the classes that a row is not of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from suffice.families import Complement, Family
from suffice.families.complement import ComplementParameters
from suffice.families.options import Alpha
from suffice.models.generative.class_prior import Prior, class_prior
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.reader import GenerativeReader
from suffice.naive_bayes.event_counts import EventCounts
from suffice.sums.by_class import ByClass

__all__ = ["ComplementNB"]


@dataclass(repr=False, eq=False, kw_only=True)
class ComplementNB(EventCounts):
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

    norm: bool = False

    has_density: ClassVar[bool] = False  # scores are no probabilities

    def _family(self) -> Family:
        return Complement(cast(Alpha, self._check_alpha()), self.norm)

    def _prior(self) -> Prior:
        return "uniform"  # the scores use none

    def _estimate(
        self, reader: GenerativeReader, statistic: ByClass, source: Any = None, tuned: bool = False
    ) -> GenerativeModel:
        model = super()._estimate(reader, statistic)
        weight, classes = model.statistic.weight.value, model.classes
        self._stated_prior = class_prior(weight, classes, super()._prior())
        return model

    @property
    def class_prior_(self) -> NDArray[np.float64]:
        """P(c) by the options, (k,), which the scores do not use."""
        return self._stated_prior

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
        return cast(ComplementParameters, self._estimates).weights
