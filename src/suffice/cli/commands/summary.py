"""``suffice summary``: the coefficients of a linear model, their errors and tests, and the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from suffice.cli.messages.remarks import known_columns, remarked
from suffice.cli.options.models import has_coefficients, label_of, load, refusal, weight_of
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.shared import AsJson, ModelFile
from suffice.cli.output.coefficients import (
    CONFIDENCE,
    coefficient_facts,
    rendered_coefficients,
    robust_facts,
)
from suffice.cli.output.tables import deliver
from suffice.errors import ParameterError

__all__ = ["summary"]

KINDS = ("HC0", "HC1", "HC2", "HC3")


def summary(
    *,
    model: ModelFile,
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DATA]", help="The rows of the fit, for --robust."),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(metavar="0.95", help="Show intervals of this confidence, not tests."),
    ] = None,
    robust: Annotated[
        str | None,
        typer.Option(
            metavar="|".join(KINDS),
            help="linear: errors that hold where rows differ in their variance; reads DATA again.",
        ),
    ] = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Show the coefficients of a linear, ridge or logistic model, and how well it fits."""
    reading = Reading.of(read)
    fitted = load(model)
    if not has_coefficients(fitted):
        raise refusal(model, fitted, "a summary is of coefficients", f"use suffice show {model}")
    chosen = CONFIDENCE if level is None else level
    if robust is None:
        if data:
            raise ParameterError(
                f"{data[0]} is given", "a summary reads rows for --robust only", "leave it out"
            )
        facts = coefficient_facts(fitted, model, chosen)
    else:
        found = _robust(fitted, robust, data or (), chosen, reading)
        facts = robust_facts(found, model, chosen)
    intervals = level is not None
    deliver(facts, lambda: rendered_coefficients(facts, intervals), as_json, None)


def _robust(
    model: Any, kind: str, data: Sequence[str], level: float, reading: Reading
) -> list[Any]:
    """The summaries of all targets, with robust errors.

    Raises
    ------
    ParameterError
        If the model is not one of least squares, or there are no rows.
    """
    if not hasattr(model, "robust_summary"):
        raise ParameterError(
            f"--robust is given for a {type(model).__name__}",
            "robust errors are those of --model linear",
            "leave the option out",
        )
    if kind not in KINDS:
        raise ParameterError(f"--robust {kind!r}", f"it is one of {', '.join(map(repr, KINDS))}")
    if not data:
        raise ParameterError(
            f"--robust {kind} is given without rows",
            "robust errors are no function of the sums that the model keeps",
            "name the table of the fit after the model",
        )
    table = known_columns(remarked(reading.open(data, model.reader_.format)), model)
    truth, weight = label_of(model, None), weight_of(model, None, table)
    return [
        model.robust_summary(table, truth, weight, kind=kind, target=target, level=level)
        for target in model.target_names_
    ]
