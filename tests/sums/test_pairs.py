"""Pair counts against plain counting; the shared laws are in tests/laws."""

from collections import Counter

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from suffice.errors import ForgetError, ParameterError
from suffice.sums import pairs
from suffice.sums.batch import NO_WEIGHTS
from suffice.sums.block import CodedBlock, RealBlock
from suffice.sums.pairs import (
    CutBins,
    PairCountAccumulator,
    PairCounts,
    ValueBins,
    pair_places,
)
from suffice.sums.vocabulary import Vocabulary

BINS = (CutBins(np.array([-0.5, 0.5])), CutBins(np.array([1.0])), CutBins(np.zeros(0)))
NAMES, STARTS = ("a", "b", "c"), (0, 3, 5)


def rows_of(seed: int, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Numbers with holes, class codes of which some are −1, and weights that are halves."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, len(BINS)))
    x[rng.random(x.shape) < 0.2] = np.nan
    return x, rng.integers(-1, 3, n), rng.integers(0, 5, n) / 2


def counted(x: np.ndarray, codes: np.ndarray, weights: np.ndarray = NO_WEIGHTS) -> PairCounts:
    total = PairCountAccumulator(NAMES, BINS)
    shown = np.where(weights > 0, codes, -1) if len(weights) else codes
    total.add(RealBlock(x), shown, weights, 3)
    return total.statistic()


def plain_count(x: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The same table by a loop over rows and pairs, (k, M, M)."""
    found: Counter[tuple[int, int, int]] = Counter()
    for row, c, w in zip(x, codes.tolist(), weights.tolist(), strict=True):
        places = [
            start + sum(value >= cut for cut in bins.cuts)
            for value, bins, start in zip(row, BINS, STARTS, strict=True)
            if not np.isnan(value)
        ]
        if c >= 0:
            found.update({(c, v, u): w for v in places for u in places})
    table = np.zeros((3, 6, 6))
    for at, count in found.items():
        table[at] = count
    return table


@pytest.mark.parametrize("weighted", [False, True])
def test_pairs_are_those_of_a_plain_loop(weighted: bool) -> None:
    x, codes, weights = rows_of(1, 200)
    found = counted(x, codes, weights if weighted else NO_WEIGHTS)
    expected = plain_count(x, codes, weights if weighted else np.ones(200))
    assert_array_equal([found.table(c) for c in range(3)], expected)
    assert_array_equal(found.alone.value, np.diagonal(expected, axis1=1, axis2=2))
    blocks = [found.alone.value[:, a:b].sum(axis=1) for a, b in ((0, 3), (3, 5), (5, 6))]
    assert_array_equal(found.total.T, blocks)


def test_a_tally_that_is_put_by_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    x, codes, weights = rows_of(3, 60)
    expected = counted(x, codes) + counted(x, codes, weights) + counted(x, codes)
    monkeypatch.setattr(pairs, "MOST_COUNTED", 100)
    total = PairCountAccumulator(NAMES, BINS)
    total.add(RealBlock(x), codes, NO_WEIGHTS, 3)
    total.add(RealBlock(x), np.where(weights > 0, codes, -1), weights, 3)
    total.add(RealBlock(x), codes, NO_WEIGHTS, 3)
    assert total.statistic() == expected
    assert total.statistic() == expected


def test_numbers_and_values_side_by_side() -> None:
    cells = CodedBlock(np.array([[0], [-1], [1]], np.int8), (Vocabulary(("a", "z")),))
    bins = (CutBins(np.array([2.0])), ValueBins(Vocabulary(("a", "b"))))
    columns = [RealBlock(np.array([[2.0], [1.0], [np.nan]])), cells]
    assert pair_places(bins, columns, 3).tolist() == [[1, 2], [0, -1], [-1, -1]]


def test_other_bins_are_refused() -> None:
    other = PairCounts.empty(3, NAMES, (*BINS[:2], CutBins(np.array([9.0]))))
    with pytest.raises(ParameterError, match=r"counted in other bins.*bins=first.bins_"):
        PairCounts.empty(3, NAMES, BINS) + other


def test_what_is_not_there_is_not_forgotten() -> None:
    x, codes = np.array([[0.0, 2.0, 0.0]]), np.zeros(1, np.intp)
    with pytest.raises(ForgetError) as caught:
        counted(x, codes) - counted(np.array([[0.0, 0.0, 0.0]]), codes)
    assert caught.value.column == 1
