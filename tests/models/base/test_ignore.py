"""Columns that are left out: at fit for good, at prediction as if their cells were missing."""

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes, load
from suffice.errors import ParameterError

TABLE = pa.table(
    {
        "id": ["a", "b", "c", "d"],
        "size": [1.0, 1.5, 4.0, 4.5],
        "color": ["red", "red", "blue", "red"],
        "y": ["u", "u", "v", "v"],
    }
)


def test_a_fit_is_that_without_the_column(tmp_path):
    model = NaiveBayes(ignore=["id"]).fit(TABLE, "y")
    assert model.statistic_ == NaiveBayes().fit(TABLE.drop(["id"]), "y").statistic_
    model.save(tmp_path / "m.suffice")
    for one in (model, load(tmp_path / "m.suffice")):
        expected = one.predict_proba(TABLE.drop(["id", "y"]))
        np.testing.assert_array_equal(one.predict_proba(TABLE.drop(["y"])), expected)
        assert one.partial_fit(TABLE, "y").layout_.ignored == ("id",)


@pytest.mark.parametrize("ignore", ["id", ["ID"], ["y"], [3]])
def test_what_is_no_column(ignore):
    with pytest.raises(ParameterError, match="ignore"):
        NaiveBayes(ignore=ignore).fit(TABLE, "y")
