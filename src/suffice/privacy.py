"""Audit of a model, or of sums by group: findings about single rows, from what a file holds.

A count below m is about few rows, and so are mean and spread of few numbers. Products of columns
tell more: where an indicator is 1 in one row only, its product with a number, summed over all rows,
is the number of that row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from suffice.errors import ParameterError
from suffice.families.gaussian import FAR
from suffice.models.base.answers import Doubts
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.design.bins import steps
from suffice.models.design.matrix import Design
from suffice.models.grouped_sums import GroupedSums
from suffice.numerics.arrays import Floats, Ints
from suffice.numerics.in_print import Printed, Table
from suffice.sums.bins import BinnedCounts, MomentsAndBins, cell_bounds
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments, FourthMoments
from suffice.sums.counts import Counts, Events, JointCounts
from suffice.sums.kept_rows import KeptRows, Roots
from suffice.sums.moments import Moments
from suffice.sums.pairs import PairCounts
from suffice.sums.vocabulary import Vocabulary

__all__ = ["Audit", "Finding", "audit"]

NEGLIGIBLE = 2.0**-40  # of a class or a spread: what rounding may leave
NAMED = 3  # numbers of a finding
HALF = 0.5  # of a row: sums of indicators below are rounding


MEANINGS = {
    "few rows of a group": "the sums of a group are about its rows alone, and its key is told",
    "rare label": "few rows have this label",
    "rare value": "few rows of a class show this value, which stands in the file",
    "rare combination": "few rows show these values together, which stand in the file",
    "few numbers": "mean and spread are of few rows; of one row they are its number, of two both",
    "numbers of a rare value": "products tell the numbers of the few rows that show a value",
    "same number": "all rows of the class have this number",
    "few missing": "few rows of the class have no value here",
    "few rows of a pattern": "few rows miss the same cells, and have sums of their own",
    "span of rows": "rows lie in few directions: one may look whether a row was learnt",
    "doubts of rows": "how doubtful single rows were: one may look whether a row was learnt",
    "listed values": "values that stand in the file as they are",
    "coefficients": "no sums are kept; fitted numbers depend on every row",
}
"""What a kind of finding means."""


@dataclass(frozen=True)
class Finding:
    """One fact that a model file tells about few rows.

    Examples
    --------
    >>> Finding("rare value", "town", label="ill", value="Bonn", rows=1.0).column
    'town'
    """

    what: str  # a key of `MEANINGS`
    column: str | None = None  # or several, separated by commas
    label: Any = None  # the class; None where the fact is about all rows
    value: Any = None  # of the cells; None where only their number is told
    rows: float | None = None  # Σw of the rows that it is about
    batch: int = 0  # of a window
    group: str | None = None  # the key, of sums by group


@dataclass(frozen=True, repr=False)
class Audit(Printed):
    """The findings of a model about fewer than ``min_count`` rows.

    Examples
    --------
    >>> Audit("NaiveBayes", 10, (Finding("rare label", label="ill", rows=1.0),)).table().rows
    [['rare label', '(labels)', '1', '1', 'label ill']]
    """

    model: str
    min_count: float
    findings: tuple[Finding, ...]

    def table(self) -> Table:
        """Return kind, column, number of facts, and the fact about fewest rows, as a table."""
        if not self.findings:
            return Table(f"{self.model}: nothing about fewer than {self.min_count:g} rows", [], [])
        alike: dict[tuple[str, str], list[Finding]] = {}
        for found in self.findings:
            alike.setdefault((found.what, found.column or "(labels)"), []).append(found)
        kinds = list(MEANINGS)
        rows = []
        for what, column in sorted(alike, key=lambda key: (kinds.index(key[0]), key[1])):
            facts = alike[what, column]
            fewest = min(facts, key=lambda one: float("inf") if one.rows is None else one.rows)
            label = None if fewest.label is None else f"label {fewest.label}"
            value = None if fewest.value is None else str(fewest.value)
            group = None if fewest.group is None else f"group {fewest.group}"
            example = "; ".join(part for part in (value, label, group) if part)
            about = "-" if fewest.rows is None else f"{fewest.rows:g}"
            rows.append([what, column, f"{len(facts):,}", about, example])
        return Table("", ["", "column", "facts", "rows", "for example"], rows, left=(0, 1, 4))


def audit(model: Any, min_count: float = 10) -> Audit:
    """Return what a model, and so its file, tells about fewer than m = ``min_count`` rows.

    Sums by group are looked at group by group. Weights count as rows. What two files, or two
    groups, tell together is not looked at. The result prints as a table, a line for each kind of
    fact and column.

    Parameters
    ----------
    model : estimator or GroupedSums
        Fitted, or loaded from a file.
    min_count : float
        m.

    Raises
    ------
    ParameterError
        If ``min_count`` is no number above 0, or the model is none of this library.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rows = {"age": [31.5, 40.5, 86.5, 29.5], "town": ["Ulm", "Ulm", "Bonn", "Ulm"]}
    >>> model = NaiveBayes().fit(rows, ["well", "well", "ill", "well"])
    >>> print(audit(model, 2))
                    column    facts  rows  for example
    rare label      (labels)      1     1  ill
    rare value      age           8     1  from 86.3411 to 86.5222; label ill
    rare value      town          1     1  Bonn; label ill
    few numbers     age           1     1  86.5; label ill
    doubts of rows  (labels)      1     1  1,001 quantiles of 1 - P(class) of 4 rows
    listed values   (labels)      1     -  2: ill, well
    listed values   town          1     -  2: Bonn, Ulm
    """
    if not (isinstance(min_count, Real) and 0 < float(min_count) < float("inf")):
        raise ParameterError(f"min_count={min_count!r}", "it is a number of rows, above 0")
    if isinstance(model, GroupedSums):
        name = f"sums of {type(model.estimator).__name__}"
        return Audit(name, min_count, tuple(_of_groups(model, float(min_count))))
    if not hasattr(model, "kind"):
        raise ParameterError(f"{model!r} is no model of this library", "other models keep no sums")
    check_is_fitted(model)
    return Audit(type(model).__name__, min_count, tuple(_found(model, float(min_count))))


def _found(model: Any, m: float) -> Iterator[Finding]:
    for member in getattr(model, "members_", ()):
        yield from _found(member, m)
    if hasattr(model, "members_"):
        yield from _doubts(model.doubts_)
        return
    batches = getattr(model, "batches_", None)
    if batches is None or isinstance(batches[0], KeptRows):  # of these a file holds coefficients
        yield from _coefficients(model)
        return
    reader = model.reader_
    yield from _listed_of(reader, model.classes_.tolist() if hasattr(model, "classes_") else ())
    if getattr(model, "calibration_", None) is not None:
        yield from _doubts(model.calibration_.label_doubts)
    sampled = getattr(model.model_, "sampled", None)
    if sampled is not None:
        labels, weight = sampled.classes.values, np.zeros(len(sampled.classes))
        yield from findings_of(sampled.bins, Columns(sampled.columns, labels, weight, m))
    for number, batch in enumerate(batches):
        yield from (replace(found, batch=number) for found in _of_sums(reader, batch, m))
    errors = getattr(model.model_, "errors", None)
    if errors is not None:
        of = [f"errors of {target}" for target in model.reader_.design.targets]
        yield from findings_of(errors.counts, Columns(of, (None,), np.zeros(1), m))


def _of_groups(grouped: GroupedSums, m: float) -> Iterator[Finding]:
    reader, by, labels = grouped.reader, ", ".join(grouped.by), set()
    found = []
    for g in range(len(grouped)):
        key = grouped.keys.key(g)
        sums = grouped[key].sums
        shown = ("(missing)" if value is None else str(value) for value in key)
        group = ", ".join(shown) if grouped.by else None
        if isinstance(sums, KeptRows):
            sums = sums.products()
        if group is not None and 0 < sums.rows < m:
            found.append(Finding("few rows of a group", by, rows=sums.rows, group=group))
        if isinstance(sums, ByClass):
            labels |= set(sums.classes.values)
        found += [replace(one, group=group) for one in _of_sums(reader, sums, m)]
    yield from _listed_of(reader, Vocabulary.of(labels).values)
    yield from found


def _listed_of(reader: Any, labels: Sequence[Any]) -> Iterator[Finding]:
    if labels:
        yield _listing(None, labels)
    if not hasattr(reader, "parts"):
        yield from _listed(reader.design)
        return
    for part in reader.parts:
        if part.design is not None:
            yield from _listed(part.design)


def _of_sums(reader: Any, sums: Any, m: float) -> Iterator[Finding]:
    if not isinstance(sums, ByClass):
        names = (*reader.design.terms, *reader.design.targets)
        shown = _values_of(reader.design, len(names))
        yield from findings_of(sums, Columns(names, (None,) * sums.k, np.zeros(sums.k), m, shown))
        return
    labels, weight = sums.classes.values, sums.weight.value
    for c in np.flatnonzero(weight < m).tolist():
        yield Finding("rare label", None, None, labels[c], float(weight[c]))
    unlabelled = float(sums.unlabelled.value)
    if 0 < unlabelled < m:
        yield Finding("few missing", None, None, None, unlabelled)
    parts = reader.parts
    for b, block in enumerate(sums.blocks):
        own = block.columns if isinstance(block, PairCounts) else parts[b].terms
        design = None if isinstance(block, PairCounts) else parts[b].design
        shown = [] if design is None else _values_of(design, len(own))
        yield from findings_of(block, Columns(own, labels, weight, m, shown))


def _values_of(design: Design, width: int) -> list[ShownValue]:
    """Return the values of all categories: those of rank 0 have no term of their own."""
    found = []
    for name, vocabulary in () if design.formula is not None else design.categories.items():
        places = design.places([name])
        for value, rank in zip(vocabulary.values, design.ranks(name).tolist(), strict=True):
            terms = np.zeros(width + 1)
            if rank:
                terms[places[rank - 1] + 1] = 1.0
            else:
                terms[0] = 1.0
            # An ordered category has the terms of all ranks up to its own.
            later = places[rank : rank + 1] if name in design.ordered else places[:0]
            terms[(later if rank or name in design.ordered else places) + 1] = -1.0
            found.append(ShownValue(name, value, terms))
    return found


def _listed(design: Design) -> Iterator[Finding]:
    for name, vocabulary in design.categories.items():
        yield _listing(name, vocabulary.values)
    for name, bins in design.bins.items():
        if cuts := steps(bins):
            yield _listing(name, cuts, "cuts at ")
    for name, words in design.words.items():
        if len(words.known):
            yield _listing(name, words.known.values)


def _coefficients(model: Any) -> Iterator[Finding]:
    if hasattr(model, "classes_"):
        yield _listing(None, model.classes_.tolist())
    logistic = hasattr(model.model_, "centred")
    yield from _listed(model.model_.centred.design if logistic else model.reader_.design)
    yield Finding("coefficients", None, None, "coefficients, means and deviations of columns")


def _doubts(doubts: Doubts) -> Iterator[Finding]:
    """Quantiles of 1 − P(c | x) of training rows, to the last bit: each is that of one row."""
    q = len(doubts.quantiles) - 1
    if q > 0:
        told = f"{q + 1:,} quantiles of 1 - P(class) of {doubts.rows:g} rows"
        yield Finding("doubts of rows", None, None, told, 1.0)


class ShownValue(NamedTuple):
    """A value of a column, and its indicator as a sum of terms."""

    column: str
    value: Any
    terms: Floats  # (d + 1,): the factor of every term, after a constant


class Columns(NamedTuple):
    """The d columns that sums are of, the k classes, Σw of these, and m."""

    names: Sequence[str]
    labels: Sequence[Any]  # None for rows without classes
    weight: Floats
    m: float
    shown: Sequence[ShownValue] = ()  # values of categories, where columns are terms of these

    def rare(self, count: Floats) -> Iterator[tuple[Any, int, float]]:
        """Yield label, place and weight of the sums (k, M) between 0 and m."""
        for c, place in np.argwhere((count > 0) & (count < self.m)).tolist():
            yield self.labels[c], place, float(count[c, place])

    def missing(self, total: Floats) -> Iterator[Finding]:
        """Yield the cells that few rows miss, of Σw (k, d) of those that have them."""
        absent = self.weight[:, None] - total
        absent = np.where(absent > self.weight[:, None] * NEGLIGIBLE, absent, 0.0)
        for label, j, rows in self.rare(absent):
            yield Finding("few missing", self.names[j], label, None, rows)


@singledispatch
def findings_of(block: Any, of: Columns) -> Iterator[Finding]:
    """Find what the sums of some columns tell about fewer than m rows of a class."""
    raise TypeError(f"no rule says what {type(block).__name__} tells about rows")


@findings_of.register
def _counts(block: Counts, of: Columns) -> Iterator[Finding]:
    for j, vocabulary in enumerate(block.vocabularies):
        if not vocabulary.closed and len(vocabulary):
            yield _listing(of.names[j], vocabulary.values)
        for label, place, rows in of.rare(block.column(j)):
            yield Finding("rare value", of.names[j], label, vocabulary.values[place], rows)
    yield from of.missing(block.total)


@findings_of.register
def _events(block: Events, of: Columns) -> Iterator[Finding]:
    # Sums of counts: below m they are of fewer than m rows, but as much may be of one row, too.
    (events,) = block.vocabularies
    if not events.closed and len(events):
        yield _listing(of.names[0], events.values)
    for label, place, rows in of.rare(block.count.value):
        name, word = (
            (of.names[place], None) if events.closed else (of.names[0], events.values[place])
        )
        yield Finding("rare value", name, label, word, rows)
    yield from of._replace(names=of.names[:1]).missing(block.documents.value[:, None])
    for label, place, rows in of.rare(block.missing.count.value):
        event = block.missing.vocabularies[0].values[place]
        name = of.names[event] if events.closed else of.names[0]
        yield Finding("few missing", name, label, event, rows)


@findings_of.register
def _joint(block: JointCounts, of: Columns) -> Iterator[Finding]:
    column = ", ".join(of.names)
    for name, vocabulary in zip(of.names, block.vocabularies, strict=True):
        yield _listing(name, vocabulary.values)
    for label, s, rows in of.rare(block.count.value):
        shown = ", ".join(map(str, block.combination(s)))
        yield Finding("rare combination", column, label, shown, rows)
    yield from of._replace(names=[column]).missing(block.total)


@findings_of.register
def _pairs(block: PairCounts, of: Columns) -> Iterator[Finding]:
    # Bins one by one are found where their column is; here are two of them together.
    shown = [bins.named(b) for bins in block.bins for b in range(len(bins))]
    later, earlier = np.tril_indices(block.size)
    for label, place, rows in of.rare(np.where(later > earlier, block.count.value, 0.0)):
        v, w = earlier[place], later[place]
        columns = f"{of.names[block.column_of[v]]}, {of.names[block.column_of[w]]}"
        yield Finding("rare combination", columns, label, f"{shown[v]}, {shown[w]}", rows)


@findings_of.register
def _moments(block: Moments, of: Columns) -> Iterator[Finding]:
    total, mean, scatter = block.total, block.mean, block.scatter
    for c, j in np.argwhere((total > 0) & ((total < of.m) | (scatter <= 0))).tolist():
        rows = float(total[c, j])
        few = rows < of.m
        told = _numbers(mean[c, j], scatter[c, j], rows) if few else f"{mean[c, j]:.17g}"
        what = "few numbers" if few else "same number"
        yield Finding(what, of.names[j], of.labels[c], told, rows)
    yield from of.missing(total)


def _numbers(mean: float, scatter: float, rows: float) -> str:
    """Return what mean and scatter tell of few rows of weight one."""
    if rows == 1:
        return f"{mean:.17g}"
    if rows == 2:
        half = float(np.sqrt(max(scatter, 0.0) / 2))
        return f"{mean - half:.8g} and {mean + half:.8g}"
    return f"mean {mean:.6g}, deviation {np.sqrt(max(scatter, 0.0) / rows):.4g}"


@findings_of.register
def _bins(block: BinnedCounts, of: Columns) -> Iterator[Finding]:
    for j, name in enumerate(of.names):
        cells, count = block.column(j)
        low, high = (block.units[j] * ends + block.origin[j] for ends in cell_bounds(cells))
        far = abs(block.origin[j]) > FAR * block.units[j]
        digits = 12 if far else 6  # cells far from 0 are narrow
        for label, place, rows in of.rare(count):
            shown = f"from {low[place]:.{digits}g} to {high[place]:.{digits}g}"
            if low[place] == high[place]:
                shown = f"{low[place]:g}"
            yield Finding("rare value", name, label, shown, rows)


@findings_of.register
def _moments_and_bins(block: MomentsAndBins, of: Columns) -> Iterator[Finding]:
    yield from findings_of(block.moments, of)
    yield from findings_of(block.bins, of)


@findings_of.register
def _grouped(block: Comoments, of: Columns) -> Iterator[Finding]:
    """Yield groups of few rows, which have sums of their own, and values that few rows show."""
    rows, means = block.group_weight.value, block.mean.value
    shown = block.patterns[block.pattern]
    for g in np.flatnonzero(rows < of.m).tolist():
        at = np.flatnonzero(shown[g]).tolist()
        said = _means([of.names[j] for j in at], means[g, at], rows[g])
        absent = ", ".join(of.names[j] for j in np.flatnonzero(~shown[g]).tolist()) or None
        label = of.labels[block.code[g]]
        yield Finding("few rows of a pattern", absent, label, said, float(rows[g]))
    for one in of.shown:
        there = shown[:, one.terms[1:] != 0].all(axis=1)
        for c, label in enumerate(of.labels):
            own = there & (block.code == c)
            count = np.rint(rows[own] @ (one.terms[0] + means[own] @ one.terms[1:]))
            if HALF < count < of.m:
                yield Finding("rare value", one.column, label, one.value, float(count))
    yield from _told_by_products(block, of)


@findings_of.register
def _of_columns(block: FourthMoments | KeptRows, of: Columns) -> Iterator[Finding]:
    yield from findings_of(block.columns, of)


@findings_of.register
def _roots(block: Roots, of: Columns) -> Iterator[Finding]:
    """Yield means of few rows, and the directions that rows are spanned by: fewer than columns."""
    for c in np.flatnonzero((block.weight > 0) & (block.weight < of.m)).tolist():
        told = _means(of.names, block.mean[c], block.weight[c])
        yield Finding("few numbers", None, of.labels[c], told, float(block.weight[c]))
    for m in range(len(block.sd)):
        singular, _ = block.matrix(m)
        directions = int((singular > NEGLIGIBLE * singular.max(initial=0.0)).sum())
        if directions:
            told = f"{directions:,} directions of {block.d:,} columns"
            yield Finding("span of rows", None, None if block.pooled else of.labels[m], told, 1.0)


def _means(names: Sequence[str], means: Floats, rows: float) -> str:
    few = zip(names[:NAMED], means.tolist(), strict=False)
    told = ", ".join(f"{name} {mean:.6g}" for name, mean in few)
    return f"its cells: {told}" if rows == 1 else f"means {told}"


def _listing(name: str | None, values: Sequence[Any], what: str = "") -> Finding:
    n, few = len(values), ", ".join(map(str, values[:3]))
    return Finding("listed values", name, None, f"{n:,}: {what}{few}{', ...' if n > 3 else ''}")


def _told_by_products(block: Comoments, of: Columns) -> Iterator[Finding]:
    """Yield numbers and categories of the rows that show a value, where these are fewer than m.

    Any term that is 0 or 1 in all rows is looked at beside the values of categories.
    """
    for place in range(int(block.product_index.max(initial=-1)) + 1):
        groups = np.flatnonzero(block.product_index == place)
        there = block.patterns[block.pattern[groups[0]]]
        weight = block.group_weight.value[groups]
        ones = np.column_stack([np.ones(len(groups)), block.mean.value[groups]])
        products = (weight[:, None] * ones).T @ ones
        products[1:, 1:] += block.scatter.value[place]
        known = [one for one in of.shown if there[one.terms[1:] != 0].all()]
        free = there.copy()
        for one in of.shown:
            free &= one.terms[1:] == 0
        binary = _of_binary(products, np.flatnonzero(free), of.names)
        if not (known or binary):
            continue
        table = np.stack([one.terms for one in (*known, *binary)])
        beside, rows_of = table @ products, (ones @ table.T) * weight[:, None]
        count = np.round(beside[:, 0], 6)
        # The label of the only class that shows a value; None where there are several.
        codes = [block.code[groups][rows > HALF] for rows in rows_of.T]
        label = [of.labels[found[0]] if len(found) == 1 else None for found in codes]
        for v in np.flatnonzero((count > HALF) & (count < of.m)).tolist():
            one, rows = (*known, *binary)[v], float(count[v])
            if v >= len(known):
                yield Finding("rare value", one.column, label[v], one.value, rows)
            others = [j for j in np.flatnonzero(free).tolist() if not one.terms[j + 1]]
            if others:
                few = (f"{of.names[j]} {beside[v, j + 1] / rows:.8g}" for j in others[:NAMED])
                told = f"{one.value}: {'' if rows == 1 else 'means '}{', '.join(few)}"
                yield Finding("numbers of a rare value", one.column, label[v], told, rows)
        together = np.triu(beside[: len(known)] @ table[: len(known)].T, 1)
        for v, w in np.argwhere((together > HALF) & (together < of.m)).tolist():
            if known[v].column != known[w].column:
                columns = f"{known[v].column}, {known[w].column}"
                told, rows = f"{known[v].value}, {known[w].value}", float(together[v, w])
                yield Finding("rare combination", columns, label[v], told, round(rows, 6))


def _of_binary(products: Floats, places: Ints, names: Sequence[str]) -> list[ShownValue]:
    """Return the two values of every term that is 0 or 1 in all rows, as Σwx² = Σwx tells."""
    found = []
    for j in places.tolist():
        total, squares = products[0, j + 1], products[j + 1, j + 1]
        if total > HALF and abs(squares - total) <= 1e-9 * total:
            one, zero = np.zeros((2, len(names) + 1))
            one[j + 1], zero[0], zero[j + 1] = 1.0, 1.0, -1.0
            found += [ShownValue(names[j], 1, one), ShownValue(names[j], 0, zero)]
    return found
