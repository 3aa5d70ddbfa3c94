"""Streams: what is left of the batches learnt so far when one more arrives."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from numbers import Integral, Real
from typing import TypeVar

from suffice.errors import ForgetError, ParameterError
from suffice.sums.base import FadingStatistic, tree_sum

__all__ = ["check_stream", "forgettable", "side_by_side", "succeeded"]

S = TypeVar("S", bound=FadingStatistic)


def check_stream(decay: float, window: int | None) -> None:
    """Check the options of a stream.

    Raises
    ------
    ParameterError
        If the decay is not above 0 and at most 1, or the window is not a number of batches.
    """
    if isinstance(decay, bool) or not (isinstance(decay, Real) and 0 < decay <= 1):
        raise ParameterError(f"decay={decay!r}", "decay is a number above 0, and 1 at most")
    if window is None:
        return
    if isinstance(window, bool) or not (isinstance(window, Integral) and window >= 1):
        raise ParameterError(
            f"window={window!r}",
            "a window is a number of batches, 1 or more, or None to keep all",
        )


def succeeded(batches: Sequence[S], newest: S, decay: float, window: int | None) -> tuple[S, ...]:
    """Return the statistics that count after one more batch, the oldest first.

    ::

        γS₁ + S₂            without a window, one statistic
        γS₂, γS₃, …, Sₘ₊₁   with a window of m batches

    Parameters
    ----------
    batches : sequence of S
        S, those that counted before.
    newest : S
        The batch that arrives.
    decay : float
        γ, from 0 to 1.
    window : int, optional
        m.
    """
    kept = batches if window is None else batches[max(0, len(batches) - window + 1) :]
    faded = [batch.scaled(decay) if decay < 1 else batch for batch in kept]
    return (tree_sum([*faded, newest]),) if window is None else (*faded, newest)


def side_by_side(mine: Sequence[S], theirs: Sequence[S]) -> tuple[S, ...]:
    """Add two streams batch by batch, the newest to the newest."""
    pairs = zip_longest(reversed(mine), reversed(theirs))
    added = [tree_sum(batch for batch in pair if batch is not None) for pair in pairs]
    return tuple(reversed(added))


def forgettable(batches: Sequence[S]) -> S:
    """Return the statistic that rows can be taken away from.

    Raises
    ------
    ForgetError
        If it is kept in parts: nobody knows in which of them the rows are.
    """
    if len(batches) > 1:
        raise ForgetError(
            f"the model holds a window of {len(batches)} batches",
            "rows leave a window with their batch",
            "learn the batches again, without the rows",
        )
    return batches[0]
