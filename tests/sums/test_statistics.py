"""What is particular to each statistic; the laws that all share are in tests/laws."""

from fractions import Fraction

import numpy as np
import pytest

from suffice.errors import ForgetError
from suffice.sums.batch import NO_WEIGHTS, Batch
from suffice.sums.block import CodedBlock, RealBlock, SparseBlock
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.comoments import Comoments, ComomentsAccumulator
from suffice.sums.counts import CountAccumulator, Counts, EventAccumulator, Events
from suffice.sums.moments import Moments, MomentsAccumulator
from suffice.sums.vocabulary import Vocabulary


def counts(
    codes: list[list[int]], values: tuple[object, ...], classes: list[int], weights: object = ()
) -> Counts:
    table = np.array(codes).reshape(len(classes), -1)
    total = CountAccumulator(table.shape[1])
    block = CodedBlock(table, (Vocabulary(values),) * table.shape[1])
    total.add(block, np.array(classes, np.intp), np.array(weights, np.float64), 2)
    return total.statistic()


# -- vocabularies


def test_equal_numbers_are_one_value_and_kinds_are_kept_apart() -> None:
    assert Vocabulary.of([2.0, 1.0, 2, True]).values == (1.0, 2)
    assert Vocabulary.of(["10", 9, "9", 10]).values == (9, 10, "10", "9")


def test_a_closed_vocabulary_does_not_grow() -> None:
    two = Vocabulary((False, True), closed=True)
    assert two | two == two
    assert two | Vocabulary(()) == two
    with pytest.raises(ValueError, match="a closed vocabulary does not grow"):
        _ = two | Vocabulary.of("a")


# -- counts and events


def test_counts_of_batches_with_other_vocabularies() -> None:
    total = CountAccumulator(1)
    for values, k in ((("b", "a"), 1), (("c", "a", "unused"), 2)):
        block = CodedBlock(np.array([[0], [1], [-1]]), (Vocabulary(values),))
        total.add(block, np.array([0, k - 1, 0]), NO_WEIGHTS, k)
    found = total.statistic()
    assert found.vocabularies == (Vocabulary(("a", "b", "c")),)
    np.testing.assert_array_equal(found.count.value, [[1, 1, 1], [1, 0, 0]])
    np.testing.assert_array_equal(found.total, [[3], [1]])


def test_a_category_is_known_while_a_row_shows_it() -> None:
    both = counts([[0], [1], [0]], ("a", "b"), [0, 0, 1])
    b = counts([[0]], ("b",), [0])
    assert (both - b).vocabularies == (Vocabulary(("a",)),)
    assert both - b + b == both
    nothing = both - both
    assert nothing.vocabularies == (Vocabulary(()),)
    assert nothing.count.shape == (2, 0)
    assert counts([[0]], ("a",), [0], [0.0]) == nothing


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


def test_events_count_words_and_the_rows_that_have_a_text() -> None:
    found = events([3.0, 2.0, 0.0], ("to", "be", "never"))
    assert found.vocabularies == (Vocabulary(("be", "to")),)
    np.testing.assert_array_equal(found.count.value, [[2, 3]])
    assert found.documents.value.tolist() == [1]
    np.testing.assert_array_equal(events([3.0], ("to",), presence=True).count.value, [[1]])
    assert found != events([2.0, 3.0], ("to", "be"))
    assert found == events([2.0, 3.0], ("be", "to"))


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


@pytest.mark.parametrize("lengths", [(0, 3, 1, 0, 40), (40, 0, 0, 2, 1), (5,), (0,)])
def test_sparse_sums_are_exact_whatever_the_lengths_of_the_rows(lengths: tuple[int, ...]) -> None:
    rng = np.random.default_rng(5)
    cells, rows, columns = sum(lengths), len(lengths), Vocabulary(tuple(range(50)), closed=True)
    data = rng.random(cells) * 10.0 ** rng.integers(-12, 12, cells)
    data[::7] = np.nan
    indices, indptr = rng.integers(0, 50, cells), np.concatenate([[0], np.cumsum(lengths)])
    codes, weights = np.array([1, -1, 0, 1, 0])[:rows], rng.random(rows)
    total = EventAccumulator()
    block = SparseBlock(data, indices, indptr, columns, np.ones(rows, np.bool_))
    for _ in range(3):
        total.add(block, codes, weights, 2)
    expected = [[Fraction(0)] * 50 for _ in range(2)]
    for i, c in enumerate(codes):
        for q in range(indptr[i], indptr[i + 1]):
            if c >= 0 and not np.isnan(data[q]):
                expected[c][indices[q]] += 3 * Fraction(data[q]) * Fraction(weights[i])
    assert total.statistic().count.value.tolist() == [[float(x) for x in row] for row in expected]


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
