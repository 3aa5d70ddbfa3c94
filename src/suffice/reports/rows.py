"""Rows of a test table, as the page lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import all_batches
from suffice.models.base.evaluated_rows import known_codes
from suffice.models.linear.model import LinearModel
from suffice.numerics.logspace import log_normalise
from suffice.sums.batch import Batch
from suffice.sums.block import MixedBlock, RealBlock

MOST_ROWS = 200  # that the page lists
MOST_CELLS = 20_000  # of these rows
LONG = 2.0**53  # whole numbers below need no point


def _opened(model: Any, X: Any, y: Any) -> tuple[Any, Layout]:
    """Open test data, and say how they are read."""
    source = model._open_judged(X, y, None)
    linear = isinstance(model.model_, LinearModel)
    return source, model.reader_.layout_of(source) if linear else model.reader_.to_answer


def answered_rows(model: Any, X: Any, y: Any) -> Iterator[tuple[NDArray[np.intp], Layout, Batch]]:
    """Yield the rows that a model answers, batch by batch: places in the table, layout, rows."""
    source, layout = _opened(model, X, y)
    if isinstance(model.model_, LinearModel):
        complete = None if model.model_.cells is not None else model.design_.complete
    else:
        complete = model._complete_rows()
    first = 0
    for batch in all_batches(source, layout):
        known = np.arange(batch.rows) if complete is None else np.flatnonzero(complete(batch))
        yield first + known, layout, batch.take(known)
        first += batch.rows


def rows_of(
    model: Any, X: Any, y: Any, columns: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], dict[str, tuple[float, float]]]:
    """Rows on which the model is most wrong, cells in the order of the columns of the page.

    Beside them stand the least and the largest number of every column of numbers.
    """
    fitted = model.model_
    wrong_of = _wrong_numbers if isinstance(fitted, LinearModel) else _wrong_labels
    most = max(1, min(MOST_ROWS, MOST_CELLS // max(len(columns), 1)))
    worst: list[tuple[float, int]] = []
    ends: dict[str, tuple[float, float]] = {}
    total = 0
    for places, layout, batch in answered_rows(model, X, y):
        wrong = wrong_of(fitted, batch)
        order = np.argsort(-np.nan_to_num(wrong, nan=-1.0, posinf=1e300), kind="stable")
        known = order[:most][~np.isnan(wrong[order[:most]])]
        worst += zip((-wrong[known]).tolist(), places[known].tolist(), strict=True)
        worst = sorted(worst)[:most]
        total += batch.rows
        for part, block in zip(layout.blocks, batch.blocks, strict=False):
            for name, numbers in _numbers(part.columns, block):
                low, high = ends.get(name, (np.inf, -np.inf))
                ends[name] = min(low, numbers.min()), max(high, numbers.max())
    rows = dict(_listed(model, X, y, columns, {place for _, place in worst}))
    return {"total": total, "rows": [rows[place] for _, place in worst]}, ends


def _numbers(columns: Sequence[Any], block: Any) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """Yield the finite numbers of every column of a block that has some, by name."""
    if isinstance(block, MixedBlock):
        own = [name for name, number in zip(columns, block.is_number, strict=True) if number]
        yield from _numbers(own, block.numbers)
    elif isinstance(block, RealBlock):
        for name, column in zip(columns, np.asarray(block.values, np.float64).T, strict=False):
            if len(finite := column[np.isfinite(column)]):
                yield str(name), finite


def _listed(
    model: Any, X: Any, y: Any, columns: Sequence[Mapping[str, Any]], chosen: Set[int]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield rows by their place in the table; texts are read as they are written."""
    source, layout = _opened(model, X, y)
    blocks = [
        replace(part, encoding="category") if part.encoding == "events" else part
        for part in layout.blocks
    ]
    first = 0
    for part in source.parts(replace(layout, blocks=tuple(blocks)), 1):
        for batch in part.batches():
            for place in chosen & set(range(first, first + batch.rows)):
                row = batch.take(np.array([place - first]))
                found: dict[str, Any] = {}
                for block_layout, block in zip(blocks, row.blocks, strict=False):
                    found |= _cells(block_layout.columns, block)
                cells = [_of_kind(found.get(column["name"]), column["kind"]) for column in columns]
                yield place, {"number": place + 1, "cells": cells, "truth": _truth(row)}
            first += batch.rows


def _wrong_labels(fitted: Any, batch: Batch) -> NDArray[np.float64]:
    """−log P(truth | x) of every row; NaN without a label."""
    codes = known_codes(batch, fitted)
    log_posterior, _ = log_normalise(fitted.log_joint(batch), fitted.log_prior)
    loss = -log_posterior[np.arange(batch.rows), np.maximum(codes, 0)]
    return np.asarray(np.where(codes >= 0, loss, np.nan))


def _wrong_numbers(fitted: LinearModel, batch: Batch) -> NDArray[np.float64]:
    """|y − ŷ| of every row, the largest of several targets; NaN without an answer."""
    found = np.concatenate([fitted.fit.predict(x) for _, x in fitted.rows(batch)])
    return np.asarray(np.abs(fitted.design.targets_of(batch) - found).max(axis=1))


def _cells(columns: Sequence[Any], block: Any) -> dict[str, Any]:
    """The cells of a block of one row, by the names of the columns."""
    names = [str(name) for name in columns]
    if isinstance(block, MixedBlock):
        numbers = [name for name, number in zip(names, block.is_number, strict=True) if number]
        others = [name for name in names if name not in numbers]
        return _cells(numbers, block.numbers) | _cells(others, block.categories)
    if isinstance(block, RealBlock):
        values = np.asarray(block.values[0], np.float64).tolist()
        pairs = zip(names, values, strict=False)
        return {name: value if np.isfinite(value) else None for name, value in pairs}
    coded = block.coded()
    codes = zip(names, coded.codes[0].tolist(), coded.vocabularies, strict=True)
    return {name: None if code < 0 else known.values[code] for name, code, known in codes}


def _truth(row: Batch) -> Any:
    """The label of a row, or its targets."""
    if len(row.codes):
        return str(row.classes.values[row.codes[0]]) if row.codes[0] >= 0 else ""
    return [float(value) for value in np.asarray(row.blocks[-1].values[0])]  # type: ignore[attr-defined]


def _of_kind(cell: Any, kind: str) -> Any:
    """A cell as JSON has it, equal to the value that the page looks up."""
    if cell is None:
        return None
    if kind == "boolean":
        return bool(cell)
    if kind in ("integer", "number", "count", "whole", "date", "time"):
        whole = isinstance(cell, int) or (abs(cell) < LONG and float(cell).is_integer())
        return int(cell) if whole else float(cell)
    return str(cell)
