"""``suffice audit``: what a model file tells about single rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.options.models import load
from suffice.cli.options.shared import AsJson, ModelFile, ResultFile
from suffice.cli.output.tables import deliver, grid, refuse_result

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.privacy import Audit

__all__ = ["audit"]


def audit(
    *,
    model: ModelFile,
    min_count: Annotated[
        float,
        typer.Option(metavar="M", help="What is told about fewer rows than this is listed."),
    ] = 10,
    as_json: AsJson = False,
    output: ResultFile = None,
) -> None:
    """Show what a model file tells about single rows.

    A model is made of sums. A sum over one row is that row. Listed are rare
    labels, values and combinations, numbers of few rows, cells that few rows
    miss, and values that stand in the file as they are.
    """
    from suffice.privacy import audit as audited

    refuse_result(output, [model])
    found = audited(load(model), min_count)
    deliver(_facts(found), lambda: _rendered(found), as_json, output)


def _facts(found: Audit) -> dict[str, Any]:
    return {
        "model": found.model,
        "min_count": found.min_count,
        "findings": [
            {
                "what": one.what,
                "column": one.column,
                "label": one.label,
                "value": one.value,
                "rows": one.rows,
                "batch": one.batch,
            }
            for one in found.findings
        ],
    }


def _rendered(found: Audit) -> Iterator[RenderableType]:
    from suffice.privacy import MEANINGS

    if not found.findings:
        yield f"  Nothing is told about fewer than {found.min_count:g} rows."
        return
    table = grid("", "column", "facts", "rows", "for example")
    table.columns[1].justify = table.columns[4].justify = "left"
    for line in found.lines():
        table.add_row(*line)
    yield table
    for what, meaning in MEANINGS.items():
        if any(one.what == what for one in found.findings):
            yield f"  {what}: {meaning}."
    yield (
        f"\n  About fewer than {found.min_count:g} rows; weights count as rows. What two files "
        "tell together is not looked at."
    )
