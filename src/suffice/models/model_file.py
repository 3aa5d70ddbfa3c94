"""What a model file may hold: the allow-list of types, and options in a writable form."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from suffice.data.csv_format import CsvFormat
from suffice.data.schema import Alike, BlockLayout, Column, Layout, Numbered
from suffice.errors import ModelFileError
from suffice.families import family_named, family_names
from suffice.models.class_cells import ClassCells
from suffice.models.design import Design
from suffice.models.generative import Part
from suffice.models.gradient_descent import GradientDescent, Walk
from suffice.models.linear_descent import Descended, Standard
from suffice.models.logistic_descent import Stride
from suffice.statistics.kinds import STATISTICS

__all__ = ["COVARIANCES", "TYPES", "is_covariance", "portable", "unportable"]

COVARIANCES = ("EmpiricalCovariance", "ShrunkCovariance", "LedoitWolf", "OAS")
FAMILIES: tuple[type, ...] = tuple(type(family_named(name)) for name in family_names())
LAYOUT: tuple[type, ...] = (Alike, BlockLayout, Column, CsvFormat, Design, Layout, Numbered, Part)
FITTED: tuple[type, ...] = (ClassCells, Descended, GradientDescent, Standard, Stride, Walk)
TYPES: dict[str, type] = {cls.__name__: cls for cls in (*FAMILIES, *STATISTICS, *LAYOUT, *FITTED)}


def portable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Turn options into what JSON has.

    Mappings become pairs, as their keys may be tuples of columns, and covariance estimators their
    name and options. The engine is left out: where rows were summed is no part of a model.
    """
    return {name: _written(value) for name, value in params.items() if name != "engine"}


def unportable(params: Mapping[str, Any]) -> dict[str, Any]:
    """Undo `portable`."""
    return {name: _read(value) for name, value in params.items()}


def _written(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {"pairs": [list(pair) for pair in value.items()]}
    if is_covariance(value):
        return {"covariance": type(value).__name__, "options": value.get_params()}
    return value


def _read(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    if "pairs" in value:
        return dict(map(tuple, value["pairs"]))
    if value["covariance"] not in COVARIANCES:
        raise ModelFileError(
            f"the option covariance_estimator is {value['covariance']!r}",
            f"known here: {', '.join(COVARIANCES)}",
        )
    return getattr(import_module("sklearn.covariance"), value["covariance"])(**value["options"])


def is_covariance(estimator: Any) -> bool:
    """Whether an object is one of the estimators of `sklearn.covariance` that are understood."""
    kind = type(estimator)
    return kind.__module__.startswith("sklearn.covariance.") and kind.__name__ in COVARIANCES
