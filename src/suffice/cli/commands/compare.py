"""``suffice compare``: what divides the rows of two models, column by column."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.options.models import (
    different_kinds,
    errors_by_file_name,
    load,
    predicts_numbers,
    refusal,
)
from suffice.cli.options.shared import AsJson
from suffice.cli.output.tables import (
    deliver,
)

if TYPE_CHECKING:
    from suffice.cli import documents
    from suffice.sums.comparison import Comparison, Divergence

__all__ = ["compare"]

RULE, NEXT_STEP = "it keeps no distribution of every column", "fit naive Bayes to both tables"


def compare(
    before: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A file that fit wrote.", show_default=False)
    ],
    after: Annotated[
        Path, typer.Argument(metavar="OTHER", help="Another one.", show_default=False)
    ],
    as_json: AsJson = False,
) -> None:
    """Show what divides the rows of two models, column by column.

    The rows are not needed. The largest Hellinger distance comes first: 0 is no
    difference, 1 nothing in common.
    """
    one, other = map(_comparable, (before, after))
    if predicts_numbers(one) != predicts_numbers(other):
        raise different_kinds(before, one, after, other, "can be compared")
    with errors_by_file_name(before, after):
        found = one.compare(other)
    facts = _facts(found, before, after)
    deliver(facts, lambda: [found.table()], as_json, None)


def _comparable(path: Path) -> Any:
    """Read the file of a model that holds a distribution of every column.

    Raises
    ------
    ModelFileError
        If the file cannot be loaded.
    ParameterError
        If it holds another model.
    """
    model = load(path)
    if not hasattr(model, "compare") or not hasattr(model, "statistic_"):
        raise refusal(path, model, RULE, NEXT_STEP)
    return model


def _facts(found: Comparison, before: Path, after: Path) -> documents.Comparison:
    return {
        "models": [str(before), str(after)],
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


def _divergence(found: Divergence | None) -> documents.Divergence | None:
    if found is None:
        return None
    return {
        "hellinger": found.hellinger,
        "psi": found.psi,
        "p": found.p_value,
    }
