"""Class-conditional distributions: those of SciPy, and those of a fitted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy import stats

from suffice.data.python_cells import require_faithful, unmasked
from suffice.data.schema import Numbered
from suffice.errors import DataError, ParameterError
from suffice.families import Parameters
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.densities.piecewise import PiecewiseParameters
from suffice.families.gaussian import GaussianParameters, StudentParameters
from suffice.families.joint_table import JointTableParameters
from suffice.families.multivariate_gaussian import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import exp
from suffice.numerics.logspace import safe_log, scores
from suffice.sums.block import CodedBlock

MOST_VALUES = 2**20  # of discrete columns that are listed
REST = 1e-15  # probability that such a list may lack
UNSEEN = 1e-12  # probability from which unseen values are a value of their own
MULTIVARIATE_NORMAL = type(stats.multivariate_normal([0.0]))

Array = NDArray[np.float64]


# -- distributions of one number, in either of SciPy's two interfaces


def is_discrete(distribution: Any) -> bool:
    """Return whether it has a probability mass. SciPy's new distributions have both names."""
    if not (hasattr(distribution, "logpmf") and hasattr(distribution, "logpdf")):
        return hasattr(distribution, "logpmf")
    return bool(distribution.logpmf(distribution.median()) > -np.inf)


def log_density(distribution: Any, rows: Array) -> Array:
    """Return log p(x) of numbers (n,), or of rows (n, d), (n,)."""
    log_p = distribution.logpmf if is_discrete(distribution) else distribution.logpdf
    by_column = rows.ndim > 1 and hasattr(distribution, "resample")  # `scipy.stats.gaussian_kde`
    out = np.asarray(log_p(rows.T if by_column else rows), dtype=np.float64)
    if out.size != len(rows):
        raise ValueError(f"{out.size} log densities for {len(rows)} rows")
    return out.reshape(len(rows))


