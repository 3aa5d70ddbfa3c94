"""Moments and co-moments against exact rationals: right to the last bit."""

import mmap
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest

from suffice.errors import ForgetError
from suffice.numerics.exact import DoubleDouble
from suffice.sums.base import tree_sum
from suffice.sums.block import BadCell, RealBlock
from suffice.sums.comoments import Comoments, ComomentsAccumulator
from suffice.sums.moments import Moments, MomentsAccumulator

NONE = np.empty(0)
KINDS = ["none", "whole", "any"]
OFFSETS = [0.0, 1.0, 1e4, 1e8, 1e12]
PAGE = mmap.PAGESIZE


def summed(
    x: np.ndarray,
    codes: np.ndarray | None = None,
    weights: np.ndarray = NONE,
    *,
    k: int = 2,
    pooled: bool = False,
) -> Comoments:
    total = ComomentsAccumulator(x.shape[1], pooled)
    codes = np.zeros(len(x), np.intp) if codes is None else codes
    total.add(RealBlock(x), codes, weights, k)
    return total.statistic()


def by_column(x: np.ndarray, codes: np.ndarray, weights: np.ndarray = NONE) -> Moments:
    total = MomentsAccumulator(x.shape[1])
    total.add(RealBlock(x), codes, weights, 2)
    return total.statistic()


def in_parts(
    summed: Any, x: np.ndarray, codes: np.ndarray, weights: np.ndarray, parts: int, rng: Any
) -> Any:
    """The sum of shuffled parts."""
    pieces = np.array_split(rng.permutation(len(x)), parts)
    return tree_sum(
        summed(x[rows], codes[rows], weights[rows] if len(weights) else NONE)
        for rows in (pieces[i] for i in rng.permutation(parts))
    )


def weights_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    return {
        "none": NONE,
        "whole": rng.integers(1, 5, n).astype(np.float64),
        "any": rng.random(n) + 0.01,
    }[kind]


# -- exact answers


