"""``suffice columns``: what every column tells of the class."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.options.models import load_generative
from suffice.cli.options.shared import AsJson, ModelFile, ResultFile
from suffice.cli.output.tables import deliver, grid, percent, refuse_result

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.bayes import ColumnInformation
    from suffice.cli.documents import RankedColumns

__all__ = ["columns"]


def columns(
    *,
    model: ModelFile,
    top: Annotated[int, typer.Option(min=1, help="How many columns to list, at most.")] = 30,
    as_json: AsJson = False,
    output: ResultFile = None,
) -> None:
    """Show how many bits a cell of every column tells of the class.

    0 bits: the column looks alike in every class. Each column is judged by
    itself. Columns that repeat each other tell less together than their sum.
    """
    from suffice.bayes import column_information

    refuse_result(output, [model])
    fitted = load_generative(
        model, "its columns have no distribution in a class", "see `suffice summary`"
    )
    found = column_information(fitted)
    facts = _facts(found)
    deliver(facts, lambda: _rendered(facts, top), as_json, output)


def _facts(found: ColumnInformation) -> RankedColumns:
    return {
        "entropy": found.entropy,
        "columns": [
            {
                "column": found.columns[j],
                "family": found.families[j],
                "bits": None if math.isnan(found.bits[j]) else float(found.bits[j]),
            }
            for j in found.order
        ],
    }


def _rendered(facts: RankedColumns, top: int) -> Iterator[RenderableType]:
    table = grid("column", "family", "bits", "of all there is to tell")
    table.columns[1].justify = "left"
    for known in facts["columns"][:top]:
        bits, share = known["bits"], math.nan
        if bits is not None and facts["entropy"]:
            share = bits / facts["entropy"]
        written = "-" if bits is None else f"{bits:.4f}"
        table.add_row(known["column"], known["family"], written, percent(share))
    yield table
    yield f"  {facts['entropy']:.4f} bits tell the class of a row, before any cell is seen"
    left = len(facts["columns"]) - top
    if left > 0:
        yield f"  {left} more column{'s' if left > 1 else ''}: --top or --json shows all"
