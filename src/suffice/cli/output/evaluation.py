"""What ``suffice evaluate`` says: figures for programs, and tables of them for people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any

from suffice.cli.output.tables import (
    amount,
    barred,
    draws_bars,
    grid,
    percent,
    rows_in_print,
)
from suffice.phrases import rows_of_classes

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from suffice.cli.documents import Area, ClassEvaluation, NumberEvaluation, TargetErrors, Tenth
    from suffice.models.base.evaluation import Evaluation
    from suffice.models.linear.evaluation import RegressionEvaluation
    from suffice.sums.ranking import Area as Ranked

__all__ = ["class_facts", "class_tables", "error_facts"]

MOST_CLASSES_ACROSS = 5
SHARE_BAR = 8  # characters of a bar


def class_facts(
    result: Evaluation, costs: Any = None, classes: Sequence[Any] | None = None
) -> ClassEvaluation:
    """An evaluation of a classifier, for programs; with the mean of costs, if there are such.

    Labels that are none of the ``classes`` of the model are told apart.
    """
    confusion = result.confusion.value
    facts: ClassEvaluation = {
        "rows": result.weight,
        "unlabelled": result.unlabelled,
        "impossible": result.impossible,
        "error_rate": result.error,
        "accuracy": result.accuracy,
        "largest_class_error": 1 - float(confusion.sum(axis=1).max()) / result.weight,
        "log_loss": result.log_loss,
        "brier_score": result.brier,
        "balanced_accuracy": result.balanced_accuracy,
        "roc_area": _area(result.roc_area),
        "average_precision": _area(result.average_precision),
        "calibration_error": result.calibration_error,
        "reliability": _reliability(result),
        "classes": [
            {
                "label": name,
                "rows": float(rows),
                "precision": float(precision),
                "recall": float(recall),
                "f1": float(f1),
            }
            for name, rows, precision, recall, f1 in zip(
                result.classes,
                confusion.sum(axis=1),
                result.precision,
                result.recall,
                result.f1,
                strict=True,
            )
        ],
        "confusion": confusion.tolist(),
        "infinite_log_loss": [
            {"label": name, "rows": rows} for name, rows in result.infinite_rows.items()
        ],
        "unknown": [
            {"label": name, "rows": float(rows)}
            for name, rows in zip(result.classes, confusion.sum(axis=1), strict=True)
            if classes is not None and name not in classes
        ],
    }
    if costs is not None:
        facts["costs"], facts["mean_cost"] = costs, result.mean_cost(costs, classes)
    return facts


def _area(area: Ranked) -> Area | None:
    """An area with its bounds; none where no class is ranked."""
    if isnan(area.value):
        return None
    return {"value": area.value, "lower": area.lower, "upper": area.upper}


def _reliability(result: Evaluation) -> list[Tenth]:
    """What predictions promised and how often they were right, by tenths that have rows."""
    bins = result.reliability.value.tolist()
    return [
        {"from": i / len(bins), "to": (i + 1) / len(bins), "rows": w, "mean": p / w, "right": r / w}
        for i, (w, p, r) in enumerate(bins)
        if w
    ]


def class_tables(facts: ClassEvaluation) -> Iterator[RenderableType]:
    """The same for people."""
    yield _scores(facts)
    if len(facts["classes"]) <= MOST_CLASSES_ACROSS:
        yield _confusions(facts)
    else:
        yield _by_class(facts)
        yield "  --json holds the whole confusion table."
    yield _promises(facts)
    yield (
        f"  {rows_in_print(facts['rows'])} compared, {amount(facts['unlabelled'])} left out "
        f"without label, {amount(facts['impossible'])} impossible under every class"
    )
    unknown = {one["label"]: one["rows"] for one in facts["unknown"]}
    if unknown:
        yield f"  Not known to the model, and counted as errors: {rows_of_classes(unknown)}"


def _scores(facts: ClassEvaluation) -> Table:
    table = grid("", "", "")
    table.show_header = False
    table.columns[2].justify = "left"
    always = f"of the most frequent label alone: {percent(facts['largest_class_error'])}"
    table.add_row("error rate", f"{100 * facts['error_rate']:.2f} %", always)
    table.add_row("accuracy", f"{100 * facts['accuracy']:.2f} %", "")
    table.add_row(
        "balanced", f"{100 * facts['balanced_accuracy']:.2f} %", "mean recall of the classes"
    )
    if area := facts["roc_area"]:
        table.add_row("ROC area", _digits(area), "0.5: no better than chance, 1: perfect order")
    if area := facts["average_precision"]:
        said = "area below precision against recall"
        table.add_row("average precision", _digits(area), said)
    if "mean_cost" in facts:
        table.add_row("mean cost", f"{facts['mean_cost']:.4g}", "a row, by the costs of errors")
    table.add_row("log loss", *_log_loss(facts))
    table.add_row("Brier score", f"{facts['brier_score']:.4f}", "from 0, perfect, to 2")
    table.add_row(
        "calibration",
        f"{100 * facts['calibration_error']:.2f} %",
        "gap between probability and how often it is right",
    )
    return table


def _log_loss(facts: ClassEvaluation) -> tuple[str, str]:
    """The log loss, and what it means; of an infinite one the rows that make it so."""
    infinite = {one["label"]: one["rows"] for one in facts["infinite_log_loss"]}
    if infinite:
        return "∞", f"{rows_of_classes(infinite)}: probability 0"
    return f"{facts['log_loss']:.4f}", "nats per row; 0 is perfect"


def _digits(area: Area) -> str:
    """An area with four digits, or between its bounds where these differ."""
    low, high = f"{area['lower']:.4f}", f"{area['upper']:.4f}"
    return f"{area['value']:.4f}" if low == high else f"{low} to {high}"


def _promises(facts: ClassEvaluation) -> Table:
    table = grid("probability of the prediction", "rows", "mean", "right")
    written = _shares()
    for tenth in facts["reliability"]:
        table.add_row(
            f"{tenth['from']:.0%} to {tenth['to']:.0%}",
            amount(tenth["rows"]),
            written(tenth["mean"]),
            written(tenth["right"]),
        )
    return table


def _shares() -> Callable[[float], str]:
    """How shares are written: with a bar, where the terminal can show it."""
    if not draws_bars():
        return percent
    return lambda share: barred(percent(share), share, SHARE_BAR)


def _confusions(facts: ClassEvaluation) -> Table:
    names = [str(known["label"]) for known in facts["classes"]]
    table = grid("true label", *(f"taken for {name}" for name in names), "recall")
    written = _shares()
    for known, counts in zip(facts["classes"], facts["confusion"], strict=True):
        table.add_row(str(known["label"]), *map(amount, counts), written(known["recall"]))
    table.add_section()
    table.add_row("precision", *(percent(known["precision"]) for known in facts["classes"]), "")
    return table


def _by_class(facts: ClassEvaluation) -> Table:
    table = grid("label", "rows", "precision", "recall", "most often mistaken for")
    names, written = [str(known["label"]) for known in facts["classes"]], _shares()
    for at, (known, counts) in enumerate(zip(facts["classes"], facts["confusion"], strict=True)):
        errors = [0.0 if other == at else count for other, count in enumerate(counts)]
        worst = max(range(len(errors)), key=errors.__getitem__)
        table.add_row(
            names[at],
            amount(known["rows"]),
            written(known["precision"]),
            written(known["recall"]),
            f"{names[worst]} ({amount(errors[worst])})" if errors[worst] else "",
        )
    return table


def error_facts(result: RegressionEvaluation) -> NumberEvaluation:
    """An evaluation of a regression, for programs."""
    targets: list[TargetErrors] = []
    for j, target in enumerate(result.targets):
        targets.append(
            {
                "target": target,
                "rows": float(result.weight[j]),
                "r_squared": float(result.r_squared[j]),
                "unexplained": float(result.unexplained[j]),
                "root_mean_squared_error": float(result.mean_squared_error[j] ** 0.5),
                "mean_absolute_error": float(result.mean_absolute_error[j]),
                "mean_error": float(result.bias[j]),
            }
        )
        if not result.intercept:
            targets[j]["uncentred"] = True
    return {"targets": targets}
