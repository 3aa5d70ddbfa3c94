"""How far P(c | x) may be off because the parameters were learnt from finitely many rows.

The scores s_c = log P(x, c) have a mean and a covariance under the posterior of the parameters.
Each class is compared with the rest:

::

    L_c = s_c − log Σ_{e ≠ c} exp s_e        P(c | x) = 1/(1 + exp(−L_c))
    Var L_c = gᵀ Cov(s) g,    g_c = 1,  g_e = −P(e | x)/(1 − P(c | x))

the second by the first-order rule. L_c is taken as normal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.errors import ParameterError
from suffice.models.base.options import check_level, generator
from suffice.models.base.predictions import Predictions
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import log_normalise
from suffice.sums.batch import Batch

__all__ = [
    "Ends",
    "IntervalMethod",
    "beside_interval",
    "from_moments",
    "from_scores",
    "log_odds",
    "log_odds_interval",
    "predict_proba_interval",
]

IntervalMethod = Literal["normal", "sampling"]
DRAWN_CELLS = 2**22  # scores of all draws that are held at a time
Ends = Callable[[Batch], NDArray[np.float64]]


def log_odds(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """L_c = log P(c | x)/(1 − P(c | x)) of scores (..., k).

    Examples
    --------
    >>> log_odds(np.log([[1.0, 1.0, 2.0]])).round(12) + 0.0
    array([[-1.09861229, -1.09861229,  0.        ]])
    """
    rest = np.empty_like(scores)
    for c in range(scores.shape[-1]):
        rest[..., c] = np.logaddexp.reduce(np.delete(scores, c, axis=-1), axis=-1)
    with np.errstate(invalid="ignore"):
        return np.asarray(scores - rest)


def from_moments(
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    covariance: NDArray[np.float64],
    level: float,
) -> NDArray[np.float64]:
    """Ends of the intervals, (n, k, 2), from the moments of the scores.

    Parameters
    ----------
    mean, variance : ndarray (n, k)
        Where a variance is infinite, all classes of the row have the interval (0, 1).
    covariance : ndarray (n, k, k)
        Added to the diagonal of variances.
    level : float

    Examples
    --------
    >>> mean, variance = np.zeros((1, 2)), np.array([[0.5, 0.5]])
    >>> from_moments(mean, variance, np.zeros((1, 2, 2)), 0.95).round(3)
    array([[[0.123, 0.877],
            [0.123, 0.877]]])
    """
    middle, reach = log_odds_interval(mean, variance, covariance, level)
    return np.stack([_logistic(middle - reach), _logistic(middle + reach)], axis=-1)


def log_odds_interval(
    mean: NDArray[np.float64],
    variance: NDArray[np.float64],
    covariance: NDArray[np.float64],
    level: float,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """E L_c, and how far the interval reaches to either side of it, (n, k); see `from_moments`."""
    from scipy.special import ndtri

    n, k = mean.shape
    open_rows = np.asarray(np.isinf(variance).any(axis=1))
    variance = np.where(open_rows[:, None], 0.0, variance)
    middle = log_odds(mean)
    p = exp(log_normalise(mean, np.zeros(k))[0])
    spread = np.empty((n, k))
    for c in range(k):
        rest = np.delete(p, c, axis=1)
        total = rest.sum(axis=1, keepdims=True)
        share = rest / np.where(total > 0, total, 1.0)
        gradient = np.insert(-share, c, 1.0, axis=1)
        spread[:, c] = (gradient**2 * variance).sum(axis=1)
        spread[:, c] += np.einsum("na,nab,nb->n", gradient, covariance, gradient)
    reach = ndtri((1 + level) / 2) * np.sqrt(np.maximum(spread, 0.0))
    return np.where(open_rows[:, None], 0.0, middle), np.where(open_rows[:, None], np.inf, reach)


def from_scores(scores: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    """Ends of the intervals, (n, k, 2): quantiles of drawn scores (draws, n, k)."""
    tail = (1 - level) / 2
    ends = np.quantile(log_odds(scores), [tail, 1 - tail], axis=0)
    return _logistic(np.moveaxis(ends, 0, -1))


def _logistic(t: NDArray[np.float64]) -> NDArray[np.float64]:
    """1/(1 + e^−t)."""
    return np.asarray(1.0 / (1.0 + exp(-t)))


class AnswersClasses(Protocol):
    """A classifier that knows what its rows leave open."""

    def _interval_ends(self, level: float, draws: int, random_state: Any) -> Ends:
        """What gives the ends of a batch; with 0 draws by the normal approximation."""
        ...

    def _fitted(self) -> Any: ...

    def _batches(self, X: Any, kernel: Callable[[Part, Any], list[Any]], params: Any) -> Any: ...

    def _layout_to_answer(self) -> Layout: ...


def beside_interval(model: AnswersClasses, answer: Any, interval: str, level: float) -> Any:
    """What answers a batch with the ends of the intervals beside."""
    if interval != "confidence":
        raise ParameterError(
            f"interval={interval!r}",
            "the answers are classes: an interval is one of their probabilities",
            "use 'confidence'",
        )
    check_level(level)
    return partial(
        beside, answer, model._interval_ends(level, 0, None), model._fitted().classes.values
    )


def predict_proba_interval(
    model: AnswersClasses,
    X: Any,
    level: float = 0.95,
    *,
    method: IntervalMethod = "normal",
    n_samples: int = 10_000,
    random_state: int | np.random.Generator = 0,
) -> NDArray[np.float64]:
    """Return an interval for P(c | x), as the parameters were learnt from finitely many rows.

    ::

        L_c = log P(c | x)/(1 − P(c | x)),  the log-odds of a class against the rest
        interval: E L_c ± Φ⁻¹((1 + level)/2) √Var L_c, taken back to probabilities

    It is the uncertainty of the parameters if the model is right. It is not the error of a
    model that is wrong, nor how often a prediction is: columns that depend on each other make
    naive Bayes too sure, and its intervals too.

    Mean and variance are those of the exact posterior: Dirichlet for categories and the class
    prior, Beta, Gamma, Normal-inverse-gamma, and Normal-inverse-Wishart for discriminant
    analysis. For logistic regression they are the estimate and its covariance matrix. An
    improper posterior, such as that of a count of 0 without smoothing, gives (0, 1).

    Parameters
    ----------
    X : table (n, d)
        As `predict_proba` takes it.
    level : float
        Posterior probability of the interval, between 0 and 1.
    method : {"normal", "sampling"}
        Closed form, with L_c taken as normal; or quantiles of drawn parameters.
    n_samples : int
        Number of draws, for ``method="sampling"``.
    random_state : int or numpy.random.Generator
        Seed of the draws.

    Returns
    -------
    ndarray (n, k, 2)
        The ends, from 0 to 1, classes in the order of ``classes_``.

    Raises
    ------
    ParameterError
        If an option is outside its rule, or the model has no posterior.
    DataError
        As `predict_proba` does; by a logistic regression also if a cell is missing.

    Source: A. Gelman et al., Bayesian Data Analysis, 3rd ed. (2013), sections 3.3 to 3.6 for
    the posteriors and 4.1 for the normal approximation.

    Examples
    --------
    >>> from suffice.naive_bayes import BernoulliNB
    >>> X, y = [[0], [0], [0], [1], [1], [1]] * 5, list("aaabbb") * 5
    >>> model = BernoulliNB().fit(X, y)
    >>> model.predict_proba([[1]]).round(3)
    array([[0.059, 0.941]])
    >>> model.predict_proba_interval([[1]]).round(3)
    array([[[0.003, 0.322],
            [0.678, 0.997]]])
    """
    check_level(level)
    if method not in get_args(IntervalMethod):
        raise ParameterError(f"method={method!r}", "it is one of 'normal', 'sampling'")
    if not (isinstance(n_samples, int | np.integer) and n_samples >= 2):
        raise ParameterError(
            f"n_samples={n_samples!r}", "the number of draws is a whole number, 2 or more"
        )
    k = len(model._fitted().classes)
    ends = model._interval_ends(
        float(level), int(n_samples) if method == "sampling" else 0, random_state
    )
    found = model._batches(X, batch_ends, (model._layout_to_answer(), ends))
    return np.concatenate(found) if found else np.zeros((0, k, 2))


def beside(
    answer: Callable[[Batch], Predictions], ends: Ends, labels: tuple[Any, ...], batch: Batch
) -> Predictions:
    """What a model answers for a batch, with the ends of the intervals."""
    found, of_rows = answer(batch), ends(batch)
    more = {
        f"P({label}) {name}": of_rows[:, c, end]
        for c, label in enumerate(labels)
        for end, name in enumerate(("lower", "upper"))
    }
    return replace(found, more={**found.more, **more})


def batch_ends(part: Part, params: tuple[Layout, Ends]) -> list[NDArray[np.float64]]:
    """Kernel of an answer: the ends of every batch of a part."""
    layout, ends = params
    return list(each_batch(part, layout, ends))


def sampled(
    draw: Callable[[np.random.Generator], Callable[[Batch, NDArray[np.float64]], None]],
    k: int,
    level: float,
    draws: int,
    seed: Any,
    batch: Batch,
) -> NDArray[np.float64]:
    """Ends of a batch by sampling; every piece of it sees the same draws."""
    rng = generator(seed)
    state = rng.bit_generator.state
    height = max(DRAWN_CELLS // (draws * k), 1)
    pieces = []
    for first in range(0, batch.rows, height):
        rng.bit_generator.state = state
        piece = batch.take(np.arange(first, min(first + height, batch.rows)))
        scores = np.zeros((draws, piece.rows, k))
        for i in range(draws):
            draw(rng)(piece, scores[i])
        pieces.append(from_scores(scores, level))
    return np.concatenate(pieces) if pieces else np.zeros((0, k, 2))


def sampling(
    draw: Callable[[np.random.Generator], Callable[[Batch, NDArray[np.float64]], None]],
    k: int,
    level: float,
    draws: int,
    seed: Any,
) -> Ends:
    """What gives the ends of a batch by so many draws."""
    return partial(sampled, draw, k, level, draws, seed)
