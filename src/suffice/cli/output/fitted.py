"""What a fitted model has learnt: its columns and classes, or its candidates, and what is next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from suffice.cli.output.cross_validation import tuned_lines
from suffice.cli.output.tables import CommandLine, amount, grid, percent, rows_in_print
from suffice.models.generative.advice import advice

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.cli import documents
    from suffice.cli.documents import FittedClasses, ModelledColumn
    from suffice.ensemble.fitted import FittedAverage
    from suffice.models.generative.classifier import GenerativeClassifier
    from suffice.numerics.in_print import Table

__all__ = [
    "candidate_facts",
    "in_days",
    "learnt_facts",
    "moment",
    "rendered_candidates",
    "rendered_learnt",
    "rows_learnt",
    "schema_facts",
    "schema_grid",
]

DAY = 86_400
SPREADS = ("sd", "scale")
BEFORE_CUTS = ("<", ">=")
COST = "(hundreds of fits, about 100 times as long as this one)"


def learnt_facts(model: GenerativeClassifier, target: Path) -> FittedClasses:
    """What a model that is saved to a file has learnt, for ``--json``."""
    statistic = model.statistic_
    return {
        "model": str(target),
        "rows": float(statistic.weight.value.sum()),
        "unlabelled": float(statistic.unlabelled.value),
        "label": model.layout_.label,
        "weight": model.layout_.weight,
        "classes": [
            {"label": name, "rows": float(rows), "prior": float(prior)}
            for name, rows, prior in zip(
                statistic.classes.values, statistic.weight.value, model.model_.prior, strict=True
            )
        ],
        "columns": schema_facts(model),
        "ignored": list(model.layout_.ignored),
        "advice": list(advice(model.model_)),
    }


def schema_facts(model: GenerativeClassifier) -> list[ModelledColumn]:
    """What the columns are, for programs."""
    return [
        {"name": c.name, "kind": c.kind, "family": family, "reason": c.reason}
        for c, family in _modelled(model)
    ]


def _modelled(model: GenerativeClassifier) -> list[tuple[Any, str | None]]:
    """Every column with the name of its family; without a value so far, it has none."""
    families = model.model_.family_names
    return [(column, families.get(column.name)) for column in model.schema_]


def rendered_learnt(facts: FittedClasses, model: GenerativeClassifier) -> Iterator[RenderableType]:
    """The same in tables and lines."""
    yield schema_grid(model)
    if facts["ignored"]:
        yield f"  ignored: {', '.join(facts['ignored'])}\n"
    classes = grid(f"{facts['label']}", "rows", "prior")
    for known in facts["classes"]:
        classes.add_row(str(known["label"]), amount(known["rows"]), percent(known["prior"]))
    yield classes
    learnt = rows_learnt(facts["rows"], facts["weight"])
    yield f"  {learnt}, {amount(facts['unlabelled'])} left out without label"
    for said in facts["advice"]:
        yield f"  Look: {said}"
    yield from tuned_lines(facts["tuned"])
    yield f"  Saved to {facts['model']}"
    if "compare" in facts:
        yield f"  To measure what --model auto would gain, on rows that no model has learnt {COST}:"
        yield CommandLine(f"  {facts['compare']}")


def rows_learnt(rows: float, weight: str | None) -> str:
    """How many rows, or how much weight, of a column, a model has learnt."""
    if weight:
        return f"{amount(rows)} total weight ({weight})"
    return f"{rows_in_print(rows)} learnt"


def schema_grid(model: GenerativeClassifier) -> RenderableType:
    """What the schema decided for every column, and why."""
    table = grid("column", "kind", "family", "why", numbers=False)
    left_out = set(model.model_.identifiers)
    for column, family in _modelled(model):
        used = "left out" if column.name in left_out else family or "-"
        table.add_row(column.name, column.kind, used, column.reason)
    return table


# Averages of models ----------------------------------------------------------------------


def candidate_facts(model: FittedAverage, path: Path | str) -> documents.FittedAverage:
    """What a file of an average holds, for ``--json``."""
    return {
        "model": str(path),
        "label": model.layout_.label,
        "classes": model.classes_.tolist(),
        "candidates": [
            {
                "name": one.name,
                "log_loss": None if one.refusal else one.log_loss,
                "error": None if one.refusal else one.error,
                "weight": one.weight,
                "refusal": one.refusal,
            }
            for one in model.candidates_
        ],
        "columns": [{"name": c.name, "kind": c.kind, "reason": c.reason} for c in model.schema_],
        "ignored": list(model.layout_.ignored),
    }


def rendered_candidates(model: FittedAverage) -> Iterator[RenderableType | Table]:
    """The candidates in a table, the best first, and what is not read."""
    yield model.candidates_.table()
    if model.layout_.ignored:
        yield f"  ignored: {', '.join(model.layout_.ignored)}"


# Parameters of dates, which are counted in seconds ----------------------------------------


def moment(seconds: float) -> str:
    """The point in time so many seconds after the start of 1970, to the minute.

    Examples
    --------
    >>> moment(1_706_700_600.0), moment(1e15)
    ('2024-01-31 11:30', '1e+15 s after 1970')
    """
    try:
        found = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    except (OverflowError, ValueError):
        return f"{seconds:.4g} s after 1970"
    return found.isoformat(" ", "minutes")


def in_days(parameters: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Means and bins as dates, and what surrounds means in days.

    Examples
    --------
    >>> in_days({"mean": [86_400.0], "sd": [43_200.0]})
    {'mean': ['1970-01-02 00:00'], 'sd': ['0.5 days']}
    >>> in_days({"< 86400": [0.25], ">= 86400": [0.75]})
    {'< 1970-01-02 00:00': [0.25], '>= 1970-01-02 00:00': [0.75]}
    """
    return {
        _bin(name): [moment(v) for v in values]
        if name == "mean"
        else [f"{v / DAY:.4g} days" for v in values]
        if name in SPREADS
        else list(values)
        for name, values in parameters.items()
    }


def _bin(name: str) -> str:
    """The name of a bin, its cut as a date."""
    sign, _, cut = name.partition(" ")
    return f"{sign} {moment(float(cut))}" if sign in BEFORE_CUTS else name
