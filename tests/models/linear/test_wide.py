"""Linear models of fewer rows than columns: judged by scikit-learn, and by the laws of sums."""

from __future__ import annotations

import warnings
from itertools import cycle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import linear_model as judge

from suffice import load
from suffice.errors import DataError, ForgetError, ParameterError
from suffice.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from suffice.numerics import memory

P = 400
rng = np.random.default_rng(5)
X = rng.normal(size=(60, P)) + 3.0
Y = X[:, :5].sum(axis=1) + rng.normal(size=60)
FEW = sp.random_array((80, P), density=0.05, rng=rng).tocsr()
TALL = sp.random_array((900, P), density=0.02, rng=rng).tocsr()

SHAPES = {
    "dense": X,
    "single": X.astype(np.float32),
    "integers": rng.integers(-9, 9, size=(50, P)),
    "constant": np.c_[X, np.full(60, 0.1)],
    "duplicated": np.c_[X[:, :200], X[:, :200]],
    "collinear": np.c_[X, X[:, 0] + X[:, 1]],
    "repeated rows": np.concatenate([X[:40], X[:20]]),
    "far": X + 100.0,
    "sparse": FEW,
    "sparse and tall": TALL,
}


def targets(x):
    return Y if x.shape[0] == 60 else np.random.default_rng(1).normal(size=x.shape[0])


def dense(x):
    return np.asarray(x.toarray() if sp.issparse(x) else x, np.float64)


def assert_close(found, expected, tolerance=1e-6):
    np.testing.assert_allclose(found, expected, atol=tolerance * np.abs(expected).max(), rtol=0)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("intercept", [True, False])
def test_coefficients_are_those_of_scikit_learn(shape, intercept):
    x, options = SHAPES[shape], {"fit_intercept": intercept}
    y = targets(x)
    for ours, theirs in (
        (LinearRegression(**options), judge.LinearRegression(**options)),
        (Ridge(0.7, **options), judge.Ridge(0.7, solver="svd", **options)),
    ):
        found, expected = ours.fit(x, y), theirs.fit(dense(x), y)
        assert_close(found.coef_, expected.coef_)
        assert_close(found.predict(x), expected.predict(dense(x)))


@pytest.mark.parametrize(
    ("n", "model"),
    [(500, LinearRegression()), (500, Ridge(0.01)), (300, Ridge(1.0)), (160, Ridge(1.0))],
)
def test_sparse_columns_of_any_unit(n, model):
    units = 10.0 ** np.random.default_rng(0).uniform(-2, 2, P)
    x = sp.random_array((n, P), density=0.15, rng=np.random.default_rng(1)) @ sp.diags_array(units)
    y = x @ (1 / units) + np.random.default_rng(2).normal(size=n)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sparse, laid_out = (model.unfitted().fit(rows, y) for rows in (x.tocsr(), x.toarray()))
        assert_close(sparse.coef_ * units, laid_out.coef_ * units)


@pytest.mark.parametrize(
    ("shape", "model"),
    list(zip(SHAPES, cycle([Lasso(), ElasticNet(), Lasso(positive=True)]), strict=False)),
)
def test_penalties_of_absolute_values_reach_their_minimum(shape, model):
    x = SHAPES[shape]
    y, d = targets(x), dense(x)
    spread = d - d.mean(axis=0)
    largest = np.abs(spread.T @ (y - y.mean())).max() / len(y)
    model = model.unfitted().set_params(alpha=0.1 * largest).fit(x, y)
    w, ratio = model.coef_, getattr(model, "l1_ratio", 1.0)
    slope = spread.T @ (y - y.mean() - spread @ w) / len(y) - model.alpha * (1 - ratio) * w
    cost, used = model.alpha * ratio, w != 0
    assert 0 < used.sum() < len(w)
    np.testing.assert_allclose(slope[used], cost * np.sign(w[used]), rtol=1e-8)
    assert (slope[~used] <= cost * (1 + 1e-8)).all()
    assert model.positive or (slope[~used] >= -cost * (1 + 1e-8)).all()
    assert not model.positive or (w >= 0).all()


