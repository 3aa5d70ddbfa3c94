"""The columns of a fitted model, one by one: their distributions, and their mutual information."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from suffice.errors import ParameterError
from suffice.families import Parameters
from suffice.families.bernoulli import BernoulliParameters
from suffice.families.categorical import CategoricalParameters
from suffice.families.joint_table import JointTableParameters
from suffice.families.multinomial import MultinomialParameters
from suffice.families.multivariate.parameters import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.families.poisson import NegativeBinomialParameters, PoissonParameters
from suffice.families.univariate.parameters import GaussianParameters, StudentParameters
from suffice.families.univariate.piecewise import PiecewiseParameters
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import exp, log, log_of
from suffice.numerics.in_print import Printed, Table, percent
from suffice.numerics.logspace import row_sums, safe_log, scores
from suffice.numerics.quadrature import integrate
from suffice.statistics.block import CodedBlock

__all__ = [
    "MOST_VALUES",
    "ColumnInformation",
    "column_information",
    "columns_of",
    "cut_points",
    "draw",
    "is_discrete",
    "location_scale",
    "log_density",
    "values_of",
]

MOST_VALUES = 2**20  # of discrete columns that are listed
REST = 1e-15  # probability that such a list may lack
UNSEEN = 1e-12  # probability from which unseen values are a value of their own
LOG_2 = log_of(2.0)
PRECISION = 1e-12  # of an integral, in nats
# Quantiles that cut the line: even in the middle, by decades in the tails.
QUANTILES = np.concatenate([np.arange(1, 9) / 16, 10.0 ** -np.arange(2, 17)])

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


@dataclass(frozen=True, eq=False, repr=False)
class ColumnInformation(Printed):
    """Bits that a cell of each column tells of the class, if the model is right.

    Parameters
    ----------
    columns : tuple of str
        d names, in the order of the table.
    families : tuple of str
        How each is modelled.
    bits : ndarray (d,)
        I(C; X_j); NaN where it is not known.
    entropy : float
        H(C) of the class prior, in bits: what there is to be told.
    """

    columns: tuple[str, ...]
    families: tuple[str, ...]
    bits: Array
    entropy: float

    @property
    def order(self) -> NDArray[np.intp]:
        """Places of the columns, the most telling first; unknown ones last."""
        return np.argsort(-np.nan_to_num(self.bits, nan=-1.0), kind="stable")

    def table(self) -> Table:
        """Return the columns as a table, the most informative first."""
        rows = []
        for j in self.order.tolist():
            bits = float(self.bits[j])
            share = percent(bits / self.entropy if self.entropy else np.nan)
            known = "-" if np.isnan(bits) else f"{bits:.4f}"
            rows.append([self.columns[j], self.families[j], known, share])
        return Table(
            "",
            ["column", "family", "bits", "of all there is to tell"],
            rows,
            [f"{self.entropy:.4f} bits tell the class of a row, before any cell is seen"],
            left=(0, 1),
            bars=self.bits[self.order].tolist(),
        )


def column_information(model: GenerativeClassifier) -> ColumnInformation:
    """Return how many bits a cell of each column tells of the class, under a fitted model.

    ::

        I(C; X_j) = Σ_c P(c) ∫ p(x_j | c) log₂ (p(x_j | c) / p(x_j)) dx_j,
        p(x_j) = Σ_c P(c) p(x_j | c)

    by sums over the values of discrete columns, and by quadrature over numbers. Of a text, and of
    counts of words, it is what one word tells, which is a sum over words: a column of counts has
    its own term. Each column stands alone: what two of them tell together may be less than the sum,
    and more. It is 0 for a column that looks alike in all classes, at most H(C), and known without
    any rows.

    Parameters
    ----------
    model : generative classifier
        Such as `NaiveBayes` or `LinearDiscriminantAnalysis`, fitted.

    Returns
    -------
    ColumnInformation

    Raises
    ------
    ParameterError
        If the model does not say how columns look in a class.

    Source: T. M. Cover and J. A. Thomas, Elements of Information Theory, 2nd ed. (2006), eq. 2.28
    and section 8.5.

    Examples
    --------
    >>> from suffice.naive_bayes import NaiveBayes
    >>> import pyarrow as pa
    >>> table = pa.table({"a": ["u", "u", "v", "v"], "b": ["x", "y", "x", "y"], "c": list("0011")})
    >>> column_information(NaiveBayes(estimation="mle").fit(table, "c"))
    column  family         bits  of all there is to tell
    a       categorical  1.0000                  100.0 %
    b       categorical  0.0000                    0.0 %
    <BLANKLINE>
    1.0000 bits tell the class of a row, before any cell is seen
    """
    check_is_fitted(model)
    if not isinstance(model, GenerativeClassifier):
        raise ParameterError(
            f"{type(model).__name__} does not say how a column looks in a class",
            "naive Bayes and discriminant analysis do",
            "fit one of them to see what columns tell",
        )
    fitted = model.model_
    bits = dict.fromkeys(fitted.layout.names, np.nan)
    families = dict.fromkeys(bits, "-") | fitted.family_names
    for part, parameters in zip(fitted.parts, fitted.parameters, strict=True):
        columns = part.layout.columns
        if part.family.is_distribution:
            bits |= zip(columns, _of_part(parameters, len(columns), fitted.prior), strict=True)
    prior = fitted.prior
    return ColumnInformation(
        tuple(bits),
        tuple(families.values()),
        np.array(list(bits.values())),
        float(-_sum(prior * safe_log(np.where(prior > 0, prior, 1.0))) / LOG_2),
    )


def _of_part(parameters: Parameters, d: int, prior: Array) -> Iterator[float]:
    """The bits of every column of a part."""
    if isinstance(parameters, MultinomialParameters):
        shares = parameters.theta * prior[:, None]
        bits = _information(shares, prior) / LOG_2
        yield from bits.tolist() if parameters.events.closed else [_sum(bits)]
        return
    for j in range(d):
        columns = columns_of(parameters.column(j), len(prior))
        yield np.nan if columns is None or len(columns) != 1 else _bits(columns[0], prior)


def _bits(column: list[Any], prior: Array) -> float:
    """The bits of one column, given its distribution in every class."""

    def of(x: Array) -> Array:
        joint = np.array(
            [p * exp(log_density(one, x)) for p, one in zip(prior, column, strict=True)]
        )
        return _information(joint, prior)

    with np.errstate(all="ignore"):
        if is_discrete(column[0]):
            return _sum(of(values_of(column))) / LOG_2
        value, _ = integrate(of, cut_points(column, QUANTILES), PRECISION)
    return max(value, 0.0) / LOG_2


def _information(joint: Array, prior: Array) -> Array:
    """Σ_c P(c, x) log (P(c, x) / P(c) p(x)) of every x, in nats, (m,), from P(c, x), (k, m)."""
    total = row_sums(joint.T)[:, None]
    expected = prior * total
    ratio = np.divide(joint.T, expected, out=np.ones(joint.T.shape), where=joint.T > 0)
    return row_sums(joint.T * log(ratio))


def _sum(values: Array) -> float:
    return float(np.add.reduce(values))
