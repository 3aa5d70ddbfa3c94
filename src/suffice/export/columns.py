"""Columns whose cells are compared with values, and labels that a target can write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.errors import ParameterError
from suffice.export.expressions import Column, ColumnKind

__all__ = ["check_labels", "value_column"]

KINDS: dict[frozenset[type], ColumnKind] = {
    frozenset(): "string",
    frozenset({str}): "string",
    frozenset({bool}): "boolean",
    frozenset({int}): "integer",
}


def value_column(name: str, values: Sequence[Any]) -> Column:
    """The column whose cells are compared with these values.

    Raises
    ------
    ParameterError
        If they are not all strings, whole numbers or booleans.

    Examples
    --------
    >>> value_column("job", ("clerk", "nurse"))
    Column(name='job', kind='string')
    """
    types = frozenset(map(type, values))
    if types in KINDS and all(abs(v) <= 2**53 for v in values if type(v) is int):
        return Column(name, KINDS[types])
    other = [v for v in values if type(v) not in (str, bool)]
    example = next((v for v in other if type(v) is not int or abs(v) > 2**53), other[0])
    raise ParameterError(
        f"column {name!r} has the value {example!r}",
        "an export compares strings, booleans, or whole numbers up to 2**53, one type in a column",
        "turn the values into strings before the fit",
    )


def check_labels(labels: Sequence[Any]) -> None:
    """Check that labels can be written.

    Raises
    ------
    ParameterError
        If one is no string, number or boolean.
    """
    for label in labels:
        if type(label) not in (str, int, bool, float):
            raise ParameterError(
                f"the label {label!r} is of the type {type(label).__name__}",
                "an export writes labels that are strings, numbers or booleans",
                "turn the labels into strings before the fit",
            )
