"""An evaluation keeps its digits where nearly every answer is right."""

import re

import numpy as np
import pytest
from sklearn import metrics
from sklearn.metrics import (
    average_precision_score,
    balanced_accuracy_score,
    f1_score,
    roc_auc_score,
)

import suffice
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import GaussianNB, NaiveBayes


def test_the_error_is_the_weight_of_the_errors() -> None:
    model = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], ["a", "a", "b", "b"])
    found = model.evaluate([[-1.0], [1.0], [2.0]], ["a", "b", "a"], [3e17, 1e18, 1.0])
    assert found.accuracy == 1
    assert found.error == pytest.approx(1 / 1.3e18, rel=1e-15)
    empty = found - found
    assert np.isnan(empty.error)


def test_scores_of_classes_are_those_of_scikit_learn() -> None:
    random = np.random.default_rng(5)
    y = random.choice(["a", "b", "c"], 400, p=[0.7, 0.2, 0.1])
    x = random.normal(size=(400, 3)) + (y == "b")[:, None] - 0.5 * (y == "c")[:, None]
    weights = random.integers(1, 4, 400).astype(float)
    model = GaussianNB().fit(x[:200], y[:200])
    x, y, weights = x[200:], y[200:], weights[200:]
    found, predicted = model.evaluate(x, y, weights), model.predict(x)
    assert found.balanced_accuracy == pytest.approx(
        balanced_accuracy_score(y, predicted, sample_weight=weights), rel=1e-14
    )
    np.testing.assert_allclose(
        found.f1, f1_score(y, predicted, average=None, sample_weight=weights), rtol=1e-14
    )
    p = model.predict_proba(x).max(axis=1)
    error = 0.0
    for low in np.arange(10) / 10:
        rows = (p >= low) & ((p < low + 0.1) | (low == 0.9))
        w = weights[rows]
        error += abs((w * p[rows]).sum() - (w * (predicted == y)[rows]).sum())
    assert found.calibration_error == pytest.approx(error / weights.sum(), rel=1e-12)
    halves = model.evaluate(x[:70], y[:70], weights[:70]) + model.evaluate(
        x[70:], y[70:], weights[70:]
    )
    assert halves.reliability == found.reliability


def test_a_class_without_rows_has_no_part_in_the_mean() -> None:
    model = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], ["a", "a", "b", "b"])
    found = model.evaluate([[-1.0], [-2.0], [1.5]], ["a", "a", "a"])
    assert found.balanced_accuracy == pytest.approx(2 / 3)


def test_rows_are_ranked_by_their_log_odds() -> None:
    random = np.random.default_rng(6)
    y = random.choice(["a", "b", "c"], 300)
    x = random.normal(size=(300, 2)) + (y == "b")[:, None] - (y == "c")[:, None]
    weights = random.integers(1, 4, 300).astype(float)
    model = GaussianNB().fit(x[:150], y[:150])
    found = model.evaluate(x[150:], y[150:], weights[150:])
    p = model.predict_proba(x[150:])
    assert found.roc_area.value == pytest.approx(
        roc_auc_score(y[150:], p, sample_weight=weights[150:], multi_class="ovr"), rel=1e-13
    )
    two = y != "c"
    model = GaussianNB().fit(x[two][:80], y[two][:80])
    found = model.evaluate(x[two][80:], y[two][80:])
    odds = model.predict_log_proba(x[two][80:]) @ [-1.0, 1.0]
    truth = y[two][80:] == "b"
    assert found.roc_area.value == pytest.approx(roc_auc_score(truth, odds), rel=1e-14)
    assert found.average_precision.value == pytest.approx(
        average_precision_score(truth, odds), rel=1e-14
    )
    part = model.evaluate(x[two][80:120], y[two][80:120])
    rest = model.evaluate(x[two][120:], y[two][120:])
    assert (part + rest).roc_area == found.roc_area
    assert (found - rest).average_precision == part.average_precision


