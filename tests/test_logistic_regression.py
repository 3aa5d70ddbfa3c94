"""Logistic regression under scikit-learn's name: the same optimum, any table, inference."""

import inspect
import math
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from tests.running import on

import suffice
import suffice.data.source
import suffice.linear_model.logistic_regression
import suffice.models.logistic.objective
import suffice.models.logistic.separation
from suffice.data import encode
from suffice.errors import DataError, ParameterError, SchemaError, SufficeWarning
from suffice.linear_model import GradientDescent, LogisticRegression
from suffice.models.logistic import minimise

LOADERS = [load_iris, load_wine, load_breast_cancer, load_digits]


def overlapping(seed=0, n=400, d=4, k=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d))
    t = x @ rng.normal(size=(d, k)) + rng.gumbel(size=(n, k)) * 2
    return x, t.argmax(axis=1)


def likelihood_fit(x, y, **options):
    return LogisticRegression(C=np.inf, **options).fit(x, y)


def same(mine, other, rtol=1e-8):
    size = np.abs(mine.coef_).max()
    assert_allclose(mine.coef_, other.coef_, rtol=rtol, atol=rtol * size)
    assert_allclose(mine.intercept_, other.intercept_, rtol=rtol, atol=rtol * size)


# -- scikit-learn


def test_the_options_are_those_of_scikit_learn():
    mine = inspect.signature(LogisticRegression.__init__).parameters
    other = inspect.signature(theirs.LogisticRegression.__init__).parameters
    assert set(other) <= set(mine)
    different = {name for name in other if mine[name].default != other[name].default}
    assert different == {"penalty", "solver", "tol", "max_iter"}


@pytest.mark.parametrize("loader", LOADERS)
def test_raw_data_converge_to_ten_digits_without_a_warning(loader):
    x, y = loader(return_X_y=True)
    model = LogisticRegression().fit(x, y)
    assert model.n_iter_[0] < model.max_iter
    p = model.predict_proba(x)
    truth = (y[:, None] == model.classes_).astype(float)
    z = (x - x.mean(axis=0)) / np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    scale = np.where(x.std(axis=0) > 0, x.std(axis=0), 1.0)
    prior = model.coef_ / scale
    residual = (p - truth)[:, 1:] if len(model.classes_) == 2 else p - truth
    slope = residual.T @ z + prior
    start = np.abs((1 / len(model.classes_) - truth).T @ z).max()
    assert np.abs(slope).max() < 2e-10 * start
    assert np.abs(residual.sum(axis=0)).max() < 2e-10 * start


@pytest.mark.parametrize("C", [0.01, 100.0])
@pytest.mark.parametrize("loader", [load_iris, load_wine, load_breast_cancer])
def test_the_optimum_of_scikit_learn(loader, C):
    x, y = loader(return_X_y=True)
    x = StandardScaler().fit_transform(x)
    other = theirs.LogisticRegression(C=C, solver="newton-cholesky", tol=1e-13, max_iter=500)
    same(LogisticRegression(C=C).fit(x, y), other.fit(x, y))
    mine = LogisticRegression(C=C, fit_intercept=False).fit(x, y)
    same(mine, other.set_params(fit_intercept=False).fit(x, y))
    assert not mine.intercept_.any()


def test_digits_as_scikit_learn():
    x, y = load_digits(return_X_y=True)
    other = theirs.LogisticRegression(C=0.01, solver="newton-cholesky", tol=1e-13).fit(x, y)
    mine = LogisticRegression(C=0.01).fit(x, y)
    same(mine, other)
    assert (mine.predict(x) == other.predict(x)).all()
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), atol=1e-10)
    assert_allclose(mine.predict_log_proba(x), other.predict_log_proba(x), atol=1e-6)
    assert_allclose(mine.decision_function(x), other.decision_function(x), atol=1e-8)
    assert mine.score(x, y) == other.score(x, y)


@pytest.mark.parametrize("k", [2, 3])
def test_weights_as_scikit_learn(k):
    x, y = overlapping(1, k=k)
    w = np.random.default_rng(2).random(len(y)) * 3
    options = {"solver": "newton-cholesky", "tol": 1e-13}
    for class_weight in (None, "balanced", {0: 0.5, 1: 3.0}):
        other = theirs.LogisticRegression(class_weight=class_weight, **options)
        mine = LogisticRegression(class_weight=class_weight)
        same(mine.fit(x, y), other.fit(x, y))
        if class_weight != "balanced":  # theirs counts rows, ours weighs them
            same(mine.fit(x, y, w), other.fit(x, y, w))


@pytest.mark.parametrize("k", [2, 3])
def test_maximum_likelihood_as_scikit_learn(k):
    x, y = overlapping(3, k=k)
    other = theirs.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13).fit(x, y)
    same(LogisticRegression(C=np.inf).fit(x, y), other)
    same(LogisticRegression(penalty=None).fit(x, y), other)


@pytest.mark.parametrize("solver", ["lbfgs", "saga", "newton-cg", "liblinear", "sag"])
def test_every_solver_has_the_same_optimum(solver):
    for k in (2, 3):
        x, y = overlapping(4, k=k)
        same(LogisticRegression(solver=solver).fit(x, y), LogisticRegression().fit(x, y))


@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_contract_of_scikit_learn():
    results = check_estimator(LogisticRegression())
    assert len([r for r in results if r["status"] == "passed"]) > 45


# -- what must not matter


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("k", [2, 3])
def test_batches_threads_and_order_do_not_matter(monkeypatch, C, k):
    x, y = overlapping(5, n=8_000, k=k)
    expected = on(1, LogisticRegression(C=C)).fit(x, y)
    order = np.random.default_rng(0).permutation(len(y))
    monkeypatch.setattr(suffice.data.source, "PART_ROWS", 1000)
    for rows, threads in ((65_536, 3), (777, 1), (5000, 4)):
        monkeypatch.setattr(suffice.data.source, "BATCH_ROWS", rows)
        found = on(threads, LogisticRegression(C=C)).fit(x[order], y[order])
        same(found, expected)
        assert found.n_iter_ == expected.n_iter_
    same(LogisticRegression(C=C).fit(np.asfortranarray(x), y), expected)


