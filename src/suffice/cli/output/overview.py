"""The help of the program as a whole: its options and its commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rich.console import RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table

from suffice.cli.output.tables import print_all

__all__ = ["print_overview"]


def print_overview(command: Any, context: Any, commands: Iterable[tuple[str, str]]) -> None:
    """Print what the program is for, its options and its commands.

    The help of one command is drawn by Typer, which loads a reader of Markdown for it.

    Parameters
    ----------
    command : TyperGroup
    context : typer.Context
    commands : iterable of (name, what it is for)
    """
    options = [
        (",".join(option.opts), option.help or "")
        for option in command.get_params(context)
        if not option.hidden
    ]

    def parts() -> Iterator[RenderableType]:
        yield Padding(command.get_usage(context), 1, style="bold")
        yield Padding(command.help, (0, 1, 1, 1))
        yield _panel("Options", options)
        yield _panel("Commands", commands)
        yield Padding(command.epilog, 1)

    print_all(parts())


def _panel(title: str, entries: Iterable[tuple[str, str]]) -> Panel:
    rows = Table.grid(padding=(0, 2))
    rows.add_column(style="bold cyan", no_wrap=True)
    rows.add_column()
    for name, about in entries:
        rows.add_row(name, about)
    return Panel(rows, title=title, title_align="left", border_style="dim")
