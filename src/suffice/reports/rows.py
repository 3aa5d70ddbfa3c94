"""Rows of a test table, as the page lists them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import all_batches
from suffice.models.base.evaluated_rows import known_codes
from suffice.models.linear.model import LinearModel
from suffice.numerics.logspace import log_normalise
from suffice.sums.batch import Batch
from suffice.sums.block import MixedBlock, RealBlock, SparseBlock

MOST_ROWS = 200  # that the page lists
MOST_CELLS = 20_000  # of these rows


def answered_rows(model: Any, X: Any, y: Any) -> Iterator[tuple[NDArray[np.intp], Layout, Batch]]:
    """Yield the rows that a model answers, batch by batch: places in the table, layout, rows."""
    source = model._open_judged(X, y, None)
    if isinstance(model.model_, LinearModel):
        layout = model.reader_.layout_of(source)
        complete = None if model.model_.cells is not None else model.design_.complete
    else:
        layout, complete = model.reader_.to_answer, model._complete_rows()
    first = 0
    for part in source.parts(layout, 1):
        for batch in all_batches(part, layout):
            known = np.arange(batch.rows) if complete is None else np.flatnonzero(complete(batch))
            yield first + known, layout, batch.take(known)
            first += batch.rows


def rows_of(model: Any, X: Any, y: Any, columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows on which the model is most wrong, cells in the order of the columns of the page.

    Returns
    -------
    dict
        ``total`` rows that it answers, and ``rows`` with ``number``, ``cells`` and ``truth``.
    """
    fitted = model.model_
    wrong_of = _wrong_numbers if isinstance(fitted, LinearModel) else _wrong_labels
    most = max(1, min(MOST_ROWS, MOST_CELLS // max(len(columns), 1)))
    kept: list[tuple[float, dict[str, Any]]] = []
    total = 0
    for places, layout, batch in answered_rows(model, X, y):
        wrong = wrong_of(fitted, batch)
        order = np.argsort(-np.nan_to_num(wrong, nan=-1.0, posinf=1e300), kind="stable")
        known = [i for i in order[:most].tolist() if not np.isnan(wrong[i])]
        kept += [(-float(wrong[i]), _row(layout, batch, i, places, columns)) for i in known]
        kept = sorted(kept, key=lambda one: one[0])[:most]
        total += batch.rows
    return {"total": total, "rows": [row for _, row in kept]}


def _wrong_labels(fitted: Any, batch: Batch) -> NDArray[np.float64]:
    """−log P(truth | x) of every row; NaN without a label."""
    codes = known_codes(batch, fitted)
    log_posterior, _ = log_normalise(fitted.log_joint(batch), fitted.log_prior)
    loss = -log_posterior[np.arange(batch.rows), np.maximum(codes, 0)]
    return np.asarray(np.where(codes >= 0, loss, np.nan))


def _wrong_numbers(fitted: LinearModel, batch: Batch) -> NDArray[np.float64]:
    """|y − ŷ| of every row, the largest of several targets; NaN without an answer."""
    found = [
        np.abs(y - fitted.fit.predict(x)).max(axis=1)
        for _, x, y in fitted.rows(batch, with_targets=True)
    ]
    return np.concatenate([np.empty(0), *found])


def _row(
    layout: Layout,
    batch: Batch,
    i: int,
    places: NDArray[np.intp],
    columns: Sequence[Mapping[str, Any]],
) -> dict[str, Any]:
    """Row i of a batch: its number in the table, its cells, null where missing, and its truth."""
    found: dict[str, Any] = {}
    for part, block in zip(layout.blocks, batch.blocks, strict=False):
        found |= _cells(part.columns, block.cut(i, i + 1))
    cells = [_of_kind(found.get(column["name"]), column["kind"]) for column in columns]
    return {"number": int(places[i]) + 1, "cells": cells, "truth": _truth(batch, i)}


def _cells(columns: Sequence[Any], block: Any) -> dict[str, Any]:
    """The cells of a block of one row, by the names of the columns."""
    names = [str(name) for name in columns]
    if isinstance(block, SparseBlock):
        return {names[0]: _text(block)}
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


def _truth(batch: Batch, i: int) -> Any:
    """Label of row i, or its targets."""
    if len(batch.codes):
        return str(batch.classes.values[batch.codes[i]]) if batch.codes[i] >= 0 else ""
    return [float(value) for value in np.asarray(batch.blocks[-1].values[i])]  # type: ignore[attr-defined]


def _text(block: SparseBlock) -> str | None:
    """A text of the same words."""
    if not block.present[0]:
        return None
    words = [block.vocabulary.values[code] for code in block.indices.tolist()]
    return " ".join(word for word, n in zip(words, block.data, strict=True) for _ in range(int(n)))


def _of_kind(cell: Any, kind: str) -> Any:
    """A cell as JSON has it, equal to the value that the page looks up."""
    if cell is None:
        return None
    if kind == "boolean":
        return bool(cell)
    if kind in ("integer", "number", "count", "whole"):
        return cell if isinstance(cell, int) else float(cell)
    return str(cell)
