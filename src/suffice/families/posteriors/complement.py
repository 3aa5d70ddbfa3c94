"""Complement naive Bayes has no posterior: it gives scores, not probabilities of rows."""

from __future__ import annotations

from typing import Any, NoReturn

from suffice.errors import ParameterError
from suffice.families.complement import Complement

__all__ = ["posterior"]


def posterior(family: Complement, statistic: Any) -> NoReturn:
    """Refuse.

    Raises
    ------
    ParameterError
        Always.
    """
    raise ParameterError(
        f"{family} gives scores",
        "an interval needs the posterior of a distribution",
        "use the multinomial family",
    )
