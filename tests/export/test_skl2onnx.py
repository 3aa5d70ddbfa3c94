"""Pipelines of scikit-learn that end in one of ours: converted by skl2onnx, run by onnxruntime."""

from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from suffice import NaiveBayes
from suffice.errors import ParameterError

skl2onnx = pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
registration = import_module("suffice.export.skl2onnx")
registration.register()

N = 2_000
rng = np.random.default_rng(0)
CODES = rng.integers(0, 3, N)
ROWS = pd.DataFrame(
    {"a": rng.normal(CODES, 1), "b": rng.normal(size=N), "s": rng.choice(list("xyz"), N)}
)


def pipeline(model: Any) -> Pipeline:
    encoder = OneHotEncoder(sparse_output=False, drop="first")
    steps = [("numbers", StandardScaler(), ["a", "b"]), ("strings", encoder, ["s"])]
    return make_pipeline(ColumnTransformer(steps), model)


def run(fitted: Pipeline, rows: pd.DataFrame) -> list[Any]:
    types = skl2onnx.common.data_types
    number, text = types.DoubleTensorType([None, 1]), types.StringTensorType([None, 1])
    converted = skl2onnx.to_onnx(
        fitted,
        initial_types=[("a", number), ("b", number), ("s", text)],
        target_opset={"": 17, "ai.onnx.ml": 3},
    )
    session = onnxruntime.InferenceSession(
        converted.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    found: list[Any] = session.run(None, {name: rows[[name]].to_numpy() for name in rows})
    return found


def made(module: str, name: str) -> Any:
    return getattr(import_module(module), name)()


@pytest.mark.parametrize("labels", [np.array(["u", "v", "w"]), np.array([4, 5, 6])])
@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("suffice.naive_bayes", "GaussianNB"),
        ("suffice.naive_bayes", "BernoulliNB"),
        ("suffice.naive_bayes", "NaiveBayes"),
        ("suffice.discriminant_analysis", "LinearDiscriminantAnalysis"),
        ("suffice.discriminant_analysis", "QuadraticDiscriminantAnalysis"),
        ("suffice.discriminant_analysis", "RegularizedDiscriminantAnalysis"),
        ("suffice.linear_model", "LogisticRegression"),
    ],
)
def test_classifiers(module: str, name: str, labels: Any) -> None:
    fitted = pipeline(made(module, name)).fit(ROWS, labels[CODES])
    found, probabilities = run(fitted, ROWS)
    assert list(found) == list(fitted.predict(ROWS))
    np.testing.assert_allclose(probabilities, fitted.predict_proba(ROWS), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["LinearRegression", "Ridge", "Lasso", "ElasticNet"])
def test_regressors(name: str) -> None:
    fitted = pipeline(made("suffice.linear_model", name)).fit(ROWS, 3 * ROWS["a"] + 100)
    (predictions,) = run(fitted, ROWS)
    np.testing.assert_allclose(predictions[:, 0], fitted.predict(ROWS), rtol=1e-12)


def test_missing_cells_go_through() -> None:
    fitted = pipeline(made("suffice.naive_bayes", "GaussianNB")).fit(ROWS, CODES)
    holed = ROWS.assign(a=ROWS["a"].where(rng.random(N) < 0.7))
    found, probabilities = run(fitted, holed)
    assert list(found) == list(fitted.predict(holed))
    np.testing.assert_allclose(probabilities, fitted.predict_proba(holed), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "said"),
    [("AODE", "counts pairs of columns"), ("AutoClassifier", "an AutoClassifier cannot be")],
)
def test_what_cannot_be_exported_is_refused_by_name(name: str, said: str) -> None:
    fitted = pipeline(made("suffice", name)).fit(ROWS.head(200), CODES[:200])
    with pytest.raises(ParameterError, match=said):
        run(fitted, ROWS)


def test_strings_are_refused() -> None:
    model = NaiveBayes.textbook().fit(ROWS, CODES)
    types = skl2onnx.common.data_types
    with pytest.raises(ParameterError, match="column 's' holds strings"):
        skl2onnx.to_onnx(model, initial_types=[("x", types.DoubleTensorType([None, 3]))])
