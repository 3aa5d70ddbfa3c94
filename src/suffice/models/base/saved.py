"""The content of every model file, entry by entry, and the rules among the entries.

A file has these records as dictionaries, in the order of their fields.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from typing import Any, Self

import numpy as np

from suffice.data.schema import BlockLayout, Column, Layout, Numbered, UniformColumns
from suffice.data.text_format import TextFormat
from suffice.errors import ModelFileError, ParameterError
from suffice.hints import LARGEST_WHOLE_NUMBER, fits
from suffice.rules import build, rule, shown
from suffice.sums.vocabulary import KINDS, Value, Vocabulary
from suffice.tree import named

LAYOUT = named(BlockLayout, Column, TextFormat, Layout, Numbered, Alike=UniformColumns)
"""The types that say how a table is read."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Saved:
    """The content of every model file."""

    params: dict[str, Any]  # options of the estimator, as `portable` writes them
    layout: Layout  # how a table is read
    format: TextFormat | None  # how the first table was written, if it was text
    named: bool  # whether its columns were called by strings
    single_precision: bool = False  # whether it was an array of single precision

    @classmethod
    def of(cls, content: Any) -> Self:
        """Read the entries of a file; an entry that is left out has its default."""
        if not isinstance(content, dict):
            raise ParameterError(f"there is {shown(content)}", "a model file holds entries")
        found = {f.name: content.get(f.name, f.default) for f in fields(cls)}
        missing = [name for name, value in found.items() if value is MISSING]
        if missing:
            raise KeyError(missing[0])
        return build(cls, found | content)


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedClassifier(Saved):
    """The content of the file of every classifier."""

    label_dtype: str | None = None  # what labels are stored as, if they are numbers in arrays

    @property
    def dtype(self) -> np.dtype[Any] | None:
        return None if self.label_dtype is None else np.dtype(self.label_dtype)

    @property
    @abstractmethod
    def labels(self) -> tuple[Vocabulary, ...]:
        """All labels, each at least once."""

    @rule("labels are open, of one type, and numbers if they have a dtype")
    def _has_labels(self) -> bool:
        labels = tuple(label for vocabulary in self.labels for label in vocabulary.values)
        alike = len({isinstance(label, str) for label in labels}) < 2
        if not alike or any(vocabulary.closed for vocabulary in self.labels):
            return False
        if self.label_dtype is None:
            return True
        numbers = all(isinstance(label, int | float | np.number) for label in labels)
        return numbers and _is_array(labels, self.label_dtype)


def _is_array(labels: Sequence[Value], dtype: str) -> bool:
    if not re.fullmatch(r"[<>|=]?[biuf]\d{1,2}", dtype):
        return False
    try:
        return len(np.array(labels, np.dtype(dtype))) == len(labels)
    except (TypeError, ValueError, OverflowError):
        return False


def are_same(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Compare names one by one; numbered ones are compared without being made."""
    return mine == theirs or (len(mine) == len(theirs) and tuple(mine) == tuple(theirs))


COVARIANCES = ("EmpiricalCovariance", "ShrunkCovariance", "LedoitWolf")


def portable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Turn options into what JSON has.

    Mappings become pairs, as their keys may be tuples of columns, and covariance estimators their
    name and options.
    """
    return {name: _written(value) for name, value in params.items()}


def unportable(params: Mapping[str, Any], records: tuple[type, ...]) -> dict[str, Any]:
    """Undo `portable`; ``records`` are the types of the options that are records."""
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
        case {"covariance": kind, "options": dict(options), **rest} if (
            not rest and kind in COVARIANCES
        ):
            return getattr(import_module("sklearn.covariance"), kind)(**options)
        case dict():
            raise ModelFileError(
                f"the option {name} is {shown(value)}",
                f"a mapping is written as pairs, a covariance is one of {', '.join(COVARIANCES)}",
            )
    return value


def _is_option(value: Any, records: tuple[type, ...]) -> bool:
    """Check a value of an option; whole numbers count as floats."""
    if isinstance(value, dict):
        return all(_is_option(part, records) for part in (*value, *value.values()))
    if isinstance(value, list | tuple):
        return all(_is_option(part, records) for part in value)
    if isinstance(value, int):
        return abs(value) <= LARGEST_WHOLE_NUMBER
    return value is None or isinstance(value, (*KINDS, np.ndarray, *records))


def _is_pair(pair: Any) -> bool:
    """Check that an element is a pair whose first is a label or a tuple of columns."""
    if not (isinstance(pair, list) and len(pair) == 2):
        return False
    return isinstance(pair[0], KINDS) or fits(tuple[str, ...], pair[0])


def is_covariance(estimator: Any) -> bool:
    kind = type(estimator)
    return kind.__module__.startswith("sklearn.covariance.") and kind.__name__ in COVARIANCES
