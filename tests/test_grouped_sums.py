"""Sums by group: a fit to them is a fit to their rows, whatever was asked of them before."""

from __future__ import annotations

import warnings
from datetime import date
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.running import processes

import suffice
from suffice import (
    AODE,
    GroupedSums,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from suffice.errors import DataError, ForgetError, ModelFileError, ParameterError, SchemaError
from suffice.linear_model import ElasticNet
from suffice.model_selection import cross_val_score, cross_validate, evaluate_folds
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

RANDOM = np.random.default_rng(43)
N = 240
NUMBERS = pd.DataFrame(RANDOM.normal(size=(N, 3)) * [1.0, 1e3, 1e-3], columns=["a", "b", "c"])
COUNTS = pd.DataFrame(RANDOM.integers(0, 4, size=(N, 3)), columns=["a", "b", "c"])
MIXED = NUMBERS.assign(c=RANDOM.choice(["red", "blue", "green"], N))
LABELS = np.where(NUMBERS["a"] + RANDOM.normal(size=N) > 0, "yes", "no")
TARGET = NUMBERS["a"] * 2 - NUMBERS["b"] / 500 + RANDOM.normal(size=N)
PLAIN = NaiveBayes(calibration="none", numbers="gaussian")
CASES = {
    "gaussian": (GaussianNB(), NUMBERS, LABELS),
    "bernoulli": (BernoulliNB(), NUMBERS, LABELS),
    "multinomial": (MultinomialNB(), COUNTS, LABELS),
    "complement": (ComplementNB(), COUNTS, LABELS),
    "categorical": (CategoricalNB(), COUNTS, LABELS),
    "mixed": (PLAIN, MIXED, LABELS),
    "densities": (NaiveBayes(calibration="none"), NUMBERS, LABELS),
    "lda": (LinearDiscriminantAnalysis(), NUMBERS, LABELS),
    "lda auto": (LinearDiscriminantAnalysis(solver="eigen", shrinkage="auto"), NUMBERS, LABELS),
    "qda": (QuadraticDiscriminantAnalysis(), NUMBERS, LABELS),
    "linear": (LinearRegression(), NUMBERS, TARGET),
    "categories": (LinearRegression(), MIXED, TARGET),
    "ridge": (Ridge(alpha=0.5), NUMBERS, TARGET),
    "lasso": (Lasso(alpha=0.1), NUMBERS, TARGET),
    "elastic net": (ElasticNet(alpha=0.1), NUMBERS, TARGET),
}
every_model = pytest.mark.parametrize("case", CASES)


def table(case: str, city: np.ndarray, month: np.ndarray) -> pd.DataFrame:
    _, rows, y = CASES[case]
    return rows.assign(y=y, city=city, month=month)


def answers(model, rows) -> np.ndarray:
    asked = getattr(model, "predict_proba", model.predict)
    return np.asarray(asked(rows[["a", "b", "c"]]))


def fit(case: str, rows: pd.DataFrame):
    return CASES[case][0].unfitted().fit(rows[["a", "b", "c", "y"]], "y")


def assert_same(case: str, sums: GroupedSums, rows: pd.DataFrame) -> None:
    """Compare a fit to sums with one to rows, to the last bit."""
    model = CASES[case][0].unfitted().fit(sums)
    np.testing.assert_array_equal(answers(model, rows), answers(fit(case, rows), rows))


cities = st.lists(st.sampled_from(["Bonn", "Köln", "Ulm", None]), min_size=N, max_size=N)


@every_model
@settings(max_examples=3, deadline=None)
@given(cities, st.integers(2, 5))
def test_sums_are_those_of_their_rows(case: str, city: list[str | None], months: int) -> None:
    city, month = np.array(city, object), np.arange(N) % months
    city[:12] = np.repeat(["Bonn", "Ulm"], 6)
    rows = table(case, city, month)
    sums = CASES[case][0].sums(rows, "y", by=["city", "month"])
    assert sums.by == ("city", "month")
    assert sums.rows.sum() == N
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a group may show one value of a category
        assert_same(case, sums.total(), rows)
        assert_same(case, sums.total(by="month").total(), rows)
        rest = rows[rows["city"] != "Ulm"]
        assert_same(case, sums.without(city="Ulm").total(), rest)
        assert_same(case, (sums - sums.where(city="Ulm")).total(), rest)
        windows = sums.total(by="month").rolling("month", 2)
        assert len(windows) == months - 1
        assert_same(case, windows[1], rows[rows["month"] < 2])
        parts = [CASES[case][0].sums(part, "y", by=["city", "month"]) for part in halves(rows)]
        if case != "categories":  # whose halves may show other values
            assert parts[0] + parts[1] == sums
        assert sums.scaled(2.0).scaled(0.5) == sums


def halves(rows: pd.DataFrame) -> list[pd.DataFrame]:
    return [rows.iloc[: N // 2], rows.iloc[N // 2 :]]


@every_model
def test_files_of_sums(case: str, tmp_path: Path) -> None:
    rows = table(case, np.where(np.arange(N) % 3, "a", None), np.arange(N) % 2)
    sums = CASES[case][0].sums(rows, "y", by=["city", "month"])
    for one in (sums, sums.total(), sums["a", 1]):
        one.save(tmp_path / "rows.sums")
        again = suffice.load(tmp_path / "rows.sums")
        assert again == one
        assert again.keys == one.keys
    model = CASES[case][0].unfitted().fit(suffice.load(tmp_path / "rows.sums"))
    assert_same(case, model.sums_, rows[(rows["city"] == "a") & (rows["month"] == 1)])


def test_forged_files(tmp_path: Path) -> None:
    path = tmp_path / "rows.sums"
    rows = table("qda", np.array(["a", "b"] * (N // 2)), np.zeros(N, int))
    CASES["qda"][0].sums(rows, "y", by="city").save(path)
    raw = path.read_bytes()
    for place in (100, len(raw) // 2, len(raw) - 1):
        path.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        with pytest.raises(ModelFileError):
            suffice.load(path)
    sums = CASES["qda"][0].sums(rows, "y", by="city")
    fewer = sums.where(city="a")
    GroupedSums(sums.estimator, sums.reader, fewer.keys, sums.sums, sums.named).save(path)
    with pytest.raises(ModelFileError):
        suffice.load(path)
    twice = sums.keys.take(np.array([0, 0]))
    GroupedSums(sums.estimator, sums.reader, twice, sums.sums, sums.named).save(path)
    with pytest.raises(ModelFileError):
        suffice.load(path)


@pytest.mark.parametrize("case", ["gaussian", "linear"])
def test_groups_of_files_frames_arrays_and_engines(case: str, tmp_path: Path) -> None:
    day = np.array([date(2026, 1, 1), date(2026, 1, 2)])[np.arange(N) % 2]
    rows = table(case, np.arange(N) // 100, day)
    sums = CASES[case][0].sums(rows, "y", by=["city", "month"])
    assert sums.keys.key(0) == (0, date(2026, 1, 1))
    rows.to_parquet(tmp_path / "rows.parquet")
    rows.to_csv(tmp_path / "rows.csv", index=False)
    for path in (tmp_path / "rows.parquet", tmp_path / "rows.csv"):
        assert CASES[case][0].sums(path, "y", by=["city", "month"]) == sums
    x, y = rows[["a", "b", "c"]].to_numpy(), rows["y"].to_numpy()
    of_array = CASES[case][0].sums(x, y, by=rows["city"])
    assert of_array.sums == sums.total(by="city").sums
    suffice.set_engine(processes())
    try:
        assert CASES[case][0].sums(tmp_path / "rows.parquet", "y", by=["city", "month"]) == sums
    finally:
        suffice.set_engine(None)
    many = CASES[case][0].sums(x, y, by=np.arange(N) % 120 + 2**40)
    assert len(many) == 120
    assert many.total().sums == CASES[case][0].sums(x, y).sums


def test_many_groups_are_sorted_first() -> None:
    rng = np.random.default_rng(43)
    n, groups = 6_000, 700
    x = rng.normal(size=(n, 2))
    x[::50, 1] = np.nan
    y, group = rng.integers(0, 2, n), rng.integers(0, groups, n)
    weight = rng.integers(0, 3, n).astype(float)
    sums = GaussianNB().sums(x, y, weight, by=group)
    of_line = LinearRegression(incomplete="drop").sums(x[:, :1], x[:, 1], weight, by=group)
    for g in (0, 350, groups - 1):
        mine = group == g
        alone = GaussianNB().sums(x[mine], y[mine], weight[mine])
        assert sums[g].sums == alone.sums
        rows = x[mine][:, :1], x[mine][:, 1], weight[mine]
        assert of_line[g].sums == LinearRegression(incomplete="drop").sums(*rows).sums
    large = x.copy()
    large[77, 0] = 1e200
    with pytest.raises(DataError, match="row 77"):
        GaussianNB().sums(large, y, by=group)


def test_columns_over_ten_decades_forget_to_rounding() -> None:
    rng = np.random.default_rng(43)
    x = rng.normal(size=(N, 4)) * 10.0 ** np.array([-5, -2, 2, 5])
    y, group = x.sum(axis=1) + rng.normal(size=N), np.arange(N) % 4
    sums = LinearRegression().sums(x, y, by=group)
    rest = LinearRegression().fit((sums - sums.where(group=3)).total())
    alone = LinearRegression().fit(x[group < 3], y[group < 3])
    np.testing.assert_allclose(rest.coef_, alone.coef_, rtol=1e-12)


def test_windows_over_groups_that_have_gaps() -> None:
    rows = table("linear", np.array(["a", "b", "b", "a", "b", "c"] * 40), np.arange(N) % 6)
    sums = CASES["linear"][0].sums(rows, "y", by=["city", "month"])
    windows = sums.rolling("month", 3)
    for city, month in (("a", 3), ("b", 4), ("c", 5), ("a", 5)):
        mine = (rows["city"] == city) & rows["month"].between(month - 2, month)
        assert_same("linear", windows[city, month], rows[mine])
    assert windows.keys == sums.rolling("month", 3).keys
    with pytest.raises(ParameterError, match="window of 7"):
        sums.rolling("month", 7)


def test_folds_are_groups() -> None:
    rows = table("gaussian", np.arange(N) % 4, np.zeros(N, int)).drop(columns="month")
    sums = CASES["gaussian"][0].sums(rows, "y", by="city")
    order = [(np.flatnonzero(np.arange(N) % 4 != f), np.arange(f, N, 4)) for f in range(4)]
    folds = evaluate_folds(GaussianNB(), rows[["a", "b", "c", "y"]], "y", cv=order)
    for f, fold in enumerate(folds.folds):
        model = GaussianNB().fit(sums.without(city=f).total())
        test = rows[rows["city"] == f]
        assert model.score(test[["a", "b", "c"]], test["y"]) == fold.accuracy


@pytest.mark.parametrize("groups", [2, 5, 80])
def test_groups_are_the_folds_of_sums(groups: int) -> None:
    rows = table("linear", np.arange(N) % groups, np.zeros(N, int)).drop(columns="month")
    sums = CASES["linear"][0].sums(rows, "y", by="city")
    x, y = rows[["a", "b", "c"]], rows["y"]
    found = cross_validate(Ridge(alpha=0.5), sums, return_estimator=True)
    order = [(np.flatnonzero(rows["city"] != g), np.flatnonzero(rows["city"] == g)) for g in sums]
    expected = cross_val_score(Ridge(alpha=0.5), x, y, cv=order)
    np.testing.assert_allclose(found["test_score"], expected, rtol=1e-10)
    first = fit("linear", rows[rows["city"] != 0])
    alone = cross_validate(LinearRegression(), sums, return_estimator=True)["estimator"][0]
    np.testing.assert_array_equal(answers(alone, rows), answers(first, rows))
    for error, options in (
        (ParameterError, {"cv": 3}),
        (ParameterError, {"scoring": "r2"}),
        (DataError, {"X": sums.where(city=0)}),
        (ParameterError, {"X": sums.total(), "y": y}),
        (ParameterError, {"estimator": GaussianNB()}),
    ):
        with pytest.raises(error):
            cross_validate(**{"estimator": LinearRegression(), "X": sums, **options})
    labelled = GaussianNB().sums(x, np.arange(N) // 2 % 2, by=rows["city"] % 2)
    with pytest.raises(DataError, match="score"):
        cross_validate(GaussianNB(), labelled)


def test_statsmodels_has_the_same_regressions() -> None:
    rng = np.random.default_rng(43)
    rows = table("linear", rng.integers(0, 12, N), np.zeros(N, int)).drop(columns="month")
    models = LinearRegression().fit_each(CASES["linear"][0].sums(rows, "y", by="city"))
    found = models.table().to_pandas().set_index("city")
    terms = ["(Intercept)", "a", "b", "c"]
    for city, mine in rows.groupby("city"):
        truth = sm.OLS(mine["y"], sm.add_constant(mine[["a", "b", "c"]])).fit()
        np.testing.assert_allclose(found.loc[city, terms], truth.params, rtol=1e-10)
        errors = found.loc[city, [f"se_{term}" for term in terms]]
        np.testing.assert_allclose(errors, truth.bse, rtol=1e-10)
        assert found.loc[city, "r_squared"] == pytest.approx(truth.rsquared, rel=1e-10)
        assert found.loc[city, "n"] == len(mine) == truth.nobs
        alone = models[city]
        np.testing.assert_allclose(found.loc[city, ["a", "b", "c"]], alone.coef_, rtol=1e-12)
        np.testing.assert_array_equal(answers(alone, rows), answers(fit("linear", mine), rows))


@pytest.mark.parametrize("model", [Ridge(alpha=2.0), Ridge(alpha="gcv"), Lasso(alpha=0.1)])
def test_penalised_models_of_groups(model) -> None:
    rows = table("categories", np.arange(N) % 3, np.zeros(N, int))
    models = model.fit_each(LinearRegression().sums(rows, "y", by="city"))
    found = models.table().to_pandas().set_index("city")
    for city in range(3):
        np.testing.assert_allclose(
            found.loc[city, list(models[city].design_.terms)], models[city].coef_, rtol=1e-10
        )


def test_what_a_group_does_not_determine_is_null() -> None:
    rows = pd.DataFrame({"x": [1.0, 1.0, 1.0, 2.0, 3.0, 4.0], "y": [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]})
    rows["group"] = ["constant"] * 3 + ["two", "two", "one"]
    models = LinearRegression().fit_each(LinearRegression().sums(rows, "y", by="group"))
    found = models.table().to_pandas().set_index("group")
    assert found["se_x"].isna().all()
    assert found.loc["two", "x"] == 1.0
    assert found["n"].to_dict() == {"constant": 3.0, "one": 1.0, "two": 2.0}


def test_classifiers_of_groups() -> None:
    rows = table("densities", np.array([*"ab"] * (N // 2)), np.zeros(N, int)).drop(columns="month")
    sums = CASES["densities"][0].sums(rows, "y", by="city")
    models = CASES["densities"][0].fit_each(sums)
    assert list(models) == ["a", "b"]
    assert models.table().column("n_yes").to_pylist() == [
        float((rows["y"][rows["city"] == city] == "yes").sum()) for city in "ab"
    ]
    assert set(models["a"].predict(rows[["a", "b", "c"]])) == {"yes", "no"}


@pytest.mark.parametrize("kind", ["CR1", "CR3"])
def test_errors_of_clusters(kind: str) -> None:
    rng = np.random.default_rng(43)
    rows = table("linear", rng.integers(0, 20, N), np.zeros(N, int)).drop(columns="month")
    rows["y"] += rng.normal(size=20)[rows["city"]]
    model = LinearRegression(cluster="city", cluster_errors=kind).fit(rows, "y")
    truth = smf.ols("y ~ a + b + c", rows).fit()
    if kind == "CR1":
        groups = {"groups": rows["city"]}
        error = truth.get_robustcov_results("cluster", **groups).bse
    else:
        left = [smf.ols("y ~ a + b + c", rows[rows["city"] != c]).fit().params for c in range(20)]
        error = np.sqrt(((np.array(left) - truth.params.to_numpy()) ** 2).sum(axis=0) * 19 / 20)
    found = model.summary()
    np.testing.assert_allclose(found.standard_error, error, rtol=1e-10)
    assert kind in str(found)
    of_sums = LinearRegression(cluster="city", cluster_errors=kind).fit(model.clusters_)
    np.testing.assert_array_equal(of_sums.summary().standard_error, found.standard_error)
    model.partial_fit(rows, "y")
    with pytest.raises(ParameterError, match="no sums by cluster"):
        model.summary()


def test_adjusted_means_are_those_of_a_regression_on_the_arms() -> None:
    rng = np.random.default_rng(43)
    rows = table("linear", rng.choice(["A", "B", "C"], N), np.arange(N) % 2)
    sums = CASES["linear"][0].sums(rows, "y", by=["city", "month"])
    found = sums.adjusted_means("city", covariates=["a", "b"])
    truth = smf.ols("y ~ C(city) + a + b", rows).fit()
    np.testing.assert_allclose(found.difference[1:], truth.params.iloc[1:3], rtol=1e-10)
    np.testing.assert_allclose(found.difference_error[1:], truth.bse.iloc[1:3], rtol=1e-10)
    np.testing.assert_allclose(found.p[1:], truth.pvalues.iloc[1:3], rtol=1e-8, atol=1e-12)
    mean = pd.DataFrame({"city": [*"ABC"], "a": rows["a"].mean(), "b": rows["b"].mean()})
    np.testing.assert_allclose(found.adjusted, truth.predict(mean), rtol=1e-10)
    plain = sums.adjusted_means("city", covariates=[])
    np.testing.assert_allclose(plain.adjusted, rows.groupby("city")["y"].mean(), rtol=1e-12)
    assert "adjusted for a, b" in str(found)


def test_weights_of_columns_are_1_until_calibrate(tmp_path: Path) -> None:
    rows = table("mixed", np.arange(N) % 2, np.zeros(N, int))
    sums = NaiveBayes().sums(rows, "y", by="city")
    with pytest.warns(UserWarning, match="calibrate"):
        model = NaiveBayes().fit(sums.total())
    assert (model.calibration_.weights == 1.0).all()
    x = rows[["a", "b", "c", "y"]]
    whole = NaiveBayes().sums(x, "y")
    expected = answers(NaiveBayes().fit(x, "y"), rows)
    np.testing.assert_array_equal(answers(NaiveBayes().fit(whole), rows), expected)
    whole.save(tmp_path / "rows.sums")
    with pytest.warns(UserWarning, match="calibrate"):
        NaiveBayes().fit(suffice.load(tmp_path / "rows.sums"))


def test_empty_results_and_unlabelled_rows() -> None:
    rows = table("gaussian", np.array(["a", "b"] * (N // 2)), np.zeros(N, int))
    rows.loc[rows.index[:2], "y"] = None
    with pytest.warns(UserWarning, match="2 rows without a label"):
        sums = GaussianNB().sums(rows, "y", by="city")
    nothing = sums.without(city=["a", "b"])
    assert len(nothing) == 0
    assert nothing + sums == sums
    with pytest.raises(DataError):
        GaussianNB().fit(nothing.total())
    assert len(sums - sums.where(city="a")) == 1
    assert len(sums.scaled(0.0)) == 0
    assert sums.rows.sum() == sums.total().rows[0] == N - 2
    absent = GaussianNB().sums(
        rows.assign(weight=(rows["city"] != "a") * 1.0), "y", "weight", by="city"
    )
    assert absent.keys == sums.without(city="a").keys
    assert sums.total()[()] == sums.total()


def test_what_is_refused(tmp_path: Path) -> None:
    rows = table("linear", np.array(["a", "b"] * (N // 2)), np.arange(N) % 2)
    line, names = LinearRegression(), ["city", "month"]
    sums = line.sums(rows, "y", by=names)
    x, y = rows[["a", "b", "c"]].to_numpy(), rows["y"].to_numpy()
    refused = [
        (SchemaError, "town", lambda: line.sums(rows, "y", by="town")),
        (DataError, "a", lambda: line.sums(rows, "y", by="a")),
        (ParameterError, "names", lambda: line.sums(x, y, by="city")),
        (ParameterError, "keys", lambda: line.sums(x, y, by=[1, 2])),
        (ParameterError, "named once", lambda: line.sums(rows, "y", by=[])),
        (DataError, "one type", lambda: line.sums(x, y, by=[1, "a"] * (N // 2))),
        (DataError, "1-dimensional", lambda: line.sums(x, y, by=x)),
        (DataError, "no column", lambda: line.sums(x, y, by=rows[["city"]])),
        (ParameterError, "part to play", lambda: line.sums(rows, "y", "month", by="month")),
        (ParameterError, "Ulm", lambda: sums.where(city="Ulm")),
        (ParameterError, "town", lambda: sums.where(town="a")),
        (ParameterError, "whole number", lambda: sums.where(month="x")),
        (ParameterError, "1 values", lambda: sums["a"]),
        (ParameterError, "fit_each", lambda: line.fit(sums)),
        (ParameterError, "by=", lambda: line.fit_each(sums.total())),
        (ParameterError, "^DataFrame is given", lambda: line.fit_each(rows)),
        (ParameterError, "y is given", lambda: line.fit(sums.total(), y)),
        (ParameterError, "LinearRegression", lambda: GaussianNB().fit(sums.total())),
        (ParameterError, "fit_intercept", lambda: Ridge(fit_intercept=False).fit(sums.total())),
        (ParameterError, "solver", lambda: LinearRegression(solver="sgd").sums(x, y)),
        (ParameterError, "pairs", lambda: AODE().sums(rows, "city", by="month")),
        (SchemaError, "by", lambda: sums + sums.total(by="city")),
        (SchemaError, "c", lambda: sums + line.sums(rows.drop(columns="c"), "y", by=names)),
        (ForgetError, "no group", lambda: sums.where(city="a") - sums),
        (ForgetError, "fewer", lambda: sums.scaled(0.5) - sums),
        (ParameterError, "factor", lambda: sums.scaled(-1.0)),
        (ParameterError, "factor", lambda: sums.scaled("2")),
        (ParameterError, "adjusted", lambda: GaussianNB().sums(x, LABELS).adjusted_means("a")),
    ]
    for kind, named, call in refused:
        with pytest.raises(kind, match=named):
            call()
    wide = np.random.default_rng(43).normal(size=(20, 400))
    with pytest.raises(ParameterError, match="401 columns"):
        line.sums(wide, wide[:, 0], by=np.arange(20) % 2)
    with pytest.raises(ParameterError, match="wide"):
        line.sums(wide, wide[:, 0]).save(tmp_path / "wide.sums")


def test_sums_print_as_a_table() -> None:
    rows = table("linear", np.array(["a", None] * (N // 2)), np.zeros(N, int))
    sums = CASES["linear"][0].sums(rows, "y", by="city")
    assert "by city: 2 groups" in repr(sums)
    assert "(missing)" in repr(sums)
    assert isinstance(sums.table(), pa.Table)
    assert sums.table().column("rows").to_pylist() == [120.0, 120.0]
