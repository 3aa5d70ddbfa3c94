"""The commands under one name: their help, and how each of them ends when something is wrong."""

from __future__ import annotations

import re
import sys
import warnings
from functools import partial
from importlib import import_module
from inspect import getdoc
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, get_args

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from suffice._version import __version__
from suffice.cli.messages import CommandError, complain, each_once, sentence
from suffice.cli.signals import status
from suffice.errors import SufficeError, SufficeWarning

BAD_INPUT = 2
HELP = {"help_option_names": ["--help", "-h"]}
WIDTH, WIDEST = 80, 26  # of help, and of the names of its options

# In the order of the help. The module of a command in `suffice.cli.commands`, and the function in
# it, have its name; its docstring says what it is for, and ends with an example.
COMMANDS = (
    *("demo", "fit", "split", "cv", "predict", "evaluate", "explain", "show"),
    *("columns", "summary", "sample", "export", "report", "update", "sums", "merge"),
    *("compare", "forget", "calibrate", "keys", "plan", "audit", "searchlight"),
)


class LightParameters:
    """Parameters that are read without the imports and checks of Typer where they need none."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, the one for help among them."""
        parameters: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for parameter in parameters:
            parameter.process_value = partial(_processed, parameter)
        return parameters


def _processed(parameter: Any, context: Any, value: Any) -> Any:
    """Return the value of a parameter: text, paths and defaults as they are.

    Others are checked by Typer, which imports pydantic: that takes as long as to read a small file.
    """
    kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
    if value is None and not parameter.required:
        value = () if parameter.multiple or parameter.nargs == -1 else None
    elif kind in (str, Path) and value is not None:
        value = kind(value)
    elif kind in (list[str], list[Path]) and value:
        (of_items,) = get_args(kind)
        value = list(map(of_items, value))
    elif type(value) is not kind:
        return type(parameter).process_value(parameter, context, value)
    return value if parameter.callback is None else parameter.callback(context, parameter, value)


class Command(LightParameters, TyperCommand):
    """A command that takes parameters of its reader and model as options, too."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Take the words of a line apart; note the model, as help comes before all options."""
        line = " ".join(args).replace("--model=", "--model ").split()
        named = [after for word, after in pairwise(line) if word == "--model"]
        ctx.meta["suffice.model"] = named[-1].partition(",")[0] if named else ""
        own = {name for one in self.get_params(ctx) for name in (*one.opts, *one.secondary_opts)}
        long = {word.partition("=")[0] for word in args if word.startswith("--")}
        if long - own and own & {"-r", "-p"}:
            from suffice.cli.values import short_options

            args = short_options(args, own, self.name)
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print what the command is for, its arguments, and its options in groups."""
        from suffice.cli.values import MODELS, REGRESSIONS, described

        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for one in self.get_params(ctx):
            record = one.get_help_record(ctx)
            if one.param_type_name == "argument":
                sections["Arguments"].append((one.metavar, one.help))
            elif record is not None and one.name != "help":
                sections.setdefault(one.rich_help_panel or "Options", []).append(record)
        example, model = self.epilog, ctx.meta["suffice.model"]
        if model:
            sections[f"Parameters of --model {model}"] = described(model)
        if self.name == "fit" and model in MODELS:
            table = (
                "boston.csv --target medv" if model in REGRESSIONS else "adult.csv --label income"
            )
            example = f"suffice fit {table} --model {model}"
        _print_help(self, ctx, formatter, sections, f"Example:  {example}")


class Commands(LightParameters, TyperGroup):
    """Imports the command that is named, and no other.

    Ends bad input of any kind with one sentence on stderr and exit code 2; Ctrl-C ends it with
    130, SIGTERM with 143, SIGHUP with 129, and a reader of its output that has gone with 141.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command, imported when it is asked for."""
        if self.commands.get(cmd_name) is None and cmd_name in COMMANDS:
            self.commands[cmd_name] = _command(cmd_name)
        return self.commands.get(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the program as a whole."""
        options = [one.get_help_record(ctx) for one in self.get_params(ctx)]
        commands = [(name, _about(name)) for name in COMMANDS]
        sections = {"Options": options, "Commands": commands}
        _print_help(self, ctx, formatter, sections, "Start with:  suffice demo")

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command, print the help."""
        parsed: list[str] = super().parse_args(ctx, args or ["--help"])
        return parsed

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            complain(sentence(interrupt))
            raise typer.Exit(status(interrupt)) from None

    def main(self, *args: Any, **extra: Any) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("always", SufficeWarning)
            warnings.showwarning = each_once()
            try:
                code = super().main(*args, **extra | {"standalone_mode": False})
            except (SufficeError, CommandError, OSError) as error:
                complain(f"error: {_said(error)}")
                code = BAD_INPUT
            except MemoryError:
                complain("error: there is not enough memory; use a machine that has more.")
                code = BAD_INPUT
        sys.exit(code)


def _said(error: Any) -> str:
    """Return the sentence of an error, and of a misused command an example."""
    context = getattr(error, "ctx", None)
    if context is None or not context.command.epilog:
        return sentence(error)
    said = sentence(error).replace("Value error, ", "").rstrip(".")
    return f"{said}; as in: {context.command.epilog}; see {context.command_path} --help."


def _print_help(
    command: Any, context: Any, formatter: Any, sections: dict[str, Any], last: str
) -> None:
    from suffice.cli.output import print_all

    formatter.width = WIDTH
    pieces = " ".join(command.collect_usage_pieces(context))
    formatter.write_usage(context.command_path, re.sub(r"[{}]|\.{3}(?=\.)", "", pieces))
    for paragraph in command.help.split("\n\n"):
        formatter.write_text(paragraph)
    formatter.write_paragraph()
    for title, entries in sections.items():
        if entries:
            formatter.write_heading(title)
            with formatter.indentation():
                formatter.write_dl(entries, WIDEST)
    print_all([*formatter.getvalue().splitlines(), last])
    formatter.buffer.clear()


# Commands ---------------------------------------------------------------------------------------


def _about(name: str) -> str:
    """Return the first sentence of a command's docstring, from its file, which is not imported."""
    file = Path(__file__).parent / "commands" / f"{name}.py"
    _, _, body = file.read_text("utf8").partition(f"\ndef {name}(")
    return body.split('"""')[1].partition("\n")[0]


def _command(name: str) -> Any:
    function = getattr(import_module(f"suffice.cli.commands.{name}"), name)
    help, _, example = (getdoc(function) or "").rpartition("\n\nExample: ")
    alone = typer.Typer(add_completion=False, rich_markup_mode=None, context_settings=HELP)
    alone.command(name, cls=Command, help=help, epilog=example)(function)
    return get_command(alone)


app = typer.Typer(
    cls=Commands,
    context_settings=HELP,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _print_version(context: typer.Context, asked: bool) -> None:
    if asked:
        from suffice.cli.output import print_all

        print_all([f"suffice {__version__}"])
        raise typer.Exit


@app.callback()
def _suffice(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, help="Print the version."),
    ] = False,
) -> None:
    """Naive Bayes, discriminant analysis, linear and logistic regression for tables."""
