"""Options that families share: the values that they take, and the checks of these.

Every check takes options by name, and raises a `ParameterError` that names the one at fault.
"""

from __future__ import annotations

from numbers import Real
from sys import float_info
from typing import Any, Literal, get_args

import numpy as np

from suffice.errors import ParameterError

Estimation = Literal["mle", "map", "bayes"]
Identifiers = Literal["ignore", "keep"]
Numbers = Literal["density", "gaussian"]  # families of numbers
Unseen = Literal["ignore", "error", "smooth"]
VarianceFloor = float | Literal["loo"]  # a fraction of a variance, or chosen from the sums
Alpha = float | tuple[float, ...]  # one pseudo-count for all, or one for each event
Evidence = Literal["evidence"]  # chosen for each column, or for a text
Smoothing = Alpha | Evidence

WORDS = {
    "estimation": (get_args(Estimation), "estimation is one of 'mle', 'map', 'bayes'"),
    "identifiers": (get_args(Identifiers), "it is 'ignore' or 'keep'"),
    "numbers": (get_args(Numbers), f"it is {', '.join(map(repr, get_args(Numbers)))}"),
    "unseen": (get_args(Unseen), "it is 'ignore', 'error' or 'smooth'"),
}
"""Options that are words: those that there are, and the rule."""


def check_words(**options: Any) -> None:
    """Check options that are words, as several families have them."""
    for name, value in options.items():
        words, rule = WORDS[name]
        if value not in words:
            raise ParameterError(f"{name}={value!r}", rule)


def check_boolean(**options: Any) -> None:
    """Check that options are True or False; a word such as "no" would count as True."""
    for name, value in options.items():
        if not isinstance(value, bool | np.bool_):
            raise ParameterError(f"{name}={value!r}", "it is True or False")


def check_estimation(estimation: str, alpha: Alpha) -> None:
    """Check the two options that every family with counts has."""
    check_words(estimation=estimation)
    values = alpha if isinstance(alpha, tuple) else (alpha,)
    for value in values:
        if not (is_finite(value) and value >= 0):
            raise ParameterError(f"alpha={alpha!r}", "alpha is a finite number, 0 or more")
    if estimation == "map" and min(values) < 1:
        raise ParameterError(
            f"alpha={alpha!r} with estimation='map'",
            "the posterior has a mode for alpha >= 1 only",
            "use estimation='bayes', whose posterior mean exists for every alpha",
        )


def check_smoothing(estimation: str, alpha: Smoothing) -> None:
    """Check the options of a family of counts that can choose α."""
    if not isinstance(alpha, str):
        check_estimation(estimation, alpha)
        return
    check_words(estimation=estimation)
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


def check_positive(**options: float | None) -> None:
    """Check that options are positive finite numbers, or None where they may be left out."""
    for name, value in options.items():
        if value is not None and not (is_finite(value) and value > 0):
            raise ParameterError(f"{name}={value!r}", f"{name} is a positive finite number")


def check_nonnegative(**options: float) -> None:
    for name, value in options.items():
        if not (is_finite(value) and value >= 0):
            raise ParameterError(f"{name}={value!r}", f"{name} is a finite number, 0 or more")


def check_variance_floor(**options: VarianceFloor) -> None:
    """Check that options are fractions of a variance, or ``"loo"``."""
    for name, value in options.items():
        if not isinstance(value, str):
            check_nonnegative(**{name: value})
        elif value != "loo":
            rule = f"{name} is a finite number, 0 or more, or 'loo'"
            raise ParameterError(f"{name}={value!r}", rule)


def is_finite(value: Any) -> bool:
    """Return whether a value is a number that a double can hold."""
    real = isinstance(value, Real)
    return real and bool(abs(value) <= float_info.max)
