"""``suffice sample``: rows that a model would produce."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.options.models import load_generative
from suffice.cli.options.shared import ModelFile, RowsAsJson
from suffice.cli.output.rows import deliver_rows, opener
from suffice.cli.output.tables import refuse_result

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["sample"]


def sample(
    *,
    model: ModelFile,
    rows: Annotated[int, typer.Option("--rows", "-n", min=1, help="How many.")] = 10,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="For the same rows in every run.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help=".csv, .tsv, .jsonl, .parquet, .arrow; default: CSV to stdout."
        ),
    ] = None,
    as_json: RowsAsJson = False,
) -> None:
    """Draw rows from a model: a class from its prior, then every column given the class.

    What such rows lack, beside real ones, is what the model does not know.
    """
    opened = opener(output)
    refuse_result(output, [model])
    fitted = load_generative(model, "it says nothing of how rows come about", "fit naive Bayes")
    columns, labels = fitted.sample(rows, seed)
    name = fitted.layout_.label or "label"
    table = _table({**columns, name: labels})
    is_text = not as_json if output is None else output.suffix.lower() in (".csv", ".tsv")
    if is_text and fitted.reader_.format is not None:
        table = fitted.reader_.format.spelled(table)
    if as_json:
        facts = {"model": str(model), "type": type(fitted).__name__, "seed": seed}
        deliver_rows(facts, "drawn", [table], opened, output)
        return
    with opened() as write:
        write(table)


def _table(columns: dict[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(values.tolist()) for name, values in columns.items()})
