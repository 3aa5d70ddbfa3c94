"""``suffice merge``: one model of the rows of several models."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suffice.cli.models import (
    different_kinds,
    errors_by_file_name,
    load_summed,
    refuse_overwriting,
    refuse_replacing,
    refuse_result,
    sums_in,
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
    plan: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Add masked sums of its owners.")
    ] = None,
    force: Force = False,
    as_json: AsJson = False,
) -> None:
    """Merge models of the same columns, or masked sums of the owners of a plan.

    The result is that of one fit of all rows, to the last bit; the rows are not
    needed.
    """
    if len(models) < 2:
        rule = "a merge takes two or more"
        raise ParameterError("one model is given", rule, "name the others as well")
    if plan is not None:
        from suffice.owners import unmasked

        refuse_overwriting(output, [*models, plan])
        if not force:
            refuse_result(output, ())
        sums = unmasked(models, plan)
        sums.save(output)
        _deliver(output, len(models), float(sums.sums.rows), as_json)
        return
    if (first := sums_in([str(models[0])])) is not None:
        for path in models[1:]:
            more = sums_in([str(path)])
            if more is None:
                rule = f"{models[0]} holds sums, and only sums add up with them"
                raise ParameterError(f"{path} holds no sums", rule, "give files of sums only")
            with errors_by_file_name(models[0], path):
                first = first + more
        refuse_overwriting(output, [path for path in models if path != output])
        if not (force or output in models):
            refuse_result(output, ())
        first.save(output)
        facts = {"sums": str(output), "merged": len(models), "groups": len(first)}
        facts["rows"] = float(first.rows.sum())
        said = (
            f"{len(models)} files of sums merged: {amount(facts['rows'])} rows. Saved to {output}"
        )
        deliver(facts, lambda: [said], as_json)
        return
    merged, *others = map(load_summed, models)
    for path, other in zip(models[1:], others, strict=True):
        if type(other) is not type(merged):
            raise different_kinds(models[0], merged, path, other, "add up")
        with errors_by_file_name(models[0], path):
            merged.merge(other)
    refuse_replacing(output, merged, merged.target_names_, force, models)
    merged.save(output)
    _deliver(output, len(models), float(merged.statistic_.rows), as_json)


def _deliver(output: Path, many: int, rows: float, as_json: bool) -> None:
    facts = {"model": str(output), "merged": many, "rows": rows}
    said = f"{many} models merged: {amount(rows)} rows. Saved to {output}"
    deliver(facts, lambda: [said], as_json)
