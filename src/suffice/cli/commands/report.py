"""``suffice report``: a model as a page for a browser."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.models import label_of, load, refuse_tokens, with_tokens
from suffice.cli.options.shared import AsJson, ModelFile, Reading
from suffice.cli.output.tables import deliver, refuse_result

if TYPE_CHECKING:
    from suffice.cli.documents import Page

__all__ = ["report"]

OtherAndTest = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[OTHER] [TEST]",
        help="A model file to compare with; rows to judge by, as for evaluate.",
        show_default=False,
    ),
]


def report(
    *,
    model: ModelFile,
    data: OtherAndTest = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The page; by default the name of the model with .html."
        ),
    ] = None,
    show: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    as_json: AsJson = False,
    reading: Reading,
) -> None:
    """Write a page that shows a model and answers questions, in any browser, without a network.

    The page is one file. It computes the answers itself, as Python does. With rows whose answer
    is known, and that the model has not learnt, it says how good the answers are; with another
    model file, how the two differ.
    """
    from suffice.persist import is_model_file
    from suffice.reports import report as write

    page = Path(model).with_suffix(".html") if output is None else output
    refuse_result(page, [model, *(data or ())])
    fitted, other, test = with_tokens(load(model), reading), None, None
    rows = list(data or ())
    if rows and is_model_file(rows[0]):
        other = with_tokens(load(rows.pop(0)), reading)
    if rows:
        opened = remarked(reading.open(rows, fitted.format_))
        others = () if other is None else (*other.layout_.names, *other.target_names_)
        table = known_columns(opened, fitted, *others)
        for one in (fitted,) if other is None else (fitted, other):
            refuse_tokens(one, reading, table, rows[0])
        test = table, label_of(fitted, None)
    write(fitted, page, test, compare=other)
    facts: Page = {"page": str(page)}
    deliver(facts, lambda: [f"Saved to {page}."], as_json, None)
    if show:
        webbrowser.open(page.absolute().as_uri())
