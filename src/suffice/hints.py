"""Checks of values against annotations, elements of containers included."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from numbers import Integral, Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin

import numpy as np

Fits: TypeAlias = Callable[[Any], bool]
LARGEST_WHOLE_NUMBER = 2**1_000  # a whole number that a float can stand in for, and a message print


def fits(hint: Any) -> Fits:
    """Make the test of an annotation.

    Numbers are as arithmetic takes them: a whole number is a float too, 0 and 1 are truth values,
    and so are the scalars of NumPy; a scalar is an array without dimensions. A record that is a
    sequence is judged by its first element, for it may be longer than any memory.

    Parameters
    ----------
    hint : object
        A class, None, Any, an array of a dtype, a Literal, a union, an annotated type, or a tuple,
        list, dict, sequence or mapping of these.

    Examples
    --------
    >>> is_names = fits(tuple[str, ...] | None)
    >>> is_names(("x", "y")), is_names(None), is_names(("x", 1)), is_names("xy")
    (True, True, False, False)
    """
    origin, args = get_origin(hint), get_args(hint)
    if hint is Any:
        return _anything
    if origin is Annotated:
        return fits(args[0])
    if origin in (Union, UnionType):
        tests = tuple(map(fits, args))
        return lambda value: any(test(value) for test in tests)
    if origin is Literal:
        return lambda value: any(type(value) is type(arg) and value == arg for arg in args)
    if origin is np.ndarray:
        return _array(dtype_of(hint))
    if origin is tuple and args[1:] != (Ellipsis,):
        return _pair(tuple(map(fits, args)))
    if origin in (tuple, list, Sequence):
        return _sequence(origin, fits(args[0]))
    if origin in (dict, Mapping):
        return _mapping(*map(fits, args))
    return _class(hint)


def dtype_of(hint: Any) -> np.dtype[Any] | None:
    """The dtype of an annotated array; None where it may be any, or it is no array."""
    if get_origin(hint) is not np.ndarray:
        return None
    (scalar,) = get_args(get_args(hint)[1])
    return None if scalar is Any else np.dtype(scalar)


def _anything(value: Any) -> bool:
    return True


def _class(cls: Any) -> Fits:
    if cls is None or cls is NoneType:
        return lambda value: value is None
    if cls is bool:
        return lambda value: isinstance(value, Integral | np.bool_) and value in (0, 1)
    if cls in (int, float):
        kind = Integral if cls is int else Real
        return lambda value: isinstance(value, kind) and not _is_long(value)
    if not isinstance(cls, type):
        raise TypeError(f"{cls!r} is no annotation of a record")
    return lambda value: isinstance(value, cls)


def _is_long(value: Any) -> bool:
    return isinstance(value, int) and abs(value) > LARGEST_WHOLE_NUMBER


def _array(dtype: np.dtype[Any] | None) -> Fits:
    def test(value: Any) -> bool:
        array = isinstance(value, np.ndarray | np.generic)
        return array and (dtype is None or value.dtype == dtype)

    return test


def _pair(tests: tuple[Fits, ...]) -> Fits:
    def test(value: Any) -> bool:
        same = isinstance(value, tuple) and len(value) == len(tests)
        return same and all(test(item) for test, item in zip(tests, value, strict=True))

    return test


def _sequence(kind: Any, element: Fits) -> Fits:
    def test(value: Any) -> bool:
        if not isinstance(value, kind) or isinstance(value, str | bytes):
            return False
        first: Sequence[Any] = value[:1] if is_dataclass(type(value)) else value
        return element is _anything or all(map(element, first))

    return test


def _mapping(key: Fits, element: Fits) -> Fits:
    def test(value: Any) -> bool:
        if not isinstance(value, Mapping):
            return False
        return all(map(key, value)) and all(map(element, value.values()))

    return test
