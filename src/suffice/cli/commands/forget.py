"""``suffice forget``: rows removed from a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from suffice.cli.options import AsJson, Data, ModelFile, ReadAs, output_file, updated
from suffice.cli.output import deliver
from suffice.errors import DataError
from suffice.phrases import amount


def forget(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[Path, output_file("The new model; may be MODEL itself.")],
    again: Annotated[
        bool, typer.Option("--again", help="Also rows that were removed before.")
    ] = False,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Remove rows from a model.

    The result is that of a fit without them, to the last bit. Sums do not record
    which rows they are of: only rows of the training data may be removed, once.

    Example: suffice forget adult.suffice withdrawn.csv -o adult2.suffice
    """
    with updated(model, data, read, output, "Removing") as (fitted, *rows):
        known = fitted.statistic_
        fitted.forget(*rows, again=again)
        if fitted.statistic_ == known:
            raise DataError(
                f"{', '.join(data)} holds no row with a weight above zero",
                "there is nothing to forget",
                "check the file and the weights",
            )

    after = float(fitted.statistic_.rows)
    gone = float(known.rows) - after
    noun = "row" if gone == 1 else "rows"
    said = f"{amount(gone)} {noun} forgotten, {amount(after)} left. Saved to {output}"
    facts = {"model": str(output), "forgotten": gone, "rows": after}
    deliver(facts, [said], as_json)
