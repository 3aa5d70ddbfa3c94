"""The average of several kinds of models, and how they are chosen."""

import re
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn.base import clone

import suffice
from suffice import AutoClassifier, read_table
from suffice.ensemble import candidates
from suffice.ensemble.auto import members, shares
from suffice.ensemble.candidates import CANDIDATES, Size, dealt, planned
from suffice.errors import DataError, ModelFileError, ParameterError
from suffice.models.estimator import entries_of
from suffice.persist import write_model

N = 120
TWO = ["lda", "qda"]
FOUR = ["naive-bayes", "logistic", "lda", "qda"]


def numbers(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, N)
    return rng.normal(size=(N, 3)) + y[:, None] * [1.0, 0.5, 0.0], y


def mixed(seed: int = 0, missing: float = 0.04) -> pa.Table:
    """Return a table of numbers and categories, of which some cells are missing."""
    x, y = numbers(seed)
    rng = np.random.default_rng(seed + 1)
    colour = np.where(rng.random(N) < 0.7, y, rng.integers(0, 3, N))
    gone = rng.random((2, N)) < missing / 2
    return pa.table(
        {
            "size": pa.array(x[:, 0], mask=gone[0]),
            "weight": x[:, 1],
            "colour": pa.array(np.array(["red", "green", "blue"])[colour], mask=gone[1]),
            "kind": np.array(["p", "q", "r"])[y],
        }
    )


def weighted_mean(model: AutoClassifier, said: list[np.ndarray]) -> np.ndarray:
    return np.average(said, axis=0, weights=model.model_.shares)


@pytest.fixture(scope="module")
def of_numbers() -> AutoClassifier:
    return AutoClassifier().fit(*numbers())


@pytest.fixture(scope="module")
def of_table() -> AutoClassifier:
    return AutoClassifier(FOUR).fit(mixed(), "kind")


def test_the_answer_is_the_mean_of_the_members(of_numbers: AutoClassifier) -> None:
    X, _ = numbers(1)
    mean = weighted_mean(of_numbers, [m.predict_proba(X) for m in of_numbers.members_])
    assert len(of_numbers.members_) == 3
    assert_allclose(of_numbers.predict_proba(X), mean, rtol=1e-12)
    assert_allclose(of_numbers.predict_log_proba(X), np.log(mean), rtol=1e-10)
    assert_array_equal(of_numbers.predict(X), of_numbers.classes_[mean.argmax(axis=1)])


def test_a_table_is_read_once_for_all_members(of_table: AutoClassifier) -> None:
    rows = mixed(2, missing=0.0).drop(["kind"])
    mean = weighted_mean(of_table, [m.predict_proba(rows) for m in of_table.members_])
    found = of_table.predict_proba(rows)
    assert len(of_table.members_) == 3
    assert_allclose(found, mean, rtol=1e-12)
    batches = [batch.drop(["prediction"]) for batch in of_table.predict_batches(rows, proba=True)]
    assert_array_equal(np.column_stack(pa.concat_tables(batches).columns), found)
    assert_array_equal(of_table.predict_proba(rows.to_pylist()[3]), found[3:4])


def test_many_rows_are_judged_in_part() -> None:
    y = np.arange(45_000) % 3
    folds = dealt(y, 0, 10)
    assert [len(test) for _, test in folds] == [4_500, 4_500]
    assert len(np.intersect1d(*(test for _, test in folds))) == 0
    assert all(len(train) == 40_500 for train, _ in folds)
    assert_array_equal(np.bincount(y[folds[0][1]]), 1_500)
    ((train, test),) = dealt(np.arange(600_000) % 3, 0, 10)
    assert (len(train), len(test)) == (200_000, 20_000)
    assert not len(np.intersect1d(train, test))


def test_what_a_file_holds(of_table: AutoClassifier, tmp_path: Path) -> None:
    rows = mixed(3)
    of_table.save(tmp_path / "auto.suffice")
    loaded: Any = suffice.load(tmp_path / "auto.suffice")
    assert_array_equal(loaded.predict_proba(rows), of_table.predict_proba(rows))
    assert repr(loaded.candidates_) == repr(of_table.candidates_)
    assert repr(loaded.evaluate(rows, "kind")) == repr(of_table.evaluate(rows, "kind"))
    assert loaded.classes_.tolist() == ["p", "q", "r"]
    loaded.save(tmp_path / "again.suffice")
    assert (tmp_path / "again.suffice").read_bytes() == (tmp_path / "auto.suffice").read_bytes()


