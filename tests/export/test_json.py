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

from .conftest import ALL_NAIVE_BAYES, DATED, in_seconds


def _log(value: Any) -> float:
    return -math.inf if value == "impossible" else value


def evaluate(node: Any, row: dict[str, Any]) -> float:
    """An expression, for a row without missing cells in its columns."""
    match node:
        case "impossible":
            return -math.inf
        case int() | float():
            return node
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
    raise AssertionError(node)


def looked_up(term: dict[str, Any], row: dict[str, Any]) -> list[float]:
    cell = row[term["columns"][0]]
    if "starts" in term:
        found = term["table"][sum(cell >= start for start in term["starts"])]
    else:
        pairs = zip(term["values"], term["table"], strict=True)
        found = next((adds for value, adds in pairs if value == cell), term["others"])
    return list(map(_log, found))


def gaussian(of: dict[str, Any], row: dict[str, Any], k: int) -> np.ndarray:
    x = []
    for feature in of["features"]:
        name, value = feature if isinstance(feature, list) else (feature, None)
        cell = row[name]
        if name in of["values"]:
            cell = None if cell not in of["values"][name] else cell == value
        x.append(math.nan if cell is None else float(cell))
    known = np.flatnonzero(~np.isnan(x))
    if len(known) == len(x):
        form = of["complete"]
        psi, slope = np.array(x) - form["origin"], np.array(form["slope"])
        if form["whitening"] is None:
            return form["constant"] + slope @ psi
        return form["constant"] - ((form["whitening"] @ psi - slope) ** 2).sum(axis=1) / 2
    found, matrices = np.zeros(k), np.array(of["covariance"])[:, known][:, :, known]
    for c in range(k):
        rest = np.append(
            matrices[c % len(matrices)],
            [(np.array(x) - of["complete"]["origin"] - of["offset"][c])[known]],
            axis=0,
        )
        least = np.diagonal(rest) * 1e-13
        for j in range(len(known)):
            if rest[j, j] > least[j]:
                found[c] -= (rest[-1, j] ** 2 / rest[j, j] + math.log(2 * math.pi * rest[j, j])) / 2
                rest -= np.outer(rest[:, j], rest[j] / rest[j, j])
    return found


def pairs(of: dict[str, Any], row: dict[str, Any], names: list[str]) -> np.ndarray:
    ends = np.cumsum([0, *of["sizes"]])
    at = {}
    for j, (name, bins) in enumerate(zip(names, of["bins"], strict=True)):
        values = dict(map(tuple, bins.get("values", ())))
        if row[name] is not None and (values.get(row[name]) is not None or "starts" in bins):
            b = (
                sum(row[name] >= s for s in bins["starts"])
                if "starts" in bins
                else values[row[name]]
            )
            at[j] = ends[j] + b
    k, size = len(of["rows"]), ends[-1]
    table = np.zeros((k, size, size))
    table[:, *np.tril_indices(size)] = of["counts"]
    table = np.maximum(table, table.swapaxes(1, 2))
    alone, parents = table.diagonal(axis1=1, axis2=2), []
    for i, v in at.items():
        if alone[:, v].sum() >= 1:
            shown = alone[:, ends[i] : ends[i + 1]].sum() + 1
            log_p = np.log((alone[:, v] + 1 / (k * of["sizes"][i])) / shown)
            for j, w in at.items():
                both = table[:, v, ends[j] : ends[j + 1]].sum(axis=1)
                log_p += (j != i) * np.log((table[:, v, w] + 1 / of["sizes"][j]) / (both + 1))
            parents.append(log_p)
    if not parents:
        return np.zeros(k)
    mean = np.log(np.exp(np.array(parents) - np.max(parents)).mean(axis=0)) + np.max(parents)
    return mean - np.log(np.array(of["rows"]) / np.sum(of["rows"]))


def scores(facts: dict[str, Any], row: dict[str, Any]) -> np.ndarray:
    total = np.array([_log(output["start"]) for output in facts["outputs"]])
    for term in facts["terms"]:
        if "gaussian" in term:
            adds = gaussian(term["gaussian"], row, len(total))
        elif "pairs" in term:
            adds = pairs(term["pairs"], row, term["columns"])
        elif any(row[name] is None for name in term["columns"]):
            assert term["missing"] == "nothing"
            continue
        elif "table" in term:
            adds = looked_up(term, row)
        else:
            adds = [evaluate(node, row) for node in term["by_output"]]
        total += term["weight"] * np.array(adds)
    return total


def probabilities(facts: dict[str, Any], row: dict[str, Any]) -> np.ndarray:
    """The mean of what every member says."""
    found = 0.0
    for member in facts.get("members", [facts]):
        s = scores(member, row)
        p = np.exp(s - s.max()) if s.max() > -math.inf else [o["prior"] for o in member["outputs"]]
        found += member.get("share", 1.0) * (p / np.sum(p))
    return found


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


@pytest.mark.parametrize("name", ["lda", "qda", "joined", "logistic", "logistic of two"])
def test_complete_rows(complete_models: Any, complete: pd.DataFrame, name: str) -> None:
    model = complete_models[name]
    _has_probabilities_of(model, complete[list(model.feature_names_in_)].head(300))


def test_bins(of_bins: Any, holes: pd.DataFrame) -> None:
    _has_probabilities_of(of_bins, holes[list(of_bins.feature_names_in_)].head(300))


@pytest.mark.parametrize("name", DATED)
def test_dates(dated: Any, name: str) -> None:
    model, rows = dated[name]
    facts = json.loads(to_json(model))
    assert [column["kind"] for column in facts["columns"]][:3] == ["date", "date", "time"]
    asked = plain(in_seconds(rows))
    if name == "linear":
        found = [scores(facts, row)[0] for row in asked]
        np.testing.assert_allclose(found, model.predict(rows), rtol=1e-9)
    else:
        found = [probabilities(facts, row) for row in asked]
        np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=1e-12)


def _has_probabilities_of(model: Any, rows: pd.DataFrame) -> None:
    facts = json.loads(to_json(model))
    found = [probabilities(facts, row) for row in plain(rows)]
    np.testing.assert_allclose(found, model.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["whole", "gaps", "pairs"])
def test_averages(averages: Any, holes: pd.DataFrame, name: str) -> None:
    model = averages[name]
    rows = holes[list(model.feature_names_in_)].head(300)
    _has_probabilities_of(model, rows)
    facts = json.loads(to_json(model))
    assert [one["share"] for one in facts["members"]] == model.model_.shares.tolist()
    _has_probabilities_of(model.members_[0], rows)


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


def test_columns_whose_densities_are_not_compared() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(rng.normal(size=(100, 200))).rename(columns="x{}".format)
    rows.iloc[::7, 3] = np.nan
    model = NaiveBayes().fit(rows, rows["x0"].to_numpy() + rng.normal(size=100) > 0)
    assert {model.model_.parameters[0].chosen(j) for j in range(200)} >= {"", "kernel_density"}
    _has_probabilities_of(model, rows.head(20))


def test_a_class_without_events_is_impossible_after_one(eventless: Any) -> None:
    model, rows = eventless
    _has_probabilities_of(model, rows)
