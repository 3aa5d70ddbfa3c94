"""Categorical naive Bayes: columns of codes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.errors import ParameterError
from suffice.families import Categorical
from suffice.families.categorical import CategoricalParameters
from suffice.families.options import Evidence
from suffice.models.base.checks import ClassWeight
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.models.generative.method import GenerativeMethod
from suffice.naive_bayes.discrete import DiscreteMethod, checked_alpha, class_log_prior_of
from suffice.naive_bayes.families import alpha_evidence_of
from suffice.numerics.elementary import log
from suffice.sums.counts import Counts


@dataclass(repr=False, eq=False, kw_only=True)
class CategoricalNB(GenerativeClassifier):
    """Categorical naive Bayes: one of m values, p(x_j = v | c) = θ_cjv.

    θ_cjv = (N_cjv + α)/(N_cj + m_j α), the posterior mean under a Dirichlet(α) prior.

    Parameters
    ----------
    alpha : float or "evidence"
        Pseudo-count of every value; 0 is allowed. Or the one of greatest evidence, for each column:
        see ``alpha_evidence_``.
    min_categories : int or array-like (d,), optional
        Values 0, ..., min_categories − 1 count as values of a column of whole numbers.
    unseen : {"ignore", "error", "smooth"}
        A value at prediction that is not among those of the column: left out like a missing cell,
        refused, or given the probability of one more value.
    force_alpha, fit_prior, class_prior, class_weight
        As in `MultinomialNB`.

    Attributes
    ----------
    class_count_, class_prior_, class_log_prior_ : ndarray (k,)
    classes_ : ndarray (k,)
    category_count_ : list of d ndarray (k, m_j)
        Σw of the rows that show each value.
    feature_log_prob_ : list of d ndarray (k, m_j)
        log θ.
    n_categories_ : ndarray (d,)
        m_j.
    categories_ : list of d tuple
        The values of each column.
    alpha_evidence_ : AlphaEvidence or None
        What α was chosen from.
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: columns may hold strings; a value unseen in training is no
    error, unless it is a number below 0; floats are not truncated; missing cells are left out;
    ``alpha=0`` gives no NaN; a new value in a later batch joins.

    Examples
    --------
    >>> model = CategoricalNB().fit([["red"], ["blue"], ["red"]], ["a", "b", "a"])
    >>> model.predict([["blue"], ["green"]])
    array(['b', 'a'], dtype='<U1')
    >>> x, y = np.repeat([[0], [1]], [4, 6], axis=0), np.repeat(["a", "b"], 5)
    >>> CategoricalNB(alpha="evidence").fit(x, y).alpha_evidence_
    log evidence less the best   alpha  at 0.01  at 0.1   at 1  at 10  at 100
    x0                          0.4123    -2.43   -0.49  -0.20  -1.46   -1.88
    """

    kind = replace(
        GenerativeClassifier.kind,
        tags=("sparse", "categorical", "string", "positive_only"),
        poor_score=True,
    )

    alpha: float | ArrayLike | Evidence = 1.0
    force_alpha: bool = True
    fit_prior: bool = True
    class_prior: ArrayLike | None = None
    min_categories: int | ArrayLike | None = None
    class_weight: ClassWeight = None
    unseen: str = "ignore"

    def method(self) -> GenerativeMethod:
        least: Any = 0 if self.min_categories is None else self.min_categories
        if np.ndim(least) > 1:
            raise ParameterError(
                f"min_categories has the shape {np.shape(least)}",
                "'min_categories' should have shape (d,), one number for each column",
            )
        least = np.asarray(least, object).tolist()
        if isinstance(least, list):
            least = tuple(least)
        unseen: Any = self.unseen
        alpha: Any = checked_alpha(self)
        if isinstance(alpha, tuple):
            raise ParameterError(f"alpha={alpha!r}", "alpha is one number for all values")
        family = Categorical(alpha, unseen=unseen, min_categories=least, from_zero=True)
        return DiscreteMethod.of(self, family)

    alpha_evidence_ = property(alpha_evidence_of)
    class_log_prior_ = property(class_log_prior_of)

    @property
    def category_count_(self) -> list[NDArray[np.float64]]:
        """Σw of the rows that show each value: for every column (k, m_j)."""
        (block,) = self.model_.statistic.blocks
        counts = cast(Counts, block).over(columns_of(self).vocabularies)
        return [counts.column(j) for j in range(len(counts.vocabularies))]

    @property
    def feature_log_prob_(self) -> list[NDArray[np.float64]]:
        """Return log θ of every column, (k, m_j)."""
        columns = range(len(columns_of(self).vocabularies))
        return [log(columns_of(self).probabilities(j)) for j in columns]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """m_j, (d,)."""
        return np.array([len(v) for v in columns_of(self).vocabularies], np.int64)

    @property
    def categories_(self) -> list[tuple[Any, ...]]:
        """The values of every column."""
        return [v.values for v in columns_of(self).vocabularies]


def columns_of(estimator: CategoricalNB) -> CategoricalParameters:
    """Return the estimates of all columns."""
    (parameters,) = estimator.model_.parameters
    return cast(CategoricalParameters, parameters)
