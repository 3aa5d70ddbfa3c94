"""The protocol of families: accumulate, estimate, score and sample a class-conditional model.

Conventions, everywhere: n rows, d columns, k classes, m categories of one column. A family is a
frozen record of hyper-parameters; its parameters are the frozen result of `Family.estimate`. A
class without a value of a column has no estimate of its own: it borrows that of all
classes together, so that the column neither speaks for the class nor against it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.dirichlet_evidence import AlphaEvidence
from suffice.numerics.error_free import LARGEST
from suffice.numerics.logspace import scores
from suffice.rules import check_options
from suffice.sums.base import Accumulator
from suffice.sums.block import BadCell, Encoding, among, require_held
from suffice.sums.moments import too_large

SHARED = ("dirichlet", "family", "options")  # files of this package that are no family
NO_COLUMNS = np.empty(0, np.intp)
INCOMPLETE = "a form describes complete rows; leave the row out"


class Form(NamedTuple):
    """A log-likelihood as a polynomial of the second degree in features φ, (F,).

    ::

        log p(x | c) = Σ_f quadratic[c, f] ψ_f² + linear[c, f] ψ_f + constant[c],  ψ = φ − origin

    up to a term that all classes share. With a quadratic part (k, F, F) its term is ψᵀ A_c ψ.

    Parameters
    ----------
    features : tuple of F names
        ``j`` is the number or outcome of column j, ``(j, v)`` the indicator or the count of its
        value v; `Parameters.features` evaluates them.
    quadratic : ndarray (k, F), or (k, F, F) of symmetric matrices
    linear : ndarray (k, F)
    constant : ndarray (k,)
    origin : ndarray (F,), or a number
        Where a column is far from 0, its square in the form would drown what divides the classes.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes.textbook("bernoulli").fit([[1], [1], [0]], ["a", "a", "b"])
    >>> form = model.model_.parameters[0].form()
    >>> form.features, form.linear.round(3).tolist()
    ((0,), [[1.099], [-0.693]])
    """

    features: tuple[Any, ...]
    quadratic: Floats
    linear: Floats
    constant: Floats
    origin: Floats | float = 0.0


class Parameters(ABC):
    """Frozen estimates of one family over a block of d columns and k classes.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> model = NaiveBayes.textbook("poisson").fit([[0], [1], [4]], ["a", "a", "b"])
    >>> (parameters,) = model.model_.parameters
    >>> parameters.n_free, sorted(parameters.describe(0))
    (2, ['events', 'rate', 'rows'])
    """

    alpha_evidence: AlphaEvidence | None = None  # what α was chosen from, where it was

    @property
    @abstractmethod
    def n_free(self) -> int:
        """Number of free parameters."""

    @abstractmethod
    def add_log_likelihood(self, block: Any, out: Floats) -> None:
        """Add log p(x | c) of every row to ``out`` (n, k); missing cells add nothing."""

    def add_discriminants(self, block: Any, out: Floats) -> None:
        """Add log p(x | c) to ``out`` (n, k), up to a term of each row that all classes share."""
        self.add_log_likelihood(block, out)

    def add_contributions(self, block: Any, out: Floats) -> None:
        """Add what every cell contributes to log p(x | c) to ``out`` (n, d, k): log p(x_j | c).

        The contributions of a row add up to its log-likelihood; a missing cell adds nothing.

        Raises
        ------
        BadCell
            As `add_log_likelihood` does.
        """
        for j in range(out.shape[1]):
            with among(np.array([j])):
                self.column(j).add_log_likelihood(block.column(j), out[:, j])

    @abstractmethod
    def column(self, j: int) -> Self:
        """The parameters of column j alone."""

    @abstractmethod
    def sample(self, codes: Ints, rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw one row for every class code (n,); one array (n,) per column."""

    @abstractmethod
    def describe(self, j: int) -> dict[str, list[float]]:
        """Describe column j: a list over the k classes for every named quantity."""

    def rivals(self, j: int) -> dict[str, float]:
        """The families that were tried for column j, by what each costs; none without a choice."""
        return {}

    def weighed(self, weights: Floats) -> Parameters | None:
        """Return parameters whose terms are w_j log p(x_j | c), weights (d,), if there are such."""
        return None

    def chosen(self, j: int) -> str:
        """The distribution that was chosen for column j, where there was a choice."""
        return ""

    def values(self, j: int) -> tuple[Any, ...] | None:
        """The values that column j may have, where they are listed."""
        return None

    def form(self) -> Form | None:
        """The log-likelihood of complete rows as a polynomial; None where it is none."""
        return None

    def features(self, block: Any) -> Any:
        """φ of every row as `form` names them, (n, F), an array or sparse; here, the numbers.

        Raises
        ------
        BadCell
            If a cell is missing and the form has no place for that, or a number is too large.
        """
        return complete(block.values)

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterable[str]:
        """Yield warnings about these estimates, in sentences."""
        return ()


