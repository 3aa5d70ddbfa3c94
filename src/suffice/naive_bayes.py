"""Naive Bayes under scikit-learn's names: given the class, the columns are independent.

::

    P(c | x) = P(c) Π_j p(x_j | c) / Σ_c' P(c') Π_j p(x_j | c')

`NaiveBayes` takes a mixed table as it is. The others carry scikit-learn's names, parameters and
fitted attributes; each is one family over all columns. All of them leave missing cells (NaN, None)
out, learn in batches to the same bits, forget, merge and explain.
"""

from __future__ import annotations

from numbers import Real
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.engines.choice import Choice
from suffice.errors import ParameterError
from suffice.families import Bernoulli, Categorical, Complement, Family, Gaussian, Multinomial
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.complement import ComplementParameters
from suffice.families.family import Alpha, check_nonnegative
from suffice.families.gaussian import GaussianParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.models.generative import Prior, class_prior
from suffice.models.naive_bayes import NaiveBayes
from suffice.models.one_family import OneFamilyClassifier
from suffice.models.options import check_choices
from suffice.numerics.logspace import safe_log
from suffice.statistics.by_class import ByClass
from suffice.statistics.counts import Counts, Events
from suffice.statistics.moments import Moments

__all__ = [
    "BernoulliNB",
    "CategoricalNB",
    "ComplementNB",
    "GaussianNB",
    "MultinomialNB",
    "NaiveBayes",
]

SMALLEST_ALPHA = 1e-10  # what scikit-learn puts in the place of alpha = 0 without force_alpha


