"""The commands under one name, and how each of them ends when something is wrong."""

from __future__ import annotations

import platform
import sys
import tempfile
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from suffice._version import __version__
from suffice.cli.commands.compare import compare
from suffice.cli.commands.demo import demo
from suffice.cli.commands.evaluate import evaluate
from suffice.cli.commands.explain import explain
from suffice.cli.commands.fit import fit
from suffice.cli.commands.forget import forget
from suffice.cli.commands.merge import merge
from suffice.cli.commands.predict import predict
from suffice.cli.commands.sample import sample
from suffice.cli.commands.searchlight import searchlight
from suffice.cli.commands.show import show
from suffice.cli.commands.summary import summary
from suffice.cli.messages.sentences import CommandError, sentence, warn
from suffice.cli.options.shared import with_groups
from suffice.cli.output.tables import standard_output
from suffice.cli.signals import handled, status
from suffice.errors import SufficeError, SufficeWarning
from suffice.numerics import kernels
from suffice.temporary import sweep

__all__ = ["app"]

BAD_INPUT = 2


class Commands(TyperGroup):
    """Ends bad input of any kind with one sentence on stderr and exit code 2.

    Ctrl-C ends it with 130, SIGTERM with 143, SIGHUP with 129.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Without a command, print the help."""
        parsed: list[str] = super().parse_args(ctx, args or ["--help"])
        return parsed

    def invoke(self, ctx: Any) -> Any:
        """Run the command that is named, after what killed ones have left is removed."""
        with suppress(OSError):  # no temporary folder, no rows in it
            sweep(Path(tempfile.gettempdir()))
        with handled():
            try:
                return super().invoke(ctx)
            except KeyboardInterrupt as interrupt:
                typer.echo(sentence(interrupt), err=True)
                raise typer.Exit(status(interrupt)) from None

    def main(self, *args: Any, **extra: Any) -> Any:
        """Run one command and leave the process."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", SufficeWarning)
            warnings.showwarning = warn
            try:
                code = super().main(*args, **extra | {"standalone_mode": False})
            except (SufficeError, CommandError, OSError) as error:
                typer.echo(f"error: {sentence(error)}", err=True)
                code = BAD_INPUT
        sys.exit(code)


app = typer.Typer(
    cls=Commands,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    epilog="Start with:  suffice demo",
)


def _print_version(context: typer.Context, asked: bool) -> None:
    if asked:
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


EXAMPLES: dict[Callable[..., None], str] = {
    demo: "suffice demo",
    fit: "suffice fit boston.csv --target medv --model linear",
    predict: "suffice predict adult.suffice new.csv --proba -o answers.csv",
    evaluate: "suffice evaluate adult.suffice test.csv",
    explain: "suffice explain adult.suffice new.csv --rows 2",
    show: "suffice show adult.suffice --column age",
    summary: "suffice summary boston.suffice",
    sample: "suffice sample spam.suffice -n 5 --seed 1",
    merge: "suffice merge north.suffice south.suffice -o all.suffice",
    compare: "suffice compare january.suffice february.suffice",
    forget: "suffice forget adult.suffice withdrawn.csv -o adult2.suffice",
    searchlight: (
        "suffice searchlight bold.nii.gz --mask mask.nii.gz --labels attributes.txt "
        "--leave-out rest --cube 1 --permutations 1000 -o accuracy.nii.gz --png map.png"
    ),
}

for command, example in EXAMPLES.items():
    app.command(epilog=f"Example:  {example}")(with_groups(command))
