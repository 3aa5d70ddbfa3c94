"""``suffice audit``: single rows in a model file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import suffice
from suffice.cli.options import AsJson, ModelFile, option
from suffice.cli.output import deliver

if TYPE_CHECKING:
    from suffice.numerics.in_print import Table
    from suffice.privacy import Audit


def audit(
    *,
    model: ModelFile,
    min_count: Annotated[float, option("M", "List what is revealed about fewer rows.")] = 10,
    as_json: AsJson = False,
) -> None:
    """List what a model file reveals about single rows.

    A sum over one row is that row: rare labels, values and combinations, sums of
    few rows, cells that few rows miss, and values that stand in the file.

    Example: suffice audit adult.suffice --min-count 5
    """
    from suffice.privacy import audit as audited

    found = audited(suffice.load(model), min_count)
    facts = {
        "model": found.model,
        "min_count": found.min_count,
        "findings": [vars(one) for one in found.findings],
    }
    deliver(facts, _shown(found), as_json)


def _shown(found: Audit) -> Iterator[str | Table]:
    from suffice.privacy import MEANINGS

    yield found.table()
    for what, meaning in MEANINGS.items():
        if any(one.what == what for one in found.findings):
            yield f"  {what}: {meaning}."
    if found.findings:
        yield (
            f"\n  About fewer than {found.min_count:g} rows; weights count as rows. What two files "
            "tell together is not looked at."
        )
