"""Co-moments as whole numbers against exact rationals, and their one form."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.errors import ForgetError
from suffice.rules import check
from suffice.statistics.block import BadCell, RealBlock
from suffice.statistics.exact_comoments import ExactComoments
from suffice.statistics.exact_comoments_accumulator import ExactComomentsAccumulator
from suffice.statistics.statistic import tree_sum

NONE = np.empty(0)
Group = tuple[tuple[bool, ...], int]
Sums = tuple[Fraction, list[Fraction], list[list[Fraction]]]


def summed(
    x: np.ndarray, codes: np.ndarray, weights: np.ndarray = NONE, pooled: bool = False, k: int = 2
) -> ExactComoments:
    total = ExactComomentsAccumulator(x.shape[1], pooled)
    total.add(RealBlock(x), codes, weights, k)
    return total.statistic()


def in_parts(
    x: np.ndarray,
    codes: np.ndarray,
    weights: np.ndarray,
    parts: int,
    rng: np.random.Generator,
    pooled: bool = False,
) -> ExactComoments:
    """The sum of shuffled parts."""
    pieces = np.array_split(rng.permutation(len(x)), parts)
    return tree_sum(
        summed(x[rows], codes[rows], weights[rows] if len(weights) else NONE, pooled)
        for rows in (pieces[i] for i in rng.permutation(parts))
    )


def assert_same(found: ExactComoments, expected: ExactComoments) -> None:
    assert (found.k, found.pooled) == (expected.k, expected.pooled)
    for name in ("patterns", "pattern", "code"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    for name in ("weight", "sums", "products"):
        a, b = getattr(found, name), getattr(expected, name)
        assert a.low == b.low
        np.testing.assert_array_equal(a.limbs, b.limbs)


def groups(x: np.ndarray, codes: np.ndarray, w: np.ndarray) -> dict[Group, Sums]:
    """Σw, Σwx and Σwxxᵀ of every pattern and class, in rational arithmetic."""
    d, out = x.shape[1], dict[Group, Sums]()
    for row, c, weight in zip(x.tolist(), codes.tolist(), w.tolist(), strict=True):
        shown = tuple(cell == cell for cell in row)
        if c < 0 or not any(shown) or weight == 0:
            continue
        nothing = Fraction(), [Fraction()] * d, [[Fraction()] * d for _ in range(d)]
        total, sums, products = out.get((shown, c), nothing)
        cells, by = [Fraction(cell if cell == cell else 0) for cell in row], Fraction(weight)
        out[shown, c] = (
            total + by,
            [s + by * a for s, a in zip(sums, cells, strict=True)],
            [
                [p + by * a * b for p, b in zip(line, cells, strict=True)]
                for line, a in zip(products, cells, strict=True)
            ],
        )
    return out


def assert_exact(
    found: ExactComoments, x: np.ndarray, codes: np.ndarray, weights: np.ndarray
) -> None:
    check(found)
    expected = groups(x, codes, weights if len(weights) else np.ones(len(x)))
    patterns = [tuple(row) for row in found.patterns.tolist()]
    keys = [(patterns[p], c) for p, c in zip(found.pattern, found.code.tolist(), strict=True)]
    assert keys == sorted(expected)
    d, owners = x.shape[1], found.product_index
    products = [[[Fraction()] * d for _ in range(d)] for _ in range(found.products.shape[0])]
    for g, key in enumerate(keys):
        weight, sums, of = expected[key]
        assert found.weight.fractions()[g] == [weight]
        assert found.sums.fractions()[g] == sums
        mine = products[owners[g]]
        for i, j in np.ndindex(d, d):
            mine[i][j] += of[i][j]
    triangles = [[of[i][j] for i in range(d) for j in range(i, d)] for of in products]
    assert found.products.fractions() == triangles
    for m, of in enumerate(products):
        members = [expected[key] for g, key in enumerate(keys) if owners[g] == m]
        for i, j in np.ndindex(d, d):
            between = sum((s[i] * s[j] / w for w, s, _ in members), Fraction())
            assert found.scatter.value[m, i, j] == float(of[i][j] - between)
    for g, key in enumerate(keys):
        weight, sums, _ = expected[key]
        assert found.mean.value[g].tolist() == [float(s / weight) for s in sums]


def weights_of(kind: str, n: int, rng: np.random.Generator) -> np.ndarray:
    return {
        "none": NONE,
        "whole": rng.integers(0, 5, n).astype(np.float64),
        "any": rng.random(n) + 0.01,
    }[kind]


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e12])
@pytest.mark.parametrize("kind", ["none", "whole", "any"])
@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("pooled", [False, True])
def test_sums_mean_and_scatter_are_the_exact_answers(
    offset: float, kind: str, gaps: float, pooled: bool
) -> None:
    rng = np.random.default_rng([int(offset), int(10 * gaps), pooled])
    n = int(rng.integers(1, 60))
    x = rng.normal(size=(n, 3)) * [1.0, 1e-3, 1e3] + offset
    x[rng.random(x.shape) < gaps] = np.nan
    codes, weights = rng.integers(-1, 2, n).astype(np.intp), weights_of(kind, n, rng)
    whole = summed(x, codes, weights, pooled)
    assert_exact(whole, x, codes, weights)
    for parts in (2, 7):
        assert_same(in_parts(x, codes, weights, parts, rng, pooled), whole)


numbers = st.floats(-1e150, 1e150) | st.floats(-1e3, 1e3) | st.integers(-99, 99).map(float)


@settings(max_examples=100)
@given(
    st.lists(st.tuples(numbers, numbers | st.just(np.nan)), min_size=1, max_size=20),
    st.integers(1, 5),
    st.booleans(),
    st.booleans(),
    st.integers(0, 1000),
)
def test_sums_of_any_numbers_have_one_form(
    rows: list[tuple[float, float]], parts: int, weighted: bool, pooled: bool, seed: int
) -> None:
    x, rng = np.array(rows), np.random.default_rng(seed)
    codes = rng.integers(0, 2, len(x)).astype(np.intp)
    weights = rng.random(len(x)) + 1e-9 if weighted else NONE
    whole = summed(x, codes, weights, pooled)
    assert_same(in_parts(x, codes, weights, parts, rng, pooled), whole)
    expected = groups(x, codes, weights if weighted else np.ones(len(x)))
    patterns = [tuple(row) for row in whole.patterns.tolist()]
    for g, (p, c) in enumerate(zip(whole.pattern, whole.code.tolist(), strict=True)):
        weight, sums, _ = expected[patterns[p], c]
        assert (whole.weight.fractions()[g], whole.sums.fractions()[g]) == ([weight], sums)


@pytest.mark.parametrize("kind", ["none", "whole", "any"])
@pytest.mark.parametrize("gaps", [0.0, 0.3])
@pytest.mark.parametrize("pooled", [False, True])
def test_what_stays_is_as_if_the_rest_had_never_been(kind: str, gaps: float, pooled: bool) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(90, 3)) + np.array([1e3, -1e6, 0.0])
    x[rng.random(x.shape) < gaps] = np.nan
    codes, weights = rng.integers(0, 2, 90).astype(np.intp), weights_of(kind, 90, rng)
    weights = weights if len(weights) else np.ones(90)
    x[:40] *= 1e140
    x[10:40] = np.nan if gaps else x[10:40] * 1e-130
    whole = summed(x, codes, weights, pooled)
    rest = whole - summed(x[:40], codes[:40], weights[:40], pooled)
    assert_same(rest, summed(x[40:], codes[40:], weights[40:], pooled))
    assert_same(whole - whole, ExactComoments.empty(2, 3, pooled))


@pytest.mark.parametrize("pooled", [False, True])
def test_rows_that_were_never_there_are_not_forgotten(pooled: bool) -> None:
    x, codes = np.array([[1.0, 2.0], [2.0, 5.0], [4.0, np.nan]]), np.zeros(3, np.intp)
    whole = summed(x, codes, pooled=pooled)
    for other, said, column in (
        ([[1.0, 9.0]], "other values", 1),
        ([[2.5, 1.5], [0.5, 5.5]], "other values", 0),
        ([[1.0, 2.0], [2.0, 5.0], [2.0, 5.0]], "fewer rows", None),
        ([[np.nan, 1.0]], "fewer rows", None),
    ):
        with pytest.raises(ForgetError, match=said) as caught:
            whole - summed(np.array(other), codes[: len(other)], pooled=pooled)
        assert caught.value.column == column
    rest = whole - summed(x[1:], codes[1:], pooled=pooled)
    assert rest.mean.value.tolist() == [[1.0, 2.0]]
    assert not rest.scatter.value.any()


@pytest.mark.parametrize("pooled", [False, True])
def test_columns_classes_and_patterns_are_those_of_the_rows(pooled: bool) -> None:
    rng = np.random.default_rng(5)
    x, codes = rng.normal(size=(200, 4)), rng.integers(-1, 3, 200).astype(np.intp)
    x[rng.random(x.shape) < 0.3] = np.nan
    weights = rng.random(200)
    whole = summed(x, codes, weights, pooled, k=3)
    some = np.ascontiguousarray(x[:, [0, 2]])
    assert_same(whole.marginal(np.array([0, 2])), summed(some, codes, weights, pooled, k=3))
    one = np.where(codes < 0, codes, 0)
    assert_same(whole.one_class, summed(x, one, weights, pooled, k=1))
    turned = np.where(codes < 0, codes, np.array([2, 0, 3])[codes])
    placed = whole.place(np.array([2, 0, 3]), 4)
    assert_same(placed, summed(x, turned, weights, pooled, k=4))
    if not pooled:
        left = np.where(codes == 1, 0, -1)
        assert_same(whole.take(np.array([1])), summed(x, left, weights, k=1))


@pytest.mark.parametrize("factor", [0.3, 0.5, 1.0, 1e-3])
def test_scaled_sums_are_exact(factor: float) -> None:
    rng = np.random.default_rng(5)
    x, codes = rng.normal(size=(40, 2)) + 5.0, rng.integers(0, 2, 40).astype(np.intp)
    assert_same(summed(x, codes).scaled(factor), summed(x, codes, np.full(40, factor)))
    assert summed(x, codes).scaled(0.0).is_empty


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.int64, np.uint16, np.bool_])
def test_every_dtype_gives_the_sums_of_its_values(dtype: type) -> None:
    rng = np.random.default_rng(1)
    x = (rng.random((9_001, 3)) * 2).astype(dtype)
    codes = rng.integers(-1, 2, len(x)).astype(np.intp)
    assert_same(summed(x, codes), summed(x.astype(np.float64), codes))
    assert_same(summed(np.asfortranarray(x), codes), summed(x, codes))


@pytest.mark.parametrize(
    ("value", "rule"),
    [
        (np.inf, "a number must be finite"),
        (-1e151, "a number must be below 1e150, or its square overflows"),
    ],
)
@pytest.mark.parametrize("missing", [False, True])
def test_a_number_without_a_square_is_named(value: float, rule: str, missing: bool) -> None:
    x = np.zeros((100, 3))
    x[77, 2] = value
    x[3, 0] = np.nan if missing else 0.0
    with pytest.raises(BadCell) as caught:
        summed(x, np.zeros(100, np.intp))
    assert (caught.value.row, caught.value.column, caught.value.rule) == (77, 2, rule)
