"""Models without what their files would tell about few rows."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import suffice
from suffice import (
    AODE,
    LinearDiscriminantAnalysis,
    LinearRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from suffice.errors import DataError, ForgetError, ParameterError, SufficeWarning
from suffice.families import JointTable
from suffice.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from suffice.privacy import audit, reduced
from suffice.statistics.value_grid import cell_bounds

STAYS = {"listed values", "same number", "few rows carry the sum"}
OF_PRODUCTS = {"rare value", "numbers of a rare value"}  # of numbers that are 0 or 1
KINDS = {"town": "categorical", "sick": "bernoulli", "note": "multinomial"}


def table(n: int, seed: int = 0, missing: float = 0.1) -> pa.Table:
    rng = np.random.default_rng(seed)
    y = rng.choice(["ill", "well", "dead"], n, p=[0.5, 0.47, 0.03])

    def holes(values: Any, kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind, mask=rng.random(n) < missing * rng.random())

    return pa.table(
        {
            "town": holes(rng.choice(list("abcdefgh"), n, p=2.0 ** -np.r_[1:8, 7]), pa.string()),
            "sick": holes(rng.random(n) < 0.1, pa.bool_()),
            "note": holes([f"good w{int(w)}" for w in rng.exponential(3, n)], pa.string()),
            "size": holes(rng.normal(size=n) * 9, pa.float64()),
            "year": holes(rng.normal(size=n) + 1e6, pa.float64()),
            "kind": pa.array(y),
        }
    )


MODELS: dict[str, Callable[[], Any]] = {
    "default": lambda: NaiveBayes(KINDS),
    "textbook": lambda: NaiveBayes.textbook(KINDS, estimation="mle"),
    "exact": lambda: NaiveBayes.textbook(KINDS, precision="exact"),
    "adaptive exact": lambda: NaiveBayes.textbook(KINDS, numbers="adaptive", precision="exact"),
    "joint": lambda: NaiveBayes.textbook({"note": "multinomial", ("town", "sick"): JointTable()}),
}


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(st.integers(0, 2**32 - 1), st.integers(40, 300), st.integers(2, 12))
def test_nothing_is_told_about_fewer_rows(name: str, seed: int, n: int, m: int) -> None:
    rows = table(n, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = MODELS[name]().fit(rows, "kind")
        found = reduced(model, m)
        assert {one.what for one in audit(found, m).findings} <= STAYS
        said = found.predict_log_proba(rows.drop(["kind"]))
    assert set(found.classes_) == {c for c, w in zip(*counted(rows), strict=True) if w >= m}
    assert not np.isnan(said).any()
    assert model.reader_.min_count == 0


@pytest.mark.parametrize(
    "make",
    [
        GaussianNB,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
        RegularizedDiscriminantAnalysis,
        BernoulliNB,
        lambda: BernoulliNB(binarize=None),
        MultinomialNB,
    ],
)
@settings(max_examples=5)
@given(st.integers(0, 2**32 - 1), st.integers(2, 12))
def test_nothing_of_numbers_is_told_about_fewer_rows(
    make: Callable[[], Any], seed: int, m: int
) -> None:
    rng = np.random.default_rng(seed)
    X = rng.poisson(1.0, (120, 3)).astype(float)
    y = np.r_[rng.integers(0, 2, 117), 2, 2, 2]
    model = make()
    if isinstance(model, BernoulliNB) and model.binarize is None:
        X = np.minimum(X, 1.0)
    if not isinstance(model, MultinomialNB):
        X[rng.random(X.shape) < 0.05] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        found = reduced(model.fit(X, y), m)
        stays = STAYS | (OF_PRODUCTS if "Discriminant" in type(model).__name__ else set())
        assert {one.what for one in audit(found, m).findings} <= stays
        assert np.isfinite(found.predict_proba(X)).all()
    assert len(found.classes_) == (3 if m <= 3 else 2)


@pytest.mark.parametrize("name", ["textbook", "exact", "adaptive exact", "joint"])
def test_what_is_of_one_row_at_least_is_all(name: str) -> None:
    rows = table(200)
    model = MODELS[name]().fit(rows, "kind")
    found = reduced(model, 1)
    assert found.statistic_ == model.statistic_
    asked = rows.drop(["kind"])
    assert_array_equal(found.predict_log_proba(asked), model.predict_log_proba(asked))


def test_answers_are_nearly_those_of_all_sums() -> None:
    rows = table(4_000).drop(["year"])
    model = NaiveBayes(KINDS).fit(rows, "kind")
    found = reduced(model, 10)
    asked = rows.drop(["kind"])
    assert found.column_weights_ == model.column_weights_
    apart = np.abs(found.predict_proba(asked) - model.predict_proba(asked)).max(axis=1)
    assert apart.mean() < 0.01
    assert audit(model, 10).findings


def test_weights_for_what_is_left() -> None:
    rows = table(500)
    found = reduced(NaiveBayes(KINDS).fit(rows, "kind"), 30).calibrate(rows, "kind")
    assert not found.calibration_.stale
    assert found.calibration_.after <= found.calibration_.before


def test_gaps_are_filled_in_proportion() -> None:
    x = [1.0, 3.0, 5.0, 7.0, None, 2.0, 2.0, 2.0, 2.0, 2.0]
    town = ["a", "a", "a", "b", "b", None, "a", "b", "b", "b"]
    rows = pa.table({"x": x, "town": town, "y": ["p"] * 5 + ["q"] * 5})
    found = reduced(NaiveBayes.textbook().fit(rows, "y"), 2).statistic_
    numbers, towns = found.blocks
    assert numbers.total.tolist() == [[5.0], [5.0]]  # one of p was missing
    assert numbers.mean.tolist() == [[4.0], [2.0]]
    assert_allclose(numbers.variance, [[5.0], [0.0]], rtol=1e-15)
    # Of q one was "a", which is left out; two are missing then.
    assert towns.count.value.tolist() == [[3.0, 2.0], [0.0, 3.0]]


def test_neighbouring_cells_are_put_together() -> None:
    x = np.r_[np.arange(10.0), np.arange(1.0, 8.0)][:, None]
    model = NaiveBayes.textbook(numbers="histogram").fit(x, [0] * 10 + [1] * 7)
    cells, count = reduced(model, 3).statistic_.blocks[0].bins.column(0)
    assert cell_bounds(cells)[0].tolist() == [2.0, 6.0]  # 0 to 3, and 4 to 9
    assert count.tolist() == [[4.0, 6.0], [3.0, 4.0]]


def test_a_file_says_so(tmp_path: Path) -> None:
    rows = table(200)
    model = NaiveBayes.textbook(KINDS).fit(rows, "kind")
    reduced(model, 5).save(tmp_path / "small")
    found = suffice.load(tmp_path / "small")
    assert found.reader_.min_count == 5
    with pytest.raises(ForgetError, match="sums about fewer than 5 rows were left out"):
        found.forget(rows, "kind")
    with pytest.warns(SufficeWarning, match="not that of all rows"):
        model.merge(found)
    assert model.reader_.min_count == 5
    found.partial_fit(rows, "kind")
    assert found.reader_.min_count == 5
    assert reduced(found, 2).reader_.min_count == 5
    assert found.fit(rows, "kind").reader_.min_count == 0


def test_what_cannot_be_reduced() -> None:
    rows = table(60).select(["size", "kind"])
    model = NaiveBayes.textbook().fit(rows, "kind")
    with pytest.raises(ParameterError, match="min_count=0; it is a number of rows, above 0"):
        reduced(model, 0)
    with pytest.raises(DataError, match="no class of 3 has 1000 rows"):
        reduced(model, 1000)
    line = LinearRegression().fit([[1.0], [2.0], [4.0]], [1.0, 2.0, 3.0])
    with pytest.raises(ParameterError, match="no naive Bayes or discriminant model"):
        reduced(line)
    pairs = AODE().fit(rows, "kind")
    with pytest.raises(ParameterError, match="no rule says how these are reduced"):
        reduced(pairs, 2)
    stream = GaussianNB()
    for start in (0, 30):
        stream.partial_fit(np.arange(30.0)[:, None] + start, np.arange(30) % 2, window=2)
    with pytest.raises(ParameterError, match="it sees through a window"):
        reduced(stream, 2)


def counted(rows: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    return np.unique(rows["kind"].to_numpy(zero_copy_only=False), return_counts=True)
