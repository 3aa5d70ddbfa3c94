"""Class weights change how often the classes occur, and nothing else."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import suffice
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import ParameterError
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
)

MODELS = [
    NaiveBayes,
    GaussianNB,
    BernoulliNB,
    CategoricalNB,
    MultinomialNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
]
LABELS = np.array(["a"] * 36 + ["b"] * 15 + ["c"] * 9)


def rows(seed=0):
    return np.random.default_rng(seed).integers(0, 4, (len(LABELS), 3)).astype(float)


@pytest.mark.parametrize("model", MODELS)
@settings(max_examples=15)
@given(st.fixed_dictionaries({c: st.floats(0.01, 100) for c in "abc"}))
def test_log_odds_move_by_the_logarithm_of_the_weights(model, weights):
    x = rows()
    plain, weighted = model().fit(x, LABELS), model(class_weight=weights).fit(x, LABELS)
    moved = plain.predict_joint_log_proba(x) + np.log([weights[c] for c in "abc"])
    moved -= moved[:, :1]
    found = weighted.predict_joint_log_proba(x)
    assert_allclose(found - found[:, :1], moved, rtol=1e-9, atol=1e-9)
    assert (weighted.class_count_ == plain.class_count_).all()


@pytest.mark.parametrize("model", MODELS)
def test_balanced_weights_give_a_uniform_prior_also_after_more_rows(model):
    x = rows()
    found = model(class_weight="balanced").fit(x, LABELS)
    assert_allclose(found.class_prior_, 1 / 3, rtol=1e-15)
    found.partial_fit(x[:4], LABELS[:4])
    assert_allclose(found.class_prior_, 1 / 3, rtol=1e-15)
    found.forget(x[-9:], LABELS[-9:])
    assert found.classes_.tolist() == ["a", "b"]
    assert_allclose(found.class_prior_, 1 / 2, rtol=1e-15)


def test_a_class_without_a_row_stays_impossible():
    found = GaussianNB(class_weight="balanced").partial_fit(
        [[0.0], [1.0], [3.0]], [0, 0, 1], [0, 1, 2]
    )
    assert_allclose(found.class_prior_, [0.5, 0.5, 0.0])


@pytest.mark.parametrize("weights", ["balanced", {"a": 0.5, "c": 3.0}], ids=str)
@pytest.mark.parametrize("model", [NaiveBayes, QuadraticDiscriminantAnalysis])
def test_weights_are_part_of_the_model_file(model, weights, tmp_path):
    found = model(class_weight=weights).fit(rows(), LABELS)
    found.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert loaded.class_weight == weights
    assert (loaded.predict_proba(rows(1)) == found.predict_proba(rows(1))).all()


def test_smoothed_priors_take_weights_before_the_pseudo_count():
    model = NaiveBayes.textbook(class_prior="smoothed", class_weight={"b": 4.0})
    found = model.fit(rows(), LABELS).class_prior_
    assert_allclose(found, np.array([37, 61, 10]) / 108)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"class_weight": "even"}, "class_weight='even'; it is 'balanced', or maps labels"),
        ({"class_weight": {"a": 0.0}}, "a weight is a finite number above 0"),
        ({"class_weight": {"a": 1, "d": 2}}, "class_weight has 'd'; the classes are 'a', 'b', 'c'"),
        (
            {"class_weight": "balanced", "priors": [0.2, 0.3, 0.5]},
            "class_weight='balanced'; it weighs the classes' numbers of rows, and priors is given",
        ),
    ],
    ids=str,
)
def test_weights_outside_their_rule(options, sentence):
    for learn in ("fit", "partial_fit"):
        with pytest.raises(ParameterError) as caught:
            getattr(GaussianNB(**options), learn)(rows(), LABELS)
        assert sentence in str(caught.value)


def test_scores_that_use_no_prior_have_no_weights():
    assert "class_weight" not in ComplementNB().get_params()
