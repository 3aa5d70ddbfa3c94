"""Columns that are left out: at fit for good, at prediction as if their cells were missing."""

from itertools import cycle

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import suffice.naive_bayes
from suffice import (
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    load,
    read_table,
)
from suffice.errors import ParameterError
from suffice.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge

TABLE = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "size": [1.0, 1.5, 4.0, 4.5],
        "color": ["red", "red", "blue", "red"],
        "y": ["u", "u", "v", "v"],
    }
)


def test_a_fit_is_that_without_the_column(tmp_path):
    model = NaiveBayes.textbook().fit(read_table(TABLE, ignore=["id"]), "y")
    assert model.statistic_ == NaiveBayes.textbook().fit(TABLE.drop(["id"]), "y").statistic_
    model.save(tmp_path / "m.suffice")
    for one in (model, load(tmp_path / "m.suffice")):
        expected = one.predict_proba(TABLE.drop(["id", "y"]))
        np.testing.assert_array_equal(one.predict_proba(TABLE.drop(["y"])), expected)
        assert one.partial_fit(TABLE, "y").reader_.layout.ignored == ("id",)


@pytest.mark.parametrize("ignore", ["id", ["ID"], [3]])
def test_what_is_no_column(ignore):
    with pytest.raises(ParameterError, match="ignore"):
        read_table(TABLE, ignore=ignore)


NUMBERS = {
    "id": np.arange(12.0) ** 2,
    "u": [1.0, 2.0, 2.5, 4.0, 5.5, 5.0] * 2,
    "v": [0.0, 3.0, 1.0, 1.0, 0.0, 2.0, 2.0, 5.0, 3.0, 2.0, 1.0, 4.0],
    "y": [0, 1] * 6,
}
CLASSIFIERS = [
    *(getattr(suffice.naive_bayes, name) for name in suffice.naive_bayes.__all__),
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    LogisticRegression,
]


KINDS = [*CLASSIFIERS, LinearRegression, Ridge, Lasso, ElasticNet]


@pytest.mark.parametrize(
    ("kind", "form"), list(zip(KINDS, cycle([pa.table, pd.DataFrame]), strict=False))
)
def test_every_estimator_leaves_columns_out(kind, form, tmp_path):
    table = form(NUMBERS)
    without = form({name: NUMBERS[name] for name in ("u", "v", "y")})
    model, expected = kind().fit(read_table(table, ignore=["id"]), "y"), kind().fit(without, "y")
    answers = expected.predict(without)
    assert model.n_features_in_ == 2
    model.save(tmp_path / "m.suffice")
    for one in (model, load(tmp_path / "m.suffice")):
        assert one.reader_.layout.ignored == ("id",)
        np.testing.assert_array_equal(one.predict(table), answers)
        np.testing.assert_array_equal(one.predict(without), answers)
