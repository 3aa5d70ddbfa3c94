"""What an annotation says of a value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, Any, Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from suffice.data.schema import Column, Numbered, UniformColumns
from suffice.hints import dtype_of, fits


@dataclass(frozen=True)
class Pair:
    a: int


ENDLESS = Numbered(2**50)
COLUMNS = UniformColumns(ENDLESS, "number", "real", "numbers")


@pytest.mark.parametrize(
    ("hint", "values", "others"),
    [
        (Any, [None, 3, "x", str], []),
        (None, [None], [0, False, ""]),
        (str, ["", "é"], [b"", None, 1]),
        (bool, [True, False, np.True_, 0, 1], [2, -1, 0.0, "True", None, np.zeros(1)]),
        (int, [0, -3, True, np.int64(4), 2**999], [1.0, "1", None, 2**1001, np.float64(1)]),
        (float, [0, 1.5, True, np.float32(1), Fraction(1, 3), np.nan], ["1", None, 1j, 10**400]),
        (float | None, [None, 2.0], ["2"]),
        (Literal["mle", 1], ["mle", 1], ["map", True, 1.0]),
        (tuple[str, ...], [(), ("a", "b")], [["a"], ("a", 1), "ab", None]),
        (tuple[int, str], [(1, "a")], [(1,), (1, "a", "b"), ("a", 1), [1, "a"]]),
        (list[int], [[], [1]], [(1,), ["1"]]),
        (dict[str, int], [{}, {"a": 1}], [{1: 1}, {"a": "1"}, [("a", 1)]]),
        (Mapping[str, Any], [{}, {"a": None}], [{1: 1}, None]),
        (Sequence[str], [[], ("a",), ENDLESS], ["ab", b"ab", [1], COLUMNS, 3]),
        (Sequence[Column], [(), COLUMNS], [ENDLESS, ["a"]]),
        (NDArray[np.float64], [np.zeros(2), np.float64(1)], [np.zeros(2, "f4"), [0.0], 1.0]),
        (NDArray[np.intp], [np.zeros(0, np.int64)], [np.zeros(0, ">i8"), np.zeros(0, np.uint64)]),
        (NDArray[Any], [np.zeros(2), np.zeros(1, bool)], [[1]]),
        (Annotated[str, "a word"], ["x"], [1]),
        (Pair, [Pair(1)], [Pair, (1,), None]),
    ],
    ids=str,
)
def test_what_fits_an_annotation(hint, values, others):
    test = fits(hint)
    assert [value for value in values if not test(value)] == []
    assert [value for value in others if test(value)] == []


def test_an_annotation_that_says_nothing_is_refused():
    with pytest.raises(TypeError, match="3 is no annotation of a record"):
        fits(3)


def test_the_dtype_of_an_array():
    assert dtype_of(NDArray[np.float64]) == np.float64
    assert dtype_of(NDArray[Any]) is None
    assert dtype_of(str) is None
