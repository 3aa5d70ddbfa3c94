"""What the page says of rows that the model had not learnt: how well it answers, and which rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.source import all_batches
from suffice.errors import ParameterError
from suffice.models.base.evaluated_rows import known_codes
from suffice.models.base.evaluation import Evaluation
from suffice.models.linear.model import LinearModel
from suffice.numerics.in_print import explained
from suffice.numerics.logspace import log_normalise
from suffice.statistics.batch import Batch
from suffice.statistics.block import RealBlock
from suffice.statistics.sparse_block import SparseBlock

__all__ = ["how_good", "rows_of", "with_answers"]

MOST_ROWS = 200  # that the page lists: those on which the model is most wrong
MOST_CELLS = 20_000  # of these rows
MOST_CLASSES = 10  # of a confusion table


def with_answers(model: Any, test: Any) -> tuple[Any, Any]:
    """Rows and what is true of them.

    Raises
    ------
    ParameterError
        If the model does not know the name of the column of answers.
    """
    if isinstance(test, tuple):
        return test
    regression = isinstance(model.model_, LinearModel)
    names = list(model.target_names_) if regression else [model.layout_.label]
    if not names or None in names:
        raise ParameterError(
            "the test rows come without their answers",
            "the model was fitted to answers without a name, so no column of a table holds them",
            "give test=(X, y)",
        )
    return test, names if len(names) > 1 else names[0]


def how_good(model: Any, X: Any, y: Any) -> dict[str, Any]:
    """Figures of an evaluation, written for readers."""
    found = model.evaluate(X, y, unanswerable="empty")
    if isinstance(found, Evaluation):
        return _of_classes(found)
    return {
        "targets": [
            {
                "target": str(target),
                "rows": _count(float(found.weight[t])),
                "explained": explained(float(found.unexplained[t])),
                "rmse": f"{found.mean_squared_error[t] ** 0.5:.4g}",
                "mae": f"{found.mean_absolute_error[t]:.4g}",
                "bias": _bias(float(found.bias[t]), float(found.mean_squared_error[t]) ** 0.5),
                "baseline": f"{_baseline(found, t):.4g}",
            }
            for t, target in enumerate(found.targets)
        ]
    }


def _bias(bias: float, rmse: float) -> str:
    """A mean error; what rounding leaves of none is none."""
    return f"{bias:+.3g}" if abs(bias) > 1e-12 * rmse else "0"


def _baseline(found: Any, t: int) -> float:
    """√(Σ(y − ȳ)² / Σw)."""
    scatter = found.moments.scatter[0, 2 * len(found.targets) + t]
    return float(np.sqrt(scatter / found.weight[t]))


def _of_classes(found: Evaluation) -> dict[str, Any]:
    table = found.confusion.value
    low, high = found.error_interval()
    rows = table.sum(axis=1)
    shown = range(len(found.classes)) if len(found.classes) <= MOST_CLASSES else range(0)
    worst = np.argsort(-(rows - np.diag(table)), kind="stable")[: 2 * MOST_CLASSES]
    return {
        "rows": _count(found.weight),
        "error": _percent(found.error),
        "interval": f"{_percent(low)} to {_percent(high)}",
        "always": _percent(1 - float(rows.max()) / found.weight),
        "log_loss": f"{found.log_loss:.4g}",
        "brier": f"{found.brier:.4g}",
        "calibration": _percent(found.calibration_error),
        "labels": [str(found.classes[c]) for c in shown],
        "confusion": [
            {
                "label": str(found.classes[c]),
                "cells": [
                    {"count": _count(n), "share": float(n / rows[c]) if rows[c] else 0.0}
                    for n in table[c].tolist()
                ],
            }
            for c in shown
        ],
        "classes": [
            {
                "label": str(found.classes[c]),
                "rows": _count(float(rows[c])),
                "precision": _percent(float(found.precision[c])),
                "recall": _percent(float(found.recall[c])),
                "mistaken": _mistaken(found, c),
            }
            for c in sorted(worst.tolist())
        ],
        "tenths": [
            {
                "range": f"{10 * i} to {10 * (i + 1)} %",
                "rows": _count(w),
                "mean": _percent(p / w),
                "right": _percent(right / w),
            }
            for i, (w, p, right) in enumerate(found.reliability.value.tolist())
            if w
        ],
    }


def _mistaken(found: Evaluation, c: int) -> str:
    """The class that rows of class c are most often taken for."""
    errors = found.confusion.value[c].copy()
    errors[c] = 0
    other = int(errors.argmax())
    return f"{found.classes[other]} ({_count(float(errors[other]))})" if errors[other] else ""


def rows_of(model: Any, X: Any, y: Any, columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows on which the model is most wrong, cells in the order of the columns of the page.

    Returns
    -------
    dict
        ``total`` rows, and ``rows`` with ``number``, ``cells`` and ``truth``.
    """
    source = model._open_judged(X, y, None)
    fitted = model.model_
    regression = isinstance(fitted, LinearModel)
    layout = model.reader_.layout_of(source) if regression else model._layout_to_answer()
    most = max(1, min(MOST_ROWS, MOST_CELLS // max(len(columns), 1)))
    kept: list[tuple[float, dict[str, Any]]] = []
    first = 0
    for split in source.splits(layout, 1):
        for batch in all_batches(split, layout):
            wrong = _wrong_numbers(fitted, batch) if regression else _wrong_labels(fitted, batch)
            order = np.argsort(-np.nan_to_num(wrong, nan=-1.0, posinf=1e300), kind="stable")
            for i in order[:most].tolist():
                if np.isnan(wrong[i]):  # its answer is not known
                    continue
                row = {"number": first + i + 1, "cells": _cells(layout, batch, i, columns)}
                row["truth"] = _truth(batch, i, regression)
                kept.append((-float(wrong[i]), row))
            kept = sorted(kept, key=lambda one: one[0])[:most]
            first += batch.rows
    return {"total": first, "rows": [row for _, row in kept]}


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


def _truth(batch: Batch, i: int, regression: bool) -> Any:
    if regression:
        return [float(value) for value in np.asarray(batch.blocks[-1].values[i])]  # type: ignore[attr-defined]
    return str(batch.classes.values[batch.codes[i]])


def _cells(
    layout: Any, batch: Batch, i: int, columns: Sequence[Mapping[str, Any]]
) -> list[float | int | str | bool | None]:
    """The cells of row i; null is missing."""
    found: dict[str, Any] = {}
    for part, block in zip(layout.blocks, batch.blocks, strict=False):
        one = block.cut(i, i + 1)
        if isinstance(one, SparseBlock):
            found[str(next(iter(part.columns)))] = _text(one)
        elif isinstance(one, RealBlock):
            values = np.asarray(one.values[0], np.float64).tolist()
            found |= {str(n): _number(v) for n, v in zip(part.columns, values, strict=False)}
        else:
            coded: Any = one.coded()  # type: ignore[attr-defined]
            for j, name in enumerate(part.columns):
                code = int(coded.codes[0, j])
                values = coded.vocabularies[j].values
                found[str(name)] = None if code < 0 else values[code]
    return [_of_kind(found.get(column["name"]), column["kind"]) for column in columns]


def _text(block: SparseBlock) -> str | None:
    """A text of the same words."""
    if not block.present[0]:
        return None
    words = [block.vocabulary.values[code] for code in block.indices.tolist()]
    return " ".join(word for word, n in zip(words, block.data, strict=True) for _ in range(int(n)))


def _number(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _of_kind(cell: Any, kind: str) -> Any:
    """A cell as JSON has it, equal to the value that the page looks up."""
    if cell is None:
        return None
    if kind == "boolean":
        return bool(cell)
    if kind in ("integer", "number", "count", "whole"):
        return cell if isinstance(cell, int) else float(cell)
    return str(cell)


def _count(number: float) -> str:
    return f"{number:,.10g}".replace(",", "\N{THIN SPACE}")


def _percent(share: float) -> str:
    if np.isnan(share):
        return "–"
    if 0 < share < 0.0005 or 0.9995 <= share < 1:
        return "< 0.1 %" if share < 0.5 else "> 99.9 %"
    return f"{100 * share:.1f} %"
