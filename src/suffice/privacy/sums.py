"""What a statistic of columns tells about fewer than m rows of a class."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import singledispatch
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.univariate.parameters import FAR
from suffice.privacy.finding import Finding
from suffice.privacy.products import ShownValue, told_by_products
from suffice.statistics.binned_counts import BinnedCounts
from suffice.statistics.counts import Counts
from suffice.statistics.events import Events
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.indicator_comoments import IndicatorComoments
from suffice.statistics.joint_counts import JointCounts
from suffice.statistics.moments import Moments
from suffice.statistics.moments_and_bins import MomentsAndBins
from suffice.statistics.pair_counts import PairCounts
from suffice.statistics.value_grid import cell_bounds

__all__ = ["NEGLIGIBLE", "few_rows_of_a_pattern", "findings_of"]

NEGLIGIBLE = 2.0**-40
"""Fraction of a class that rounding of weights may leave as missing."""

Names = Sequence[str]
Labels = Sequence[Any]


@singledispatch
def findings_of(
    block: Any, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    """What the sums of some columns tell.

    Parameters
    ----------
    block : ClasswiseStatistic
        The sums.
    names : sequence of d str
        The columns.
    labels : sequence
        The k classes; None for rows without classes.
    weight : ndarray (k,)
        Σw of the rows of each class.
    m : float
        What is about fewer rows is found.
    """
    raise TypeError(f"no rule says what {type(block).__name__} tells about rows")


def _rare(count: NDArray[np.float64], m: float) -> Iterator[tuple[int, int, float]]:
    """Class, place and weight of the sums (k, M) between 0 and m."""
    for c, place in np.argwhere((count > 0) & (count < m)).tolist():
        yield c, place, float(count[c, place])


def _missing(
    total: NDArray[np.float64], names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    absent = weight[:, None] - total
    for c, j, rows in _rare(np.where(absent > weight[:, None] * NEGLIGIBLE, absent, 0.0), m):
        yield Finding("few missing", names[j], labels[c], None, rows)


@findings_of.register
def _counts(
    block: Counts, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    for j, vocabulary in enumerate(block.vocabularies):
        if not vocabulary.closed and len(vocabulary):
            yield _listing(names[j], vocabulary.values)
        for c, place, rows in _rare(block.column(j), m):
            yield Finding("rare value", names[j], labels[c], vocabulary.values[place], rows)
    yield from _missing(block.total, names, labels, weight, m)


@findings_of.register
def _events(
    block: Events, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    # Sums of counts: below m they are of fewer than m rows, but as much may be of one row, too.
    (events,) = block.vocabularies
    column_of = (lambda j: names[j]) if events.closed else (lambda _: names[0])
    if not events.closed and len(events):
        yield _listing(names[0], events.values)
    for c, place, rows in _rare(block.count.value, m):
        word = None if events.closed else events.values[place]
        yield Finding("rare value", column_of(place), labels[c], word, rows)
    documents = block.documents.value[:, None]
    yield from _missing(documents, [", ".join(names[:1])], labels, weight, m)
    missing = block.missing.count.value
    for c, place, rows in _rare(missing, m):
        event = block.missing.vocabularies[0].values[place]
        yield Finding(
            "few missing", names[event] if events.closed else names[0], labels[c], event, rows
        )


@findings_of.register
def _joint(
    block: JointCounts, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    column = ", ".join(names)
    for name, vocabulary in zip(names, block.vocabularies, strict=True):
        yield _listing(name, vocabulary.values)
    for c, s, rows in _rare(block.count.value, m):
        shown = ", ".join(map(str, block.combination(s)))
        yield Finding("rare combination", column, labels[c], shown, rows)
    yield from _missing(block.total, [column], labels, weight, m)


@findings_of.register
def _pairs(
    block: PairCounts, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    # Bins one by one are found where their column is; here are two of them together.
    shown = [bins.named(b) for bins in block.bins for b in range(len(bins))]
    later, earlier = np.tril_indices(block.size)
    count = np.where(later > earlier, block.count.value, 0.0)
    for c, place, rows in _rare(count, m):
        v, w = earlier[place], later[place]
        columns = f"{names[block.column_of[v]]}, {names[block.column_of[w]]}"
        yield Finding("rare combination", columns, labels[c], f"{shown[v]}, {shown[w]}", rows)


@findings_of.register
def _moments(
    block: Moments,
    names: Names,
    labels: Labels,
    weight: NDArray[np.float64],
    m: float,
) -> Iterator[Finding]:
    total, mean, scatter = block.total, block.mean, block.scatter
    for c, j, rows in _rare(total, m):
        shown = _numbers(mean[c, j], scatter[c, j], rows)
        yield Finding("few numbers", names[j], labels[c], shown, rows)
    for c, j in np.argwhere((total >= m) & (scatter <= 0)).tolist():
        number = f"{mean[c, j]:.17g}"
        yield Finding("same number", names[j], labels[c], number, float(total[c, j]))
    # With Q = Σwx² and S = Σwx, numbers of one sign have a largest between Q/|S| and √Q.
    with np.errstate(all="ignore"):
        s, q = total * mean, scatter + total * mean**2
        carried = s**2 / q
    for c, j in np.argwhere((total >= m) & (scatter > 0) & (s != 0) & (carried < m)).tolist():
        least, most = q[c, j] / abs(s[c, j]), np.sqrt(q[c, j])
        if least < most:
            bounds = f"if all have one sign, the largest is between {least:.4g} and {most:.4g}"
            rows = float(total[c, j])
            yield Finding("few rows carry the sum", names[j], labels[c], bounds, rows)
    yield from _missing(total, names, labels, weight, m)


def _numbers(mean: float, scatter: float, rows: float) -> str:
    """What mean and scatter tell of few rows of weight one."""
    if rows == 1:
        return f"{mean:.17g}"
    if rows == 2:
        half = float(np.sqrt(max(scatter, 0.0) / 2))
        return f"{mean - half:.8g} and {mean + half:.8g}"
    return f"mean {mean:.6g}, deviation {np.sqrt(max(scatter, 0.0) / rows):.4g}"


@findings_of.register
def _bins(
    block: BinnedCounts, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    for j, name in enumerate(names):
        cells, count = block.column(j)
        low, high = (block.units[j] * ends + block.origin[j] for ends in cell_bounds(cells))
        for c, place, rows in _rare(count, m):
            far = abs(block.origin[j]) > FAR * block.units[j]
            digits = 12 if far else 6  # cells far from 0 are narrow
            shown = f"from {low[place]:.{digits}g} to {high[place]:.{digits}g}"
            if low[place] == high[place]:
                shown = f"{low[place]:g}"
            yield Finding("rare value", name, labels[c], shown, rows)


@findings_of.register
def _moments_and_bins(
    block: MomentsAndBins, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    yield from findings_of(block.moments, names, labels, weight, m)
    yield from findings_of(block.bins, names, labels, weight, m)


@findings_of.register
def _grouped(
    block: GroupedRows, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    yield from few_rows_of_a_pattern(block, names, labels, m)
    yield from told_by_products(block, names, labels, (), m)


def few_rows_of_a_pattern(
    block: GroupedRows, names: Names, labels: Labels, m: float
) -> Iterator[Finding]:
    """Groups of fewer than m rows that miss the same cells, which have sums of their own."""
    rows, means = block.group_weight.value, block.mean.value
    shown = block.patterns[block.pattern]
    for g in np.flatnonzero(rows < m).tolist():
        of_few = (f"{names[j]} {means[g, j]:.6g}" for j in np.flatnonzero(shown[g])[:3].tolist())
        absent = ", ".join(names[j] for j in np.flatnonzero(~shown[g]).tolist()) or None
        said = ("its cells: " if rows[g] == 1 else "means ") + ", ".join(of_few)
        label = labels[block.code[g]]
        yield Finding("few rows of a pattern", absent, label, said, float(rows[g]))


@findings_of.register
def _fourth_moments(
    block: FourthMoments, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    first = block.moments.marginal(np.arange(block.d))
    yield from findings_of(first, names, labels, weight, m)


@findings_of.register
def _indicators(
    block: IndicatorComoments, names: Names, labels: Labels, weight: NDArray[np.float64], m: float
) -> Iterator[Finding]:
    categories = [names[j] for j in np.flatnonzero(~block.is_number).tolist()]
    yield from findings_of(block.counts, categories, labels, weight, m)
    yield from few_rows_of_a_pattern(block.columns, block.terms.names(names), labels, m)
    features = block.terms.features
    shown = []
    for place in range(int(block.terms.starts[0]), len(features)):
        j, value = features[place]
        terms = np.zeros(len(features) + 1)
        terms[place + 1] = 1.0
        shown.append(ShownValue(names[j], value, terms))
    yield from told_by_products(block.columns, block.terms.names(names), labels, shown, m)


def _listing(name: str, values: Sequence[Any]) -> Finding:
    n, few = len(values), ", ".join(map(str, values[:3]))
    return Finding("listed values", name, None, f"{n:,}: {few}{', ...' if n > 3 else ''}")
