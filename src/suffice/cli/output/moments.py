"""Parameters of dates, which are counted in seconds, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

__all__ = ["in_days", "moment"]

DAY = 86_400
SPREADS = ("sd", "scale")
BEFORE_CUTS = ("<", ">=")


def moment(seconds: float) -> str:
    """The point in time so many seconds after the start of 1970, to the minute.

    Examples
    --------
    >>> moment(1_706_700_600.0), moment(1e15)
    ('2024-01-31 11:30', '1e+15 s after 1970')
    """
    try:
        found = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return f"{seconds:.4g} s after 1970"
    return found.isoformat(" ", "minutes")


def in_days(parameters: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Means and bins as dates, and what surrounds means in days.

    Examples
    --------
    >>> in_days({"mean": [86_400.0], "sd": [43_200.0]})
    {'mean': ['1970-01-02 00:00'], 'sd': ['0.5 days']}
    >>> in_days({"< 86400": [0.25], ">= 86400": [0.75]})
    {'< 1970-01-02 00:00': [0.25], '>= 1970-01-02 00:00': [0.75]}
    """
    return {
        _bin(name): [moment(v) for v in values]
        if name == "mean"
        else [f"{v / DAY:.4g} days" for v in values]
        if name in SPREADS
        else list(values)
        for name, values in parameters.items()
    }


def _bin(name: str) -> str:
    """The name of a bin, its cut as a date."""
    sign, _, cut = name.partition(" ")
    return f"{sign} {moment(float(cut))}" if sign in BEFORE_CUTS else name