def integers(values: np.ndarray) -> tuple[np.ndarray, int]:
    """The integers m and the denominator q with m/q = values, exactly."""
    fractions = [Fraction(float(value)) for value in values]
    q = max((f.denominator for f in fractions), default=1)
    return np.array([f.numerator * (q // f.denominator) for f in fractions], dtype=object), q


def moments(x: np.ndarray, w: np.ndarray) -> tuple[Fraction, list[Any], list[list[Any]]]:
    """Weight, mean and scatter of complete rows, in rational arithmetic."""
    weights, q = integers(w)
    total = int(weights.sum())
    if not total:
        return Fraction(), [0], [[0]]
    columns = [integers(column) for column in x.T]
    first = [int((m * weights).sum()) for m, _ in columns]
    mean = [Fraction(s, total * r) for s, (_, r) in zip(first, columns, strict=True)]
    scatter = [
        [
            Fraction(
                total * int((weights * mi * mj).sum()) - first[i] * first[j], total * ri * rj * q
            )
            for j, (mj, rj) in enumerate(columns)
        ]
        for i, (mi, ri) in enumerate(columns)
    ]
    return Fraction(total, q), mean, scatter


def assert_columns(
    found: Moments, x: np.ndarray, codes: np.ndarray, weights: np.ndarray = NONE
) -> None:
    """Hold the moments of every class and column against those of the cells that it shows."""
    w = weights if len(weights) else np.ones(len(x))
    for c, j in np.ndindex(found.total.shape):
        rows = (codes == c) & ~np.isnan(x[:, j])
        total, (mean,), ((scatter,),) = moments(x[rows, j : j + 1], w[rows])
        for form in (found, found.canonical()):
            said = form.total[c, j], form.mean[c, j], form.scatter[c, j]
            assert said == (float(total), float(mean), float(scatter)), (c, j)


def pair(table: list[Any]) -> DoubleDouble:
    """Fractions as double-double."""
    values = np.array(table, dtype=object)
    hi = values.astype(np.float64)
    return DoubleDouble(hi, (values - np.vectorize(Fraction, otypes=[object])(hi)).astype(float))


def settled(scatter: DoubleDouble) -> np.ndarray:
    """Scatter in double, without bits that are noise on the scale of its columns."""
    sd = np.sqrt(np.diagonal(scatter.value, axis1=-2, axis2=-1))
    return scatter.settled(sd[..., :, None] * sd[..., None, :])


def truths(
    x: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> dict[tuple[tuple[bool, ...], int], tuple[Any, ...]]:
    """What `moments` says of every group: the rows of one class and pattern."""
    w = weights if len(weights) else np.ones(len(x))
    shown = ~np.isnan(x)
    out = {}
    for pattern in {tuple(row) for row in shown.tolist() if any(row)}:
        for c in set(codes[codes >= 0].tolist()):
            rows = (shown == pattern).all(axis=1) & (codes == c)
            if rows.any():
                out[pattern, c] = moments(x[np.ix_(rows, np.flatnonzero(pattern))], w[rows])
    return out


def assert_exact(
    found: Comoments, x: np.ndarray, codes: np.ndarray, weights: np.ndarray = NONE
) -> None:
    groups = truths(x, codes, weights)
    for form in (found, found.canonical()):
        assert_groups(form, groups)


def assert_groups(
    found: Comoments, groups: dict[tuple[tuple[bool, ...], int], tuple[Any, ...]]
) -> None:
    assert len(found.pattern) == len(groups)
    pooled: dict[int, Any] = {}
    for g, (p, c) in enumerate(zip(found.pattern, found.code, strict=True)):
        pattern = tuple(found.patterns[p].tolist())
        used = np.flatnonzero(pattern)
        total, mean, scatter = groups[pattern, int(c)]
        assert found.weight[g].sum() == float(total)
        np.testing.assert_array_equal(found.mean.value[g, used], [float(m) for m in mean])
        product_index = found.product_index[g]
        truth = np.array(scatter, dtype=object)
        if found.pooled and product_index >= 0:
            pooled[product_index] = pooled.get(product_index, 0) + truth
        elif product_index >= 0:
            assert_scatter(found.scatter[product_index], truth, used)
        else:
            assert not truth.any()
    for product_index, truth in pooled.items():
        used = np.flatnonzero(
            found.patterns[found.pattern[found.product_index == product_index][0]]
        )
        assert_scatter(found.scatter[product_index], truth, used)


def assert_scatter(found: DoubleDouble, truth: np.ndarray, used: np.ndarray) -> None:
    np.testing.assert_array_equal(settled(found[np.ix_(used, used)]), settled(pair(truth.tolist())))
    others = np.delete(np.arange(len(found.hi)), used)
    assert not found.hi[others].any()
    assert not found.hi[:, others].any()


def drawn(seed: int, offset: float, most: int, gaps: float, kind: str) -> tuple[Any, ...]:
    """Cells, codes and weights of some rows, and the generator that drew them."""
    rng = np.random.default_rng([seed, int(offset)])
    n = int(rng.integers(1, most))
    x = rng.normal(size=(n, 3)) * [1.0, 1e-3, 1e3] + offset
    x[rng.random(x.shape) < gaps] = np.nan
    return x, rng.integers(-1, 2, n).astype(np.intp), weights_of(kind, n, rng), rng


@pytest.mark.parametrize(("offset", "kind"), [(0.0, "any"), (1e4, "whole"), (1e12, "none")])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("pooled", [False, True])
def test_covariances_are_the_exact_answers_rounded_once(
    offset: float, kind: str, gaps: float, pooled: bool
) -> None:
    for seed in range(2):
        *rows, rng = drawn(seed, offset, 60, gaps, kind)
        for parts in (1, 7):
            found = in_parts(partial(summed, pooled=pooled), *rows, parts, rng)
            assert_exact(found, *rows)


@pytest.mark.parametrize("offset", OFFSETS)
@pytest.mark.parametrize(("kind", "gaps"), [("none", 0.3), ("whole", 0.0), ("any", 0.3)])
def test_mean_and_scatter_are_the_exact_answers_rounded_once(
    offset: float, kind: str, gaps: float
) -> None:
    for seed in range(2):
        *rows, rng = drawn(seed, offset, 120, gaps, kind)
        for parts in (1, 7):
            assert_columns(in_parts(by_column, *rows, parts, rng), *rows)


@pytest.mark.parametrize("row", [0, 1_999])
def test_an_outlier_of_one_class_leaves_the_others_exact(row: int) -> None:
    rng = np.random.default_rng(8)
    x, codes = rng.normal(size=(2_000, 3)), rng.integers(0, 2, 2_000).astype(np.intp)
    x[row], codes[row] = 1e12, 0
    found = by_column(x, codes)
    assert in_parts(by_column, x, codes, NONE, 7, rng) == found
    assert_columns(found, x, codes)


@pytest.mark.parametrize("weights", [NONE, np.full(2000, 1e90)])
def test_a_square_of_a_sum_may_be_larger_than_any_double(weights: np.ndarray) -> None:
    x = (1.0 + np.random.default_rng(3).random((2000, 1))) * (4e149 if not len(weights) else 1e100)
    codes = np.zeros(2000, np.intp)
    assert_columns(by_column(x, codes, weights), x, codes, weights)


@pytest.mark.parametrize("n", [256, 257, 4_097])
def test_borders_of_tiles(n: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 2)) + np.array([0.0, 1e4])
    codes, weights = rng.integers(-1, 2, n).astype(np.intp), rng.random(n)
    for w in (NONE, weights):
        assert_exact(summed(x, codes, w), x, codes, w)
    x[n - 2, 1] = np.nan
    assert_exact(summed(x, codes), x, codes)


def hard_columns(n: int, rng: np.random.Generator) -> dict[str, np.ndarray]:
    z = rng.normal(size=(n, 3))
    late = np.arange(n)[:, None] >= 300
    return {
        "an outlier at the end": z + 1e12 * (np.arange(n)[:, None] == n - 1),
        "an outlier at the beginning": z + 1e12 * (np.arange(n)[:, None] == 0),
        "an outlier far from the others": z + 1e12 - 1e12 * (np.arange(n)[:, None] == 7),
        "a column of zeros": z * [1.0, 0.0, 1.0],
        "zeros, then small values": z * late * 1e-9,
        "zeros, then large values": z * late * 1e9,
        "decreasing": z * 10.0 ** -np.linspace(0, 12, n)[:, None],
        "increasing": z * 10.0 ** np.linspace(0, 12, n)[:, None],
        "heavy tails": rng.standard_cauchy((n, 3)) ** 3,
        "one value": np.full((n, 3), 0.1),
        "drift": z + np.linspace(0, 1e8, n)[:, None],
        "steps": z + 1e9 * (np.arange(n)[:, None] // 256),
    }


@pytest.mark.parametrize(
    ("name", "kind"), list(zip(hard_columns(2, np.random.default_rng(0)), 4 * KINDS, strict=True))
)
def test_hard_columns(name: str, kind: str) -> None:
    rng = np.random.default_rng(5)
    n = 1_100
    x = hard_columns(n, rng)[name]
    codes, weights = rng.integers(0, 2, n).astype(np.intp), weights_of(kind, n, rng)
    assert_exact(summed(x, codes, weights), x, codes, weights)
    found = in_parts(partial(summed, pooled=True), x, codes, weights, 3, rng)
    assert_exact(found, x, codes, weights)


# -- bits


@pytest.mark.parametrize(("row", "gap"), [(0, None), (256, 50), (4_999, None)])
@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (np.inf, "a number must be finite"),
        (-np.inf, "a number must be finite"),
        (-2e150, "a number must be below 1e150, or its square overflows"),
    ],
)
def test_a_number_without_a_square_is_named(
    row: int, gap: int | None, value: float, rule: str
) -> None:
    x = np.zeros((5_000, 3))
    x[row, 2] = value
    if gap is not None:
        x[gap, 1] = np.nan
    codes = np.zeros(5_000, np.intp)
    if row > 50:
        codes[20], x[20] = -1, np.inf
    weights = np.ones(5_000)
    weights[row] = 1e-100
    for w in (NONE, weights):
        for sums in (summed, by_column):
            with pytest.raises(BadCell) as caught:
                sums(x, codes, w)
            assert (caught.value.row, caught.value.column, caught.value.value) == (row, 2, value)
            assert caught.value.rule == rule


# -- taking rows away


@pytest.mark.parametrize("offset", [0.0, 1e12])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("pooled", [False, True])
def test_taking_rows_away_leaves_the_exact_rest(offset: float, gaps: float, pooled: bool) -> None:
    for seed in range(2):
        rng = np.random.default_rng([seed, 5])
        x = rng.normal(size=(60, 2)) * [1.0, 50.0] + offset
        x[rng.random(x.shape) < gaps] = np.nan
        codes, weights = rng.integers(0, 2, 60).astype(np.intp), rng.random(60) + 0.5
        n = int(rng.integers(1, 59))
        both = summed(x, codes, weights, pooled=pooled)
        rest = both - summed(x[n:], codes[n:], weights[n:], pooled=pooled)
        assert rest == summed(x[:n], codes[:n], weights[:n], pooled=pooled)


@pytest.mark.parametrize("offset", OFFSETS)
def test_taking_rows_away_leaves_the_exact_rest_of_columns(offset: float) -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, 5])
        x = rng.normal(size=(60, 2)) * [1.0, 50.0] + offset
        codes, weights = rng.integers(0, 2, 60).astype(np.intp), rng.random(60) + 0.5
        n = int(rng.integers(1, 59))
        rest = by_column(x, codes, weights) - by_column(x[n:], codes[n:], weights[n:])
        first = rest.total > 0
        kept = by_column(x[:n], codes[:n], weights[:n])
        np.testing.assert_array_equal(rest.mean[first], kept.mean[first])
        np.testing.assert_array_equal(rest.scatter[first], kept.scatter[first])


