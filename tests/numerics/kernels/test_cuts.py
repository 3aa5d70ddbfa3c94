"""Where a column is cut in two, against entropies of SciPy; and unions of keys against NumPy's."""

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import entropy

from suffice.numerics import kernels

FEW = settings(max_examples=25)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 10), st.integers(2, 40))
def test_the_best_cut_leaves_least_entropy(seed: int, k: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 9, (k, m)) * 0.5
    first = int(rng.integers(0, m - 1))
    stop = int(rng.integers(first + 2, m + 1))
    upto = np.zeros((k, m + 1))
    np.cumsum(count, axis=1, out=upto[:, 1:])

    def left_over(t: int) -> float:
        parts = count[:, first:t].sum(axis=1), count[:, t:stop].sum(axis=1)
        return sum(part.sum() * entropy(part, base=2) for part in parts if part.sum())

    found = kernels.cuts.best(upto, first, stop)
    assert first < found < stop
    least = min(left_over(t) for t in range(first + 1, stop))
    assert left_over(found) == pytest.approx(least, rel=1e-12, abs=1e-12)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 60))
def test_cells_are_cut_as_long_as_it_shortens_their_description(seed: int, k: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    often = rng.choice([1, 5], (k, 1 + m // 20)).repeat(20, axis=1)[:, :m]
    count = 1.0 * rng.integers(0, 9, (k, m)) * often
    upto = np.zeros((k, m + 1))
    np.cumsum(count, axis=1, out=upto[:, 1:])

    def told(part: NDArray[np.float64]) -> tuple[float, float, int]:
        """Weight, entropy in bits, classes."""
        return part.sum(), entropy(part, base=2) if part.sum() else 0.0, int((part > 0).sum())

    def cuts(first: int, stop: int) -> list[int]:
        cut = kernels.cuts.best(upto, first, stop)
        parts = (first, stop), (first, cut), (cut, stop)
        (n, E, c), (n1, E1, c1), (n2, E2, c2) = (told(count[:, a:b].sum(axis=1)) for a, b in parts)
        if cut == first or n <= 1:
            return []
        gain = E - (n1 * E1 + n2 * E2) / n
        if gain <= (log2(n - 1) + log2(3**c - 2) - (c * E - c1 * E1 - c2 * E2)) / n:
            return []
        return [*cuts(first, cut), cut, *cuts(cut, stop)]

    places = np.empty(m, np.int64)
    found = kernels.cuts.every(count, places)
    assert sorted(places[:found]) == cuts(0, m)


@pytest.mark.parametrize("told", [0.0, 0.02])
def test_of_many_cells_the_best_leaves_least_entropy(told: float) -> None:
    """Rough values rule out most places, and none that could be the best."""
    rng = np.random.default_rng(5)
    share = 0.5 + told * np.sign(np.arange(900) - 400)
    count = rng.binomial(200, np.array([share, 1 - share])) * 1.0
    upto = np.zeros((2, 901))
    np.cumsum(count, axis=1, out=upto[:, 1:])
    left = upto[:, 1:900], upto[:, -1:] - upto[:, 1:900]
    bits = sum(part.sum(axis=0) * entropy(part, base=2) for part in left)
    found = kernels.cuts.best(upto, 0, 900)
    assert bits[found - 1] == pytest.approx(bits.min(), rel=1e-12)
    even = np.outer([1.0, 2.0], np.arange(301.0))  # every cut is as good
    assert 0 < kernels.cuts.best(even, 0, 300) < 300


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.integers(1, 90))
def test_parts_of_equal_frequency_begin_where_their_share_is_reached(
    seed: int, m: int, parts: int
) -> None:
    weights = np.random.default_rng(seed).integers(0, 4, m) * 0.5
    places = np.empty(min(m, parts) - 1, np.int64)
    found = places[: kernels.cuts.equal_frequency(weights, parts, places)].tolist()
    upto = np.cumsum(weights)
    shares = upto[-1] * np.arange(1, parts) / parts
    expected = np.unique(np.searchsorted(upto, shares) + 1)
    assert found == expected[expected < m].tolist()


def test_cells_without_a_place_between_them() -> None:
    assert kernels.cuts.best(np.array([[0.0, 1.0, 2.0]]), 1, 2) == 1
    with pytest.raises(ValueError, match="first and stop"):
        kernels.cuts.best(np.zeros((1, 3)), 2, 3)


@FEW
@given(st.sets(st.integers(-9, 9)), st.sets(st.integers(-9, 9)))
def test_keys_stand_where_they_stand_in_the_union(a: set[int], b: set[int]) -> None:
    mine, theirs = (np.array(sorted(keys), np.int64) for keys in (a, b))
    at, place = np.empty_like(mine), np.empty_like(theirs)
    size = kernels.bins.unite(mine, theirs, at, place)
    union = np.union1d(mine, theirs)
    assert size == len(union)
    assert union[at].tolist() == mine.tolist()
    assert union[place].tolist() == theirs.tolist()
