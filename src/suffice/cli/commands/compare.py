"""``suffice compare``: the drift between the training data of two models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.models import different_kinds, errors_by_file_name, load_model, predicts_numbers
from suffice.cli.options import AsJson, ModelFile, option
from suffice.cli.output import deliver
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from suffice.numerics.in_print import Table
    from suffice.sums.comparison import Comparison, Divergence

CHANGED = 1  # the exit code where something is above --fail-above


def compare(
    *,
    model: ModelFile,
    other: Annotated[Path, typer.Argument(metavar="OTHER", help="Another one.")],
    fail_above: Annotated[
        float | None, option("H", "Exit with 1 if a Hellinger distance is larger.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare two models: which columns have drifted.

    By Hellinger distance, from 0, no difference, to 1; missing cells count as a
    value. p-values are adjusted by Holm's method. The rows are not needed.

    Example: suffice compare january.suffice february.suffice
    """
    if fail_above is not None and not 0 <= fail_above <= 1:
        raise ParameterError(f"--fail-above {fail_above:g}", "Hellinger's distance is from 0 to 1")
    one, two = map(_comparable, (model, other))
    if predicts_numbers(one) != predicts_numbers(two):
        raise different_kinds(model, one, other, two, "can be compared")
    with errors_by_file_name(model, other):
        found = one.compare(two)
    facts: dict[str, Any] = {
        "models": [str(model), str(other)],
        "verdict": found.verdict,
        "rows": list(found.rows),
        "labels": _divergence(found.labels),
        "columns": [
            {
                "column": column.column,
                "overall": _divergence(column.overall),
                "missing": list(column.missing),
                "within": [
                    {"label": label, "divergence": _divergence(within)}
                    for label, within in zip(found.classes, column.within, strict=True)
                ],
            }
            for column in found.columns
        ],
    }
    above = () if fail_above is None else found.above(fail_above)
    if fail_above is not None:
        facts["above"] = list(above)
    deliver(facts, _shown(found, above, fail_above), as_json)
    if above:
        raise typer.Exit(CHANGED)


def _shown(found: Comparison, above: Sequence[str], most: float | None) -> Iterator[str | Table]:
    table = found.table()
    yield table.title
    if most is not None:
        named = ", ".join(above) or "none"
        yield f"Above {most:g}: {named}."
    yield ""
    yield replace(table, title="")


def _comparable(path: Path) -> Any:
    rule, next_step = "it keeps no distribution of every column", "fit naive Bayes to both tables"
    return load_model(path, rule, next_step, "compare", "statistic_")


def _divergence(found: Divergence | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "hellinger": found.hellinger,
        "psi": found.psi,
        "p": found.p_value,
        "p_adjusted": found.p_adjusted,
    }
