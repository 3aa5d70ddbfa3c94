"""ONNX, run by onnxruntime: labels and probabilities are Python's."""

from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes
from suffice.errors import ParameterError
from suffice.export import log_joint

from .conftest import ALL_NAIVE_BAYES, in_seconds

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
to_onnx = import_module("suffice.export").to_onnx


def run(model: Any, rows: pd.DataFrame) -> list[Any]:
    session = onnxruntime.InferenceSession(
        to_onnx(model).SerializeToString(), providers=["CPUExecutionProvider"]
    )
    inputs = {}
    for column in log_joint(model).columns:
        cells = rows[column.name]
        if column.kind == "string":
            text = cells.astype(object).where(cells.notna(), "")
            inputs[column.name] = text.to_numpy(object)[:, None]
        else:
            inputs[column.name] = cells.astype("Float64").to_numpy(float, na_value=np.nan)[:, None]
    found: list[Any] = session.run(None, inputs)
    return found


@pytest.mark.parametrize("name", ALL_NAIVE_BAYES)
def test_naive_bayes(naive_bayes: Any, holes: pd.DataFrame, name: str) -> None:
    """10,000 rows with missing cells and unseen values."""
    model = naive_bayes[name]
    labels, probabilities = run(model, holes)
    assert probabilities.dtype == np.float64
    assert list(labels) == list(model.predict(holes))
    np.testing.assert_allclose(probabilities, model.predict_proba(holes), rtol=0, atol=1e-12)


TOGETHER = ["lda", "qda", "joined"]


@pytest.mark.parametrize("name", [*TOGETHER, "logistic", "logistic of two", "logistic of bins"])
def test_complete_rows(complete_models: Any, complete: pd.DataFrame, name: str) -> None:
    model = complete_models[name]
    rows = complete[list(model.feature_names_in_)].copy()
    expected, answers = model.predict_proba(rows), list(model.predict(rows))
    rows.iloc[7, 0] = np.nan
    labels, probabilities = run(model, rows)
    refused = [] if name in TOGETHER else [7]
    assert np.isnan(probabilities).all(axis=1).nonzero()[0].tolist() == refused
    known = np.arange(len(rows)) != 7
    assert list(labels[known]) == list(np.array(answers)[known])
    np.testing.assert_allclose(probabilities[known], expected[known], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["whole", "gaps", "pairs"])
def test_averages(averages: Any, holes: pd.DataFrame, name: str) -> None:
    model = averages[name]
    rows = holes[list(model.feature_names_in_)].head(300)
    labels, probabilities = run(model, rows)
    assert list(labels) == list(model.predict(rows))
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["naive bayes", "lda", "logistic of bins"])
def test_dates(dated: Any, name: str) -> None:
    model, rows = dated[name]
    _, probabilities = run(model, in_seconds(rows))
    np.testing.assert_allclose(probabilities, model.predict_proba(rows), rtol=0, atol=1e-12)


def test_bins(of_bins: Any, holes: pd.DataFrame) -> None:
    rows = holes[list(of_bins.feature_names_in_)]
    labels, probabilities = run(of_bins, rows)
    assert list(labels) == list(of_bins.predict(rows))
    np.testing.assert_allclose(probabilities, of_bins.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["linear", "ridge"])
def test_regression(complete_models: Any, complete: pd.DataFrame, name: str) -> None:
    model = complete_models[name]
    rows = complete[list(model.feature_names_in_)]
    (predictions,) = run(model, rows)
    np.testing.assert_allclose(predictions[:, 0], model.predict(rows), rtol=1e-9)


def test_an_impossible_row_gets_the_prior() -> None:
    rows = pd.DataFrame({"v": ["p", "q", "q"], "w": ["r", "s", "s"], "y": [0, 1, 1]})
    model = NaiveBayes.textbook(alpha=0.0, estimation="mle").fit(rows, "y")
    labels, probabilities = run(model, pd.DataFrame({"v": ["p"], "w": ["s"]}))
    assert labels.tolist() == [1]
    np.testing.assert_allclose(probabilities, [[1 / 3, 2 / 3]], rtol=1e-15)


def test_what_python_refuses_is_no_number() -> None:
    rows = pd.DataFrame({"n1": [1.0, 2.0, 4.0, 5.0], "y": ["a", "a", "b", "b"]})
    model = NaiveBayes.textbook().fit(rows, "y")
    _, probabilities = run(model, pd.DataFrame({"n1": [np.inf, 1e200, 3.0]}))
    assert np.isnan(probabilities).all(axis=1).tolist() == [True, True, False]


def test_whole_numbers_that_are_stored_as_doubles(stored_as_numbers: Any) -> None:
    model, rows, answers = stored_as_numbers
    np.testing.assert_allclose(run(model, rows)[1], answers, rtol=0, atol=1e-12)


def test_a_column_with_the_name_of_an_output_is_refused() -> None:
    rows = pd.DataFrame({"label": [1.0, 2.0, 4.0], "y": ["a", "b", "b"]})
    with pytest.raises(ParameterError, match="a column has the name 'label'"):
        to_onnx(NaiveBayes.textbook().fit(rows, "y"))


def test_the_empty_string_is_refused() -> None:
    rows = pd.DataFrame({"v": ["", "q", "q"], "y": ["a", "b", "b"]})
    with pytest.raises(ParameterError, match="column 'v' has the empty string as a value"):
        to_onnx(NaiveBayes.textbook().fit(rows, "y"))


def test_a_class_without_events_is_impossible_after_one(eventless: Any) -> None:
    model, rows = eventless
    np.testing.assert_allclose(run(model, rows)[1], model.predict_proba(rows), rtol=0, atol=1e-12)
