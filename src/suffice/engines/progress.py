"""How far a pass over the rows is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Progress", "Report"]


@dataclass(frozen=True)
class Progress:
    """How far a pass over the rows is.

    Parameters
    ----------
    rows, bytes : int
        Done so far, as far as splits know their size; bytes as the rows are stored.
    total_rows, total_bytes : int, optional
        Of all of them; None where that is not known.
    fraction : float
        Of the pass that is done, from 0 to 1.
    seconds_left : float, optional
        If it goes on like this; None at the beginning.
    number : int
        Of the pass, from 1: a fit may need several.
    unit : str
        What is counted as rows.

    Examples
    --------
    >>> Progress(50, 400, 100, 800, 0.5, 2.0).fraction
    0.5
    """

    rows: int
    bytes: int
    total_rows: int | None
    total_bytes: int | None
    fraction: float
    seconds_left: float | None
    number: int = 1
    unit: str = "rows"


Report = Callable[[Progress], object]
"""A function that is called with the progress of a pass."""
