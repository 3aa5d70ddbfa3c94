"""Gaussians of numbers and of indicators of categories."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.family import Form, JointParameters, complete
from suffice.families.multivariate.factored import settled_double
from suffice.families.multivariate.parameters import (
    MultivariateGaussianParameters,
    MultivariateStudentParameters,
)
from suffice.numerics.error_free import two_sum
from suffice.statistics.block import BadCell
from suffice.statistics.comoments import Comoments
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.indicator_comoments import IndicatorComoments
from suffice.statistics.indicators import Indicators
from suffice.statistics.mixed_block import MixedBlock

__all__ = ["MixedParameters", "OfTerms", "of_terms"]

WHOLE = 1.0 - 1e-12  # but for rounding


@dataclass(frozen=True, eq=False)
class OfTerms:
    """Sums of complete rows of terms, without those of the first values: the others tell these.

    Parameters
    ----------
    terms : Indicators
    rows : GroupedRows
    fourth : FourthMoments, optional
    filled : bool
        Whether cells were missing, and stand in the sums as they are expected.
    """

    terms: Indicators
    rows: GroupedRows
    fourth: FourthMoments | None
    filled: bool


def of_terms(statistic: IndicatorComoments) -> OfTerms:
    """Sums that a Gaussian is estimated from.

    A cell that is missing counts as it is expected in its class, whatever the other cells say: with
    u = 1 where a cell is there, else 0, its terms x are

    ::

        x̃ = ux + (1 − u)x̄_c    Σ(x̃ − x̄_c)(x̃ − x̄_c)ᵀ + Σ(1 − u)V

    x̄_c is the mean of the cells of class c that are there, of all classes where there is none. V is
    diag x̄_c − x̄_c x̄_cᵀ of the indicators of a category, and the variance of a number within
    classes. This is one step of expectation-maximisation from independent columns. All of its steps
    would be hundreds of passes, as indicators nearly determine each other, and come to no end where
    two categories are never shown together.
    """
    terms, kept = statistic.terms.without_first()
    rows, moments = statistic.columns, statistic.moments
    weight = np.zeros(rows.k)
    np.add.at(weight, rows.code, rows.group_weight.value)
    whole = rows.complete and bool((statistic.counts.total >= weight[:, None] * WHOLE).all())
    fourth = moments.marginal(kept) if isinstance(moments, FourthMoments) else None
    if whole:
        return OfTerms(terms, fourth.columns if fourth else moments.marginal(kept), fourth, False)
    return OfTerms(terms, _filled(statistic).marginal(kept), fourth, True)


def _filled(statistic: IndicatorComoments) -> Comoments:
    """The sums of terms, where cells that are missing are expected.

    They are measured from the mean of each class, so that no digits cancel. With the frequencies p
    of a category in a class, the indicators of a row become p + Mx: M = I − p1ᵀ, whose 1 − p_i is
    taken as the sum of the others, as little may be left of 1.
    """
    rows, terms = statistic.columns, statistic.terms
    a, d, code = int(terms.starts[0]), rows.d, rows.code
    n = rows.group_weight.value
    scatter = np.concatenate([settled_double(rows.scatter), np.zeros((1, d, d))])
    scatter = scatter[rows.product_index]
    centre, apart = np.zeros((2, *rows.mean.shape))
    for j in range(a):
        centre[:, j], apart[:, j] = _number(rows, scatter[:, j, j], n, j)
    frequency = _frequencies(statistic)[code]  # (g, M)
    blocks = [
        (slice(start, stop), frequency[:, start - a : stop - a])
        for start, stop in pairwise(terms.starts.tolist())
    ]
    for _ in range(2):  # MS, and M(MS)ᵀ
        for own, p in blocks:
            part, q = scatter[:, own], _others(p)
            scatter[:, own] = q[:, :, None] * part - p[:, :, None] * _others(part)
        scatter = scatter.transpose(0, 2, 1).copy()
    for own, p in blocks:
        q, mean = _others(p), rows.mean.hi[:, own]
        shown = mean.sum(axis=1)
        lacking = n * np.where(shown >= WHOLE, 0.0, 1.0 - shown)
        centre[:, own], apart[:, own] = p, q * mean - p * _others(mean)
        within = -p[:, :, None] * p[:, None]
        np.einsum("gii->gi", within)[:] = p * q
        scatter[:, own, own] += lacking[:, None, None] * within
    return Comoments.of_classes(rows.k, code, rows.group_weight, centre, apart, scatter)


def _number(
    rows: GroupedRows, squares: NDArray[np.float64], n: NDArray[np.float64], j: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean of the class of each group (g,), and how far from it the mean of the group is.

    A group that does not show the number has the mean of its class, and in ``squares``, its scatter
    (g,), the variance within classes.
    """
    code, shown = rows.code, rows.patterns[rows.pattern, j]
    value = rows.mean[:, j]
    seen, first = np.unique(code[shown], return_index=True)
    near = value.hi[shown][first]  # values of each class, that its mean is measured from
    some = near[0] if len(near) else 0.0
    origin = np.full(rows.k, some)
    origin[seen] = near
    # Of equal numbers the mean is this number: division leaves 2⁻¹⁰⁴ of it.
    fine = np.ldexp(1.5, np.frexp(value.hi)[1] - 44)
    x = np.where(shown, (value.hi - origin[code]) + ((value.lo + fine) - fine), 0.0)
    total = np.bincount(code, n * shown, rows.k)
    sums = np.bincount(code, n * shown * x, rows.k)
    middle = (sums + total * (origin - some)).sum() / (total.sum() or 1.0)
    of_class = np.divide(sums, total, out=np.full(rows.k, middle), where=total > 0)
    centre, low = two_sum(origin, of_class)
    low = np.where(total > 0, low, 0.0)  # a class without the number has one and the same
    apart = np.where(shown, x - of_class[code], 0.0)
    squares[~shown] = n[~shown] * (squares + n * apart**2)[shown].sum() / (total.sum() or 1.0)
    return centre[code], apart + low[code]


