"""What a generative classifier has learnt, after a fit: its columns, its classes, what is next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli.output.cross_validation import tuned_lines
from suffice.cli.output.tables import CommandLine, amount, grid, percent, rows_in_print

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.models.generative.classifier import GenerativeClassifier

__all__ = ["learnt_facts", "rendered_learnt", "rows_learnt", "schema_facts", "schema_grid"]


COST = "(hundreds of fits, about 100 times as long as this one)"


def learnt_facts(model: GenerativeClassifier, target: Path) -> dict[str, Any]:
    """What a model that is saved to a file has learnt, for ``--json``."""
    statistic = model.statistic_
    return {
        "model": str(target),
        "rows": float(statistic.weight.value.sum()),
        "unlabelled": float(statistic.unlabelled.value),
        "label": model.layout_.label,
        "weight": model.layout_.weight,
        "classes": [
            {"label": name, "rows": float(rows), "prior": float(prior)}
            for name, rows, prior in zip(
                statistic.classes.values, statistic.weight.value, model.model_.prior, strict=True
            )
        ],
        "columns": schema_facts(model),
        "ignored": list(model.layout_.ignored),
        "advice": list(model.advice_),
    }


def schema_facts(model: GenerativeClassifier) -> list[dict[str, Any]]:
    """What the columns are, for programs."""
    return [
        {"name": c.name, "kind": c.kind, "family": family, "reason": c.reason}
        for c, family in _modelled(model)
    ]


def _modelled(model: GenerativeClassifier) -> list[tuple[Any, str | None]]:
    """Every column with the name of its family; without a value so far, it has none."""
    families = model.model_.family_names
    return [(column, families.get(column.name)) for column in model.schema_]


def rendered_learnt(facts: dict[str, Any], model: GenerativeClassifier) -> Iterator[RenderableType]:
    """The same in tables and lines."""
    yield schema_grid(model)
    if facts["ignored"]:
        yield f"  ignored: {', '.join(facts['ignored'])}\n"
    classes = grid(f"{facts['label']}", "rows", "prior")
    for known in facts["classes"]:
        classes.add_row(str(known["label"]), amount(known["rows"]), percent(known["prior"]))
    yield classes
    learnt = rows_learnt(facts["rows"], facts["weight"])
    yield f"  {learnt}, {amount(facts['unlabelled'])} left out without label"
    for said in facts["advice"]:
        yield f"  Look: {said}"
    yield from tuned_lines(facts["tuned"])
    yield f"  Saved to {facts['model']}"
    if "compare" in facts:
        yield f"  To measure what --model auto would gain, on rows that no model has learnt {COST}:"
        yield CommandLine(f"  {facts['compare']}")


def rows_learnt(rows: float, weight: str | None) -> str:
    """How many rows, or how much weight, of a column, a model has learnt."""
    if weight:
        return f"{amount(rows)} total weight ({weight})"
    return f"{rows_in_print(rows)} learnt"


def schema_grid(model: GenerativeClassifier) -> RenderableType:
    """What the schema decided for every column, and why."""
    table = grid("column", "kind", "family", "why", numbers=False)
    left_out = set(model.model_.identifiers)
    for column, family in _modelled(model):
        used = "left out" if column.name in left_out else family or "-"
        table.add_row(column.name, column.kind, used, column.reason)
    return table