@pytest.mark.parametrize("k", [2, 3])
def test_units_and_offsets_do_not_matter(k):
    x, y = overlapping(6, k=k)
    expected = likelihood_fit(x, y)
    for scale in (1e-8, 1e8, np.array([1e-8, 1.0, 1e8, 1e-3])):
        found = likelihood_fit(x * scale, y)
        assert_allclose(found.coef_ * scale, expected.coef_, rtol=1e-8)
        assert_allclose(found.intercept_, expected.intercept_, rtol=1e-8)
        assert found.n_iter_ == expected.n_iter_
        assert_allclose(
            found.predict_proba(x * scale), expected.predict_proba(x), rtol=1e-9, atol=1e-12
        )
        error = found.summary().standard_error[:, 1:] * scale
        assert_allclose(error, expected.summary().standard_error[:, 1:], rtol=1e-7)
    far = (x + 1e8) - 1e8
    moved, near = likelihood_fit(far + 1e8, y), likelihood_fit(far, y)
    assert_allclose(moved.coef_, near.coef_, rtol=1e-7)
    assert_allclose(moved.predict_proba(far + 1e8), near.predict_proba(far), rtol=1e-7)


@pytest.mark.parametrize("unit", [1e-145, 1e-300])
@pytest.mark.parametrize("solver", ["newton", "lbfgs", "gradient", "sgd"])
def test_a_tiny_unit_is_named(solver, unit):
    x, y = overlapping(6)
    with pytest.raises(DataError, match="column 'x1': its values differ by about 1e-140 or less"):
        LogisticRegression(solver=solver).fit(x * [1.0, unit, 1.0, 1.0], y)
    with pytest.raises(DataError, match=r"column 'x1': .* give it in a smaller unit"):
        LogisticRegression().fit(csr_array(x * [1.0, unit, 1.0, 1.0]), y)


def test_a_penalty_on_standardised_columns_is_free_of_units():
    x, y = overlapping(7)
    expected = LogisticRegression(standardize=True, C=0.02).fit(x, y)
    scale = np.array([1e-8, 1.0, 1e8, 1e-3])
    found = LogisticRegression(standardize=True, C=0.02).fit(x * scale, y)
    assert_allclose(found.coef_ * scale, expected.coef_, rtol=1e-8)
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    assert_allclose(expected.coef_ * x.std(axis=0), LogisticRegression(C=0.02).fit(z, y).coef_)


def test_tiny_and_huge_numbers():
    x, y = overlapping(8)
    expected = likelihood_fit(x, y)
    for scale in (1e-120, 1e120):
        found = likelihood_fit(x * scale, y)
        assert_allclose(found.coef_ * scale, expected.coef_, rtol=1e-8)


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("k", [2, 3])
def test_weights_are_repetitions(C, k):
    x, y = overlapping(9, k=k)
    times = np.random.default_rng(0).integers(0, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), times)
    weighted = LogisticRegression(C=C).fit(x, y, times)
    expected = LogisticRegression(C=C).fit(x[repeated], y[repeated])
    same(weighted, expected)
    if np.isinf(C):
        assert_allclose(weighted.covariance(), expected.covariance(), rtol=1e-7, atol=1e-12)
        assert weighted.likelihood_.bic == pytest.approx(expected.likelihood_.bic)


def test_rows_without_weight_or_label_do_not_count():
    x, y = overlapping(10)
    expected = likelihood_fit(x[100:], y[100:])
    x = x.copy()
    x[50:100] = np.nan
    weights = np.ones(len(y))
    weights[50:100] = 0.0
    labels = y.astype(object)
    labels[:50] = None
    with pytest.warns(SufficeWarning, match="50 rows without a label"):
        model = LogisticRegression(C=np.inf).fit(x, labels, weights)
    same(model, expected)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("C", [1.0, np.inf])
def test_sparse_rows_are_rows(k, solver, C):
    rng = np.random.default_rng(11)
    x = rng.poisson(0.4, (300, 6)) * rng.normal(size=(300, 6))
    y = (x @ rng.normal(size=(6, k)) + 3 * rng.gumbel(size=(300, k))).argmax(axis=1)
    expected = LogisticRegression(C=C).fit(x, y)
    for kind in (csr_matrix, csr_array):
        mine = LogisticRegression(C=C, solver=solver).fit(kind(x), y)
        same(mine, expected, 1e-7)
        assert_allclose(mine.predict_proba(kind(x)), expected.predict_proba(x), atol=1e-8)
        assert_allclose(mine.predict_proba(x), expected.predict_proba(x), atol=1e-8)
        assert_allclose(expected.predict_proba(kind(x)), expected.predict_proba(x), atol=1e-14)


def test_cells_of_a_sparse_row_may_be_stored_in_parts():
    rng = np.random.default_rng(27)
    x = rng.integers(1, 5, (300, 2)).astype(float)
    y = (x @ [1.0, -1.0] + 2 * rng.normal(size=300) > 0).astype(int)
    first = rng.integers(1, 3, 300)
    cells = np.column_stack([x[:, 1], first, x[:, 0] - first]).ravel()
    rows = csr_array((cells, np.tile([1, 0, 0], 300), np.arange(0, 901, 3)), shape=(300, 2))
    assert not rows.has_canonical_format
    same(LogisticRegression().fit(rows, y), LogisticRegression().fit(x, y))


def test_many_sparse_columns():
    rng = np.random.default_rng(12)
    x = csr_array(random_array((500, 50_000), density=5e-4, rng=rng, format="csr"))
    y = rng.integers(0, 2, 500)
    mine = LogisticRegression(C=10.0).fit(x, y)
    other = theirs.LogisticRegression(C=10.0, tol=1e-12, max_iter=2000).fit(csr_matrix(x), y)
    assert_allclose(mine.coef_, other.coef_, atol=1e-6)
    residual = mine.predict_proba(x)[:, 1] - y
    assert np.abs(x.T @ residual + mine.coef_[0] / 10.0).max() < 1e-9
    assert abs(residual.sum()) < 1e-8


# -- tables


@pytest.fixture
def frame():
    rng = np.random.default_rng(13)
    n = 600
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "color": rng.choice(["red", "blue", "green"], n),
            "old": rng.random(n) < 0.5,
            "visits": rng.poisson(3, n),
            "shape": pd.Categorical(rng.choice(["round", "square"], n)),
        }
    )
    t = table["size"] + (table["color"] == "red") - 0.3 * table["visits"] + table["old"]
    table["kind"] = np.where(t + rng.logistic(size=n) > 0, "yes", "no")
    return table


