"""``suffice merge``: one model of the rows of several models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

import suffice
from suffice.cli.models import (
    are_sums,
    different_kinds,
    errors_by_file_name,
    load_summed,
    refuse_replacing,
    refuse_result,
    sums_in,
)
from suffice.cli.options import AsJson, option, output_file
from suffice.cli.output import deliver
from suffice.errors import ParameterError
from suffice.phrases import amount


def merge(
    *,
    models: Annotated[list[Path], typer.Argument(metavar="MODEL...", help="Two files or more.")],
    output: Annotated[Path, output_file("The merged model; may be one of MODEL.")],
    plan: Annotated[Path | None, option("FILE", "Add masked sums of its owners.")] = None,
    as_json: AsJson = False,
) -> None:
    """Merge models or sums of the same columns, or masked sums of a plan.

    The result is that of one fit of all rows, to the last bit; the rows are not
    needed.

    Example: suffice merge north.suffice south.suffice -o all.suffice
    """
    if len(models) < 2:
        rule = "a merge takes two or more"
        raise ParameterError("one model is given", rule, "name the others as well")
    found: Any
    if plan is not None:
        from suffice.owners import unmasked

        found = unmasked(models, plan)
    elif (found := sums_in([str(models[0])])) is not None:
        for path in models[1:]:
            more: Any = suffice.load(path)
            if not are_sums(more):
                rule = f"{models[0]} holds sums, and only sums add up with them"
                raise ParameterError(f"{path} holds no sums", rule, "give files of sums only")
            with errors_by_file_name(models[0], path):
                found += more
    else:
        found = load_summed(models[0])
        for path in models[1:]:
            other = load_summed(path)
            if type(other) is not type(found):
                raise different_kinds(models[0], found, path, other, "add up")
            with errors_by_file_name(models[0], path):
                found.merge(other)
    if are_sums(found):
        what, rows = "files of sums", float(found.rows.sum())
        if plan is not None or output.resolve() not in {path.resolve() for path in models}:
            refuse_result(output, () if plan is None else [*models, plan])
    else:
        what, rows = "models", float(found.statistic_.rows)
        refuse_replacing(output, found, found.target_names_, models)
    found.save(output)
    facts = {"model": str(output), "merged": len(models), "rows": rows}
    said = f"{len(models)} {what} merged: {amount(rows)} rows. Saved to {output}"
    deliver(facts, [said], as_json)
