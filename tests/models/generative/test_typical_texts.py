"""How unlike the texts of the training rows a text is, among texts of as many words."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes
from suffice.errors import ParameterError
from suffice.naive_bayes import MultinomialNB

RNG = np.random.default_rng(3)
WORDS = {"spam": ["money", "prize", "call", "now"], "ham": ["lunch", "noon", "team", "call"]}
KINDS = ["spam", "ham"] * 40
NOTES = [
    " ".join(RNG.choice(WORDS[kind], 5, p=[0.4, 0.3, 0.2, 0.1])) + f" number{i}"
    for i, kind in enumerate(KINDS)
]
ROWS = pd.DataFrame({"note": NOTES, "size": RNG.normal(size=80), "kind": KINDS})


def exact(model: NaiveBayes, text: str) -> float:
    """By all texts of as many words."""
    (found,) = model.model_.parameters
    words = [found.events.codes[word] for word in text.split() if word in found.events.codes]
    theta = found.theta / found.theta.sum(axis=1, keepdims=True)
    every = np.array(list(product(range(theta.shape[1]), repeat=len(words))))
    total = 0.0
    posterior = model.predict_proba([{"note": text}])[0]
    for c, weight in enumerate(posterior):
        logs = np.log(theta[c])[every].sum(axis=1)
        own = np.log(theta[c])[words].sum()
        total += weight * np.exp(logs[logs <= own + 1e-9]).sum()
    return total


@pytest.fixture(scope="module")
def texts() -> NaiveBayes:
    return NaiveBayes.textbook().fit(ROWS[["note", "kind"]], "kind")


@pytest.mark.parametrize("text", ["money", "lunch call", "number3 number7", "noon prize", "now"])
def test_short_texts_are_compared_with_all_of_their_length(texts: NaiveBayes, text: str) -> None:
    found = texts.typicality([{"note": text}])
    assert found.probability[0] == pytest.approx(exact(texts, text), abs=5 * found.error[0] + 1e-3)


def test_texts_of_the_model_are_about_uniform(texts: NaiveBayes) -> None:
    (parameters,) = texts.model_.parameters
    words = np.array(parameters.events.values)
    theta = parameters.theta / parameters.theta.sum(axis=1, keepdims=True)
    drawn = [" ".join(RNG.choice(words, 200, p=theta[i % 2])) for i in range(300)]
    found = texts.typicality(pd.DataFrame({"note": drawn})).probability
    for level in (0.1, 0.5, 0.9):
        assert np.mean(found <= level) == pytest.approx(level, abs=5 * np.sqrt(0.25 / 300))


def test_strange_texts_are_improbable_and_unknown_words_counted(texts: NaiveBayes) -> None:
    rare = " ".join(f"number{i}" for i in range(30))
    rows = pd.DataFrame({"note": [rare, "money prize call", "xyz zyx money", None, ""]})
    found = texts.typicality(rows)
    assert found.probability[0] < 0.001 < 0.1 < found.probability[1]
    assert found.unseen.tolist() == [0, 0, 2, 0, 0]
    assert found.missing.tolist() == [0, 0, 0, 1, 0]
    assert found.probability[3:].tolist() == [1.0, 1.0]


def test_a_row_is_told_the_same_whatever_stands_beside_it() -> None:
    model = NaiveBayes.textbook().fit(ROWS, "kind")
    rows = ROWS.assign(
        note=[*NOTES[:40], *(note + " money" * i for i, note in enumerate(NOTES[:40]))]
    )
    every = model.typicality(rows, n_samples=500)
    for i in (0, 41, 70, 79):
        alone = model.typicality(rows[i : i + 1], n_samples=500)
        assert alone.probability[0] == every.probability[i]
        assert alone.error[0] == every.error[i]
    backwards = model.typicality(rows[::-1], n_samples=500)
    np.testing.assert_array_equal(backwards.probability[::-1], every.probability)


def test_a_number_beside_a_text_counts_too() -> None:
    model = NaiveBayes.textbook().fit(ROWS, "kind")
    note = NOTES[0]
    near, far = model.typicality(
        [{"note": note, "size": 0.0}, {"note": note, "size": 9.0}]
    ).probability
    assert far < 0.01 < near
    alone = model.typicality([{"note": None, "size": 0.5}]).probability
    assert alone == pytest.approx(
        NaiveBayes.textbook()
        .fit(ROWS[["size", "kind"]], "kind")
        .typicality([{"size": 0.5}])
        .probability,
        abs=0.03,
    )


def test_counts_of_events_are_refused_still() -> None:
    counts = RNG.poisson(3.0, (20, 4))
    model = MultinomialNB().fit(counts, np.arange(20) % 2)
    with pytest.raises(ParameterError, match="it scores events one by one"):
        model.typicality(counts)