def by_hand(frame):
    color, shape = frame["color"], frame["shape"].astype(str)
    columns = [
        frame["size"],
        color == "green",
        color == "red",
        frame["old"],
        frame["visits"],
        shape == "square",
    ]
    return np.column_stack(columns).astype(float)


def test_columns_of_strings_are_compared_with_the_first(frame):
    model = LogisticRegression(C=np.inf).fit(frame, "kind")
    expected = likelihood_fit(by_hand(frame), frame["kind"])
    same(model, expected)
    assert model.terms_ == (
        *("(Intercept)", "size", "color[green]", "color[red]"),
        *("old", "visits", "shape[square]"),
    )
    rows = frame.drop(columns="kind")
    assert_allclose(model.predict_proba(rows), expected.predict_proba(by_hand(frame)), atol=1e-12)
    assert model.score(frame, "kind") == expected.score(by_hand(frame), frame["kind"])
    assert (model.predict(rows) == expected.predict(by_hand(frame))).all()
    less = model.unfitted().fit(frame.drop(columns="color"), "kind")
    assert model.anova(less).terms == ("color",)
    assert model.anova(less).difference == 2


def test_files_are_tables(frame, tmp_path):
    expected = LogisticRegression().fit(frame, "kind")
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    frame.to_csv(tmp_path / "rows.csv", index=False)
    for path in ("rows.parquet", "rows.csv"):
        found = LogisticRegression().fit(tmp_path / path, "kind")
        assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
        assert found.score(tmp_path / path, "kind") == expected.score(frame, "kind")


def test_a_category_never_seen_is_refused(frame):
    model = LogisticRegression().fit(frame, "kind")
    rows = frame.drop(columns="kind").head(3)
    rows.loc[1, "color"] = "violet"
    with pytest.raises(DataError, match="column 'color', row 1: 'violet'"):
        model.predict(rows)
    rows.loc[1, "color"] = None
    with pytest.raises(DataError, match="column 'color', row 1: None; a row needs all"):
        model.predict(rows)


def test_missing_cells_are_counted_or_their_rows_left_out(frame):
    gappy = frame.copy()
    gappy.loc[3:7, "size"] = np.nan
    gappy.loc[[5, 20], "color"] = None
    message = "5 of column 'size', 2 of column 'color'.*incomplete='drop'"
    with pytest.raises(DataError, match=message):
        LogisticRegression().fit(gappy, "kind")
    model = LogisticRegression(incomplete="drop").fit(gappy, "kind")
    assert model.left_out_ == 6
    same(model, LogisticRegression().fit(gappy.dropna(), "kind"))
    with pytest.raises(DataError, match="column 'size', row 3: nan; a row needs all"):
        model.predict(gappy.drop(columns="kind"))
    gappy.loc[5, "color"], gappy.loc[6, "color"] = "only here", "and here"
    expected = LogisticRegression().fit(gappy.drop(index=[*range(3, 8), 20]), "kind")
    same(LogisticRegression(incomplete="drop").fit(gappy, "kind"), expected)
    complete = gappy.fillna({"size": 0.0, "color": "nowhere else"})
    weights = np.where(gappy[["size", "color"]].isna().any(axis=1), 0.0, 1.0)
    same(LogisticRegression().fit(complete, "kind", weights), expected)
    x = by_hand(frame)
    x[4, 0] = np.nan
    sparse = csr_array(x)
    same(
        LogisticRegression(incomplete="drop").fit(sparse, frame["kind"]),
        LogisticRegression(incomplete="drop").fit(x, frame["kind"]),
    )
    with pytest.raises(DataError, match="1 of column 'x0'"):
        LogisticRegression().fit(sparse, frame["kind"])


def test_no_complete_row_is_said_to_be_that():
    x, y = overlapping(26)
    x[::2, 1] = x[1::2, 2] = np.nan
    with pytest.raises(DataError, match=r"no labelled row is complete: .* 200 of column 'x2'"):
        LogisticRegression(incomplete="drop").fit(x, y)
    x[:, 2] = np.nan
    for incomplete in ("error", "drop"):
        with pytest.raises(DataError, match=r"column 'x2' has no value; .*; leave it out"):
            LogisticRegression(incomplete=incomplete).fit(x, y)


def test_rows_without_a_label_are_counted(tmp_path):
    x, y = overlapping(27)
    labels = y.astype(object)
    labels[:7] = None
    x[5:10, 0] = np.nan
    weights = np.full(len(y), 2.0)
    with pytest.warns(SufficeWarning, match="7 rows without a label"):
        model = likelihood_fit(x, labels, incomplete="drop")
    assert model.unlabelled_ == 7
    with pytest.warns(SufficeWarning, match="14 rows without a label"):
        weighted = LogisticRegression(incomplete="drop").fit(x, labels, weights)
    assert weighted.unlabelled_ == 14
    model.save(tmp_path / "m")
    assert suffice.load(tmp_path / "m").unlabelled_ == 7
    assert model.left_out_ == 3
    assert str(model.summary()).endswith("Rows left out for missing cells: 3")


def test_numbers_may_be_categories(frame):
    words = frame.assign(visits=frame["visits"].clip(upper=3).astype(str).astype("category"))
    numbers = frame.assign(visits=frame["visits"].clip(upper=3))
    model = LogisticRegression(categorical=["visits"]).fit(numbers, "kind")
    expected = LogisticRegression().fit(words, "kind")
    assert model.terms_ == expected.terms_
    same(model, expected, rtol=1e-12)


def test_numbers_that_are_none_are_refused(frame):
    x, y = by_hand(frame), frame["kind"]
    model = LogisticRegression().fit(x, y)
    for bad in (np.inf, -np.inf, np.nan):
        rows = x.copy()
        rows[5, 2] = bad
        for kind in (np.asarray, csr_array):
            with pytest.raises(DataError, match="column 'x2', row 5"):
                model.predict(kind(rows))
        if np.isinf(bad):
            with pytest.raises(DataError, match="column 'x2', row 5"):
                LogisticRegression().fit(rows, y)
            with pytest.raises(DataError, match="column 'x2', row 5"):
                LogisticRegression().fit(csr_array(rows), y)


