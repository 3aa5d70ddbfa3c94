"""``suffice columns``: what every column tells of the class."""

from __future__ import annotations

from pathlib import Path

import suffice
from suffice.bayes import column_information

from .conftest import Run, facts_of


def test_columns_are_listed_by_what_they_tell(run: Run, model: Path) -> None:
    found = column_information(suffice.load(model))  # type: ignore[arg-type]
    facts = facts_of(run, "columns", model)
    assert facts["entropy"] == found.entropy
    assert [known["column"] for known in facts["columns"]] == [
        found.columns[j] for j in found.order
    ]
    assert [known["bits"] for known in facts["columns"]] == found.bits[found.order].tolist()
    assert all(known["bits"] > 0 for known in facts["columns"])
    assert facts["columns"][0]["column"] in run("columns", model).stdout
