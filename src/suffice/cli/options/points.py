"""Several models and values of their options: what ``suffice cv`` compares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, get_args, get_type_hints

from suffice.cli.options.estimators import Options, given_of
from suffice.cli.options.recipes import MODELS, OF_FAMILIES
from suffice.cli.options.roles import Roles
from suffice.cli.options.shared import flag
from suffice.errors import ParameterError

__all__ = ["own_roles", "points_of"]


def points_of(
    models: Sequence[str], options: Options, grid: Sequence[str]
) -> Iterator[tuple[str, str, Options]]:
    """Yield every model with every value of those options of the grid that it has.

    Parameters
    ----------
    models : sequence of str
        Of `MODELS`.
    options : Options
        What all have.
    grid : sequence of str
        Such as ``alpha=0.1,1,10``.

    Yields
    ------
    name : str
        The model and its point of the grid; the point alone where there is one model.
    model : str
    options : Options

    Raises
    ------
    ParameterError
        If a line of the grid is not written like this, or no model has the option.

    Examples
    --------
    >>> [name for name, *_ in points_of(["naive-bayes", "lda"], Options(), ["alpha=0.1,1"])]
    ['naive-bayes alpha=0.1', 'naive-bayes alpha=1', 'lda']
    """
    axes = [_axis(line) for line in grid]
    for option, _ in axes:
        if not any(option in MODELS[model].parameters for model in models):
            owners = [name for name, recipe in MODELS.items() if option in recipe.parameters]
            raise ParameterError(
                f"--grid names {option!r}, which no model here has",
                f"it belongs to --model {', '.join(owners)}",
                "add one of these, or leave it out",
            )
    for model in models:
        mine = [
            (option, own)
            for option, values in axes
            if option in MODELS[model].parameters
            and (own := _of_model(model, models, option, values))
        ]
        for values in product(*(values for _, values in mine)):
            point = {option: value for (option, _), value in zip(mine, values, strict=True)}
            said = [f"{option}={value}" for option, value in point.items()]
            name = " ".join(said if said and len(models) == 1 else [model, *said])
            given = {option: _typed(option, value) for option, value in point.items()}
            yield name, model, replace(_own(model, models, options), **given)


def _own(model: str, models: Sequence[str], options: Options) -> Options:
    """The options without those that only others of the models have, or have with this value.

    Examples
    --------
    >>> _own("logistic", ["naive-bayes", "logistic"], Options(numbers="gaussian")).numbers
    >>> _own("logistic", ["naive-bayes", "logistic"], Options(numbers="bins")).numbers
    'bins'
    """
    foreign = [
        option
        for option, value in given_of(options).items()
        if not _knows(model, option, value)
        and any(_knows(other, option, value) for other in models)
    ]
    return replace(options, **dict.fromkeys(foreign))


def _of_model(model: str, models: Sequence[str], option: str, values: Sequence[str]) -> list[str]:
    """The values of an option without those that only others of the models know."""
    return [
        value
        for value in values
        if _knows(model, option, value) or not any(_knows(m, option, value) for m in models)
    ]


def _knows(model: str, option: str, value: Any) -> bool:
    """Whether a model has an option, and the option such a value."""
    parameter = MODELS[model].parameters.get(option)
    try:
        if parameter is not None:
            parameter.parse(value)
    except ParameterError:
        return False
    return parameter is not None


def own_roles(model: str, models: Sequence[str], roles: Roles) -> Roles:
    """What columns are, without what only others of the models can be told."""
    foreign = [
        option
        for option in given_of(roles)
        if option != "ignore"
        and not _takes(model, option)
        and any(_takes(m, option) for m in models)
    ]
    return replace(roles, **dict.fromkeys(foreign))


def _takes(model: str, role: str) -> bool:
    return model in OF_FAMILIES or role in MODELS[model].roles


def _axis(line: str) -> tuple[str, list[str]]:
    """An option and its values."""
    option, sign, values = line.partition("=")
    option = option.strip().removeprefix("--").replace("-", "_")
    known = [name for name in get_type_hints(Options) if name != "threads"]
    if not (sign and values.strip()):
        raise ParameterError(
            f"--grid {line!r}", "it is an option, =, and its values", "write --grid alpha=0.1,1,10"
        )
    if option not in known:
        raise ParameterError(
            f"--grid names {option!r}, which is no option of a model",
            f"the options are {', '.join(flag(name)[2:] for name in known)}",
        )
    return option, [value.strip() for value in values.split(",")]


def _typed(option: str, value: str) -> Any:
    """A value as the option takes it."""
    kind = get_args(get_type_hints(Options)[option])[0]
    if kind is bool:
        words = {"true": True, "yes": True, "false": None, "no": None}
        if value.lower() not in words:
            raise ParameterError(f"--grid {option}={value}", "it is true or false")
        return words[value.lower()]
    try:
        return kind(value)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise ParameterError(f"--grid {option}={value}", f"it is {what}") from None
