"""What a model tells about single rows, from what its file holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from suffice.errors import ParameterError
from suffice.models.base.scikit_learn import check_is_fitted
from suffice.models.design.bins import steps
from suffice.models.design.matrix import Design
from suffice.phrases import Option
from suffice.privacy.doubts import told_by_doubts
from suffice.privacy.finding import Audit, Finding
from suffice.privacy.products import ShownValue, told_by_products
from suffice.privacy.sums import few_rows_of_a_pattern, findings_of
from suffice.statistics.by_class import ByClass
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.pair_counts import PairCounts

__all__ = ["audit", "check_min_count"]


def audit(model: Any, min_count: float = 10) -> Audit:
    """Say what a model, and so its file, tells about fewer than m rows.

    Counts below m, values that stand in the file as they are, means and
    spreads of few rows, cells that few rows miss, groups of rows with sums of their own, and sums
    that one row carries.
    Weights count as rows. What two files tell together is not looked at.

    Parameters
    ----------
    model : estimator
        A fitted model of this library.
    min_count : float, default 10
        m, above 0.

    Returns
    -------
    Audit
        It prints as a table, a line for each kind of fact and column.

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
                      column  facts  rows                                for example
    rare label      (labels)      1     1                                        ill
    rare value           age      8     1         from 86.3411 to 86.5222; label ill
    rare value          town      1     1                            Bonn; label ill
    few numbers          age      1     1                            86.5; label ill
    doubts of rows  (labels)      1     1  1,001 quantiles of 1 - P(class) of 4 rows
    listed values   (labels)      1     -                               2: ill, well
    listed values       town      1     -                               2: Bonn, Ulm
    """
    check_min_count(min_count)
    if not hasattr(model, "saved_types"):
        raise ParameterError(f"{model!r} is no model of this library", "other models keep no sums")
    check_is_fitted(model)
    return Audit(type(model).__name__, min_count, tuple(_found(model, float(min_count))))


def check_min_count(min_count: float) -> None:
    """Refuse what is no number of rows.

    Raises
    ------
    ParameterError
        If it is none.
    """
    if not (isinstance(min_count, Real) and 0 < float(min_count) < float("inf")):
        raise ParameterError(Option.of("min_count", min_count), "it is a number of rows, above 0")


def _found(model: Any, m: float) -> Iterator[Finding]:
    for member in getattr(model, "members_", ()):
        yield from _found(member, m)
    if hasattr(model, "members_"):
        yield from told_by_doubts(model.doubts_)
        return
    batches = getattr(model, "batches_", None)
    if batches is None:
        yield from _coefficients(model)
        return
    if isinstance(batches[0], ByClass):
        yield _labels(model)
    else:
        yield from _listed(model.reader_.design)
    if getattr(model, "calibration_", None) is not None:
        yield from told_by_doubts(model.calibration_.label_doubts)
    sampled = getattr(model.model_, "sampled", None)
    if sampled is not None:
        labels, weight = sampled.classes.values, np.zeros(len(sampled.classes))
        yield from findings_of(sampled.bins, sampled.columns, labels, weight, m)
    for number, batch in enumerate(batches):
        of_batch = _by_class if isinstance(batch, ByClass) else _linear
        for found in of_batch(model, batch, m):
            yield replace(found, batch=number)
    errors = getattr(model.model_, "errors", None)
    if errors is not None:
        names = [f"errors of {target}" for target in model.reader_.design.targets]
        yield from findings_of(errors.counts, names, (None,), np.zeros(1), m)


def _labels(model: Any) -> Finding:
    labels = ", ".join(map(str, model.classes_[:3].tolist()))
    more = ", ..." if len(model.classes_) > 3 else ""
    return Finding("listed values", None, None, f"{len(model.classes_):,}: {labels}{more}")


def _by_class(model: Any, batch: ByClass, m: float) -> Iterator[Finding]:
    labels, weight = batch.classes.values, batch.weight.value
    for c in np.flatnonzero(weight < m).tolist():
        yield Finding("rare label", None, None, labels[c], float(weight[c]))
    unlabelled = float(batch.unlabelled.value)
    if 0 < unlabelled < m:
        yield Finding("few missing", None, None, None, unlabelled)
    names = [part.layout.columns for part in model.parts_]
    for b, block in enumerate(batch.blocks):
        own = block.columns if isinstance(block, PairCounts) else names[b]
        yield from findings_of(block, own, labels, weight, m)


def _linear(model: Any, batch: GroupedRows, m: float) -> Iterator[Finding]:
    design: Design = model.reader_.design
    names = (*design.terms, *design.targets)
    yield from few_rows_of_a_pattern(batch, names, (None,) * batch.k, m)
    shown = [] if design.formula is not None else list(_values_of(design, len(names)))
    rows, sums = batch.group_weight.value, batch.mean.value
    for one in shown:
        at = batch.patterns[batch.pattern][:, one.terms[1:] != 0].all(axis=1)
        count = np.rint(rows[at] @ (one.terms[0] + sums[at] @ one.terms[1:]))
        if 0.5 < count < m:
            yield Finding("rare value", one.column, None, one.value, float(count))
    yield from told_by_products(batch, names, (None,) * batch.k, shown, m)


def _values_of(design: Design, width: int) -> Iterator[ShownValue]:
    """The values of all categories: those of rank 0 have no term of their own."""
    for name, vocabulary in design.categories.items():
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
            yield ShownValue(name, value, terms)


def _listed(design: Design) -> Iterator[Finding]:
    for name, vocabulary in design.categories.items():
        few = ", ".join(map(str, vocabulary.values[:3]))
        more = ", ..." if len(vocabulary) > 3 else ""
        yield Finding("listed values", name, None, f"{len(vocabulary):,}: {few}{more}")
    for name, bins in design.bins.items():
        if cuts := steps(bins):
            more = ", ..." if len(cuts) > 3 else ""
            told = f"{len(cuts):,}: cuts at {', '.join(cuts[:3])}{more}"
            yield Finding("listed values", name, None, told)
    for name, words in design.words.items():
        if len(words.known):
            few = ", ".join(map(str, words.known.values[:3]))
            yield Finding("listed values", name, None, f"{len(words.known):,}: {few}, ...")


def _coefficients(model: Any) -> Iterator[Finding]:
    if hasattr(model, "classes_"):
        yield _labels(model)
    logistic = hasattr(model.model_, "centred")
    yield from _listed(model.model_.centred.design if logistic else model.reader_.design)
    yield Finding("coefficients", None, None, "coefficients, means and deviations of columns")
