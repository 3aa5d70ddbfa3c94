"""What is said of rows without a label that joined with the labels expected of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from suffice.cli.output.tables import amount

__all__ = ["expected_facts", "expected_lines"]


def expected_facts(model: Any) -> dict[str, Any]:
    """Facts of expectation-maximisation, where rows joined by it."""
    found = getattr(model, "em_", None)
    if found is None:
        return {}
    steps = found.log_likelihood
    return {
        "expected": {
            "rows": found.rows,
            "steps": len(steps),
            "log_likelihood": float(steps[-1]) if len(steps) else None,
            "converged": found.converged,
        }
    }


def expected_lines(facts: dict[str, Any]) -> Iterator[str]:
    """The same in a line, if there is something to say."""
    if "expected" in facts:
        found = facts["expected"]
        steps = f"{found['steps']} step{'s' * (found['steps'] != 1)}"
        yield f"  {amount(found['rows'])} of them without label, which is expected in {steps}"
