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


def test_a_file_that_is_no_model_stays(run: Run, fruit: Path, model: Path) -> None:
    notes = Path("notes.txt")
    notes.write_text("mine")
    for command in (("fit", fruit, *FIT), ("merge", model, model), ("calibrate", model, fruit)):
        refused = run(*command, "-o", "notes.txt")
        assert refused.exit_code == 2
        assert "notes.txt is there, and is no model file" in refused.stderr
    assert notes.read_text() == "mine"


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


RESULTS = {
    "export": "export model.suffice --to json -o other.suffice",
    "report": "report model.suffice -o other.suffice",
}


@pytest.mark.parametrize("words", RESULTS.values(), ids=RESULTS)
def test_a_result_replaces_no_model(run: Run, model: Path, words: str) -> None:
    other = Path("other.suffice")
    other.write_bytes(model.read_bytes())
    refused = run(*words.replace("model.suffice", str(model)).split())
    assert refused.exit_code == 2
    assert "other.suffice is a file of a model" in refused.stderr
    assert other.read_bytes() == model.read_bytes()


@pytest.mark.parametrize("data", ["rows.csv", "*.csv", "."])
def test_what_is_read_is_not_written_over(run: Run, fruit: Path, model: Path, data: str) -> None:
    rows = Path("rows.csv")
    rows.write_text(fruit.read_text())
    before = rows.read_bytes()
    refused = run("predict", model, data, "-o", "rows.csv")
    assert refused.exit_code == 2
    assert "rows.csv is one of the files to be read" in refused.stderr
    assert rows.read_bytes() == before