class JointParameters(Parameters):
    """Parameters of columns that depend on each other within a class.

    ``column(j)`` is then the marginal of column j, and the marginals do not add up to the whole.
    """

    def add_contributions(self, block: Any, out: Floats) -> None:
        """Add the terms of the chain rule to ``out`` (n, d, k), columns in their order.

        ::

            log p(x_1, …, x_d | c) = Σⱼ log p(x_j | c, x_1, …, x_j−1)

        Each is the difference of two marginals. What follows an impossible cell adds nothing.
        """
        n, d, k = out.shape
        before = scores(n, k, 0.0)
        for j in range(d):
            upto = scores(n, k, 0.0)
            self.add_log_likelihood(block.showing(np.arange(block.width) <= j), upto)
            possible = np.isfinite(before)
            out[:, j] += np.subtract(upto, before, out=np.zeros((n, k)), where=possible)
            before = upto


Apply = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""Calls a function with each of some arguments, and gives the results in their order."""


@dataclass(frozen=True)
class Family(ABC):
    """Hyper-parameters of one distribution.

    Examples
    --------
    >>> family = family_named("poisson", alpha=2.0)
    >>> family.name, family.encodings, family.is_distribution
    ('poisson', ('whole',), True)
    """

    encodings: ClassVar[tuple[Encoding, ...]]  # how the cells are read, the usual way first
    is_distribution: ClassVar[bool] = True  # False for scores that cannot be sampled from
    joint: ClassVar[bool] = False  # True where columns depend on each other: blocks stay apart
    lazy: ClassVar[bool] = False  # True where estimating cannot fail, and makes no remarks

    __post_init__ = check_options  # type: ignore[misc]  # one that stands elsewhere

    @property
    def name(self) -> str:
        """The name by which `family_named` finds this family."""
        return type(self).__module__.rpartition(".")[2]

    def sums(self, encoding: str) -> Any:
        """Return a key of the sums: families that agree in it can share them."""
        statistic = type(self.accumulator(encoding, 0).statistic())
        return type(self), statistic

    @property
    def apart(self) -> Family:
        """The family whose sums classes do not share."""
        return self

    @abstractmethod
    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns in one of the family's encodings."""

    @abstractmethod
    def estimate(self, statistic: Any) -> Parameters:
        """Parameters from exact sums; the sums are left as they are."""

    def leave_one_out(self, statistic: Any) -> LeaveOneOut | None:
        """Log-likelihoods of rows by the estimates of all others, from the sums of all.

        None without a closed form.
        """
        return None

    def posterior(self, statistic: Any) -> Posterior:
        """Return the posterior of the parameters, from the sums that they are estimated from.

        The prior is that of the options; under ``mle`` it is the improper limit that weighs
        nothing: Dirichlet(0), Gamma(0, 0), 1/σ² and det(Σ)^(−(d + 1)/2).

        Raises
        ------
        ParameterError
            If there is none.

        Examples
        --------
        >>> from suffice.naive_bayes import BernoulliNB
        >>> model = BernoulliNB().fit([[0], [0], [1], [1], [1]], list("aabbb")).model_
        >>> model.parts[0].family.posterior(model.statistic.blocks[0]).a[:, 0]
        array([[3., 1.],
               [1., 4.]])
        """
        raise ParameterError(
            f"{self} has no posterior in closed form",
            "an interval needs one",
            "use the family 'gaussian'",
        )

    def advice(self, statistic: Any) -> Iterable[tuple[int, str]]:
        """Columns, by their place, that one should look at, and what is to be said of each."""
        return ()

    def left_out(self, statistic: Any) -> Ints:
        """Columns, by their place, that say nothing of the class as they are identifiers."""
        return NO_COLUMNS

    def settled(self, parameters: Parameters) -> Self:
        """The family that estimates as these parameters were, and chooses nothing anew.

        Values of categories that it does not know are left out.
        """
        options: dict[str, Any] = {}
        if getattr(self, "unseen", "") == "error":
            options["unseen"] = "ignore"
        if parameters.alpha_evidence is not None:
            options["alpha"] = parameters.alpha_evidence.chosen
        return replace(self, **options)

    def narrowed(self, parameters: Parameters) -> Family:
        """The family that chooses anew, but reads no binned counts that were not needed here."""
        return self

    def estimate_by(self, statistic: Any, apply: Apply) -> Parameters:
        """Estimate with ``apply``, which is `map` or maps by several threads."""
        return self.estimate(statistic)

    def takes(self, statistic: Any, encoding: str, d: int) -> bool:
        """Return whether a statistic is one that this family accumulates of d columns."""
        known = type(self.accumulator(encoding, 0).statistic())
        return type(statistic) is known and bool(statistic.d == d)

    def __str__(self) -> str:
        options = (
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.compare and getattr(self, field.name) != field.default
        )
        return f"{type(self).__name__}({', '.join(options)})"


