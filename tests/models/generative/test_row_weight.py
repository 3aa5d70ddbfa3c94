"""Weights of rows are relative where models are judged by rows that leave their sums."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import log_loss

import suffice
from suffice import AODE, LogisticRegression, NaiveBayes

Rows = tuple[pd.DataFrame, Any]


def mixed(n: int, rng: np.random.Generator) -> Rows:
    y = rng.integers(0, 2, n)
    size, price = rng.normal(size=n) + 0.7 * y, np.exp(rng.normal(size=n) + 0.4 * y)
    letter = np.array(list("pqrstuvw"))[rng.integers(0, 8, n)]
    return pd.DataFrame({"size": size, "price": price, "letter": letter}), y


def incomplete(n: int, rng: np.random.Generator) -> Rows:
    rows, y = mixed(n, rng)
    return rows.mask(rng.random(rows.shape) < 0.2), y


def numbers(n: int, rng: np.random.Generator) -> Rows:
    y = rng.integers(0, 3, n)
    x = rng.normal(size=(n, 5)) * (1 + 0.3 * y[:, None]) + 0.4 * y[:, None]
    return pd.DataFrame(x, columns=list("abcde")), y


def skewed(n: int, rng: np.random.Generator) -> Rows:
    y = rng.integers(0, 2, n)
    x = np.exp(1.5 * rng.normal(size=(n, 3)) + 0.3 * y[:, None])
    return pd.DataFrame(np.where(rng.random(x.shape) < 0.3, 0, x), columns=list("abc")), y


def categories(n: int, rng: np.random.Generator) -> Rows:
    y = rng.integers(0, 2, n)
    codes = np.minimum(rng.poisson(1 + 0.5 * y[:, None] * [0, 1, 2, 0], (n, 4)), 4)
    return pd.DataFrame(np.array(list("abcde"))[codes], columns=list("wxyz")), y


def answers(n: int, rng: np.random.Generator) -> Rows:
    """Eight different rows, each of them often."""
    y = rng.integers(0, 2, n)
    yes = rng.random((n, 3)) < 0.35 + 0.25 * y[:, None]
    return pd.DataFrame(np.where(yes, "often", "seldom"), columns=list("abc")), y


def whole(n: int, rng: np.random.Generator) -> Rows:
    y = rng.integers(0, 2, n)
    age = np.round(rng.normal(40 + 6 * y, 12, n)).astype(int)
    return pd.DataFrame({"age": age, "sex": np.array(["f", "m"])[rng.integers(0, 2, n)]}), y


def classes(n: int, rng: np.random.Generator) -> Rows:
    y = rng.integers(0, 12, n)
    centres = np.random.default_rng(5).normal(size=(12, 4)) * 1.5
    return pd.DataFrame(rng.normal(size=(n, 4)) + centres[y], columns=list("abcd")), y


def texts(n: int, rng: np.random.Generator) -> Rows:
    y = rng.integers(0, 2, n)
    words = np.array(["to", "be", "or", "not", "so"])
    notes = [" ".join(words[rng.integers(c, c + 4, 6)]) for c in y]
    return pd.DataFrame({"note": notes, "size": rng.normal(size=n) + y}), y


def flowers(n: int, rng: np.random.Generator) -> Rows:
    x, y = load_iris(return_X_y=True, as_frame=True)
    places = rng.permutation(len(y))[:n]
    return x.iloc[places].reset_index(drop=True), y.to_numpy()[places]


TABLES = [mixed, incomplete, numbers, skewed, categories, answers, whole, classes, flowers]
MODELS: dict[str, Callable[[], Any]] = {
    "naive Bayes": NaiveBayes,
    "columns that count once": lambda: NaiveBayes(calibration="none"),
    "aode": AODE,
}


def drawn(table: Callable[[int, np.random.Generator], Rows], n: int = 120) -> Rows:
    return table(n, np.random.default_rng(1))


def same(one: Any, other: Any, rows: pd.DataFrame) -> None:
    expected = one.predict_proba(rows)
    assert other.predict_proba(rows) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def taken(rows: Rows, places: Any) -> Rows:
    x, y = rows
    return x.iloc[places].reset_index(drop=True), y[places]


@pytest.mark.parametrize(
    ("name", "table"),
    [("naive Bayes", one) for one in TABLES]
    + [(name, one) for name in [*MODELS][1:] for one in (mixed, answers, classes)],
)
def test_a_factor_of_all_weights_and_copies_of_all_rows_change_no_answer(
    name: str, table: Callable[[int, np.random.Generator], Rows]
) -> None:
    x, y = drawn(table)
    new, _ = table(50, np.random.default_rng(2))
    fitted = MODELS[name]().fit(x, y)
    same(fitted, MODELS[name]().fit(x, y, np.full(len(y), 0.01)), new)
    places = np.random.default_rng(3).permutation(np.tile(np.arange(len(y)), 2))
    same(fitted, MODELS[name]().fit(*taken((x, y), places)), new)


def test_a_text_weighs_what_its_row_weighs() -> None:
    x, y = drawn(texts)
    options = {"families": {"note": "multinomial"}}
    fitted = NaiveBayes(**options).fit(x, y)
    same(fitted, NaiveBayes(**options).fit(x, y, np.full(len(y), 100.0)), x)
    same(fitted, NaiveBayes(**options).fit(*taken((x, y), np.tile(np.arange(len(y)), 2))), x)


@pytest.mark.parametrize("table", [mixed, answers, whole])
@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_a_whole_weight_is_as_many_rows(
    model: Any, table: Callable[[int, np.random.Generator], Rows]
) -> None:
    x, y = drawn(table)
    times = np.random.default_rng(4).integers(0, 4, len(y))
    repeated = model().fit(*taken((x, y), np.repeat(np.arange(len(y)), times)))
    weighted = model().fit(x, y, times)
    assert weighted.model_.row_weight == repeated.model_.row_weight
    same(repeated, weighted, x)


@pytest.mark.parametrize("table", [mixed, answers])
@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_weights_that_differ_are_relative_too(
    model: Any, table: Callable[[int, np.random.Generator], Rows]
) -> None:
    x, y = drawn(table)
    weights = np.random.default_rng(5).lognormal(0.0, 0.7, len(y))
    fitted = model().fit(x, y, weights)
    other = model().fit(x, y, 100 * weights)
    assert other.model_.row_weight == pytest.approx(100 * fitted.model_.row_weight)
    same(fitted, other, x)


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
@pytest.mark.parametrize("values", [12, 3])
def test_copies_of_fractional_weights_leave_together(model: Any, values: int) -> None:
    """Sums of 0.1, 0.3 and 0.7 are rounded, and classes and categories of few rows leave whole."""
    rng = np.random.default_rng(6)
    letters = np.array(list("abcdefghijkl")[:values])
    x = pd.DataFrame({name: letters[rng.integers(0, values, 80)] for name in "pqrst"})
    rows = x, np.repeat(np.arange(16), 5)
    x, y = taken(rows, np.repeat(np.arange(80), rng.integers(1, 7, 80)))
    times = rng.choice([1.0, 3.0, 7.0], len(y))
    fitted, other = model().fit(x, y, times), model().fit(x, y, times / 10)
    same(fitted, other, x)
    late = np.arange(len(y)) % 3 > 0
    gone, weights = (x[~late], y[~late]), times[~late] / 10
    other.forget(*gone, weights).partial_fit(*gone, sample_weight=weights)
    same(fitted, other, x)


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_unequal_copies_of_rows_are_no_evidence(model: Any) -> None:
    x, y = drawn(mixed, 300)
    new, labels = mixed(2000, np.random.default_rng(2))
    expected = log_loss(labels, model().fit(x, y).predict_proba(new))
    places = np.random.default_rng(3).integers(0, 300, 3000)  # about ten times each
    found = log_loss(labels, model().fit(*taken((x, y), places)).predict_proba(new))
    assert found == pytest.approx(expected, abs=0.05)


@pytest.mark.parametrize("model", [NaiveBayes, AODE])
def test_copies_are_known_wherever_they_come_from(model: Any, tmp_path: Path) -> None:
    x, y = drawn(mixed)
    bins = {"bins": model().fit(x, y).bins_} if model is AODE else {}
    fitted = model(**bins).fit(x, y)
    same(fitted, model(**bins).partial_fit(x, y).partial_fit(x, y), x)
    same(fitted, model(**bins).fit(x, y).merge(model(**bins).fit(x, y)), x)
    more = taken((x, y), [*range(len(y)), *range(30)])
    same(fitted, model(**bins).fit(*more).forget(x[:30], y[:30]), x)
    paths = [tmp_path / "north.csv", tmp_path / "south.csv"]
    for path in paths:
        x.assign(kind=y).to_csv(path, index=False)
    one, both = (model(**bins).fit(given, "kind") for given in (paths[:1], paths))
    assert (one.model_.row_weight, both.model_.row_weight) == (1.0, 2.0)
    same(one, both, x)


def test_a_file_holds_what_a_row_weighs(tmp_path: Path) -> None:
    x, y = drawn(mixed)
    weights = np.full(len(y), 100.0)
    for options in ({}, {"calibration": "none"}):
        model = NaiveBayes(**options).fit(x, y, weights)
        model.save(tmp_path / "model")
        again = suffice.load(tmp_path / "model")
        assert again.model_.row_weight == model.model_.row_weight == 100.0
        assert again.class_count_.tolist() == (100.0 * np.bincount(y)).tolist()
        assert (again.predict_proba(x) == model.predict_proba(x)).all()


def test_calibrate_takes_rows_out_with_all_their_weight() -> None:
    x, y = drawn(mixed)
    new, labels = mixed(200, np.random.default_rng(2))
    plain = NaiveBayes().fit(x, y)
    heavy = NaiveBayes().fit(x, y, np.full(len(y), 100.0))
    same(plain, heavy.calibrate(x, y, np.full(len(y), 100.0)), new)
    plain.calibrate(new, labels, learnt=False)
    same(plain, heavy.calibrate(new, labels, np.full(200, 0.25), learnt=False), new)


def test_sets_and_intervals_are_those_of_the_rows() -> None:
    x, y = drawn(mixed)
    plain = NaiveBayes().fit(x, y)
    heavy = NaiveBayes().fit(x, y, np.full(len(y), 100.0))
    assert (plain.predict_set(x) == heavy.predict_set(x)).all()
    expected = plain.predict_proba_interval(x)
    assert heavy.predict_proba_interval(x) == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_a_linear_model_cuts_numbers_by_whole_rows() -> None:
    x, y = drawn(mixed)
    model = LogisticRegression(numbers="bins").fit(x, y)
    heavy = LogisticRegression(numbers="bins").fit(x, y, np.full(len(y), 100.0))
    twice = LogisticRegression(numbers="bins").fit(*taken((x, y), np.tile(np.arange(len(y)), 2)))
    assert heavy.terms_ == twice.terms_ == model.terms_
