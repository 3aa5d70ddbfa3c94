"""The Bayes-optimal classifier: what can be decided at best when the densities are known.

::

    P(c | x) = P(c) p(x | c) / Σ_c' P(c') p(x | c')        decide argmax_c P(c | x)

No rule errs less often. How often this one errs is the Bayes error, the mark against which any
fitted classifier can be measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from suffice.data.python_cells import faithful, unmasked
from suffice.errors import DataError, ParameterError, warn
from suffice.models.base.answers import answered_by_prior
from suffice.models.base.options import generator
from suffice.models.bayes_risk.densities import Densities, described
from suffice.models.bayes_risk.information import (
    ColumnInformation,
    NextQuestions,
    column_information,
    next_question,
)
from suffice.models.bayes_risk.risk import BayesError, Method, bayes_error, without_poles
from suffice.models.estimator import Estimator, Kind
from suffice.models.generative.forms import form_features, linear_form, quadratic_form
from suffice.models.generative.weights import column_weights
from suffice.numerics.arrays import Floats
from suffice.numerics.elementary import log
from suffice.numerics.logspace import log_normalise, normalise

__all__ = [
    "BayesClassifier",
    "BayesError",
    "ColumnInformation",
    "NextQuestions",
    "column_information",
    "column_weights",
    "form_features",
    "linear_form",
    "next_question",
    "quadratic_form",
]


class BayesClassifier(Estimator):
    """The best classifier there is for known class-conditional densities. Nothing is fitted.

    Parameters
    ----------
    densities : mapping or sequence
        The distribution of the rows of each class: a mapping from the label, or a sequence, whose
        labels are 0, 1, ..., k − 1. A distribution is one of SciPy's frozen ones, of one or of
        several columns, or a tuple of univariate ones: independent columns.
    priors : mapping, or sequence (k,), optional
        P(c), in the order of the classes. Default: all alike.

    Attributes
    ----------
    classes_ : ndarray (k,)
        Labels, in the order in which they were given.
    class_prior_ : ndarray (k,)
        P(c).

    Raises
    ------
    ParameterError
        If there are fewer than two classes, something is no distribution, distributions do not go
        together, or priors or labels break their rule.

    Notes
    -----
    A missing cell (NaN) is left out where all classes have independent columns, given as a tuple;
    otherwise it is refused. Where the density of some classes is infinite, the others are
    impossible and these share the row by their priors.

    Source: R. O. Duda, P. E. Hart, D. G. Stork, Pattern Classification, 2nd ed. (2001), sections
    2.2 to 2.4.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> best = BayesClassifier({"low": norm(0, 1), "high": norm(2, 1)}, priors=[0.5, 0.5])
    >>> best.predict([-1.0, 3.0])
    array(['low', 'high'], dtype='<U4')
    >>> best.predict_proba([1.0])
    array([[0.5, 0.5]])
    >>> round(best.bayes_error().value, 6)  # Φ(−1)
    0.158655
    """

    kind = Kind(name="rule of Bayes", mixins=("ClassifierMixin",))

    def __init__(
        self,
        densities: Mapping[Any, Any] | Sequence[Any],
        priors: Mapping[Any, float] | ArrayLike | None = None,
    ) -> None:
        self.densities = densities
        self.priors = priors
        self._known()

    def predict_joint_log_proba(self, X: Any) -> Floats:
        """Return log P(x, c) = log P(c) + log p(x | c), (n, k).

        Parameters
        ----------
        X : array-like (n, d), or (n,) for a single column
            Rows of numbers.

        Returns
        -------
        ndarray (n, k)
            −∞ means impossible; +∞ stands where a density is infinite.

        Raises
        ------
        DataError
            If a cell is no finite number, missing where it cannot be left out, or the rows have
            another length than the distributions.
        """
        known = self._known()
        return known.log_joint(known.rows(X))

    def predict_log_proba(self, X: Any) -> Floats:
        """Return log P(c | x), (n, k); the prior where no class is possible."""
        known = self._known()
        return log_normalise(self._log_joint(known, X), log(known.prior))[0]

    def predict_proba(self, X: Any) -> Floats:
        """Return P(c | x), (n, k), classes in the order of ``classes_``."""
        known = self._known()
        return normalise(self._log_joint(known, X), known.prior)[0]

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable label of every row, (n,); of equals, the first."""
        known = self._known()
        # Log joints tell classes apart whose probabilities round to the same number.
        log_joint = self._log_joint(known, X)
        log_joint[np.isneginf(log_joint).all(axis=1)] = log(known.prior)
        chosen: NDArray[Any] = self.classes_[log_joint.argmax(axis=1)]
        return chosen

    def score(self, X: Any, y: Any) -> float:
        """Return the accuracy.

        Raises
        ------
        DataError
            If there is not one label for every row.
        """
        truth, predicted = np.asarray(unmasked(y)), self.predict(X)
        if truth.shape != predicted.shape or not len(truth):
            raise DataError(
                f"y has shape {truth.shape} for {len(predicted)} rows",
                "there is one label for every row, and a row at least",
            )
        pairs = zip(truth.tolist(), predicted.tolist(), strict=True)
        return float(np.mean([label == answer for label, answer in pairs]))

    def bayes_error(
        self,
        method: Method = "auto",
        *,
        n_samples: int = 100_000,
        random_state: int | np.random.Generator | None = None,
    ) -> BayesError:
        """Return the least probability of a wrong label, 1 − E[max_c P(c | x)].

        Parameters
        ----------
        method : {"auto", "sum", "quadrature", "simulation"}
            ``"sum"`` for independent discrete columns, ``"quadrature"`` for one or two columns of
            real numbers, ``"simulation"`` for all that can be sampled. ``"auto"`` takes the first
            of these that applies and is sharp.
        n_samples : int
            Rows drawn by simulation, at least.
        random_state : int or numpy.random.Generator, optional
            Seed of the simulation.

        Returns
        -------
        BayesError
            The value, and its uncertainty: the standard error of a simulation.

        Raises
        ------
        ParameterError
            If the method does not apply, or an option is outside its rule.

        Source: see `suffice.models.bayes_risk.risk`.

        Examples
        --------
        >>> from scipy.stats import binom
        >>> BayesClassifier([binom(2, 0.5), binom(2, 0.25)]).bayes_error().value
        0.34375
        """
        return bayes_error(self._known(), method, n_samples, generator(random_state))

    def sample(
        self, n: int = 1, random_state: int | np.random.Generator | None = None
    ) -> tuple[Floats, NDArray[Any]]:
        """Draw n rows, (n, d), and their labels, (n,).

        Raises
        ------
        ParameterError
            If a distribution cannot be drawn from.
        """
        if not (isinstance(n, Integral) and n >= 0):
            raise ParameterError(f"n={n!r}", "the number of rows is a whole number, 0 or more")
        known, rng = self._known(), generator(random_state)
        codes = rng.choice(len(known.prior), size=int(n), p=known.prior)
        return known.sample(codes, rng), self.classes_[codes]

    @property
    def classes_(self) -> NDArray[Any]:
        """Labels, (k,), in the order in which they were given."""
        labels = self._known().classes
        if len({type(label) for label in labels}) == 1 and not isinstance(labels[0], tuple):
            return faithful(labels, np.array(labels))
        out = np.empty(len(labels), dtype=object)
        out[:] = labels
        return out

    @property
    def class_prior_(self) -> Floats:
        """P(c), (k,)."""
        return self._known().prior

    def _known(self) -> Densities:
        return Densities.of(self.densities, self.priors)

    def _log_joint(self, known: Densities, X: Any) -> Floats:
        """Log P(x, c) without poles; say how many rows no class could have produced."""
        log_joint = without_poles(known.log_joint(known.rows(X)), log(known.prior))
        impossible = int(np.isneginf(log_joint).all(axis=1).sum())
        if impossible:
            warn(answered_by_prior(impossible, len(log_joint)))
        return log_joint

    # -- scikit-learn

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def _html_repr(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        priors = "" if self.priors is None else f", priors={self.priors!r}"
        text = f"{type(self).__name__}({described(self.densities)}{priors})"
        return text if len(text) <= N_CHAR_MAX else f"{text[: N_CHAR_MAX - 4]}...)"
