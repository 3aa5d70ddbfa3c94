"""Numbers cut into bins as terms of a logistic regression, and terms of missing cells."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression as Judge
from tests.running import on

import suffice
from suffice import engine
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.linear_model import LogisticRegression
from suffice.model_selection import cross_validate

OPTIONS: dict[str, Any] = {"numbers": "bins", "incomplete": "indicator"}


def table(n: int, seed: int, holes: float = 0.1) -> tuple[pa.Table, np.ndarray]:
    """Numbers whose log-odds are no straight line, a skewed one, a category; some cells missing."""
    rng = np.random.default_rng(seed)
    a, b, hue = rng.normal(size=n), rng.exponential(size=n), rng.choice(["x", "y", "z"], n)
    score = 3.0 * (np.abs(a) < 0.7) + (b > 1.0) + (hue == "z") - 2.0
    y = np.where(rng.random(n) < 1.0 / (1.0 + np.exp(-score)), "yes", "no")
    mask = rng.random((n, 3)) < holes
    cells = zip(("a", "b", "hue"), (a, b, hue), mask.T, strict=True)
    return pa.table({name: pa.array(own, mask=empty) for name, own, empty in cells}), y


def explicit(model: LogisticRegression, rows: pa.Table) -> np.ndarray:
    """The columns that the terms stand for, made one by one."""
    design, found = model.model_.design, []
    for name in rows.column_names:
        cells = rows[name].to_pylist()
        if name in design.bins:
            cuts = design.bins[name].cuts.tolist()
            found += [[c is not None and c >= cut for c in cells] for cut in cuts]
        else:
            found += [[c == value for c in cells] for value in design.levels(name)[1:]]
        if name in design.missing:
            found.append([c is None for c in cells])
    return np.array(found, float).T


@given(seed=st.integers(0, 10_000), classes=st.sampled_from([2, 3]), c=st.sampled_from([0.3, 5.0]))
@settings(max_examples=8)
def test_as_scikit_learn_has_it_of_explicit_columns(seed: int, classes: int, c: float) -> None:
    rows, y = table(300, seed)
    if classes == 3:
        y = np.where(np.arange(300) % 5 == 0, "maybe", y)
    model = LogisticRegression(C=c, **OPTIONS).fit(rows, y)
    x = explicit(model, rows)
    assert x.shape[1] == len(model.terms_) - 1
    judge = Judge(C=c, solver="newton-cholesky", tol=1e-10).fit(x, y)
    np.testing.assert_allclose(model.coef_, judge.coef_, atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(rows), judge.predict_proba(x), atol=1e-6)


@given(st.randoms(use_true_random=False))
@settings(max_examples=5)
def test_bins_do_not_depend_on_order_parts_or_threads(rng: Any) -> None:
    rows, y = table(500, 3)
    order = list(range(500))
    rng.shuffle(order)
    whole = on(engine("local", threads=1), LogisticRegression(**OPTIONS)).fit(rows, y)
    shuffled = rows.take(order)
    cut = rng.randint(1, 499)
    parts = pa.concat_tables([shuffled[:cut], shuffled[cut:]])
    other = on(engine("local", threads=2), LogisticRegression(**OPTIONS)).fit(parts, y[order])
    assert other.model_.design == whole.model_.design
    np.testing.assert_allclose(other.coef_, whole.coef_, atol=1e-9)


def test_columns_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    seconds = 1.7e9 + rng.integers(0, 3_600, 500)
    y = (seconds - 1.7e9) // 600 % 2 == 0
    model = LogisticRegression(numbers="bins", C=100.0).fit({"at": seconds}, y)
    assert model.score({"at": seconds}, y) > 0.97
    assert model.terms_[1].startswith("at[>=170000")
    assert len(set(model.terms_)) == len(model.terms_) > 5


def test_of_arrays_sparse_rows_and_constants() -> None:
    from scipy.sparse import csr_array

    rng = np.random.default_rng(1)
    x = np.column_stack([rng.normal(size=200), np.full(200, 3.0), rng.poisson(1, 200)])
    y = np.abs(x[:, 0]) > 0.7
    model = LogisticRegression(numbers="bins").fit(x, y)
    assert not any(term.startswith("x1") for term in model.terms_)
    sparse = LogisticRegression(numbers="bins").fit(csr_array(x), y)
    np.testing.assert_allclose(sparse.coef_, model.coef_, atol=1e-9)
    np.testing.assert_array_equal(model.predict_proba(x[:1])[0], model.predict_proba(x)[0])
    with pytest.raises(SchemaError, match=r"1,001 columns, .* use numbers='linear'"):
        LogisticRegression(numbers="bins").fit(csr_array((200, 1_001)), y)


def test_contributions_add_up_and_a_missing_cell_has_its_own() -> None:
    rows, y = table(400, 6)
    model = LogisticRegression(**OPTIONS).fit(rows, y)
    evidence = model.explain(rows[:50])
    np.testing.assert_allclose(evidence.probabilities, model.predict_proba(rows[:50]), atol=1e-12)
    assert evidence.columns == ("a", "b", "hue")
    empty = model.predict_proba({"a": [None], "b": [None], "hue": [None]})
    unknown = model.predict_proba({"a": [float("nan")], "b": [None], "hue": ["other"]})
    np.testing.assert_array_equal(empty, unknown)


def test_a_missing_cell_without_a_term() -> None:
    rows, y = table(400, 7, holes=0.0)
    model = LogisticRegression(**OPTIONS).fit(rows, y)
    assert not model.model_.design.missing
    with pytest.raises(DataError, match="column 'b', row 1"):
        model.predict({"a": [1.0, 1.0], "b": [2.0, None], "hue": ["x", "x"]})
    with pytest.raises(DataError, match="'other'; a category must be one of"):
        model.predict({"a": [1.0], "b": [2.0], "hue": ["other"]})
    with pytest.raises(DataError, match=r"column .a., row 0.*must be finite"):
        model.predict({"a": [np.inf], "b": [2.0], "hue": ["x"]})
    with pytest.raises(DataError, match=r"column .a., row 0.*must be below 1e150"):
        model.predict({"a": [-1e200], "b": [2.0], "hue": ["x"]})


def test_rows_left_out_do_not_decide_where_numbers_are_cut() -> None:
    rows, y = table(600, 8)
    complete = np.array([None not in row.values() for row in rows.to_pylist()])
    model = LogisticRegression(numbers="bins", incomplete="drop").fit(rows, y)
    other = LogisticRegression(numbers="bins").fit(rows.filter(complete), y[complete])
    assert model.model_.design == other.model_.design
    np.testing.assert_allclose(model.coef_, other.coef_, atol=1e-9)
    with pytest.raises(DataError, match=r"cells are missing .* or use incomplete='indicator'"):
        LogisticRegression(numbers="bins").fit(rows, y)


@pytest.mark.parametrize("incomplete", ["error", "drop", "indicator"])
def test_without_rows_the_fit_says_why(incomplete: Any) -> None:
    rows, y = table(50, 14)
    model = LogisticRegression(numbers="bins", incomplete=incomplete)
    with pytest.raises(DataError, match="there is no labelled row whose weight is not zero"):
        model.fit(rows.drop_columns(["hue"]), y, np.zeros(50))
    with pytest.raises(DataError, match="there is no labelled row whose weight is not zero"):
        model.fit(rows, np.full(50, None))  # the categories are looked at before
    a, b = np.arange(50.0), np.arange(50.0)
    a[::2], b[1::2] = np.nan, np.nan
    if incomplete == "drop":
        with pytest.raises(DataError, match=r"no labelled row is complete.* use incomplete='ind"):
            model.fit({"a": a, "b": b}, y)


UNSEEN = {"as they are": {}, "bins": {"numbers": "bins"}}


@pytest.mark.parametrize("options", UNSEEN.values(), ids=UNSEEN)
@pytest.mark.parametrize("shown", ["red", 2.5])
def test_a_column_that_only_rows_show_that_are_not_learnt_from(options: Any, shown: Any) -> None:
    late, y = np.full(20, None), np.array(["a", "b"] * 10, object)
    late[:4] = shown
    rows, some = {"size": np.arange(20.0), "late": late.tolist()}, y.copy()
    some[:4] = None
    weights = np.append(np.zeros(4), np.ones(16))
    for labels, weight, found in (
        (some, None, "labelled row"),
        (y, weights, "row whose weight is not zero"),
        (some, weights, "row whose weight is not zero"),
    ):
        with pytest.raises(DataError) as caught:
            LogisticRegression(**options).fit(rows, labels, weight)
        assert f"column 'late' has no value in any {found}" in str(caught.value)


def test_bins_are_learnt_from_training_rows_alone() -> None:
    rows, y = table(300, 9)
    folds = [(np.arange(0, 300, 2), np.arange(1, 300, 2))]
    learner = LogisticRegression(**OPTIONS)
    found = cross_validate(learner, rows, y, cv=folds, scoring="neg_log_loss")
    model = LogisticRegression(**OPTIONS).fit(rows.take(folds[0][0]), y[::2])
    truth = model.predict_proba(rows.take(folds[0][1]))[np.arange(150), (y[1::2] == "yes") * 1]
    assert found["test_score"][0] == pytest.approx(np.log(truth).mean(), abs=1e-12)


def test_beside_texts_orders_and_references(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    rows, y = table(300, 10)
    notes = [" ".join(rng.choice(["to", "be", "or", "not"], 5)) for _ in range(300)]
    rows = rows.append_column("note", pa.array(notes))
    rows = rows.append_column("size", pa.array(rng.choice(["S", "M", "L"], 300)))
    more: dict[str, Any] = {"ordered": {"size": ["S", "M", "L"]}, "reference": {"hue": "y"}}
    model = LogisticRegression(text=["note"], words="counted", **more, **OPTIONS).fit(rows, y)
    assert {"size[>=M]", "hue[x]", "hue[(missing)]", "note[be]"} <= set(model.terms_)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        suffice.load(tmp_path / "model").predict_proba(rows), model.predict_proba(rows)
    )


def test_without_a_penalty_there_is_inference() -> None:
    rows, y = table(800, 12)
    model = LogisticRegression(C=np.inf, **OPTIONS).fit(rows, y)
    assert len(model.summary(as_frame=True)) == len(model.terms_)
    ends, p = model.predict_proba_interval(rows[:20]), model.predict_proba(rows[:20])
    assert (ends[..., 0] < p).all()
    assert (p < ends[..., 1]).all()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"numbers": "cuts"}, "numbers is one of 'linear', 'bins'"),
        (
            {"incomplete": "indicator"},
            "a missing number has a term of its own where numbers are cut into bins; "
            "set numbers='bins'",
        ),
        (
            {"numbers": "bins", "formula": "a + b"},
            "a formula says what becomes of every number; leave one of them out",
        ),
    ],
)
def test_options_that_do_not_go_together(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError) as error:
        LogisticRegression(**options).fit(*table(50, 13))
    assert said in str(error.value)
