"""``suffice calibrate``: the column weights of a classifier, or the errors of a regression."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli.models import predicts_numbers, refusal
from suffice.cli.options import AsJson, Data, ModelFile, ReadAs, output_file, updated
from suffice.cli.output import deliver
from suffice.phrases import amount


def calibrate(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[Path, output_file("The new model; may be MODEL itself.")],
    new: Annotated[bool, typer.Option("--new", help="The rows are no training data.")] = False,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Refit the column weights, or the errors of a regression.

    A model that was merged, or rows removed from, keeps its column weights until
    it sees rows again. Errors, each row left out, are for predict --interval
    conformal.

    Example: suffice calibrate all.suffice north.csv south.csv -o all.suffice
    """
    with updated(model, data, read, output, "Reading") as (fitted, *rows):
        if not hasattr(fitted, "calibrate"):
            rule = "naive Bayes and AODE have column weights; linear models have errors"
            raise refusal(model, fitted, rule, "give it one of these")
        fitted.calibrate(*rows, learnt=not new)
    facts: dict[str, Any] = {"model": str(output), "rows": 0.0}
    if predicts_numbers(fitted):
        errors = fitted.model_.errors
        facts["rows"], facts["median_errors"] = errors.rows, list(map(float, errors.median))
        half = " and ".join(f"{size:.4g}" for size in errors.median)
        said = f"Half of {amount(errors.rows)} errors are at most {half}"
    else:
        found = fitted.calibration_
        facts["rows"] = found.rows
        facts["log_loss_before"], facts["log_loss"] = found.before, found.after
        said = (
            f"Log loss {found.before:.4f} nats a row if every column counts once, "
            f"{found.after:.4f} with weights, of {amount(found.rows)} rows"
        )
    deliver(facts, [f"{said}. Saved to {output}"], as_json)