def test_the_bound_on_what_can_be_taken_away() -> None:
    # Sums of squares carry 106 bits. Values 2^25 times larger than the rest take 50 of them, and
    # the rest is still right to the last bit; values 2^45 times larger take 90, and it is not.
    rng = np.random.default_rng(9)
    x, codes = rng.normal(size=(40, 1)), np.zeros(50, np.intp)
    far = rng.normal(size=(10, 1))
    kept = by_column(x, codes[:40])
    for bits, digits in ((25, 53), (45, 10)):
        large = far * 2.0**bits
        rest = by_column(np.concatenate([x, large]), codes) - by_column(large, codes[:10])
        np.testing.assert_array_equal(rest.total, kept.total)
        error = abs(rest.scatter[0, 0] / kept.scatter[0, 0] - 1)
        assert error < 2.0**-digits
        assert (rest == kept) is (bits == 25)


def test_what_was_never_learnt_cannot_be_taken_away() -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(size=(20, 3))
    rows, codes = summed(x), np.ones(1, np.intp)
    gap = np.array([[1.0, np.nan, 2.0]])
    for other in (summed(x[:1], codes), summed(gap), rows + rows):
        with pytest.raises(ForgetError, match=r"^fewer rows with these cells missing than are to"):
            _ = rows - other
    for pooled in (False, True):
        rows = summed(x, pooled=pooled)
        for j in range(3):
            far = x[:1].copy()
            far[0, j] += 100.0
            with pytest.raises(ForgetError) as caught:
                _ = rows - summed(far, pooled=pooled)
            assert caught.value.column == j
            assert "other values than are to be forgotten" in str(caught.value)


