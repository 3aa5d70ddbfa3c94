"""Options that linear models share: the values they take, and those that descent does not offer."""

from __future__ import annotations

from numbers import Real
from typing import Any, Literal

import numpy as np

from suffice.errors import ParameterError
from suffice.models.gradient_descent import STEPS, GradientDescent

__all__ = [
    "Dependent",
    "Missing",
    "check_choices",
    "check_descent_options",
    "check_level",
    "generator",
]

Missing = Literal["error", "drop", "gaussian"]
Dependent = Literal["minimum_norm", "error"]


def check_choices(estimator: Any, **allowed: tuple[Any, ...]) -> None:
    """Refuse a value that is none of those of its option.

    Parameters
    ----------
    estimator : object
        Has the options as attributes.
    **allowed : tuple
        The values of each option.

    Raises
    ------
    ParameterError
        If an option has another value.
    """
    for name, values in allowed.items():
        if getattr(estimator, name) not in values:
            raise ParameterError(
                f"{name}={getattr(estimator, name)!r}",
                f"{name} is one of {', '.join(map(repr, values))}",
            )


def check_level(level: Any) -> None:
    """Refuse a confidence that is no number between 0 and 1.

    Raises
    ------
    ParameterError
        If it is not.
    """
    if not (isinstance(level, Real) and 0 < float(level) < 1):
        raise ParameterError(f"level={level!r}", "a level is a number between 0 and 1")


def generator(random_state: Any) -> np.random.Generator:
    """The generator of a seed, or the one given.

    Raises
    ------
    ParameterError
        If it is neither.
    """
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise ParameterError(
            f"random_state={random_state!r}",
            "it is a whole number, 0 or more, a numpy.random.Generator, or None",
        ) from None


def check_descent_options(estimator: Any, next_step: str, **refused: Any) -> None:
    """Refuse what is no record of a descent, and options that a descent does not offer.

    Parameters
    ----------
    estimator : object
        Has the options as attributes, ``solver`` and ``descent`` among them.
    next_step : str
        What to do instead.
    **refused : object
        The value of each option that does not go with gradient descent.

    Raises
    ------
    ParameterError
        If there is such a value.
    """
    if not isinstance(estimator.descent, GradientDescent | None):
        raise ParameterError(
            f"descent={estimator.descent!r}", "descent is a GradientDescent or None"
        )
    for name, value in refused.items() if estimator.solver in STEPS else ():
        if getattr(estimator, name) == value:
            raise ParameterError(
                f"{name}={value!r} with solver={estimator.solver!r}",
                "gradient descent does not offer it",
                next_step,
            )
