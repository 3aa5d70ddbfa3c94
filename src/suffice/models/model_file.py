"""What a model file may hold: the allow-list of types, and options in a writable form."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.data.csv_format import CsvFormat
from suffice.data.schema import Alike, BlockLayout, Column, Layout, Numbered
from suffice.families import family_named, family_names
from suffice.models.class_cells import ClassCells
from suffice.models.design import Design
from suffice.models.generative import Part
from suffice.models.gradient_descent import GradientDescent, Walk
from suffice.models.linear_descent import Descended, Standard
from suffice.models.logistic_descent import Stride
from suffice.statistics.kinds import STATISTICS

__all__ = ["TYPES", "portable", "unportable"]

FAMILIES: tuple[type, ...] = tuple(type(family_named(name)) for name in family_names())
LAYOUT: tuple[type, ...] = (Alike, BlockLayout, Column, CsvFormat, Design, Layout, Numbered, Part)
FITTED: tuple[type, ...] = (ClassCells, Descended, GradientDescent, Standard, Stride, Walk)
TYPES: dict[str, type] = {cls.__name__: cls for cls in (*FAMILIES, *STATISTICS, *LAYOUT, *FITTED)}


def portable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Turn mappings into pairs: their keys may be tuples of columns, which JSON does not have.

    The engine is left out: where rows were summed is no part of a model.
    """
    return {
        name: {"pairs": [list(pair) for pair in value.items()]}
        if isinstance(value, Mapping)
        else value
        for name, value in params.items()
        if name != "engine"
    }


def unportable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `portable`."""
    return {
        name: dict(map(tuple, value["pairs"])) if isinstance(value, dict) else value
        for name, value in params.items()
    }
