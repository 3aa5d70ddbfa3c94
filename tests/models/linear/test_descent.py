"""Least squares by single rows, in batches as they come."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning

import suffice
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.linear_model import GradientDescent, LinearRegression, Ridge

SINGLE_ROWS = ["sgd", "minibatch"]


def rows(n: int = 300, d: int = 4, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * [1e-3, 1.0, 50.0, 1e4] + [0.0, 5.0, -1e3, 1e6]
    return x, x @ [2e2, 1.0, 0.1, 1e-4] + rng.normal(size=n)


def how(**options: object) -> GradientDescent:
    return GradientDescent(tol=0.0, **options)


@pytest.mark.parametrize("solver", SINGLE_ROWS)
@pytest.mark.parametrize("momentum", [0.0, 0.4])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_same_rows_again_and_again_are_epochs(solver, momentum):
    x, y = rows()
    weights = np.random.default_rng(1).random(300)
    descent = how(learning_rate="decaying", max_iter=4, momentum=momentum)
    options = {"solver": solver, "descent": descent}
    whole = LinearRegression(**options).fit(x, y, weights)
    model = LinearRegression(**options)
    for _ in range(4):
        model.partial_fit(x, y, weights)
    assert_allclose(model.coef_, whole.coef_, rtol=1e-12)
    assert_allclose(model.intercept_, whole.intercept_, rtol=1e-12)
    assert_allclose(model.loss_history_, whole.loss_history_, rtol=1e-12)
    assert model.n_iter_ == 4


@pytest.mark.parametrize("solver", SINGLE_ROWS)
def test_a_fit_with_the_defaults_ends_near_the_minimum(solver):
    x, y = load_diabetes(return_X_y=True)
    exact = LinearRegression().fit(x, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = LinearRegression(solver=solver).fit(x, y)
    least, rss = (((one.predict(x) - y) ** 2).sum() for one in (exact, model))
    assert rss < 1.001 * least


@pytest.mark.parametrize("solver", SINGLE_ROWS)
@pytest.mark.parametrize("rate", ["averaged", "decaying", "constant"])
@pytest.mark.parametrize(("tol", "epochs"), [(1e-3, 4), (1e-2, 4), (3e-2, 100), (0.2, 100)])
def test_a_descent_that_ends_too_early_says_so(solver, rate, tol, epochs):
    x, y = rows(n=1_000)
    model = LinearRegression(solver=solver, descent=GradientDescent(rate, tol=tol, max_iter=epochs))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model.fit(x, y)
    z = np.column_stack([np.ones(len(y)), (x - x.mean(axis=0)) / x.std(axis=0)])
    slope, before = (np.linalg.norm(z.T @ e) for e in (model.predict(x) - y, y.mean() - y))
    assert len(told) == int(slope > tol * before)
    assert all(f"tol={tol:g} times that at 0, is not met" in str(one.message) for one in told)
    assert model.n_iter_ == epochs or not told


@pytest.mark.parametrize("solver", SINGLE_ROWS)
def test_a_stream_approaches_the_fit_of_all_its_rows(solver):
    x, y = rows(n=30_000)
    exact, unit = LinearRegression().fit(x, y), x.std(axis=0)
    model = LinearRegression(solver=solver, descent=how())
    errors = []
    for start in range(0, 30_000, 300):
        model.partial_fit(x[start : start + 300], y[start : start + 300])
        errors.append(np.abs((model.coef_ - exact.coef_) * unit).max())
    assert errors[-1] < 0.04
    assert errors[-1] < errors[9] < errors[0]


@pytest.mark.parametrize("solver", SINGLE_ROWS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_penalty_is_shared_among_all_rows_seen(solver):
    x, y = rows(n=6_000)
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    exact = Ridge(3_000.0).fit(x, y)
    model = Ridge(3_000.0, solver=solver, descent=how(decay=0.5))
    for _ in range(40):
        for start in range(0, 6_000, 1_500):
            model.partial_fit(x[start : start + 1_500], y[start : start + 1_500])
    plain = LinearRegression().fit(x, y)
    closer = np.abs(model.coef_ - exact.coef_).max(), np.abs(model.coef_ - plain.coef_).max()
    assert model.alpha_ == 3_000.0
    assert closer[1] < closer[0]  # after 40 times the rows, the penalty is 40 times weaker
    once = Ridge(3_000.0, solver=solver, descent=how(max_iter=60)).fit(x, y)
    assert_allclose(once.coef_, exact.coef_, atol=0.08)


@pytest.mark.parametrize("solver", SINGLE_ROWS)
def test_a_saved_model_goes_on_to_the_same_bits(solver, tmp_path):
    x, y = rows()
    model = Ridge(0.5, solver=solver, descent=how(momentum=0.3)).partial_fit(x[:200], y[:200])
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    for one in (model, again):
        one.partial_fit(x[200:], y[200:])
    assert (again.coef_ == model.coef_).all()
    assert (again.loss_history_ == model.loss_history_).all()


@pytest.mark.parametrize("first", ["gradient", "sgd"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_descent_by_all_rows_can_be_followed_by_single_ones(first):
    x, y = rows()
    model = LinearRegression(solver=first, descent=GradientDescent(tol=1e-6)).fit(x, y)
    epochs, before = model.n_iter_, model.coef_
    model.set_params(solver="sgd").partial_fit(x, y)
    assert model.n_iter_ == epochs + 1
    assert_allclose(model.coef_ * x.std(axis=0), before * x.std(axis=0), atol=0.1)


def test_after_a_fit_from_sums_a_descent_starts_anew():
    x, y = rows()
    expected = LinearRegression(solver="sgd").partial_fit(x, y)
    model = LinearRegression().fit(x, y).set_params(solver="sgd").partial_fit(x, y)
    assert (model.coef_ == expected.coef_).all()
    assert not hasattr(model, "statistic_")


def test_targets_and_categories_of_a_stream():
    x, y = rows()
    table = pd.DataFrame(x, columns=list("abcd")).assign(kind=["u", "v", "w"] * 100, y=y)
    model = LinearRegression(solver="minibatch")
    for _ in range(3):
        model.partial_fit(table, "y")
    assert model.terms_[-2:] == ("kind[v]", "kind[w]")
    assert model.predict(table.drop(columns="y")).shape == (300,)
    with pytest.raises(DataError, match="'new'"):
        model.partial_fit(table.assign(kind="new"), "y")
    with pytest.raises(SchemaError, match="there are 2 targets"):
        model.partial_fit(table, ["y", "a"])
    many = LinearRegression(solver="minibatch").partial_fit(x, np.column_stack([y, -y]))
    assert_allclose(many.coef_[0], -many.coef_[1], rtol=1e-12)


def test_a_batch_that_cannot_be_learnt_changes_nothing():
    x, y = rows()
    model = LinearRegression(solver="sgd").partial_fit(x, y)
    before, bad = model.coef_, x.copy()
    bad[7, 1] = np.nan
    with pytest.raises(DataError, match="1 of column 'x1'"):
        model.partial_fit(bad, y)
    with pytest.raises(DataError, match="there is no complete row"):
        model.partial_fit(x, y, np.zeros(300))
    assert (model.coef_ == before).all()
    dropped = LinearRegression(solver="sgd", incomplete="drop").partial_fit(bad, y)
    kept = np.arange(300) != 7
    expected = LinearRegression(solver="sgd").partial_fit(x[kept], y[kept])
    assert_allclose(dropped.coef_, expected.coef_, rtol=1e-12)


def test_a_stream_has_no_average_over_epochs():
    x, y = rows()
    with pytest.raises(ParameterError, match="'averaged' with partial_fit"):
        LinearRegression(solver="sgd", descent=how(learning_rate="averaged")).partial_fit(x, y)


def test_steps_that_are_too_long_are_an_error():
    x, y = rows()
    model = LinearRegression(solver="sgd", descent=how(learning_rate="constant", eta0=50.0))
    with pytest.raises(ParameterError, match="lower eta0 or momentum"):
        model.partial_fit(x, y)
