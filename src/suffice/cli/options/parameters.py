"""Parameters of estimators as the command line spells them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from suffice.errors import ParameterError

__all__ = ["Parameter", "number_or", "one_of"]

Parse = Callable[[Any], Any]
"""The value of a parameter from that of an option."""


def _as_given(value: Any) -> Any:
    """The value of an option as it was given."""
    return value


@dataclass(frozen=True)
class Parameter:
    """The parameter of an estimator that an option stands for.

    Parameters
    ----------
    name : str
        Of the parameter.
    parse : callable, optional
        Its value from that of the option.
    words : mapping of str to object
        The values that are written as words.
    """

    name: str
    parse: Parse = _as_given
    words: Mapping[str, Any] = field(default_factory=dict)


def one_of(name: str, option: str, *words: str, none: bool = False) -> Parameter:
    """A parameter that is one of some words; ``none`` may stand for None."""
    values: dict[str, str | None] = {word: word for word in words}
    if none:
        values["none"] = None

    def parse(given: str) -> str | None:
        if given not in values:
            raise ParameterError(
                f"--{option} {given!r}", f"it is one of {', '.join(map(repr, values))}"
            )
        return values[given]

    return Parameter(name, parse, values)


def number_or(name: str, option: str, *words: str, most: float = math.inf) -> Parameter:
    """A parameter that is a number from 0 to ``most``, or one of some words."""
    range_ = "0 or more" if math.isinf(most) else f"from 0 to {most:g}"

    def parse(given: str) -> float | str:
        if given in words:
            return given
        try:
            value = float(given)
        except ValueError:
            value = math.nan
        if not (0 <= value <= most and math.isfinite(value)):
            others = f", or {' or '.join(words)}" if words else ""
            raise ParameterError(f"--{option} {given}", f"it is a number, {range_}{others}")
        return value

    return Parameter(name, parse, {word: word for word in words})
