"""α of a symmetric Dirichlet prior by its evidence: the marginal likelihood of counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.arrays import Bools, Floats, Ints
from suffice.numerics.elementary import digamma, exp, lgamma, log
from suffice.numerics.in_print import Printed, Table, listed
from suffice.rules import POSITIVE, Shape

STEPS = ("1", "1.6", "2.5", "4", "6.3")  # of one decade
LEAST = -3  # the first decade
BEYOND = 1e3  # how far α may exceed the largest count
HALVINGS = 52  # of the interval between neighbours: then it is one of rounding
PRINTED = (0.01, 0.1, 1.0, 10.0, 100.0)


@dataclass(frozen=True, eq=False, repr=False)
class AlphaEvidence(Printed):
    """Values tried for α, and the log evidence of each in nats, for one prior or several."""

    alpha: Annotated[Floats, Shape("q"), POSITIVE]  # of the greatest evidence; 1 if all are equal
    log_evidence: Annotated[Floats, Shape("q")]
    tried: Annotated[Floats, Shape("a"), POSITIVE]  # the α of the curves
    curves: Annotated[Floats, Shape("q", "a")]  # their log evidence
    names: tuple[str, ...] = ()  # what each prior is of

    @property
    def chosen(self) -> float | tuple[float, ...]:
        """Return α, one number or one for each prior."""
        return float(self.alpha[0]) if len(self.alpha) == 1 else tuple(self.alpha.tolist())

    @classmethod
    def joined(cls, several: Sequence[AlphaEvidence]) -> AlphaEvidence:
        """Join those of several families, in the order given; curves up to the shortest."""
        width = min(len(one.tried) for one in several)
        return cls(
            np.concatenate([one.alpha for one in several]),
            np.concatenate([one.log_evidence for one in several]),
            several[0].tried[:width],
            np.concatenate([one.curves[:, :width] for one in several]),
            tuple(name for one in several for name in one.names),
        )

    def named(self, columns: Sequence[str]) -> AlphaEvidence:
        """Return them with the names of columns: one each, or one for all of them."""
        names = tuple(columns) if len(columns) == len(self.alpha) else (listed(columns, 4),)
        return replace(self, names=names)

    def of(self, j: int) -> dict[str, float | list[float]]:
        """Return the values of column j as JSON has them."""
        q = min(j, len(self.alpha) - 1)
        return {
            "alpha": float(self.alpha[q]),
            "log_evidence": float(self.log_evidence[q]),
            "tried": self.tried.tolist(),
            "curve": self.curves[q].tolist(),
        }

    def table(self) -> Table:
        shown = [int(np.abs(self.tried - alpha).argmin()) for alpha in PRINTED]
        header = ["log evidence less the best", "alpha", *(f"at {a:g}" for a in PRINTED)]
        names = self.names or tuple(str(q) for q in range(len(self.alpha)))
        rows = [
            [name, f"{alpha:.4g}", *(f"{curve[a] - best:.2f}" for a in shown)]
            for name, alpha, best, curve in zip(
                names, self.alpha, self.log_evidence, self.curves, strict=True
            )
        ]
        lost = (self.log_evidence - self.curves[:, self.tried == 1.0].ravel()).tolist()
        return Table("", header, rows, bars=lost)


class _Terms(NamedTuple):
    """Terms ± r m [lnΓ(n + m α) − lnΓ(m α)] / m of the priors ``at``; totals count below 0."""

    n: Floats
    m: Floats
    r: Floats
    at: Ints

    def over(self, found: Floats, priors: int) -> Floats:
        """Sums by prior, (q,), added in the order of the terms."""
        return np.asarray(np.bincount(self.at, self.r * found, priors), np.float64)


def alpha_by_evidence(
    tables: Sequence[Floats], sizes: Sequence[int], shared: bool = False
) -> AlphaEvidence:
    """The α of greatest evidence, of every table of counts or of all together.

    ::

        log p(N | α) = Σ_c { Σ_v [lnΓ(N_cv + α) − lnΓ(α)] − lnΓ(N_c + mα) + lnΓ(mα) }

    is that of the cells in their order, with θ_c ~ Dirichlet(α, …, α) integrated out; for two
    outcomes the prior is Beta(α, α). α is looked for from 0.001 to 1,000 times the largest count,
    and where its curve is highest between two that were tried, the derivative is halved to 0.
    ``tables`` are N_cv, and ``sizes`` m of each: values that no row shows are among them. If
    ``shared``, all tables have the same α.

    Source: T. P. Minka, Estimating a Dirichlet distribution (2000), eqs. 35, 53 and 54;
    D. J. C. MacKay and L. C. Bauman Peto, A hierarchical Dirichlet language model, Natural
    Language Engineering 1 (1995).
    """
    q = 1 if shared else len(tables)
    terms = _terms(tables, sizes, shared)
    largest = max((float(table.max(initial=1.0)) for table in tables), default=1.0)
    tried = _tried(BEYOND * largest)
    curves = np.stack([_log_evidence(terms, np.full(q, alpha)) for alpha in tried], axis=1)
    best = curves.argmax(axis=1)
    alpha = tried[best]
    inner = (best > 0) & (best < len(tried) - 1)
    low = log(tried[np.maximum(best - 1, 0)])
    high = log(tried[np.minimum(best + 1, len(tried) - 1)])
    inner &= (_slope(terms, exp(low)) > 0) & (_slope(terms, exp(high)) < 0)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        rises = _slope(terms, exp(middle)) > 0
        low, high = np.where(rises, middle, low), np.where(rises, high, middle)
    alpha = np.where(inner, exp((low + high) / 2), alpha)
    alpha = np.where(_says(tables, sizes, shared), alpha, 1.0)
    return AlphaEvidence(alpha, _log_evidence(terms, alpha), tried, curves)


def _tried(largest: float) -> Floats:
    """α in decimal steps, the last no less than ``largest``."""
    found: list[float] = []
    decade = LEAST
    while not found or found[-1] < largest:
        found += [float(f"{step}e{decade}") for step in STEPS]
        decade += 1
    return np.array(found)


def _says(tables: Sequence[Floats], sizes: Sequence[int], shared: bool) -> Bools:
    """Tell whether the evidence depends on α: two rows of one class show a column of two values."""
    pairs = zip(tables, sizes, strict=True)
    each = np.array([m > 1 and bool((t.sum(axis=1) > 1).any()) for t, m in pairs], np.bool_)
    return np.array([each.any()]) if shared else each


def _terms(tables: Sequence[Floats], sizes: Sequence[int], shared: bool) -> _Terms:
    """The terms of all tables; equal counts of one are one term."""

    def each() -> Iterator[tuple[NDArray[Any], ...]]:
        for j, (table, m) in enumerate(zip(tables, sizes, strict=True)):
            at = 0 if shared else j
            for counts, size, sign in ((table, 1.0, 1.0), (table.sum(axis=1), float(m), -1.0)):
                n, times = np.unique(counts[counts > 0], return_counts=True)
                yield n, np.full(len(n), size), sign * times, np.full(len(n), at)

    parts: Any = list(zip(*each(), strict=True)) or [[np.zeros(0)]] * 4
    n, m, r, at = map(np.concatenate, parts)
    return _Terms(n, m, r, at.astype(np.intp))


def _log_evidence(terms: _Terms, alpha: Floats) -> Floats:
    """log p(N | α) of every prior, (q,)."""
    prior = terms.m * alpha[terms.at]
    return terms.over(lgamma(terms.n + prior) - lgamma(prior), len(alpha))


def _slope(terms: _Terms, alpha: Floats) -> Floats:
    """d log p(N | α)/dα of every prior, (q,)."""
    prior = terms.m * alpha[terms.at]
    return terms.over(terms.m * (digamma(terms.n + prior) - digamma(prior)), len(alpha))
