"""Published numbers, by the name of their case."""

import json
from pathlib import Path
from typing import Any

import pytest

GROUPS = ("naive_bayes_exact_cases", "published_tables")


@pytest.fixture(scope="session")
def published(data: Path) -> dict[str, Any]:
    """Cases of reference.json: the data or their file, the protocol, and the printed results."""
    reference = json.loads((data / "reference" / "reference.json").read_text())
    cases = {case["id"]: case for group in GROUPS for case in reference[group]}
    return cases | reference["nist_certified"]