def family_named(name: str, **options: Any) -> Family:
    """Build a family from its name; options that it does not have are ignored.

    Raises
    ------
    ParameterError
        If there is no such family.

    Examples
    --------
    >>> print(family_named("poisson", alpha=2.0, ddof=1))
    Poisson(alpha=2.0)
    """
    if name not in family_names():
        raise ParameterError(
            f"family {name!r} is not known", f"choose one of {', '.join(family_names())}"
        )
    module = import_module(f"suffice.families.{name}")
    family = getattr(module, name.title().replace("_", ""))
    for other in options.keys() - family.__dataclass_fields__.keys():
        del options[other]
    made: Family = family(**options)
    return made


@cache
def family_names() -> tuple[str, ...]:
    """Names of all families: one for every file of the package, but for what families share.

    Examples
    --------
    >>> family_names()[:3]
    ('bernoulli', 'categorical', 'complement')
    """
    files = iter_modules([str(Path(__file__).parent)])
    return tuple(sorted(f.name for f in files if f.name not in SHARED and not f.ispkg))


def complete(values: NDArray[Any]) -> Floats:
    """Numbers (n, d) as the features of a form."""
    require_held(values)
    x = np.asarray(values, np.float64)
    gaps = np.argwhere(np.isnan(x))
    if len(gaps):
        row, column = map(int, gaps[0])
        raise BadCell(row, column, None, INCOMPLETE)
    if (np.abs(x) > LARGEST).any():
        raise too_large(x, 0, 0)
    return x


# -- leave-one-out


@dataclass(frozen=True)
class LearntRows:
    """The weights of a block of rows in the sums."""

    codes: Ints  # of classes, (n,); −1 of rows that are in no sum
    weights: Floats  # w, (n,); 0 of these

    def by_class(self, k: int) -> Floats:
        """Return the weight of each row in each class, (n, k)."""
        return np.where(self.codes[:, None] == np.arange(k), self.weights[:, None], 0.0)


class LeaveOneOut(Protocol):
    """The estimates of a family without one row, for every row."""

    def add_log_likelihood(self, block: Any, rows: LearntRows, out: Floats) -> None:
        """Add log p(x | c), estimated from all rows but x, to ``out`` (n, k).

        It is NaN for a row without which the closed form loses digits, or does not hold.
        """
        ...


# -- posteriors of parameters


@dataclass(frozen=True, eq=False)
class ScoreMoments:
    """Moments of the scores log P(x, c) of n rows, up to a term that all classes share."""

    mean: Floats  # E[log P(x, c)], (n, k)
    variance: Floats  # (n, k); infinite where the posterior is improper
    covariance: Floats  # what classes that share parameters have besides, (n, k, k)

    @classmethod
    def zeros(cls, n: int, k: int) -> ScoreMoments:
        """Nothing is known of the rows yet, and nothing is open."""
        return cls(np.zeros((n, k)), np.zeros((n, k)), np.zeros((n, k, k)))


class Posterior(ABC):
    """The posterior of the parameters of d columns and k classes.

    The mean and the variance of log p(x | c), as the parameters vary and the row stays, are in
    closed form by the digamma function ψ and the trigamma function ψ₁.
    """

    @abstractmethod
    def add_moments(self, block: Any, moments: ScoreMoments) -> None:
        """Add mean and variance of log p(x | c) of every row; missing cells add nothing.

        An improper posterior adds an infinite variance to the rows that need it.
        """


def trigamma(x: Any) -> Floats:
    """ψ₁(x) = d²/dx² log Γ(x) = ζ(2, x); +∞ at 0."""
    from scipy.special import zeta

    x = np.asarray(x, np.float64)
    return np.where(x > 0, zeta(2.0, np.where(x > 0, x, 1.0)), np.inf)


def add_with_poles(add: Callable[[Floats, Floats], None], terms: Floats, out: Floats) -> None:
    """Add sums of ``terms``, of which some are infinite, to ``out``; ``add`` knows finite ones.

    A term that a row does not show has the factor 0, and 0 · ∞ is to be 0.
    """
    finite = np.isfinite(terms)
    add(np.where(finite, terms, 0.0), out)
    if not finite.all():
        poles = np.zeros_like(out)
        add((~finite).astype(np.float64), poles)
        out[poles > 0.5] = np.inf
