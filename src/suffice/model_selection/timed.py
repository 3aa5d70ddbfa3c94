"""How long a fit takes, and what becomes of one that fails."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any

from suffice.errors import DataError, ParameterError, warn

__all__ = ["timed"]


def timed(fit: Callable[[], Any], error_score: Any, share: float) -> tuple[Any, float]:
    """A model, or the error of its fit, and the seconds that it took beside its share of a pass.

    Raises
    ------
    SufficeError
        If a fit fails and is to raise.
    """
    started = perf_counter()
    try:
        model: Any = fit()
    except (DataError, ParameterError) as error:
        if error_score == "raise":
            raise
        warn(f"a fold was not fitted, and its score is {error_score}: {error}")
        model = error
    return model, share + perf_counter() - started
