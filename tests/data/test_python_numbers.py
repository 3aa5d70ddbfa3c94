"""What NumPy makes of lists and of arrays of objects, against what was given."""

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suffice.data.python_numbers import faithful, first_rounded, is_rounded

B = 2**53


@given(st.integers(-(2**70), 2**70) | st.integers(B - 9, B + 9))
def test_a_whole_number_is_rounded_if_it_changes(number: int) -> None:
    assert is_rounded(number) == (int(float(number)) != number)
    assert is_rounded(Decimal(number)) == is_rounded(number)


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (10**400, True),
        (np.int64(B + 1), True),
        (np.uint64(B + 2), False),
        (float(B), False),
        (1e300, False),
        (Decimal("9007199254740993.00"), True),
        (Decimal("9007199254740993.5"), False),
        (Decimal("123456789012345678901234567890123456.5"), False),
        (Decimal("0.1"), False),
        (Decimal("NaN"), False),
        (Decimal("-Infinity"), False),
        (True, False),
        (None, False),
        ("9007199254740993", False),
    ],
)
def test_other_cells(cell: Any, expected: bool) -> None:
    assert is_rounded(cell) is expected


@pytest.mark.parametrize(
    ("given", "place"),
    [
        ([[0.5, 1], [B + 1, 2]], (1, 0)),
        ([[0.5, 1], [B + 2, 2]], None),
        ([2**63 + 1, -1], (0,)),
        ([1e300, np.inf, np.nan], None),
        (B + 1, ()),
        (np.array([B + 1]), (0,)),
        (np.array([1, B + 1], object), (1,)),
        (np.array([float(B)]), None),
        (pd.Series([1, None, B + 1], dtype="Int64"), (2,)),
    ],
)
def test_the_first_that_is_rounded(given: Any, place: tuple[int, ...] | None) -> None:
    if isinstance(given, pd.Series):
        values = given.to_numpy(np.float64, na_value=np.nan)
    else:
        values = np.asarray(given, np.float64)
    assert first_rounded(given, values) == place


def test_what_is_rounded_comes_as_objects() -> None:
    labels = [2**63, 2**63 + 1, -1]
    assert np.asarray(labels).tolist() == [2.0**63, 2.0**63, -1.0]
    assert faithful(labels, np.asarray(labels)).tolist() == labels
    values = np.asarray([0.5, 1])
    assert faithful([0.5, 1], values) is values
