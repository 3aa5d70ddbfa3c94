"""Arrow columns into numbers and codes, however they lie in memory."""

from hashlib import blake2b
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import LogisticRegression, NaiveBayes
from suffice.errors import SchemaError

pytestmark = pytest.mark.filterwarnings("ignore:.* without a label:suffice.errors.SufficeWarning")


CELLS = st.lists(st.none() | st.integers(-3, 3), min_size=2, max_size=40)
STARTS = st.integers(0, 20)


def learnt(column: Any, family: str) -> Any:
    """What naive Bayes keeps of a column beside labels."""
    labels = ["a", "b"] + ["a"] * (len(column) - 2)
    table = pa.table({"x": column, "y": labels})
    return NaiveBayes.textbook({"x": family}).fit(table, "y").statistic_


@settings(max_examples=25)
@given(CELLS, STARTS, st.sampled_from([pa.float64(), pa.float32(), pa.int8()]))
def test_a_slice_of_numbers_is_read_from_its_offset(
    cells: list[int | None], start: int, kind: pa.DataType
) -> None:
    start = min(start, len(cells) - 2)
    expected = learnt(pa.array(cells[start:], pa.float64()), "gaussian")
    assert learnt(pa.array(cells, kind)[start:], "gaussian") == expected


def test_numbers_of_half_precision() -> None:
    cells = pa.array(np.array([0.5, np.nan, 2.0], np.float16))
    for family in ("gaussian", "categorical"):
        assert learnt(cells, family) == learnt(cells.cast(pa.float32()), family)


def test_a_label_is_one_value() -> None:
    rows = pa.table({"x": [1.0, 2.0], "y": [[1], [2]]})
    with pytest.raises(SchemaError, match="column 'y' holds lists"):
        NaiveBayes().fit(rows, "y")


def test_nan_is_missing_in_a_dictionary_too() -> None:
    cells = pa.array([0.0, 1.0, np.nan, 0.0])
    missing = pa.array([0.0, 1.0, None, 0.0])
    assert learnt(cells.dictionary_encode(), "categorical") == learnt(missing, "categorical")


def test_a_buffer_may_be_longer_than_its_numbers() -> None:
    data = pa.py_buffer(np.array([1.5, 2.5]).tobytes() + b"abc")
    column = pa.Array.from_buffers(pa.float64(), 2, [None, data])
    assert learnt(column, "gaussian") == learnt(pa.array([1.5, 2.5]), "gaussian")


@settings(max_examples=25)
@given(CELLS, STARTS, st.sampled_from([pa.int8(), pa.uint32(), pa.int64()]))
def test_codes_show_the_values_of_their_dictionary(
    cells: list[int | None], start: int, kind: pa.DataType
) -> None:
    start = min(start, len(cells) - 2)
    words = [None if cell is None else "abcdefg"[cell + 3] for cell in cells]
    column = pa.array(words, pa.string()).dictionary_encode()
    indices = column.indices.cast(kind)
    column = pa.DictionaryArray.from_arrays(indices, column.dictionary)[start:]
    assert learnt(column, "categorical") == learnt(
        pa.array(words[start:], pa.string()), "categorical"
    )


@pytest.mark.parametrize(
    "moments",
    [
        pa.array([5, 5], pa.timestamp("us", "+99:99")),
        pa.array([5, 6], pa.timestamp("ns", "Nowhere/None")),
        pa.array([2**31 - 1, 0], pa.int32()).cast(pa.date32()),
        pa.array([2**60, 0], pa.timestamp("s")),
    ],
    ids=lambda moments: str(moments.type),
)
@pytest.mark.parametrize("make", [NaiveBayes, LogisticRegression])
def test_moments_that_python_has_not_are_no_labels(make: Any, moments: Any) -> None:
    table = pa.table({"x": [1.0, 2.0], "y": moments})
    with pytest.raises(
        SchemaError, match=r"column 'y' holds .* of a year or time zone that is none"
    ):
        make().fit(table, "y")


@pytest.mark.parametrize("make", [NaiveBayes, LogisticRegression])
def test_bytes_in_views_are_labels(make: Any) -> None:
    labels, x = pa.array([b"u", b"v", b"v", b"u", None]), [1.0, 2.0, 2.5, 0.5, 3.0]
    views = labels.cast(pa.binary_view())
    of_views = pa.DictionaryArray.from_arrays(
        pa.array([0, 1, 1, 0, None], pa.int8()), pa.array([b"u", b"v"]).cast(pa.binary_view())
    )
    plain = make().fit(pa.table({"x": x, "y": labels}), "y")
    for column in (views, of_views):
        model = make().fit(pa.table({"x": x, "y": column}), "y")
        assert model.classes_.tolist() == [b"u", b"v"]
        assert model.predict_proba({"x": x}).tolist() == plain.predict_proba({"x": x}).tolist()


def test_a_value_of_many_batches_is_hashed_once(tmp_path: Path) -> None:
    values, n = 1_000, 4 * 65_536
    rows = {"x": [f"v{i * 7 % values}" for i in range(n)], "y": ["a", "b"] * (n // 2)}
    pa.parquet.write_table(pa.table(rows), tmp_path / "t.parquet")
    with patch("suffice.sums.vocabulary.blake2b", wraps=blake2b) as hashes:
        NaiveBayes().fit(tmp_path / "t.parquet", "y")
    assert values <= hashes.call_count < 3 * values  # once more in the sample of all batches
