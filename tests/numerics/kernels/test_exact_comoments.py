"""Exact co-moments: the kernel against fractions, of every kind of rows."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels
from suffice.numerics.dyadic import Dyadic

from .tables import KINDS, codes_of, rows_of, shapes

NONE = np.empty(0)
Tables = list[list[list[Fraction]]]


def tables_of(state: Any, matrix: np.ndarray, d: int) -> list[Dyadic]:
    g, m = len(matrix), int(matrix.max(initial=-1)) + 1
    found = []
    for which, shape in enumerate([(g, 1), (g, d), (m, d * (d + 1) // 2)]):
        planes, low = state.extent(which)
        limbs = np.empty((planes, *shape), np.uint64)
        state.write(which, limbs)
        found.append(Dyadic.trimmed(limbs, low))
    return found


def truth(x: np.ndarray, codes: np.ndarray, weights: np.ndarray, matrix: np.ndarray) -> Tables:
    g, (_, d) = len(matrix), x.shape
    m = int(matrix.max(initial=-1)) + 1
    weight = [[Fraction()] for _ in range(g)]
    sums = [[Fraction()] * d for _ in range(g)]
    products = [[Fraction()] * (d * (d + 1) // 2) for _ in range(m)]
    pairs = [(i, j) for i in range(d) for j in range(i, d)]
    for row, c, w in zip(x.tolist(), codes.tolist(), weights.tolist(), strict=True):
        if c < 0:
            continue
        cells, w = [Fraction(cell) for cell in row], Fraction(w)
        weight[c][0] += w
        sums[c] = [s + w * cell for s, cell in zip(sums[c], cells, strict=True)]
        of = products[matrix[c]]
        products[matrix[c]] = [
            s + w * cells[i] * cells[j] for s, (i, j) in zip(of, pairs, strict=True)
        ]
    return [weight, sums, products]


def summed(
    x: np.ndarray, codes: np.ndarray, weights: np.ndarray, matrix: np.ndarray, stops: Sequence[int]
) -> Tables:
    """The sums of rows that are added in pieces, half of their columns apart."""
    d, half = x.shape[1], x.shape[1] // 2
    state = kernels.exact_comoments.ProductSums(d)
    for rows in np.split(np.arange(len(x)), stops):
        left, right = (np.ascontiguousarray(part) for part in (x[rows, :half], x[rows, half:]))
        of = weights[rows] if len(weights) else weights
        assert state.add_rows(left, right, codes[rows], of, matrix) == -1
    return [table.fractions() for table in tables_of(state, matrix, d)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_exact(kind: str, weighted: bool) -> None:
    random = np.random.default_rng([weighted, KINDS.index(kind)])
    for n, d in shapes():
        if n * d * d > 2_000:
            continue
        g = (1, 3, 9)[(n + d) % 3]
        x, codes = rows_of(random, kind, n, d), codes_of(random, n, g)
        x[~(np.abs(x) <= 1e150)] = 3.0
        weights = random.exponential(size=n) if weighted else NONE
        matrix = (np.arange(g), np.zeros(g, np.intp), np.arange(g) // 2)[(n * d) % 3]
        expected = truth(x, codes, weights if weighted else np.ones(n), matrix)
        assert summed(x, codes, weights, matrix, [n // 3]) == expected


NUMBERS = {
    "bits": lambda random, shape: random.integers(0, 2**53, shape) * 1.0,
    "far": lambda random, shape: (
        random.normal(size=shape) * 10.0 ** random.integers(-150, 150, shape)
    ),
    "tiny": lambda random, shape: random.normal(size=shape) * 1e-300,
    "least": lambda random, shape: random.choice([0.0, 5e-324, -1.0], shape),
    "growing": lambda random, shape: (
        random.normal(size=shape) * 2.0 ** np.arange(shape[0])[:, None]
    ),
    "single": lambda random, shape: np.float64(np.float32(random.normal(size=shape))),
}
WEIGHTS = {
    "none": lambda random, n: NONE,
    "whole": lambda random, n: random.integers(0, 4, n) * 1.0,
    "any": lambda random, n: random.random(n),
    "far": lambda random, n: random.random(n) * 10.0 ** random.integers(-100, 100, n),
}


@pytest.mark.parametrize("numbers", NUMBERS)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_sums_are_exact_whatever_the_numbers(numbers: str, weights: str) -> None:
    random = np.random.default_rng(7)
    x = np.clip(NUMBERS[numbers](random, (300, 4)), -1e150, 1e150)
    codes, w = random.integers(-1, 2, 300), WEIGHTS[weights](random, 300)
    for matrix in (np.arange(2), np.zeros(2, np.intp)):
        expected = truth(x, codes, w if len(w) else np.ones(300), matrix)
        assert summed(x, codes, w, matrix, [1, 280]) == expected


@pytest.mark.parametrize("weights", [NONE, np.full(40_000, 3.0)])
@pytest.mark.parametrize("value", [2.0**23, 2.0**23 - 1, -(2.0**46) + 2.0**22 + 1])
def test_lanes_are_emptied_in_time(value: float, weights: np.ndarray) -> None:
    x, codes = np.full((40_000, 5), value), np.zeros(40_000, np.intp)
    state = kernels.exact_comoments.ProductSums(5)
    assert state.add_rows(x, x[:, :0], codes, weights, codes[:1]) == -1
    n = 40_000 * (3 if len(weights) else 1)
    weight, sums, products = (t.fractions() for t in tables_of(state, codes[:1], 5))
    assert weight == [[n]]
    assert sums == [[n * Fraction(value)] * 5]
    assert products == [[n * Fraction(value) ** 2] * 15]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -1e151])
def test_rows_from_a_bad_one_on_are_not_added(bad: float) -> None:
    x, codes, matrix = np.ones((3000, 40)), np.zeros(3000, np.intp), np.zeros(1, np.intp)
    x[2900, 7], x[5, 3], codes[5] = bad, bad, -1
    state = kernels.exact_comoments.ProductSums(40)
    first = state.add_rows(x, x[:, :0], codes, NONE, matrix)
    assert 0 < first <= 2900
    assert tables_of(state, matrix, 40)[0].fractions() == [[first - 1]]


def recentred(x: np.ndarray, codes: np.ndarray, matrix: np.ndarray) -> list[np.ndarray]:
    """Pairs of the sums about the means."""
    (_, d), g, m = x.shape, len(matrix), int(matrix.max(initial=-1)) + 1
    state = kernels.exact_comoments.ProductSums(d)
    state.add_rows(x, x[:, :0], codes, NONE, matrix)
    tables = [part for table in tables_of(state, matrix, d) for part in (table.limbs, table.low)]
    out = [np.zeros(shape) for shape in ((g, 2), (g, d), (g, 2, d), (m, 2, d, d))]
    kernels.exact_comoments.recentre(*tables, matrix, *out)
    return out


def pair(exact: Fraction) -> list[float]:
    return [float(exact), float(exact - Fraction(float(exact)))]


@pytest.mark.parametrize("kind", ["plain", "offset", "far"])
def test_sums_about_the_means_are_rounded_once(kind: str) -> None:
    random = np.random.default_rng(3)
    x, codes = random.normal(size=(40, 3)), random.integers(0, 3, 40)
    x = {"plain": x, "offset": x + 1e9, "far": x * [1e-90, 1.0, 1e90]}[kind]
    matrix = np.array([0, 0, 1])
    weight, pivot, sums, products = recentred(x, codes, matrix)
    about = np.zeros_like(x, object)
    for c in range(3):
        cells = [[Fraction(cell) for cell in row] for row in x[codes == c].tolist()]
        assert weight[c].tolist() == [len(cells), 0.0]
        mean = [sum(column, Fraction()) / len(cells) for column in zip(*cells, strict=True)]
        assert pivot[c].tolist() == [float(one) for one in mean]
        about[codes == c] = [
            [a - Fraction(p) for a, p in zip(row, pivot[c].tolist(), strict=True)] for row in cells
        ]
        for j in range(3):
            total = sum(about[codes == c, j], Fraction())
            assert sums[c, :, j].tolist() == pair(total)
    for m in range(2):
        rows = about[matrix[codes] == m]
        for i in range(3):
            for j in range(i, 3):
                total = sum((row[i] * row[j] for row in rows), Fraction())
                assert products[m, :, i, j].tolist() == pair(total)


def tables_about_means() -> None:
    """Call every function."""
    for g, d in ((2, 3), (1, 1), (1, 0)):
        x = np.random.default_rng(1).normal(size=(6, d))
        recentred(x, np.arange(6) % g, np.arange(g))


def test_wrong_arrays_are_refused() -> None:
    x, codes, matrix = np.zeros((4, 3)), np.zeros(4, np.intp), np.arange(2)
    state = kernels.exact_comoments.ProductSums(3)
    with pytest.raises(ValueError, match="x and y must have d columns"):
        state.add_rows(x, x, codes, NONE, matrix)
    with pytest.raises(ValueError, match="codes must be below 2"):
        state.add_rows(x, x[:, :0], codes + 2, NONE, matrix)
    with pytest.raises(ValueError, match="matrix must begin with 0"):
        state.add_rows(x, x[:, :0], codes, NONE, matrix + 1)
    for weight in (np.nan, -1.0, np.inf):
        with pytest.raises(ValueError, match="weights must be from 0 to 1e150"):
            state.add_rows(x, x[:, :0], codes, np.full(4, weight), matrix)
    assert state.add_rows(x, x[:, :0], codes, NONE, matrix) == -1
    for other in (matrix[:1], 0 * matrix):
        with pytest.raises(ValueError, match="matrix must have the groups that there are"):
            state.add_rows(x, x[:, :0], codes, NONE, other)
    with pytest.raises(ValueError, match="out has shape"):
        state.write(0, np.zeros((7, 1, 1), np.uint64))
    with pytest.raises(ValueError, match="d must be from 0 to 30,000"):
        kernels.exact_comoments.ProductSums(-1)