def test_names_that_do_not_fit(frame):
    model = LogisticRegression(C=np.inf).fit(frame, "kind")
    with pytest.raises(SchemaError, match="weight"):
        LogisticRegression().fit(frame.drop(columns="kind"), "weight")
    with pytest.raises(SchemaError, match="column 'size' is not"):
        model.predict(frame[["color", "old", "visits", "shape"]])
    with pytest.raises(DataError, match="'maybe' was never seen"):
        model.evaluate(frame.assign(kind="maybe"), "kind")


@pytest.mark.parametrize("C", [1.0, np.inf])
def test_a_model_file(frame, tmp_path, C):
    model = LogisticRegression(C=C, class_weight={"no": 2.0, "yes": 1.0}).fit(frame, "kind")
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    rows = frame.drop(columns="kind")
    assert (again.predict_proba(rows) == model.predict_proba(rows)).all()
    assert again.get_params() == model.get_params()
    assert again.terms_ == model.terms_
    assert again.likelihood_ == model.likelihood_
    assert (again.feature_names_in_ == model.feature_names_in_).all()
    if np.isinf(C):
        assert str(again.summary()) == str(model.summary())
    same(again.fit(frame, "kind"), model)


# -- what the data do not say


def test_a_constant_column_has_coefficient_0():
    x, y = overlapping(14)
    for constant in (0.0, 3.0, 1e8):
        more = np.column_stack([x, np.full(len(y), constant)])
        for kind in (np.asarray, csr_array):
            with pytest.warns(SufficeWarning, match="column 'x4' has one value only"):
                found = likelihood_fit(kind(more), y)
            assert found.coef_[0, -1] == 0
            assert_allclose(found.coef_[:, :-1], likelihood_fit(x, y).coef_, rtol=1e-7)
            assert found.likelihood_.parameters == 5
            assert found.remarks_ == ("column 'x4': constant, so the coefficient is 0",)
            with pytest.raises(DataError, match="column 'x4' has one value only"):
                likelihood_fit(kind(more), y, dependent="error")
        assert LogisticRegression().fit(more, y).coef_[0, -1] == 0
    with pytest.warns(SufficeWarning, match="column 'x0' is 0 in every row"):
        likelihood_fit(np.zeros((len(y), 1)), y, fit_intercept=False)
    found = LogisticRegression(C=np.inf, fit_intercept=False).fit(more[:, [0, 4]] / [1, 1e8], y)
    assert found.coef_[0, 1] != 0


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_dependent_columns_are_named_and_share_the_shortest_coefficients(k, solver, kind):
    x, y = overlapping(15, k=k)
    more = kind(np.column_stack([x, x[:, 0] + 2 * x[:, 1]]))
    with pytest.warns(SufficeWarning, match="column 'x4' is 1 × 'x0' . 2 × 'x1' plus a constant"):
        model = likelihood_fit(more, y, solver=solver)
    expected = likelihood_fit(x, y)
    assert_allclose(model.predict_proba(more), expected.predict_proba(x), rtol=1e-8)
    to_x = np.column_stack([np.eye(4), [1, 2, 0, 0]])
    assert_allclose(model.coef_ @ to_x.T, expected.coef_, rtol=1e-7, atol=1e-9)
    shortest = np.linalg.lstsq(to_x, expected.coef_.T)[0].T
    assert_allclose(model.coef_, shortest, rtol=1e-7, atol=1e-9)
    assert model.likelihood_.parameters == expected.likelihood_.parameters
    with pytest.raises(DataError, match="dependent='minimum_norm'"):
        likelihood_fit(more, y, dependent="error", solver=solver)
    assert LogisticRegression().fit(more, y).n_iter_[0] < 10


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_indicators_that_add_up_to_one_depend_on_the_intercept(kind, solver):
    x, y = overlapping(30)
    group = np.random.default_rng(31).integers(0, 3, len(y))
    with pytest.warns(SufficeWarning, match="column 'x2' is -1 × 'x0' . -1 × 'x1' plus a constant"):
        model = likelihood_fit(kind(np.column_stack([np.eye(3)[group], x])), y, solver=solver)
    fewer = np.column_stack([np.eye(3)[group][:, 1:], x])
    expected = likelihood_fit(fewer, y)
    assert_allclose(model.coef_[0, :3].sum(), 0, atol=1e-12)
    assert_allclose(model.coef_[0, 1:3] - model.coef_[0, 0], expected.coef_[0, :2], rtol=1e-8)
    assert_allclose(model.intercept_ + model.coef_[0, 0], expected.intercept_, rtol=1e-7)
    assert_allclose(model.summary().standard_error[0, 4:], expected.summary().standard_error[0, 3:])
    assert model.likelihood_.aic == pytest.approx(expected.likelihood_.aic)


def test_a_column_that_others_stand_for_is_no_parameter():
    x, y = overlapping(15)
    with pytest.warns(SufficeWarning, match="'x4'"):
        model = likelihood_fit(np.column_stack([x, 2 * x[:, 0]]), y)
    alone, less = likelihood_fit(x, y), likelihood_fit(x[:, :3], y)
    with pytest.raises(ParameterError, match=r"x4|0 parameters more"):
        model.anova(alone)
    assert model.anova(less).difference == alone.anova(less).difference == 1
    assert model.anova(less).statistic == pytest.approx(alone.anova(less).statistic)
    assert_allclose(model.variance_inflation().inflation[[0, 4]], np.inf)
    known = alone.variance_inflation().inflation[1:]
    assert_allclose(model.variance_inflation().inflation[1:4], known, rtol=1e-8)


