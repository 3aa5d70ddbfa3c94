"""``suffice explain``: why the first rows were answered as they were."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer
from rich.console import RenderableType
from rich.table import Table

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.models import load_generative, refuse_tokens, with_tokens
from suffice.cli.options.shared import AsJson, Data, ModelFile, Reading, ResultFile
from suffice.cli.output.explanation import Explanation, explanations
from suffice.cli.output.tables import decibans, deliver, grid, percent, refuse_overwriting, short
from suffice.errors import DataError

__all__ = ["explain"]


def explain(
    *,
    model: ModelFile,
    data: Data,
    rows: Annotated[int, typer.Option(min=1, help="How many rows to explain.")] = 3,
    top: Annotated[int, typer.Option(min=1, help="How many columns to list, at most.")] = 20,
    as_json: AsJson = False,
    output: ResultFile = None,
    reading: Reading,
) -> None:
    """Show what every column says for the answer and against the runner-up.

    Evidence is counted in decibans, which add up: 10 are odds of 10 to 1, 20 of
    100 to 1. A missing cell says nothing.
    """
    from suffice.data.table_views import FirstRows

    refuse_overwriting(output, [model, *data])
    loaded = load_generative(
        model,
        "explain shows contributions for naive Bayes and discriminant analysis only",
        f"use suffice summary {model}",
    )
    fitted = with_tokens(loaded, reading)
    opened = known_columns(remarked(reading.open(data, fitted.format_)), fitted)
    refuse_tokens(fitted, reading, opened, data[0])
    table = FirstRows(opened, rows)
    cells = table.head().to_pylist()
    if not cells:
        raise DataError(f"{data[0]} holds no row", "there is nothing to explain")
    explained = explanations(fitted.explain(table), cells)
    facts = {"rows": [_facts(row, why) for row, why in enumerate(explained, start=1)]}
    deliver(facts, lambda: _rendered(explained, top), as_json, output)


def _facts(row: int, why: Explanation) -> dict[str, Any]:
    return {
        "row": row,
        "prediction": why.prediction,
        "probability": why.probability,
        "against": why.against,
        "prior": why.prior,
        "columns": [
            {"column": part.column, "value": part.value, "decibans": part.decibans}
            for part in why.contributions
        ],
        "sum": why.total,
    }


def _rendered(explained: Sequence[Explanation], top: int) -> Iterator[RenderableType]:
    for row, why in enumerate(explained, start=1):
        yield _grid(row, why, top)


def _grid(row: int, why: Explanation, top: int) -> Table:
    title = f"Row {row}: {why.prediction}, with probability {percent(why.probability)}"
    table = grid("", "value", f"decibans for {why.prediction}, against {why.against}", title=title)
    table.columns[1].justify = "left"
    table.add_row("prior", "", decibans(why.prior))
    for part in why.contributions[:top]:
        table.add_row(part.column, short(part.value), decibans(part.decibans))
    rest = why.contributions[top:]
    if rest:
        total = sum(part.decibans for part in rest)
        table.add_row(f"{len(rest)} other columns", "", decibans(total))
    table.add_section()
    table.add_row("sum", "", decibans(why.total))
    return table