def draw(distribution: Any, n: int, rng: np.random.Generator) -> Array:
    """Draw rows (n, d)."""
    if hasattr(distribution, "resample"):
        drawn = distribution.resample(n, seed=rng).T
    elif hasattr(distribution, "rvs"):
        drawn = distribution.rvs(size=n, random_state=rng)
    else:
        drawn = distribution.sample(n, rng=rng)
    rows = np.asarray(drawn, dtype=np.float64)
    if rows.ndim > 2:
        raise ParameterError("a distribution is about matrices", "a row is a vector of numbers")
    return rows.reshape(n, rows.size // n if n else 1)


def values_of(distributions: Sequence[Any]) -> Array:
    """Return the values of discrete distributions: all but `REST` of each, if there is room."""
    return np.unique(np.concatenate([_values(distribution) for distribution in distributions]))


def _values(distribution: Any) -> Array:
    inner = getattr(distribution, "dist", distribution)
    low, high = map(float, distribution.support())
    if hasattr(inner, "xk"):  # listed values, which need not be whole
        listed = np.asarray(inner.xk, dtype=np.float64)
        return np.asarray(listed + (low - listed.min()))
    anchor = low if np.isfinite(low) else float(_either(distribution, "ppf", "icdf")(0.5))
    mean = float(distribution.mean())
    start = anchor + np.round(mean - anchor) if np.isfinite(mean) else anchor
    reach, before = 64.0, 0.0
    while True:
        first, last = max(start - reach, low), min(start + reach, high)
        values = start + np.arange(first - start, last - start + 1)
        mass = exp(log_density(distribution, values))
        total = float(mass.sum())
        settled = total > 1 - 1e-9 and total - before < REST
        whole = first == low and last == high
        if total > 1 - REST or settled or whole or 2 * len(values) > MOST_VALUES:
            return np.asarray(values[mass > 0])
        reach, before = 2 * reach, total


def cut_points(distributions: Sequence[Any], q: Array) -> Array:
    """Return finite ends of the supports, and where q lies below or above, in order."""
    found = [np.array([end for one in distributions for end in one.support()], np.float64)]
    for one in distributions:
        found += [_where_found(_either(one, "ppf", "icdf"), q)]
        found += [_where_found(_either(one, "isf", "iccdf"), q)]
    cuts = np.concatenate(found)
    return np.unique(cuts[np.isfinite(cuts)])


def _either(distribution: Any, name: str, new_name: str) -> Callable[..., Any]:
    """Return a method by its name in SciPy's first interface, or by that in the second."""
    method: Callable[..., Any] = getattr(distribution, name, None) or getattr(
        distribution, new_name
    )
    return method


def _where_found(f: Callable[..., Any], q: Array) -> Array:
    """Quantiles; none where SciPy searches for them and fails, as it may far out."""
    try:
        return np.asarray(f(q), dtype=np.float64)
    except (ValueError, RuntimeError):
        return np.empty(0)


@dataclass(frozen=True, eq=False)
class Listed:
    """The numbers 0, 1, ..., m − 1 and their probabilities (m,).

    As `scipy.stats.rv_discrete`, which takes a time that grows with m².
    """

    probabilities: Array

    @property
    def xk(self) -> NDArray[np.intp]:
        """The numbers."""
        return np.arange(len(self.probabilities))

    def support(self) -> tuple[int, int]:
        """Return the smallest and the largest of them."""
        return 0, len(self.probabilities) - 1

    def logpmf(self, x: Array) -> Array:
        """Return log-probabilities of some of them."""
        return safe_log(self.probabilities[x.astype(np.intp)])


# -- the columns of a model


def columns_of(parameters: Parameters, k: int) -> list[list[Any]] | None:
    """Return the distributions of k classes for every column; None where no form is known.

    Columns are independent given the class, and may be moved: only the ratios of the densities of
    classes matter. A joint table is one column, of which each combination is a value; values that
    are unseen are one value. Bins of a histogram are values.
    """
    if isinstance(parameters, BernoulliParameters):
        return _listed(parameters.theta.transpose(1, 0, 2))
    if isinstance(parameters, CategoricalParameters):
        d = len(parameters.vocabularies)
        return _listed([_whole(parameters.probabilities(j)) for j in range(d)])
    if isinstance(parameters, JointTableParameters):
        logs = scores(len(parameters.cells), len(parameters.count), 0.0)
        cells = CodedBlock(parameters.cells, parameters.vocabularies)
        parameters.add_log_likelihood(cells, logs)
        return _listed([_whole(exp(logs).T)])
    if isinstance(parameters, PiecewiseParameters):
        return _listed([parameters.probabilities(j) for j in range(len(parameters.start) - 1)])
    if isinstance(parameters, PoissonParameters):
        return _frozen(stats.poisson, parameters.rate)
    if isinstance(parameters, NegativeBinomialParameters):
        a, b = parameters.a, parameters.b
        return _frozen(stats.nbinom, a, b / (b + 1))
    line = location_scale(parameters)
    if line is None or not line[1].all():
        return None
    location, scale, dof = line
    if dof is None:
        return _frozen(stats.norm, location, scale)
    return _frozen(stats.t, dof, location, scale)


def location_scale(parameters: Parameters) -> tuple[Array, Array, Array | None] | None:
    """Return location and scale (k, d) of Gaussians, and degrees of freedom of Student's t."""
    dof = None
    if isinstance(parameters, GaussianParameters):
        mean, low, variance = parameters.mean, parameters.mean_lo, parameters.variance
    elif isinstance(parameters, StudentParameters):
        mean, low, variance = parameters.location, parameters.location_lo, parameters.scale2
        dof = np.broadcast_to(parameters.dof, mean.shape)
    elif isinstance(parameters, MultivariateGaussianParameters | MultivariateStudentParameters):
        factored = parameters.factored
        if factored.mean.shape[1] != 1:
            return None
        mean, low, variance = factored.mean, factored.mean_lo, factored.covariance[:, :, 0]
        if isinstance(parameters, MultivariateStudentParameters):
            variance = variance * parameters.factor[:, None]
            dof = parameters.dof[:, None]
    else:
        return None
    scale = np.broadcast_to(np.sqrt(variance), mean.shape)
    return (mean - mean[0]) + (low - low[0]), scale, dof


def _listed(tables: Any) -> list[list[Any]]:
    """Discrete columns from probabilities (k, m) of their values."""
    return [[Listed(of_class) for of_class in table] for table in tables]


def _whole(seen: Array) -> Array:
    """Append the probability of all unseen values together, (k, m) or (k, m + 1)."""
    others = np.maximum(1.0 - seen.sum(axis=1, keepdims=True), 0.0)
    return np.hstack([seen, others]) if others.max() > UNSEEN else seen


def _frozen(kind: Any, *shapes: Array) -> list[list[Any]]:
    """Distributions of SciPy of parameters (k, d)."""
    columns = np.stack(np.broadcast_arrays(*shapes), axis=-1).swapaxes(0, 1)
    return [[kind(*of_class) for of_class in column] for column in columns]


# -- the distributions of all classes


@dataclass(frozen=True)
class Density:
    """The distribution of the rows of one class.

    Parameters
    ----------
    columns : tuple of univariate distributions
        Independent columns; empty where ``joint`` is given.
    joint : distribution of all columns together, optional
    leaves_out : bool
        Whether a missing cell is left out of Σ_j log p_j(x_j | c); if not, it is refused.
    """

    columns: tuple[Any, ...] = ()
    joint: Any = None
    leaves_out: bool = False

    @classmethod
    def of(cls, label: Any, given: Any) -> Density:
        """Check what was given as the distribution of a class.

        Raises
        ------
        ParameterError
            If it is no distribution, has free parameters, or parameters outside their rule.
        """
        if isinstance(given, list | tuple):
            parts = [cls.of(label, part) for part in given]
            wrong = [part for part, one in zip(given, parts, strict=True) if len(one.columns) != 1]
            if wrong or not given:
                raise ParameterError(
                    f"class {label!r}: {described(given)}",
                    "a tuple holds one univariate distribution per column, with `ppf`",
                )
            return cls(tuple(one.columns[0] for one in parts), leaves_out=True)
        if not (hasattr(given, "logpdf") or hasattr(given, "logpmf")):
            raise ParameterError(
                f"class {label!r}: {given!r} is no distribution",
                "a distribution has a method `logpdf` or `logpmf`",
                "pass a frozen distribution of scipy.stats, or a tuple of them, one per column",
            )
        if getattr(given, "shapes", None):
            raise ParameterError(
                f"class {label!r}: {described(given)} has free parameters: {given.shapes}",
                "a known distribution has none",
                f"freeze it: scipy.stats.{described(given)}({given.shapes})",
            )
        if not (hasattr(given, "ppf") or hasattr(given, "icdf")):
            return cls(joint=given)
        support = np.asarray(given.support(), dtype=np.float64)
        if support.shape != (2,) or np.isnan(support).any():
            raise ParameterError(
                f"class {label!r}: {described(given)} is no distribution of one column",
                "its parameters are numbers inside their rule",
                "pass a tuple of distributions, one per column",
            )
        return cls((given,))

    @cached_property
    def d(self) -> int | None:
        """Number of columns; None if the distribution does not tell."""
        if self.columns:
            return len(self.columns)
        try:
            drawn: NDArray[np.float64] = draw(self.joint, 1, np.random.default_rng(0))
        except AttributeError:  # a density that cannot be drawn from
            return None
        return int(drawn.shape[1])

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Whether each column has a probability mass."""
        return tuple(map(is_discrete, self.columns)) or (is_discrete(self.joint),) * (self.d or 1)

    @property
    def marginals(self) -> tuple[Any, ...]:
        """Univariate distributions of the columns, independent or not; empty if not known."""
        if isinstance(self.joint, MULTIVARIATE_NORMAL) and self.joint.cov_object.rank == self.d:
            sds = np.sqrt(np.diagonal(self.joint.cov))
            return tuple(map(stats.norm, self.joint.mean, sds))
        return self.columns

    def log_density(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(x | c) of rows (n, d), (n,)."""
        if not self.columns:
            return log_density(self.joint, rows[:, 0] if rows.shape[1] == 1 else rows)
        out = np.zeros(len(rows))
        for column, x in zip(self.columns, rows.T, strict=True):
            seen = ~np.isnan(x)
            out[seen] += log_density(column, x[seen])
        return out

    def sample(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw rows (n, d)."""
        return np.hstack([draw(one, n, rng) for one in self.columns or (self.joint,)])


@dataclass(frozen=True)
class KnownDensities:
    """The class prior (k,), and one distribution per class.

    Raises
    ------
    ParameterError
        If the distributions of two classes are not about the same columns.
    """

    classes: tuple[Any, ...]
    prior: NDArray[np.float64]
    densities: tuple[Density, ...]

    def __post_init__(self) -> None:
        label, first = self.classes[0], self.densities[0]
        for other, here in zip(self.classes[1:], self.densities[1:], strict=True):
            if first.d and here.d and first.d != here.d:
                raise ParameterError(
                    f"class {label!r} has {first.d} columns, class {other!r} has {here.d}",
                    "all classes describe the same columns",
                )
            if any(a != b for a, b in zip(first.discrete, here.discrete, strict=False)):
                raise ParameterError(
                    f"of a column class {label!r} has a density and class {other!r} a "
                    "probability mass, or the other way round",
                    "a mass and a density cannot be compared",
                    "give all classes the same kind of distribution",
                )

    @property
    def d(self) -> int | None:
        """Number of columns, if any class tells."""
        return next((here.d for here in self.densities if here.d), None)

    def known(self) -> KnownDensities:
        """Return these densities."""
        return self

    def log_joint(self, X: Any) -> NDArray[np.float64]:
        """Return log P(c) + log p(x | c), (n, k); infinite where a density is."""
        return self.joint_of(self.rows(X))

    def joint_of(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return `log_joint` of rows (n, d) that need no check."""
        out = scores(len(rows), len(self.classes), -np.inf)
        for c in np.flatnonzero(self.prior) if len(rows) else ():
            with np.errstate(all="ignore"):
                log = self.densities[c].log_density(rows)
            if np.isnan(log).any():
                i = int(np.isnan(log).argmax())
                raise ParameterError(
                    f"the log density of class {self.classes[c]!r} at row {i}, "
                    f"{rows[i].tolist()}, is NaN",
                    "a density is a number everywhere",
                    "check its parameters",
                )
            out[:, c] = safe_log(self.prior[c]) + log
        return out

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw one row for every class code, (n, d)."""
        rows = np.empty((len(codes), self.d or 1))
        for c in np.unique(codes).tolist():
            rows[codes == c] = self.densities[c].sample(int((codes == c).sum()), rng)
        return rows

    def rows(self, X: Any) -> NDArray[np.float64]:
        """Return a checked table, (n, d); one-dimensional values are the rows of one column."""
        if hasattr(X, "toarray"):  # a sparse matrix
            X = X.toarray()
        try:
            rows = np.asarray(unmasked(X, numeric=True), dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(f"X: {error}", "known densities are about numbers") from None
        require_faithful(X, rows, lambda at: f"column 'x{sum(at[1:])}', row {sum(at[:1])}")
        if rows.ndim == 1 and self.d in (1, None):
            rows = rows[:, None]
        if rows.ndim != 2 or self.d not in (rows.shape[1], None):
            raise DataError(
                f"X has shape {rows.shape}",
                f"the densities are about rows of {self.d or 'd'} numbers",
            )
        leaves_out = all(here.leaves_out for here in self.densities)
        bad = np.argwhere(np.isinf(rows) if leaves_out else ~np.isfinite(rows))
        if len(bad):
            i, j = bad[0]
            raise DataError(
                f"column {Numbered(rows.shape[1])[j]!r}, row {i}: {rows[i, j]}",
                "a number must be finite, and only independent columns leave a missing cell out",
                "drop the row, or give every class a tuple of independent columns",
            )
        return rows


@dataclass(frozen=True)
class FittedDensities:
    """Prior and class-conditional distributions of a fitted generative model.

    Raises
    ------
    ParameterError
        If the model is not fitted, or its scores are no probabilities.
    """

    model: GenerativeClassifier

    def __post_init__(self) -> None:
        check_is_fitted(self.model)
        for part in self.model.model_.parts:
            if not part.family.is_distribution:
                raise ParameterError(
                    f"{self.model!r}: {part.family} is no distribution",
                    "its scores are no likelihood, so there is no Bayes-optimal decision",
                    "use a model that is generative, such as NaiveBayes",
                )

    def with_prior(self, prior: NDArray[np.float64]) -> FittedDensities:
        """Return the same class-conditional distributions under another class prior."""
        model = copy(self.model)
        model.model_ = replace(model.model_, prior=prior)
        return FittedDensities(model)

    @property
    def classes(self) -> tuple[Any, ...]:
        """The labels of the model."""
        return tuple(self.model.classes_.tolist())

    @property
    def prior(self) -> NDArray[np.float64]:
        """P(c) of the model."""
        return self.model.class_prior_

    def log_joint(self, X: Any) -> NDArray[np.float64]:
        """Return the model's log P(x, c), (n, k); rows drawn by `sample` are a table, too."""
        return self.model.predict_joint_log_proba(pa.table(X) if isinstance(X, dict) else X)

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> dict[str, NDArray[Any]]:
        """Draw rows as the model does: one array per column."""
        drawn: dict[str, NDArray[Any]] = self.model.model_.sample(codes, rng)
        return drawn

    def known(self) -> KnownDensities | None:
        """Return independent columns of the same likelihood ratios; None if there are none."""
        fitted, k = self.model.model_, len(self.classes)
        if 2 ** len(fitted.layout.names) > MOST_VALUES:
            return None
        columns: list[list[Any]] = []
        for parameters in fitted.parameters:
            found = columns_of(parameters, k)
            if found is None:
                return None
            columns += found
        densities = tuple(Density(tuple(column[c] for column in columns)) for c in range(k))
        return KnownDensities(self.classes, self.prior, densities)


Densities = KnownDensities | FittedDensities


def class_densities(densities: Any, priors: Any) -> Densities:
    """Return class prior and class-conditional distributions; see `suffice.BayesClassifier`.

    Raises
    ------
    ParameterError
        If there are fewer than two classes, something is no distribution, or priors or labels
        break their rule.
    """
    if isinstance(densities, GenerativeClassifier):
        fitted = FittedDensities(densities)
        return fitted if priors is None else fitted.with_prior(_prior_of(priors, fitted.classes))
    if not isinstance(densities, Mapping | list | tuple):
        raise ParameterError(
            f"densities is {described(densities)}",
            "it is a mapping from label to distribution, a sequence, or a fitted model",
        )
    labels: tuple[Any, ...] = tuple(range(len(densities)))
    if isinstance(densities, Mapping):
        labels, densities = tuple(densities), list(densities.values())
    if len(labels) < 2 or None in labels:
        raise ParameterError(
            f"the labels are {list(labels)!r}",
            "there are two classes or more, each has a density, and None is no label",
        )
    known = tuple(Density.of(label, one) for label, one in zip(labels, densities, strict=True))
    return KnownDensities(labels, _prior_of(priors, labels), known)


def _prior_of(priors: Any, labels: tuple[Any, ...]) -> NDArray[np.float64]:
    """P(c) (k,), checked, in the order of the labels."""
    if priors is None:
        return np.full(len(labels), 1.0 / len(labels))
    if isinstance(priors, Mapping):
        for label in (*labels, *priors):
            if label not in priors or label not in labels:
                raise ParameterError(
                    f"the class {label!r} has either no prior or no density",
                    f"the classes are {', '.join(map(repr, labels))}",
                )
        priors = [priors[label] for label in labels]
    try:
        given = np.asarray(priors, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(f"priors={priors!r}", "a probability is a number") from None
    wrong = given.shape != (len(labels),)
    if wrong or not ((given >= 0).all() and abs(given.sum() - 1) < 1e-9):
        raise ParameterError(
            f"priors={given.tolist()}",
            f"there is one of {len(labels)} classes each, 0 or more, and they add up to 1",
            f"they add up to {given.sum():.12g}",
        )
    return np.asarray(given / given.sum())


def described(given: Any) -> str:
    """Write a distribution, or those of all classes, as one would: ``norm(0, 1)``.

    Examples
    --------
    >>> described((stats.norm(0, 1), stats.poisson(mu=3)))
    '(norm(0, 1), poisson(mu=3))'
    """
    if isinstance(given, Mapping):
        return f"{{{', '.join(f'{label!r}: {described(one)}' for label, one in given.items())}}}"
    if isinstance(given, list):
        return f"[{', '.join(map(described, given))}]"
    if isinstance(given, Sequence) and not isinstance(given, str):
        return f"({', '.join(map(described, given))}{',' * (len(given) == 1)})"
    frozen = getattr(given, "dist", None)
    if frozen is not None and hasattr(given, "args"):
        words = [repr(value) for value in given.args]
        words += [f"{name}={value!r}" for name, value in given.kwds.items()]
        return f"{frozen.name}({', '.join(words)})"
    if isinstance(getattr(given, "name", None), str):
        return str(given.name)
    if repr(given).startswith("<"):
        return f"{type(given).__name__.removesuffix('_frozen')}(...)"
    return repr(given)