def started_and_lasted(decades, n=500, seed=0):
    """Starts and ends, so many decades nearer to each other than the starts; starts and lengths."""
    rng = np.random.default_rng(seed)
    lasted = rng.exponential(size=n)
    y = (lasted + rng.logistic(size=n) * 0.3 > 1).astype(int)
    start = 1.7e9 + 1e7 * rng.normal(size=n)
    end = start + lasted * 10.0 ** (7 - decades)
    return np.column_stack([start, end]), np.column_stack([start, end - start]), y


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("penalty", [None, "firth"])
@pytest.mark.parametrize("decades", [3, 9])
def test_nearly_dependent_columns_are_not_dependent(decades, penalty, solver):
    x, apart, y = started_and_lasted(decades)
    model = LogisticRegression(penalty=penalty, solver=solver).fit(x, y)
    z = StandardScaler().fit_transform(apart)
    other = theirs.LogisticRegression(C=np.inf, solver="newton-cholesky", tol=1e-13).fit(z, y)
    if penalty == "firth":
        other = LogisticRegression(penalty="firth").fit(z, y)
    noise = max(1e-9, 1e-15 * 10.0**decades)  # a score is rounded to so much
    assert_allclose(model.predict_proba(x), other.predict_proba(z), atol=10 * noise)
    expected = LogisticRegression(penalty=penalty).fit(z, y)
    assert model.likelihood_.parameters == 3
    unit = np.log(apart.std(axis=0)).sum() if penalty == "firth" else 0.0  # a change of columns
    value = expected.likelihood_.value + unit
    assert model.likelihood_.value == pytest.approx(value, rel=1e-8 + noise)
    assert_allclose(model.summary().z[0, 2], expected.summary().z[0, 2], rtol=1e-4 * noise**0.25)


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
def test_what_separates_nearly_dependent_columns_is_named(solver):
    x, apart, _ = started_and_lasted(7)
    other = np.random.default_rng(1).normal(size=(len(x), 1))
    y = apart[:, 1] > np.median(apart[:, 1])
    with pytest.raises(DataError, match=r"'x1', 'x2' together separate"):
        likelihood_fit(np.column_stack([other, x]), y, solver=solver)
    y[apart[:, 1].argmax()] = False
    found = likelihood_fit(np.column_stack([other, x]), y, solver=solver)
    assert_allclose(found.predict(np.column_stack([other, x])), y, atol=1.0)


def test_a_long_table_of_nearly_dependent_columns():
    x, apart, y = started_and_lasted(8, n=70_000)
    z = StandardScaler().fit_transform(apart)
    model, expected = likelihood_fit(x, y), likelihood_fit(z, y)
    assert_allclose(model.predict_proba(x), expected.predict_proba(z), atol=1e-6)


def test_first_derivatives_lead_to_the_same_inference():
    for k in (2, 3):
        x, y = overlapping(27, k=k)
        mine, other = likelihood_fit(x, y, solver="lbfgs"), likelihood_fit(x, y)
        assert_allclose(mine.summary().standard_error, other.summary().standard_error, rtol=1e-7)
        assert mine.anova(likelihood_fit(x[:, :1], y)).difference == (k - 1) * (x.shape[1] - 1)


def test_too_many_columns_for_a_hessian(monkeypatch):
    monkeypatch.setattr(suffice.models.logistic.objective, "LARGEST_HESSIAN", 4)
    monkeypatch.setattr(suffice.linear_model.logistic_regression, "LARGEST_HESSIAN", 4)
    x, y = overlapping(28)
    for solver in ("newton", "lbfgs"):
        with pytest.raises(ParameterError, match="dependent='error' with 5 coefficients"):
            likelihood_fit(x, y, solver=solver, dependent="error")
        model = likelihood_fit(x, y, solver=solver)
        with pytest.raises(ParameterError, match=r"5 coefficients.* of at most 4 coefficients"):
            model.summary()
    other = theirs.LogisticRegression(C=np.inf, tol=1e-9).fit(x, y)
    assert_allclose(model.coef_, other.coef_, rtol=1e-3)


def test_separated_data_have_no_maximum():
    x, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="column 'x2' separates the classes"):
        likelihood_fit(x, y)
    keep = y < 2
    with pytest.raises(DataError, match=r"separates the classes; .*penalty='firth'"):
        likelihood_fit(x[keep], y[keep])
    versicolor = likelihood_fit(x[~(y == 0)], y[~(y == 0)])
    assert versicolor.n_iter_[0] < 12
    for loader in (load_wine, load_breast_cancer, load_digits):
        with pytest.raises(DataError, match="separate the classes"):
            likelihood_fit(*loader(return_X_y=True))


def test_separation_is_found_in_sparse_rows_and_by_lbfgs():
    x, y = load_iris(return_X_y=True)
    for options in ({"solver": "lbfgs"}, {"fit_intercept": True}):
        with pytest.raises(DataError, match="separates the classes"):
            likelihood_fit(csr_array(x), y, **options)
    with pytest.raises(DataError, match="separates the classes"):
        likelihood_fit(np.array([[1.0], [2.0], [-1.0]]), [1, 1, 0], fit_intercept=False)


def test_separation_that_cannot_be_ruled_out_is_a_warning(monkeypatch):
    monkeypatch.setattr(suffice.models.logistic.separation, "LARGEST_PROGRAMME", 0)
    x, y = overlapping(26)
    for solver in ("newton", "lbfgs"):
        likelihood_fit(x, y, solver=solver)  # the Hessian proves that there is a maximum
    with monkeypatch.context() as wide:
        wide.setattr(suffice.models.logistic.objective, "LARGEST_HESSIAN", 0)
        with pytest.warns(SufficeWarning, match="too many columns to rule out"):
            likelihood_fit(x, y)
    with pytest.raises(DataError, match="the columns together separate the classes"):
        likelihood_fit(*load_wine(return_X_y=True), solver="lbfgs")


def test_firth_reaches_ten_digits_on_separated_data():
    x = np.random.default_rng(0).normal(size=(200, 3))
    y = x[:, 1] > 0
    model = LogisticRegression(penalty="firth").fit(x, y)
    z = np.column_stack([np.ones(200), x])
    p = model.predict_proba(x)
    weight = p[:, 0] * p[:, 1]
    information = z.T @ (weight[:, None] * z)
    hat = weight * np.einsum("ij,ji->i", z, np.linalg.solve(information, z.T))
    step = np.linalg.solve(information, z.T @ (y - p[:, 1] + hat * (0.5 - p[:, 1])))
    assert np.abs(step).max() < 1e-10 * np.abs(model.coef_).max()


