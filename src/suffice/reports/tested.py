"""The evaluation of test data on the page."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.table_source import to_learn
from suffice.engines.engine import engine_for
from suffice.errors import ParameterError, warn
from suffice.models.base.evaluation import Evaluation, wilson_interval
from suffice.models.linear.model import LinearModel
from suffice.models.logistic.model import LogisticModel
from suffice.numerics.elementary import exp
from suffice.numerics.in_print import explained
from suffice.reports.rows import answered_rows
from suffice.reports.scoring import shorter
from suffice.sums.ranking import Ranking

MOST_CLASSES = 20  # of a confusion table, or of the classes with the most errors
MOST_CUTS = 200  # between the scores of two classes
MOST_POINTS = 500  # of a picture: rows at even steps
SAME = 1e-9  # standard deviations between the means of equal rows
DIGITS = 6  # of a probability or a point


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
    """Figures of an evaluation, and whether the test data are the rows of the fit, ``training``."""
    found = model.evaluate(X, y, unanswerable="empty")
    if isinstance(found, Evaluation):
        good = _of_classes(found)
    else:
        good = _of_targets(found, _predicted(model, X, y))
    good["training"] = _is_of_fit(model, X, y, good["rows"])
    if good["training"]:
        warn("the test data are the rows of the fit; hold some rows back, and give those")
    return good


def _is_of_fit(model: Any, X: Any, y: Any, rows: float) -> bool:
    """Return whether test rows have the sums of the training rows, or the means where none are."""
    statistic, fitted = getattr(model, "statistic_", None), model.model_
    if rows != (getattr(model, "rows_", None) if statistic is None else statistic.rows):
        return False
    if statistic is not None:
        source = to_learn(model._open_judged(X, y, None))
        how = model.reader_, source, engine_for(source), statistic
        return bool(model.method().sums(*how) == statistic)
    if not isinstance(fitted, LogisticModel):
        return False
    total = np.zeros(fitted.centred.width)
    for _, _, batch in answered_rows(model, X, y):
        for (z,) in fitted.centred.pieces(fitted.answerable(batch)):
            total += np.asarray(z.sum(axis=0)).ravel()
    return bool((np.abs(total[1:]) <= SAME * rows * fitted.term_scales).all())


def _of_targets(found: Any, points: list[list[list[float]]]) -> dict[str, Any]:
    scatter = found.moments.scatter[0, 2 * len(found.targets) :]
    return {
        "rows": float(found.weight.max()),
        "targets": [
            {
                "target": str(target),
                "rows": float(found.weight[t]),
                "explained": explained(float(found.centred.unexplained[t])),
                "rmse": (rmse := float(found.mean_squared_error[t]) ** 0.5),
                "mae": float(found.mean_absolute_error[t]),
                "bias": bias if abs(bias := float(found.bias[t])) > 1e-12 * rmse else 0.0,
                "baseline": float(np.sqrt(scatter[t] / found.weight[t])),  # √(Σ(y − ȳ)² / Σw)
                "points": points[t],
            }
            for t, target in enumerate(found.targets)
        ],
    }


def _of_classes(found: Evaluation) -> dict[str, Any]:
    table = found.confusion.value
    rows = table.sum(axis=1)
    k = len(found.classes)
    worst = np.argsort(-(rows - np.diag(table)), kind="stable")[:MOST_CLASSES]
    return {
        "rows": found.weight,
        "error": found.error,
        "interval": found.error_interval(),
        "frequent": str(found.classes[int(rows.argmax())]),
        "always": 1 - float(rows.max()) / found.weight,
        "log_loss": found.log_loss if np.isfinite(found.log_loss) else None,
        "brier": found.brier,
        "gap": found.calibration_error,
        "labels": [str(label) for label in found.classes] if k <= MOST_CLASSES else [],
        "confusion": table.tolist() if k <= MOST_CLASSES else [],
        "classes": [
            {
                "label": str(found.classes[c]),
                "rows": float(rows[c]),
                "precision": _known(found.precision[c]),
                "recall": _known(found.recall[c]),
                "mistaken": _mistaken(found, c),
            }
            for c in sorted(worst.tolist())
        ],
        "tenths": [
            [i / 10, w, p / w, right / w, *wilson_interval(right / w, w)]
            for i, (w, p, right) in enumerate(found.reliability.value.tolist())
            if w
        ],
        "curve": _curve(found.rankings[0]) if k == 2 and found.rankings else None,
    }


def _known(share: float) -> float | None:
    return None if np.isnan(share) else float(share)


def _mistaken(found: Evaluation, c: int) -> list[Any] | None:
    """The class that rows of class c are most often taken for, and how many are."""
    errors = found.confusion.value[c].copy()
    errors[c] = 0
    other = int(errors.argmax())
    return [str(found.classes[other]), float(errors[other])] if errors[other] else None


def _curve(ranking: Ranking) -> dict[str, Any]:
    """Return Σw of two classes, ``sides``, in bins of P(c = 1 | x), and the ``cuts`` around these.

    Bins hold about equal shares of both classes; the cut at ``half`` is 0.5.
    """
    weight = ranking.weight.value  # of the second class, and of the first
    total = weight.sum(axis=0)
    size = np.cumsum(weight / np.where(total > 0, total, 1.0), axis=0).sum(axis=1)
    starts = np.searchsorted(size, np.linspace(0, size[-1], MOST_CUTS + 1)[1:-1], side="right")
    half = int(np.searchsorted(ranking.scores, 0.0, side="right"))  # a tie goes to the first
    starts = np.unique([0, half, *starts])
    starts = starts[starts < len(size)]
    scores = ranking.scores
    odds = np.r_[-np.inf, 0.5 * (scores[starts[1:] - 1] + scores[starts[1:]]), np.inf]
    cuts = np.round(1 / (1 + exp(-odds)), DIGITS)
    cuts[at := np.searchsorted(starts, half)] = 0.5
    other = replace(ranking, scores=-scores[::-1], weight=ranking.weight[::-1, ::-1])
    return {
        "cuts": cuts.tolist(),
        "half": int(at),
        "sides": np.add.reduceat(weight[:, ::-1], starts).tolist(),
        "area": _known(ranking.roc_area.value),
        "precision": [_known(one.average_precision.value) for one in (other, ranking)],
    }


def _predicted(model: Any, X: Any, y: Any) -> list[list[list[float]]]:
    """Return for each target predictions of test rows beside what is true."""
    answers, truths = [], []
    for _, _, batch in answered_rows(model, X, y):
        answers += [model.model_.fit.predict(x) for _, x in model.model_.rows(batch)]
        truths.append(model.design_.targets_of(batch))
    both = np.stack([np.concatenate(answers), np.concatenate(truths)], axis=-1)  # (n, t, 2)
    found = []
    for t in range(both.shape[1]):
        known = np.flatnonzero(np.isfinite(both[:, t]).all(axis=1))
        few = np.linspace(0, len(known) - 1, min(len(known), MOST_POINTS))
        points: NDArray[np.float64] = both[known[few.round().astype(np.intp)], t]
        found.append([[shorter(v, DIGITS) for v in point] for point in points.tolist()])
    return found


def in_print(number: float) -> str:
    """A count, with thin spaces between thousands."""
    return f"{number:,.10g}".replace(",", "\N{THIN SPACE}")
