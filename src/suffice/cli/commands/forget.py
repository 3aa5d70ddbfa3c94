"""``suffice forget``: rows removed from a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from suffice.cli.models import (
    fitting,
    label_of,
    load_summed,
    refuse_overwriting,
    refuse_replacing,
    weight_of,
    without_cells,
)
from suffice.cli.options import (
    AsJson,
    Data,
    Force,
    Ignore,
    ModelFile,
    ReadAs,
    Reading,
    Running,
    Weight,
    refuse_labels,
    reported,
)
from suffice.cli.output import deliver
from suffice.errors import DataError
from suffice.phrases import amount

if TYPE_CHECKING:
    from suffice.cli.documents import Forgotten


def forget(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The new model; may be MODEL itself.")
    ],
    again: Annotated[
        bool, typer.Option("--again", help="Also rows that were removed before.")
    ] = False,
    force: Force = False,
    as_json: AsJson = False,
    read: ReadAs = None,
    ignore: Ignore = None,
    weight: Weight = None,
) -> None:
    """Remove rows from a model.

    The result is that of a fit without them, to the last bit. Sums do not tell
    which rows they are of: only rows of the training data may be removed, once.
    """
    reading = Reading.of(read)
    refuse_overwriting(output, data)
    fitted = load_summed(model)
    before, known = float(fitted.statistic_.rows), fitted.statistic_
    refuse_labels(fitted, reading)
    table = without_cells(reading.open(data, fitted.reader_.format), fitted, ignore)
    with (
        reported(f"Removing {', '.join(data)}") as report,
        Running().chosen(report),
        fitting(data, model),
    ):
        fitted.forget(table, label_of(fitted), weight_of(fitted, weight, table), again=again)
    if fitted.statistic_ == known:
        raise DataError(
            f"{', '.join(data)} holds no row with a weight above zero",
            "there is nothing to forget",
            "check the file and the weights",
        )
    refuse_replacing(output, fitted, fitted.target_names_, force, [model])
    fitted.save(output)
    after = float(fitted.statistic_.rows)
    gone = before - after
    noun = "row" if gone == 1 else "rows"
    said = f"{amount(gone)} {noun} forgotten, {amount(after)} left. Saved to {output}"
    facts: Forgotten = {"model": str(output), "forgotten": gone, "rows": after}
    deliver(facts, lambda: [said], as_json)
