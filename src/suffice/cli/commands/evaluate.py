"""``suffice evaluate``: predictions compared with the truth."""

from __future__ import annotations

from dataclasses import replace
from math import isnan
from typing import Annotated, Any

from suffice.cli import options
from suffice.cli.models import load_model, predicts_numbers
from suffice.cli.options import option
from suffice.cli.output import deliver
from suffice.errors import DataError


def evaluate(
    *,
    model: options.ModelFile,
    data: options.Data,
    label: options.Label = None,
    by: Annotated[str | None, option("COL", "Evaluate each value of a column apart.")] = None,
    as_json: options.AsJson = False,
    threshold: options.Threshold = None,
    costs: options.Costs = None,
    read: options.ReadAs = None,
    ignore: options.Ignore = None,
    weight: options.Weight = None,
    engine: options.Engine = None,
) -> None:
    """Evaluate predictions on test data.

    Classes: error rate, log loss, Brier score, ROC area, confusion matrix.
    Numbers: R², RMSE, MAE.

    Example: suffice evaluate adult.suffice test.csv
    """
    reading = options.Reading.of(read)
    fitted = options.decided(load_model(model), threshold, costs)
    options.refuse_labels(fitted, reading)
    table, *truth = options.rows_for(fitted, data, reading, label, weight, by, ignore)

    def judged(one: Any) -> Any:
        return one if threshold is None else replace(one, costs=None)  # none were asked for

    facts_of = _number_facts if predicts_numbers(fitted) else _class_facts
    with options.running(engine, f"Evaluating {', '.join(data)}"):
        if by is None:
            found = judged(fitted.evaluate(table, *truth, unanswerable="empty"))
            deliver(facts_of(found), [found.table()], as_json)
            return
        groups = fitted.evaluate_by(table, truth[0], by, truth[1], unanswerable="empty")
    if not groups:
        raise DataError(f"{data[0]} holds no row", "an evaluation needs at least one")
    listed: list[Any] = [{"group": c, **facts_of(judged(one))} for c, one in groups.items()]
    deliver({"by": by, "groups": listed}, [groups.table()], as_json)


def _class_facts(found: Any) -> dict[str, Any]:
    rows = found.rows_by_class
    scores = zip(found.precision.tolist(), found.recall.tolist(), found.f1.tolist(), strict=True)
    bins = found.reliability.value.tolist()
    areas = [  # none where no class is ranked
        None if isnan(area.value) else area._asdict()
        for area in (found.roc_area, found.average_precision)
    ]
    facts = {
        "rows": found.weight,
        "unlabelled": found.unlabelled,
        "impossible": found.impossible,
        "error_rate": found.error,
        "accuracy": found.accuracy,
        "largest_class_error": 1 - max(rows.values()) / found.weight,
        "log_loss": found.log_loss,
        "brier_score": found.brier,
        "balanced_accuracy": found.balanced_accuracy,
        "roc_area": areas[0],
        "average_precision": areas[1],
        "calibration_error": found.calibration_error,
        "reliability": [
            {
                "from": i / len(bins),
                "to": (i + 1) / len(bins),
                "rows": w,
                "mean": p / w,
                "right": right / w,
            }
            for i, (w, p, right) in enumerate(bins)
            if w
        ],
        "classes": [
            {"label": c, "rows": rows[c], "precision": precision, "recall": recall, "f1": f1}
            for c, (precision, recall, f1) in zip(found.classes, scores, strict=True)
        ],
        "confusion": found.confusion.value.tolist(),
        "infinite_log_loss": [{"label": c, "rows": w} for c, w in found.infinite_rows.items()],
        "unknown": [{"label": c, "rows": w} for c, w in rows.items() if c not in found.known],
    }
    if found.costs is not None:
        facts["costs"] = found.costs.tolist()
        facts["mean_cost"] = found.mean_cost(found.costs, found.known)
    return facts


def _number_facts(found: Any) -> dict[str, Any]:
    columns = {
        "rows": found.weight,
        "r_squared": found.r_squared,
        "unexplained": found.unexplained,
        "root_mean_squared_error": found.mean_squared_error**0.5,
        "mean_absolute_error": found.mean_absolute_error,
        "mean_error": found.bias,
    }
    targets: list[Any] = [
        {"target": target, **{name: float(values[j]) for name, values in columns.items()}}
        for j, target in enumerate(found.targets)
    ]
    for one in () if found.intercept else targets:
        one["uncentred"] = True
    return {"targets": targets}
