"""``suffice report``: a model as a page for a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.models import label_of, load
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.shared import AsJson, ModelFile
from suffice.cli.output.tables import deliver, refuse_result

if TYPE_CHECKING:
    from suffice.cli.documents import Page

__all__ = ["report"]

Test = Annotated[
    list[str] | None,
    typer.Argument(metavar="[TEST]", help="Rows to judge by, as for evaluate.", show_default=False),
]


def report(
    *,
    model: ModelFile,
    data: Test = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The page; by default the name of the model with .html."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Write a page that shows a model and answers questions, in any browser, without a network.

    The page is one file. It computes the answers itself, as Python does. With rows whose answer
    is known, and that the model has not learnt, it says how good the answers are.
    """
    from suffice.reports import report as write

    reading = Reading.of(read)
    page = Path(model).with_suffix(".html") if output is None else output
    refuse_result(page, [model, *(data or ())])
    fitted, test = load(model), None
    if data:
        table = known_columns(remarked(reading.open(data, fitted.reader_.format)), fitted)
        test = table, label_of(fitted, None)
    write(fitted, page, test)
    facts: Page = {"page": str(page)}
    deliver(facts, lambda: [f"Saved to {page}."], as_json, None)
    if show:
        webbrowser.open(page.absolute().as_uri())
