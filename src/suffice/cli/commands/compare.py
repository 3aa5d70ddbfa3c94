"""``suffice compare``: the drift between the training data of two models."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.models import different_kinds, errors_by_file_name, load_having, predicts_numbers
from suffice.cli.options import AsJson, ModelFile
from suffice.cli.output import deliver

if TYPE_CHECKING:
    from suffice.sums.comparison import Divergence


def compare(
    *,
    model: ModelFile,
    other: Annotated[
        Path, typer.Argument(metavar="OTHER", help="Another one.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Compare two models: which columns have drifted.

    By Hellinger distance, from 0, no difference, to 1; the rows are not needed.
    """
    one, two = map(_comparable, (model, other))
    if predicts_numbers(one) != predicts_numbers(two):
        raise different_kinds(model, one, other, two, "can be compared")
    with errors_by_file_name(model, other):
        found = one.compare(two)
    facts: dict[str, Any] = {
        "models": [str(model), str(other)],
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
    deliver(facts, lambda: [found.table()], as_json)


def _comparable(path: Path) -> Any:
    rule, next_step = "it keeps no distribution of every column", "fit naive Bayes to both tables"
    return load_having(path, rule, next_step, "compare", "statistic_")


def _divergence(found: Divergence | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "hellinger": found.hellinger,
        "psi": found.psi,
        "p": found.p_value,
    }
