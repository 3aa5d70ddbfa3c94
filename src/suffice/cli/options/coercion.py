"""Arguments and options of Typer: text needs no validator, and types have names for people."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from typer.core import TyperCommand

__all__ = ["MODEL", "Command", "TextAsItIs"]

MODEL = "suffice.model"  # where a context has the model that help is asked of
SHOWN = {Path: "FILE", int: "N", float: "NUMBER", str: "TEXT"}  # where an option has no metavar


class TextAsItIs:
    """Lets the parameters of a command of Typer take text as it is.

    Typer 0.29 builds a validator of pydantic for every parameter, given or not. To import pydantic
    and to build 40 of them takes longer than to read a small file. Text, paths, defaults and
    what is not given need none; other values are validated as usual.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        """The parameters, the one for help among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            usual = parameter.process_value
            if not isinstance(usual, partial):
                parameter.process_value = partial(_processed, parameter, usual)
                _rename_type(parameter)
        return parameters


class Command(TextAsItIs, TyperCommand):
    """A command that takes text as it is."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words of a line apart; note the model, as help comes before all options.

        A parameter of the reader or the model is an option, too: ``--missing x`` is
        ``-r missing=x``, ``--alpha 2`` is ``-p alpha=2``, ``--no-header`` is ``-r header=false``.
        """
        line = " ".join(args).replace("--model=", "--model ").split()
        named = [after for word, after in pairwise(line) if word == "--model"]
        ctx.meta[MODEL] = named[-1].partition(",")[0] if named else ""
        own = {name for one in self.params for name in (*one.opts, *one.secondary_opts)}
        takes = [short for short in ("-r", "-p") if short in own]
        if takes and any(
            word.startswith("--") and word.partition("=")[0] not in own for word in args
        ):
            from suffice.cli.options.values import short_options

            args = short_options(args, own | {"--help"}, takes, ctx.meta[MODEL])
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


def _rename_type(parameter: Any) -> None:
    """Let the help show no type of Python: none of a flag, nor beside the name of an argument."""
    described = getattr(parameter, "type_descriptor", None)  # none in other versions of Typer
    is_argument = parameter.param_type_name == "argument"
    if described is None or (parameter.metavar is not None and not is_argument):
        return
    kind = described.annotation
    words = "|".join(kind) if isinstance(kind, type) and issubclass(kind, StrEnum) else None
    shown = None if is_argument else SHOWN.get(kind, words)
    parameter.display_type_rich = lambda ctx: shown


def _processed(parameter: Any, usual: Callable[[Any, Any], Any], context: Any, value: Any) -> Any:
    """The value of a parameter, by the usual way where it has to be validated."""
    described = getattr(parameter, "type_descriptor", None)  # none in other versions of Typer
    if described is None or not _is_plain(parameter, described.annotation, value):
        return usual(context, value)
    if isinstance(value, list | tuple):
        value = list(value)
    elif described.annotation is Path and value is not None:
        value = Path(value)
    elif value is None and (parameter.multiple or parameter.nargs == -1):
        value = ()
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


def _is_plain(parameter: Any, kind: Any, value: Any) -> bool:
    if value is None:
        return not parameter.required
    if kind == list[str]:
        return isinstance(value, list | tuple) and len(value) > 0
    return type(value) is kind or (kind is Path and isinstance(value, str))
