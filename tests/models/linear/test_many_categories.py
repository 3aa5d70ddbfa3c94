"""Categories of many values in linear models: the same coefficients as dense indicators give."""

import numpy as np
import pandas as pd
import pytest

from suffice import load
from suffice.errors import DataError, ForgetError, ParameterError
from suffice.linear_model import ElasticNet, Lasso, LinearRegression, Ridge
from suffice.numerics import memory

CITIES, N = 560, 2_500
rng = np.random.default_rng(5)


def table(cities=CITIES, regions=12):
    city = np.concatenate([np.arange(cities), rng.zipf(1.4, N - cities) % cities])
    region = rng.integers(0, regions, N)
    x = rng.normal([0.0, 5.0, 2_000.0], size=(N, 3))
    y = x @ [1.0, 2.0, 0.5] + rng.normal(size=cities)[city] + region + rng.normal(size=N)
    columns = {"a": x[:, 0], "b": x[:, 1], "year": x[:, 2], "y": y, "w": rng.integers(1, 4, N)}
    return pd.DataFrame(columns).assign(
        city=[f"c{code:04d}" for code in city], region=[f"r{code:02d}" for code in region]
    )


ROWS = table()
NAMES = ["a", "b", "year", "city", "region"]


def dense(rows, alpha=0.0, weight=None):
    """w and b of indicators laid out."""
    numbers = rows[["a", "b", "year"]].to_numpy()
    x = np.hstack([numbers, *(pd.get_dummies(rows[c], drop_first=True) for c in NAMES[3:])])
    w = np.ones(len(rows)) if weight is None else weight
    x_mean, y_mean = w @ x / w.sum(), w @ rows.y / w.sum()
    a, b = np.sqrt(w)[:, None] * (x - x_mean), np.sqrt(w) * (rows.y - y_mean)
    if alpha:
        found = np.linalg.solve(a.T @ a + alpha * np.eye(x.shape[1]), a.T @ b)
    else:
        found = np.linalg.lstsq(a, b, rcond=None)[0]
    return found, y_mean - x_mean @ found


@pytest.mark.parametrize("alpha", [0.0, 1.0, 300.0])
@pytest.mark.parametrize("weight", [None, "w"])
def test_coefficients_are_those_of_indicators(alpha, weight):
    model = Ridge(alpha) if alpha else LinearRegression()
    found = model.fit(ROWS[[*NAMES, "y", "w"][: 7 if weight else 6]], "y", weight)
    w, b = dense(ROWS, alpha, None if weight is None else ROWS.w.to_numpy(float))
    np.testing.assert_allclose(found.coef_, w, rtol=0, atol=1e-9 * np.abs(w).max())
    assert found.intercept_ == pytest.approx(b, rel=1e-8)


def test_many_other_terms_are_iterated_over(monkeypatch):
    monkeypatch.setattr("suffice.models.linear.level_rows.MOST_SOLVED", 5)
    for alpha in (0.0, 2.0):
        found = (Ridge(alpha) if alpha else LinearRegression()).fit(ROWS[[*NAMES, "y"]], "y")
        w, _ = dense(ROWS, alpha)
        np.testing.assert_allclose(found.coef_, w, rtol=0, atol=1e-8 * np.abs(w).max())


def test_errors_are_those_of_products():
    rows = ROWS[[*NAMES, "y"]]
    many = LinearRegression().fit(rows, "y")
    few = LinearRegression(formula="a + b + year + city + region").fit(rows, "y")
    one, two = many.summary(), few.summary()
    np.testing.assert_allclose(one.standard_error, two.standard_error, rtol=1e-7)
    assert (one.dof, one.rank) == (two.dof, two.rank)
    np.testing.assert_allclose(many.leverage(rows), few.leverage(rows), rtol=1e-7)
    np.testing.assert_allclose(
        many.predict_interval(rows[:9]), few.predict_interval(rows[:9]), rtol=1e-8
    )
    shrunk = Ridge(3.0).fit(rows, "y")
    laid_out = Ridge(3.0, formula="a + b + year + city + region").fit(rows, "y")
    np.testing.assert_allclose(shrunk.effective_parameters_, laid_out.effective_parameters_)
    np.testing.assert_allclose(shrunk.posterior().covariance, laid_out.posterior().covariance)


