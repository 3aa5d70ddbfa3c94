"""``suffice calibrate``: learn anew how much of what each column says is counted, or errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import remarked, unseen_columns
from suffice.cli.options.models import (
    fitting,
    label_of,
    load_summed,
    predicts_numbers,
    refusal,
    refuse_labels,
    weight_of,
)
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.replacing import Force, new_model, refuse_replacing
from suffice.cli.options.running import reported
from suffice.cli.options.shared import AsJson, Data, Ignore, ModelFile, Weight
from suffice.cli.output.tables import amount, deliver, refuse_overwriting

if TYPE_CHECKING:
    from suffice.cli.documents import Calibrated

__all__ = ["calibrate"]


def calibrate(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="The new model; may be MODEL itself.", show_default=False
        ),
    ],
    new: Annotated[
        bool, typer.Option("--new", help="The model has not learnt these rows.")
    ] = False,
    force: Force = False,
    weight: Weight = None,
    ignore: Ignore = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Learn anew how much of what each column says is counted.

    A model file holds no rows. A model that was merged, or has forgotten, keeps
    the weights of its columns until it sees rows again. The sums stay.

    A linear or ridge model learns how large its errors are, each row left out,
    for 'suffice predict --interval conformal'.
    """
    reading = Reading.of(read)
    from suffice.engines.choice import engine, set_engine

    refuse_overwriting(output, data)
    fitted = load_summed(model)
    if not hasattr(fitted, "calibrate"):
        rule = "naive Bayes has weights of columns, and AODE; linear models have errors"
        raise refusal(model, fitted, rule, "give it one of these")
    refuse_labels(fitted, reading)
    table = unseen_columns(remarked(reading.open(data, fitted.reader_.format)), fitted, ignore)
    with (
        reported(f"Reading {', '.join(data)}") as report,
        set_engine(engine(progress=report)),
        fitting(data, model),
    ):
        fitted.calibrate(
            table, label_of(fitted, None), weight_of(fitted, weight, table), learnt=not new
        )
    refuse_replacing(output, new_model(fitted), force, [model])
    fitted.save(output)
    told = _of_errors if predicts_numbers(fitted) else _of_weights
    facts, said = told(fitted, output)
    deliver(facts, lambda: [f"{said}. Saved to {output}"], as_json, None)


def _of_errors(fitted: Any, output: Path) -> tuple[Calibrated, str]:
    errors = fitted.model_.errors
    half = " and ".join(f"{size:.4g}" for size in errors.median)
    facts: Calibrated = {
        "model": str(output),
        "rows": errors.rows,
        "median_errors": [float(size) for size in errors.median],
    }
    return facts, f"Half of {amount(errors.rows)} errors are at most {half}"


def _of_weights(fitted: Any, output: Path) -> tuple[Calibrated, str]:
    found = fitted.calibration_
    facts: Calibrated = {
        "model": str(output),
        "rows": found.rows,
        "log_loss_before": found.before,
        "log_loss": found.after,
    }
    return facts, (
        f"Log loss {found.before:.4f} nats a row if every column counts once, "
        f"{found.after:.4f} with weights, of {amount(found.rows)} rows"
    )
