"""Errors and warnings of the library in the words of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import typer

from suffice.cli.messages.missing import not_given
from suffice.cli.signals import write_no_more
from suffice.cli.wrapping import for_stream
from suffice.errors import SufficeError

__all__ = ["CommandError", "complain", "each_once", "note", "sentence", "sentences", "warn"]

# Typer brings a copy of Click of its own, or imports Click, by version.
CommandError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)


def sentence(error: Any) -> str:
    """Say in one line what is wrong; Python's spelling of an option becomes the command's.

    Examples
    --------
    >>> sentence(KeyboardInterrupt())
    'interrupted.'
    """
    return " ".join([_ended(_said(error)), *getattr(error, "__notes__", ())])


def sentences(found: Mapping[str, Any]) -> dict[str, Any]:
    """The same by name, with a sentence for every error.

    Raises
    ------
    Exception
        The first error, if there is nothing else.
    """
    errors = [one for one in found.values() if isinstance(one, Exception)]
    if errors and len(errors) == len(found):
        raise errors[0]
    said = (
        (name, sentence(one) if isinstance(one, Exception) else one) for name, one in found.items()
    )
    return dict(said)


def _said(error: Any) -> str:
    from suffice.cli.messages.spelling import spelled

    if isinstance(error, SufficeError):
        return "; ".join(filter(None, map(spelled, (error.fact, error.rule, error.next_step))))
    if isinstance(error, CommandError):
        return not_given(error) or str(error.format_message())
    if isinstance(error, OSError):
        named = f"{error.filename}: " if error.filename else ""
        return f"{named}{error.strerror or error}"
    return str(error) or "interrupted"


def warn(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning as a line on stderr."""
    from suffice.cli.messages.spelling import spelled

    text = message if isinstance(message, str) else message.args[0]
    complain(f"warning: {_ended(spelled(text))}")


def each_once() -> Callable[..., None]:
    """What prints every warning as `warn` does, but none a second time."""
    said: set[str] = set()

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            warn(message)

    return show


def note(message: str) -> None:
    """Print on stderr what was found out, and how to change it."""
    from suffice.cli.messages.spelling import spelled

    complain(f"note: {_ended(spelled(message))}")


def complain(text: str) -> None:
    """Print a text on stderr; on a terminal, no word of it is broken.

    Where stderr cannot be written to, the work goes on: it is no reason to lose a model.
    """
    with suppress(OSError):
        typer.echo(for_stream(text, sys.stderr), err=True)
        return
    write_no_more(sys.stderr)


def _ended(text: str) -> str:
    line = " ".join(text.split())
    return line if line.endswith(".") else f"{line}."
