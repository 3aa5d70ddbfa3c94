"""The help of the program as a whole and of one command: options and commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from suffice.cli.output.tables import print_all

__all__ = ["print_help", "print_overview"]

WIDEST = 31  # of what an option is called


def print_overview(command: Any, context: Any, commands: Iterable[tuple[str, str]]) -> None:
    """Print what the program is for, its options and its commands.

    Parameters
    ----------
    command : TyperGroup
    context : typer.Context
    commands : iterable of (name, what it is for)
    """
    options = [
        (", ".join(sorted(option.opts, key=_is_short)), option.help or "")
        for option in command.get_params(context)
        if not option.hidden
    ]

    print_all(
        [
            *_head(command, context),
            _panel("Options", options),
            _panel("Commands", commands),
            Padding(command.epilog, 1),
        ]
    )


def print_help(
    command: Any,
    context: Any,
    groups: Iterable[tuple[str, Sequence[Any]]],
    title: str,
    parameters: Sequence[tuple[str, str]],
) -> None:
    """Print what a command is for, and its options; Typer's own help takes four columns.

    Parameters
    ----------
    command : TyperCommand
    context : typer.Context
    groups : iterable of (title, options)
    title, parameters
        Of a model, where one is named: each with what is said of it.
    """
    arguments = [p for p in command.get_params(context) if p.param_type_name == "argument"]

    def parts() -> Iterator[RenderableType]:
        yield from _head(command, context)
        if arguments:
            yield _panel("Arguments", [_entry(argument, context) for argument in arguments])
        for name, options in groups:
            yield _panel(name, [_entry(option, context) for option in options])
        if parameters:
            yield _panel(title, parameters)
        yield Padding(command.epilog, 1)

    print_all(parts())


def _head(command: Any, context: Any) -> Iterator[RenderableType]:
    yield Padding(command.get_usage(context), 1, style="bold")
    paragraphs = (" ".join(part.split()) for part in command.help.split("\n\n"))
    yield Padding("\n\n".join(paragraphs), (0, 1, 1, 1))


def _entry(parameter: Any, context: Any) -> tuple[str, str]:
    """What a parameter is called, and what is said of it."""
    about = parameter.help or ""
    if parameter.required:
        about += " (required)"
    default = parameter._extract_default_help_str(ctx=context)
    if isinstance(parameter.show_default, str):
        about += f" (default: {parameter.show_default})"
    elif default is not None and parameter.show_default:
        shown = parameter._get_default_string(
            ctx=context, show_default_is_str=False, default_value=default
        )
        about += f" (default: {shown})" if shown else ""
    if parameter.param_type_name == "argument":
        return parameter.display_name_raw, about
    both = (parameter.opts, parameter.secondary_opts)
    spelt = (sorted(some, key=_is_short) for some in both if some)
    names = " / ".join(map(", ".join, spelt))
    return " ".join(filter(None, (names, parameter.display_type_rich(ctx=context)))), about


def _is_short(name: str) -> bool:
    return not name.startswith("--")


def _panel(title: str, entries: Iterable[tuple[str, str]]) -> Panel:
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold cyan", max_width=WIDEST, overflow="fold")
    rows.add_column()
    for name, about in entries:
        rows.add_row(name, about)
    return Panel(rows, title=title, title_align="left", border_style="dim")
