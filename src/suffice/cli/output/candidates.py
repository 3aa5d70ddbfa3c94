"""What is said of an average of models: which were candidates, and what each is worth."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from suffice.cli.output.tables import grid, percent

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.cli import documents
    from suffice.ensemble.fitted import FittedAverage

__all__ = ["candidate_facts", "rendered_candidates"]


def candidate_facts(model: FittedAverage, path: Path | str) -> documents.FittedAverage:
    """What a file of an average holds, for ``--json``."""
    return {
        "model": str(path),
        "label": model.layout_.label,
        "classes": model.classes_.tolist(),
        "candidates": [
            {
                "name": one.name,
                "log_loss": None if one.refusal else one.log_loss,
                "error": None if one.refusal else one.error,
                "weight": one.weight,
                "refusal": one.refusal,
            }
            for one in model.candidates_
        ],
        "columns": [{"name": c.name, "kind": c.kind, "reason": c.reason} for c in model.schema_],
        "ignored": list(model.layout_.ignored),
    }


def rendered_candidates(facts: documents.FittedAverage) -> Iterator[RenderableType]:
    """The candidates in a table, the best first, and what is done with them."""
    table = grid("model", "log loss", "error", "share of the answer")
    refused = [one for one in facts["candidates"] if one["refusal"]]
    for one in facts["candidates"]:
        if not one["refusal"]:
            share = percent(one["weight"]) if one["weight"] else "-"
            table.add_row(
                one["name"], f"{one['log_loss']:.4f}", percent(one["error"] or 0.0), share
            )
    yield table
    yield "  Judged on rows that they had not learnt; log loss in nats a row."
    for one in refused:
        yield f"  {one['name']} is left out: {one['refusal']}"
    if facts["ignored"]:
        yield f"  ignored: {', '.join(facts['ignored'])}"
