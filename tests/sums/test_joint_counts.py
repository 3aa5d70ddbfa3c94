"""Joint counts against NumPy and plain counting; the shared laws are in tests/laws."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from suffice.sums.batch import NO_WEIGHTS
from suffice.sums.block import CodedBlock, IntegerBlock
from suffice.sums.counts import (
    TOGETHER,
    JointAccumulator,
    JointCounts,
    distinct_rows,
)
from suffice.sums.vocabulary import Vocabulary


@pytest.mark.parametrize(("d", "m"), [(1, 3), (3, 2), (70, 2), (9, 2**20), (3, 2**31 - 1)])
def test_distinct_rows(d: int, m: int) -> None:
    rng = np.random.default_rng(d)
    rows = rng.integers(0, m, (40, d))[rng.integers(0, 40, 200)]
    distinct, place = distinct_rows(rows)
    expected, inverse = np.unique(rows, axis=0, return_inverse=True)
    assert_array_equal(distinct, expected)
    assert_array_equal(place, inverse.ravel())


def test_no_rows_are_distinct() -> None:
    distinct, place = distinct_rows(np.zeros((0, 3), np.intp))
    assert distinct.shape == (0, 3)
    assert place.shape == (0,)


def test_many_batches_with_codes_of_their_own() -> None:
    rng = np.random.default_rng(0)
    values = np.array(["p", "q", "r", "s"])
    total, expected = JointAccumulator(2), Counter()
    for b in range(2 * TOGETHER + 3):
        known = rng.permutation(values)[:3]
        cells = rng.integers(-1, 3, (7, 2))
        codes = rng.integers(-1, 2 + b // TOGETHER, 7)
        vocabulary = Vocabulary(tuple(known.tolist()))
        total.add(CodedBlock(cells, (vocabulary,) * 2), codes, NO_WEIGHTS, 2 + b // TOGETHER)
        shown = zip(codes.tolist(), *(np.append(known, "")[cells].T.tolist()), strict=True)
        expected.update(row for row in shown if row[0] >= 0 and "" not in row[1:])
    counts = total.statistic()
    found = {
        (c, *counts.combination(s)): value
        for (c, s), value in np.ndenumerate(counts.count.value)
        if value
    }
    assert found == expected
    combinations = [counts.combination(s) for s in range(len(counts.cells))]
    assert combinations == sorted(set(combinations))
    assert_array_equal(counts.total[:, 0], [sum(n for key, n in expected.items() if key[0] == c)
                                            for c in range(4)])  # fmt: skip


def test_weights_and_whole_numbers() -> None:
    total = JointAccumulator(2)
    block = IntegerBlock(np.array([[5, -1], [5, -1], [7, 0]], np.int8))
    total.add(block, np.array([0, 0, 1]), np.array([0.5, 2.0, 1.5]), 2)
    counts = total.statistic()
    assert counts.vocabularies == (Vocabulary((5, 7)), Vocabulary((-1, 0)))
    assert_array_equal(counts.count.value, [[2.5, 0], [0, 1.5]])
    assert counts - counts == JointCounts.empty(2, 2)
