"""Options that several commands share, and how a command takes them as one record."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

__all__ = [
    "AsJson",
    "Data",
    "Ignore",
    "ModelFile",
    "Parameters",
    "RowsAsJson",
    "Weight",
    "flag",
    "typed",
    "with_groups",
]

Data = Annotated[
    list[str],
    typer.Argument(
        metavar="DATA",
        help="Files, folders, globs or addresses: delimited text (also .gz), Parquet, Arrow, "
        "Excel, ARFF, JSON; - for standard input.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that fit wrote.", show_default=False)
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
RowsAsJson = Annotated[
    bool,
    typer.Option("--json", help="Print JSON: the rows too, unless they go to a file."),
]
Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--parameter",
        "-p",
        metavar="NAME=VALUE",
        help="A parameter of the model, as often as needed: -p alpha=0.5, "
        "-p class_weight=yes:5,no:1, -p families=age:gaussian. --model NAME --help lists them.",
    ),
]
Ignore = Annotated[
    list[str] | None,
    typer.Option(
        metavar="COL",
        help="Not looked at; a column of the model counts as missing. May be comma lists; "
        "a name with a comma stands in quotes: '\"price, net\",day'.",
    ),
]
Weight = Annotated[
    str | None, typer.Option(metavar="COL", help="The column that says how much a row weighs.")
]


def flag(name: str) -> str:
    """The flag of an option.

    Examples
    --------
    >>> flag("class_prior")
    '--class-prior'
    """
    return f"--{name.replace('_', '-')}"


def typed(options: Any) -> list[str]:
    """The words of a record of options, or a mapping by name, as the user would type them again.

    Examples
    --------
    >>> typed({"header": False, "ignore": ["id", "day"], "alpha": 0.5, "names": None})
    ['--no-header', '--ignore', 'id', '--ignore', 'day', '--alpha', '0.5']
    """
    if is_dataclass(options):
        options = {field.name: getattr(options, field.name) for field in fields(options)}
    words: list[str] = []
    for name, value in options.items():
        if isinstance(value, bool):
            words.append(flag(name) if value else flag(f"no_{name}"))
        elif isinstance(value, list | tuple):
            words += [word for one in value for word in (flag(name), str(one))]
        elif value is not None:
            words += [flag(name), str(value)]
    return words


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Let every field of a record among the parameters of a command be an option of its own.

    Parameters
    ----------
    command : callable
        Takes records such as `Running` beside ordinary parameters.

    Returns
    -------
    callable
        The same command with the options spread out, as Typer wants them.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}
    spread = [
        option
        for given in signature(command).parameters.values()
        for option in _spread(given, hints[given.name])
    ]

    @functools.wraps(command)
    def flat(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{f.name: given.pop(f.name) for f in fields(group)})
        command(**given)

    flat.__signature__ = Signature(spread)  # type: ignore[attr-defined]
    flat.__annotations__ = {option.name: option.annotation for option in spread}
    return flat


def _spread(given: Parameter, hint: Any) -> list[Parameter]:
    if not is_dataclass(hint):
        return [given.replace(kind=Parameter.KEYWORD_ONLY, annotation=hint)]
    hints = get_type_hints(hint, include_extras=True)
    return [
        Parameter(f.name, Parameter.KEYWORD_ONLY, default=f.default, annotation=hints[f.name])
        for f in fields(hint)
    ]