# -- memory


def at_the_end_of_a_page(x: np.ndarray, path: Any) -> np.ndarray:
    """The same array in a file of whole pages, of which it is the end: nothing follows."""
    pages = -(-x.nbytes // PAGE)
    path.write_bytes(bytes(pages * PAGE - x.nbytes) + x.tobytes())
    mapped = np.memmap(path, np.float64, "r+", pages * PAGE - x.nbytes, x.shape)
    assert (mapped.ctypes.data + mapped.nbytes) % PAGE == 0
    return np.asarray(mapped)


@pytest.mark.parametrize("d", [1, 8, 9, 17])
def test_nothing_is_read_beyond_the_last_row(d: int, tmp_path: Any) -> None:
    rng = np.random.default_rng(d)
    tile = max(16, 8_192 // (-(-d // 8) * 8))  # of moments
    for n in (1, 7, 256, 257, tile, tile + 1):
        x = rng.normal(size=(n, d))
        codes = rng.integers(0, 2, n).astype(np.intp)
        y = at_the_end_of_a_page(x, tmp_path / "x")
        assert summed(y, codes) == summed(x.copy(), codes)
        found = []
        for table in (x, y):
            total = MomentsAccumulator(d)
            total.add(RealBlock(table), codes, NONE, 2)
            found.append(total.statistic())
        assert found[0] == found[1]