def test_a_missing_cell_is_left_out_or_as_in_the_average_row(of_table: AutoClassifier) -> None:
    by_kind = {type(member).__name__: member for member in of_table.members_}
    logistic = by_kind["LogisticRegression"]
    rows = pa.table({"size": [1.0], "weight": pa.array([None], pa.float64()), "colour": ["violet"]})
    terms = dict(zip(logistic.terms_[1:], logistic.model_.centred.mean, strict=True))
    t = logistic.intercept_ + logistic.coef_ @ [
        1.0 if term == "size" else mean for term, mean in terms.items()
    ]
    average = np.exp(t) / np.exp(t).sum()
    said = {kind: m.predict_proba(rows)[0] for kind, m in by_kind.items() if m is not logistic}
    said["LogisticRegression"] = average
    expected = weighted_mean(of_table, [said[kind] for kind in by_kind])
    assert_allclose(of_table.predict_proba(rows)[0], expected, rtol=1e-12)


def test_a_cell_that_is_infinite_is_named_beside_one_that_is_missing() -> None:
    model = AutoClassifier(["logistic"]).fit(mixed(), "kind")
    rows = {"size": [1.0, None], "weight": [0.0, -np.inf], "colour": ["red", "red"]}
    with pytest.raises(DataError, match="column 'weight', row 1: -inf"):
        model.predict_proba(pa.table(rows))


def test_contributions_add_up_to_the_answer(of_table: AutoClassifier) -> None:
    rows = mixed(4, missing=0.3)
    evidence = of_table.explain(rows)
    assert evidence.columns == ("size", "weight", "colour")
    assert_allclose(evidence.probabilities, of_table.predict_proba(rows), rtol=1e-12)
    missing = rows["colour"].is_null().to_numpy()
    assert_allclose(evidence.contributions[missing, 2], 0.0, atol=1e-12)
    nothing = pa.table({name: pa.nulls(1, rows[name].type) for name in evidence.columns})
    assert_allclose(np.exp(evidence.log_prior), of_table.predict_proba(nothing)[0], rtol=1e-12)


def test_what_members_add_is_the_answer(of_numbers: AutoClassifier) -> None:
    rows = numbers(5)[0]
    found = of_numbers.explain(rows, by="members")
    assert found.columns == tuple(one.name for one in of_numbers.candidates_ if one.weight)
    after = of_numbers.predict_proba(rows)
    assert_allclose(found.log_joint, np.log(after), atol=1e-12)
    before = np.exp(found.log_prior)
    mean = (after - before) / (np.log(after) - found.log_prior)
    own = of_numbers.members_[0].predict_proba(rows)
    # What is left is P_m(c) before any cell, the same for all rows.
    change = found.contributions[:, 0] * mean / of_numbers.model_.shares[0]
    assert_allclose(own - change, np.broadcast_to((own - change)[0], own.shape), atol=1e-9)
    with pytest.raises(ParameterError, match="by='rows'"):
        of_numbers.explain(rows, by="rows")


def test_orders_of_explanation_are_the_columns_and_their_reverse() -> None:
    X, y = numbers()
    model = AutoClassifier(["qda", "logistic"]).fit(X[:, :2], y)

    def log_p(*cells: float) -> np.ndarray:
        said = []
        for member in model.members_:
            is_descent = hasattr(member, "coef_")
            mean = member.model_.centred.mean if is_descent else cells
            said.append(member.predict_proba([np.where(np.isnan(cells), mean, cells)]))
        return np.log(weighted_mean(model, said))[0]

    a, b = 0.7, -1.2
    nothing, first, second, both = (
        log_p(*cells) for cells in ((np.nan, np.nan), (a, np.nan), (np.nan, b), (a, b))
    )
    found = model.explain([[a, b]]).contributions[0]
    assert_allclose(found[0], (first - nothing + both - second) / 2, rtol=1e-10)
    assert_allclose(found[1], (both - first + second - nothing) / 2, rtol=1e-10)


def with_notes() -> pa.Table:
    """Return a table with a column of text, which discriminant analysis does not take."""
    notes = [f"red {i} blue green {i % 7}" for i in range(N)]
    return mixed(missing=0.0).append_column("note", pa.array(notes))


def test_a_candidate_that_cannot_learn_is_left_out() -> None:
    model = AutoClassifier(["naive-bayes", "lda", "qda"]).fit(with_notes(), "kind")
    refused = {one.name: one.refusal for one in model.candidates_ if one.refusal}
    assert set(refused) == {"lda", "qda"}
    assert "'note' holds text" in refused["lda"]
    *_, lda, qda = repr(model.candidates_).splitlines()
    assert lda == f"lda is left out: {refused['lda']}"
    assert qda == f"qda is left out: {refused['qda']}"


