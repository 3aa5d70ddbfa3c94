"""What is there is not lost: which files a command replaces, and which it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from suffice import load

from .conftest import Run

FIT = ("--label", "kind", "--ignore", "id")
OTHERS = {
    "label": ("--label", "color", "--ignore", "id"),
    "discriminant": ("--label", "kind", "--features", "id", "--model", "lda"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_another_model_takes_no_place_unasked(run: Run, fruit: Path, other: str) -> None:
    assert run("fit", fruit, *FIT).exit_code == 0
    model = Path("fruit.suffice")
    before = model.read_bytes()
    refused = run("fit", fruit, *OTHERS[other])
    assert refused.exit_code == 2
    for told in ("fruit.suffice holds a NaiveBayes that predicts 'kind'", "--force", "-o"):
        assert told in refused.stderr
    assert model.read_bytes() == before
    assert run("fit", fruit, *OTHERS[other], "-o", "other.suffice").exit_code == 0
    assert model.read_bytes() == before
    assert run("fit", fruit, *OTHERS[other], "--force").exit_code == 0
    assert model.read_bytes() == Path("other.suffice").read_bytes()


def test_models_are_written_over_what_they_are_made_of(run: Run, model: Path) -> None:
    assert run("merge", model, model, "-o", model).exit_code == 0
    assert load(model).statistic_.rows == 12


def test_a_fit_does_not_bring_forgotten_rows_back_unasked(
    run: Run, fruit: Path, model: Path, tmp_path: Path
) -> None:
    (tmp_path / "gone.csv").write_text("size,color,kind\n1.0,red,apple\n")
    assert run("forget", model, "gone.csv", "-o", model).exit_code == 0
    before = model.read_bytes()
    refused = run("fit", fruit, *FIT, "-o", model)
    assert refused.exit_code == 2
    assert "forgotten" in refused.stderr
    assert model.read_bytes() == before