class GaussianNB(OneFamilyClassifier):
    """Gaussian naive Bayes: real columns, p(x_j | c) = N(x_j; μ_cj, σ²_cj).

    Parameters
    ----------
    priors : array-like (k,), optional
        P(c); default: relative frequencies.
    var_smoothing : float
        Smallest variance of a column, as a share of the variance of that column over all classes;
        2⁻¹⁰⁰ at least.
    threads : int, optional
        Default: all cores.
    engine : str or Engine, optional
        Where the rows are summed: see `suffice.set_engine`.

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
    not a share of the *largest* variance of any column added to all of them, so the unit of a
    column changes nothing and ``epsilon_`` is an array; `partial_fit` gives the bits of `fit`, in
    any order, and needs no ``classes``; sums are exact; missing cells are left out.

    Examples
    --------
    >>> model = GaussianNB().fit([[-2.0], [-1.0], [1.0], [2.0]], [1, 1, 2, 2])
    >>> model.predict([[-0.8], [np.nan]])
    array([1, 1])
    """

    prior_option = "priors"

    def __init__(
        self,
        *,
        priors: ArrayLike | None = None,
        var_smoothing: float = 1e-9,
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        self.priors = priors
        self.var_smoothing = var_smoothing
        self.threads = threads
        self.engine = engine

    def _family(self) -> Gaussian:
        check_nonnegative(var_smoothing=self.var_smoothing)
        return Gaussian(estimation="mle", variance_floor=self.var_smoothing)

    def _prior(self) -> tuple[Prior, float]:
        return ("empirical" if self.priors is None else cast(Prior, self.priors)), 0.0

    @property
    def theta_(self) -> NDArray[np.float64]:
        """Means (k, d)."""
        return cast(GaussianParameters, self._estimates).mean

    @property
    def var_(self) -> NDArray[np.float64]:
        """Variances (k, d)."""
        return cast(GaussianParameters, self._estimates).variance

    @property
    def epsilon_(self) -> NDArray[np.float64]:
        """Smallest variance of each column, (d,)."""
        floor: NDArray[np.float64] = self._family().least_variance(cast(Moments, self._sums))[0]
        return floor


class _Discrete(OneFamilyClassifier):
    """What the classes for counts have in common: pseudo-counts and priors."""

    alpha: Any
    force_alpha: bool
    fit_prior: bool
    class_prior: ArrayLike | None

    def _alpha(self) -> Alpha:
        """Pseudo-counts, kept off 0 unless ``force_alpha``."""
        check_choices(self, force_alpha=(True, False))
        least = 0.0 if self.force_alpha else SMALLEST_ALPHA

        def kept(alpha: Any) -> Any:
            """A number off 0; the family refuses what is none."""
            return (
                max(float(alpha), least) if isinstance(alpha, Real) and float(alpha) >= 0 else alpha
            )

        given = np.asarray(self.alpha, object).tolist()
        return tuple(map(kept, given)) if isinstance(given, list) else kept(given)

    def _prior(self) -> tuple[Prior, float]:
        check_choices(self, fit_prior=(True, False))
        if self.class_prior is not None:
            return cast(Prior, self.class_prior), 0.0
        return ("empirical" if self.fit_prior else "uniform"), 0.0

    @property
    def class_log_prior_(self) -> NDArray[np.float64]:
        """log P(c), (k,)."""
        return safe_log(self.class_prior_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags


class BernoulliNB(_Discrete):
    """Bernoulli naive Bayes: two outcomes, p(x_j = 1 | c) = θ_cj.

    θ_cj = (N_cj + α)/(N_c + 2α), the posterior mean under a Beta(α, α) prior.

    Parameters
    ----------
    alpha : float or array-like (d,)
        Pseudo-count of each outcome; 0 is allowed.
    force_alpha : bool
        If False, α below 1e-10 becomes 1e-10.
    binarize : float, optional
        Numbers above it are 1, the others 0. With None, columns hold 0 and 1, or −1 and 1.
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
        Σw of the rows with outcome 1.
    feature_log_prob_ : ndarray (k, d)
        log θ.
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

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        binarize: float | None = 0.0,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.binarize = binarize
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.threads = threads
        self.engine = engine

    def _family(self) -> Bernoulli:
        return Bernoulli(self._alpha())

    def _reading(self) -> dict[str, Any]:
        number = isinstance(self.binarize, Real) and self.binarize == self.binarize
        if not (number or self.binarize is None):
            raise ParameterError(f"binarize={self.binarize!r}", "binarize is a number, or None")
        return {"threshold": self.binarize}

    @property
    def feature_count_(self) -> NDArray[np.float64]:
        """Σw of the rows with outcome 1, (k, d)."""
        count = cast(Counts, self._sums).count.value
        return count if isinstance(self._sums, Events) else count[:, 1::2]

    @property
    def feature_log_prob_(self) -> NDArray[np.float64]:
        """log P(x_j = 1 | c), (k, d)."""
        return safe_log(cast(BernoulliParameters, self._estimates).theta[:, :, 1])


class MultinomialNB(_Discrete):
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


class ComplementNB(MultinomialNB):
    """Complement naive Bayes: counts scored by the other classes, for classes of uneven size.

    Scores are Σ_v x_v w_cv with the weights of `suffice.families.Complement`; normalised, they
    serve as probabilities, but they are no likelihood.

    Parameters
    ----------
    alpha : float or array-like (d,)
        Pseudo-count of each event, more than 0.
    force_alpha : bool
        If False, α below 1e-10 becomes 1e-10.
    fit_prior : bool
        As in `MultinomialNB`, for ``class_log_prior_``: the scores do not use a prior.
    class_prior : array-like (k,), optional
        As ``fit_prior``.
    norm : bool
        Divide the weights of a class by their sum.
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

    def __init__(
        self,
        *,
        alpha: float | ArrayLike = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        norm: bool = False,
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            force_alpha=force_alpha,
            fit_prior=fit_prior,
            class_prior=class_prior,
            threads=threads,
            engine=engine,
        )
        self.norm = norm

    def _family(self) -> Family:
        check_choices(self, norm=(True, False))
        return Complement(self._alpha(), self.norm)

    def _prior(self) -> tuple[Prior, float]:
        return "uniform", 0.0  # the scores use none

    def _set(self, *batches: ByClass) -> Self:
        super()._set(*batches)
        weight, classes = self.class_count_, self.model_.classes
        self._stated_prior = class_prior(weight, classes, *super()._prior())
        return self

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


class CategoricalNB(_Discrete):
    """Categorical naive Bayes: one of m values, p(x_j = v | c) = θ_cjv.

    θ_cjv = (N_cjv + α)/(N_cj + m_j α), the posterior mean under a Dirichlet(α) prior.

    Parameters
    ----------
    alpha : float
        Pseudo-count of every value; 0 is allowed.
    force_alpha : bool
        If False, α below 1e-10 becomes 1e-10.
    fit_prior : bool
        Relative frequencies of the classes as P(c), else all alike.
    class_prior : array-like (k,), optional
        P(c).
    min_categories : int or array-like (d,), optional
        Values 0, ..., min_categories − 1 count as values of a column of whole numbers.
    unseen : {"ignore", "error", "smooth"}
        A value at prediction that is not among those of the column: left out like a missing cell,
        refused, or given the probability of one more value.
    threads : int, optional
        Default: all cores.
    engine : str or Engine, optional
        Where the rows are summed: see `suffice.set_engine`.

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
    n_features_in_ : int
    feature_names_in_ : ndarray (d,)

    Notes
    -----
    Differences from scikit-learn: columns may hold strings; a value unseen in training is no
    error; floats are not truncated; missing cells are left out; ``alpha=0`` gives no NaN; a new
    value in a later batch joins.

    Examples
    --------
    >>> model = CategoricalNB().fit([["red"], ["blue"], ["red"]], ["a", "b", "a"])
    >>> model.predict([["blue"], ["green"]])
    array(['b', 'a'], dtype='<U1')
    """

    array_dtype = None

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        force_alpha: bool = True,
        fit_prior: bool = True,
        class_prior: ArrayLike | None = None,
        min_categories: int | ArrayLike | None = None,
        unseen: str = "ignore",
        threads: int | None = None,
        engine: Choice = None,
    ) -> None:
        self.alpha = alpha
        self.force_alpha = force_alpha
        self.fit_prior = fit_prior
        self.class_prior = class_prior
        self.min_categories = min_categories
        self.unseen = unseen
        self.threads = threads
        self.engine = engine

    def _family(self) -> Categorical:
        least: Any = 0 if self.min_categories is None else self.min_categories
        least = np.asarray(least, object).tolist()
        if isinstance(least, list):
            least = tuple(least)
        unseen: Any = self.unseen
        alpha: Any = self._alpha()
        return Categorical(alpha, unseen=unseen, min_categories=least, from_zero=True)

    @property
    def _columns(self) -> CategoricalParameters:
        return cast(CategoricalParameters, self._estimates)

    @property
    def category_count_(self) -> list[NDArray[np.float64]]:
        """Σw of the rows that show each value: for every column (k, m_j)."""
        counts = cast(Counts, self._sums).over(self._columns.vocabularies)
        return [counts.column(j) for j in range(len(counts.vocabularies))]

    @property
    def feature_log_prob_(self) -> list[NDArray[np.float64]]:
        """log θ: for every column (k, m_j)."""
        columns = range(len(self._columns.vocabularies))
        return [safe_log(self._columns.probabilities(j)) for j in columns]

    @property
    def n_categories_(self) -> NDArray[np.int64]:
        """m_j, (d,)."""
        return np.array([len(v) for v in self._columns.vocabularies], np.int64)

    @property
    def categories_(self) -> list[tuple[Any, ...]]:
        """The values of every column."""
        return [v.values for v in self._columns.vocabularies]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags
