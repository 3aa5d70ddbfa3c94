"""Class-wise moments: the kernel against fractions, of every kind of rows."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels
from suffice.numerics.dyadic import Dyadic
from suffice.statistics.exact_moments import ExactMoments

from .tables import KINDS, codes_of, rows_of, shapes


def tables(state: Any, k: int, d: int) -> list[list[list[Fraction]]]:
    found = []
    for which in range(3):
        planes, low = state.extent(which)
        limbs = np.empty((planes, k, d), np.uint64)
        state.write(which, limbs)
        found.append(Dyadic.trimmed(limbs, low).fractions())
    return found


def truth(x: Any, codes: Any, weights: Any, k: int) -> list[list[list[Fraction]]]:
    out = [[[Fraction()] * x.shape[1] for _ in range(k)] for _ in range(3)]
    for (i, j), cell in np.ndenumerate(x):
        if codes[i] >= 0 and cell == cell:
            term, value = Fraction(float(weights[i])), Fraction(float(cell))
            for table in out:
                table[codes[i]][j] += term
                term *= value
    return out


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [False, True])
def test_sums_are_exact(kind: str, weighted: bool) -> None:
    random = np.random.default_rng([weighted, KINDS.index(kind)])
    for n, d in shapes():
        if n * d > 3_000:
            continue
        k = (1, 3, 9)[(n + d) % 3]
        x, codes = rows_of(random, kind, n, d), codes_of(random, n, k)
        state, weights = kernels.exact_moments.MomentSums(d), np.ones(n)
        if weighted:
            weights = random.exponential(size=n)
            stopped = state.add_weighted_rows(x, codes, weights, k)
        else:
            stopped = state.add_rows(x, codes, k)
        bad = (np.abs(x) > 1e150) & (codes >= 0)[:, None]
        assert (stopped >= 0) == bad.any()
        if stopped < 0:
            assert tables(state, k, d) == truth(x, codes, weights, k)


@pytest.mark.parametrize("d", [1, 3, 50])
def test_lanes_are_emptied_in_time(d: int) -> None:
    x = np.full((150_000, d), 2.0**23 - 1)
    state = kernels.exact_moments.MomentSums(d)
    assert state.add_rows(x, np.zeros(len(x), np.intp), 1) == -1
    sums = [[[Fraction(len(x)) * (2**23 - 1) ** power] * d] for power in range(3)]
    assert tables(state, 1, d) == sums


def test_rows_may_outgrow_those_before_and_come_in_pieces() -> None:
    random = np.random.default_rng(4)
    x, codes = random.normal(size=(900, 9)), random.integers(0, 3, 900)
    x[300:] *= 1e6
    x[600:] *= 1e100
    x[700:] = np.floor(x[:200])
    state = kernels.exact_moments.MomentSums(9)
    for k, rows in ((0, slice(0)), (3, slice(350)), (3, slice(350, 900)), (5, slice(0))):
        assert state.add_rows(x[rows], codes[rows], k) == -1
    assert tables(state, 5, 9) == truth(x, codes, np.ones(900), 5)


def test_wrong_arrays_are_refused() -> None:
    state, codes = kernels.exact_moments.MomentSums(3), np.zeros(4, np.intp)
    with pytest.raises(ValueError, match=r"x has shape \(4, 2\); it must be \(4, 3\)"):
        state.add_rows(np.zeros((4, 2)), codes, 2)
    with pytest.raises(ValueError, match="codes must be below 2"):
        state.add_rows(np.zeros((4, 3)), codes + 2, 2)
    with pytest.raises(TypeError):
        state.add_rows(np.zeros((4, 3)), codes.astype(float), 2)
    with pytest.raises(ValueError, match="out has shape"):
        state.write(0, np.zeros((7, 1, 1), np.uint64))


def test_rows_may_lie_apart() -> None:
    random = np.random.default_rng(2)
    x, codes = random.normal(size=(40, 3)), random.integers(0, 2, 40)
    found = kernels.exact_moments.MomentSums(3)
    apart = np.repeat(np.repeat(x, 2, axis=0), 2, axis=1)[::2, ::2]
    assert found.add_rows(apart, np.repeat(codes, 2)[::2], 2) == -1
    assert tables(found, 2, 3) == truth(x, codes, np.ones(40), 2)


def tables_of_numbers() -> None:
    """Call every function of tables."""
    for shape in ((2, 3), (1, 1), (3, 0)):
        x = np.random.default_rng(1).normal(size=shape)
        numbers = Dyadic.of_doubles(x)
        moments = ExactMoments(Dyadic.of_doubles(np.ones(shape)), numbers, Dyadic.of_doubles(x * x))
        assert (numbers + numbers - numbers).summed().shape == (1, shape[1])
        assert numbers.value.tolist() == x.tolist()
        assert kernels.exact_moments.impossible(*moments._tables) >= -1
        assert moments.mean.shape == shape
