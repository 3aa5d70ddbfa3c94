"""The commands under one name, and how each of them ends when something is wrong."""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from suffice._version import __version__
from suffice.cli.messages.sentences import CommandError, complain, each_once, sentence
from suffice.cli.options.coercion import MODEL, Command, TextAsItIs
from suffice.cli.register import COMMANDS
from suffice.cli.signals import handled, status
from suffice.errors import SufficeError, SufficeWarning

__all__ = ["app"]

BAD_INPUT = 2
HELP = {"help_option_names": ["--help", "-h"]}


class Commands(TextAsItIs, TyperGroup):
    """Imports the command that is named, and no other.

    Ends bad input of any kind with one sentence on stderr and exit code 2; Ctrl-C ends it with
    130, SIGTERM with 143, SIGHUP with 129, and a reader of its output that has gone with 141.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, imported when it is asked for."""
        if self.commands.get(cmd_name) is None and cmd_name in COMMANDS:
            self.commands[cmd_name] = _command(cmd_name)
        return self.commands.get(cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the program as a whole."""
        from suffice.cli.output.overview import print_overview

        print_overview(self, ctx, [(name, entry.about) for name, entry in COMMANDS.items()])

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command, print the help."""
        parsed: list[str] = super().parse_args(ctx, args or ["--help"])
        return parsed

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named."""
        with handled():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as interrupt:
                complain(sentence(interrupt))
                raise typer.Exit(status(interrupt)) from None

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run one command and leave the process."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", SufficeWarning)
            warnings.showwarning = each_once()
            try:
                code = super().main(*args, **extra | {"standalone_mode": False})
            except (SufficeError, CommandError, OSError) as error:
                complain(f"error: {sentence(error)}")
                code = BAD_INPUT
            code = _written(code)
        sys.exit(code)


def _written(code: Any) -> Any:
    """The exit code, once standard output has taken what its buffer still holds."""
    from suffice.cli.output.tables import standard_output

    if sys.stdout is None or sys.stdout.closed:  # nothing is held that could be written
        return code
    try:
        with standard_output() as stream:
            stream.flush()
    except typer.Exit as gone:
        return code or gone.exit_code
    except OSError as error:
        complain(f"error: {sentence(error)}")
        return code or BAD_INPUT
    return code


class CommandWithModel(Command):
    """A command whose help lists the parameters of the model that is named."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print one page."""
        from suffice.cli.output.overview import print_help

        groups: dict[str, list[Any]] = {"": []}
        for one in self.get_params(ctx):
            if one.param_type_name == "option" and not one.hidden:
                groups.setdefault(getattr(one, "rich_help_panel", None) or "", []).append(one)
        of_model: list[tuple[str, str]] = []
        if model := ctx.meta[MODEL]:
            from suffice.cli.options.recipes import descriptions

            of_model = descriptions(model)
        named = [(title or "Options", options) for title, options in groups.items()]
        print_help(self, ctx, named, f"-p, of --model {model}", of_model)


def _command(name: str) -> Any:
    """The command of a name."""
    from suffice.cli.options.shared import with_groups

    function = getattr(import_module(f"suffice.cli.commands.{name}"), name)
    alone = typer.Typer(add_completion=False, rich_markup_mode="rich", context_settings=HELP)
    epilog = f"Example:  {COMMANDS[name].example}"
    alone.command(name, cls=CommandWithModel, epilog=epilog)(with_groups(function))
    return get_command(alone)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    context_settings=HELP,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Start with:  suffice demo",
)


def _print_version(context: typer.Context, asked: bool) -> None:
    if asked:
        import platform

        from suffice.cli.output.tables import standard_output
        from suffice.numerics import kernels

        with standard_output():
            typer.echo(f"suffice {__version__}")
            if context.params["verbose"]:
                typer.echo(f"Python {platform.python_version()}, {platform.platform()}")
                typer.echo(f"loops compiled for level {kernels.level()} of the processor")
        raise typer.Exit


@app.callback()
def _suffice(
    verbose: Annotated[
        bool,
        typer.Option("--verbose", is_eager=True, help="With --version: also what it runs on."),
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, help="Print the version."),
    ] = False,
) -> None:
    """Learn from any table, from exact sums: fit, predict, explain, merge, forget."""