def test_columns_that_all_members_leave_out() -> None:
    table = mixed(missing=0.0).append_column("code", pa.array([f"c{i}" for i in range(N)]))
    with pytest.warns(UserWarning, match="'code'"):
        model = AutoClassifier(TWO).fit(table, "kind")
    other = table.drop(["code"])
    assert model.reader_.layout.ignored == ("code",)
    assert_array_equal(model.predict_proba(table), model.predict_proba(other))
    kept = AutoClassifier(["naive-bayes"], categorical=["code"]).fit(table, "kind")
    assert "code" in kept.reader_.layout.names
    chosen = AutoClassifier(TWO).fit(read_table(table, ignore=["code"]), "kind")
    assert_array_equal(chosen.predict_proba(other), model.predict_proba(other))


@pytest.mark.parametrize("in_memory", [True, False])
def test_strings_are_read_alike_beside_an_identifier(in_memory: bool, tmp_path: Path) -> None:
    """Labels that spell truth values stay strings; strings that spell numbers stay no integers."""
    rng = np.random.default_rng(3)
    x, digit = rng.normal(size=N), rng.integers(0, 6, N).astype(str)
    kind = np.where(x + rng.normal(size=N) > 0, "yes", "no")
    other = pa.table({"x": x, "digit": digit, "kind": kind})
    table = other.append_column("code", pa.array([f"c{i}" for i in range(N)]))
    pyarrow.parquet.write_table(table, path := tmp_path / "rows.parquet")
    with pytest.warns(UserWarning, match="'code'|'digit'"):
        model = AutoClassifier(["aode"]).fit(table if in_memory else path, "kind")
    with pytest.warns(UserWarning, match="'digit'"):
        expected = AutoClassifier(["aode"]).fit(other, "kind")
    assert model.classes_.tolist() == ["no", "yes"]
    assert_array_equal(model.predict_proba(table), expected.predict_proba(other))


def test_rows_that_can_be_read_once(tmp_path: Path) -> None:
    table = mixed()
    model = AutoClassifier(["lda"]).fit(table.to_reader(), "kind")
    expected = AutoClassifier(["lda"]).fit(table, "kind").predict_proba(table)
    assert_array_equal(model.predict_proba(table), expected)
    pyarrow.parquet.write_table(table, tmp_path / "rows.parquet")
    of_file = AutoClassifier(["lda"]).fit(tmp_path / "rows.parquet", "kind")
    assert_array_equal(of_file.predict_proba(table), expected)


def test_a_text_file_is_kept_or_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.csv"
    pyarrow.csv.write_csv(mixed(), path)
    table = suffice.read_csv(path, missing=["", "red"])
    kept = AutoClassifier(["lda", "logistic-bins"]).fit(table, "kind")
    monkeypatch.setattr("suffice.ensemble.auto.KEPT", -1)
    read = AutoClassifier(["lda", "logistic-bins"]).fit(table, "kind")
    assert_array_equal(kept.predict_proba(path), read.predict_proba(path))
    assert repr(kept.candidates_) == repr(read.candidates_)


def test_costs_decide_the_label(of_numbers: AutoClassifier) -> None:
    X, y = numbers(6)
    costs = [[0, 1, 9], [1, 0, 9], [1, 1, 0]]
    model = AutoClassifier(["lda"], costs=costs).fit(X, y)
    expected = (model.predict_proba(X) @ np.array(costs)).argmin(axis=1)
    assert_array_equal(model.predict(X), expected)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"candidates": ["lda", "forest"]}, "it is a list of some of 'naive-bayes', "),
        ({"candidates": "lda"}, "it is a list of some of"),
        ({"candidates": []}, "it is a list of some of"),
        ({"best": 0}, "best=0; it is a whole number, 1 or more"),
        ({"best": 1.5}, "best=1.5; it is a whole number"),
        ({"seconds": 0}, "seconds=0; it is a number above 0"),
    ],
)
def test_options_outside_their_rules(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(said)):
        AutoClassifier(**options).fit(*numbers())


def test_intervals_are_of_single_models(of_numbers: AutoClassifier) -> None:
    with pytest.raises(ParameterError, match="ask a member"):
        of_numbers.predict_proba_interval(numbers()[0])