def test_nested_categories_have_the_shortest_coefficients():
    rows = ROWS.assign(region="r" + ROWS.city.str[1:3])[[*NAMES, "y"]]
    with pytest.warns(UserWarning, match="combinations"):
        many = LinearRegression().fit(rows, "y")
    with pytest.warns(UserWarning, match="least norm"):
        few = LinearRegression(formula="a + b + year + city + region").fit(rows, "y")
    assert many.rank_ == few.rank_
    np.testing.assert_allclose(many.coef_, few.coef_, rtol=0, atol=1e-7)
    unheard = rows[:1].assign(region="r05")
    with pytest.warns(UserWarning, match="not determined"):
        assert np.isinf(many.predict_interval(unheard)).all()
    with pytest.raises(DataError, match="combinations"):
        LinearRegression(dependent="error").fit(rows, "y")


@pytest.mark.parametrize("model", [Lasso(0.002), ElasticNet(0.01, l1_ratio=0.3)])
def test_absolute_values_choose_among_levels(model):
    from sklearn import linear_model

    rows = ROWS.assign(year=ROWS.year - 2_000)[[*NAMES, "y"]]
    found = model.fit(rows, "y")
    x = np.hstack(
        [rows[NAMES[:3]], *(pd.get_dummies(rows[c], drop_first=True) for c in NAMES[3:])]
    ).astype(float)
    peer = getattr(linear_model, type(model).__name__)(model.alpha, tol=1e-12, max_iter=100_000)
    peer.set_params(**({"l1_ratio": 0.3} if "l1_ratio" in peer.get_params() else {}))
    np.testing.assert_allclose(found.coef_, peer.fit(x, rows.y).coef_, atol=1e-7)


def test_rows_are_added_and_forgotten():
    rows = ROWS[[*NAMES, "y"]]
    whole, rest = LinearRegression().fit(rows, "y"), rows[:1_800]
    more = LinearRegression().fit(rest, "y").partial_fit(rows[1_800:], "y")
    np.testing.assert_array_equal(more.coef_, whole.coef_)
    assert more.forget(rows[2_200:], "y").statistic_.rows == 2_200
    assert "city[c9]" in whole.partial_fit(rows[:1].assign(city="c9"), "y").terms_


def test_missing_cells_and_unknown_categories(tmp_path):
    rows = ROWS[[*NAMES, "y"]].copy()
    rows.loc[2_400:, "city"] = None
    with pytest.raises(DataError, match="city"):
        Ridge().fit(rows, "y")
    with pytest.raises(ParameterError, match="drop"):
        Ridge(incomplete="gaussian").fit(rows, "y")
    model = Ridge(incomplete="drop", unseen="reference").fit(rows, "y")
    np.testing.assert_allclose(model.coef_, dense(rows[:2_400], 1.0)[0], atol=1e-9)
    first = rows[:1]
    at_reference = first.assign(city=sorted(rows.city.dropna())[0])
    assert model.predict(first.assign(city="?")) == model.predict(at_reference)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    np.testing.assert_allclose(again.predict(rows[:50]), model.predict(rows[:50]), rtol=1e-12)
    with pytest.raises((ForgetError, ParameterError, AttributeError)):
        again.partial_fit(rows[:50], "y")


def test_what_a_column_adds():
    rows = ROWS[[*NAMES, "y"]]
    model = Ridge(1.0).fit(rows, "y")
    found = model.explain(rows[:20])
    np.testing.assert_allclose(found.predictions[:, 0], model.predict(rows[:20]))
    assert found.columns == tuple(NAMES)
    again = LinearRegression().fit(rows, "y").calibrate(rows, "y")
    assert (np.diff(again.predict_interval(rows[:5], "conformal", level=0.9)) > 0).all()


def test_levels_without_an_intercept_and_with_an_order():
    rows = ROWS[[*NAMES, "y"]].assign(size=rng.choice(["L", "M", "S"], N))
    options = {"fit_intercept": False, "ordered": {"size": ["S", "M", "L"]}}
    many = Ridge(2.0, **options).fit(rows, "y")
    x = np.hstack(
        [
            rows[NAMES[:3]],
            pd.get_dummies(rows.city),
            pd.get_dummies(rows.region, drop_first=True),
            np.column_stack([rows["size"] != "S", rows["size"] == "L"]),
        ]
    ).astype(float)
    found = np.linalg.solve(x.T @ x + 2.0 * np.eye(x.shape[1]), x.T @ rows.y)
    np.testing.assert_allclose(many.coef_, found, atol=1e-9)
    np.testing.assert_allclose(many.predict(rows), x @ found, atol=1e-8)


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr(memory, "available_memory", lambda: 1e5)
    monkeypatch.setattr(memory, "SMALL", 0)
    with pytest.raises(DataError, match="GB"):
        LinearRegression(formula="a + city").fit(ROWS, "y")
