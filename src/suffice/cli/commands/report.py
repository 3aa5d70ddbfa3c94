"""``suffice report``: a model as a page for a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from suffice.cli.options.models import load
from suffice.cli.options.shared import ModelFile
from suffice.cli.output.tables import refuse_overwriting

__all__ = ["report"]


def report(
    model: ModelFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The page; by default the name of the model with .html."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
) -> None:
    """Write a page that shows a model and answers questions, in any browser, without a network.

    The page is one file. It computes the answers itself, as Python does.
    """
    from suffice.reports import report as write

    page = Path(model).with_suffix(".html") if output is None else output
    refuse_overwriting(page, [model])
    write(load(model), page)
    typer.echo(f"Saved to {page}.")
    if show:
        webbrowser.open(page.absolute().as_uri())
