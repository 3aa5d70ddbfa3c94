"""Options that families share: the values that they take, and checks of several at once."""

from __future__ import annotations

from numbers import Real
from typing import Annotated, Any, Literal, get_args

import numpy as np

from suffice.errors import ParameterError
from suffice.rules import NONNEGATIVE

Estimation = Literal["mle", "map", "bayes"]
Identifiers = Literal["ignore", "keep"]
Numbers = Literal["density", "gaussian"]  # families of numbers
Unseen = Literal["ignore", "error", "smooth"]
VarianceFloor = Annotated[float | Literal["loo"], NONNEGATIVE]
"""A fraction of a variance, or chosen from the sums."""
Alpha = float | tuple[float, ...]  # one pseudo-count for all, or one for each event
Evidence = Literal["evidence"]  # chosen for each column, or for a text
Smoothing = Alpha | Evidence


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