def test_a_rare_overlap_is_no_separation():
    rng = np.random.default_rng(16)
    x = rng.normal(size=(50_000, 2))
    y = (x[:, 0] > 0).astype(int)
    y[np.abs(x[:, 0]).argmax()] ^= 1
    y[np.abs(x[:, 0]).argmin()] ^= 1
    model = likelihood_fit(x, y)
    assert model.likelihood_.value < -5


def test_too_few_steps_are_a_warning():
    x, y = overlapping(17)
    with pytest.warns(ConvergenceWarning, match="after 1 iterations"):
        LogisticRegression(max_iter=1).fit(x, y)
    assert LogisticRegression(tol=1e-30).fit(x, y).n_iter_[0] < 40


@pytest.mark.parametrize("solver", ["newton", "lbfgs"])
@pytest.mark.parametrize("decades", [5, 6])
def test_where_rounding_ends_a_descent_there_is_no_warning(decades, solver):
    x, apart, y = started_and_lasted(decades)
    model = LogisticRegression(C=1e20, solver=solver).fit(x, y)
    expected = likelihood_fit(StandardScaler().fit_transform(apart), y)
    assert_allclose(
        model.predict_proba(x),
        expected.predict_proba(StandardScaler().fit_transform(apart)),
        atol=1e-5,
    )


@pytest.mark.parametrize(
    ("decades", "C", "n"),
    [
        (4, 1.0, 500),
        (6, 1e4, 500),
        (7, 1e20, 500),
        (8, 1.0, 500),
        (9, 1e4, 500),
        (8, 1e20, 140_000),
    ],
)
def test_a_penalty_on_nearly_dependent_columns(decades, C, n):
    x, apart, y = started_and_lasted(decades, n)
    model = LogisticRegression(C=C).fit(x, y)
    p, w = model.predict_proba(x)[:, 1], model.coef_[0]
    lasted = apart[:, 1] - apart[:, 1].mean()  # scores along w = (−1, 1)
    slope = (p - y) @ lasted + (w[1] - w[0]) / C
    bend = p * (1 - p) @ lasted**2 + 2 / C
    assert abs(slope) < 1e-15 * 10 ** max(decades, 6) * n * bend**0.5


def test_a_stall_is_not_blamed_on_the_tolerance(monkeypatch):
    def stalled(*arguments):  # how far rounding lets lbfgs come depends on the processor
        return replace(minimise.minimise(*arguments), converged=False)

    monkeypatch.setattr(suffice.linear_model.logistic_regression, "minimise", stalled)
    x, y = load_breast_cancer(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match="Rounding leaves no way down; use solver='newton'"):
        LogisticRegression(solver="lbfgs").fit(x, y)


def test_a_warm_start_has_little_to_do():
    x, y = overlapping(18, k=3)
    model = LogisticRegression(warm_start=True).fit(x, y)
    first = model.coef_
    assert model.fit(x, y).n_iter_[0] == 0
    assert_allclose(model.coef_, first, rtol=1e-13)
    same(model.fit(x[:300], y[:300]), LogisticRegression().fit(x[:300], y[:300]))
    model.fit(x[:, :2], y)
    same(model, LogisticRegression().fit(x[:, :2], y))


def test_a_sample_is_only_a_start():
    x, y = overlapping(19, n=200_000)
    y[:3] = 1 - y[:3]
    model = likelihood_fit(x, y)
    assert model.n_iter_[0] <= 6
    same(model, likelihood_fit(x[::-1], y[::-1]))


# -- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "l3"}, "penalty is one of 'l2', 'l1', 'elasticnet', 'firth'"),
        ({"C": 0}, "C is a number, above 0"),
        ({"C": -1.0}, "C is a number, above 0"),
        ({"tol": -1.0}, "tol is a number, above 0"),
        ({"max_iter": -1}, "max_iter is a whole number, 0 or more"),
        ({"max_iter": 1.5}, "max_iter=1.5; max_iter is a whole number, 0 or more"),
        ({"max_iter": np.inf}, "max_iter=inf; max_iter is a whole number, 0 or more"),
        ({"solver": "quick"}, "solver is one of"),
        ({"l1_ratio": 1.5}, "l1_ratio is a number, from 0 to 1"),
        ({"l1_ratio": 2}, "l1_ratio is a number, from 0 to 1"),
        ({"l1_ratio": "much"}, "l1_ratio is a number, from 0 to 1"),
        ({"penalty": "elasticnet", "l1_ratio": None}, "l1_ratio must be specified"),
        ({"penalty": "l1", "solver": "gradient"}, "small steps make no coefficient 0"),
        ({"class_weight": "heavy"}, "it is 'balanced'"),
        ({"class_weight": {0: -1.0}}, "a weight is a finite number above 0"),
        ({"class_weight": {0: "a"}}, "a weight is a finite number above 0"),
        ({"class_weight": [1.0, 2.0]}, "it is 'balanced', or maps labels to numbers"),
        ({"class_weight": {0: 1.0, 7: 2.0}}, "class_weight has 7; the classes are 0, 1"),
        ({"categorical": ["x0"]}, "names of columns of a table"),
        ({"incomplete": "guess"}, "incomplete is one of 'error', 'drop', 'indicator'"),
        ({"incomplete": "gaussian"}, "incomplete is one of 'error', 'drop', 'indicator'"),
        ({"dependent": "ignore"}, "dependent is one of"),
        ({"descent": 0.1}, "descent=0.1; descent is a GradientDescent"),
        ({"solver": "sgd", "penalty": "firth"}, "penalty='firth' with solver='sgd'"),
        ({"solver": "gradient", "dependent": "error"}, "dependent='error' with solver='gradient'"),
        (
            {"solver": "gradient", "descent": GradientDescent(1e9, passes=99)},
            "the loss grew from .* lower learning_rate",
        ),
        (
            {"solver": "sgd", "descent": GradientDescent(1e6)},
            "the loss grew from .* lower learning_rate",
        ),
    ],
)
def test_options_outside_their_rules(options, message):
    x, y = overlapping(20)
    with pytest.raises(ParameterError, match=message):
        LogisticRegression(**options).fit(x, y)


