"""What the cells of a column of text are: numbers, Booleans, or text."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.numerals import PLAIN, Numerals
from suffice.data.python_numbers import is_rounded
from suffice.sums.block import HELD

__all__ = ["are_rounded", "infer", "parse"]

_WHOLE = r"^[+-]?[0-9]+(\.0*)?$"
_PROBE = 64  # cells


def _refusal(target: pa.DataType) -> pa.ArrowInvalid:
    return pa.ArrowInvalid(f"a cell is not {target}")


def parse(column: pa.Array[Any], target: pa.DataType, numerals: Numerals = PLAIN) -> pa.Array[Any]:
    """Cast text; raise pyarrow.ArrowInvalid if a cell is not written as the type demands."""
    if pa.types.is_null(target):
        return _parse_nothing(column)
    if pa.types.is_boolean(target):
        return _parse_booleans(column)
    if pa.types.is_integer(target):
        return _parse_integers(numerals.plain(column), target)
    if pa.types.is_floating(target):
        return _parse_numbers(numerals.plain(column), target)
    return pc.cast(column, target)


def _parse_nothing(column: pa.Array[Any]) -> pa.Array[Any]:
    if column.null_count < len(column):
        raise _refusal(pa.null())
    return pa.nulls(len(column))


def _parse_booleans(column: pa.Array[Any]) -> pa.Array[Any]:
    codes = pc.index_in(pc.utf8_lower(column), value_set=pa.array(["false", "true"]))
    if codes.null_count > column.null_count:
        raise _refusal(pa.bool_())
    return codes.cast(pa.bool_())


def _parse_integers(column: pa.Array[Any], target: pa.DataType) -> pa.Array[Any]:
    # Arrow would take hexadecimal identifiers for numbers, and refuse a leading plus sign.
    for letter in "xX":
        if pc.any(pc.match_substring(column, letter)).as_py():
            raise _refusal(target)
    if pc.any(pc.starts_with(column, "+")).as_py():
        column = pc.replace_substring_regex(column, r"^\+([0-9])", r"\1")
    return pc.cast(column, target)


def _parse_numbers(column: pa.Array[Any], target: pa.DataType) -> pa.Array[Any]:
    numbers = pc.cast(column, target)
    far = np.abs(numbers.to_numpy(zero_copy_only=False)) >= HELD
    if far.any() and are_rounded(column.filter(pa.array(far))):
        raise _refusal(target)
    return numbers


def are_rounded(column: pa.Array[Any]) -> bool:
    """Whether digits that write out a whole number are read as another one."""
    for letter in "eE":  # what has an exponent soon passes
        column = column.filter(pc.invert(pc.match_substring(column, letter)))
    whole = column.filter(pc.match_substring_regex(column, _WHOLE))
    return any(is_rounded(Decimal(cell)) for cell in whole.to_pylist())


def infer(column: pa.Array[Any], numerals: Numerals = PLAIN) -> pa.Array[Any]:
    """Cast text to the first of null, int64, float64 and bool that holds every cell."""
    for target in (pa.null(), pa.int64(), pa.float64(), pa.bool_()):
        try:
            # Every cell that is refused takes long, so a few come first.
            parse(column.slice(0, _PROBE), target, numerals)
            return parse(column, target, numerals)
        except pa.ArrowInvalid:
            if target == pa.float64() and _are_measured(column, numerals):
                return pc.cast(numerals.plain(column), target)
    return column


def _are_measured(column: pa.Array[Any], numerals: Numerals) -> bool:
    """Whether cells are numbers, some with fractions: one to be rounded is refused by its line."""
    try:
        column = numerals.plain(column)
        pc.cast(column, pa.float64())
    except pa.ArrowInvalid:
        return False
    return not pc.all(pc.match_substring_regex(column, r"^[+-]?[0-9]+$")).as_py()
