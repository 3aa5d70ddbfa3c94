"""Options: the values that they may have, and the check of them.

The annotation of an option says what it may be: words (a ``Literal``), True or False, None, and
numbers where a range is given::

    estimation: Estimation = "bayes"
    ddof: Annotated[int, NONNEGATIVE] = 0
    b0: Annotated[float | None, POSITIVE] = None
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from numbers import Real
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin, get_type_hints

import numpy as np

from suffice.errors import ParameterError
from suffice.rules import NONNEGATIVE, Within

Estimation = Literal["mle", "map", "bayes"]
Identifiers = Literal["ignore", "keep"]
Numbers = Literal["density", "gaussian"]  # families of numbers
Unseen = Literal["ignore", "error", "smooth"]
VarianceFloor = Annotated[float | Literal["loo"], NONNEGATIVE]
"""A fraction of a variance, or chosen from the sums."""
Alpha = float | tuple[float, ...]  # one pseudo-count for all, or one for each event
Evidence = Literal["evidence"]  # chosen for each column, or for a text
Smoothing = Alpha | Evidence


class Allowed(NamedTuple):
    """What an option may be: one of some words or constants, or a number of a range."""

    option: str
    default: Any
    words: tuple[Any, ...]
    numbers: Within | None

    @property
    def rule(self) -> str:
        """The rule in words."""
        listed = ", ".join(map(repr, self.words))
        if self.numbers is None:
            return f"{self.option} is one of {listed}"
        return f"{self.option} is a number, {self.numbers.words({})}" + f"; or {listed}" * bool(
            self.words
        )


def check_options(options: Any) -> None:
    """Refuse the first option of a dataclass that is none of the values that it may have."""
    kind: Any = type(options)
    for allowed in _allowed(kind):
        given = value = getattr(options, allowed.option)
        if given is allowed.default:
            continue
        if isinstance(given, np.generic):
            value = given.item()
        if any(isinstance(value, type(word)) and value == word for word in allowed.words):
            continue
        numbers, is_number = allowed.numbers, isinstance(value, Real)
        if numbers and is_number and numbers.least <= value <= numbers.most:
            continue
        raise ParameterError(f"{allowed.option}={given!r}", allowed.rule)


@cache
def _allowed(kind: Any) -> tuple[Allowed, ...]:
    """Read the annotations of a dataclass; what they do not limit is not among the result."""
    hints, found = get_type_hints(kind, include_extras=True), []
    for option in fields(kind):
        hint = hints[option.name]
        plain, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        numbers = next((extra for extra in extras if isinstance(extra, Within)), None)
        members = get_args(plain) if get_origin(plain) in (Union, UnionType) else (plain,)
        words = [_words(member) for member in members]
        if numbers is not None or None not in words:
            known = tuple(word for some in words for word in some or ())
            found.append(Allowed(option.name, option.default, known, numbers))
    return tuple(found)


def _words(hint: Any) -> tuple[Any, ...] | None:
    """Return the values of an annotation that has few; else None."""
    if hint is bool:
        return (True, False)
    return get_args(hint) if get_origin(hint) is Literal else (None,) if hint is NoneType else None


def check_boolean(**options: Any) -> None:
    """Check that options are True or False; a word such as "no" would count as True."""
    for name, value in options.items():
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name}={value!r}", "it is True or False")


def check_alpha(estimation: str, alpha: Alpha) -> None:
    """Check pseudo-counts, which ``map`` takes from 1 on."""
    values = alpha if isinstance(alpha, tuple) else (alpha,)
    for value in values:
        if not (isinstance(value, Real) and NONNEGATIVE.least <= value <= NONNEGATIVE.most):
            raise ParameterError(f"alpha={alpha!r}", "alpha is a finite number, 0 or more")
    if estimation == "map" and min(values) < 1:
        raise ParameterError(
            f"alpha={alpha!r} with estimation='map'",
            "the posterior has a mode for alpha >= 1 only",
            "use estimation='bayes', whose posterior mean exists for every alpha",
        )


def check_smoothing(estimation: str, alpha: Smoothing) -> None:
    """Check pseudo-counts that may be chosen by the evidence."""
    if not isinstance(alpha, str):
        check_alpha(estimation, alpha)
        return
    if alpha not in get_args(Evidence):
        raise ParameterError(
            f"alpha={alpha!r}", "alpha is a finite number, 0 or more, or 'evidence'"
        )
    if estimation != "bayes":
        raise ParameterError(
            f"alpha={alpha!r} with estimation={estimation!r}",
            "the evidence is that of a prior under which the estimate is the posterior mean",
            "use estimation='bayes', or a number",
        )