def test_labels_outside_their_rules():
    x, y = overlapping(21)
    with pytest.raises(DataError, match="there is one class"):
        LogisticRegression().fit(x, np.zeros(len(y)))
    with pytest.raises(DataError, match="no labelled row"):
        LogisticRegression().fit(x, y, np.zeros(len(y)))
    with pytest.raises(ParameterError, match="two classes"):
        LogisticRegression(penalty="firth").fit(x, np.arange(len(y)) % 3)
    with pytest.raises(ParameterError, match="'kind' names a column of an array"):
        LogisticRegression().fit(x, "kind")


def test_a_failed_fit_leaves_the_model_as_it_was():
    x, y = overlapping(22)
    model = likelihood_fit(x, y)
    before = model.coef_
    iris = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="separates"):
        model.fit(*iris)
    assert (model.coef_ == before).all()
    assert model.n_features_in_ == 4


# -- gradient descent

SINGLE_ROWS = ["sgd", "minibatch"]
AT_LENGTH = [pytest.param(solver, marks=pytest.mark.exhaustive) for solver in SINGLE_ROWS]
cut_short = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def descended(x, y, solver="gradient", C=1.0, weights=None, **how):
    model = LogisticRegression(C=C, solver=solver, descent=GradientDescent(**how))
    return model.fit(x, y, weights)


def error_of(found, exact, x):
    return np.abs((found.coef_ - exact.coef_) * x.std(axis=0)).max()


@pytest.mark.parametrize("solver", ["gradient", *AT_LENGTH])
@cut_short
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_contract_of_scikit_learn_by_descent(solver):
    reason = "one row twice, and one step twice as long, end at different points"
    kinds = ("dense", "sparse") if solver == "sgd" else ()
    refused = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}
    model = LogisticRegression(solver=solver, descent=GradientDescent(passes=20))
    check_estimator(model, expected_failed_checks=refused)


@pytest.mark.parametrize("C", [0.01, np.inf])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_descent_ends_where_newton_does(C, k, intercept):
    x, y = overlapping(30, k=k)
    x = x * [1e-8, 1.0, 1e8, 5.0] + [0.0, 0.5, 1e9, -2.0]
    weights = np.random.default_rng(0).integers(0, 4, len(y))
    options = {"C": C, "fit_intercept": intercept, "class_weight": {0: 2.0}, "standardize": True}
    exact = LogisticRegression(**options).fit(x, y, weights)
    how = GradientDescent(tol=1e-12, passes=5_000)
    mine = LogisticRegression(solver="gradient", descent=how, **options).fit(x, y, weights)
    same(mine, exact, 1e-7)
    assert_allclose(mine.predict_proba(x), exact.predict_proba(x), rtol=1e-7, atol=1e-9)
    history = mine.loss_history_
    assert history[-1] <= history[0]
    assert mine.n_iter_[0] == len(history)
    w = weights * np.where(y == 0, 2.0, 1.0)
    loss = -w @ exact.predict_log_proba(x)[np.arange(len(y)), y]
    spread = np.sqrt(np.average(x**2, axis=0, weights=weights))
    if intercept:
        mean = np.average(x, axis=0, weights=weights)
        spread = np.sqrt(np.average((x - mean) ** 2, axis=0, weights=weights))
    prior = (spread**2 * exact.coef_**2).sum() / (2 * C)
    assert_allclose(history[-1], (loss + prior) / w.sum(), rtol=1e-9)


@pytest.mark.parametrize(
    ("solver", "k"), [pytest.param("sgd", 3, marks=pytest.mark.exhaustive), ("minibatch", 2)]
)
@cut_short
def test_smaller_steps_end_closer(solver, k):
    x, y = overlapping(32, n=200, k=k)
    exact = LogisticRegression().fit(x, y)

    def error(rate, passes):
        options = {"learning_rate": rate, "passes": passes, "tol": 0.0}
        runs = (descended(x, y, solver, random_state=s, **options) for s in range(2))
        return np.mean([error_of(run, exact, x) for run in runs])

    rates = (0.1, 0.02, 0.004) if solver == "sgd" else (1.6, 0.4, 0.1)
    coarse, middle, fine = (error(rate, int(8 / rate)) for rate in rates)
    assert fine < middle < coarse
    assert fine < 0.1


@pytest.mark.parametrize(
    ("loader", "solver"),
    [(load_iris, "sgd"), pytest.param(load_wine, "minibatch", marks=pytest.mark.exhaustive)],
)
@cut_short
def test_single_rows_with_the_defaults_lead_near(loader, solver):
    x, y = loader(return_X_y=True)
    model, exact = LogisticRegression(solver=solver).fit(x, y), LogisticRegression().fit(x, y)

    def loss(one):
        log_p = one.predict_log_proba(x)[np.arange(len(y)), y]
        return (one.coef_**2).sum() / 2 - log_p.sum()

    assert loss(model) < 1.1 * loss(exact)


@pytest.mark.parametrize("tol", [3e-2, 1e-3, 1e-5])
def test_single_rows_stop_at_a_small_gradient_of_all_rows(tol):
    x, y = overlapping(44, n=2_000)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = descended(x, y, "minibatch", tol=tol, passes=60)
    unit = np.sqrt(x.var(axis=0) + 4 / len(y))
    z = np.column_stack([np.ones(len(y)), (x - x.mean(axis=0)) / unit])
    slope = z.T @ (model.predict_proba(x)[:, 1] - y)
    slope[1:] += model.coef_[0] / unit
    before = np.linalg.norm(z.T @ (0.5 - y))
    assert len(told) == int(np.linalg.norm(slope) > tol * before)


@pytest.mark.parametrize("solver", ["gradient", "minibatch"])
@cut_short
def test_descent_reads_files_frames_and_sparse_rows(solver, frame, tmp_path):
    table = pa.Table.from_pandas(frame, preserve_index=False)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=100)
    options = {"tol": 1e-9} if solver == "gradient" else {"tol": 0.0, "passes": 10}
    model = descended(frame, "kind", solver, **options)
    by_numbers = descended(by_hand(frame), frame["kind"], solver, **options)
    assert_allclose(model.coef_, by_numbers.coef_, rtol=1e-7)
    parquet = descended(tmp_path / "rows.parquet", "kind", solver, **options)
    near = {"rtol": 1e-6} if solver == "gradient" else {"atol": 0.3}
    assert_allclose(parquet.coef_, model.coef_, **near)
    sparse = descended(csr_array(by_hand(frame)), frame["kind"], solver, **options)
    assert_allclose(sparse.coef_, model.coef_, **({"rtol": 1e-6} | near))


