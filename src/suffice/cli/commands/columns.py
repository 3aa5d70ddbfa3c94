"""``suffice columns``: what every column tells of the class."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.options.models import load_generative
from suffice.cli.options.shared import AsJson, ModelFile
from suffice.cli.output.tables import deliver

if TYPE_CHECKING:
    from suffice.bayes import ColumnInformation
    from suffice.cli.documents import RankedColumns
    from suffice.numerics.in_print import Table

__all__ = ["columns"]


def columns(
    *,
    model: ModelFile,
    top: Annotated[int, typer.Option(min=1, help="How many columns to list, at most.")] = 30,
    as_json: AsJson = False,
) -> None:
    """Show how many bits a cell of every column tells of the class.

    0 bits: the column looks alike in every class. Each column is judged by
    itself. Columns that repeat each other tell less together than their sum.
    """
    from suffice.bayes import column_information

    fitted = load_generative(
        model, "its columns have no distribution in a class", "see `suffice summary`"
    )
    found = column_information(fitted)
    deliver(_facts(found), lambda: _rendered(found, top), as_json, None)


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


def _rendered(found: ColumnInformation, top: int) -> Iterator[Table]:
    table = found.table()
    left = len(table.rows) - top
    more = f"{left} more column{'s' if left > 1 else ''}: --top or --json shows all"
    yield replace(table, rows=table.rows[:top], notes=[*table.notes, *([more] if left > 0 else [])])