def test_candidates_and_shares_rest_on_rows_that_were_not_learnt(
    of_numbers: AutoClassifier,
) -> None:
    """The folds fitted one by one, and another optimiser."""
    X, y = numbers()
    assert {one.name for one in of_numbers.candidates_} == set(CANDIDATES)
    able = [one.log_loss for one in of_numbers.candidates_ if one.refusal is None]
    assert able == sorted(able)
    judged = [one for one in of_numbers.candidates_ if one.weight]
    m = len(of_numbers.members_)
    found, right = np.zeros((len(y), m)), np.zeros((len(y), m), bool)
    for place, member in enumerate(of_numbers.members_):
        for learnt, asked in dealt(y, 0, 10):
            p = clone(member).fit(X[learnt], y[learnt]).predict_proba(X[asked])
            found[asked, place] = p[np.arange(len(asked)), y[asked]]
            right[asked, place] = p.argmax(axis=1) == y[asked]
    log_losses = [one.log_loss for one in judged]
    assert_allclose(log_losses, -np.log(found).mean(axis=0), rtol=1e-9)
    assert_allclose([one.error for one in judged], 1 - right.mean(axis=0), atol=1e-12)

    def loss(v: np.ndarray) -> float:
        return -np.log(found @ v).sum() - np.log(v).sum()

    whole = {"type": "eq", "fun": lambda v: v.sum() - 1}
    bounds = [(1e-6, 1)] * m
    best = minimize(loss, np.full(m, 1 / m), bounds=bounds, constraints=whole, tol=1e-12)
    assert_allclose(of_numbers.model_.shares, best.x, atol=1e-4)
    assert [one.weight for one in judged] == list(of_numbers.model_.shares)


def test_sets_rest_on_rows_that_members_had_not_learnt(tmp_path: Path) -> None:
    inside = []
    for seed in range(6):
        x, y = numbers(seed)
        new, truth = numbers(seed + 100)
        model = AutoClassifier(["lda"]).fit(x, y)
        assert model.doubts_ is not None
        assert model.doubts_.rows == N
        sets = model.predict_set(new, coverage=0.8)
        inside.append(sets[np.arange(N), truth].mean())
    assert abs(np.mean(inside) - 0.8) < 0.05  # the standard error is 0.02
    filled = model.predict_set(new, coverage=0.8, allow_empty=False)
    assert filled.any(axis=1).all()
    model.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert_array_equal(loaded.predict_set(new, coverage=0.8), sets)


def test_a_file_without_doubts_is_refused(of_table: AutoClassifier, tmp_path: Path) -> None:
    entries = entries_of(of_table)
    del entries["doubts"]
    types = of_table.kind.types
    write_model(tmp_path / "auto", "AutoClassifier", entries, types=types)
    with pytest.raises(ModelFileError, match="without the entry 'doubts'"):
        suffice.load(tmp_path / "auto")


def test_a_sparse_matrix_is_learnt_and_explained() -> None:
    rng = np.random.default_rng(0)
    x = csr_matrix(rng.poisson(0.7, (200, 4)).astype(float))
    y = x.toarray()[:, 0] > 0
    model = AutoClassifier(["logistic", "naive-bayes"]).fit(x, y)
    assert all(one.refusal is None and one.weight for one in model.candidates_)
    dense = AutoClassifier(["logistic"]).fit(x.toarray(), y)
    alone = AutoClassifier(["logistic"]).fit(x, y)
    assert_allclose(alone.candidates_[0].log_loss, dense.candidates_[0].log_loss, rtol=1e-6)
    told = model.explain(x[:5])
    sums, said = told.contributions.sum(axis=1) + told.log_prior, model.predict_log_proba(x[:5])
    assert_allclose(sums[:, 1] - sums[:, 0], said[:, 1] - said[:, 0], atol=1e-12)


def test_copies_of_a_row_are_in_one_fold() -> None:
    rng = np.random.default_rng(0)
    row = rng.permutation(np.tile(np.arange(60), 5))
    y = row % 3
    asked = [set(row[places]) for _, places in dealt(y, 0, 10, row)]
    assert sorted(number for fold in asked for number in fold) == list(range(60))
    apart = [test for _, test in dealt(y, 0, 10)]
    alone = [test for _, test in dealt(y, 0, 10, np.arange(300))]
    assert all((a == b).all() for a, b in zip(apart, alone, strict=True))


# -- which candidates are averaged, and with what shares


