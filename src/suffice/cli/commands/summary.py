"""``suffice summary``: coefficients, their errors and tests, the fit, and what rows do to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from suffice.cli.models import load_model
from suffice.cli.options import AsJson, ModelFile, ReadAs, Reading, option, rows_for
from suffice.cli.output import deliver
from suffice.cli.results import CONFIDENCE, coefficient_facts, coefficient_tables, summaries_of
from suffice.errors import ParameterError, SufficeError
from suffice.numerics.in_print import Table
from suffice.persist import is_model_file

KINDS = ("HC0", "HC1", "HC2", "HC3")
MOST_INFLATED = 500  # terms, of which variances are compared unasked
LARGEST = 3  # inflated columns that are printed


def summary(
    *,
    model: ModelFile,
    data: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DATA]",
            help="The training data, for residuals and --robust; or a second model of the same "
            "rows with fewer or more terms, for a test of the difference.",
        ),
    ] = None,
    level: Annotated[float, option("P", "Confidence of the intervals.")] = CONFIDENCE,
    robust: Annotated[
        str | None, option("|".join(KINDS), "Robust standard errors, of --model linear.")
    ] = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Show coefficients with standard errors, tests and fit.

    Of linear, ridge, lasso, elastic net and logistic models. With DATA: residuals,
    leverage and Cook's distance of the rows that decide most; with --json, of all.

    Example: suffice summary boston.suffice
    """
    reading = Reading.of(read)
    rule = "a summary is of coefficients"
    fitted = load_model(model, rule, f"use suffice show {model}", "summary")
    found: list[Any] | SufficeError
    if robust is not None:
        found = _robust(fitted, robust, data or (), level, reading)
    else:
        found = summaries_of(fitted, level)
    facts = coefficient_facts(fitted, found, model, level)
    more: list[str | Table] = []
    if len(fitted.terms_) <= MOST_INFLATED and not isinstance(found, Exception):
        more += _inflation(fitted, facts)
    if data and any(map(is_model_file, data)):
        more += _compared(fitted, data, facts)
    elif data and robust is None:
        more += _influence(fitted, data, reading, facts)
    deliver(facts, [*coefficient_tables(facts, found), *more], as_json)


def _inflation(model: Any, facts: dict[str, Any]) -> Iterator[str]:
    """Add how much variances are inflated, and yield the largest."""
    try:
        found = model.variance_inflation()
    except ParameterError:  # of several classes
        return
    columns = found.columns, found.inflation.tolist(), found.terms.tolist(), found.root.tolist()
    facts["variance_inflation"] = [
        {"column": name, "inflation": vif, "terms": m, "root": root}
        for name, vif, m, root in zip(*columns, strict=True)
    ]
    largest = sorted(zip(columns[3], columns[0], strict=True), reverse=True)[:LARGEST]
    if len(columns[0]) > 1:
        said = ", ".join(f"{name} {root**2:.4g}" for root, name in largest)
        yield f"  Largest variance inflation (VIF): {said}"


def _compared(model: Any, data: Sequence[str], facts: dict[str, Any]) -> Iterator[str | Table]:
    """Add the tests against another model, one of each target."""
    other = load_model(Path(data[0])) if len(data) == 1 else None
    if not hasattr(other, "anova"):
        rule = "a model is tested against one other, both linear or both logistic"
        raise ParameterError(f"{', '.join(data)} stands for a second model", rule)
    facts["compared"] = []
    for target in [None] if hasattr(model, "classes_") else range(len(model.target_names_)):
        found = model.anova(other, *([] if target is None else [target]))
        facts["compared"].append({**vars(found), "difference": found.difference, "p": found.p})
        yield from _titled(f"Compared with {data[0]}", found.table())


def _influence(
    model: Any, data: Sequence[str], reading: Reading, facts: dict[str, Any]
) -> Iterator[str | Table]:
    """Add residuals and influence of all rows, and yield those that decide most."""
    if not hasattr(model, "influence"):
        rule = "residuals and leverage are those of a linear model"
        raise ParameterError(f"{data[0]} is given", rule, "leave it out, or use suffice evaluate")
    rows = rows_for(model, data, reading)
    for target, equation in enumerate(facts["equations"]):
        found = model.influence(*rows, target=target)
        columns = [values.tolist() for values in found.columns.values()]
        equation["rows"] = [
            {"row": row, **dict(zip(found.columns, values, strict=True))}
            for row, values in enumerate(zip(*columns, strict=True), 1)
        ]
        yield from _titled(f"Rows that decide most of {found.target}", found.table(first=1))


def _titled(title: str, table: Table) -> Iterator[str | Table]:
    yield ""
    yield Table(title, table.header, table.rows)
    yield from (f"  {note}" for note in table.notes)


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
    rows = rows_for(model, data, reading)
    return [
        model.robust_summary(*rows, kind=kind, target=target, level=level)
        for target in model.target_names_
    ]
