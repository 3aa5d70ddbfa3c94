"""Multinomial naive Bayes: counts of events."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.engines.choice import Choice
from suffice.families import Family, Multinomial
from suffice.families.multinomial import MultinomialParameters
from suffice.naive_bayes.discrete import Discrete
from suffice.numerics.logspace import safe_log
from suffice.statistics.events import Events

__all__ = ["MultinomialNB"]


class MultinomialNB(Discrete):
    """Multinomial naive Bayes: counts of events, p(x | c) ∝ Π_v θ_cv^x_v.

    θ_cv = (N_cv + α)/(Σ_v N_cv + Mα), the posterior mean under a Dirichlet(α) prior.

    Parameters
    ----------
    alpha : float or array-like (d,)
        Pseudo-count of each event; 0 is allowed.
    force_alpha : bool
        If False, α below 1e-10 becomes 1e-10.
    fit_prior : bool
        Relative frequencies of the classes as P(c), else all alike.
    class_prior : array-like (k,), optional
        P(c).
    threads : int, optional
        Default: all cores.
    engine : str or Engine, optional
        Where the rows are summed: see `suffice.set_engine`.

    Attributes
    ----------
    class_count_, class_prior_, class_log_prior_ : ndarray (k,)
    classes_ : ndarray (k,)
    feature_count_ : ndarray (k, d)
        Σwx of every event.
    feature_log_prob_ : ndarray (k, d)
        log θ.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: ``alpha=0`` gives impossible events without NaN; missing cells
    are left out; a class without any event borrows the shares of all classes together.

    Examples
    --------
    >>> model = MultinomialNB().fit([[2, 0], [1, 1], [0, 3]], ["a", "a", "b"])
    >>> model.predict([[1, 0], [0, 1]])
    array(['a', 'b'], dtype='<U1')
    """

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.threads = threads
        self.engine = engine

    def _family(self) -> Family:
        return Multinomial(self._alpha())

    @property
    def feature_count_(self) -> NDArray[np.float64]:
        """Σwx of every event, (k, d)."""
        return cast(Events, self._sums).count.value

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """log θ, (k, d)."""
        return safe_log(cast(MultinomialParameters, self._estimates).theta)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags
