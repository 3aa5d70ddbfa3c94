"""Arrow columns into numbers and codes, however they lie in memory."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice import LogisticRegression, NaiveBayes
from suffice.data.array_source import ArraySource
from suffice.data.arrow_columns import column_of
from suffice.data.encode import encode
from suffice.data.schema import BlockLayout, Layout
from suffice.errors import SchemaError
from suffice.statistics.block import CodedBlock, RealBlock

pytestmark = pytest.mark.filterwarnings("ignore:.* without a label:suffice.errors.SufficeWarning")


def block(column: pa.Array, encoding: str) -> RealBlock | CodedBlock:
    layout = Layout((BlockLayout(encoding, ("x",)),), ())
    return encode(pa.record_batch({"x": column}), layout).blocks[0]


CELLS = st.lists(st.none() | st.integers(-3, 3), max_size=40)


@given(CELLS, st.integers(0, 20), st.sampled_from([pa.float64(), pa.float32(), pa.int8()]))
def test_a_slice_of_numbers_is_read_from_its_offset(
    cells: list[int | None], start: int, kind: pa.DataType
) -> None:
    part = cells[start:]
    found = block(pa.array(cells, kind)[start:], "real").values[:, 0]
    np.testing.assert_array_equal(found, [np.nan if cell is None else cell for cell in part])


@given(CELLS, st.integers(0, 20), st.sampled_from([pa.int8(), pa.uint32(), pa.int64()]))
def test_codes_show_the_values_of_their_dictionary(
    cells: list[int | None], start: int, kind: pa.DataType
) -> None:
    words = [None if cell is None else "abcdefg"[cell + 3] for cell in cells]
    column = pa.array(words, pa.string()).dictionary_encode()
    indices = column.indices.cast(kind)
    column = pa.DictionaryArray.from_arrays(indices, column.dictionary)[start:]
    coded = block(column, "category")
    values = coded.vocabularies[0].values
    found = [None if c < 0 else values[c] for c in coded.codes[:, 0].tolist()]
    assert found == words[start:]
    assert set(values) == set(words[start:]) - {None}


@pytest.mark.parametrize(
    ("index", "kind"),
    [(2, pa.int8()), (-1, pa.int8()), (2**32, pa.int64()), (2**32 - 1, pa.uint32())],
)
def test_a_code_outside_its_dictionary_is_refused(index: int, kind: pa.DataType) -> None:
    indices, words = pa.array([0, index], kind), pa.array(["a", "b"])
    with pytest.raises(pa.ArrowInvalid, match="outside its dictionary"):
        block(pa.DictionaryArray.from_arrays(indices, words, safe=False), "category")


def test_nan_is_missing_in_a_dictionary_too() -> None:
    column = pa.array([0.0, 1.0, np.nan, 0.0]).dictionary_encode()
    coded = block(column, "category")
    assert coded.codes[:, 0].tolist() == [0, 1, -1, 0]
    assert coded.vocabularies[0].values == (0.0, 1.0)


def test_a_buffer_may_be_longer_than_its_numbers() -> None:
    data = pa.py_buffer(np.array([1.5, 2.5]).tobytes() + b"abc")
    column = pa.Array.from_buffers(pa.float64(), 2, [None, data])
    assert block(column, "real").values.tolist() == [[1.5], [2.5]]


def test_the_reason_for_a_kind_quotes_no_cell() -> None:
    cells = [981_234_567, *range(30), *range(30)]
    x = np.array(cells)[:, None]
    for column in (column_of("x", pa.array(cells)), ArraySource(x, ("x",)).columns()[0]):
        assert column.kind == "real"
        assert column.reason == "whole numbers"


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
