"""Evaluations of the rows of every value of a column are those of these rows alone."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from tests.running import on

from suffice import LinearDiscriminantAnalysis, NaiveBayes
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.linear_model import LinearRegression, LogisticRegression

RANDOM = np.random.default_rng(4)
N = 3_000
TABLE = pd.DataFrame(
    {
        "size": RANDOM.normal(size=N),
        "mass": RANDOM.normal(size=N).round(1),
        "shift": RANDOM.integers(1, 4, N),
        "site": RANDOM.choice(["north", "south", None], N, p=[0.5, 0.4, 0.1]),
    }
)
TABLE["y"] = np.where(TABLE["size"] + 0.3 * RANDOM.normal(size=N) > 0, "yes", "no")
TABLE["z"] = TABLE["size"] * 2 + TABLE["mass"] + RANDOM.normal(size=N)


def rows_of(by: str, value: object) -> pd.DataFrame:
    return TABLE[TABLE[by].isna() if value is None else TABLE[by] == value]


@pytest.mark.parametrize(("by", "engine"), [("site", None), ("shift", "processes")])
@pytest.mark.parametrize("estimator", [NaiveBayes, LinearDiscriminantAnalysis, LogisticRegression])
def test_groups_of_a_classifier(estimator, by, engine) -> None:
    model = on(engine, estimator()).fit(TABLE[["size", "mass"]], TABLE["y"])
    found = model.evaluate_by(TABLE[["size", "mass", by]], TABLE["y"], by=by)
    assert list(found) == (["north", "south", None] if by == "site" else [1, 2, 3])
    for value, evaluation in found.items():
        rows = rows_of(by, value)
        alone = model.evaluate(rows[["size", "mass"]], rows["y"])
        np.testing.assert_array_equal(evaluation.confusion.value, alone.confusion.value)
        assert evaluation.log_loss == alone.log_loss
        assert evaluation.roc_area == alone.roc_area
        assert ("(missing)" if value is None else str(value)) in repr(found)


def test_the_column_may_be_one_that_the_model_reads() -> None:
    model = NaiveBayes.textbook().fit(TABLE[["size", "shift", "site", "y"]], "y")
    for by in ("shift", "site"):
        found = model.evaluate_by(TABLE[["size", "shift", "site", "y"]], "y", by=by)
        assert sum(part.weight for part in found.values()) == N
        for value, evaluation in found.items():
            rows = rows_of(by, value)[["size", "shift", "site", "y"]]
            assert evaluation.accuracy == model.score(rows, "y")


@pytest.mark.parametrize("by", ["site", "shift"])
def test_groups_of_a_regression(by) -> None:
    model = LinearRegression().fit(TABLE[["size", "mass", "z"]], "z")
    found = model.evaluate_by(TABLE[["size", "mass", "z", by]], "z", by=by)
    for value, evaluation in found.items():
        alone = model.evaluate(rows_of(by, value)[["size", "mass", "z"]], "z")
        assert evaluation.r_squared == alone.r_squared
        assert evaluation.mean_absolute_error == alone.mean_absolute_error
    assert "RMSE" in repr(found)


def test_the_interval_of_an_error_is_wilsons() -> None:
    model = NaiveBayes.textbook().fit(TABLE[["size", "y"]], "y")
    found = model.evaluate(TABLE[["size", "y"]], "y")
    wrong = round(found.error * N)
    for level in (0.5, 0.95):
        truth = binomtest(wrong, N).proportion_ci(level, method="wilson")
        assert found.error_interval(level) == pytest.approx((truth.low, truth.high), rel=1e-12)
    assert (found - found).error_interval() == (0.0, 1.0)
    low, high = model.evaluate(
        TABLE[["size", "y"]][:0].reindex([0]).assign(size=9.0, y="yes"), "y"
    ).error_interval()
    z = NormalDist().inv_cdf(0.975)
    assert (low, high) == pytest.approx((0.0, z**2 / (1 + z**2)), rel=1e-12)


def test_columns_that_divide_nothing() -> None:
    model = NaiveBayes.textbook().fit(TABLE[["size", "y"]], "y")
    table = TABLE[["size", "mass", "y"]]
    with pytest.raises(ParameterError, match="'y' is to divide the rows, and is their label"):
        model.evaluate_by(table, "y", by="y")
    with pytest.raises(SchemaError, match="'colour' is not in the table"):
        model.evaluate_by(table[["size", "y"]], "y", by="colour")
    with pytest.raises(ParameterError, match="by is of type ndarray"):
        model.evaluate_by(table, "y", by=np.arange(len(table)))
    many = table[["size", "y"]][:1_010].assign(row=np.arange(1_010).astype(str))
    with pytest.raises(DataError, match="more than 1,000 values"):
        model.evaluate_by(many, "y", by="row")
    arrays = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.raises(SchemaError, match="'site' is not in the array"):
        arrays.evaluate_by([[0.0]], [1.0], by="site")
