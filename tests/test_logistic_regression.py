"""Logistic regression under scikit-learn's name: the same optimum, any table, inference."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import sklearn.linear_model as theirs
from numpy.testing import assert_allclose
from scipy.sparse import csr_array, csr_matrix, random_array
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import suffice
import suffice.data.arrays
import suffice.models.separation
from suffice.errors import DataError, ParameterError, SchemaError, SufficeWarning
from suffice.linear_model import LogisticRegression

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
    assert model.n_iter_[0] <= 15
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


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
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


def test_pipelines_grids_and_pickles():
    x, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchCV(pipeline, {"logisticregression__C": [0.01, 1.0]}, cv=3).fit(x, y)
    assert search.best_score_ > 0.97
    model = LogisticRegression(C=2.0).fit(x, y)
    again = pickle.loads(pickle.dumps(model))
    assert (again.predict_proba(x) == model.predict_proba(x)).all()
    assert clone(model).get_params() == model.get_params()


# -- what must not matter


@pytest.mark.parametrize("C", [1.0, np.inf])
@pytest.mark.parametrize("k", [2, 3])
def test_batches_threads_and_order_do_not_matter(monkeypatch, C, k):
    x, y = overlapping(5, n=40_000, k=k)
    expected = LogisticRegression(C=C, threads=1).fit(x, y)
    order = np.random.default_rng(0).permutation(len(y))
    monkeypatch.setattr(suffice.data.arrays, "SPLIT_ROWS", 1000)
    for rows, threads in ((65_536, 3), (777, 1), (5000, 4)):
        monkeypatch.setattr(suffice.data.arrays, "BATCH_ROWS", rows)
        found = LogisticRegression(C=C, threads=threads).fit(x[order], y[order])
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
    same(LogisticRegression(C=np.inf).fit(x, labels, weights), expected)


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
    assert_allclose(
        model.likelihood_ratio(["color"], frame, "kind").statistic,
        expected.likelihood_ratio([1, 2], by_hand(frame), frame["kind"]).statistic,
        rtol=1e-9,
    )


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
    message = "5 of column 'size', 2 of column 'color'.*missing='drop'"
    with pytest.raises(DataError, match=message):
        LogisticRegression().fit(gappy, "kind")
    model = LogisticRegression(missing="drop").fit(gappy, "kind")
    assert model.left_out_ == 6
    same(model, LogisticRegression().fit(gappy.dropna(), "kind"))
    with pytest.raises(DataError, match="column 'size', row 3: nan; a row needs all"):
        model.predict(gappy.drop(columns="kind"))
    gappy.loc[5, "color"], gappy.loc[6, "color"] = "only here", "and here"
    expected = LogisticRegression().fit(gappy.drop(index=[*range(3, 8), 20]), "kind")
    same(LogisticRegression(missing="drop").fit(gappy, "kind"), expected)
    complete = gappy.fillna({"size": 0.0, "color": "nowhere else"})
    weights = np.where(gappy[["size", "color"]].isna().any(axis=1), 0.0, 1.0)
    same(LogisticRegression().fit(complete, "kind", weights), expected)
    x = by_hand(frame)
    x[4, 0] = np.nan
    sparse = csr_array(x)
    same(
        LogisticRegression(missing="drop").fit(sparse, frame["kind"]),
        LogisticRegression(missing="drop").fit(x, frame["kind"]),
    )
    with pytest.raises(DataError, match="1 of column 'x0'"):
        LogisticRegression().fit(sparse, frame["kind"])


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
        LogisticRegression().fit(frame, "weight")
    with pytest.raises(SchemaError, match="no column 'weight'"):
        model.likelihood_ratio(["weight"], frame, "kind")
    with pytest.raises(SchemaError, match="column 'size' is not"):
        model.predict(frame[["color", "old", "visits", "shape"]])
    with pytest.raises(DataError, match="'maybe' was never seen"):
        model.score(frame.assign(kind="maybe"), "kind")
    text = frame.assign(note=[f"a text of {i} many words" for i in range(len(frame))])
    with pytest.raises(SchemaError, match="holds text"):
        LogisticRegression().fit(text, "kind")


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
            found = LogisticRegression(C=np.inf).fit(kind(more), y)
            assert found.coef_[0, -1] == 0
            assert_allclose(found.coef_[:, :-1], likelihood_fit(x, y).coef_, rtol=1e-7)
            assert found.remarks_ == ("column 'x4': constant, so the coefficient is 0",)
    found = LogisticRegression(C=np.inf, fit_intercept=False).fit(more[:, [0, 4]] / [1, 1e8], y)
    assert found.coef_[0, 1] != 0


@pytest.mark.parametrize("k", [2, 3])
def test_dependent_columns_are_named_and_share_the_shortest_coefficients(k):
    x, y = overlapping(15, k=k)
    more = np.column_stack([x, x[:, 0] + 2 * x[:, 1]])
    with pytest.warns(SufficeWarning, match="column 'x4': linear combination"):
        model = likelihood_fit(more, y)
    expected = likelihood_fit(x, y)
    assert_allclose(model.predict_proba(more), expected.predict_proba(x), rtol=1e-8)
    to_x = np.column_stack([np.eye(4), [1, 2, 0, 0]])
    assert_allclose(model.coef_ @ to_x.T, expected.coef_, rtol=1e-7, atol=1e-9)
    shortest = np.linalg.lstsq(to_x, expected.coef_.T)[0].T
    assert_allclose(model.coef_, shortest, rtol=1e-7, atol=1e-9)
    assert model.likelihood_.parameters == expected.likelihood_.parameters
    with pytest.raises(DataError, match="dependent='minimum_norm'"):
        likelihood_fit(more, y, dependent="error")
    assert LogisticRegression().fit(more, y).n_iter_[0] < 10


def test_separated_data_have_no_maximum():
    x, y = load_iris(return_X_y=True)
    with pytest.raises(DataError, match="column 'x2' separates the classes quasi-completely"):
        likelihood_fit(x, y)
    keep = y < 2
    with pytest.raises(DataError, match=r"completely; .*penalty='firth'"):
        likelihood_fit(x[keep], y[keep])
    versicolor = likelihood_fit(x[~(y == 0)], y[~(y == 0)])
    assert versicolor.n_iter_[0] < 12
    for loader in (load_wine, load_breast_cancer, load_digits):
        with pytest.raises(DataError, match="separate the classes completely"):
            likelihood_fit(*loader(return_X_y=True))


def test_separation_is_found_in_sparse_rows_and_by_lbfgs():
    x, y = load_iris(return_X_y=True)
    for options in ({"solver": "lbfgs"}, {"fit_intercept": True}):
        with pytest.raises(DataError, match="separates the classes quasi-completely"):
            likelihood_fit(csr_array(x), y, **options)
    with pytest.raises(DataError, match="separates the classes"):
        likelihood_fit(np.array([[1.0], [2.0], [-1.0]]), [1, 1, 0], fit_intercept=False)


def test_separation_that_cannot_be_ruled_out_is_a_warning(monkeypatch):
    monkeypatch.setattr(suffice.models.separation, "LARGEST_PROGRAMME", 0)
    x, y = overlapping(26)
    with pytest.warns(SufficeWarning, match="too many columns to rule out"):
        likelihood_fit(x, y, solver="lbfgs")
    likelihood_fit(x, y)  # Newton's method proves that there is a maximum
    with pytest.raises(DataError, match="the columns together separate the classes completely"):
        likelihood_fit(*load_wine(return_X_y=True), solver="lbfgs")


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
    assert model.n_iter_[0] <= 4
    same(model, likelihood_fit(x[::-1], y[::-1], threads=1))


# -- errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "l1"}, "penalty is one of 'l2', 'firth'"),
        ({"C": 0}, "C is a number above 0"),
        ({"C": -1.0}, "C is a number above 0"),
        ({"tol": -1.0}, "tol is a number above 0"),
        ({"max_iter": 0}, "max_iter is a number above 0"),
        ({"solver": "quick"}, "solver is one of"),
        ({"l1_ratio": 0.5}, "no L1 penalty"),
        ({"class_weight": "heavy"}, "it is 'balanced'"),
        ({"class_weight": {0: -1.0}}, "a weight is a finite number above 0"),
        ({"missing": "gaussian"}, "missing is one of 'error', 'drop'"),
        ({"dependent": "ignore"}, "dependent is one of"),
        ({"threads": 0}, "threads=0"),
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


def test_there_is_no_partial_fit():
    assert not hasattr(LogisticRegression(), "partial_fit")


# -- inference


def test_a_penalised_fit_has_no_standard_errors():
    x, y = overlapping(23)
    model = LogisticRegression().fit(x, y)
    assert model.likelihood_ is None
    with pytest.raises(ParameterError, match=r"C=np\.inf or penalty='firth'"):
        model.summary()
    with pytest.raises(ParameterError, match="between 0 and 1"):
        likelihood_fit(x, y).summary(level=1.0)
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
    table = likelihood_fit(x, y > 0).summary().frame()
    assert table.loc["x0", "odds_ratio"] == np.exp(table.loc["x0", "estimate"])