@pytest.mark.parametrize(
    "estimator",
    [NaiveBayes, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis, LogisticRegression],
)
def test_costs_move_the_answers(estimator, tmp_path) -> None:
    random = np.random.default_rng(7)
    y = np.arange(200) % 3
    x = random.normal(size=(200, 2)) + y[:, None]
    costs = [[0, 1, 2], [5, 0, 1], [9, 3, 0]]
    model = estimator(costs=costs).fit(x, y)
    p = model.predict_proba(x)
    best = (p @ np.array(costs)).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(x), best)
    assert (best != p.argmax(axis=1)).any()
    (table,) = model.predict_batches(x, proba=True)
    assert table.column("prediction").to_pylist() == best.tolist()
    assert table.column_names == ["prediction", "P(0)", "P(1)", "P(2)"]
    found = model.evaluate(x, y)
    assert found.accuracy == model.score(x, y) == np.mean(best == y)
    assert found.mean_cost(np.array(costs)) == pytest.approx(np.mean(np.array(costs)[y, best]))
    equal = model.evaluate(x, y, costs=1 - np.eye(3))
    assert equal.accuracy == np.mean(p.argmax(axis=1) == y)
    model.save(tmp_path / "m.suffice")
    np.testing.assert_array_equal(suffice.load(tmp_path / "m.suffice").predict(x), best)


@pytest.mark.parametrize("classes", ["ab", "abc"])
@pytest.mark.parametrize(
    "estimator", [GaussianNB, LinearDiscriminantAnalysis, LogisticRegression, NaiveBayes]
)
def test_a_label_that_was_not_learnt_is_an_error_of_infinite_loss(estimator, classes) -> None:
    random = np.random.default_rng(8)
    y = random.choice(list(classes), 120).astype(object)
    x = random.normal(size=(120, 2)) + (y == "b")[:, None]
    model, w = estimator().fit(x, y.tolist()), random.integers(1, 4, 120).astype(float)
    known, truth = w[5:].sum(), y.copy()
    truth[:5] = ["typo", "typo", "typo", "ab", "z"]
    predicted = model.predict(x)
    with pytest.warns(SufficeWarning, match=r"of class 'typo'.* which the model has not learnt"):
        found = model.evaluate(x, truth.tolist(), w)
    with pytest.warns(SufficeWarning, match="3 rows of class 'typo', .* counted as errors"):
        assert model.score(x, truth.tolist(), w) == found.accuracy
    assert found.accuracy == metrics.accuracy_score(truth, predicted, sample_weight=w)
    labels = sorted({*truth})
    assert list(found.classes) == labels
    np.testing.assert_array_equal(
        found.confusion.value,
        metrics.confusion_matrix(truth, predicted, labels=labels, sample_weight=w),
    )
    p, of = np.zeros((120, len(labels))), {label: i for i, label in enumerate(labels)}
    p[:, [of[c] for c in model.classes_]] = model.predict_proba(x)
    right = truth[:, None] == np.array(labels)
    assert found.brier == pytest.approx(np.average(((p - right) ** 2).sum(axis=1), weights=w))
    assert (found.log_loss, found.log_likelihood) == (np.inf, -np.inf)
    assert found.infinite_rows == {"ab": w[3], "typo": w[:3].sum(), "z": w[4]}
    assert re.search(r"log loss +∞", repr(found))
    rest = model.evaluate(x[5:], y[5:].tolist(), w[5:])
    assert found.log_loss_sum.value == pytest.approx(rest.log_loss * known)
    parts = [x[:2], truth[:2].tolist(), w[:2]], [x[2:], truth[2:].tolist(), w[2:]]
    with pytest.raises(DataError, match=r"'typo' was never seen in training; the model knows 'a'"):
        model.evaluate(*parts[0])
    with pytest.warns(SufficeWarning, match="which the model has not learnt"):
        second = model.evaluate(*parts[1])
    both = second + model.evaluate(x[5:], y[5:].tolist())
    assert both.weight == w[2:].sum() + 115


def test_of_many_classes_each_shows_what_it_is_taken_for() -> None:
    y = np.repeat(np.arange(12), 5)
    found = GaussianNB().fit(y[:, None] + np.linspace(-0.4, 0.4, 60)[:, None], y)
    shown = repr(found.evaluate(np.minimum(y, 10)[:, None], y))
    assert re.search(r"11 +5 +- +0.0 % +10 \(5\)", shown)


def test_costs_that_are_no_table() -> None:
    model = NaiveBayes.textbook(costs=[[0, 1]]).fit([[0.0], [1.0], [2.5]], ["a", "b", "b"])
    with pytest.raises(ParameterError, match="a cost is a number"):
        model.evaluate([[0.0]], ["a"], costs="much")
    with pytest.raises(ParameterError, match=r"costs has shape \(1, 2\); there are 2 classes"):
        model.predict([[0.0]])
    with pytest.raises(ParameterError, match=r"costs\[1\]\[0\]=-1.0; a cost is a finite number"):
        model.evaluate([[0.0]], ["a"], costs=[[0, 1], [-1, 0]])
