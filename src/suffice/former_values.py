"""Words that fields of records had before others: files have them still."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

__all__ = ["current_values"]


CURRENT_WORDS = 2  # the first format of files that have the words of now


def current_values(cls: Any, values: Mapping[str, Any], version: int) -> dict[str, Any]:
    """Values of fields in a file of some format, by the words that they have now.

    A field tells them by ``metadata={"former_values": {former: current}}``.

    Examples
    --------
    >>> from suffice.families import MultivariateGaussian
    >>> current_values(MultivariateGaussian, {"precision": "exact"}, version=1)
    {'precision': 'pairs'}
    >>> current_values(MultivariateGaussian, {"precision": "exact"}, version=2)
    {'precision': 'exact'}
    """
    if version >= CURRENT_WORDS:
        return dict(values)
    former = _former_values(cls)
    return {
        name: former[name].get(value, value) if name in former and type(value) is str else value
        for name, value in values.items()
    }


@cache
def _former_values(cls: Any) -> dict[str, Mapping[str, str]]:
    """The former words of a field, and those of now."""
    known = fields(cls) if is_dataclass(cls) else ()
    return {f.name: f.metadata["former_values"] for f in known if "former_values" in f.metadata}
