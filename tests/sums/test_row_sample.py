"""A sample of rows by what they say: the same however they come, and with the sums."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.sums.base import tree_sum
from suffice.sums.batch import NO_WEIGHTS, Batch
from suffice.sums.block import CodedBlock, RealBlock, SparseBlock
from suffice.sums.by_class import ByClassAccumulator
from suffice.sums.counts import CountAccumulator
from suffice.sums.moments import MomentsAccumulator
from suffice.sums.row_sample import (
    RowSample,
    Sampled,
    SampledAccumulator,
    batch_hashes,
    name_hashes,
)
from suffice.sums.vocabulary import Vocabulary

NAMES = [["size", "age"], ["color"]]


def rows(n: int, seed: int, distinct: int = 40) -> Batch:
    rng = np.random.default_rng(seed)
    x = rng.integers(0, distinct, (n, 2)) / 4.0
    x[rng.random(x.shape) < 0.1] = np.nan
    colors = CodedBlock(rng.integers(-1, 3, (n, 1)), (Vocabulary(("blue", "green", "red")),))
    codes = rng.integers(-1, 2, n).astype(np.intp)
    return Batch(n, (RealBlock(x), colors), codes, Vocabulary(("no", "yes")), NO_WEIGHTS)


def summed(batches: list[Batch], size: int = 8) -> Sampled:
    sums = ByClassAccumulator([MomentsAccumulator(2), CountAccumulator(1)])
    total = SampledAccumulator(sums, NAMES, size)
    for batch in batches:
        total.add(batch)
    return total.statistic()


def content(sample: RowSample) -> dict[int, float]:
    """The weight of every row, by its hash; the hash is that of the row kept."""
    found: dict[int, float] = {}
    for batch, hashes in sample.pieces:
        assert batch_hashes(batch, name_hashes(NAMES)).tolist() == hashes.tolist()
        found |= dict(zip(hashes.tolist(), batch.weights.tolist(), strict=True))
    assert len(found) == sample.rows
    return found


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(0, 60), distinct=st.sampled_from([2, 40]))
def test_a_sample_does_not_depend_on_order_and_batches(seed: int, cut: int, distinct: int) -> None:
    batch = rows(60, seed, distinct)
    whole = summed([batch])
    order = np.random.default_rng(seed).permutation(60)
    shuffled = summed([batch.take(order[:cut]), batch.take(order[cut:])])
    apart = tree_sum([summed([batch.take(order[:cut])]), summed([batch.take(order[cut:])])])
    assert isinstance(apart, Sampled)
    assert content(whole.sample) == content(shuffled.sample) == content(apart.sample)
    assert whole == shuffled == apart
    assert whole.sample.rows <= 8


@given(seed=st.integers(0, 2**32 - 1), distinct=st.sampled_from([1, 2, 40]))
def test_of_a_long_batch_only_rows_of_small_hash_are_copied(seed: int, distinct: int) -> None:
    batch = rows(200, seed, distinct)
    whole, pieces = summed([batch], 5), summed([batch.cut(i, i + 10) for i in range(0, 200, 10)], 5)
    assert content(whole.sample) == content(pieces.sample)
    assert whole.sample.cut == pieces.sample.cut


@given(seed=st.integers(0, 2**32 - 1))
def test_the_rows_of_smallest_hash_are_chosen(seed: int) -> None:
    batch = rows(50, seed)
    hashes = batch_hashes(batch, name_hashes(NAMES))
    labelled = hashes[batch.codes >= 0]
    smallest = np.unique(labelled)[:8]
    expected = {int(h): float((labelled == h).sum()) for h in smallest}
    assert content(summed([batch]).sample) == expected


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), cut=st.integers(1, 59))
def test_what_is_forgotten_leaves_the_sample(seed: int, cut: int) -> None:
    batch = rows(60, seed)
    gone, kept = batch.take(np.arange(cut)), batch.take(np.arange(cut, 60))
    rest = summed([batch]) - summed([gone])
    assert isinstance(rest, Sampled)
    left, anew = content(rest.sample), content(summed([kept], 1000).sample)
    assert left == {h: w for h, w in anew.items() if h <= rest.sample.cut}


def test_equal_rows_have_equal_hashes_however_they_are_stored() -> None:
    labels = Vocabulary(("no", "yes"))
    x = np.array([[0.0, 3.0], [np.nan, 1.5]])
    one = Batch(2, (RealBlock(x),), np.array([0, 1]), labels)
    swapped = Batch(2, (RealBlock(x[:, ::-1]),), np.array([1, 0]), Vocabulary(("yes", "no")))
    a_b, b_a = name_hashes([["a", "b"]]), name_hashes([["b", "a"]])
    assert (batch_hashes(one, a_b) == batch_hashes(swapped, b_a)).all()
    assert (batch_hashes(one, a_b) != batch_hashes(one, b_a)).all()
    whole = replace(one, blocks=(RealBlock(np.array([[0, 3], [1, 1]])),))
    floats = replace(one, blocks=(RealBlock(np.array([[-0.0, 3.0], [1.0, 1.0]], np.float32)),))
    assert (batch_hashes(whole, a_b) == batch_hashes(floats, a_b)).all()


def test_parts_of_a_count_of_words_are_its_sum() -> None:
    words, there = Vocabulary(("ham", "spam")), np.ones(1, np.bool_)
    once = SparseBlock(np.array([3.0]), np.array([1]), np.array([0, 1]), words, there)
    parts = SparseBlock(np.array([1.0, 2.0]), np.array([1, 1]), np.array([0, 2]), words, there)
    note = name_hashes([["note"]])
    assert batch_hashes(Batch(1, (once,)), note) == batch_hashes(Batch(1, (parts,)), note)


def test_sums_without_rows_end_the_sample() -> None:
    one = summed([rows(20, 0)])
    plain = summed([rows(20, 1)]).plain
    assert not isinstance(one + plain, Sampled)
    assert (one + plain) == (plain + one)
    assert isinstance(one.scaled(0.5), Sampled)
    assert one.scaled(0.5).sample.weight == pytest.approx(one.sample.weight / 2)