def test_several_targets_weights_and_scales():
    y, w = rng.normal(size=(60, 3)), rng.uniform(0.5, 2.0, 60)
    found = Ridge(2.0).fit(X, y, w)
    expected = judge.Ridge(2.0, solver="svd").fit(X, y, w)
    assert_close(found.coef_, expected.coef_)
    scaled = Ridge(2.0, standardize=True).fit(X * np.arange(1, P + 1), Y)
    assert_close(
        scaled.predict(X * np.arange(1, P + 1)), Ridge(2.0, standardize=True).fit(X, Y).predict(X)
    )
    path = Lasso(0.5).fit(X, Y).path([2.0, 0.5])
    assert_close(path.coef[1], Lasso(0.5).fit(X, Y).coef_)


@pytest.mark.parametrize("x", [X, FEW], ids=["dense", "sparse"])
def test_pieces_in_any_order_are_one_fit(x):
    y, order = targets(x), rng.permutation(x.shape[0])
    whole = Ridge().fit(x, y)
    parts = (
        Ridge().partial_fit(x[order[:20]], y[order[:20]]).partial_fit(x[order[20:]], y[order[20:]])
    )
    both = Ridge().fit(x[30:], y[30:]).merge(Ridge().fit(x[:30], y[:30]))
    rest = Ridge().fit(x, y).forget(x[:10], y[:10])
    weighted = Ridge().fit(x, y, np.full(len(y), 2.0))
    twice = Ridge().fit(x, y).partial_fit(x, y)
    for one, other in ((whole, parts), (whole, both), (rest, Ridge().fit(x[10:], y[10:]))):
        assert one.statistic_ == other.statistic_
        np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(weighted.coef_, twice.coef_)
    with pytest.raises(ForgetError):
        rest.forget(x[:10], y[:10], again=True)


@pytest.mark.parametrize("rows", [1, 30])
def test_a_model_holds_no_rows_of_its_caller(rows):
    x, y = X[:rows].copy(), Y[:rows]
    model = Ridge().fit(x, y)
    x[:] = 0.0
    model.partial_fit(X[rows:], Y[rows:])
    np.testing.assert_array_equal(model.coef_, Ridge().fit(X, Y).coef_)


def test_many_rows_become_products():
    x, y = rng.normal(size=(P + 50, P)), rng.normal(size=P + 50)
    whole = Ridge().fit(x, y)
    parts = Ridge().partial_fit(x[:30], y[:30]).partial_fit(x[30:], y[30:])
    np.testing.assert_array_equal(whole.coef_, parts.coef_)
    less = whole.forget(x[:20], y[:20])
    np.testing.assert_array_equal(less.coef_, Ridge().fit(x[20:], y[20:]).coef_)


def test_missing_cells_are_counted_dropped_or_filled():
    x = X.copy()
    x[[3, 8], [0, 7]] = np.nan
    kept = ~np.isnan(x).any(axis=1)
    assert_close(Ridge(incomplete="drop").fit(x, Y).coef_, Ridge().fit(X[kept], Y[kept]).coef_)
    with pytest.raises(DataError, match="x7"):
        Ridge().fit(x, Y)
    x[0, 5] = np.inf
    with pytest.raises(DataError, match="column 'x5', row 0"):
        Ridge().fit(x, Y)


def test_a_file_holds_coefficients_and_says_so(tmp_path):
    for model in (
        Ridge().fit(X, Y),
        Lasso(0.1).fit(FEW, targets(FEW)),
        LinearRegression().fit(X, Y),
    ):
        x = FEW if isinstance(model, Lasso) else X
        model.save(tmp_path / "model")
        again = load(tmp_path / "model")
        assert_close(again.predict(x), model.predict(x), 1e-12)
        np.testing.assert_array_equal(again.coef_, model.coef_)
        assert not hasattr(again, "partial_fit")
        with pytest.raises(ParameterError, match="coefficients"):
            again.forget(x, targets(x))
        with pytest.raises(ParameterError, match="coefficients"):
            again.merge(model)
        again.save(tmp_path / "again")
        np.testing.assert_array_equal(load(tmp_path / "again").coef_, model.coef_)


