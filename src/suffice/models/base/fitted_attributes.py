"""Fitted attributes: arrays among them are read-only; what a fit lacks is no attribute of it.

Most of them are computed from sums when they are asked for. Writing into such an array would change
a copy and nothing else, and writing into one that is kept would change predictions.
"""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np

from suffice.errors import ParameterError, UnavailableError

__all__ = ["FittedAttributes", "read_only"]


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


class FittedAttributes:
    """A class whose public attributes that end in an underscore are read-only arrays.

    Examples
    --------
    >>> class Mean(FittedAttributes):
    ...     @property
    ...     def mean_(self):
    ...         return np.ones(2)
    >>> Mean().mean_[0] = 3.0
    Traceback (most recent call last):
        ...
    ValueError: assignment destination is read-only
    """

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name, member in list(vars(cls).items()):
            if _is_fitted(name) and isinstance(member, property):
                setattr(cls, name, _protected(member))

    def __setattr__(self, name: str, value: Any) -> None:
        if type(value) is np.ndarray and _is_fitted(name):
            value = read_only(value)
        super().__setattr__(name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # A pickle does not tell whether an array can be written to.
        kept = {name: read_only(v) if _is_fitted(name) else v for name, v in state.items()}
        above: Any = super()
        above.__setstate__(kept)


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
