"""``suffice update``: more rows for a model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from shlex import join
from typing import Annotated, Any

from suffice.cli.models import predicts_numbers
from suffice.cli.options import AsJson, Data, ModelFile, ReadAs, output_file, updated
from suffice.cli.output import CommandLine, deliver
from suffice.errors import DataError
from suffice.numerics.in_print import listed
from suffice.phrases import amount, rows_in_print


def update(
    *,
    model: ModelFile,
    data: Data,
    output: Annotated[Path | None, output_file("Another file (default: MODEL itself).")] = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Fit a model to more rows.

    The sums are those of one fit of all rows, to the last bit; the old rows are not
    needed. Files are read as those before, and column weights follow new rows.

    Example: suffice update adult.suffice february.csv
    """
    target = output or model
    with updated(model, data, read, target, "Reading") as (fitted, table, label, weight):
        before = float(fitted.statistic_.rows)
        labels = set(getattr(fitted, "classes_", ()))
        terms = set(getattr(fitted, "terms_", ()))
        had_errors = getattr(fitted.model_, "errors", None) is not None
        fitted.partial_fit(table, label, sample_weight=weight)
        if fitted.statistic_.rows == before:
            raise DataError(
                f"{', '.join(data)} holds no row with a weight above zero",
                "there is nothing to fit to",
                "check the file and the weights",
            )
    weights = getattr(fitted.model_, "calibration", None)
    new = [term for term in getattr(fitted, "terms_", ()) if term not in terms]
    facts: dict[str, Any] = {
        "model": str(target),
        "joined": float(fitted.statistic_.rows) - before,
        "rows": float(fitted.statistic_.rows),
        "new_terms": new,
    }
    if predicts_numbers(fitted):
        facts["errors_known"] = fitted.model_.errors is not None
    else:
        facts["new_labels"] = [c for c in fitted.classes_.tolist() if c not in labels]
        facts["weights"] = None if weights is None else "earlier" if weights.stale else "all"
    deliver(facts, _shown(facts, data, had_errors), as_json)


def _shown(facts: dict[str, Any], data: list[str], had_errors: bool) -> Iterator[str]:
    noun = "row joins" if facts["joined"] == 1 else "rows join"
    told = f"{amount(facts['joined'])} {noun}: {rows_in_print(facts['rows'])} in all."
    if facts.get("new_labels"):
        told += f" New labels: {', '.join(map(str, facts['new_labels']))}."
    if facts["new_terms"]:
        told += f" New terms: {listed(facts['new_terms'])}."
    if facts.get("weights") == "all":
        told += " Column weights follow."
    yield f"{told} Saved to {facts['model']}"
    of_weights = facts.get("weights") == "earlier"
    if of_weights or (had_errors and not facts["errors_known"]):
        kept = "Column weights are of earlier rows" if of_weights else "Errors are not known now"
        yield f"{kept}. To learn them from rows that you have:"
        again = ["suffice", "calibrate", facts["model"], *data, "-o", facts["model"]]
        yield CommandLine(f"  {join(again)}")
