"""Where a column is cut in two, against entropies of SciPy; and unions of keys against NumPy's."""

from math import log2

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import entropy

from suffice.numerics import kernels

FEW = settings(max_examples=25)


def check_cuts(count: NDArray[np.float64]) -> list[int]:
    """Hold all cuts of cells against the criterion; return them in order."""
    k, m = count.shape
    upto = np.zeros((k, m + 1))
    np.cumsum(count, axis=1, out=upto[:, 1:])
    places = np.empty(m, np.int64)
    found = set(places[: kernels.cuts.every(count, places)].tolist())

    def told(parts: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
        """Weight, entropy in bits, classes of parts (t, k)."""
        weight = parts.sum(axis=1)
        bits = entropy(np.where(weight[:, None] > 0, parts, 1.0), base=2, axis=1)
        return weight, np.where(weight > 0, bits, 0.0), (parts > 0).sum(axis=1)

    def cuts(first: int, stop: int) -> list[int]:
        n, E, c = (float(one[0]) for one in told(count[:, first:stop].sum(axis=1)[None]))
        if stop - first < 2 or n <= 1:
            return []
        inside = upto[:, first + 1 : stop].T
        left, right = told(inside - upto[:, first]), told(upto[:, stop] - inside)
        rest = left[0] * left[1] + right[0] * right[1]
        best = np.flatnonzero(rest <= rest.min() + 1e-12 * n) + first + 1
        chosen = [cut for cut in best.tolist() if cut in found]
        cut = chosen[0] if chosen else int(best[0])
        E1, c1, E2, c2 = (side[i][cut - first - 1] for side in (left, right) for i in (1, 2))
        gain = E - rest[cut - first - 1] / n
        if gain <= (log2(n - 1) + log2(3**c - 2) - (c * E - c1 * E1 - c2 * E2)) / n:
            return []
        return [*cuts(first, cut), cut, *cuts(cut, stop)]

    expected = cuts(0, m)
    assert sorted(found) == expected
    return expected


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 60))
def test_cells_are_cut_as_long_as_it_shortens_their_description(seed: int, k: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    often = rng.choice([1, 5], (k, 1 + m // 20)).repeat(20, axis=1)[:, :m]
    check_cuts(1.0 * rng.integers(0, 9, (k, m)) * often)


def test_of_many_cells_the_best_leaves_least_entropy() -> None:
    """Rough values rule out most places, and none that could be the best."""
    rng = np.random.default_rng(5)
    share = 0.5 + 0.02 * np.sign(np.arange(900) - 400)
    assert check_cuts(rng.binomial(200, np.array([share, 1 - share])) * 1.0)


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
