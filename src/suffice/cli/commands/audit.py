"""``suffice audit``: what a model file tells about single rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.options.models import load
from suffice.cli.options.shared import AsJson, ModelFile
from suffice.cli.output.tables import deliver

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.cli import documents
    from suffice.numerics.in_print import Table
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
) -> None:
    """Show what a model file tells about single rows.

    A model is made of sums. A sum over one row is that row. Listed are rare
    labels, values and combinations, numbers of few rows, cells that few rows
    miss, and values that stand in the file as they are.
    """
    from suffice.privacy import audit as audited

    found = audited(load(model), min_count)
    deliver(_facts(found), lambda: _rendered(found), as_json, None)


def _facts(found: Audit) -> documents.Audit:
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


def _rendered(found: Audit) -> Iterator[RenderableType | Table]:
    from suffice.privacy import MEANINGS

    if not found.findings:
        yield f"  Nothing is told about fewer than {found.min_count:g} rows."
        return
    yield found.table()
    for what, meaning in MEANINGS.items():
        if any(one.what == what for one in found.findings):
            yield f"  {what}: {meaning}."
    yield (
        f"\n  About fewer than {found.min_count:g} rows; weights count as rows. What two files "
        "tell together is not looked at."
    )
