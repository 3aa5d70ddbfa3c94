"""Columns most of whose values no row of the fit showed are named, once a call."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import (
    AODE,
    AutoClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
)
from suffice.errors import SufficeWarning

N = 120
RNG = np.random.default_rng(1)
Y = np.where(RNG.random(N) < 0.5, "a", "b")
HIT = np.where(RNG.random(N) < np.where(Y == "a", 0.8, 0.2), "GOOD", "POOR")
SIZE = RNG.normal(size=N) + (Y == "a")
ROWS = pd.DataFrame({"hit": HIT, "size": SIZE, "y": Y})
CHANGED = ROWS.assign(hit=ROWS["hit"].str.capitalize())
TARGET = ROWS.assign(y=SIZE + (HIT == "GOOD") + RNG.normal(size=N))


def said(call: Any, *args: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call(*args)
    return [str(one.message) for one in caught if issubclass(one.category, SufficeWarning)]


MODELS = {
    "naive Bayes": NaiveBayes(),
    "AODE": AODE(),
    "discriminants": LinearDiscriminantAnalysis(categorical=["hit"]),
    "logistic": LogisticRegression(unseen="reference"),
    "average": AutoClassifier(["naive-bayes", "lda"]),
}


@pytest.mark.parametrize("name", MODELS)
def test_every_answer_names_the_column_its_share_and_what_is_meant(name: str) -> None:
    model = MODELS[name].fit(ROWS, "y")
    features, labelled = CHANGED[["hit", "size"]], (CHANGED, "y")
    asked: list[tuple[Any, ...]] = [
        (model.predict, features),
        (model.predict_proba, features),
        (model.score, *labelled),
        (model.evaluate, *labelled),
        (model.explain, features),
        (lambda X: list(model.predict_batches(X)), features),
    ]
    for call, *args in asked:
        (sentence,) = said(call, *args)
        assert "'hit'" in sentence
        assert "120 of 120" in sentence
        assert "'GOOD'" in sentence or "'POOR'" in sentence
    assert not said(model.predict, ROWS[["hit", "size"]])


def test_a_linear_model_says_it_too() -> None:
    model = LinearRegression(unseen="reference").fit(TARGET, "y")
    changed = TARGET.assign(hit="yes")
    for call, *args in (
        (model.predict, changed[["hit", "size"]]),
        (model.score, changed, "y"),
        (model.explain, changed[["hit", "size"]]),
    ):
        (sentence,) = said(call, *args)
        assert "'hit'" in sentence
        assert "120 of 120" in sentence


def test_codes_of_arrays_and_binary_columns() -> None:
    x = np.stack([RNG.integers(0, 3, N), RNG.integers(0, 2, N)], axis=1)
    model = NaiveBayes("categorical").fit(x, Y)
    (sentence,) = said(model.predict, x + np.array([10, 0]))
    assert "'x0'" in sentence
    assert "'x1'" not in sentence
    two = pd.DataFrame({"flag": x[:, 1], "size": SIZE})
    (sentence,) = said(NaiveBayes().fit(two, Y).predict, two.assign(flag=two["flag"] + 5))
    assert "'flag'" in sentence


def test_a_text_without_a_known_word() -> None:
    words = {"a": "red green blue grey", "b": "cat dog cow hen"}
    texts = [f"{words[label]} number{i} word{i}" for i, label in enumerate(Y)]
    model = NaiveBayes(families={"text": "multinomial"}).fit({"text": texts, "size": SIZE}, Y)
    new = {"text": ["rot blau gelb lila"] * N, "size": SIZE}
    (sentence,) = said(model.predict, new)
    assert "'text'" in sentence
    assert "120 of 120" in sentence


def test_one_row_is_not_warned_of_but_explained() -> None:
    model = NaiveBayes().fit(ROWS, "y")
    few = CHANGED[["hit", "size"]]
    assert not said(model.predict, few.head(1))
    assert not said(model.predict, {"hit": "Good", "size": 0.0})
    assert len(said(model.predict, few.head(5))) == 1
    assert len(said(model.explain, few.head(1))) == 1


def test_a_half_that_is_unseen_is_not_most() -> None:
    half = ROWS.assign(hit=np.where(np.arange(N) % 2, "other", ROWS["hit"]))
    model = NaiveBayes().fit(ROWS, "y")
    assert not said(model.predict, half[["hit", "size"]])
    most = half.assign(hit=half["hit"].mask(np.arange(N) == 0, "other"))
    assert "61 of 120" in said(model.predict, most[["hit", "size"]])[0]


def test_learning_more_is_not_warned_of() -> None:
    assert not said(NaiveBayes().fit(ROWS, "y").partial_fit, CHANGED, "y")
