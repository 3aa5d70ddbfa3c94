"""``suffice evaluate``: how well a model answers rows whose label is known."""

from __future__ import annotations

from collections.abc import Iterator
from math import isnan
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.decision import Decision
from suffice.cli.options.models import (
    label_of,
    load,
    predicts_numbers,
    refuse_tokens,
    weight_of,
    with_labels,
    with_tokens,
)
from suffice.cli.options.running import Running
from suffice.cli.options.shared import AsJson, Data, Labels, ModelFile, Reading, ResultFile, Weight
from suffice.cli.output.tables import amount, deliver, grid, percent, refuse_overwriting, short

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from suffice.models.base.evaluation import Evaluation
    from suffice.models.linear.evaluation import RegressionEvaluation
    from suffice.statistics.ranking import Area

__all__ = ["evaluate"]

MOST_CLASSES_ACROSS = 5


def evaluate(
    *,
    model: ModelFile,
    data: Data,
    label: Annotated[
        str | None,
        typer.Option(
            "--label",
            "--target",
            metavar="COL",
            help="The column of true answers; by default that of the fit.",
        ),
    ] = None,
    weight: Weight = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    decision: Decision,
    reading: Reading,
    labels: Labels,
    running: Running,
) -> None:
    """Compare the answers with the truth.

    For classes: error rate, log loss, Brier score, confusions. For numbers: R²
    and the size of the errors.
    """
    refuse_overwriting(output, [model, *data])
    fitted = decision.applied(with_labels(with_tokens(load(model), reading), labels))
    opened = remarked(reading.open(data, fitted.format_))
    table = known_columns(opened, fitted, label, weight)
    refuse_tokens(fitted, reading, table, data[0])
    with running.reported(f"Evaluating {', '.join(data)}") as report:
        fitted.set_params(engine=running.chosen(report, fitted.threads), threads=None)
        result = fitted.evaluate(table, label_of(fitted, label), weight_of(fitted, weight, table))
    if predicts_numbers(fitted):
        facts = _errors(result)
        deliver(facts, lambda: [_error_grid(facts)], as_json, output)
    else:
        facts = _facts(result) | _cost(result, None if decision.threshold else fitted.costs)
        deliver(facts, lambda: _rendered(facts), as_json, output)


def _facts(result: Evaluation) -> dict[str, Any]:
    confusion = result.confusion.value
    return {
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
    }


def _area(area: Area) -> dict[str, float] | None:
    """An area with its bounds; none where no class is ranked."""
    return None if isnan(area.value) else area._asdict()


def _cost(result: Evaluation, costs: Any) -> dict[str, Any]:
    """The costs of errors and their mean, where errors are not equally bad."""
    if costs is None:
        return {}
    return {"costs": costs, "mean_cost": result.mean_cost(costs)}


def _reliability(result: Evaluation) -> list[dict[str, float]]:
    """What predictions promised and how often they were right, by tenths that have rows."""
    bins = result.reliability.value.tolist()
    return [
        {"from": i / len(bins), "to": (i + 1) / len(bins), "rows": w, "mean": p / w, "right": r / w}
        for i, (w, p, r) in enumerate(bins)
        if w
    ]


def _rendered(facts: dict[str, Any]) -> Iterator[RenderableType]:
    yield _scores(facts)
    if len(facts["classes"]) <= MOST_CLASSES_ACROSS:
        yield _confusions(facts)
    else:
        yield _by_class(facts)
        yield "  --json holds the whole confusion table."
    yield _promises(facts)
    yield (
        f"  {amount(facts['rows'])} rows compared, {amount(facts['unlabelled'])} left out without "
        f"label, {amount(facts['impossible'])} impossible under every class"
    )


