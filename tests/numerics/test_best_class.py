"""The best class of every row, against NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.numerics import kernels
from suffice.numerics.logspace import scores


def best(of_rows: list[list[float]]) -> tuple[np.ndarray, int]:
    table = np.array(of_rows)
    given = scores(*table.shape)
    given[:] = table
    codes = np.empty(len(table), np.intp)
    return codes, kernels.scores.best_class(given, codes)


FEW = st.sampled_from([-np.inf, -1.5, 0.0, 0.5, 1e300])


@st.composite
def tables(draw: st.DrawFn) -> list[list[float]]:
    """Up to 40 rows of up to 6 scores, many of them equal."""
    k = draw(st.integers(1, 6))
    return draw(st.lists(st.lists(FEW, min_size=k, max_size=k), min_size=1, max_size=40))


@given(tables())
def test_the_first_of_the_largest(of_rows: list[list[float]]) -> None:
    table = np.array(of_rows)
    impossible = (table == -np.inf).all(axis=1)
    codes, count = best(of_rows)
    np.testing.assert_array_equal(codes, np.where(impossible, -1, table.argmax(axis=1)))
    assert count == impossible.sum()


@pytest.mark.parametrize("n", [511, 512, 513, 1030])
def test_rows_of_several_blocks(n: int) -> None:
    table = np.random.default_rng(n).normal(size=(n, 3))
    codes, count = best(table.tolist())
    np.testing.assert_array_equal(codes, table.argmax(axis=1))
    assert count == 0
