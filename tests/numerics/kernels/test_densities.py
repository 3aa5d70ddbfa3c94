"""Densities of a column, and where it is cut."""

from math import log2

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import gammaln, logsumexp
from scipy.stats import cauchy, entropy, norm

from suffice.numerics import kernels

# -- densities of a column against SciPy's, and of rows without one against those of all others


FEW = settings(max_examples=25)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 40), st.integers(-200, 3))
def test_kernels_and_a_broad_one_are_added_up(seed: int, k: int, b: int, digits: int) -> None:
    """Kernels that are left out lose nothing, however small the broad one is."""
    rng = np.random.default_rng(seed)
    x, h, broad = np.sort(rng.normal(size=b)), rng.random(k) + 0.01, rng.random(b) * 10.0**digits
    count = rng.integers(0, 5, (k, b)) * 0.5
    n = count.sum(axis=1)
    logs, without = np.empty((2, k, b))
    kernels.densities.kernel_logs(x, count, h, broad + 1e-250, logs, without)
    each = [(norm.pdf(x[:, None], x, s) * own).sum(axis=1) for own, s in zip(count, h, strict=True)]
    for c in range(k):
        sums, rows = (each[c], n[c]) if n[c] else (np.sum(each, axis=0), n.sum())
        expected = np.log((sums + broad + 1e-250) / (rows + 1))
        np.testing.assert_allclose(logs[c], expected, rtol=1e-13, atol=1e-12)
        if not n[c]:
            assert np.array_equal(without[c], logs[c])


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 20))
def test_logs_of_kernels_leave_one_out(seed: int, k: int, b: int) -> None:
    rng = np.random.default_rng(seed)
    x, h, broad = np.sort(rng.normal(size=b)), rng.random(k) + 0.1, rng.random(b) + 0.1
    count = rng.integers(0, 3, (k, b)) * 1.0
    logs, without = np.empty((2, k, b))
    kernels.densities.kernel_logs(x, count, h, broad, logs, without)
    for c, i in np.argwhere(count):
        all_but = count[c].copy()
        all_but[i] -= 1
        total = (all_but * norm.pdf(x[i], x, h[c])).sum() + broad[i]
        assert without[c, i] == pytest.approx(np.log(total / (all_but.sum() + 1)), abs=1e-9)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(2, 60))
def test_shapes_of_kernels_are_deviations_and_quartiles(seed: int, k: int, b: int) -> None:
    rng = np.random.default_rng(seed)
    x, count = np.sort(rng.choice(999, b, replace=False)) * 1.0, rng.integers(0, 4, (k, b))
    count[0, :2] = 1, 2  # some spread
    spreads, narrower, broad = np.empty(k), np.empty(k), np.empty(b)
    floats = count.astype(np.float64)
    overall = kernels.densities.kernel_shape(x, floats, spreads, narrower, broad)
    rows = np.repeat(x, count.sum(axis=0))
    assert overall == pytest.approx(rows.std(), rel=1e-12)
    np.testing.assert_allclose(broad, cauchy.pdf(x, rows.mean(), rows.std()), rtol=1e-10)
    for own, spread, power in zip(count, spreads, narrower, strict=True):
        some = np.repeat(x, own)
        assert power == pytest.approx(max(len(some), 1) ** -0.2)
        quarters = np.quantile(some, (0.25, 0.75), method="inverted_cdf") if len(some) else (0, 0)
        middle, deviation = (quarters[1] - quarters[0]) / 1.34, some.std() if len(some) else 0.0
        least = min(middle, deviation) if middle > 0 else deviation
        assert spread == pytest.approx(least if least > 1e-15 else 0.1 * overall, rel=1e-9)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 10), st.integers(1, 12), st.integers(1, 2000))
def test_bins_back_off_with_the_strength_of_greatest_evidence(
    seed: int, k: int, b: int, rows: int
) -> None:
    rng = np.random.default_rng(seed)
    count = 1.0 * rng.integers(0, rows, (k, b))
    low = np.append(0.0, np.cumsum(rng.random(b) + 0.1))
    low, high = low[:-1], low[1:]
    prior, (logs, without) = np.empty(b), np.empty((2, k, b))
    kernels.densities.back_off(count, prior)
    n, every = count.sum(axis=1, keepdims=True), count.sum(axis=0)
    q = (every + 0.5) / (every.sum() + 0.5 * b)
    np.testing.assert_allclose(prior / prior.sum(), q, rtol=1e-12)

    def evidence(s: float) -> float:
        of_bins = gammaln(count + s * q) - gammaln(s * q)
        return float(of_bins.sum() + (gammaln(s) - gammaln(s + n)).sum())

    tried = 2.0 ** np.arange(-1, 13)
    best = max(map(evidence, tried))
    assert np.isclose(prior.sum(), tried, rtol=1e-12).any()
    assert evidence(prior.sum()) == pytest.approx(best, rel=1e-9, abs=1e-9)
    kernels.densities.bin_logs(low, high, count, prior, logs, without)
    expected = (count + prior) / (n + prior.sum()) / (high - low)
    np.testing.assert_allclose(logs, np.log(expected), rtol=1e-12, atol=1e-12)
    shown = count > 0
    less = (count - 1 + prior) / (n - 1 + prior.sum()) / (high - low)
    np.testing.assert_allclose(without[shown], np.log(less[shown]), rtol=1e-12, atol=1e-11)


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 30))
def test_merged_cells_have_no_gap_between_them(seed: int, k: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    bounds = np.sort(rng.normal(size=2 * m))
    low, high, count = bounds[::2].copy(), bounds[1::2].copy(), rng.integers(0, 9, (k, m)) * 0.5
    cuts = np.flatnonzero(rng.random(m - 1) < 0.3) + 1
    new = np.empty(len(cuts) + 1), np.empty(len(cuts) + 1), np.empty((k, len(cuts) + 1))
    kernels.densities.merge(low, high, count, cuts, *new)
    edges = (high[cuts - 1] + low[cuts]) / 2
    np.testing.assert_allclose(new[0], np.append(low[0], edges), rtol=1e-15, atol=1e-15)
    np.testing.assert_allclose(new[1], np.append(edges, high[-1]), rtol=1e-15, atol=1e-15)
    assert np.array_equal(new[2], [[part.sum() for part in np.split(c, cuts)] for c in count])


@FEW
@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 50))
def test_losses_are_those_of_the_bayes_rule(seed: int, k: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    count = rng.integers(0, 4, (k, m)) * rng.integers(0, 2, (k, 1)) * 0.5
    logs, without = rng.normal(size=(2, k, m)) * 30
    with np.errstate(divide="ignore"):
        log_n = np.log(count.sum(axis=1))
    expected = 0.0
    for c, i in np.argwhere(count):
        joint = logs[:, i] + log_n
        joint[c] = without[c, i] + log_n[c]
        expected += count[c, i] * (logsumexp(joint) - joint[c])
    found = kernels.densities.log_losses(count, logs, without)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9)


# -- where a column is cut in two, against entropies of SciPy; and unions of keys against NumPy's


FEW_OF_CUTS = settings(max_examples=25)


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


@FEW_OF_CUTS
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
