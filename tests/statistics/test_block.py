"""Blocks cut at a column."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from suffice.statistics.block import CodedBlock, IntegerBlock, RealBlock
from suffice.statistics.vocabulary import Vocabulary


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8, np.bool_])
def test_numbers_up_to_a_column(dtype: type) -> None:
    x = np.array([[1, 0, 1], [0, 1, 1]], dtype)
    found = RealBlock(x).upto(1).values
    assert_array_equal(found, [[1, 0, np.nan], [0, 1, np.nan]])
    assert_array_equal(RealBlock(x).upto(2).values, x)


def test_categories_up_to_a_column() -> None:
    words = Vocabulary(("p", "q"))
    block = CodedBlock(np.array([[0, 1], [1, -1]], np.int8), (words, words)).upto(0)
    assert_array_equal(block.codes, [[0, -1], [1, -1]])
    assert block.vocabularies == (words, words)
    whole = IntegerBlock(np.array([[7, 9], [3, 9]])).upto(0)
    assert_array_equal(whole.codes, [[1, -1], [0, -1]])
    assert whole.vocabularies == (Vocabulary((3, 7)), Vocabulary((9,)))