def test_rows_left_out_leverages_and_choices_of_alpha_agree_with_fits():
    model = Ridge(5.0).fit(X, Y)
    hat = model.leverage(X)
    assert np.isclose(hat.sum(), model.effective_parameters_)
    left = Ridge(5.0).fit(X[1:], Y[1:]).predict(X[:1])[0]
    assert np.isclose(Y[0] - left, (Y[0] - model.predict(X)[0]) / (1 - hat[0]))
    alphas = [0.1, 1.0, 10.0, 100.0]
    fits = [(one, Ridge(one).fit(X, Y)) for one in alphas]
    gcv = {
        one: ((Y - fit.predict(X)) ** 2).sum() / (len(Y) - fit.effective_parameters_) ** 2
        for one, fit in fits
    }
    assert Ridge("gcv", alphas=alphas).fit(X, Y).alpha_ == min(alphas, key=gcv.__getitem__)
    assert Ridge("gcv").fit(X, Y).alpha_ > 0
    ends = model.calibrate(X, Y).predict_interval(X, "conformal", level=0.8)
    assert (ends[:, 0] < ends[:, 1]).all()


def test_predictions_that_rows_do_not_determine_are_told():
    model = LinearRegression().fit(X, Y)
    with pytest.warns(UserWarning, match="1 of 2 rows is not determined"):
        model.predict(np.concatenate([X[:1], X[:1] + rng.normal(size=P)]))


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1e6)
    monkeypatch.setattr(memory, "SMALL", 0)
    with pytest.raises(DataError, match="401 columns"):
        Ridge().fit(np.zeros((P + 1, P)) + rng.normal(size=(P + 1, P)), np.ones(P + 1))
    with pytest.raises(DataError, match="GB"):
        Ridge().fit(X, Y).posterior().covariance  # noqa: B018


def test_errors_of_dependent_columns_are_those_of_the_columns_alone():
    few, y = np.random.default_rng(2).normal(size=(60, 4)), Y
    wide = np.hstack([few] * 100)  # 400 columns of rank 4
    one, other = LinearRegression().fit(few, y), LinearRegression().fit(wide, y)
    for kind in ("HC1", "HC3"):
        alone, found = (
            one.robust_summary(few, y, kind=kind),
            other.robust_summary(wide, y, kind=kind),
        )
        assert_close(found.f, alone.f, 1e-9)
        assert_close(found.standard_error[0], alone.standard_error[0], 1e-9)  # of the intercept


@pytest.mark.parametrize("x", [X, FEW], ids=["dense", "sparse"])
def test_covariances_of_some_columns_are_those_of_all(x):
    fit = Ridge(2.0).fit(x, targets(x)).model_.fit
    places = np.array([0, 7, 30])
    inverse = np.linalg.inv(
        np.cov(dense(x), rowvar=False, ddof=0) * x.shape[0] + 2.0 * np.eye(x.shape[1])
    )
    assert_close(fit.covariance_of(places), inverse[np.ix_(places, places)], 1e-9)
    assert_close(fit.variance[1:], np.diagonal(inverse), 1e-9)


def test_a_sparse_row_that_lacks_a_cell_has_an_empty_answer() -> None:
    model, rows = Ridge(1.0).fit(FEW, FEW.sum(axis=1)), FEW[:4].copy()
    rows.data[rows.indptr[1]] = np.nan
    with pytest.warns(UserWarning, match="1 of 4"):
        (table,) = model.predict_batches(rows, unanswerable="empty")
    found = table.column("prediction").to_pylist()
    assert found[1] is None
    assert [found[i] for i in (0, 2, 3)] == model.predict(FEW[[0, 2, 3]]).tolist()
