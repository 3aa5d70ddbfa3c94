"""Errors, warnings and notes: one sentence each on stderr, in the words of the command line."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

import typer

from suffice.cli.signals import write_no_more
from suffice.errors import SufficeError
from suffice.phrases import printable

# Typer brings a copy of Click of its own, or imports Click, by version.
CommandError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
DEFAULT_WIDTH = 80  # of a terminal that does not know


def sentence(error: Any) -> str:
    """Say in one line what is wrong; Python's spelling of an option becomes the command's."""
    return " ".join([_ended(_said(error)), *getattr(error, "__notes__", ())])


def _said(error: Any) -> str:
    from suffice.cli.values import spelled

    if isinstance(error, SufficeError):
        return "; ".join(filter(None, map(spelled, (error.fact, error.rule, error.next_step))))
    if isinstance(error, CommandError):
        return str(error.format_message())
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return f"{named}{error.strerror or error}"
    return str(error) or "interrupted"


def each_once() -> Callable[..., None]:
    """Return a function that prints every warning as a line on stderr, but none twice."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        from suffice.cli.values import spelled

        if str(message) not in said:
            said.add(str(message))
            text = message if isinstance(message, str) else message.args[0]
            complain(f"warning: {_ended(spelled(text))}")

    return show


def note(message: str) -> None:
    """Print on stderr what was found out, and how to change it."""
    from suffice.cli.values import spelled

    complain(f"note: {_ended(spelled(message))}")


def complain(text: str) -> None:
    """Print a text on stderr; on a terminal, no word of it is broken.

    Where stderr cannot be written to, the work goes on: it is no reason to lose a model.
    """
    with suppress(OSError):
        width = width_of(sys.stderr)
        typer.echo(text if width is None else wrapped(text, width), err=True)
        return
    write_no_more(sys.stderr)


def _ended(text: str) -> str:
    line = printable(" ".join(text.split()))
    return line if line.endswith(".") else f"{line}."


def width_of(stream: TextIO | None) -> int | None:
    """Return the width of the terminal of a stream; None where there is none."""
    if stream is None or not stream.isatty():
        return None
    return columns() or os.get_terminal_size(stream.fileno()).columns or DEFAULT_WIDTH


def columns() -> int | None:
    """Return the width that the environment asks for, if it does."""
    given = os.environ.get("COLUMNS", "")
    return int(given) if given.isdigit() and int(given) else None


def wrapped(text: str, width: int) -> str:
    """Return the words in lines of at most so many characters, indented as their first one is.

    Lines are broken at blanks; a longer word has a line of its own.
    """
    lines = [(line, line[: len(line) - len(line.lstrip())]) for line in text.split("\n")]
    return "\n".join(
        textwrap.fill(
            line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        )
        for line, indent in lines
    )
