"""Fitted attributes: arrays among them are read-only; what a fit lacks is no attribute of it.

Most of them are computed from sums when they are asked for. Writing into such an array would change
a copy and nothing else, and writing into one that is kept would change predictions.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from suffice.errors import ParameterError, UnavailableError

__all__ = ["KeptArray", "protect_fitted", "read_only"]


def read_only(value: Any) -> Any:
    """Return an array that cannot be written to, with the same memory; anything else as it is.

    Examples
    --------
    >>> read_only(np.zeros(2))[0] = 1.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    if type(value) is not np.ndarray:
        return value
    view = value.view()
    view.setflags(write=False)
    return view


def protect_fitted(cls: type) -> None:
    """Make properties of a class that end in an underscore hand out read-only arrays.

    Examples
    --------
    >>> class Mean:
    ...     @property
    ...     def mean_(self):
    ...         return np.ones(2)
    >>> protect_fitted(Mean)
    >>> Mean().mean_[0] = 3.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """
    for name, member in list(vars(cls).items()):
        if _is_fitted(name) and isinstance(member, property):
            setattr(cls, name, _protected(member))


class KeptArray:
    """An attribute that keeps an array, and hands out a view that cannot be written to.

    Examples
    --------
    >>> class Mean:
    ...     mean_ = KeptArray()
    >>> model = Mean()
    >>> model.mean_ = np.ones(2)
    >>> model.mean_[0] = 3.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        try:
            return read_only(instance.__dict__[self._name])
        except KeyError:
            raise AttributeError(
                f"{type(instance).__name__!r} object has no attribute {self._name!r}"
            ) from None

    def __set__(self, instance: Any, value: Any) -> None:
        instance.__dict__[self._name] = value

    def __delete__(self, instance: Any) -> None:
        del instance.__dict__[self._name]


def _is_fitted(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def _protected(attribute: property) -> property:
    """The same attribute, whose arrays cannot be written to."""
    get: Any = attribute.fget

    @wraps(get)
    def protected(estimator: Any) -> Any:
        try:
            return read_only(get(estimator))
        except ParameterError as error:
            raise UnavailableError(error.fact, error.rule, error.next_step) from None

    return property(protected)
