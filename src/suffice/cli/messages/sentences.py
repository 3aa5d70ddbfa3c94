"""Errors and warnings of the library in the words of the command line."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

import typer

from suffice.cli.signals import write_no_more
from suffice.cli.wrapping import for_stream
from suffice.errors import SufficeError

__all__ = ["CommandError", "complain", "each_once", "note", "sentence", "sentences", "warn"]

# Typer brings a copy of Click of its own, or imports Click, by version.
CommandError: Any = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
WHAT = {
    "data": "it is the file with the rows",
    "label": "it names the column to be predicted",
    "model": "it is a file that suffice fit wrote",
    "models": "they are files that suffice fit wrote",
    "output": "it is the file to be written",
    "to": "it is the language: sql, json or onnx",
}


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
        return _not_given(error) or str(error.format_message())
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


def _not_given(error: Any) -> str:
    """The sentence of an error of Typer about a missing parameter; nothing of other errors."""
    parameter = getattr(error, "param", None)
    if type(error).__name__ != "MissingParameter" or parameter is None:
        return ""
    option = parameter.param_type_name == "option"
    name = max(parameter.opts, key=len) if option else parameter.metavar
    if parameter.name == "label":
        name = "--label"
    parts = [f"{name} is not given", WHAT.get(parameter.name, "the command needs it")]
    if parameter.name == "label" and (names := _columns(error.ctx)):
        parts.append(f"the columns are {', '.join(map(repr, names))}")
    return f"{'; '.join(parts)}; see suffice {error.ctx.command.name} --help"


def _columns(context: Any) -> tuple[str, ...]:
    """The columns of the files that were given, where they can be read."""
    from suffice.cli.options.reading import Reading

    with suppress(SufficeError, OSError):
        data = context.params.get("data") or ()
        if data and "-" not in data:
            return Reading().open(data).names
    return ()
