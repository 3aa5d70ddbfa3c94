"""Checks of values against annotations, elements of containers included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from numbers import Integral, Real
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import numpy as np

LARGEST_WHOLE_NUMBER = 2**1_000  # a whole number that a float can stand in for, and a message print


def dtype_of(hint: Any) -> np.dtype[Any] | None:
    """The dtype of an annotated array; None where it may be any, or it is no array."""
    if get_origin(hint) is not np.ndarray:
        return None
    (scalar,) = get_args(get_args(hint)[1])
    return None if scalar is Any else np.dtype(scalar)


def fits(hint: Any, value: Any) -> bool:
    """Test a value against an annotation.

    Numbers are as arithmetic takes them: a whole number is a float too, 0 and 1 are truth values,
    and so are the scalars of NumPy; a scalar is an array without dimensions. A record that is a
    sequence is judged by its first element, for it may be longer than any memory.

    Parameters
    ----------
    hint : object
        A class, None, Any, an array of a dtype, a Literal, a union, an annotated type, or a tuple,
        list, dict, sequence or mapping of these.
    value : object

    Examples
    --------
    >>> names = tuple[str, ...] | None
    >>> fits(names, ("x", "y")), fits(names, None), fits(names, ("x", 1)), fits(names, "xy")
    (True, True, False, False)
    """
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return True
    if origin is Annotated:
        return fits(args[0], value)
    if origin in (Union, UnionType):
        return any(fits(one, value) for one in args)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in args)
    if origin is np.ndarray:
        dtype = dtype_of(hint)
        is_array = isinstance(value, np.ndarray | np.generic)
        return is_array and (dtype is None or value.dtype == dtype)
    if origin is tuple and args[1:] != (Ellipsis,):
        same = isinstance(value, tuple) and len(value) == len(args)
        return same and all(map(fits, args, value))
    if origin in (tuple, list, Sequence):
        if not isinstance(value, origin) or isinstance(value, str | bytes):
            return False
        first = value[:1] if is_dataclass(type(value)) else value
        return args[0] is Any or all(fits(args[0], one) for one in first)
    if origin in (dict, Mapping):
        known = isinstance(value, Mapping) and all(fits(args[0], key) for key in value)
        return known and all(fits(args[1], one) for one in value.values())
    if hint is None:
        return value is None
    if hint is bool:
        return isinstance(value, Integral | np.bool_) and value in (0, 1)
    if hint in (int, float):
        is_long = isinstance(value, int) and abs(value) > LARGEST_WHOLE_NUMBER
        return isinstance(value, Integral if hint is int else Real) and not is_long
    return isinstance(value, hint)