def _scores(facts: dict[str, Any]) -> Table:
    table = grid("", "", "")
    table.show_header = False
    table.columns[2].justify = "left"
    always = f"of the most frequent label alone: {percent(facts['largest_class_error'])}"
    table.add_row("error rate", f"{100 * facts['error_rate']:.2f} %", always)
    table.add_row("accuracy", f"{100 * facts['accuracy']:.2f} %", "")
    table.add_row(
        "balanced", f"{100 * facts['balanced_accuracy']:.2f} %", "mean recall of the classes"
    )
    for name, said in (
        ("ROC area", "0.5: no better than chance, 1: perfect order"),
        ("average precision", "area below precision against recall"),
    ):
        area = facts[name.lower().replace(" ", "_")]
        if area:
            table.add_row(name, _digits(area), said)
    if "mean_cost" in facts:
        table.add_row("mean cost", f"{facts['mean_cost']:.4g}", "a row, by the costs of errors")
    table.add_row("log loss", f"{facts['log_loss']:.4f}", "nats per row; 0 is perfect")
    table.add_row("Brier score", f"{facts['brier_score']:.4f}", "from 0, perfect, to 2")
    table.add_row(
        "calibration",
        f"{100 * facts['calibration_error']:.2f} %",
        "gap between probability and how often it is right",
    )
    return table


def _digits(area: dict[str, float]) -> str:
    """An area with four digits, or between its bounds where these differ."""
    low, high = f"{area['lower']:.4f}", f"{area['upper']:.4f}"
    return f"{area['value']:.4f}" if low == high else f"{low} to {high}"


def _promises(facts: dict[str, Any]) -> Table:
    table = grid("probability of the prediction", "rows", "mean", "right")
    for tenth in facts["reliability"]:
        table.add_row(
            f"{tenth['from']:.0%} to {tenth['to']:.0%}",
            amount(tenth["rows"]),
            percent(tenth["mean"]),
            percent(tenth["right"]),
        )
    return table


def _confusions(facts: dict[str, Any]) -> Table:
    names = [str(known["label"]) for known in facts["classes"]]
    table = grid("true label", *(f"taken for {name}" for name in names), "recall")
    for known, counts in zip(facts["classes"], facts["confusion"], strict=True):
        table.add_row(str(known["label"]), *map(amount, counts), percent(known["recall"]))
    table.add_section()
    table.add_row("precision", *(percent(known["precision"]) for known in facts["classes"]), "")
    return table


def _by_class(facts: dict[str, Any]) -> Table:
    table = grid("label", "rows", "precision", "recall", "most often mistaken for")
    names = [str(known["label"]) for known in facts["classes"]]
    for at, (known, counts) in enumerate(zip(facts["classes"], facts["confusion"], strict=True)):
        errors = [0.0 if other == at else count for other, count in enumerate(counts)]
        worst = max(range(len(errors)), key=errors.__getitem__)
        table.add_row(
            names[at],
            amount(known["rows"]),
            percent(known["precision"]),
            percent(known["recall"]),
            f"{names[worst]} ({amount(errors[worst])})" if errors[worst] else "",
        )
    return table


def _errors(result: RegressionEvaluation) -> dict[str, Any]:
    columns = {
        "rows": result.weight,
        "r_squared": result.r_squared,
        "unexplained": result.unexplained,
        "root_mean_squared_error": result.mean_squared_error**0.5,
        "mean_absolute_error": result.mean_absolute_error,
        "mean_error": result.bias,
    }
    return {
        "targets": [
            {"target": target} | {name: float(values[j]) for name, values in columns.items()}
            for j, target in enumerate(result.targets)
        ]
    }


def _error_grid(facts: dict[str, Any]) -> Table:
    from suffice.numerics.in_print import explained

    lines = {
        "R²": ("unexplained", explained, "1 is perfect, 0 is no better than the mean"),
        "RMSE": ("root_mean_squared_error", short, "root of the mean squared error"),
        "MAE": ("mean_absolute_error", short, "mean absolute error"),
        "mean error": ("mean_error", short, "truth less prediction"),
        "n": ("rows", amount, "rows compared"),
    }
    table = grid("", *(known["target"] for known in facts["targets"]), "")
    table.columns[-1].justify = "left"
    for line, (name, written, meaning) in lines.items():
        table.add_row(line, *(written(known[name]) for known in facts["targets"]), meaning)
    return table
