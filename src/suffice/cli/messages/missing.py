"""What to say of an argument or an option that a command needs, and was not given."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from suffice.errors import SufficeError

__all__ = ["not_given"]

WHAT = {
    "data": "it is the file with the rows",
    "label": "it names the column to be predicted",
    "model": "it is a file that suffice fit wrote",
    "models": "they are files that suffice fit wrote",
    "output": "it is the file to be written",
    "to": "it is the language: sql, json or onnx",
}


def not_given(error: Any) -> str:
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
