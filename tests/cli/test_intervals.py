"""Intervals of probabilities at the command line."""

import csv
import io

import pytest

import suffice

from .conftest import facts_of


def test_predict_writes_the_ends_of_every_class(run, model, fruit):
    result = run("predict", model, fruit, "--interval", "confidence", "--level", "0.9")
    assert result.exit_code == 0, result.stderr
    found = list(csv.DictReader(io.StringIO(result.stdout)))
    ends = suffice.load(model).predict_proba_interval(str(fruit), level=0.9)
    labels = suffice.load(model).classes_
    for c, label in enumerate(labels):
        assert [float(row[f"P({label}) lower"]) for row in found] == ends[:, c, 0].tolist()
        assert [float(row[f"P({label}) upper"]) for row in found] == ends[:, c, 1].tolist()


def test_explain_says_the_interval(run, model, fruit):
    said = run("explain", model, fruit, "--rows", "1")
    assert "95 % interval:" in " ".join(said.stdout.split())
    facts = facts_of(run, "explain", model, fruit, "--rows", "1")["rows"][0]
    fitted = suffice.load(model)
    c = list(fitted.classes_).index(facts["prediction"])
    expected = fitted.predict_proba_interval(str(fruit))[0, c]
    assert facts["interval"] == pytest.approx(expected.tolist(), rel=1e-12)
