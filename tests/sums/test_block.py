"""Blocks of some columns, and whole numbers that become doubles."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from suffice.sums.block import (
    BadCell,
    CodedBlock,
    IntegerBlock,
    RealBlock,
    SparseBlock,
    require_held,
    rounded,
    tiles,
)
from suffice.sums.vocabulary import Vocabulary


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_numbers_of_some_columns(dtype: type) -> None:
    x = np.array([[1, 0, 1], [0, 1, 1]], dtype)
    found = RealBlock(x).showing(np.array([True, True, False])).values
    assert_array_equal(found, [[1, 0, np.nan], [0, 1, np.nan]])
    assert_array_equal(RealBlock(x).showing(np.ones(3, bool)).values, x)


def test_categories_of_some_columns() -> None:
    words = Vocabulary(("p", "q"))
    first = np.array([True, False])
    block = CodedBlock(np.array([[0, 1], [1, -1]], np.int8), (words, words)).showing(first)
    assert_array_equal(block.codes, [[0, -1], [1, -1]])
    assert block.vocabularies == (words, words)
    whole = IntegerBlock(np.array([[7, 9], [3, 9]])).showing(first)
    assert_array_equal(whole.codes, [[1, -1], [0, -1]])
    assert whole.vocabularies == (Vocabulary((3, 7)), Vocabulary((9,)))


def test_sparse_counts_of_some_columns() -> None:
    counts = csr_array(np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]]))
    numbered = Vocabulary((0, 1, 2), closed=True)
    shown = np.ones(2, bool)
    block = SparseBlock(counts.data, counts.indices, counts.indptr, numbered, shown)
    found = block.showing(np.array([True, False, True]))
    table = csr_array((found.data, found.indices, found.indptr), (2, 3)).toarray()
    assert_array_equal(table, [[2.0, np.nan, 1.0], [0.0, np.nan, 0.0]])
    words = replace(block, vocabulary=Vocabulary(("p", "q", "r")))
    assert words.showing(np.array([True])) is words
    assert words.showing(np.array([False])).missing.all()


B = 2**53


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_rounded(dtype: type) -> None:
    top = int(np.iinfo(dtype).max)
    cells = [0, B - 1, B, B + 1, B + 2, B + 3, 2**60, 2**60 + 1, top - 2**20, top, top // 2 + 1]
    expected = [int(float(cell)) != cell for cell in cells]
    assert rounded(np.array(cells, dtype)).tolist() == expected
    if dtype is np.int64:
        below = [-cell for cell in cells] + [-(2**63)]
        assert rounded(np.array(below)).tolist() == [int(float(c)) != c for c in below]


def laid_out(x: np.ndarray, how: str) -> np.ndarray:
    if how == "swapped":
        return x.astype(x.dtype.newbyteorder())
    return {"rows": x, "columns": np.asfortranarray(x), "steps": np.repeat(x, 2, axis=1)[:, ::2]}[
        how
    ]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("how", ["rows", "columns", "steps", "swapped"])
class TestWholeNumbers:
    def test_become_doubles_part_by_part(self, dtype: type, how: str) -> None:
        x = np.arange(600_000, dtype=dtype).reshape(-1, 3) * dtype(2**30)
        parts = list(tiles(laid_out(x, how), np.float64))
        assert len(parts) == 3
        for start, part in parts:
            assert part.dtype == np.float64
            assert_array_equal(part, x[start : start + len(part)].astype(np.float64))

    @pytest.mark.parametrize("read", [require_held, lambda x: list(tiles(x, np.float64))])
    def test_are_refused_where_doubles_hold_others(
        self, dtype: type, how: str, read: Callable[[np.ndarray], object]
    ) -> None:
        x = np.zeros((200_000, 3), dtype)
        x[7, 0], x[150_000, 1], x[150_000, 2] = B + 2, B + 1, B + 3
        with pytest.raises(BadCell) as caught:
            read(laid_out(x, how))
        assert (caught.value.row, caught.value.column, caught.value.value) == (150_000, 1, B + 1)


def test_a_block_is_not_cut_before_it_is_looked_at() -> None:
    with pytest.raises(BadCell):
        RealBlock(np.array([[1, B + 1]])).showing(np.array([True, False]))
