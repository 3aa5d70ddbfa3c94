"""``suffice evaluate``: how well a model answers rows whose label is known."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

import suffice
from suffice.cli.models import label_of, weight_of, with_tokens
from suffice.cli.options import AsJson, Data, Labels, ModelFile, Reading, ResultFile, Weight
from suffice.cli.output import amount, deliver, grid, percent, refuse_overwriting, working

if TYPE_CHECKING:
    from suffice.models.evaluation import Evaluation

__all__ = ["evaluate"]

MOST_CLASSES_ACROSS = 5


def evaluate(
    *,
    model: ModelFile,
    data: Data,
    label: Annotated[
        str | None,
        typer.Option(metavar="COL", help="The true label; by default that of the fit."),
    ] = None,
    weight: Weight = None,
    as_json: AsJson = False,
    output: ResultFile = None,
    reading: Reading,
    labels: Labels,
) -> None:
    """Compare the answers with the true labels: error rate, log loss, Brier score, confusions."""
    refuse_overwriting(output, [model, *data])
    fitted = with_tokens(suffice.load(model), reading).set_params(**labels.parameters())
    table = reading.open(data, fitted.format_)
    with working(f"Evaluating {', '.join(data)}"):
        result = fitted.evaluate(table, label_of(fitted, label), weight_of(fitted, weight, table))
    facts = _facts(result)
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
        "classes": [
            {"label": name, "rows": float(rows), "precision": float(p), "recall": float(r)}
            for name, rows, p, r in zip(
                result.classes, confusion.sum(axis=1), result.precision, result.recall, strict=True
            )
        ],
        "confusion": confusion.tolist(),
    }


def _rendered(facts: dict[str, Any]) -> Iterator[RenderableType]:
    yield _scores(facts)
    if len(facts["classes"]) <= MOST_CLASSES_ACROSS:
        yield _confusions(facts)
    else:
        yield _by_class(facts)
        yield "  --json holds the whole confusion table."
    yield (
        f"  {amount(facts['rows'])} rows compared, {amount(facts['unlabelled'])} left out without "
        f"label, {amount(facts['impossible'])} impossible under every class"
    )


def _scores(facts: dict[str, Any]) -> Table:
    table = grid("", "", "")
    table.show_header = False
    table.columns[2].justify = "left"
    always = f"always answering the most frequent label: {percent(facts['largest_class_error'])}"
    table.add_row("error rate", f"{100 * facts['error_rate']:.2f} %", always)
    table.add_row("accuracy", f"{100 * facts['accuracy']:.2f} %", "")
    table.add_row("log loss", f"{facts['log_loss']:.4f}", "nats per row; 0 is perfect")
    table.add_row("Brier score", f"{facts['brier_score']:.4f}", "from 0, perfect, to 2")
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
