"""What is particular to each kind of sums; the laws that all share are in tests/laws."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from suffice import NaiveBayes
from suffice.errors import DataError, ForgetError, ParameterError
from suffice.families import MultivariateGaussian
from suffice.sums.base import tree_sum
from suffice.sums.batch import NO_WEIGHTS, Batch
from suffice.sums.block import CodedBlock, RealBlock, SparseBlock
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.comoments import (
    Comoments,
    ComomentsAccumulator,
    FourthMoments,
    FourthMomentsAccumulator,
)
from suffice.sums.counts import CountAccumulator, Counts, EventAccumulator, Events
from suffice.sums.moments import Moments, MomentsAccumulator
from suffice.sums.pairs import CutBins, PairCountAccumulator, PairCounts
from suffice.sums.row_sample import RowSample, Sampled, SampledAccumulator, batch_hashes
from suffice.sums.vocabulary import Vocabulary

# -- what is particular to each statistic; the laws that all share are in tests/laws


def counts(
    codes: list[list[int]], values: tuple[object, ...], classes: list[int], weights: object = ()
) -> Counts:
    table = np.array(codes).reshape(len(classes), -1)
    total = CountAccumulator(table.shape[1])
    block = CodedBlock(table, (Vocabulary(values),) * table.shape[1])
    total.add(block, np.array(classes, np.intp), np.array(weights, np.float64), 2)
    return total.statistic()


# -- counts and events


def test_counts_that_were_never_there_cannot_be_forgotten() -> None:
    with pytest.raises(ForgetError) as caught:
        _ = counts([[0]], ("a",), [0]) - counts([[0]], ("a",), [1])
    assert "fewer rows than are to be forgotten" in str(caught.value)


def test_fractions_are_forgotten_without_a_trace() -> None:
    weights = np.random.default_rng(4).random(500)
    rows = [[0]] * 500
    both = counts(rows, ("a",), [0] * 500, weights)
    for start in range(0, 500, 50):
        part = slice(start, start + 50)
        both -= counts(rows[part], ("a",), [0] * 50, weights[part])
    assert both.vocabularies == (Vocabulary(()),)


def events(data: list[float], words: tuple[str, ...], presence: bool = False) -> Events:
    block = SparseBlock(
        np.array(data),
        np.arange(len(data)),
        np.array([0, len(data), len(data)]),
        Vocabulary(words),
        np.array([True, False]),
    )
    total = EventAccumulator(presence)
    total.add(block, np.zeros(2, np.intp), NO_WEIGHTS, 1)
    return total.statistic()


def test_sparse_and_dense_counts_are_the_same_events() -> None:
    dense, sparse = EventAccumulator(), EventAccumulator()
    codes = np.array([0, 1])
    dense.add(RealBlock(np.array([[0.0, 2.5], [1.0, 0.0]])), codes, NO_WEIGHTS, 2)
    columns = Vocabulary((0, 1), closed=True)
    block = SparseBlock(
        np.array([2.5, 1.0]), np.array([1, 0]), np.array([0, 1, 2]), columns, np.ones(2, np.bool_)
    )
    sparse.add(block, codes, NO_WEIGHTS, 2)
    assert dense.statistic() == sparse.statistic()


# -- the statistic of a table


def table(
    x: list[float], codes: list[int], labels: tuple[object, ...], weights: object = ()
) -> ByClass:
    total = ByClassAccumulator([MomentsAccumulator(1)])
    block = RealBlock(np.array(x).reshape(-1, 1))
    weights = np.array(weights, np.float64)
    total.add(Batch(len(x), (block,), np.array(codes, np.intp), Vocabulary(labels), weights))
    return total.statistic()


def test_a_class_is_known_while_a_row_shows_it() -> None:
    both = table([1, 2, 3], [0, 1, 0], ("a", "b"))
    rest = both - table([2], [0], ("b",))
    assert rest == table([1, 3], [0, 0], ("a",))
    assert len((rest - table([1, 3], [0, 0], ("a",))).classes) == 0
    assert table([1], [0], ("a",), [0.0]).classes.values == ()


def test_missing_labels_are_counted_with_their_weights() -> None:
    found = table([1, 2, 3], [0, -1, -1], ("a",), [1.0, 0.5, 2.0])
    assert found.unlabelled.value == 2.5
    assert (found - table([9], [-1], (), [2.0])).unlabelled.value == 0.5
    with pytest.raises(ForgetError, match=r"^fewer rows than are to be forgotten"):
        _ = found - table([9], [-1], (), [3.0])


def test_rows_without_their_cells_cannot_be_forgotten() -> None:
    both = table([1, 2, 3], [0, 1, 1], ("a", "b"))
    with pytest.raises(ForgetError) as caught:
        _ = both - table([np.nan], [0], ("a",))
    assert "class 'a': all its rows are to be forgotten" in str(caught.value)
    with pytest.raises(ForgetError, match=r"^fewer values than are to be"):
        _ = table([np.nan, 2], [0, 0], ("a",)) - table([1, 2], [0, 0], ("a",))
    with pytest.raises(ForgetError, match=r"class .*: fewer rows than are to be forgotten"):
        _ = both - table([1], [0], ("c",))


# -- numbers that differ too little to be squared


@pytest.mark.parametrize("pooled", [False, True])
def test_columns_too_small_to_be_squared(pooled: bool) -> None:
    x = np.array([[0.0, 5.0, 0.0, 1e-150, 0.0], [1.0, 5.0, 1e-139, 1e-150, 1e-145]])
    x = np.concatenate([x, x[::-1]])
    expected = [False, False, False, True, True]
    codes = np.array([0, 1, 1, 0])  # both values of a column are in both classes
    moments, comoments = MomentsAccumulator(5), ComomentsAccumulator(5, pooled)
    for part in (slice(0, 1), slice(1, 4)):
        for total in (moments, comoments):
            total.add(RealBlock(x[part]), codes[part], NO_WEIGHTS, 2)
    assert moments.statistic().too_small.tolist() == expected
    assert comoments.statistic().too_small.tolist() == expected
    apart = np.array([0, 1, 0, 1])  # a class for every value
    x[2:] = x[:2]
    for total in (MomentsAccumulator(5), ComomentsAccumulator(5, pooled)):
        total.add(RealBlock(x), apart, NO_WEIGHTS, 2)
        assert total.statistic().too_small.tolist() == expected
    gone = np.where([[True, False, False, False, False], [False] * 5] * 2, np.nan, x)
    total = ComomentsAccumulator(5, pooled)
    total.add(RealBlock(gone), apart, NO_WEIGHTS, 2)
    assert total.statistic().too_small.tolist() == expected
    assert not Comoments.empty(0, 2).too_small.any()
    assert not Moments.empty(0, 2).too_small.any()


# -- fourth moments: what Ledoit and Wolf's shrinkage is chosen by


def summed(x: np.ndarray, codes: np.ndarray, k: int = 2) -> FourthMoments:
    total = FourthMomentsAccumulator(x.shape[1])
    total.add(RealBlock(x), codes, np.empty(0), k)
    return total.statistic()


@pytest.mark.parametrize(("offset", "error"), [(0.0, 1e-13), (1e3, 1e-12), (1e5, 1e-9)])
def test_the_fourth_moments_are_those_of_the_rows(offset, error):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4)) * [1.0, 2.0, 3.0, 0.5] + offset
    codes, variance = rng.integers(0, 2, 300), rng.random((2, 4)) + 0.5
    expected = []
    for c in range(2):
        z2 = (x[codes == c] - x[codes == c].mean(axis=0)) ** 2 / variance[c]
        expected.append((z2.sum(axis=1) ** 2).sum())
    assert_allclose(summed(x, codes).fourth(variance), expected, rtol=error)


def test_a_number_whose_fourth_power_overflows_is_named():
    family = MultivariateGaussian(estimation="mle", shrinkage="ledoit-wolf")
    x = np.array([[1.0, 2.0], [3.0, 1e80], [5.0, 6.0], [7.0, 7.0]])
    with pytest.raises(DataError, match=r"column 'x1', row 1: 1e\+80; a number must be below 1e75"):
        NaiveBayes.textbook(family).fit(x, [0, 1, 0, 1])


# -- pair counts against plain counting; the shared laws are in tests/laws


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


def test_rows_with_weights_and_without_are_counted_together() -> None:
    x, codes, weights = rows_of(3, 60)
    total = PairCountAccumulator(NAMES, BINS)
    total.add(RealBlock(x), codes, NO_WEIGHTS, 3)
    total.add(RealBlock(x), np.where(weights > 0, codes, -1), weights, 3)
    assert total.statistic() == counted(x, codes) + counted(x, codes, weights)


def test_what_is_not_there_is_not_forgotten() -> None:
    x, codes = np.array([[0.0, 2.0, 0.0]]), np.zeros(1, np.intp)
    with pytest.raises(ForgetError) as caught:
        counted(x, codes) - counted(np.array([[0.0, 0.0, 0.0]]), codes)
    assert caught.value.column == 1


def test_other_bins_are_refused() -> None:
    other = PairCounts.empty(3, NAMES, (*BINS[:2], CutBins(np.array([9.0]))))
    with pytest.raises(ParameterError, match=r"counted in other bins.*bins=first.bins_"):
        PairCounts.empty(3, NAMES, BINS) + other


# -- a sample of rows by what they say: the same however they come, and with the sums


NAMES_OF_ROW_SAMPLE = [("size", "age"), ("color",)]


def rows(n: int, seed: int, distinct: int = 40) -> Batch:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, distinct, (n, 2)) / 4.0
    x[rng.random(x.shape) < 0.1] = np.nan
    colors = CodedBlock(rng.integers(-1, 3, (n, 1)), (Vocabulary(("blue", "green", "red")),))
    codes = rng.integers(-1, 2, n).astype(np.intp)
    return Batch(n, (RealBlock(x), colors), codes, Vocabulary(("no", "yes")), NO_WEIGHTS)


def sampled(batches: list[Batch], size: int = 8) -> Sampled:
    sums = ByClassAccumulator([MomentsAccumulator(2), CountAccumulator(1)])
    total = SampledAccumulator(sums, NAMES_OF_ROW_SAMPLE, size)
    for batch in batches:
        total.add(batch)
    return total.statistic()


def content(sample: RowSample) -> dict[int, float]:
    """The weight of every row, by its hash; the hash is that of the row kept."""
    hashes = sample.hashes.tolist()
    if hashes:
        assert batch_hashes(sample.batch, NAMES_OF_ROW_SAMPLE).tolist() == hashes
    assert hashes == sorted(set(hashes))
    return dict(zip(hashes, sample.batch.weights.tolist(), strict=True))


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 60), distinct=st.sampled_from([2, 40]))
def test_a_sample_does_not_depend_on_order_and_batches(seed: int, cut: int, distinct: int) -> None:
    batch = rows(60, seed, distinct)
    whole = sampled([batch])
    order = np.random.default_rng(seed).permutation(60)
    shuffled = sampled([batch.take(order[:cut]), batch.take(order[cut:])])
    apart = tree_sum([sampled([batch.take(order[:cut])]), sampled([batch.take(order[cut:])])])
    assert isinstance(apart, Sampled)
    assert content(whole.sample) == content(shuffled.sample) == content(apart.sample)
    assert whole == shuffled == apart
    assert whole.sample.batch.rows <= 8


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 59))
def test_what_is_forgotten_leaves_the_sample(seed: int, cut: int) -> None:
    batch = rows(60, seed)
    gone, kept = batch.take(np.arange(cut)), batch.take(np.arange(cut, 60))
    rest = sampled([batch]) - sampled([gone])
    assert isinstance(rest, Sampled)
    left, anew = content(rest.sample), content(sampled([kept], 1000).sample)
    assert left == {h: w for h, w in anew.items() if h <= rest.sample.cut}


def test_equal_rows_have_equal_hashes_however_they_are_stored() -> None:
    labels = Vocabulary(("no", "yes"))
    x = np.array([[0.0, 3.0], [np.nan, 1.5]])
    one = Batch(2, (RealBlock(x),), np.array([0, 1]), labels)
    swapped = Batch(2, (RealBlock(x[:, ::-1]),), np.array([1, 0]), Vocabulary(("yes", "no")))
    a_b, b_a = [("a", "b")], [("b", "a")]
    assert (batch_hashes(one, a_b) == batch_hashes(swapped, b_a)).all()
    assert (batch_hashes(one, a_b) != batch_hashes(one, b_a)).all()
    whole = replace(one, blocks=(RealBlock(np.array([[0, 3], [1, 1]])),))
    floats = replace(one, blocks=(RealBlock(np.array([[-0.0, 3.0], [1.0, 1.0]], np.float32)),))
    assert (batch_hashes(whole, a_b) == batch_hashes(floats, a_b)).all()
