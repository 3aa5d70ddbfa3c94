"""Predicted numbers against the truth, as small pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.reports.rows import answered_rows

__all__ = ["scatter"]

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
