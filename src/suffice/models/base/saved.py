"""What the file of every model holds, entry by entry, and what holds among the entries.

A file has these records as dictionaries, in the order of their fields.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, fields
from typing import Any, Self

import numpy as np

from suffice.data.csv.format import CsvFormat
from suffice.data.schema import BlockLayout, Column, Layout, Numbered, UniformColumns
from suffice.data.text.format import TextFormat
from suffice.errors import ParameterError
from suffice.rules import build, rule, shown
from suffice.sums.vocabulary import Value, Vocabulary
from suffice.tree import named

__all__ = ["LAYOUT", "Saved", "SavedClassifier", "are_same"]

LAYOUT = named(BlockLayout, Column, CsvFormat, TextFormat, Layout, Numbered, Alike=UniformColumns)
"""The types that say how a table is read."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Saved:
    """What the file of every model holds.

    Parameters
    ----------
    params : dict
        Options of the estimator, as `suffice.models.base.saved_options.portable` writes them.
    layout : Layout
        How a table is read.
    format : CsvFormat, optional
        How the first table was written, if it was text.
    named : bool
        Whether its columns were called by strings.
    single_precision : bool
        Whether it was an array of single precision.
    """

    params: dict[str, Any]
    layout: Layout
    format: CsvFormat | TextFormat | None
    named: bool
    single_precision: bool = False

    @classmethod
    def of(cls, content: Any) -> Self:
        """Read the entries of a file; an entry that is left out has its default.

        Raises
        ------
        KeyError
            If an entry is missing.
        ParameterError
            If an entry is unknown, or something breaks a rule.
        """
        if not isinstance(content, dict):
            raise ParameterError(f"there is {shown(content)}", "a model file holds entries")
        found = {f.name: content.get(f.name, f.default) for f in fields(cls)}
        missing = [name for name, value in found.items() if value is MISSING]
        if missing:
            raise KeyError(missing[0])
        return build(cls, found | content)


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedClassifier(Saved):
    """What the file of every classifier holds besides.

    Parameters
    ----------
    label_dtype : str, optional
        What labels are stored as, if they are numbers in arrays.
    """

    label_dtype: str | None = None

    @property
    def dtype(self) -> np.dtype[Any] | None:
        """What labels are stored as."""
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
    """Whether numbers can be stored in a dtype of numbers."""
    if not re.fullmatch(r"[<>|=]?[biuf]\d{1,2}", dtype):
        return False
    try:
        return len(np.array(labels, np.dtype(dtype))) == len(labels)
    except (TypeError, ValueError, OverflowError):
        return False


def are_same(mine: Sequence[str], theirs: Sequence[str]) -> bool:
    """Whether names are the same, one by one; numbered ones are compared without being made."""
    return mine == theirs or (len(mine) == len(theirs) and tuple(mine) == tuple(theirs))
