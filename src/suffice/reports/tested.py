"""The evaluation of test data on the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.evaluation import Evaluation, wilson_interval
from suffice.models.linear.model import LinearModel
from suffice.numerics.in_print import explained
from suffice.reports.rows import answered_rows

MOST_CLASSES = 10  # of a confusion table


def with_answers(model: Any, test: Any) -> tuple[Any, Any]:
    """Rows and what is true of them."""
    if isinstance(test, tuple):
        return test
    regression = isinstance(model.model_, LinearModel)
    names = list(model.target_names_) if regression else [model.reader_.layout.label]
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
    pictures = scatter(model, X, y)
    return {
        "targets": [
            pictures[t]
            | {
                "target": str(target),
                "rows": in_print(float(found.weight[t])),
                "explained": explained(float(found.centred.unexplained[t])),
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
    return f"{bias:+.3g}".replace("-", "\N{MINUS SIGN}") if abs(bias) > 1e-12 * rmse else "0"


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
        "rows": in_print(found.weight),
        "error": percentage(found.error),
        "interval": f"{percentage(low)} to {percentage(high)}",
        "always": percentage(1 - float(rows.max()) / found.weight),
        "log_loss": f"{found.log_loss:.4g}",
        "brier": f"{found.brier:.4g}",
        "calibration": percentage(found.calibration_error),
        "labels": [str(found.classes[c]) for c in shown],
        "confusion": [
            {
                "label": str(found.classes[c]),
                "cells": [
                    {"count": in_print(n), "share": float(n / rows[c]) if rows[c] else 0.0}
                    for n in table[c].tolist()
                ],
            }
            for c in shown
        ],
        "classes": [
            {
                "label": str(found.classes[c]),
                "rows": in_print(float(rows[c])),
                "precision": percentage(float(found.precision[c])),
                "recall": percentage(float(found.recall[c])),
                "mistaken": _mistaken(found, c),
            }
            for c in sorted(worst.tolist())
        ],
        "tenths": [
            {
                "range": f"{10 * i} to {10 * (i + 1)} %",
                "rows": in_print(w),
                "mean": percentage(p / w),
                "right": percentage(right / w),
                "ends": " to ".join(map(percentage, wilson_interval(right / w, w))),
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
    return f"{found.classes[other]} ({in_print(float(errors[other]))})" if errors[other] else ""


def in_print(number: float) -> str:
    """A count, with thin spaces between thousands."""
    return f"{number:,.10g}".replace(",", "\N{THIN SPACE}")


def percentage(share: float) -> str:
    """A share of rows; what is not all is not shown as all."""
    if np.isnan(share):
        return "–"
    if 0 < share < 0.0005 or 0.9995 <= share < 1:
        return "< 0.1 %" if share < 0.5 else "> 99.9 %"
    return f"{100 * share:.1f} %"


MOST_POINTS = 500  # of a picture: rows at even steps
WIDE, TALL = 300, 200  # pixels


def scatter(model: Any, X: Any, y: Any) -> list[dict[str, Any]]:
    """For each target, the answers to rows of a test beside the truth, and beside what is left.

    Returns
    -------
    list of dict
        With ``pictures``, each a ``title``, ``points`` (pairs of pixels), a ``line`` (two of them)
        where the truth is the answer, and ``ends`` of both axes in print; ``drawn`` rows.
    """
    answers, truths = [], []
    for _, _, batch in answered_rows(model, X, y):
        for _, x, truth in model.model_.rows(batch, with_targets=True):
            answers.append(model.model_.fit.predict(x))
            truths.append(truth)
    answer, truth = np.concatenate(answers), np.concatenate(truths)
    found = []
    for t in range(answer.shape[1]):
        known = np.flatnonzero(np.isfinite(answer[:, t]) & np.isfinite(truth[:, t]))
        few = np.linspace(0, len(known) - 1, min(len(known), MOST_POINTS))
        at = known[few.round().astype(np.intp)]
        x, rest = answer[at, t], truth[at, t] - answer[at, t]
        ends = np.array([x.min(), x.max()])
        pictures = [
            _picture(
                "Truth (up) by answer (across), and a line where they are equal",
                x,
                x + rest,
                ends,
                ends,
            ),
            _picture(
                "Truth less answer (up) by answer (across), and a line at 0",
                x,
                rest,
                ends,
                0 * ends,
            ),
        ]
        found.append({"pictures": pictures, "drawn": len(at)})
    return found


def _picture(
    title: str,
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    line_x: NDArray[np.float64],
    line_y: NDArray[np.float64],
) -> dict[str, Any]:
    """Points and a line, and the ends of the axes."""
    high, low = max(y.max(), line_y.max()), min(y.min(), line_y.min())
    left, right = x.min(), x.max()

    def placed(u: NDArray[np.float64], v: NDArray[np.float64]) -> list[tuple[str, str]]:
        across = (u - left) / ((right - left) or 1.0) * (WIDE - 8) + 4
        up = (high - v) / ((high - low) or 1.0) * (TALL - 8) + 4
        return [(f"{a:.1f}", f"{b:.1f}") for a, b in zip(across.tolist(), up.tolist(), strict=True)]

    ends = [f"{value:.4g}".replace("-", "\N{MINUS SIGN}") for value in (left, right, low, high)]
    return {"title": title, "points": placed(x, y), "line": placed(line_x, line_y), "ends": ends}
