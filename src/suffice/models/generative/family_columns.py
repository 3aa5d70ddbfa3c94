"""Which columns a family models, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import starmap
from typing import Any

from suffice.data.schema import DATES, SPARSE, BlockLayout, Column, UniformColumns
from suffice.errors import ParameterError
from suffice.families import Family
from suffice.models.generative.part import FamilyColumns
from suffice.sums.bins import MomentsAndBinsAccumulator
from suffice.sums.block import Encoding

__all__ = ["FAMILY_OF_KIND", "parts_of", "whole"]

FAMILY_OF_KIND = {
    "real": "gaussian",
    "binary": "bernoulli",
    "category": "categorical",
    "text": "multinomial",
}


def parts_of(
    groups: list[tuple[tuple[str, ...], Family]], columns: Mapping[str, Column]
) -> tuple[FamilyColumns, ...]:
    """Join columns of one family and encoding; groups, joint distributions, texts stay apart."""
    blocks: dict[Any, list[str]] = {}
    for names, family in groups:
        encoding = _encoding(family, tuple(map(columns.__getitem__, names)))
        text = encoding == "events" and columns[names[0]].stored == "string"
        alone = len(names) > 1 or family.joint or text
        key = (family, repr(family), encoding, names if alone else None)
        blocks.setdefault(key, []).extend(names)
    layouts = [
        (family, BlockLayout(encoding, tuple(names), _dates(family, names, columns)))
        for (family, _, encoding, _), names in blocks.items()
    ]
    return tuple(starmap(FamilyColumns, layouts))


def whole(family: Family, columns: Sequence[Column]) -> tuple[FamilyColumns, ...]:
    """Model all columns by one family, as one block."""
    names = columns.names if isinstance(columns, UniformColumns) else tuple(c.name for c in columns)
    by_name = {} if isinstance(columns, UniformColumns) else {c.name: c for c in columns}
    dates = _dates(family, list(by_name), by_name)
    return (FamilyColumns(family, BlockLayout(_encoding(family, columns), names, dates)),)


def _dates(family: Family, names: Sequence[str], columns: Mapping[str, Column]) -> tuple[str, ...]:
    """The columns that hold dates, if their numbers are binned."""
    dates = tuple(name for name in names if columns[name].reason == DATES)
    binned = dates and isinstance(family.accumulator("real", 0), MomentsAndBinsAccumulator)
    return dates if binned else ()


def _encoding(family: Family, columns: Sequence[Column]) -> Encoding:
    """Read a text as words where the family can count events, everything else its usual way."""
    looked_at = [columns] if isinstance(columns, UniformColumns) else columns
    if family.encodings == ("count", "events") and all(
        column.reason.endswith(SPARSE) for column in looked_at
    ):
        return "events"
    if "events" in family.encodings and _are_countable(columns):
        if len(columns) > 1 and columns[0].stored == "string":
            raise ParameterError(
                f"families groups the texts {', '.join(repr(c.name) for c in columns)}",
                "a text is modelled on its own",
                "name the columns one by one",
            )
        return "events"
    return family.encodings[0]


def _are_countable(columns: Sequence[Column]) -> bool:
    """Whether columns hold words, or counts of numbered events."""
    looked_at = [columns] if isinstance(columns, UniformColumns) else columns
    return all(column.kind == "text" or column.stored == "string" for column in looked_at)
