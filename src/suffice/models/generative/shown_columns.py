"""What the columns of a fitted model are, and why, where all rows that it has learnt decide it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.data.schema import KIND_OF, UNDECIDED, Column, Kind, UniformColumns
from suffice.families.kinds.rule import why
from suffice.families.whole_numbers import WholeNumbers
from suffice.models.generative.part import FamilyColumns
from suffice.statistics.by_class import ByClass
from suffice.statistics.whole_values import counts_of, whole_values

__all__ = ["by_kind", "shown_columns"]


def shown_columns(
    columns: Sequence[Column], parts: Sequence[FamilyColumns], sums: ByClass
) -> Sequence[Column]:
    """The same columns; those of whole numbers have the kind that their sums show.

    Where a family is named for them, it is the kind that this one reads.
    """
    if isinstance(columns, UniformColumns):
        return columns
    read = {name: KIND_OF[p.layout.encoding] for p in parts for name in p.layout.columns}
    named = {c.name: (read.get(c.name, c.kind), c.reason) for c in columns if c.kind == "integer"}
    shown = named | dict(_shown(parts, sums))
    return tuple(
        replace(column, kind=shown[column.name][0], reason=shown[column.name][1])
        if column.name in shown
        else column
        for column in columns
    )


def _shown(parts: Sequence[FamilyColumns], sums: ByClass) -> Iterator[tuple[str, tuple[Kind, str]]]:
    """Names, kinds and reasons of the columns of whole numbers."""
    for part, block in zip(parts, sums.blocks, strict=False):  # pairs may be the last
        if not isinstance(part.family, WholeNumbers):
            continue
        for name, found in zip(part.layout.columns, whole_values(block.bins), strict=True):
            is_category, reason = why(found)
            empty = found is not None and not len(found.values)
            yield name, UNDECIDED if empty else ("category" if is_category else "real", reason)


def by_kind(
    parts: Sequence[FamilyColumns], a: ByClass, b: ByClass
) -> tuple[ByClass, ByClass, list[tuple[str, ...]]]:
    """The sums of two tables, with categories and numbers apart, and the names of the columns.

    Whole numbers are categories if the rows of both tables show them to be.
    """
    mine: list[Any] = []
    theirs: list[Any] = []
    names: list[tuple[str, ...]] = []
    for part, *pair in zip(parts, a.blocks, b.blocks, strict=True):
        columns, listed = np.array(part.layout.columns, object), np.zeros(0, np.intp)
        if isinstance(part.family, WholeNumbers):
            listed = part.family.categories(pair[0].one_class + pair[1].one_class)
        numbers = np.setdiff1d(np.arange(len(columns)), listed)
        for side, block in zip((mine, theirs), pair, strict=True):
            side += [counts_of(block.bins, listed)] if len(listed) else []
            if len(numbers):
                side += [block.columns(numbers) if len(listed) else block]
        names += [tuple(columns[some]) for some in (listed, numbers) if len(some)]
    return replace(a, blocks=tuple(mine)), replace(b, blocks=tuple(theirs)), names
