"""``suffice merge``: one model of the rows of several models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

import suffice
from suffice.cli.models import (
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

if TYPE_CHECKING:
    from suffice.models.grouped_sums import GroupedSums


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
    if plan is None:
        sums = _added(models)
    else:
        from suffice.owners import unmasked

        sums = unmasked(models, plan)
    if sums is not None:
        if plan is not None:
            refuse_result(output, [*models, plan])
        elif output.resolve() not in {path.resolve() for path in models}:
            refuse_result(output, ())
        sums.save(output)
        _deliver(output, len(models), "files of sums", float(sums.rows.sum()), as_json)
        return
    merged, *others = map(load_summed, models)
    for path, other in zip(models[1:], others, strict=True):
        if type(other) is not type(merged):
            raise different_kinds(models[0], merged, path, other, "add up")
        with errors_by_file_name(models[0], path):
            merged.merge(other)
    refuse_replacing(output, merged, merged.target_names_, models)
    merged.save(output)
    _deliver(output, len(models), "models", float(merged.statistic_.rows), as_json)


def _added(files: list[Path]) -> GroupedSums | None:
    """Return the sums of files of sums; None if the first holds a model."""
    total: GroupedSums | None = sums_in([str(files[0])])
    for path in files[1:] if total is not None else ():
        more = sums_in([str(path)])
        if more is None:
            suffice.load(path)  # raises where it is no file of a model, either
            rule = f"{files[0]} holds sums, and only sums add up with them"
            raise ParameterError(f"{path} holds no sums", rule, "give files of sums only")
        with errors_by_file_name(files[0], path):
            total += more
    return total


def _deliver(output: Path, many: int, what: str, rows: float, as_json: bool) -> None:
    facts = {"model": str(output), "merged": many, "rows": rows}
    said = f"{many} {what} merged: {amount(rows)} rows. Saved to {output}"
    deliver(facts, lambda: [said], as_json)
