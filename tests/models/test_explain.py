"""What columns add to the answers of linear models: it adds up, and means add nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import suffice
from suffice.errors import DataError, ParameterError
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge

RANDOM = np.random.default_rng(3)
N = 200
FRAME = pd.DataFrame(
    {
        "a": RANDOM.normal(size=N),
        "colour": RANDOM.choice(["red", "green", "blue"], N),
        "b": RANDOM.integers(0, 9, N),
    }
)
PRICE = 2 * FRAME.a - FRAME.b + (FRAME.colour == "red") + RANDOM.normal(size=N)
KIND = np.where(PRICE > 0, "dear", np.where(PRICE > -4, "fair", "cheap"))

NUMBERS: list[Any] = [
    LinearRegression(),
    LinearRegression(fit_intercept=False),
    Ridge(alpha=3.0),
    LinearRegression(solver="gradient"),
]


@pytest.mark.parametrize("model", NUMBERS, ids=str)
def test_effects_add_up_to_the_prediction(model: Any) -> None:
    model.fit(FRAME, PRICE)
    found = model.explain(FRAME)
    assert found.columns == ("a", "colour", "b")
    np.testing.assert_allclose(found.predictions[:, 0], model.predict(FRAME), atol=1e-11)


def test_effects_are_coefficients_times_deviations() -> None:
    model = LinearRegression().fit(FRAME, PRICE)
    effect = model.explain(FRAME).contributions[:, :, 0]
    terms = dict(zip(model.design_.terms, model.coef_, strict=True))
    np.testing.assert_allclose(effect[:, 0], terms["a"] * (FRAME.a - FRAME.a.mean()), atol=1e-13)
    indicators = pd.get_dummies(FRAME.colour, dtype=float)[["green", "red"]]
    expected = (indicators - indicators.mean()) @ [terms["colour[green]"], terms["colour[red]"]]
    np.testing.assert_allclose(effect[:, 1], expected, atol=1e-13)
    np.testing.assert_allclose(effect.mean(axis=0), 0.0, atol=1e-13)


def test_of_several_targets() -> None:
    y = np.column_stack([PRICE, FRAME.b * 2.0])
    model = LinearRegression().fit(FRAME[["a", "b"]].to_numpy(), y)
    found = model.explain(FRAME[["a", "b"]].to_numpy())
    assert found.contributions.shape == (N, 2, 2)
    np.testing.assert_allclose(found.contributions[:, 0, 1], 0.0, atol=1e-12)


@pytest.mark.parametrize("labels", [KIND, KIND == "dear"], ids=["three", "two"])
def test_evidence_of_a_logistic_regression_adds_up(labels: Any) -> None:
    model = LogisticRegression().fit(FRAME, labels)
    found = model.explain(FRAME)
    np.testing.assert_allclose(found.probabilities, model.predict_proba(FRAME), atol=1e-14)
    start, columns = found.log_odds(1, against=0)
    odds = np.diff(model.predict_log_proba(FRAME)[:, :2])[:, 0]
    np.testing.assert_allclose(start + columns.sum(axis=1), odds, rtol=1e-10)
    np.testing.assert_allclose(columns.mean(axis=0), 0.0, atol=1e-12)
    assert "average row" in repr(found)


def test_rows_without_an_answer_have_no_explanation() -> None:
    lacking = FRAME.head(2).assign(a=[1.0, None])
    for model in (LinearRegression().fit(FRAME, PRICE), LogisticRegression().fit(FRAME, KIND)):
        with pytest.raises(DataError, match="'a'"):
            model.explain(lacking)
    sparse = csr_array(np.eye(4))
    with pytest.raises(ParameterError, match="sparse rows"):
        LogisticRegression().fit(sparse, [0, 1, 0, 1]).explain(sparse)


def test_a_loaded_model_says_the_same(tmp_path: Path) -> None:
    for model in (LinearRegression().fit(FRAME, PRICE), LogisticRegression().fit(FRAME, KIND)):
        model.save(tmp_path / "m.suffice")
        again: Any = suffice.load(tmp_path / "m.suffice")
        np.testing.assert_array_equal(
            again.explain(FRAME).contributions, model.explain(FRAME).contributions
        )
