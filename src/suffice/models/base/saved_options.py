"""Options of an estimator in a form that a model file can hold."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np

from suffice.errors import ModelFileError
from suffice.hints import LARGEST_WHOLE_NUMBER, fits
from suffice.rules import shown
from suffice.sums.vocabulary import KINDS

__all__ = ["COVARIANCES", "is_covariance", "portable", "unportable"]

COVARIANCES = ("EmpiricalCovariance", "ShrunkCovariance", "LedoitWolf")

_are_columns = fits(tuple[str, ...])


def portable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Turn options into what JSON has.

    Mappings become pairs, as their keys may be tuples of columns, and covariance estimators their
    name and options.
    """
    return {name: _written(value) for name, value in params.items()}


def unportable(params: Mapping[str, Any], records: tuple[type, ...]) -> dict[str, Any]:
    """Undo `portable`; ``records`` are the types of the options that are records.

    Raises
    ------
    ModelFileError
        If an option was written by something else.
    """
    return {name: _read(name, value, records) for name, value in params.items()}


def _written(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"pairs": [list(pair) for pair in value.items()]}
    if is_covariance(value):
        return {"covariance": type(value).__name__, "options": value.get_params()}
    return value


def _read(name: str, value: Any, records: tuple[type, ...]) -> Any:
    if not _is_option(value, records):
        raise ModelFileError(
            f"the option {name} is {shown(value)}",
            "options are families and the like, scalars and arrays, and collections of these",
        )
    match value:
        case {"pairs": list(pairs), **rest} if not rest and all(map(_is_pair, pairs)):
            return dict(map(tuple, pairs))
        case {"covariance": kind, "options": dict(options), **rest} if not rest:
            return _covariance(name, kind, options)
        case dict():
            raise ModelFileError(
                f"the option {name} is {shown(value)}",
                "a mapping is written as pairs, and a covariance estimator by its name",
            )
    return value


def _is_option(value: Any, records: tuple[type, ...]) -> bool:
    """Whether a value can be one of an option; whole numbers are such that a float could be."""
    if isinstance(value, dict):
        return all(_is_option(part, records) for part in (*value, *value.values()))
    if isinstance(value, list | tuple):
        return all(_is_option(part, records) for part in value)
    if isinstance(value, int):
        return abs(value) <= LARGEST_WHOLE_NUMBER
    return value is None or isinstance(value, (*KINDS, np.ndarray, *records))


def _is_pair(pair: Any) -> bool:
    """Whether an element is a label, or a tuple of columns, with what it stands for."""
    if not (isinstance(pair, list) and len(pair) == 2):
        return False
    return isinstance(pair[0], KINDS) or _are_columns(pair[0])


def _covariance(name: str, kind: Any, options: dict[str, Any]) -> Any:
    if kind not in COVARIANCES:
        raise ModelFileError(
            f"the option {name} is {shown(kind)}", f"known here: {', '.join(COVARIANCES)}"
        )
    estimator = getattr(import_module("sklearn.covariance"), kind)
    known = estimator().get_params()
    if not options.keys() <= known.keys():
        raise ModelFileError(
            f"the option {name} is a {kind} with {', '.join(map(shown, options))}",
            f"the options of a {kind} are {', '.join(known)}",
        )
    return estimator(**options)


def is_covariance(estimator: Any) -> bool:
    """Whether an object is one of the estimators of `sklearn.covariance` that are understood."""
    kind = type(estimator)
    return kind.__module__.startswith("sklearn.covariance.") and kind.__name__ in COVARIANCES
