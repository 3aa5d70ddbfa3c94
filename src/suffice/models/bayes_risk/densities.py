"""Class-conditional distributions as they are given: SciPy's frozen ones, or any like these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats

from suffice.data.python_cells import require_faithful, unmasked
from suffice.data.schema import Numbered
from suffice.errors import DataError, ParameterError
from suffice.models.generative.model import given_prior
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.elementary import log
from suffice.numerics.in_print import listed
from suffice.numerics.logspace import scores

MOST_VALUES = 2**20  # of discrete columns that are listed
REST = 1e-15  # probability that such a list may lack
MULTIVARIATE_NORMAL = type(stats.multivariate_normal([0.0]))


def is_discrete(distribution: Any) -> bool:
    """Return whether it has a probability mass."""
    return hasattr(distribution, "logpmf")


def log_density(distribution: Any, rows: Floats) -> Floats:
    """Return log p(x) of numbers (n,), or of rows (n, d), (n,)."""
    log_p = distribution.logpmf if is_discrete(distribution) else distribution.logpdf
    return np.asarray(log_p(rows), dtype=np.float64).reshape(len(rows))


def draw(distribution: Any, n: int, rng: np.random.Generator) -> Floats:
    """Draw n rows, (n, d)."""
    rows = np.asarray(distribution.rvs(size=n, random_state=rng), dtype=np.float64)
    if rows.ndim > 2:
        raise ParameterError("a distribution is about matrices", "a row is a vector of numbers")
    return rows.reshape(n, rows.size // n if n else 1)


def values_of(distributions: Sequence[Any]) -> Floats:
    """Return the values of discrete distributions: all but `REST` of each, if there is room."""
    return np.unique(np.concatenate([_values(distribution) for distribution in distributions]))


def _values(distribution: Any) -> Floats:
    low, high = map(float, distribution.support())
    inner = getattr(distribution, "dist", distribution)
    if hasattr(inner, "xk"):  # listed values, which need not be whole
        listed = np.asarray(inner.xk, dtype=np.float64)
        return np.asarray(listed + (low - listed.min()))
    middle = float(distribution.median())
    low = max(low, float(distribution.ppf(REST)), middle - MOST_VALUES // 4)
    high = min(high, float(distribution.isf(REST)), middle + MOST_VALUES // 4)
    return np.arange(low, high + 1)


def cut_points(distributions: Sequence[Any], q: Floats) -> Floats:
    """Return finite ends of the supports, and where q lies below or above, in order."""
    found = [np.array([end for one in distributions for end in one.support()], np.float64)]
    for one in distributions:
        for quantile in (one.ppf, one.isf):
            try:
                found.append(np.asarray(quantile(q), dtype=np.float64))
            except (ValueError, RuntimeError):  # SciPy searches for quantiles, and may fail far out
                continue
    cuts = np.concatenate(found)
    return np.unique(cuts[np.isfinite(cuts)])


# -- the distributions of all classes


@dataclass(frozen=True)
class Density:
    """The distribution of the rows of one class: of independent columns, or of all together."""

    columns: tuple[Any, ...] = ()  # univariate; empty where ``joint`` is given
    joint: Any = None
    leaves_out: bool = False  # a missing cell, of Σ_j log p_j(x_j | c); if not, it is refused

    @classmethod
    def of(cls, label: Any, given: Any) -> Density:
        """Check what was given as the distribution of a class."""
        if isinstance(given, list | tuple):
            parts = [cls.of(label, part) for part in given]
            if not given or any(len(part.columns) != 1 for part in parts):
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
        if not hasattr(given, "ppf"):
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
            return int(draw(self.joint, 1, np.random.default_rng(0)).shape[1])
        except AttributeError:  # a density that cannot be drawn from
            return None

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Return which columns have a probability mass."""
        return tuple(map(is_discrete, self.columns)) or (is_discrete(self.joint),) * (self.d or 1)

    @property
    def marginals(self) -> tuple[Any, ...]:
        """Univariate distributions of the columns, independent or not; empty if not known."""
        if isinstance(self.joint, MULTIVARIATE_NORMAL) and self.joint.cov_object.rank == self.d:
            return tuple(map(stats.norm, self.joint.mean, np.sqrt(np.diagonal(self.joint.cov))))
        return self.columns

    def log_density(self, rows: Floats) -> Floats:
        """Return log p(x | c) of rows (n, d), (n,)."""
        if not self.columns:
            return log_density(self.joint, rows[:, 0] if rows.shape[1] == 1 else rows)
        out = np.zeros(len(rows))
        for column, x in zip(self.columns, rows.T, strict=True):
            seen = ~np.isnan(x)
            out[seen] += log_density(column, x[seen])
        return out


