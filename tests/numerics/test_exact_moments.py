"""Moments as whole numbers against exact rationals: sums, mean and scatter, and their one form."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.errors import ForgetError
from suffice.statistics.block import BadCell, RealBlock
from suffice.statistics.exact_moments import ExactMoments, ExactMomentsAccumulator
from suffice.statistics.statistic import tree_sum

OFFSETS = [0.0, 1.0, 1e4, 1e8, 1e12]
NONE = np.empty(0)


def summed(
    x: np.ndarray, codes: np.ndarray, weights: np.ndarray = NONE, k: int = 2
) -> ExactMoments:
    total = ExactMomentsAccumulator(x.shape[1])
    total.add(RealBlock(x), codes, weights, k)
    return total.statistic()


def in_parts(
    x: np.ndarray, codes: np.ndarray, weights: np.ndarray, parts: int, rng: np.random.Generator
) -> ExactMoments:
    """The sum of shuffled parts, some of them added by one accumulator, some apart."""
    pieces = np.array_split(rng.permutation(len(x)), parts)
    order = rng.permutation(parts)
    return tree_sum(
        summed(x[pieces[i]], codes[pieces[i]], weights[pieces[i]] if len(weights) else NONE)
        for i in order
    )


def rounded_once(x: np.ndarray, w: np.ndarray) -> tuple[float, float, float]:
    """Weight, mean and scatter of one column, in rational arithmetic."""
    seen = [(Fraction(a), Fraction(b)) for a, b in zip(x, w, strict=True) if a == a]
    total = sum((b for _, b in seen), Fraction())
    if not total:
        return 0.0, 0.0, 0.0
    mean = sum((a * b for a, b in seen), Fraction()) / total
    return float(total), float(mean), float(sum((b * (a - mean) ** 2 for a, b in seen), Fraction()))


def assert_exact(
    moments: ExactMoments, x: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> None:
    w = weights if len(weights) else np.ones(len(x))
    for c in range(2):
        rows = codes == c
        for j in range(x.shape[1]):
            truth = rounded_once(x[rows, j], w[rows])
            for form in (moments, moments.canonical()):
                found = form.total[c, j], form.mean[c, j], form.scatter[c, j]
                assert found == truth, (c, j)
                assert form.variance[c, j] == variance(x[rows, j], w[rows]), (c, j)


def variance(x: np.ndarray, w: np.ndarray) -> float:
    """The variance of one column, in rational arithmetic."""
    seen = [(Fraction(a), Fraction(b)) for a, b in zip(x, w, strict=True) if a == a]
    total = sum((b for _, b in seen), Fraction()) or Fraction(1)
    mean = sum((a * b for a, b in seen), Fraction()) / total
    return float(sum((b * (a - mean) ** 2 for a, b in seen), Fraction()) / total)


def weights_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    return {
        "none": NONE,
        "whole": rng.integers(1, 5, n).astype(np.float64),
        "any": rng.random(n) + 0.01,
    }[kind]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize("kind", ["none", "whole", "any"])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
def test_mean_and_scatter_are_the_exact_answers_rounded_once(
    offset: float, kind: str, gaps: float
) -> None:
    for seed in range(8):
        rng = np.random.default_rng([seed, int(offset)])
        n = int(rng.integers(1, 120))
        x = rng.normal(size=(n, 3)) * [1.0, 1e-3, 1e3] + offset
        x[rng.random(x.shape) < gaps] = np.nan
        codes, weights = rng.integers(-1, 2, n).astype(np.intp), weights_of(kind, n, rng)
        for parts in (1, 2, 7):
            assert_exact(in_parts(x, codes, weights, parts, rng), x, codes, weights)


@settings(max_examples=60)
@given(
    st.lists(st.integers(-40, 40), min_size=1, max_size=40),
    st.sampled_from(OFFSETS),
    # Of 53 bits, squares take 106, and no pair tells a tie from its neighbours; of 24 it does.
    st.sampled_from([1.0, 0.5, float(np.float32(0.1))]),
    st.integers(0, 1000),
)
def test_ties_are_rounded_to_even_whatever_the_pivot(
    steps: list[int], offset: float, step: float, seed: int
) -> None:
    x = offset + step * np.array(steps, np.float64)[:, None]
    codes = np.zeros(len(x), np.intp)
    rng = np.random.default_rng(seed)
    for parts in (1, 3, len(x)):
        assert_exact(in_parts(x, codes, NONE, parts, rng), x, codes, NONE)


@pytest.mark.parametrize("offset", OFFSETS)
def test_a_thousand_partitions_give_the_same_bits(offset: float) -> None:
    rng = np.random.default_rng(11)
    x = rng.normal(size=(2000, 2)) + offset
    codes = rng.integers(0, 2, 2000).astype(np.intp)
    whole = summed(x, codes)
    assert_exact(whole, x, codes, NONE)
    for parts in (1, 2, 7, 1000):
        assert in_parts(x, codes, NONE, parts, rng) == whole


@pytest.mark.parametrize("offset", OFFSETS)
def test_taking_rows_away_leaves_the_exact_rest(offset: float) -> None:
    for seed in range(10):
        rng = np.random.default_rng([seed, 5])
        x = rng.normal(size=(60, 2)) * [1.0, 50.0] + offset
        codes, weights = rng.integers(0, 2, 60).astype(np.intp), rng.random(60) + 0.5
        n = int(rng.integers(1, 59))
        rest = summed(x, codes, weights) - summed(x[n:], codes[n:], weights[n:])
        first = rest.total > 0
        kept = summed(x[:n], codes[:n], weights[:n])
        np.testing.assert_array_equal(rest.mean[first], kept.mean[first])
        np.testing.assert_array_equal(rest.scatter[first], kept.scatter[first])


def test_equal_values_have_no_scatter_after_others_are_taken_away() -> None:
    rng = np.random.default_rng(2)
    same, others = np.full((5, 1), 3.45584192), rng.normal(size=(50, 1)) * 1e3
    codes = np.zeros(55, np.intp)
    both = summed(np.concatenate([others, same]), codes)
    assert both - summed(others, codes[:50]) == summed(same, codes[:5])
    assert (both - summed(others, codes[:50])).scatter[0, 0] == 0.0


@pytest.mark.parametrize("far", [2.0**25, 2.0**45, 1e140, -1e140])
@pytest.mark.parametrize("weights", [NONE, np.linspace(0.1, 3.0, 50)])
def test_forgetting_large_values_loses_nothing(far: float, weights: np.ndarray) -> None:
    rng = np.random.default_rng(9)
    x, codes = rng.normal(size=(50, 1)), np.zeros(50, np.intp)
    x[40:] *= far
    kept = summed(x[:40], codes[:40], weights[:40])
    assert_same(summed(x, codes, weights) - summed(x[40:], codes[40:], weights[40:]), kept)


# -- one form


def assert_same(found: ExactMoments, expected: ExactMoments) -> None:
    for name in ("weight", "sums", "squares"):
        a, b = getattr(found, name), getattr(expected, name)
        assert a.low == b.low
        np.testing.assert_array_equal(a.limbs, b.limbs)


numbers = st.floats(-1e150, 1e150) | st.floats(-1e3, 1e3) | st.integers(-99, 99).map(float)


@settings(max_examples=200)
@given(
    st.lists(st.tuples(numbers, numbers | st.just(np.nan)), min_size=1, max_size=40),
    st.integers(1, 5),
    st.booleans(),
    st.integers(0, 1000),
)
def test_sums_are_the_fractions(
    rows: list[tuple[float, float]], parts: int, weighted: bool, seed: int
) -> None:
    x, rng = np.array(rows), np.random.default_rng(seed)
    codes, weights = rng.integers(0, 2, len(x)).astype(np.intp), rng.random(len(x)) + 1e-9
    found = in_parts(x, codes, weights if weighted else NONE, parts, rng)
    assert_same(found, summed(x, codes, weights if weighted else NONE))
    tables = found.weight.fractions(), found.sums.fractions(), found.squares.fractions()
    for c, j in np.ndindex(2, 2):
        cells = [
            (Fraction(w if weighted else 1), Fraction(a))
            for w, a, code in zip(weights, x[:, j], codes, strict=True)
            if code == c and a == a
        ]
        sums = (sum((w * a**power for w, a in cells), Fraction()) for power in range(3))
        assert [table[c][j] for table in tables] == list(sums)


@pytest.mark.parametrize("kind", ["none", "whole", "any"])
def test_what_stays_is_as_if_the_rest_had_never_been(kind: str) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(90, 2)) + np.array([1e3, -1e6])
    codes, weights = rng.integers(0, 2, 90).astype(np.intp), weights_of(kind, 90, rng)
    weights = weights if len(weights) else np.ones(90)
    x[:40] *= 77.7
    rest = summed(x, codes, weights) - summed(x[:40], codes[:40], weights[:40])
    assert_same(rest, summed(x[40:], codes[40:], weights[40:]))


def test_nothing_is_left_of_all_rows() -> None:
    rng = np.random.default_rng(3)
    x, codes = rng.normal(size=(50, 2)) + 1e3, np.repeat([0, 1], 25)
    weights = rng.random(50)
    total = summed(x, codes, weights)
    assert_same(total - total, ExactMoments.empty(2, 2))
    rest = total - summed(x[25:], codes[25:], weights[25:])
    assert_same(rest.take(np.array([1])), ExactMoments.empty(1, 2))


def test_rows_that_were_never_there_are_not_forgotten() -> None:
    one, codes = summed(np.array([[1.0], [2.0]]), np.zeros(2, np.intp)), np.zeros(1, np.intp)
    for other in ([[3.0]], [[1.0], [2.0], [2.0]]):
        with pytest.raises(ForgetError, match="fewer values than are to be forgotten"):
            one - summed(np.array(other), np.zeros(len(other), np.intp))
    assert (one - summed(np.array([[1.0]]), codes)).mean[0, 0] == 2.0


@pytest.mark.parametrize("factor", [0.3, 0.5, 1.0, 1e-3])
def test_scaled_sums_are_exact(factor: float) -> None:
    rng = np.random.default_rng(5)
    x, codes = rng.normal(size=(40, 2)) + 5.0, rng.integers(0, 2, 40).astype(np.intp)
    total = summed(x, codes)
    found = total.scaled(factor)
    for name in ("weight", "sums", "squares"):
        a, b = getattr(found, name).fractions(), getattr(total, name).fractions()
        assert a == [[Fraction(factor) * cell for cell in row] for row in b]
    assert_same(found, summed(x, codes, np.full(40, factor)))


def test_sums_that_fade_for_ever_stay_short_and_true() -> None:
    x, codes = np.array([[0.1, 3.0], [0.1, 5.0]]), np.zeros(2, np.intp)
    total = summed(x, codes, k=1)
    for _ in range(300):
        total = total.scaled(0.9) + summed(x, codes, k=1)
    assert len(total.squares.limbs) <= 42
    np.testing.assert_array_equal(total.mean, [[0.1, 4.0]])
    assert total.scatter[0, 0] == 0.0
    np.testing.assert_allclose(total.total, 20.0, rtol=1e-12)


# -- how rows may come


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint16, np.bool_, np.float16])
def test_every_dtype_gives_the_moments_of_its_values(dtype: type) -> None:
    rng = np.random.default_rng(1)
    x = (rng.random((70_001, 3)) * 2).astype(dtype)
    codes = rng.integers(-1, 2, len(x)).astype(np.intp)
    assert summed(x, codes) == summed(x.astype(np.float64), codes)


@pytest.mark.parametrize(
    "turn",
    [np.asfortranarray, lambda x: x[::-1][::-1], lambda x: np.repeat(x, 2, axis=1)[:, ::2]],
    ids=["columns", "backwards", "strided"],
)
def test_every_memory_order_gives_the_same_moments(turn: object) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=(40_000, 3))
    x[rng.random(x.shape) < 0.1] = np.nan
    codes, weights = rng.integers(0, 2, len(x)).astype(np.intp), rng.random(len(x))
    assert summed(turn(x), codes, weights) == summed(x, codes, weights)
    assert summed(turn(x), codes) == summed(x, codes)


def test_no_rows_have_no_moments() -> None:
    nothing = summed(np.empty((0, 2)), np.empty(0, np.intp))
    assert nothing == ExactMoments.empty(2, 2)
    gaps = summed(np.full((9, 2), np.nan), np.zeros(9, np.intp))
    assert gaps == ExactMoments.empty(2, 2)


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (np.inf, "a number must be finite"),
        (-np.inf, "a number must be finite"),
        (-1e151, "a number must be below 1e150, or its square overflows"),
    ],
)
def test_a_number_without_a_square_is_named(value: float, rule: str) -> None:
    x = np.zeros((100, 3))
    x[77, 2] = value
    with pytest.raises(BadCell) as caught:
        summed(x, np.zeros(100, np.intp))
    assert (caught.value.row, caught.value.column, caught.value.value) == (77, 2, value)
    assert caught.value.rule == rule


def test_what_a_row_without_a_class_holds_does_not_matter() -> None:
    x, codes = np.zeros((100, 3)), np.zeros(100, np.intp)
    x[7, 0], codes[7] = np.inf, -1
    assert summed(x, codes).total.tolist() == [[99.0] * 3, [0.0] * 3]
    x[77, 2] = np.inf
    with pytest.raises(BadCell) as caught:
        summed(x, codes)
    assert (caught.value.row, caught.value.column) == (77, 2)
    x[:, 1] = 1e150
    x[77, 2] = 0.0
    assert summed(x, codes).mean[0].tolist() == [0.0, 1e150, 0.0]


@pytest.mark.parametrize("row", [0, 700, 1_999])
def test_an_outlier_of_one_class_leaves_the_others_exact(row: int) -> None:
    rng = np.random.default_rng(8)
    x, codes = rng.normal(size=(2_000, 3)), rng.integers(0, 2, 2_000).astype(np.intp)
    x[row], codes[row] = 1e12, 0
    found = summed(x, codes)
    assert in_parts(x, codes, NONE, 7, rng) == found
    assert_exact(found, x, codes, NONE)


@pytest.mark.parametrize("offset", OFFSETS)
def test_rows_that_outgrow_those_before_are_added_exactly(offset: float) -> None:
    rng = np.random.default_rng(12)
    x = rng.normal(size=(3000, 3)) + offset
    x[1500:] *= 1e6
    x[2000:2003] *= 1e9
    x[2500, 1] = np.nan
    codes = rng.integers(0, 2, 3000).astype(np.intp)
    whole = summed(x, codes)
    assert_exact(whole, x, codes, NONE)
    assert in_parts(x, codes, NONE, 7, rng) == whole


@pytest.mark.parametrize("largest", [1.0, 1e149])
@pytest.mark.parametrize("value", [np.inf, -np.inf, 1e151])
def test_a_late_number_too_large_is_named(largest: float, value: float) -> None:
    x = np.full((5000, 3), largest)
    x[4321, 2] = value
    with pytest.raises(BadCell) as refused:
        summed(x, np.zeros(5000, np.intp))
    assert (refused.value.row, refused.value.column) == (4321, 2)


@pytest.mark.parametrize("weights", [NONE, np.ones(3)])
def test_a_number_too_large_is_refused_whatever_is_beside_it(weights: np.ndarray) -> None:
    x = np.array([[1e150], [1.0000001e150], [1.00000005e150]])
    with pytest.raises(BadCell) as refused:
        summed(x, np.zeros(3, np.intp), weights)
    assert refused.value.row == 1


@pytest.mark.parametrize("weights", [NONE, np.full(2000, 1e90)])
def test_a_square_of_a_sum_may_be_larger_than_any_double(weights: np.ndarray) -> None:
    x = (1.0 + np.random.default_rng(3).random((2000, 1))) * (4e149 if not len(weights) else 1e100)
    codes = np.zeros(2000, np.intp)
    found, w = summed(x, codes, weights), weights if len(weights) else np.ones(2000)
    for form in (found, found.canonical()):
        once = rounded_once(x[:, 0], w)
        assert (form.total[0, 0], form.mean[0, 0], form.scatter[0, 0]) == once
