"""``suffice forget``: the model that would be, had some rows never been there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.messages.remarks import remarked, unseen_columns
from suffice.cli.options.models import (
    fitting,
    label_of,
    load_summed,
    refuse_labels,
    rows_of,
    weight_of,
)
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.replacing import Force, new_model, refuse_replacing
from suffice.cli.options.running import reported
from suffice.cli.options.shared import AsJson, Data, Ignore, ModelFile, Weight
from suffice.cli.output.tables import amount, deliver, refuse_overwriting
from suffice.errors import DataError

if TYPE_CHECKING:
    from suffice.cli.documents import Forgotten

__all__ = ["forget"]


def forget(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The new model; may be MODEL itself.", show_default=False
        ),
    ],
    again: Annotated[
        bool,
        typer.Option("--again", help="Forget rows that were forgotten before once more."),
    ] = False,
    force: Force = False,
    weight: Weight = None,
    ignore: Ignore = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Take rows out of a model.

    The result is that of a fit without them. Sums do not tell which rows they
    are of: what is taken out has to be what was learnt. Refused are rows of which
    the model has fewer than are to go, and a set of rows that it has forgotten
    before: it remembers the last 1,000 by keyed digests, in any order and from
    any file. The new file is written whole or not at all.
    """
    reading = Reading.of(read)
    from suffice.engines.choice import engine, set_engine

    refuse_overwriting(output, data)
    fitted = load_summed(model)
    before, known = rows_of(fitted), fitted.statistic_
    refuse_labels(fitted, reading)
    opened = remarked(reading.open(data, fitted.reader_.format))
    table = unseen_columns(opened, fitted, ignore)
    with (
        reported(f"Forgetting {', '.join(data)}") as report,
        set_engine(engine(progress=report)),
        fitting(data, model),
    ):
        fitted.forget(table, label_of(fitted, None), weight_of(fitted, weight, table), again=again)
    if fitted.statistic_ == known:
        raise DataError(
            f"{', '.join(data)} holds no row with a weight above zero",
            "there is nothing to forget",
            "check the file and the weights",
        )
    refuse_replacing(output, new_model(fitted), force, [model])
    fitted.save(output)
    after = rows_of(fitted)
    gone = before - after
    noun = "row" if gone == 1 else "rows"
    said = f"{amount(gone)} {noun} forgotten, {amount(after)} left. Saved to {output}"
    facts: Forgotten = {"model": str(output), "forgotten": gone, "rows": after}
    deliver(facts, lambda: [said], as_json, None)