@dataclass(frozen=True)
class Densities:
    """The class prior (k,), and one distribution per class."""

    classes: tuple[Any, ...]
    prior: Floats
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

    @classmethod
    def of(cls, given: Any, priors: Any) -> Densities:
        """Check prior and distributions as `suffice.BayesClassifier` takes them."""
        if not isinstance(given, Mapping | list | tuple):
            raise ParameterError(
                f"densities is {described(given)}",
                "it is a mapping from label to distribution, or a sequence",
            )
        labels: tuple[Any, ...] = tuple(range(len(given)))
        if isinstance(given, Mapping):
            labels, given = tuple(given), list(given.values())
        if len(labels) < 2 or None in labels:
            raise ParameterError(
                f"the labels are {list(labels)!r}",
                "there are two classes or more, each has a density, and None is no label",
            )
        known = tuple(Density.of(label, one) for label, one in zip(labels, given, strict=True))
        if priors is None:
            return cls(labels, np.full(len(labels), 1.0 / len(labels)), known)
        mapped = isinstance(priors, Mapping)
        if unknown := [label for label in priors if label not in labels] if mapped else []:
            raise ParameterError(
                f"the class {unknown[0]!r} has a prior, and no density",
                f"the classes are {listed(map(repr, labels))}",
            )
        prior = given_prior(priors, labels, "priors")
        return cls(labels, np.asarray(prior / prior.sum()), known)

    @property
    def d(self) -> int | None:
        """Number of columns, if any class tells."""
        return next((here.d for here in self.densities if here.d), None)

    def log_joint(self, rows: Floats) -> Floats:
        """Return log P(c) + log p(x | c) of rows (n, d), (n, k); infinite where a density is."""
        out = scores(len(rows), len(self.classes), -np.inf)
        for c in np.flatnonzero(self.prior) if len(rows) else ():
            with np.errstate(all="ignore"):
                found = self.densities[c].log_density(rows)
            if np.isnan(found).any():
                i = int(np.isnan(found).argmax())
                raise ParameterError(
                    f"the log density of class {self.classes[c]!r} at row {i}, "
                    f"{rows[i].tolist()}, is NaN",
                    "a density is a number everywhere",
                    "check its parameters",
                )
            out[:, c] = log(self.prior[c]) + found
        return out

    def sample(self, codes: Ints, rng: np.random.Generator) -> Floats:
        rows = np.empty((len(codes), self.d or 1))
        for c in np.unique(codes).tolist():
            here, n = self.densities[c], int((codes == c).sum())
            rows[codes == c] = np.hstack(
                [draw(one, n, rng) for one in here.columns or (here.joint,)]
            )
        return rows

    def rows(self, X: Any) -> Floats:
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


def described(given: Any) -> str:
    """Write a distribution, or those of all classes, as one would: ``norm(0, 1)``."""
    if isinstance(given, Mapping):
        return f"{{{', '.join(f'{label!r}: {described(one)}' for label, one in given.items())}}}"
    if isinstance(given, list):
        return f"[{', '.join(map(described, given))}]"
    if isinstance(given, tuple):
        return f"({', '.join(map(described, given))}{',' * (len(given) == 1)})"
    if hasattr(given, "dist"):
        words = [repr(value) for value in given.args]
        words += [f"{name}={value!r}" for name, value in given.kwds.items()]
        return f"{given.dist.name}({', '.join(words)})"
    return f"{getattr(given, 'name', type(given).__name__.removesuffix('_frozen') + '(...)')}"
