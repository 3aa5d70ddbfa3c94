"""``suffice report``: a model as a page for a browser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli.models import load_model, refuse_result
from suffice.cli.options import AsJson, ModelFile, ReadAs, Reading, output_file, rows_for
from suffice.cli.output import deliver
from suffice.errors import ParameterError


def report(
    *,
    model: ModelFile,
    data: Annotated[
        list[str] | None, typer.Argument(metavar="[TEST]", help="Test data, as for evaluate.")
    ] = None,
    output: Annotated[Path | None, output_file("The page (default: MODEL.html).")] = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Write an interactive page of a model, for a browser.

    One file, without a network: it shows the model, predicts and explains; with
    test data it shows how good the predictions are.

    Example: suffice report adult.suffice -o adult.html
    """
    from suffice.reports import report as write

    page = model.with_suffix(".html") if output is None else output
    refuse_result(page, [model, *(data or ())])
    if page.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"--output {page}", "a page is HTML: its suffix is .html or .htm")
    fitted: Any = load_model(model)
    test = None
    if data:
        test = rows_for(fitted, data, Reading.of(read))[:2]
    write(fitted, page, test)
    deliver({"page": str(page)}, [f"Saved to {page}."], as_json)
