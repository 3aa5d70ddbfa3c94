"""``suffice summary``: the coefficients of a model, their errors and tests, and the fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from suffice.cli.models import known_columns, label_of, load_having, weight_of
from suffice.cli.options import AsJson, ModelFile, ReadAs, Reading
from suffice.cli.output import deliver
from suffice.cli.results import CONFIDENCE, coefficient_facts, coefficient_tables, summaries_of
from suffice.errors import ParameterError, SufficeError

KINDS = ("HC0", "HC1", "HC2", "HC3")


def summary(
    *,
    model: ModelFile,
    data: Annotated[
        list[str] | None,
        typer.Argument(metavar="[DATA]", help="The training data, for --robust."),
    ] = None,
    level: Annotated[
        float, typer.Option(metavar="P", help="Confidence of the intervals.")
    ] = CONFIDENCE,
    robust: Annotated[
        str | None,
        typer.Option(metavar="|".join(KINDS), help="Robust standard errors, of --model linear."),
    ] = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Show coefficients with standard errors, tests and fit.

    Of linear, ridge, lasso, elastic net and logistic models.
    """
    reading = Reading.of(read)
    rule = "a summary is of coefficients"
    fitted = load_having(model, rule, f"use suffice show {model}", "summary")
    found: list[Any] | SufficeError
    if robust is not None:
        found = _robust(fitted, robust, data or (), level, reading)
    elif data:
        rule = "a summary reads rows for --robust only"
        raise ParameterError(f"{data[0]} is given", rule, "leave it out")
    else:
        found = summaries_of(fitted, level)
    facts = coefficient_facts(fitted, found, model, level)
    deliver(facts, lambda: coefficient_tables(facts, found), as_json)


def _robust(
    model: Any, kind: str, data: Sequence[str], level: float, reading: Reading
) -> list[Any]:
    """Return the summaries of all targets, with robust errors."""
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
            "name the training data after the model",
        )
    table = known_columns(reading.open(data, model.reader_.format), model)
    truth, weight = label_of(model), weight_of(model, None, table)
    return [
        model.robust_summary(table, truth, weight, kind=kind, target=target, level=level)
        for target in model.target_names_
    ]
