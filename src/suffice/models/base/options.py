"""Options that linear models share: the values they take, and those that descent does not offer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from numbers import Real
from typing import Any, Literal, get_args

import numpy as np

from suffice.errors import DataError, ParameterError
from suffice.families.options import check_boolean
from suffice.numerics.in_print import NAMED

Incomplete = Literal["error", "drop", "gaussian"]
WeightsAre = Literal["copies", "precisions"]
"""What weights of rows are: so many copies, or inverse variances up to a factor."""

Dependent = Literal["minimum_norm", "error"]
Unanswerable = Literal["error", "empty"]
Unseen = Literal["error", "reference"]
"""What becomes of a category at prediction that no row of the fit showed."""


def answering(model: Any, unseen: Unseen) -> Any:
    """Return a model of terms, which answers unseen categories as an option says."""
    return model if model.unseen == unseen else replace(model, unseen=unseen)


def check_unanswerable(given: str, **asked: bool) -> None:
    """Refuse a word that does not say what becomes of rows without an answer."""
    check_boolean(**asked)
    if given not in get_args(Unanswerable):
        raise ParameterError(
            f"unanswerable={given!r}",  # the command line has no such option
            "unanswerable is one of 'error', 'empty'",
        )


def check_level(level: Any) -> None:
    """Refuse a confidence that is no number between 0 and 1."""
    if not (isinstance(level, Real) and 0 < float(level) < 1):
        raise ParameterError(f"level={level!r}", "a level is a number between 0 and 1")


def framed(found: Any, as_frame: bool) -> Any:
    """A summary, or its frame if that is asked for."""
    check_boolean(as_frame=as_frame)
    return found.frame() if as_frame else found


def generator(random_state: Any) -> np.random.Generator:
    """The generator of a seed, or the one given."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r}",
            "it is a whole number, 0 or more, a numpy.random.Generator, or None",
        ) from None


def listed_missing(counts: Mapping[str, str]) -> str:
    """Say which columns lack how many cells; nothing where all are there.

    Examples
    --------
    >>> listed_missing({"age": "2", "size": "1"})
    "2 of column 'age', 1 of column 'size'"
    """
    first = [f"{n} of column {name!r}" for name, n in list(counts.items())[:NAMED]]
    more = f" and some of {len(counts) - NAMED} more" if len(counts) > NAMED else ""
    return ", ".join(first) + more


def incomplete(counts: str, otherwise: str) -> DataError:
    """The error of missing cells, which `listed_missing` counts; ``otherwise`` keeps their rows."""
    return DataError(
        f"cells are missing (NaN or null): {counts}",
        "every row needs all its cells",
        f"use incomplete='drop' to learn from complete rows only, or {otherwise}",
    )