def _others(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sum of all values (n, m, ...) of a row but one, in the place of each.

    Examples
    --------
    >>> _others(np.array([[0.75, 0.25, 1e-30]]))
    array([[0.25, 0.75, 1.  ]])
    """
    sums = np.zeros_like(values)
    np.cumsum(values[:, :-1], axis=1, out=sums[:, 1:])
    sums[:, :-1] += np.cumsum(values[:, :0:-1], axis=1)[:, ::-1]
    return sums


def _frequencies(statistic: IndicatorComoments) -> NDArray[np.float64]:
    """How often each value is shown in each class, (k, M)."""
    counts = statistic.counts
    sizes = [len(v) for v in counts.vocabularies]
    n, of_all = counts.count.value, counts.one_class
    total = np.repeat(counts.total, sizes, axis=1)
    pooled = of_all.count.value / np.repeat(of_all.total, sizes, axis=1)
    return np.divide(n, total, out=np.repeat(pooled, len(n), axis=0), where=total > 0)


@dataclass(frozen=True, eq=False)
class MixedParameters(JointParameters):
    """A Gaussian, or its posterior predictive, of the terms that columns become.

    Parameters
    ----------
    of_terms : MultivariateGaussianParameters or MultivariateStudentParameters
    terms : Indicators
    """

    of_terms: MultivariateGaussianParameters | MultivariateStudentParameters
    terms: Indicators

    @property
    def factored(self) -> Any:
        """Means and covariances of the terms."""
        return self.of_terms.factored

    @property
    def course(self) -> Any:
        """How expectation-maximisation went."""
        return self.of_terms.course

    @property
    def n_free(self) -> int:
        """Those of the terms."""
        return self.of_terms.n_free

    def add_log_likelihood(self, block: MixedBlock, out: NDArray[np.float64]) -> None:
        """Add log p of the terms of columns that a row shows."""
        self.of_terms.add_log_likelihood(self.terms.block(block), out)

    def add_discriminants(self, block: MixedBlock, out: NDArray[np.float64]) -> None:
        """Add the same up to a term that all classes share."""
        self.of_terms.add_discriminants(self.terms.block(block), out)

    def column(self, j: int) -> MixedParameters:
        """The marginal of column j."""
        at, number = self.terms.places(j), bool(self.terms.is_number[j])
        b = int((~self.terms.is_number[:j]).sum())
        own = () if number else (self.terms.vocabularies[b],)
        terms = Indicators(np.array([number]), own, self.terms.all_values)
        factored = self.factored.columns(at)
        return MixedParameters(replace(self.of_terms, factored=factored), terms)

    def sample(self, codes: NDArray[np.intp], rng: np.random.Generator) -> list[NDArray[Any]]:
        """Draw terms; a category is the value of the largest indicator."""
        return self.terms.sampled(self.of_terms.sample(codes, rng), len(codes))

    def describe(self, j: int) -> dict[str, list[float]]:
        """Mean and standard deviation of a number; means of the indicators of a category."""
        at = self.terms.places(j)
        if self.terms.is_number[j]:
            return self.of_terms.describe(int(at[0]))
        features = self.terms.features
        return {str(features[t][1]): self.of_terms.describe(t)["mean"] for t in at.tolist()}

    def form(self) -> Form | None:
        """That of the terms."""
        form = self.of_terms.form()
        return None if form is None else form._replace(features=self.terms.features)

    def features(self, block: MixedBlock) -> NDArray[np.float64]:
        """The terms of complete rows, (n, p).

        Raises
        ------
        BadCell
            If a cell is missing or unknown.
        """
        try:
            return complete(self.terms.rows(block))
        except BadCell as bad:
            bad.column = int(self.terms.columns[int(bad.column or 0)])
            raise

    def remarks(self, columns: Sequence[str], classes: Sequence[Any]) -> Iterator[str]:
        """Those of the terms."""
        return iter(self.of_terms.remarks(self.terms.names(columns), classes))
