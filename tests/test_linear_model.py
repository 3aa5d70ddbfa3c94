"""Linear regression and ridge as users meet them: tables, batches, missing cells, mistakes."""

import warnings
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator
from tests.running import on

import suffice
import suffice.data.source
from suffice import read_csv
from suffice.errors import (
    DataError,
    ForgetError,
    ParameterError,
    SchemaError,
    SufficeError,
    SufficeWarning,
)
from suffice.linear_model import ElasticNet, GradientDescent, Lasso, LinearRegression, Ridge

MODELS = [LinearRegression(), Ridge(0.5), Ridge("gcv", standardize=True), Ridge(positive=True)]
OF_ABSOLUTE_VALUES = [
    Lasso(0.1),
    ElasticNet(0.1),
    ElasticNet(0.2, l1_ratio=0.9, standardize=True, positive=True),
]


def rows(n: int = 200, d: int = 4, t: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z, scale = rng.normal(size=(n, d)), 10.0 ** rng.integers(-3, 4, d)
    y = z @ rng.normal(size=(d, t)) + rng.normal(size=(n, t)) / 4
    return (z + rng.integers(-9, 9, d)) * scale, y


def frame(n: int = 120, seed: int = 0) -> pd.DataFrame:
    """Numbers, whole numbers, booleans, dates and strings; the target depends on them all."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n),
            "color": rng.choice(["red", "blue", "green"], n),
            "rooms": rng.integers(1, 5, n),
            "old": rng.random(n) < 0.4,
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    price = 2.0 * table["size"] + 3.0 * (table.color == "red") - 1.5 * (table.color == "green")
    table["price"] = price + table.rooms - 0.7 * table.old + rng.normal(size=n) / 10
    return table


def known(model: Any, x: Any) -> list[float]:
    """Everything that a model says, flattened."""
    parts = (model.coef_, model.intercept_, model.predict(x))
    return np.concatenate([np.ravel(part) for part in parts]).tolist()


# -- scikit-learn's contract


@pytest.mark.parametrize(
    "model", [MODELS[0], pytest.param(MODELS[2], marks=pytest.mark.exhaustive), MODELS[3]], ids=str
)
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator(model):
    check_estimator(model)


def test_pipelines_grids_and_clones():
    x, y = rows()
    scores = cross_val_score(make_pipeline(StandardScaler(), LinearRegression()), x, y)
    assert scores.min() > 0.5
    grid = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0], "standardize": [True, False]}).fit(x, y)
    assert grid.best_score_ > 0.5
    assert clone(Ridge("gcv", alphas=[1.0])).get_params() == Ridge("gcv", alphas=[1.0]).get_params()


def test_parameters_are_those_of_scikit_learn():
    import sklearn.linear_model as theirs

    for name in ("LinearRegression", "Ridge"):
        mine = getattr(suffice.linear_model, name)().get_params()
        other = getattr(theirs, name)().get_params()
        assert other.items() <= mine.items()


def test_shapes_follow_the_targets():
    x, y = rows()
    one, column, two = (LinearRegression().fit(x, t) for t in (y[:, 0], y[:, :1], y))
    assert [np.shape(m.coef_) for m in (one, column, two)] == [(4,), (1, 4), (2, 4)]
    assert [np.shape(m.intercept_) for m in (one, column, two)] == [(), (1,), (2,)]
    assert [m.predict(x).shape for m in (one, column, two)] == [(200,), (200, 1), (200, 2)]
    assert two.predict_interval(x).shape == (200, 2, 2)
    assert one.predict_interval(x).shape == (200, 2)
    assert (two.coef_[0] == one.coef_).all()
    assert isinstance(one.intercept_, float)


# -- one statistic


@pytest.mark.parametrize("model", [*MODELS, *OF_ABSOLUTE_VALUES], ids=str)
def test_batches_merges_and_forgetting_give_the_bits_of_one_fit(model, tmp_path):
    x, y = rows()
    whole = known(clone(model).fit(x, y), x)
    assert known(clone(model).fit(x[::-1], y[::-1]), x) == whole
    batches = clone(model)
    for part in np.array_split(np.random.default_rng(0).permutation(200), 7):
        batches.partial_fit(x[part], y[part])
    assert known(batches, x) == whole
    first, last = clone(model).fit(x[:80], y[:80]), clone(model).fit(x[80:], y[80:])
    assert known(first.merge(last), x) == whole
    more, other = rows(seed=1)
    longer = clone(model).fit(np.concatenate([x, more]), np.concatenate([y, other]))
    assert known(longer.forget(more, other), x) == whole
    longer.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert known(loaded, x) == whole
    assert loaded.get_params() == model.get_params()
    again = known(clone(model).fit(np.concatenate([x, more]), np.concatenate([y, other])), x)
    assert known(loaded.partial_fit(more, other), x) == again


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_give_the_same_bits(threads):
    x, y = rows(n=60_000)
    mine = on(threads, LinearRegression()).fit(x, y)
    assert known(mine, x) == known(on(1, LinearRegression()).fit(x[::-1], y[::-1]), x)


def test_weights_are_repetitions():
    x, y = rows()
    times = np.random.default_rng(0).integers(0, 4, 200)
    repeated = np.repeat(np.arange(200), times)
    weighted = LinearRegression().fit(x, y, times)
    plain = LinearRegression().fit(x[repeated], y[repeated])
    assert known(weighted, x) == known(plain, x)
    assert (weighted.leverage(x) == plain.leverage(x)).all()
    assert weighted.score(x, y, times) == pytest.approx(plain.score(x[repeated], y[repeated]))
    first, second = (m.summary(0).standard_error for m in (weighted, plain))
    assert (first == second).all()


def test_containers_give_the_same_bits():
    x, y = rows()
    model = LinearRegression().fit(x, y)
    names = ["a", "b", "c", "d"]
    tables = [
        pd.DataFrame(x, columns=names),
        pl.DataFrame(x, schema=names),
        pa.table(dict(zip(names, x.T, strict=True))),
    ]
    targets = [pd.DataFrame(y), pl.DataFrame(y), y]
    for table, target in zip(tables, targets, strict=True):
        other = LinearRegression().fit(table, target)
        assert (other.coef_ == model.coef_).all()
        assert (other.predict(table) == model.predict(x)).all()
    for kind in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, np.asfortranarray):
        other = LinearRegression().fit(kind(x), y)
        assert known(other, kind(x)) == known(model, x)
    whole = np.random.default_rng(0).integers(-99, 99, (200, 3)).astype(np.int16)
    mine, other = LinearRegression().fit(whole, y), LinearRegression().fit(whole.astype(float), y)
    assert known(mine, whole) == known(other, whole)


def test_the_target_is_a_column_or_beside_the_table(tmp_path):
    table = frame().drop(columns=["color", "day"])
    named = LinearRegression().fit(table, "price")
    beside = LinearRegression().fit(table.drop(columns="price"), table.price)
    assert known(named, table) == known(beside, table.drop(columns="price"))
    assert named.design_.targets == beside.design_.targets == ("price",)
    path = tmp_path / "houses.csv"
    table.to_csv(path, index=False)
    from_file = LinearRegression().fit(read_csv(path), "price")
    assert known(from_file, path) == known(named, table)
    both = LinearRegression().fit(table, ["price", "size"])
    assert both.coef_.shape == (2, 2)
    assert both.predict(table).shape == (120, 2)
    weighted = LinearRegression().fit(table.assign(w=2.0), "price", sample_weight="w")
    assert known(weighted, table) == known(named, table)
    assert named.evaluate(table, "price").r_squared == named.score(table, "price")


# -- columns of every kind


def test_categories_are_compared_with_the_first():
    table = frame()
    model = LinearRegression().fit(table, "price")
    assert model.terms_ == (
        "(Intercept)",
        "size",
        "color[green]",
        "color[red]",
        "rooms",
        "old",
        "day",
    )
    by_hand = table.assign(
        green=table.color == "green", red=table.color == "red", day=table.day.astype("int64") / 1e6
    )
    columns = ["size", "green", "red", "rooms", "old", "day"]
    other = LinearRegression().fit(by_hand[columns].to_numpy(float), table.price)
    assert_allclose(model.coef_[:5], other.coef_[:5], rtol=1e-9)
    assert_allclose(model.predict(table), other.predict(by_hand[columns].to_numpy(float)))
    assert_allclose(model.coef_[:4], [2.0, -1.5, 3.0, 1.0], atol=0.1)


def test_a_dictionary_of_numbers_is_a_category():
    table = frame().assign(rooms=lambda t: t.rooms.astype("category"))
    model = LinearRegression().fit(table[["rooms", "price"]], "price")
    assert model.terms_ == ("(Intercept)", "rooms[2]", "rooms[3]", "rooms[4]")
    means = table.groupby("rooms", observed=True).price.mean().to_numpy()
    assert_allclose(model.intercept_ + np.array([0, *model.coef_]), means)


def test_batches_of_categories_in_any_order():
    table = frame()
    whole = LinearRegression().fit(table, "price")
    batches = LinearRegression().fit(table[:40], "price")
    for part in (table[40:90], table[90:]):
        batches.partial_fit(part.sample(frac=1, random_state=0), "price")
    assert known(batches, table) == known(whole, table)


def colors(values):
    size = np.random.default_rng(len(values)).normal(size=len(values))
    return pa.table({"size": size, "color": values, "price": size**2 + np.arange(len(values))})


@pytest.mark.parametrize("gone", ["aqua", "blue", "red"])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_category_that_no_row_shows_any_more_is_forgotten(gone, intercept):
    table = colors(["red", "aqua", "blue", "green"] * 6)
    rows = np.array(table["color"].to_pylist()) == gone
    model = Ridge(fit_intercept=intercept).fit(table, "price")
    model.forget(table.filter(rows), "price")
    expected = Ridge(fit_intercept=intercept).fit(table.filter(~rows), "price")
    assert model.design_ == expected.design_
    assert model.statistic_ == expected.statistic_
    assert (model.coef_ == expected.coef_).all()
    with (
        pytest.warns(SufficeWarning, match=rf"'color': 6 of 6 \(100%\).* such as '{gone}'"),
        pytest.raises(DataError, match=f"'{gone}'; a category must be one of"),
    ):
        model.predict(table.filter(rows))


def test_a_category_is_known_while_a_row_shows_it():
    table = colors(["red", "aqua", "red", "aqua", "red", "blue", "blue"])
    weight = np.random.default_rng(0).random(7)
    model = Ridge().fit(table, "price", weight).forget(table[5:6], "price", weight[5:6])
    assert model.design_.terms == ("size", "color[blue]", "color[red]")
    model.forget(table[6:], "price", weight[6:])
    assert model.design_.terms == ("size", "color[red]")
    model.forget(table[:1], "price", weight[:1])
    assert model.design_.terms == ("size", "color[red]")
    model.forget(table[1:4:2], "price", weight[1:4:2])
    assert model.design_.terms == ("size",)
    with (
        pytest.warns(SufficeWarning, match=r"'color': 4 of 7 \(57%\).* such as 'aqua'"),
        pytest.raises(DataError, match="'aqua'; a category must be one of"),
    ):
        model.predict(table)


# -- missing cells


def gappy(n: int = 400, share: float = 0.1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    x = rng.multivariate_normal(np.zeros(3), np.eye(3) * 0.4 + 0.6, n)
    y = x @ [1.0, -2.0, 0.5] + rng.normal(size=n) / 2
    x[rng.random(x.shape) < share] = np.nan
    return x, y


def test_missing_cells_are_counted_by_column():
    x, y = gappy(40)
    counts = np.isnan(x).sum(axis=0)
    assert counts.all()
    named = ", ".join(f"{n} of column 'x{j}'" for j, n in enumerate(counts))
    message = (
        f"cells are missing \\(NaN or null\\): {named}; every row needs all its cells; use inc"
    )
    with pytest.raises(DataError, match=message):
        LinearRegression().fit(x, y)
    table = pa.table({"a": [1.0, None, 3.0], "y": [1.0, 2.0, None]})
    with pytest.raises(DataError, match=r"1 of column 'a', 1 of column 'y'; every"):
        LinearRegression().fit(table, "y")
    with pytest.raises(DataError, match="2 of column 'x0', 2 of column 'y'"):
        LinearRegression().fit([[1.0], [np.nan], [np.nan]], [1.0, np.nan, np.nan])


def test_missing_cells_of_rows_without_weight_do_not_matter():
    x, y = gappy(50)
    complete = ~np.isnan(x).any(axis=1)
    model = LinearRegression().fit(x, y, complete.astype(float))
    assert (model.coef_ == LinearRegression().fit(x[complete], y[complete]).coef_).all()


def test_complete_rows_only():
    x, y = gappy()
    y[::17] = np.nan
    complete = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    model = LinearRegression(incomplete="drop").fit(x, y)
    plain = LinearRegression().fit(x[complete], y[complete])
    assert known(model, x[complete]) == known(plain, x[complete])
    found = model.summary()
    partly = ~complete & ~(np.isnan(x).all(axis=1) & np.isnan(y))
    assert found.left_out == partly.sum()
    assert str(found).endswith(f"\nRows left out for missing cells: {partly.sum()}")
    with pytest.raises(
        DataError, match=r"column 'x\d', row \d+: nan; a missing cell \(NaN or null"
    ):
        model.predict(x)


def test_regression_under_the_joint_gaussian():
    x, y = gappy(2000)
    model = LinearRegression(incomplete="gaussian").fit(x, y)
    assert_allclose(model.coef_, [1.0, -2.0, 0.5], atol=0.06)
    cells = model.model_.cells.parameters
    mean, sigma = cells.mean[0], cells.covariance[0]
    # the conditional expectation of y given what a row shows, from the joint Gaussian alone
    for row in x[np.isnan(x).any(axis=1)][:20]:
        shown = np.flatnonzero(~np.isnan(row))
        slopes = np.linalg.solve(sigma[np.ix_(shown, shown)], sigma[shown, 3])
        expected = mean[3] + (row[shown] - mean[shown]) @ slopes
        assert_allclose(model.predict(row[None]), [expected], rtol=1e-8, atol=1e-10)
    for refused in (model.summary, model.posterior, lambda: model.predict_interval(x)):
        with pytest.raises(ParameterError, match="has errors of its own"):
            refused()


def test_a_gaussian_of_complete_rows_fills_new_ones_only():
    x, y = gappy()
    complete = ~np.isnan(x).any(axis=1)
    model = LinearRegression(incomplete="gaussian").fit(x[complete], y[complete])
    plain = LinearRegression().fit(x[complete], y[complete])
    assert known(model, x[complete]) == known(plain, x[complete])
    assert str(model.summary()) == str(plain.summary())
    assert np.isfinite(model.predict(x)).all()
    for incomplete in (model.predict_interval, model.leverage):
        with pytest.raises(DataError, match="leaves a row without a prediction"):
            incomplete(x)


# -- wrong answers that others give


def test_a_column_far_from_zero():
    rng = np.random.default_rng(0)
    x = 1e9 + rng.integers(0, 100, (400, 1)).astype(float)
    y = 3 * (x[:, 0] - 1e9) + 1
    model = LinearRegression().fit(x, y)
    assert model.coef_ == [3.0]
    assert (model.predict(x) == y).all()


TINY = st.integers(-464, -420) | st.integers(-1_000, -480)  # 2**-465 is 1e-140


@given(e=TINY, j=st.integers(0, 3), intercept=st.booleans())
@settings(max_examples=15)
def test_a_tiny_unit_is_exact_or_named(e, j, intercept):
    table = np.random.default_rng(j).integers(-9, 10, (30, 4)).astype(float)
    unit = np.where(np.arange(4) == j, 2.0**e, 1.0)  # of the target, if j is 3
    model, (x, y) = LinearRegression(fit_intercept=intercept), (table[:, :3], table[:, 3])
    expected = clone(model).fit(x, y)
    if e > -465:
        found = model.fit(x * unit[:3], y * unit[3])
        assert (found.coef_ * unit[:3] == expected.coef_ * unit[3]).all()
        assert found.intercept_ == expected.intercept_ * unit[3]
    else:
        name = "y" if j == 3 else f"x{j}"
        with pytest.raises(DataError, match=f"column '{name}': its values differ by about 1e-140"):
            model.fit(x * unit[:3], y * unit[3])


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(incomplete="gaussian"),
        LinearRegression(solver="gradient"),
        Ridge(solver="sgd"),
    ],
)
def test_every_way_to_a_fit_names_a_tiny_unit(model):
    x, y = rows(t=1)
    x[:, 2] *= 1e-160
    if model.incomplete == "gaussian":
        x[::3, 1] = np.nan
        x[1::4, 2] = np.nan
    with pytest.raises(DataError, match=r"column 'x2': .* underflow; give it in a smaller unit"):
        model.fit(x, y)


def test_a_value_below_every_square_is_not_called_zero():
    with pytest.raises(DataError, match="column 'x0': its values differ by about 1e-140 or less"):
        LinearRegression(fit_intercept=False).fit(np.full((3, 1), 1e-170), [1.0, 2.0, 3.0])


def test_columns_that_depend_on_each_other_are_named():
    y, x = rows()[1], np.random.default_rng(0).normal(size=(200, 3)) + 3
    x = np.concatenate([x, x[:, :1] - 2 * x[:, 2:]], axis=1)
    message = (
        "column 'x3' is 1 × 'x0' \\+ -2 × 'x2' plus a constant, up to 2e-12 of its standard dev"
    )
    with pytest.warns(SufficeWarning, match=message):
        model = LinearRegression().fit(x, y)
    centred = x - x.mean(axis=0)
    assert_allclose(model.coef_.T, np.linalg.pinv(centred) @ (y - y.mean(axis=0)), rtol=1e-8)
    with pytest.raises(DataError, match=message + "iation; the coefficients of such columns are"):
        LinearRegression(dependent="error").fit(x, y)
    Ridge().fit(x, y)


# -- ridge


@settings(max_examples=15)
@given(st.integers(0, 2**32 - 1), st.sampled_from([1e-3, 1.0, 1e3]), st.booleans())
def test_ridge_in_closed_form(seed, alpha, standardize):
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(30, 3)) * [1.0, 5.0, 0.2] + 3, rng.normal(size=30)
    model = Ridge(alpha, standardize=standardize).fit(x, y)
    centred = x - x.mean(axis=0)
    penalty = alpha * np.diag(x.var(axis=0) if standardize else np.ones(3))
    w = np.linalg.solve(centred.T @ centred + penalty, centred.T @ (y - y.mean()))
    assert_allclose(model.coef_, w, rtol=1e-9, atol=1e-12)
    assert_allclose(model.intercept_, y.mean() - x.mean(axis=0) @ w, rtol=1e-9, atol=1e-12)
    hat = centred @ np.linalg.solve(centred.T @ centred + penalty, centred.T) + 1 / 30
    assert_allclose(model.effective_parameters_, np.trace(hat), rtol=1e-12)
    assert_allclose(model.leverage(x), np.diagonal(hat), rtol=1e-10)


def test_standardised_penalties_do_not_depend_on_units():
    x, y = rows()
    one = Ridge(5.0, standardize=True).fit(x, y[:, 0])
    other = Ridge(5.0, standardize=True).fit(x * 2.0 ** np.array([9, -9, 40, -40]), y[:, 0])
    assert_allclose(other.coef_ * 2.0 ** np.array([9, -9, 40, -40]), one.coef_, rtol=1e-14)


def test_alpha_of_least_generalised_cross_validation():
    x, y = rows()
    centred, t = x - x.mean(axis=0), y[:, 0] - y[:, 0].mean()

    def gcv(alpha):
        hat = centred @ np.linalg.solve(centred.T @ centred + alpha * np.eye(4), centred.T)
        return ((t - hat @ t) ** 2).sum() / (len(t) - 1 - np.trace(hat)) ** 2

    alphas = np.geomspace(1e-3, 1e4, 8)
    one = Ridge("gcv", alphas=alphas).fit(x, y[:, 0])
    assert one.alpha_ == min(alphas, key=gcv)
    best = Ridge("gcv").fit(x, y[:, 0])
    assert gcv(best.alpha_) <= min(map(gcv, [*alphas, best.alpha_ * 1.1, best.alpha_ / 1.1]))
    parts = Ridge("gcv").fit(x[:90], y[:90, 0]).merge(Ridge("gcv").fit(x[90:], y[90:, 0]))
    assert parts.alpha_ == best.alpha_ == Ridge("gcv").fit(one.sums_).alpha_
    assert "chosen by gcv" in repr(best.summary())


# -- intervals


def test_intervals_hold_as_often_as_they_say():
    rng = np.random.default_rng(0)
    new = np.array([[0.5, -1.0]])
    hits = []
    for _ in range(200):
        x = rng.normal(size=(12, 2))
        y = 1 + x @ [2.0, -1.0] + rng.normal(size=12)
        model = LinearRegression().fit(x, y)
        mean, (row,) = 1 + new[0] @ [2.0, -1.0], new @ [2.0, -1.0] + 1 + rng.normal()
        found = (model.predict_interval(new, kind, 0.8)[0] for kind in ("confidence", "prediction"))
        lower, upper = model.posterior().interval(0.8)
        ends = [*found, (lower[1, 0], upper[1, 0])]
        truths = (mean, row, 2.0)
        hits.append([a < t < b for (a, b), t in zip(ends, truths, strict=True)])
    assert_allclose(np.mean(hits, axis=0), 0.8, atol=0.06)


def test_summaries_of_one_target_of_many():
    x, y = rows()
    model = LinearRegression().fit(x, pd.DataFrame(y, columns=["first", "second"]))
    alone = LinearRegression().fit(x, y[:, 1])
    for target in ("second", 1):
        assert (model.summary(target).t == alone.summary().t).all()
    with pytest.raises(ParameterError, match="a summary is of one target: 'first', 'second'"):
        model.summary()
    table = model.summary(0, level=0.9, as_frame=True)
    assert table.columns.tolist() == ["estimate", "standard_error", "t", "p", "0.05", "0.95"]
    assert table.index.tolist() == ["(Intercept)", "x0", "x1", "x2", "x3"]
    assert (table["estimate"].to_numpy()[1:] == model.coef_[0]).all()


def test_a_perfect_fit_and_a_constant_target_have_no_tests_and_print_no_nan():
    x = np.arange(6.0)[:, None]
    for y in (2 * x[:, 0] + 1, np.zeros(6), np.full(6, 7.0)):
        found = LinearRegression().fit(x, y).summary()
        assert found.perfect
        assert found.sigma == 0
        assert found.r_squared == 1
        unknown = {
            name
            for name, value in vars(found).items()
            if not isinstance(value, str | tuple) and np.isnan(value).any()
        }
        assert unknown == {"t", "p", "f", "f_p"}
        assert "nan" not in str(found)


def test_a_summary_of_ridge_is_its_posterior():
    x, y = rows()
    model = Ridge(2.0).fit(x, pd.DataFrame(y, columns=["first", "second"]))
    found, posterior = model.summary("second", level=0.9), model.posterior()
    assert (found.estimate == posterior.location[:, 1]).all()
    for ends, expected in zip((found.lower, found.upper), posterior.interval(0.9), strict=True):
        assert (ends == expected[:, 1]).all()
    assert (found.penalty, found.rows) == (2.0, 200)
    assert found.effective_parameters == model.effective_parameters_
    table = model.summary(np.int64(1), as_frame=True)
    assert table.columns.tolist() == ["estimate", "0.025", "0.975"]
    assert table.index.tolist() == list(model.terms_)
    assert "chosen by gcv; effective parameters:" in str(Ridge("gcv").fit(x, y[:, 0]).summary())
    assert len(repr(posterior)) < 100
    assert model.solver_ == "normal"
    x[:5, 0] = np.nan
    found = Ridge(incomplete="drop").fit(x, y[:, 0]).summary()
    assert str(found).endswith("Rows left out for missing cells: 5")


# -- categories that are numbers, or that no row of the fit showed


@pytest.mark.parametrize("way", ["memory", "file"])
def test_numbers_may_be_categories(way, tmp_path):
    table = frame().drop(columns="day")
    words = table.assign(rooms=table.rooms.astype(str).astype("category"))
    expected = LinearRegression().fit(words, "price")
    source: Any = table
    if way == "file":
        source = tmp_path / "t.csv"
        table.to_csv(source, index=False)
    model = LinearRegression(categorical=["rooms"]).fit(source, "price")
    assert model.terms_ == expected.terms_
    assert_allclose(model.coef_, expected.coef_, rtol=1e-14)
    model.save(tmp_path / "m")
    again = suffice.load(tmp_path / "m")
    assert (again.predict(source) == model.predict(source)).all()


@pytest.mark.parametrize("column", ["color", "rooms"])
def test_an_unknown_category_is_a_missing_one_where_cells_are_expected(column):
    table = frame().drop(columns="day")
    model = LinearRegression(incomplete="gaussian", categorical=["rooms"]).fit(table, "price")
    unknown = table.head(5).copy()
    absent = unknown.copy()
    unknown[column] = {"color": "black", "rooms": 99}[column]
    absent[column] = None
    with pytest.warns(SufficeWarning, match=rf"'{column}': 5 of 5 \(100%\)"):
        found = model.predict(unknown)
    assert (found == model.predict(absent)).all()
    new = unknown[column].iloc[0]
    assert new in model.partial_fit(unknown, "price").design_.categories[column].values


# -- what a user reads when something is wrong


X, Y = rows(n=8, d=2, t=1)
TABLE = pa.table({"a": [1.0, 2.0, 3.0], "s": ["u", "v", "u"], "y": [1.0, 2.0, 4.0]})

Case = tuple[Callable[[], Any], type[SufficeError], str]
CASES: dict[str, Case] = {
    "no target": (lambda: LinearRegression().fit(X), ParameterError, "requires y to be passed,"),
    "strings as target": (
        lambda: LinearRegression().fit(TABLE, "s"),
        SchemaError,
        "column 's' holds text",
    ),
    "no such target": (
        lambda: LinearRegression().fit(TABLE, "z"),
        SchemaError,
        "there is no column 'z' to be a target",
    ),
    "nothing but a target": (
        lambda: LinearRegression().fit(TABLE.select(["y"]), "y"),
        SchemaError,
        "the table has no column besides the target",
    ),
    "an unseen category": (
        lambda: (
            LinearRegression().fit(TABLE, "y").predict(pa.table({"a": [1.0, 1.0], "s": ["u", "w"]}))
        ),
        DataError,
        "column 's', row 1: 'w'",
    ),
    "infinity": (
        lambda: LinearRegression().fit([[1.0], [np.inf]], [1.0, 2.0]),
        DataError,
        "column 'x0', row 1: inf",
    ),
    "too few rows for errors": (
        lambda: LinearRegression().fit(X[:3], Y[:3]).summary(),
        DataError,
        "rows of weight 3 for 3 parameters",
    ),
    "errors of nonnegative coefficients": (
        lambda: LinearRegression(positive=True).fit(X, Y).summary(),
        ParameterError,
        "coefficients that may not be negative have no standard errors",
    ),
    "another interval": (
        lambda: LinearRegression().fit(X, Y).predict_interval(X, "credible"),
        ParameterError,
        "kind='credible'",
    ),
    "a level of one": (
        lambda: LinearRegression().fit(X, Y).predict_interval(X, level=1),
        ParameterError,
        "level=1",
    ),
    "a truth value as target": (
        lambda: LinearRegression().fit(X, Y).summary(True),
        ParameterError,
        "target=True",
    ),
    "effective parameters of nonnegative coefficients": (
        lambda: Ridge(positive=True).fit(X, Y).effective_parameters_,
        ParameterError,
        "positive=True",
    ),
    "sparse targets": (
        lambda: LinearRegression().fit(X, sparse.csr_array(Y)),
        DataError,
        "the targets are a sparse matrix",
    ),
    "a name in the place of names": (
        lambda: LinearRegression(categorical="a").fit(TABLE, "y"),
        ParameterError,
        "categorical='a'",
    ),
    "a target as category": (
        lambda: LinearRegression(categorical=["y"]).fit(TABLE, "y"),
        ParameterError,
        "names of columns of a table, none of them a target",
    ),
    "rows never learnt": (
        lambda: LinearRegression().fit(X[:4], Y[:4]).forget(X[4:] * 9, Y[4:]),
        ForgetError,
        "only rows that were learnt can be forgotten",
    ),
    "all rows forgotten": (
        lambda: LinearRegression().fit(X, Y).forget(X, Y),
        ForgetError,
        "no row would be left",
    ),
    "another model": (
        lambda: LinearRegression().fit(X, Y).merge(LinearRegression().fit(TABLE, "y")),
        SchemaError,
        "the models differ: 'x0' is among the columns of this model only",
    ),
    "fewer targets": (
        lambda: LinearRegression().fit(X, np.c_[Y, Y]).partial_fit(X, Y),
        SchemaError,
        "there are 1 targets",
    ),
    "no complete row": (
        lambda: LinearRegression(incomplete="drop").fit([[1.0], [np.nan]], [np.nan, 1.0]),
        DataError,
        "there is no complete row whose weight is not zero",
    ),
    "no row with weight": (
        lambda: LinearRegression().fit(X, Y, np.zeros(8)),
        DataError,
        "there is no row whose weight is not zero",
    ),
    "a column without a value": (
        lambda: LinearRegression(incomplete="gaussian").fit([[1.0, np.nan], [2.0, np.nan]], [1, 2]),
        DataError,
        "column 'x1' has no value",
    ),
    "a file with targets as values": (
        lambda: LinearRegression().fit(Path("rows.parquet"), [1.0]),
        SufficeError,
        "rows.parquet",
    ),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")
def test_mistakes_are_explained(name):
    mistake, error, message = CASES[name]
    with pytest.raises(error, match=message):
        mistake()


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LinearRegression(incomplete="mean"), "incomplete='mean'"),
        (LinearRegression(dependent="drop"), "dependent='drop'"),
        (LinearRegression(categorical=["x0"]), "names of columns of a table"),
        (Ridge(-1.0), "alpha=-1.0"),
        (Ridge([1.0, 2.0]), "alpha="),
        (Ridge("aic"), "alpha='aic'"),
        (Ridge("gcv", alphas=[-1.0]), "penalties are finite numbers, 0 or more"),
        (Ridge(solver="magic"), "solver='magic'"),
        (LinearRegression(solver="magic"), "solver='magic'; solver is one of 'normal', 'gradient'"),
        (LinearRegression(descent=0.1), "descent=0.1; descent is a GradientDescent"),
        (LinearRegression(solver="sgd", positive=True), "positive=True with solver='sgd'"),
        (
            LinearRegression(solver="sgd", incomplete="gaussian"),
            "incomplete='gaussian' with solver",
        ),
        (Ridge("gcv", solver="sgd"), "alpha='gcv' with solver='sgd'"),
        (
            LinearRegression(solver="gradient", descent=GradientDescent(9.0, passes=99)),
            "the loss grew from .* lower learning_rate",
        ),
        (
            LinearRegression(solver="sgd", descent=GradientDescent(9.0)),
            "the loss grew from .* lower learning_rate",
        ),
    ],
    ids=str,
)
def test_options_outside_their_rules(model, message):
    x, y = rows(t=1)
    with pytest.raises(ParameterError, match=message):
        model.fit(x, y[:, 0])


def test_what_was_learnt_survives_a_mistake():
    model = LinearRegression().fit(X, Y)
    before = known(model, X)
    for more in (
        lambda: model.fit([[np.nan]], [1.0]),
        lambda: model.partial_fit(X * np.inf, Y),
        lambda: model.partial_fit(X * np.nan, Y),
    ):
        with pytest.raises(DataError):
            more()
        assert known(model, X) == before


def test_before_the_first_fit():
    for use in ("predict", "leverage", "predict_interval"):
        with pytest.raises(NotFittedError):
            getattr(LinearRegression(), use)(X)
    for use in ("summary", "posterior"):
        with pytest.raises(NotFittedError):
            getattr(LinearRegression(), use)()


# -- gradient descent

SINGLE_ROWS = ["sgd", "minibatch"]
DESCENTS = ["gradient", *SINGLE_ROWS]
AT_LENGTH = [pytest.param(solver, marks=pytest.mark.exhaustive) for solver in SINGLE_ROWS]


def descended(
    x: Any, y: Any, solver: str = "gradient", alpha: float | None = None, **how: Any
) -> Any:
    options = {"solver": solver, "descent": GradientDescent(**how)}
    model = LinearRegression(**options) if alpha is None else Ridge(alpha, **options)
    return model.fit(x, y)


@pytest.mark.parametrize("solver", ["gradient", *AT_LENGTH])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_of_gradient_descent(solver):
    reason = "one row twice, and one step twice as long, end at different points"
    kinds = ("dense", "sparse") if solver == "sgd" else ()
    refused = {f"check_sample_weight_equivalence_on_{kind}_data": reason for kind in kinds}
    model = LinearRegression(solver=solver, descent=GradientDescent(passes=20))
    check_estimator(model, expected_failed_checks=refused)


@pytest.mark.exhaustive
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_check_estimator_of_ridge_by_gradient_descent():
    check_estimator(Ridge(solver="gradient"))


@pytest.mark.parametrize("alpha", [None, 3.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_descent_ends_at_the_normal_equations(alpha, intercept):
    x, y = rows()
    x = (x - x.mean(axis=0)) / x.std(axis=0) * [1e-8, 1.0, 1e8, 5.0] + [0.0, 0.5, 1e9, -2.0]
    weights = np.random.default_rng(0).integers(0, 4, 200)
    how = GradientDescent(tol=1e-13, passes=20_000)
    model = LinearRegression() if alpha is None else Ridge(alpha, standardize=True)
    model.set_params(fit_intercept=intercept).fit(x, y, weights)
    mine = clone(model).set_params(solver="gradient", descent=how).fit(x, y, weights)
    assert_allclose(mine.coef_, model.coef_, rtol=1e-8)
    assert_allclose(mine.intercept_, model.intercept_, rtol=1e-8)
    assert_allclose(mine.predict(x), model.predict(x), rtol=1e-8, atol=1e-9)
    history = mine.loss_history_
    assert len(history) == mine.n_iter_
    assert history[-1] <= history[0]
    used = model.coef_ * x.std(axis=0) if alpha is None else model.coef_
    spread = np.average((x - np.average(x, axis=0, weights=weights)) ** 2, axis=0, weights=weights)
    rss = (weights[:, None] * (y - model.predict(x)) ** 2).sum()
    cost = 0.0 if alpha is None else alpha * (spread * used**2).sum()
    assert_allclose(history[-1], (rss + cost) / (2 * weights.sum()), rtol=1e-9)


@pytest.mark.parametrize("solver", [pytest.param("sgd", marks=pytest.mark.exhaustive), "minibatch"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_smaller_steps_end_closer(solver):
    x, y = rows(n=200, t=1)
    exact = LinearRegression().fit(x, y[:, 0])
    unit = x.std(axis=0)

    def error(rate: float, passes: int) -> float:
        options = {"learning_rate": rate, "passes": passes, "tol": 0.0}
        found = [descended(x, y[:, 0], solver, random_state=s, **options) for s in range(2)]
        return float(np.mean([np.abs((m.coef_ - exact.coef_) * unit).max() for m in found]))

    coarse, middle, fine = (error(rate, int(2 / rate)) for rate in (0.1, 0.02, 0.004))
    assert fine < middle < coarse
    assert fine < 0.02
    decaying = descended(x, y[:, 0], solver, passes=200, tol=0.0, decay=0.1)
    assert_allclose(decaying.coef_ * unit, exact.coef_ * unit, atol=0.01)


@pytest.mark.parametrize("solver", DESCENTS)
def test_descent_reads_arrays_files_and_frames(solver, tmp_path):
    x, y = rows(n=300, d=3, t=1)
    table = pd.DataFrame(x, columns=["a", "b", "c"]).assign(y=y[:, 0])
    table.to_csv(tmp_path / "rows.csv", index=False)
    table.to_parquet(tmp_path / "rows.parquet", row_group_size=70)
    options: dict[str, Any] = {"tol": 1e-10} if solver == "gradient" else {"tol": 1e-2}
    model = descended(x, y[:, 0], solver, **options)
    for source in (table, tmp_path / "rows.csv"):
        assert_allclose(descended(source, "y", solver, **options).coef_, model.coef_, rtol=1e-12)
    parquet = descended(tmp_path / "rows.parquet", "y", solver, **options)
    exact = LinearRegression().fit(x, y[:, 0])
    near = {"rtol": 1e-9} if solver == "gradient" else {"atol": 0.05}
    for found in (model, parquet):
        assert_allclose(found.coef_ * x.std(axis=0), exact.coef_ * x.std(axis=0), **near)


@pytest.mark.parametrize("solver", DESCENTS)
def test_threads_and_runs_of_a_descent_give_the_same_bits(monkeypatch, solver):
    monkeypatch.setattr(suffice.data.source, "PART_ROWS", 1_000)
    x, y = rows(n=4_000)
    options = {"solver": solver, "descent": GradientDescent(tol=1e-2, random_state=7)}
    one, two = (on(t, LinearRegression(**options)).fit(x, y) for t in (1, 2))
    assert known(one, x) == known(two, x)
    assert (one.loss_history_ == two.loss_history_).all()
    other = LinearRegression(solver=solver, descent=GradientDescent(tol=1e-2, random_state=8))
    assert (known(other.fit(x, y), x) == known(one, x)) == (solver == "gradient")


def test_descent_leaves_out_incomplete_rows_and_reads_categories():
    table = frame()
    table.loc[::7, "size"] = np.nan
    with pytest.raises(DataError, match="cells are missing"):
        descended(table, "price")
    mine = LinearRegression(
        solver="gradient", incomplete="drop", descent=GradientDescent(tol=1e-12, passes=50_000)
    )
    exact = LinearRegression(incomplete="drop").fit(table, "price")
    mine.fit(table, "price")
    assert mine.terms_ == exact.terms_
    assert_allclose(mine.coef_, exact.coef_, rtol=1e-8)


def test_a_descent_names_the_cell_that_breaks_a_rule():
    model = LinearRegression(solver="gradient", incomplete="drop")
    with pytest.raises(DataError, match="column 'x0', row 2: inf; a number must be finite"):
        model.fit([[np.nan], [1.0], [np.inf]], [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="column 'x0' has no value"):
        model.fit([[np.nan]], [1.0])


def test_a_descent_is_saved_and_cloned(tmp_path):
    x, y = rows()
    model = descended(x, y, alpha=0.5, decay=0.1)
    model.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert known(loaded, x) == known(model, x)
    assert loaded.get_params() == model.get_params() == clone(model).get_params()
    assert (loaded.loss_history_ == model.loss_history_).all()
    assert loaded.score(x, y) == model.score(x, y)


def test_what_needs_sums_is_refused_after_a_descent():
    x, y = rows(t=1)
    y = y[:, 0]
    model = descended(x, y)
    asked: list[Callable[[], Any]] = [
        model.summary,
        model.posterior,
        lambda: model.rank_,
        lambda: model.leverage(x),
        lambda: model.predict_interval(x),
        lambda: model.forget(x, y),
        lambda: model.merge(model),
        lambda: LinearRegression().fit(x, y).merge(model),
        lambda: model.compare(model),
        lambda: descended(x, y, alpha=1.0).effective_parameters_,
    ]
    for ask in asked:
        with pytest.raises(ParameterError, match=r"keeps no sums.*use solver='normal'"):
            ask()
    assert not hasattr(model, "partial_fit")
    model.set_params(solver="normal")
    with pytest.raises(ParameterError, match="the fit was by descent"):
        model.forget(x, y)
    with pytest.raises(AttributeError, match="partial_fit") as refused:
        model.partial_fit(x, y)
    assert isinstance(refused.value.__cause__, ParameterError)
    again = model.fit(x, y)
    assert again.summary().rows == 200
    assert again.n_iter_ == 1
    with pytest.raises(AttributeError, match="after gradient descent only"):
        _ = again.loss_history_


def test_a_descent_that_is_cut_short_says_so():
    x, y = rows(t=1)
    with pytest.warns(ConvergenceWarning, match="after 1 passes"):
        assert descended(x, y, passes=1, tol=1e-12).n_iter_ == 1


@pytest.mark.parametrize("solver", DESCENTS)
@pytest.mark.parametrize(("tol", "passes"), [(1e-4, 4), (3e-2, 100)])
def test_a_descent_stops_at_a_small_gradient_of_all_rows(solver, tol, passes):
    x, y = rows(n=1_000, t=1)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        model = descended(x, y[:, 0], solver, tol=tol, passes=passes)
    z = np.column_stack([np.ones(len(y)), (x - x.mean(axis=0)) / x.std(axis=0)])
    e, before = model.predict(x) - y[:, 0], y.mean() - y[:, 0]
    slope, first = (np.linalg.norm(z.T @ each) for each in (e, before))
    assert len(told) == int(slope > tol * first)
    assert model.n_iter_ == len(model.loss_history_)
    assert model.n_iter_ == passes or not told
    assert model.loss_history_[-1] == pytest.approx((e @ e) / 2_000, rel=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_size_of_a_batch_may_be_one_row_or_all():
    x, y = rows(n=100, t=1)
    one, single = (descended(x, y, s, passes=3, batch_size=1) for s in ("minibatch", "sgd"))
    assert (one.coef_ == single.coef_).all()
    options = {"learning_rate": 0.1, "passes": 3}
    whole = descended(x, y, "minibatch", batch_size=100, **options)
    assert_allclose(whole.coef_, descended(x, y, **options).coef_, rtol=1e-10)


def test_what_r_squared_lacks_of_1_keeps_its_digits():
    # y = 2x but for ±2⁻³⁰ in turn, which x and 1 do not see
    x = np.repeat(np.arange(8.0), 4)
    e = np.tile([1.0, -1.0, -1.0, 1.0], 8) * 2.0**-30
    y = 2.0 * x + e
    rows = [(Fraction(a), Fraction(b)) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
    mean = sum(b for _, b in rows) / 32
    tss = sum((b - mean) ** 2 for _, b in rows)
    exact = float(32 * Fraction(2) ** -60 / tss)  # RSS / TSS
    model = LinearRegression().fit(x[:, None], y)
    found = model.summary()
    assert found.r_squared == 1.0
    assert found.unexplained == pytest.approx(exact, rel=1e-13)
    assert found.adjusted_unexplained == pytest.approx(exact * 31 / 30, rel=1e-13)
    assert f"R²: 1 − {exact:.3g}, adjusted R²: 1 − {exact * 31 / 30:.3g}" in str(found)
    assert model.evaluate(x[:, None], y).unexplained == pytest.approx([exact], rel=1e-6)
