"""`NaiveBayes` of more columns than rows, of many classes, and of both."""

from time import process_time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import suffice
from suffice import NaiveBayes


def genes(n: int = 150, d: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Skewed columns that depend on each other, a few of which tell the class."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    x = rng.normal(size=(n, 20)) @ rng.normal(size=(20, d)) / 2 + rng.normal(size=(n, d))
    x[:, :40] += 0.7 * (2 * y[:, None] - 1) * rng.normal(size=40)
    return np.exp(x / 2 + rng.normal(5, 1, d)), y


def error_and_loss(model: NaiveBayes, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    p = model.predict_proba(x)
    own = np.clip(p[np.arange(len(y)), y], 1e-15, 1)
    return float((p.argmax(axis=1) != y).mean()), float(-np.log(own).mean())


def test_genes_are_told_apart_better_than_by_the_textbook_rule() -> None:
    x, y = genes()
    model, rule = NaiveBayes().fit(x[:100], y[:100]), NaiveBayes.textbook().fit(x[:100], y[:100])
    ours, theirs = error_and_loss(model, x[100:], y[100:]), error_and_loss(rule, x[100:], y[100:])
    assert ours[0] <= theirs[0]
    assert ours[1] < theirs[1]


@pytest.mark.parametrize(
    ("n", "d", "k"),
    [
        (300, 500, 10),
        pytest.param(100, 3_000, 2, marks=pytest.mark.exhaustive),
        pytest.param(5_000, 10, 200, marks=pytest.mark.exhaustive),
    ],
)
def test_a_fit_takes_about_a_second_besides_the_textbook_rule(n: int, d: int, k: int) -> None:
    rng = np.random.default_rng(0)
    y = np.resize(np.arange(k), n)
    x = rng.normal(size=(n, d)) + (np.arange(d) < 10) * y[:, None]
    start = process_time()
    NaiveBayes.textbook().fit(x, y)
    middle = process_time()
    NaiveBayes().fit(x, y)
    assert process_time() - middle < 3 * (middle - start) + 3  # 1 s alone on a machine


def test_weights_are_one_for_each_of_128_columns_and_one_for_the_rest() -> None:
    x, y = genes()
    model = NaiveBayes().fit(x, y).model_
    (weights,) = model.part_weights
    assert 2 <= len(np.unique(weights)) <= 129
    assert len(weights) == x.shape[1]


def test_order_units_files_and_rows_that_come_later_change_nothing(tmp_path) -> None:
    x, y = genes(80, 400)
    model = NaiveBayes().fit(x, y)
    order = np.random.default_rng(1).permutation(len(x))
    assert_array_equal(
        NaiveBayes().fit(x[order], y[order]).predict_proba(x), model.predict_proba(x)
    )
    moved = NaiveBayes().fit(x * 1024, y).predict_proba(x * 1024)
    assert_allclose(moved, model.predict_proba(x), rtol=1e-9)
    grown = NaiveBayes().partial_fit(x[:50], y[:50]).partial_fit(x[50:], y[50:])
    assert_array_equal(grown.predict_proba(x), model.predict_proba(x))
    model.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert_array_equal(loaded.predict_proba(x), model.predict_proba(x))


def test_many_classes_have_the_density_of_the_textbook() -> None:
    rng = np.random.default_rng(0)
    y = np.resize(np.arange(80), 800)
    x = y[:, None] + rng.normal(size=(800, 3))
    model = NaiveBayes(calibration="none").fit(x, y)
    plain = NaiveBayes(families="gaussian", calibration="none", estimation="bayes").fit(x, y)
    assert_array_equal(model.predict_proba(x), plain.predict_proba(x))
