"""``suffice audit``: what is told is that of the library."""

from pathlib import Path

import pytest

import suffice
from suffice import NaiveBayes
from suffice.privacy import audit

from ..conftest import Run, facts_of


@pytest.fixture
def model(tmp_path: Path) -> Path:
    rows = {"age": [31.5, 40.5, 86.5, 29.5], "town": ["Ulm", "Ulm", "Bonn", "Ulm"]}
    fitted = NaiveBayes({"town": "categorical"}).fit(rows, ["well", "well", "ill", "well"])
    fitted.save(tmp_path / "m.suffice")
    return tmp_path / "m.suffice"


def test_facts(run: Run, model: Path) -> None:
    found = facts_of(run, "audit", model, "--min-count", 2)
    expected = audit(suffice.load(model), 2).findings
    assert found["findings"] == [vars(one) for one in expected]
    assert found["min_count"] == 2


def test_the_table_says_what_it_means(run: Run, model: Path) -> None:
    text = " ".join(run("audit", model, "--min-count", 2).stdout.split())
    assert "rare value town 1 1 Bonn; label ill" in text
    assert "few rows of a class show this value, which stands in the file." in text
    assert "About fewer than 2 rows" in text
