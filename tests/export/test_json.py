"""JSON: a program that knows only the table of `docs/export.md` computes the same."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes
from suffice.errors import ParameterError
from suffice.export import to_json

from .conftest import ALL_NAIVE_BAYES


def _log(value: Any) -> float:
    return -math.inf if value == "impossible" else value


def evaluate(node: Any, row: dict[str, Any]) -> float:
    """An expression, for a row without missing cells in its columns."""
    match node:
        case "impossible":
            return -math.inf
        case int() | float():
            return node
        case {"above": threshold, "cell": name}:
            return _log(node["then"] if row[name] > threshold else node["otherwise"])
        case {"steps": name, "starts": starts, "values": values}:
            return _log(values[sum(row[name] >= start for start in starts)])
        case {"cell": name}:
            return row[name]
        case {"sum": terms}:
            return sum(evaluate(term, row) for term in terms)
        case {"product": [left, right]}:
            return evaluate(left, row) * evaluate(right, row)
        case {"quotient": [left, right]}:
            return evaluate(left, row) / evaluate(right, row)
        case {"square": of}:
            return evaluate(of, row) ** 2
        case {"log": of}:
            return math.log(evaluate(of, row))
        case {"log1p": of}:
            return math.log1p(evaluate(of, row))
        case {"choice": name, "cases": cases}:
            found = [number for value, number in cases if value == row[name]]
            return _log(found[0] if found else node["otherwise"])
    raise AssertionError(node)


def scores(facts: dict[str, Any], row: dict[str, Any]) -> list[float]:
    total = [_log(output["start"]) for output in facts["outputs"]]
    for term in facts["terms"]:
        if any(row[name] is None for name in term["columns"]):
            assert term["missing"] == "nothing"
            continue
        for c, node in enumerate(term["by_output"]):
            total[c] += evaluate(node, row)
    return total


def plain(rows: pd.DataFrame) -> list[dict[str, Any]]:
    return rows.astype(object).where(rows.notna(), None).to_dict("records")


@pytest.mark.parametrize("name", ALL_NAIVE_BAYES)
def test_naive_bayes(naive_bayes: Any, holes: pd.DataFrame, name: str) -> None:
    model = naive_bayes[name]
    facts = json.loads(to_json(model))
    rows = holes.head(300)
    found = np.array([scores(facts, row) for row in plain(rows)])
    expected = model.predict_joint_log_proba(rows)
    possible = np.isfinite(expected).any(axis=1)
    best = expected.argmax(axis=1)[possible]
    place = np.arange(possible.sum()), best
    a, b = found[possible], expected[possible]
    np.testing.assert_allclose(a - a[place][:, None], b - b[place][:, None], atol=1e-10)
    assert (np.isneginf(found).all(axis=1) == ~possible).all()


@pytest.mark.parametrize("name", ["lda", "qda", "logistic", "logistic of two"])
def test_complete_rows(complete_models: Any, complete: pd.DataFrame, name: str) -> None:
    model = complete_models[name]
    _has_probabilities_of(model, complete[list(model.feature_names_in_)].head(300))


def test_bins(of_bins: Any, holes: pd.DataFrame) -> None:
    _has_probabilities_of(of_bins, holes[list(of_bins.feature_names_in_)].head(300))


def _has_probabilities_of(model: Any, rows: pd.DataFrame) -> None:
    facts = json.loads(to_json(model))
    s = np.array([scores(facts, row) for row in plain(rows)])
    p = np.exp(s - s.max(axis=1)[:, None])
    np.testing.assert_allclose(
        p / p.sum(axis=1)[:, None], model.predict_proba(rows), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", ["linear", "ridge"])
def test_regression(complete_models: Any, complete: pd.DataFrame, name: str) -> None:
    model = complete_models[name]
    facts = json.loads(to_json(model))
    rows = complete[list(model.feature_names_in_)].head(300)
    found = [scores(facts, row)[0] for row in plain(rows)]
    np.testing.assert_allclose(found, model.predict(rows), rtol=1e-9)


def test_the_same_rows_give_the_same_text(training: pd.DataFrame) -> None:
    one = NaiveBayes.textbook().fit(training, "y")
    other = NaiveBayes.textbook().fit(training.iloc[::-1], "y")
    assert to_json(one) == to_json(other)


def test_what_is_no_model_is_refused() -> None:
    with pytest.raises(ParameterError, match="a NaiveBayes cannot be exported"):
        to_json(NaiveBayes.textbook())
