"""Linear functions of rows: any type and order of cells, and the same bits in any company."""

import numpy as np
import pytest

from suffice.numerics.logspace import row_sums
from suffice.numerics.rows import affine, linear, row_major


@pytest.mark.parametrize("dtype", ["float64", "float32", "int16"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_rows_of_any_type_and_order(dtype: str, order: str) -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], dtype, order=order)
    slope = np.array([[1.0, 10.0, 100.0], [0.0, 0.0, 1.0]])
    expected = [[321.0 - 111.0 + 7.0, 2.0], [654.0 - 111.0 + 7.0, 5.0]]
    found = affine(x, np.ones(3), slope, np.array([7.0, 0.0]))
    np.testing.assert_array_equal(found, expected)


def test_rows_without_columns_or_functions() -> None:
    x = np.empty((2, 0))
    found = affine(x, np.empty(0), np.empty((3, 0)), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(found, [[1.0, 2.0, 3.0]] * 2)
    assert linear(np.ones((2, 4)), np.empty((4, 0))).shape == (2, 0)
    assert linear(np.empty((0, 4)), np.ones((4, 2))).shape == (0, 2)


@pytest.mark.parametrize("m", [1, 2, 9, 50])
@pytest.mark.parametrize("d", [1, 8, 11, 50])
def test_a_row_has_the_same_bits_beside_every_other(d: int, m: int) -> None:
    rng = np.random.default_rng([d, m])
    x, matrix = rng.normal(size=(50, d)), rng.normal(size=(d, m))
    among = linear(x, matrix)
    np.testing.assert_allclose(among, x @ matrix, rtol=1e-12, atol=1e-12)
    for first, rows in ((0, 1), (49, 1), (1, 7), (2, 8), (5, 9), (3, 17)):
        part = slice(first, first + rows)
        np.testing.assert_array_equal(linear(x[part], matrix), among[part])
        np.testing.assert_array_equal(linear(x[part].copy("F"), matrix), among[part])
        np.testing.assert_array_equal(linear(x[::-1][part], matrix), among[::-1][part])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", [(1, 20), (3, 20), (30, 20), (5, 0), (0, 5), (4, 20, 3)])
def test_sums_of_rows_are_added_from_left_to_right(shape: tuple[int, ...], order: str) -> None:
    terms = np.random.default_rng(0).normal(size=shape)
    expected = np.zeros((shape[0], *shape[2:]))
    for place in np.ndindex(expected.shape):
        expected[place] = sum(terms[(place[0], slice(None), *place[1:])].tolist(), 0.0)
    np.testing.assert_array_equal(row_sums(np.array(terms, order=order)), expected)


def test_what_lies_by_rows_is_not_copied() -> None:
    x = np.ones((3, 2))
    assert row_major(x, np.float64) is x
    assert row_major(x.T, np.float64).flags.c_contiguous
    np.testing.assert_array_equal(row_major(np.arange(6.0).reshape(2, 3).T, np.float64)[1], [1, 4])
