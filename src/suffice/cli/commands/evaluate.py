"""``suffice evaluate``: predictions compared with the truth."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import isnan
from typing import Annotated, Any

import typer

from suffice.cli.models import known_columns, label_of, load_model, predicts_numbers, weight_of
from suffice.cli.options import (
    AsJson,
    Data,
    Decision,
    Ignore,
    Label,
    ModelFile,
    ReadAs,
    Reading,
    Running,
    Weight,
    refuse_labels,
    reported,
)
from suffice.cli.output import deliver
from suffice.errors import DataError
from suffice.numerics.in_print import Table, percent
from suffice.phrases import amount, rows_in_print, rows_of_classes


def evaluate(
    *,
    model: ModelFile,
    data: Data,
    label: Label = None,
    by: Annotated[
        str | None, typer.Option(metavar="COL", help="Evaluate each value of a column apart.")
    ] = None,
    as_json: AsJson = False,
    decision: Decision,
    read: ReadAs = None,
    ignore: Ignore = None,
    weight: Weight = None,
    running: Running,
) -> None:
    """Evaluate predictions on test data.

    Classes: error rate, log loss, Brier score, ROC area, confusion matrix.
    Numbers: R², RMSE, MAE.
    """
    reading = Reading.of(read)
    fitted = decision.applied(load_model(model))
    refuse_labels(fitted, reading)
    table = known_columns(
        reading.open(data, fitted.reader_.format), fitted, label, weight, by, ignore=ignore
    )
    facts_of: Callable[[Any], Any] = _number_facts
    if not predicts_numbers(fitted):
        costs = None if decision.threshold is not None else fitted.costs
        facts_of = partial(_class_facts, costs=costs, classes=fitted.model_.classes.values)
    truth = label_of(fitted, label), weight_of(fitted, weight, table)
    with reported(f"Evaluating {', '.join(data)}") as report, running.chosen(report):
        if by is None:
            found = fitted.evaluate(table, *truth, unanswerable="empty")
            facts = facts_of(found)
            deliver(facts, lambda: _shown(facts, found), as_json)
            return
        groups = fitted.evaluate_by(table, truth[0], by, truth[1], unanswerable="empty")
    if not groups:
        raise DataError(f"{data[0]} holds no row", "an evaluation needs at least one")
    listed: list[Any] = [{"group": value, **facts_of(found)} for value, found in groups.items()]
    of_groups = {"by": by, "groups": listed}
    deliver(of_groups, lambda: [groups.table()], as_json)


def _class_facts(found: Any, costs: Any, classes: Sequence[Any]) -> dict[str, Any]:
    confusion = found.confusion.value
    rows = dict(zip(found.classes, confusion.sum(axis=1).tolist(), strict=True))
    scores = zip(found.precision.tolist(), found.recall.tolist(), found.f1.tolist(), strict=True)
    bins = found.reliability.value.tolist()
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
        "roc_area": _area(found.roc_area),
        "average_precision": _area(found.average_precision),
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
        "confusion": confusion.tolist(),
        "infinite_log_loss": [{"label": c, "rows": w} for c, w in found.infinite_rows.items()],
        "unknown": [{"label": c, "rows": w} for c, w in rows.items() if c not in classes],
    }
    if costs is not None:
        facts["costs"], facts["mean_cost"] = costs, found.mean_cost(costs, classes)
    return facts


def _area(area: Any) -> dict[str, Any] | None:
    """Return an area with its bounds; none where no class is ranked."""
    if isnan(area.value):
        return None
    return {"value": area.value, "lower": area.lower, "upper": area.upper}


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


def _shown(facts: Any, found: Any) -> Iterator[str | Table]:
    if "targets" in facts:
        yield found.table()
        return
    yield Table("", ["", "", ""], list(_scores(facts)), left=(0, 2))
    yield ""
    confusions = found.table()
    many = len(facts["classes"]) > len(confusions.rows)
    whole = Table("", confusions.header, confusions.rows, confusions.notes)
    yield _by_class(facts) if many else whole
    yield ""
    tenths = [
        [
            f"{tenth['from']:.0%} to {tenth['to']:.0%}",
            amount(tenth["rows"]),
            percent(tenth["mean"]),
            percent(tenth["right"]),
        ]
        for tenth in facts["reliability"]
    ]
    yield Table("", ["probability of the prediction", "rows", "mean", "right"], tenths)
    yield (
        f"  {rows_in_print(facts['rows'])} compared, {amount(facts['unlabelled'])} left out "
        f"without label, {amount(facts['impossible'])} impossible under every class"
    )
    if unknown := {one["label"]: one["rows"] for one in facts["unknown"]}:
        yield f"  Unseen in fit, and counted as errors: {rows_of_classes(unknown)}"


def _by_class(facts: dict[str, Any]) -> Table:
    """Return precision and recall of many classes, and the class that each is taken for."""
    rows = []
    labels = [str(one["label"]) for one in facts["classes"]]
    for at, (one, counts) in enumerate(zip(facts["classes"], facts["confusion"], strict=True)):
        errors = [0.0 if other == at else count for other, count in enumerate(counts)]
        worst = max(range(len(errors)), key=errors.__getitem__)
        taken = f"{labels[worst]} ({amount(errors[worst])})" if errors[worst] else ""
        shares = percent(one["precision"] or 0.0), percent(one["recall"] or 0.0)
        rows.append([labels[at], amount(one["rows"]), *shares, taken])
    header = ["label", "rows", "precision", "recall", "most often mistaken for"]
    return Table("", header, rows, ["--json holds the whole confusion matrix"])


def _scores(facts: dict[str, Any]) -> Iterator[list[str]]:
    always = f"of the most frequent label alone: {percent(facts['largest_class_error'])}"
    yield ["error rate", f"{100 * facts['error_rate']:.2f} %", always]
    yield ["accuracy", f"{100 * facts['accuracy']:.2f} %", ""]
    balanced = f"{100 * facts['balanced_accuracy']:.2f} %"
    yield ["balanced accuracy", balanced, "mean recall of the classes"]
    for name, area, meaning in (
        ("ROC area", facts["roc_area"], "0.5: no better than chance, 1: perfect order"),
        ("average precision", facts["average_precision"], "area below precision against recall"),
    ):
        if area is not None:
            low, high = f"{area['lower']:.4f}", f"{area['upper']:.4f}"
            value = f"{area['value']:.4f}" if low == high else f"{low} to {high}"
            yield [name, value, meaning]
    if "mean_cost" in facts:
        yield ["mean cost", f"{facts['mean_cost']:.4g}", "a row, by the costs of errors"]
    if infinite := {one["label"]: one["rows"] for one in facts["infinite_log_loss"]}:
        yield ["log loss", "∞", f"{rows_of_classes(infinite)}: probability 0"]
    else:
        yield ["log loss", f"{facts['log_loss']:.4f}", "nats per row; 0 is perfect"]
    yield ["Brier score", f"{facts['brier_score']:.4f}", "from 0, perfect, to 2"]
    gap = "gap between probability and how often it is right"
    yield ["calibration error", f"{100 * facts['calibration_error']:.2f} %", gap]
