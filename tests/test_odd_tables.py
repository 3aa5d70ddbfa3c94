"""Tables and labels that are not quite what they should be: taken as meant, or our errors."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from suffice import LinearDiscriminantAnalysis, LogisticRegression, NaiveBayes
from suffice.errors import DataError, ParameterError, SufficeError

X = np.random.default_rng(0).normal(size=(12, 2))
Y = np.arange(12) % 2
FRAME = pd.DataFrame(X, columns=["a", "b"])
MODELS = [NaiveBayes, LogisticRegression, LinearDiscriminantAnalysis]
HALF = "x\ud800"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "labels", [pd.DataFrame({"y": Y}), pa.table({"y": Y}), Y[:, None]], ids=["pandas", "arrow", "y"]
)
def test_labels_in_a_table_of_one_column(model: Callable[[], Any], labels: Any) -> None:
    expected = model().fit(FRAME, Y).predict_proba(FRAME)
    np.testing.assert_array_equal(model().fit(FRAME, labels).predict_proba(FRAME), expected)


@pytest.mark.parametrize(
    "labels",
    [
        pd.Series(Y, dtype="Int64"),
        pd.array(Y, dtype="UInt8"),
        pd.Series(Y, dtype="int64[pyarrow]"),
        pd.Series(Y == 1, dtype="boolean"),
        np.where(Y, np.uint64(2**64 - 1), np.uint64(1)),
    ],
    ids=["Int64", "UInt8", "Arrow", "boolean", "uint64"],
)
def test_whole_labels_keep_their_type(labels: Any) -> None:
    for rows in (FRAME, X):
        model = NaiveBayes().fit(rows, labels)
        assert model.classes_.tolist() == sorted(set(labels.tolist()))
        assert model.classes_.dtype.kind in "iub"


CASES: dict[str, tuple[Any, Any, str]] = {
    "two columns of labels": (
        FRAME,
        pd.DataFrame({"y": Y, "z": Y}),
        "the labels are a table of 2 columns; there is one label per row.",
    ),
    "complex array": (X + 1j, Y, "the table holds complex numbers: Complex data not supported"),
    "complex frame": (pd.DataFrame({"a": X[:, 0] + 1j}), Y, "column 'a' holds complex numbers"),
    "complex dict": ({"a": X[:, 0] + 1j}, Y, "column 'a' holds complex numbers"),
    "complex list": ({"a": [1j] * 12}, Y, "column 'a' holds complex numbers"),
    "array without columns": (X[:, :0], Y, "the table has no column: Found array with 0 feature"),
    "frame without columns": (pd.DataFrame(index=range(12)), Y, "the table has no column; a model"),
    "half a character": (
        {"a": [HALF, "b"] * 6},
        Y,
        "column 'a' holds a string with half of a character, which is no text (a lone surrogate); "
        "text is Unicode; replace it: text.encode('utf8', 'replace').decode().",
    ),
    "half a character in a frame": (
        pd.DataFrame({"ok": X[:, 0], "a": pd.Series([HALF, "b"] * 6, dtype=object)}),
        Y,
        "column 'a' holds a string with half of a character",
    ),
    "half a character in a name": (
        {HALF: X[:, 0]},
        Y,
        "the name of the column 'x\\ud800' is a string with half of a character",
    ),
    "half a character in a label": (
        FRAME,
        [HALF, "b"] * 6,
        "the label 'x\\ud800' is a string with half of a character",
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
@pytest.mark.parametrize("model", MODELS)
def test_our_errors(model: Callable[[], Any], case: tuple[Any, Any, str]) -> None:
    table, labels, said = case
    with pytest.raises(SufficeError) as caught:
        model().fit(table, labels)
    assert isinstance(caught.value, DataError | ParameterError)
    assert str(caught.value).startswith(said)
