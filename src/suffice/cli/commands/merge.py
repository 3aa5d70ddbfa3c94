"""``suffice merge``: one model of the rows of several models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suffice.cli.models import (
    different_kinds,
    errors_by_file_name,
    load_summed,
    refuse_replacing,
)
from suffice.cli.options import AsJson, Force
from suffice.cli.output import deliver
from suffice.errors import ParameterError
from suffice.phrases import amount


def merge(
    *,
    models: Annotated[
        list[Path],
        typer.Argument(metavar="MODEL...", help="Two files or more.", show_default=False),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The merged model; may be one of MODEL.")
    ],
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Merge models of the same columns.

    The result is that of one fit of all rows, to the last bit; the rows are not
    needed.
    """
    if len(models) < 2:
        rule = "a merge takes two or more"
        raise ParameterError("one model is given", rule, "name the others as well")
    merged, *others = map(load_summed, models)
    for path, other in zip(models[1:], others, strict=True):
        if type(other) is not type(merged):
            raise different_kinds(models[0], merged, path, other, "add up")
        with errors_by_file_name(models[0], path):
            merged.merge(other)
    refuse_replacing(output, merged, merged.target_names_, force, models)
    merged.save(output)
    rows = float(merged.statistic_.rows)
    facts = {"model": str(output), "merged": len(models), "rows": rows}
    said = f"{len(models)} models merged: {amount(rows)} rows. Saved to {output}"
    deliver(facts, lambda: [said], as_json)
