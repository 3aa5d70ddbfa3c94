"""``suffice columns``: columns ranked by mutual information with the label."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from suffice.cli.models import load_model
from suffice.cli.options import AsJson, ModelFile
from suffice.cli.output import deliver

if TYPE_CHECKING:
    from suffice.bayes import ColumnInformation
    from suffice.numerics.in_print import Table

MOST = 30  # columns that are printed


def columns(*, model: ModelFile, as_json: AsJson = False) -> None:
    """Rank columns by mutual information with the label.

    In bits, each column by itself; redundant columns are less informative
    together than their sum.

    Example: suffice columns adult.suffice
    """
    from suffice.bayes import column_information

    rule = "its columns have no distribution in a class"
    fitted = load_model(model, rule, "see suffice summary", "predict_joint_log_proba")
    found = column_information(fitted)
    facts = {
        "entropy": found.entropy,
        "columns": [
            {
                "column": found.columns[j],
                "family": found.families[j],
                "bits": float(found.bits[j]),
            }
            for j in found.order
        ],
    }
    deliver(facts, _shown(found), as_json)


def _shown(found: ColumnInformation) -> Iterator[Table]:
    table = found.table()
    left = len(table.rows) - MOST
    more = [f"{left} more column{'s' if left > 1 else ''}: see --json"] if left > 0 else []
    yield replace(table, rows=table.rows[:MOST], notes=[*table.notes, *more])