def answers(seed: int, n: int = 400) -> np.ndarray:
    """Probabilities of labels: three good candidates that agree, and one that knows other rows."""
    rng = np.random.default_rng(seed)
    easy = np.arange(n) < 0.7 * n
    good = np.where(easy, 0.9, 0.1)[:, None] * rng.uniform(0.999, 1.0, (n, 3))
    return np.log(np.column_stack([good, np.where(easy, 0.35, 0.6)]))


def of_set(log_p: np.ndarray, places: np.ndarray) -> float:
    v = shares(log_p[:, places], np.ones(len(log_p)))
    return np.log(np.exp(log_p[:, places]) @ v).mean()


@pytest.mark.parametrize("seed", range(2))
def test_a_candidate_that_knows_other_rows_stays(seed: int) -> None:
    log_p = answers(seed)
    places, v = members(log_p, np.ones(400), 2)
    assert log_p.mean(axis=0).argmin() == 3  # by itself it is the worst
    assert 3 in places
    found, best = of_set(log_p, places), max(of_set(log_p, np.array(s)) for s in PAIRS)
    assert found == pytest.approx(best, abs=2e-3)
    assert found > of_set(log_p, np.argsort(-log_p.mean(axis=0))[:2]) + 0.02
    np.testing.assert_allclose(v, shares(log_p[:, places], np.ones(400)), rtol=1e-12)


def test_a_candidate_that_is_too_dear_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(candidates, "SECONDS", 0.2)
    model = AutoClassifier(best=1).fit(*numbers())
    refused = {one.name: one.refusal for one in model.candidates_ if one.refusal}
    assert "would take about" in refused["aode"]
    assert set(refused) < set(CANDIDATES)


def test_a_time_limit_is_kept_and_fits_are_told() -> None:
    told: list[Any] = []
    with suffice.set_engine(progress=told.append):
        model = AutoClassifier(seconds=0.3).fit(*numbers())
    assert {one.unit for one in told} >= {"fits"}
    assert told[-1].fraction == 1
    late = [one.name for one in model.candidates_ if one.refusal]
    assert "would take about" in model.candidates_[-1].refusal
    names, folds = planned(None, Size(N, 3, 0, 0, 3), 3, 0.3)
    assert sorted([*names, *late]) == sorted(CANDIDATES)
    assert folds * sum(CANDIDATES[name].seconds(Size(N, 3, 0, 0, 3)) for name in names) <= 0.3


def test_the_best_single_model_is_said_and_can_be_taken(of_table: AutoClassifier) -> None:
    best = of_table.candidates_.best
    assert best.log_loss == min(one.log_loss for one in of_table.candidates_ if not one.refusal)
    notes = " ".join(of_table.candidates_.table().notes)
    assert f"candidates=['{best.name}']" in notes
    assert "no sums" in notes


PAIRS = [list(pair) for pair in combinations(range(4), 2)]


# -- what candidates cost


@pytest.mark.parametrize(
    "size",
    [
        Size(1000, 100, 0, 0, 30),
        Size(226, 0, 69, 160, 24),
        Size(366, 34, 0, 0, 6),
        Size(205, 15, 10, 60, 6),
        Size(100, 3_000, 0, 0, 2),
        Size(120, 12_000, 0, 0, 2),
    ],
)
def test_all_fits_are_made_in_the_time_that_there_is(size: Size) -> None:
    names, folds = planned(None, size, 3)
    each = sorted(CANDIDATES[name].seconds(size) for name in names)
    assert len(names) > 1
    assert folds * sum(each) + sum(each[-3:]) <= (3.0 if size.columns <= 100 else 12.0)


def test_covariances_of_classes_are_dropped_where_missing_cells_take_too_long() -> None:
    whole, _ = planned(None, Size(1000, 40, 0, 0, 5), 3)
    names, _ = planned(None, Size(1000, 40, 0, 0, 5, gaps=0.3), 3)
    assert "qda" in whole
    assert "qda" not in names


@pytest.mark.parametrize(("rows", "fact"), [(0, "there is no row"), (1, "there is one class")])
def test_rows_that_no_model_learns_from_are_refused_as_by_naive_bayes(rows, fact):
    x, y = np.ones((rows, 2)), np.arange(rows)
    with pytest.raises(DataError, match=f"^{fact}"):
        AutoClassifier().fit(x, y)


def test_few_rows_that_lack_many_cells() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 2_000)
    x = rng.normal(size=(2_000, 100)) + rng.normal(size=(3, 100))[y] * 0.2
    x[rng.random(x.shape) < 0.5] = np.nan
    found = AutoClassifier().fit(x[:500], y[:500]).evaluate(x[500:], y[500:])
    assert found.log_loss < np.log(3)
