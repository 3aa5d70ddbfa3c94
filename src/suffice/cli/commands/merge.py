"""``suffice merge``: one model of all the rows that several models have learnt."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.options.models import different_kinds, errors_by_file_name, load_summed, rows_of
from suffice.cli.options.replacing import Force, new_model, refuse_replacing
from suffice.cli.options.shared import AsJson
from suffice.cli.output.tables import amount, deliver
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.cli.documents import Merged

__all__ = ["merge"]


def merge(
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL", help="Two files or more.", show_default=False),
    ],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The merged model; may be one of MODEL.", show_default=False
        ),
    ],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Add up models of the same columns.

    The result is that of one fit of all their rows, to the last bit; the rows
    are not needed.
    """
    if len(models) < 2:
        raise ParameterError(
            "one model is given", "a merge takes two or more", "name the others as well"
        )
    merged, *others = map(load_summed, models)
    for path, other in zip(models[1:], others, strict=True):
        if type(other) is not type(merged):
            raise different_kinds(models[0], merged, path, other, "add up")
        with errors_by_file_name(models[0], path):
            merged.merge(other)
    refuse_replacing(output, new_model(merged), force, models)
    merged.save(output)
    rows = rows_of(merged)
    facts: Merged = {"model": str(output), "merged": len(models), "rows": rows}
    said = f"{len(models)} models merged: {amount(rows)} rows. Saved to {output}"
    deliver(facts, lambda: [said], as_json, None)
