"""Rows that a fit does not see, for their weight or label, are named."""

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import AutoClassifier, LogisticRegression, NaiveBayes
from suffice.errors import DataError, SufficeWarning
from suffice.naive_bayes import GaussianNB

X = np.random.default_rng(0).normal(size=(40, 2))
Y = np.repeat(["no", "yes"], 20)
FRAME = pd.DataFrame(X, columns=["a", "b"])
HOLES = [None if i == 3 else i // 20 for i in range(40)]


@pytest.mark.parametrize("model", [NaiveBayes, LogisticRegression])
@pytest.mark.parametrize("rows", [X, FRAME], ids=["array", "frame"])
def test_a_class_of_weight_zero_is_named(model: Any, rows: Any) -> None:
    with pytest.raises(DataError, match="class 'yes' have weight 0"):
        model().fit(rows, Y, (Y == "no").astype(float))


def test_an_average_gives_no_advice_of_what_it_has_not() -> None:
    with pytest.raises(DataError, match="one class") as caught:
        AutoClassifier().fit(X, np.zeros(40, int))
    assert "partial_fit" not in str(caught.value)


@pytest.mark.parametrize("model", [GaussianNB, NaiveBayes, LogisticRegression])
def test_rows_without_a_label_are_counted(model: Any) -> None:
    for rows, labels in ((X, HOLES), (X, np.array(HOLES, float)), (FRAME, HOLES)):
        with pytest.warns(SufficeWarning, match="1 row without a label"):
            model().fit(rows, labels)


NULLS = {
    "pandas": pd.array(HOLES, dtype="Int64"),
    "a Series": pd.Series(HOLES, dtype="Int64"),
    "polars": pl.Series(HOLES),
    "pyarrow": pa.array(HOLES),
}


@pytest.mark.filterwarnings("ignore:1 row without a label")
@pytest.mark.parametrize("name", NULLS)
def test_whole_labels_with_a_null_stay_whole(name: str) -> None:
    for rows in (X, FRAME):
        assert NaiveBayes().fit(rows, NULLS[name]).classes_.dtype.kind == "i"
