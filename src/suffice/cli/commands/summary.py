"""``suffice summary``: the coefficients of a linear model, their errors and tests, and the fit."""

from __future__ import annotations

from typing import Annotated

import typer

from suffice.cli.options.models import has_coefficients, load, refusal
from suffice.cli.options.shared import AsJson, ModelFile, ResultFile
from suffice.cli.output.coefficients import (
    CONFIDENCE,
    coefficient_facts,
    rendered_coefficients,
)
from suffice.cli.output.tables import deliver, refuse_result

__all__ = ["summary"]


def summary(
    *,
    model: ModelFile,
    level: Annotated[
        float | None,
        typer.Option(metavar="0.95", help="Show intervals of this confidence, not tests."),
    ] = None,
    as_json: AsJson = False,
    output: ResultFile = None,
) -> None:
    """Show the coefficients of a linear, ridge or logistic model, and how well it fits."""
    refuse_result(output, [model])
    fitted = load(model)
    if not has_coefficients(fitted):
        raise refusal(model, fitted, "a summary is of coefficients", f"use suffice show {model}")
    chosen = CONFIDENCE if level is None else level
    facts = coefficient_facts(fitted, model, chosen)
    intervals = level is not None
    deliver(facts, lambda: rendered_coefficients(facts, intervals), as_json, output)
