"""Label shift: the class prior of new rows without labels, by expectation-maximisation.

The classes look as they did (p(x | c) is that of the model), but come in other
fractions π. From the model's posteriors p(c | x) under its own prior p(c),

::

    E   rᵢ(c) = (π(c)/p(c)) p(c | xᵢ) / Σ_c' (π(c')/p(c')) p(c' | xᵢ)
    M   π(c) ← 1/n Σᵢ rᵢ(c)

never lowers the log-likelihood, here counted from that of the model's own prior,

::

    L(π) = Σᵢ log Σ_c (π(c)/p(c)) p(c | xᵢ)

L is concave, so what is left to gain is known: with the gradient g(c) = 1/n ∂L/∂π(c), the M step is
π(c) ← π(c)g(c), and no prior gains more than n (max g − 1). Where classes overlap these steps are
short. So every other one is Newton's, to the maximum of the quadratic that L is near π, on the
priors without a negative fraction; it is taken if L says so.

References
----------
M. Saerens, P. Latinne and C. Decaestecker, "Adjusting the outputs of a classifier to new a priori
probabilities: a simple procedure", Neural Computation 14 (2002), eqs. 2.6-2.9 and section 2.4.
B. G. Lindsay, "The geometry of mixture likelihoods", Ann. Stat. 11 (1983), for the bound. Y. Kim,
P. Carbonetto, M. Stephens and M. Anitescu, "A fast algorithm for maximum likelihood estimation of
mixture proportions using sequential quadratic programming", J. Comput. Graph. Stat. 29 (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from itertools import islice
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import Part, each_batch
from suffice.engines.engine import Engine
from suffice.errors import DataError, ParameterError, warn
from suffice.models.classifier import rows_to_answer
from suffice.models.estimator import relearnt
from suffice.models.generative.classifier import GenerativeClassifier, densities
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.row_answers import posterior
from suffice.models.method import Learnt
from suffice.numerics import kernels
from suffice.numerics.elementary import log
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.in_print import Printed, Table, probability
from suffice.numerics.linalg import eigh
from suffice.phrases import rows_in_print
from suffice.sums.base import tree_sum
from suffice.sums.batch import NO_WEIGHTS

HEADER = ["", "before", "now"]
C = TypeVar("C", bound=GenerativeClassifier)
Array = NDArray[np.float64]
Plan = tuple[NDArray[np.bool_], Array, Array]  # the classes with a prior p(c), p(c), and π(c)

KEPT_CELLS = 2**25  # posteriors held in memory; of more rows, they are computed in every pass
MOST_CLASSES = 256  # for Newton's steps; their cost grows with the square
LIKELIHOOD_ROUNDING = 2.0**-48  # of L, as a fraction of n
SINGULAR_HESSIAN = 2.0**-44  # of an eigenvalue of H, as a fraction of the largest


@dataclass(frozen=True, eq=False, repr=False)
class LabelShift(Printed):
    """The class prior of rows without labels; it prints as a table.

    Parameters
    ----------
    classes : tuple
        The k labels.
    before, prior : ndarray (k,)
        p(c) of the model, and π(c) of the rows.
    rows : float
        n.
    log_likelihood : tuple of float
        L after every step, in nats above that of ``before``; it falls by rounding at most.
    gap : float
        The most that L may be below its maximum.
    converged : bool
        Whether the gap is within the tolerance.
    """

    classes: tuple[Any, ...]
    before: Array
    prior: Array
    rows: float
    log_likelihood: tuple[float, ...]
    gap: float
    converged: bool

    @property
    def p_value(self) -> float:
        """Test that the prior has not changed: 2L is χ² with k − 1 degrees of freedom.

        Only classes of a positive prior count. It holds for many rows, if the model does.
        """
        freedom = int((self.before > 0).sum()) - 1
        from scipy.special import chdtrc

        return float(chdtrc(freedom, max(2 * self.log_likelihood[-1], 0.0))) if freedom else 1.0

    def table(self) -> Table:
        """Return the prior of every class, before and now, as a table."""
        triples = zip(self.classes, self.before, self.prior, strict=True)
        rows = [[str(label), f"{old:.4f}", f"{new:.4f}"] for label, old, new in triples]
        return Table("", HEADER, rows, [self._gain()], bars=self.prior.tolist())

    def _gain(self) -> str:
        rows = rows_in_print(self.rows)
        gain = f"log-likelihood: +{self.log_likelihood[-1]:.4g} nats over {rows}"
        rest = "" if self.converged else f"; not at rest, up to {self.gap:.2g} more"
        return f"{gain}, p {probability(self.p_value)}{rest}"


class _Point(NamedTuple):
    """A prior, and the log-likelihood L, its gradient g (k,) and curvature −H (k, k) there, by n.

    Without curvature, H is (0, 0).
    """

    prior: Array
    log_likelihood: float
    gradient: Array
    curvature: Array
    rows: float

    @classmethod
    def of(cls, prior: Array, sums: Array) -> _Point:
        """From the sums of all rows."""
        k, rows = len(prior), sums[1]
        side = k if len(sums) > k + 2 else 0
        mean = sums[2:] / rows
        return cls(prior, float(sums[0]), mean[:k], mean[k:].reshape(side, side), float(rows))

    @property
    def gap(self) -> float:
        """The most that another prior may gain."""
        return self.rows * float(self.gradient.max() - 1)

    def expected(self) -> Array:
        """The next prior by expectation-maximisation."""
        prior = self.prior * self.gradient
        return np.asarray(prior / prior.sum())

    def newton(self) -> Array | None:
        """The best prior if L were quadratic; None if that is not known.

        It minimises ½pᵀHp − (2g − 1)ᵀp over p ≥ 0: to second order Σp − L/n, whose minimum over
        p ≥ 0 adds up to 1.
        """
        from scipy.optimize import nnls

        if not len(self.curvature):
            return None
        values, axes = eigh(self.curvature)
        root = np.sqrt(np.maximum(values, SINGULAR_HESSIAN * values[-1]))
        try:
            prior, _ = nnls(root[:, None] * axes.T, axes.T @ (2 * self.gradient - 1) / root)
        except RuntimeError:
            return None
        total = prior.sum()
        return np.asarray(prior / total) if total > 0 else None


def label_shift(
    classifier: GenerativeClassifier, X: Any, *, tol: float = 1e-6, max_iter: int = 1000
) -> LabelShift:
    """Return the class prior of rows without labels, if the classes look as they did.

    Expectation-maximisation (Saerens, Latinne and Decaestecker 2002, eqs. 2.6-2.9) over the
    posteriors of the rows: the likelihood of π never falls. Rows are read once where their
    posteriors fit into memory, else in every step.

    Parameters
    ----------
    classifier : GenerativeClassifier
        Fitted.
    X : table (n, d)
        As `predict` takes it; rows of the population to come.
    tol : float
        Stop when the log-likelihood is within so many nats of its maximum.
    max_iter : int
        The most steps; a warning says so if they do not suffice.

    Raises
    ------
    DataError
        If there is no row.
    ParameterError
        If the model is no distribution, or an option is outside its rule.

    See Also
    --------
    suffice.models.generative.label_shift.LabelShift : With a test of the old prior.
    """
    model = densities(classifier, "a class prior goes with probabilities")
    _, engine, parts = rows_to_answer(classifier, X)
    found = _maximum(model, engine, parts, tol, max_iter)
    if not found.converged:
        warn(
            f"the class prior has not come to rest in {max_iter} step{'s' * (max_iter > 1)}: "
            f"its log-likelihood may be {found.gap:.2g} nats below the maximum; "
            "raise max_iter."
        )
    return found


def adjust_prior(classifier: C, X: Any, *, tol: float = 1e-6, max_iter: int = 1000) -> C:
    """Return the same model with the class prior that rows without labels suggest.

    It is given as an option of the new model (``class_prior`` or ``priors``), so the model
    keeps it when it learns or is saved. See `label_shift`.

    Examples
    --------
    >>> from suffice.naive_bayes import BernoulliNB
    >>> from suffice.bayes import adjust_prior
    >>> model = BernoulliNB(alpha=0).fit([[1], [1], [0], [1], [0], [0]], list("aaabbb"))
    >>> new = [[1], [1], [1], [1], [1], [0], [0], [0], [0]]  # 5/9 = 2/3 π + 1/3 (1 − π)
    >>> adjust_prior(model, new).class_prior_.round(4)
    array([0.6667, 0.3333])
    """
    found = label_shift(classifier, X, tol=tol, max_iter=max_iter)
    prior = dict(zip(found.classes, found.prior.tolist(), strict=True))
    adjusted = copy(classifier).set_params(**{classifier.method().option: prior})
    adjusted.class_weight = None  # the prior is known now
    learnt = Learnt(classifier.reader_, classifier.batches_)
    return relearnt(adjusted, learnt, classifier.model_)


def _maximum(
    model: GenerativeModel, engine: Engine, parts: Sequence[Part], tol: float, max_iter: int
) -> LabelShift:
    """Estimate the class prior of rows; see `label_shift`.

    Parameters
    ----------
    model : GenerativeModel
        The fitted model.
    engine : Engine
        Where the rows are read: once if their posteriors fit into memory, else in every step.
    parts : sequence of Part
        The rows.
    tol : float
        The gap, in nats, at which to stop.
    max_iter : int
        The most steps.
    """
    if not (isinstance(tol, Real) and tol > 0):
        raise ParameterError(f"tol={tol!r}", "tol is a number above 0")
    if not (isinstance(max_iter, Integral) and max_iter >= 1):
        raise ParameterError(f"max_iter={max_iter!r}", "the most steps are a whole number above 0")
    kept = _restored(engine.map(posteriors, model, parts))
    if kept is not None and not sum(map(len, kept)):
        raise DataError("there is no row", "a class prior is estimated from rows")

    possible = model.prior > 0
    before = model.prior[possible]

    def at(prior: Array) -> _Point:
        plan = possible, before, prior
        if kept is None:
            sums = engine.run(slopes, (model, plan), parts)
        else:
            sums = tree_sum(_slope(part, plan) for part in kept)
        return _Point.of(prior, sums.value)

    path = [at(before)]
    noise = LIKELIHOOD_ROUNDING * path[0].rows
    while path[-1].gap > max(tol, noise) and len(path) <= max_iter:
        path += islice(_two_steps(path[-1], at, noise), max_iter + 1 - len(path))
    prior = np.zeros_like(model.prior)
    prior[possible] = path[-1].prior
    return LabelShift(
        model.classes.values,
        model.prior,
        prior,
        path[-1].rows,
        tuple(point.log_likelihood for point in path),
        max(path[-1].gap, 0.0),
        path[-1].gap <= max(tol, noise),
    )


def _two_steps(start: _Point, at: Callable[[Array], _Point], noise: float) -> Iterator[_Point]:
    """A step of expectation-maximisation, and one of Newton, or the same again if that fails."""
    first = at(start.expected())
    yield first
    prior = first.newton()
    second = None if prior is None else at(prior)
    if second is None or second.log_likelihood < first.log_likelihood - noise:
        second = at(first.expected())
    yield second


def _restored(parts: Iterable[list[Array]]) -> list[Array] | None:
    """All posteriors, or None if there is no room for them."""
    saved: list[Array] = []
    cells = 0
    for batches in parts:
        saved += batches
        cells += sum(batch.size for batch in batches)
        if cells > KEPT_CELLS:
            return None
    return saved


def posteriors(part: Part, model: GenerativeModel) -> list[Array]:
    """Kernel: p(c | x) of every row, batch by batch; of a row that is impossible, p(c)."""
    return list(each_batch(part, model.layout, lambda batch: posterior(model, batch, None)[0]))


def slopes(part: Part, params: tuple[GenerativeModel, Plan]) -> DoubleDouble:
    """Kernel of a step: L, n, ng (k,) and nH (k²,) of a part."""
    model, plan = params
    k = len(plan[2])
    none = DoubleDouble.zeros(k + 2 + k * k * (k <= MOST_CLASSES))
    return tree_sum([none, *(_slope(piece, plan) for piece in posteriors(part, model))])


def _slope(posterior: Array, plan: Plan) -> DoubleDouble:
    """L, n, ng and nH of the rows of a batch, from p(c | x) (n, all classes)."""
    possible, before, prior = plan
    n, k = len(posterior), len(prior)
    likelihood = posterior[:, possible] / before  # p(x | c)/p(x)
    total = np.zeros(n)
    for weight, column in zip(prior, likelihood.T, strict=True):  # in one order whatever n is
        total += weight * column
    terms = np.empty((n, k + 2))
    terms[:, 0], terms[:, 1] = log(total), 1.0
    gradient = np.divide(likelihood, total[:, None], out=terms[:, 2:])
    sums = DoubleDouble.zeros((1, k + 2))
    kernels.counts.add_events(terms, np.zeros(n, np.intp), NO_WEIGHTS, sums.hi, sums.lo)
    slope = DoubleDouble.from_sums(sums.hi, sums.lo)[0]
    if k > MOST_CLASSES:
        return slope
    curvature = DoubleDouble.of((gradient.T @ gradient).ravel())
    return DoubleDouble.concatenate([slope, curvature])
