"""``--unlabelled em``: what is said of rows without a label, and what is refused."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import Result

import suffice

Run = Callable[..., Result]


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200)
    x = rng.normal(size=(200, 2)) + 3 * y[:, None]
    labels = [["low", "high"][c] if i < 24 else "" for i, c in enumerate(y)]
    lines = [f"{a:.4f},{b:.4f},{label}" for (a, b), label in zip(x, labels, strict=True)]
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["a,b,kind", *lines, ""]))
    return path


def fitted(run: Run, rows: Path, *words: str) -> Path:
    target = rows.with_suffix(".suffice")
    result = run("fit", rows, "--label", "kind", "--unlabelled", "em", *words, "-o", target)
    assert result.exit_code == 0, result.stderr
    return target


@pytest.mark.parametrize("model", ["naive-bayes", "lda", "qda"])
def test_the_number_of_rows_without_a_label_is_said(run: Run, rows: Path, model: str) -> None:
    target = fitted(run, rows, "--model", model)
    steps = len(suffice.load(target).em_.log_likelihood)
    said = f"176 of them without label, which is expected in {steps} steps"
    shown = run("show", target)
    assert said in shown.stdout
    assert "200 rows learnt, 0 left out without label" in shown.stdout
    facts = json.loads(run("show", target, "--json").stdout)
    assert facts["expected"]["rows"] == 176
    assert facts["expected"]["converged"] is True
    again = run(
        *("fit", rows, "--label", "kind", "--unlabelled", "em", "--model", model),
        *("-o", rows.with_name("again.suffice")),
    )
    assert said in again.stdout
    dropped = run("fit", rows, "--label", "kind", "--model", model, "-o", target)
    assert "24 rows learnt, 176 left out without label" in dropped.stdout


def test_folds_learn_from_rows_without_a_label(run: Run, rows: Path) -> None:
    words = "cv", rows, "--label", "kind", "--folds", "4", "--json"
    plain = json.loads(run(*words).stdout)
    joined = json.loads(run(*words, "--unlabelled", "em").stdout)
    assert plain["rows"] == joined["rows"] == 24
    assert plain["models"] != joined["models"]


def test_what_is_refused_has_a_next_step(run: Run, rows: Path) -> None:
    target = fitted(run, rows)
    other = rows.with_name("other.suffice")
    for words in (("merge", target, target), ("forget", target, rows)):
        result = run(*words, "-o", other)
        assert result.exit_code == 2
        assert "fit all rows together, or set --unlabelled drop" in result.stderr
    result = run("fit", rows, "--label", "kind", "--model", "aode", "--unlabelled", "em")
    assert result.exit_code == 2
    assert "--unlabelled is given for --model aode; it belongs to" in result.stderr
