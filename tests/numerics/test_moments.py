"""The moments kernel against exact rationals: mean and scatter are right to the last bit."""

from fractions import Fraction

import numpy as np
import pytest

from suffice.sums.base import tree_sum
from suffice.sums.block import BadCell, RealBlock
from suffice.sums.moments import Moments, MomentsAccumulator

OFFSETS = [0.0, 1.0, 1e4, 1e8, 1e12]
NONE = np.empty(0)


def summed(x: np.ndarray, codes: np.ndarray, weights: np.ndarray = NONE, k: int = 2) -> Moments:
    total = MomentsAccumulator(x.shape[1])
    total.add(RealBlock(x), codes, weights, k)
    return total.statistic()


def in_parts(
    x: np.ndarray, codes: np.ndarray, weights: np.ndarray, parts: int, rng: np.random.Generator
) -> Moments:
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


def assert_exact(moments: Moments, x: np.ndarray, codes: np.ndarray, weights: np.ndarray) -> None:
    w = weights if len(weights) else np.ones(len(x))
    for c in range(2):
        rows = codes == c
        for j in range(x.shape[1]):
            truth = rounded_once(x[rows, j], w[rows])
            for form in (moments, moments.canonical()):
                found = form.total[c, j], form.mean[c, j], form.scatter[c, j]
                assert found == truth, (c, j)


def weights_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    return {
        "none": NONE,
        "whole": rng.integers(1, 5, n).astype(np.float64),
        "any": rng.random(n) + 0.01,
    }[kind]


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("kind", "gaps"), [("none", 0.3), ("whole", 0.0), ("any", 0.3)])
def test_mean_and_scatter_are_the_exact_answers_rounded_once(
    offset: float, kind: str, gaps: float
) -> None:
    for seed in range(2):
        rng = np.random.default_rng([seed, int(offset)])
        n = int(rng.integers(1, 120))
        x = rng.normal(size=(n, 3)) * [1.0, 1e-3, 1e3] + offset
        x[rng.random(x.shape) < gaps] = np.nan
        codes, weights = rng.integers(-1, 2, n).astype(np.intp), weights_of(kind, n, rng)
        for parts in (1, 7):
            assert_exact(in_parts(x, codes, weights, parts, rng), x, codes, weights)


@pytest.mark.parametrize("offset", OFFSETS)
def test_taking_rows_away_leaves_the_exact_rest(offset: float) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, 5])
        x = rng.normal(size=(60, 2)) * [1.0, 50.0] + offset
        codes, weights = rng.integers(0, 2, 60).astype(np.intp), rng.random(60) + 0.5
        n = int(rng.integers(1, 59))
        rest = summed(x, codes, weights) - summed(x[n:], codes[n:], weights[n:])
        first = rest.total > 0
        kept = summed(x[:n], codes[:n], weights[:n])
        np.testing.assert_array_equal(rest.mean[first], kept.mean[first])
        np.testing.assert_array_equal(rest.scatter[first], kept.scatter[first])


def test_the_bound_on_what_can_be_taken_away() -> None:
    # Sums of squares carry 106 bits. Values 2^25 times larger than the rest take 50 of them, and
    # the rest is still right to the last bit; values 2^45 times larger take 90, and it is not.
    rng = np.random.default_rng(9)
    x, codes = rng.normal(size=(40, 1)), np.zeros(50, np.intp)
    far = rng.normal(size=(10, 1))
    kept = summed(x, codes[:40])
    for bits, digits in ((25, 53), (45, 10)):
        large = far * 2.0**bits
        rest = summed(np.concatenate([x, large]), codes) - summed(large, codes[:10])
        np.testing.assert_array_equal(rest.total, kept.total)
        error = abs(rest.scatter[0, 0] / kept.scatter[0, 0] - 1)
        assert error < 2.0**-digits
        assert (rest == kept) is (bits == 25)


# -- how rows may come


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


@pytest.mark.parametrize("row", [0, 1_999])
def test_an_outlier_of_one_class_leaves_the_others_exact(row: int) -> None:
    rng = np.random.default_rng(8)
    x, codes = rng.normal(size=(2_000, 3)), rng.integers(0, 2, 2_000).astype(np.intp)
    x[row], codes[row] = 1e12, 0
    found = summed(x, codes)
    assert in_parts(x, codes, NONE, 7, rng) == found
    assert_exact(found, x, codes, NONE)


@pytest.mark.parametrize("weights", [NONE, np.full(2000, 1e90)])
def test_a_square_of_a_sum_may_be_larger_than_any_double(weights: np.ndarray) -> None:
    x = (1.0 + np.random.default_rng(3).random((2000, 1))) * (4e149 if not len(weights) else 1e100)
    codes = np.zeros(2000, np.intp)
    found, w = summed(x, codes, weights), weights if len(weights) else np.ones(2000)
    for form in (found, found.canonical()):
        once = rounded_once(x[:, 0], w)
        assert (form.total[0, 0], form.mean[0, 0], form.scatter[0, 0]) == once