@pytest.mark.parametrize("solver", ["gradient", *SINGLE_ROWS])
@cut_short
def test_threads_and_runs_of_a_descent_give_the_same_bits(monkeypatch, solver):
    monkeypatch.setattr(suffice.data.source, "PART_ROWS", 500)
    x, y = overlapping(33, n=4_000)
    options = {"solver": solver, "descent": GradientDescent(passes=5, random_state=3)}
    one, two = (on(t, LogisticRegression(**options)).fit(x, y) for t in (1, 2))
    assert (one.coef_ == two.coef_).all()
    assert (one.loss_history_ == two.loss_history_).all()


@pytest.mark.parametrize("solver", ["gradient", *SINGLE_ROWS])
@cut_short
def test_separation_is_found_before_a_descent(solver):
    x, y = load_iris(return_X_y=True)
    how = {"passes": 3}
    with pytest.raises(DataError, match="column 'x2' separates the classes"):
        descended(x, y, solver, C=np.inf, **how)
    with pytest.raises(DataError, match="separate the classes"):
        descended(*load_wine(return_X_y=True), solver, C=np.inf, **how)
    assert descended(x, y, solver, **how).score(x, y) > 0.8


@cut_short
def test_a_descent_starts_where_the_last_fit_ended():
    x, y = overlapping(34)
    how = GradientDescent(tol=1e-8)
    model = LogisticRegression(solver="gradient", warm_start=True, descent=how).fit(x, y)
    assert model.n_iter_[0] > 3
    assert model.fit(x, y).n_iter_[0] <= 1


@cut_short
def test_what_a_descent_does_not_know():
    x, y = overlapping(35)
    model = descended(x, y, C=np.inf)
    assert model.likelihood_ is None
    for ask in (model.summary, model.covariance, lambda: model.anova(model)):
        with pytest.raises(ParameterError, match=r"by descent; .* use solver='newton'"):
            ask()
    newton = likelihood_fit(x, y)
    with pytest.raises(AttributeError, match="after gradient descent only"):
        _ = newton.loss_history_
    with pytest.warns(ConvergenceWarning, match="after 1 passes the gradient"):
        descended(x, y, passes=1, tol=1e-12)


# -- many classes


@pytest.mark.parametrize(
    ("k", "p", "spread", "C"),
    [
        (60, 3, 1.0, np.inf),
        pytest.param(30, 3, 8.0, 1.0, marks=pytest.mark.exhaustive),
        (4, 150, 1.0, 1.0),
    ],
)
def test_many_coefficients_are_those_of_the_minimum(k, p, spread, C):
    rng = np.random.default_rng(8)
    y = np.arange(1_200) % k
    x = rng.normal(size=(1_200, p)) + spread * rng.normal(size=(k, p))[y] / np.sqrt(p)
    model = LogisticRegression(C=C).fit(x, y)
    judge = theirs.LogisticRegression(C=C, solver="newton-cg", tol=1e-9, max_iter=2_000).fit(x, y)
    weights = np.eye(k)[y] - model.predict_proba(x)
    gradient = weights.T @ np.column_stack([np.ones(len(x)), x])
    gradient[:, 1:] -= model.coef_ / C
    assert np.abs(gradient).max() < 1e-7 * len(x)
    assert_allclose(model.predict_proba(x), judge.predict_proba(x), atol=1e-5)


# -- inference


def test_a_penalised_fit_has_no_standard_errors():
    x, y = overlapping(23)
    model = LogisticRegression().fit(x, y)
    assert model.likelihood_ is None
    with pytest.raises(ParameterError, match=r"C=np\.inf or penalty='firth'"):
        model.summary()
    with pytest.raises(ParameterError, match="between 0 and 1"):
        likelihood_fit(x, y).summary(level=1.0)
    with pytest.raises(ParameterError, match="level='a'; a level is a number"):
        likelihood_fit(x, y).summary(level="a")
    with pytest.raises(ParameterError, match="no class 7"):
        likelihood_fit(x, y).summary(reference=7)


def test_any_class_may_be_the_reference():
    x, y = overlapping(24, k=3)
    model = likelihood_fit(x, y)
    first, last = model.summary(), model.summary(reference=2)
    assert (first.outcomes, last.outcomes) == ((1, 2), (0, 1))
    assert_allclose(first.estimate[1], -last.estimate[0], rtol=1e-12)
    assert_allclose(first.standard_error[1], last.standard_error[0], rtol=1e-9)
    two = likelihood_fit(x, y > 0)
    assert_allclose(two.summary().estimate, -two.summary(reference=True).estimate)


def test_a_summary_as_a_frame():
    x, y = overlapping(25, k=3)
    found = likelihood_fit(x, y).summary(level=0.9)
    table = found.frame()
    assert table.shape == (10, 7)
    assert table.loc[(2, "x1"), "0.95"] == found.upper[1, 2]
    assert "2 against 0:" in str(found)
    line = next(line for line in str(found).splitlines() if line.startswith("  x1")).split()
    assert line[5:] == [f"{found.lower[0, 2]:.4f}", f"{found.upper[0, 2]:.4f}", line[7]]
    assert line[7] == f"{np.exp(found.estimate[0, 2]):.4g}"
    table = likelihood_fit(x, y > 0).summary().frame()
    odds_ratio = math.exp(table.loc["x0", "estimate"])
    assert table.loc["x0", "odds_ratio"] == pytest.approx(odds_ratio, rel=1e-15)


def test_texts_are_split_as_often_whatever_the_number_of_steps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    split, calls = encode.split_words, []

    def counted(*given: Any) -> Any:
        calls.append(1)
        return split(*given)

    monkeypatch.setattr(encode, "split_words", counted)
    rng = np.random.default_rng(0)
    words = rng.integers(0, 900, (300, 8))
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    rows = pa.table({"text": texts, "y": (words < 100).sum(axis=1) > 1})
    often = []
    for C in (1e-3, 1e3):
        model = LogisticRegression(words="tf-idf", C=C).fit(rows, "y")
        often.append((len(calls), model.n_iter_.max()))
        calls.clear()
    (few, short), (many, long) = often
    assert few == many
    assert short < long
