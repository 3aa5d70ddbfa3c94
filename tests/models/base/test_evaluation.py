"""An evaluation keeps its digits where nearly every answer is right."""

import numpy as np
import pytest
from sklearn.metrics import balanced_accuracy_score, f1_score

from suffice.naive_bayes import GaussianNB


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
