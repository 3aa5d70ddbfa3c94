"""The known distribution of one class: log p(x | c) and samples, whoever wrote the distribution.

It is one distribution of a single column, independent columns one by one, or all columns together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.numerics.elementary import exp

__all__ = [
    "MOST_ATOMS",
    "REST",
    "AllColumns",
    "Density",
    "IndependentColumns",
    "OneColumn",
    "density",
    "described",
]

MOST_ATOMS = 2**20  # values of a discrete column that are listed
REST = 1e-15  # probability that may be missing from such a list


class Density(Protocol):
    """The distribution of a row of one class."""

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Whether each column has a probability mass; one entry where d is not known."""
        ...

    @property
    def d(self) -> int | None:
        """Number of columns; None if the distribution does not tell."""
        ...

    @property
    def columns(self) -> tuple[OneColumn, ...]:
        """The columns, where these are independent."""
        ...

    @property
    def leaves_out(self) -> bool:
        """Whether a missing cell is left out; if not, it is refused."""
        ...

    def log_density(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return log p(x | c) of rows (n, d), (n,)."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw rows (n, d)."""
        ...


@dataclass(frozen=True)
class OneColumn:
    """A distribution of one number, in either of SciPy's two interfaces."""

    distribution: Any

    d = 1
    leaves_out = False

    @cached_property
    def discrete(self) -> tuple[bool, ...]:
        """Whether it has a probability mass. SciPy's new distributions answer to both names."""
        if not (hasattr(self.distribution, "logpmf") and hasattr(self.distribution, "logpdf")):
            return (hasattr(self.distribution, "logpmf"),)
        return (bool(self.distribution.logpmf(self.distribution.median()) > -np.inf),)

    @property
    def columns(self) -> tuple[OneColumn, ...]:
        """The column itself."""
        return (self,)

    def log_density(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log p(x | c) of rows (n, 1), or of numbers (n,)."""
        x = rows.reshape(-1)
        log = self.distribution.logpmf if self.discrete[0] else self.distribution.logpdf
        return _one_per_row(log(x), len(x))

    def sample(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw rows (n, 1)."""
        return np.reshape(_drawn(self.distribution, n, rng), (n, 1))

    @property
    def support(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        low, high = self.distribution.support()
        return float(low), float(high)

    def quantiles(self, q: NDArray[np.float64]) -> NDArray[np.float64]:
        """The numbers below and above which there is probability q, those that can be found."""
        lower = _where_found(_either(self.distribution, "ppf", "icdf"), q)
        upper = _where_found(_either(self.distribution, "isf", "iccdf"), q)
        return np.concatenate([lower, upper])

    def probabilities(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(a < x ≤ b) between neighbouring edges, from the tail that is the smaller one."""
        below = np.asarray(self.distribution.cdf(edges))
        above = np.asarray(_either(self.distribution, "sf", "ccdf")(edges))
        between = np.where(below[:-1] > 0.5, above[:-1] - above[1:], below[1:] - below[:-1])
        return np.asarray(np.maximum(between, 0.0))

    def atoms(self) -> NDArray[np.float64]:
        """The values of a discrete column: all but `REST` of its probability, if there is room."""
        inner = getattr(self.distribution, "dist", self.distribution)
        low, high = self.support
        if hasattr(inner, "xk"):  # SciPy's listed values, which need not be whole
            listed = np.asarray(inner.xk, dtype=np.float64)
            return np.asarray(listed + (low - listed.min()))
        anchor = low if np.isfinite(low) else float(_either(self.distribution, "ppf", "icdf")(0.5))
        mean = float(self.distribution.mean())
        start = anchor + np.round(mean - anchor) if np.isfinite(mean) else anchor
        reach, before = 64.0, 0.0
        while True:
            first, last = max(start - reach, low), min(start + reach, high)
            values = start + np.arange(first - start, last - start + 1)
            mass = exp(self.log_density(values))
            total = float(mass.sum())
            settled = total > 1 - 1e-9 and total - before < REST
            whole = first == low and last == high
            if total > 1 - REST or settled or whole or 2 * len(values) > MOST_ATOMS:
                return np.asarray(values[mass > 0])
            reach, before = 2 * reach, total


@dataclass(frozen=True)
class IndependentColumns:
    """Independent columns: log p(x | c) = Σ_j log p_j(x_j | c). Missing cells are left out."""

    columns: tuple[OneColumn, ...]

    leaves_out = True

    @property
    def d(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Whether each column has a probability mass."""
        return tuple(column.discrete[0] for column in self.columns)

    def log_density(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log p(x | c) of rows (n, d)."""
        out = np.zeros(len(rows))
        for column, x in zip(self.columns, rows.T, strict=True):
            seen = ~np.isnan(x)
            out[seen] += column.log_density(x[seen])
        return out

    def sample(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw rows (n, d)."""
        return np.hstack([column.sample(n, rng) for column in self.columns])


@dataclass(frozen=True)
class AllColumns:
    """A distribution of all columns together.

    Parameters
    ----------
    distribution : object
        With ``logpdf`` or ``logpmf``.
    d : int, optional
        Number of columns.
    by_column : bool
        Whether it takes its rows as columns, as `scipy.stats.dirichlet` and `gaussian_kde` do.
    """

    distribution: Any
    d: int | None
    by_column: bool

    leaves_out = False
    columns = ()

    @classmethod
    def of(cls, distribution: Any) -> AllColumns:
        """Learn from a few rows, where these can be drawn, how the distribution takes them."""
        dim = getattr(distribution, "dim", None)
        if isinstance(dim, int | np.integer) or not _can_draw(distribution):
            return cls(distribution, None if dim is None else int(dim), by_column=False)
        rng = np.random.default_rng(0)
        d = _drawn(distribution, 2, rng).shape[1]
        rows = _drawn(distribution, d + 2, rng)  # more rows than columns, to tell them apart
        upright = cls(distribution, d, by_column=False)
        try:
            upright.log_density(rows)
        except (TypeError, ValueError):
            return replace(upright, by_column=True)
        return upright

    @property
    def discrete(self) -> tuple[bool, ...]:
        """Whether the columns have a probability mass."""
        return (hasattr(self.distribution, "logpmf"),) * (self.d or 1)

    def log_density(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Log p(x | c) of rows (n, d)."""
        log = self.distribution.logpmf if self.discrete[0] else self.distribution.logpdf
        if rows.shape[1] == 1:
            return _one_per_row(log(rows[:, 0]), len(rows))
        return _one_per_row(log(rows.T if self.by_column else rows), len(rows))

    def sample(self, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
        """Draw rows (n, d)."""
        return _drawn(self.distribution, n, rng)


def density(label: Any, given: Any) -> Density:
    """Understand what was given as the distribution of a class.

    Raises
    ------
    ParameterError
        If it is no distribution, has free parameters, or parameters outside their rule.
    """
    if isinstance(given, list | tuple):
        if not given:
            raise ParameterError(f"class {label!r} has no column", "a tuple has one per column")
        parts = tuple(density(label, part) for part in given)
        for part, one in zip(given, parts, strict=True):
            if not isinstance(one, OneColumn):
                raise ParameterError(
                    f"class {label!r}: {described(part)} is no distribution of one column",
                    "a tuple holds one univariate distribution per column, with `ppf`",
                )
        return IndependentColumns(tuple(one for one in parts if isinstance(one, OneColumn)))
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
        return AllColumns.of(given)
    support = np.asarray(given.support(), dtype=np.float64)
    if support.shape != (2,):
        raise ParameterError(
            f"class {label!r}: {described(given)} is {support.size // 2} distributions in one",
            "a univariate distribution describes one column",
            "pass a tuple of distributions, one per column",
        )
    if np.isnan(support).any():
        raise ParameterError(
            f"class {label!r}: {described(given)}", "its parameters are outside their rule"
        )
    return OneColumn(given)


def described(distribution: Any) -> str:
    """Write a distribution as one would: ``norm(0, 1)``.

    Examples
    --------
    >>> from scipy import stats
    >>> described((stats.norm(0, 1), stats.poisson(mu=3)))
    '(norm(0, 1), poisson(mu=3))'
    """
    if isinstance(distribution, Sequence) and not isinstance(distribution, str):
        inner = ", ".join(map(described, distribution))
        return f"({inner}{',' * (len(distribution) == 1)})"
    frozen = getattr(distribution, "dist", None)
    if frozen is not None and hasattr(distribution, "args"):
        words = [repr(value) for value in distribution.args]
        words += [f"{name}={value!r}" for name, value in distribution.kwds.items()]
        return f"{frozen.name}({', '.join(words)})"
    if isinstance(getattr(distribution, "name", None), str):
        return str(distribution.name)
    if repr(distribution).startswith("<"):
        return f"{type(distribution).__name__.removesuffix('_frozen')}(...)"
    return repr(distribution)


def _either(distribution: Any, name: str, new_name: str) -> Callable[..., Any]:
    """A method by its name in SciPy's first interface, or by that in the second."""
    method: Callable[..., Any] = getattr(distribution, name, None) or getattr(
        distribution, new_name
    )
    return method


def _where_found(f: Callable[..., Any], q: NDArray[np.float64]) -> NDArray[np.float64]:
    """Finite values of f, a quantile function."""
    # SciPy inverts a distribution function that it has to integrate itself by a search, which
    # may fail far out.
    try:
        values = np.asarray(f(q), dtype=np.float64)
    except (ValueError, RuntimeError):
        if len(q) == 1:
            return np.empty(0)
        return np.concatenate([_where_found(f, part) for part in np.array_split(q, 2)])
    finite: NDArray[np.float64] = values[np.isfinite(values)]
    return finite


def _can_draw(distribution: Any) -> bool:
    return any(hasattr(distribution, name) for name in ("rvs", "sample", "resample"))


def _drawn(distribution: Any, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Draw rows (n, d) by whatever method there is; `gaussian_kde` draws columns."""
    if hasattr(distribution, "resample"):
        drawn = distribution.resample(n, seed=rng).T
    elif hasattr(distribution, "rvs"):
        drawn = distribution.rvs(size=n, random_state=rng)
    else:
        drawn = distribution.sample(n, rng=rng)
    rows = np.asarray(drawn, dtype=np.float64)
    if rows.ndim > 2:
        raise ParameterError(
            f"{described(distribution)} is about matrices", "a row is a vector of numbers"
        )
    return rows.reshape(n, -1)


def _one_per_row(logs: Any, n: int) -> NDArray[np.float64]:
    """Log densities as an array (n,), whatever SciPy squeezed out."""
    out = np.asarray(logs, dtype=np.float64)
    if out.size != n:
        raise ValueError(f"{out.size} log densities for {n} rows")
    return out.reshape(n)
