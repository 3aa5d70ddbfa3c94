"""``suffice show``: a model's classes and columns, or how a table is read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import Annotated, Any

import typer

import suffice
from suffice.cli.models import are_sums, has_candidates, has_coefficients
from suffice.cli.options import AsJson, ReadAs, Reading, option
from suffice.cli.output import CommandLine, deliver
from suffice.cli.results import (
    candidate_facts,
    class_facts,
    class_table,
    coefficient_results,
    read_as,
)
from suffice.cli.values import check_columns, listed, spelled
from suffice.numerics.in_print import Table, short
from suffice.persist import is_model_file
from suffice.phrases import amount, rows_in_print

MOST_CLASSES_ACROSS = 5
MOST_QUANTITIES_ACROSS = 4
MOST_LINES = 10


def show(
    *,
    file: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="A file of a model, sums or a plan, or a table."),
    ],
    column: Annotated[list[str] | None, option("COL", "Only these columns, in full.")] = None,
    as_json: AsJson = False,
    read: ReadAs = None,
) -> None:
    """Show a model's classes and columns, or how a table is read.

    A table is read to its end: its columns, their types, missing cells and rows
    that are left out are those that a fit would see.

    Example: suffice show adult.suffice --column age
    """
    parts: Iterable[str | Table]
    facts: dict[str, Any]
    found: Any
    model = Path(file[0])
    if len(file) == 1 and _is_plan(model):
        from suffice.owners import Plan

        plan = Plan.load(model)
        facts = {"plan": plan.digest, "estimator": repr(plan.like.estimator)}
        facts |= {"owners": list(plan.owners), "columns": plan.columns}
        parts = [plan.table()]
    elif len(file) > 1 or not is_model_file(model):
        facts = _read(Reading.of(read), file, listed(column))
        parts = _shown_table(facts)
    elif are_sums(found := suffice.load(model)):
        facts = {"sums": str(model), "type": type(found.estimator).__name__}
        facts |= {"by": list(found.by), "groups": len(found), "rows": float(found.rows.sum())}
        facts["columns"] = [column.name for column in found.reader.columns]
        targets = f"  label or target: {', '.join(found.target_names)}"
        parts = [str(found), f"  columns: {', '.join(facts['columns'])}", targets]
    elif has_candidates(found):
        facts, parts = candidate_facts(found, model), [found.candidates_.table()]
    elif has_coefficients(found):
        facts, of_terms = coefficient_results(found, model)
        parts = [found.schema_.table(), "", *of_terms]
    else:
        facts = _facts(found, model, listed(column))
        parts = _shown(facts, full=bool(column))
    deliver(facts, parts, as_json)


def _is_plan(path: Path) -> bool:
    """Tell whether a file begins as plans of sums of several owners do."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return b'"format": "suffice plan"' in file.read(64)


# Tables -----------------------------------------------------------------------------------------


def _read(reading: Reading, data: Sequence[str], chosen: Sequence[str]) -> dict[str, Any]:
    """Read a table to its end, and return how every column is read."""
    from suffice.data.beside import skipped_rows
    from suffice.data.table_source import TableSource

    table = reading.open(data, notes=False)
    check_columns("column", chosen, table.names)
    names = chosen or table.names
    kinds = {column.name: column for column in TableSource(table).columns(names)}
    rows, missing = 0, dict.fromkeys(names, 0)
    for part in table.parts(dict.fromkeys(names)):
        for batch in part.record_batches():
            rows += batch.num_rows
            for name in names:
                missing[name] += batch.column(name).null_count
    schema, doubts = table.shown.schema, table.about.doubts
    return {
        "files": list(data),
        "read_as": read_as(table),
        "missing_tokens": list(table.about.format.tokens) if table.about.format else [],
        "rows": rows,
        "skipped": [{"file": one.file, "line": one.line} for one in skipped_rows(table)],
        "columns": [
            {
                "name": name,
                "type": str(schema.field(name).type),
                "kind": kinds[name].kind,
                "reason": kinds[name].reason,
                "missing": missing[name],
                "doubt": spelled(doubts[name]) if name in doubts else None,
            }
            for name in names
        ],
    }


def _shown_table(facts: dict[str, Any]) -> Iterator[str | Table]:
    rows = [
        [one["name"], one["type"], one["kind"], amount(one["missing"]), one["reason"]]
        for one in facts["columns"]
    ]
    left = (0, 1, 2, 4)
    yield Table("", ["column", "type", "kind", "missing", "why"], rows, left=left)
    skipped = ", ".join(f"line {one['line']} of {one['file']}" for one in facts["skipped"])
    yield f"  {rows_in_print(facts['rows'])}" + (f"; left out: {skipped}" if skipped else "")
    yield from (f"  Read as: {line}" for line in facts["read_as"])
    yield from (f"  Look: {one['doubt']}" for one in facts["columns"] if one["doubt"])
    if facts["missing_tokens"]:
        tokens = ", ".join(token or "(empty)" for token in facts["missing_tokens"])
        yield f"  Missing: {tokens} (--missing adds to them)"


# Models -----------------------------------------------------------------------------------------


def _facts(model: Any, path: Path, chosen: Sequence[str]) -> dict[str, Any]:
    columns = _columns(model, model.statistic_.over(model.model_.classes))
    check_columns("column", chosen, columns)
    more = {
        "free_parameters": model.n_parameters_,
        "columns": [columns[name] for name in chosen or columns],
    }
    facts = class_facts(model, path) | more
    pairs = getattr(model.model_, "pairs", None)
    if pairs is not None:
        weight = model.model_.pair_weight
        facts["pairs"] = {"columns": list(pairs.columns), "bins": pairs.size, "counted": weight}
    return facts


def _columns(model: Any, statistic: Any) -> dict[str, dict[str, Any]]:
    """Return what is known of every column, in the order of the table."""
    from suffice.models.generative.described import missing_rows

    families, left_out = model.model_.family_names, set(model.model_.identifiers)
    read = {column.name: column for column in model.schema_}
    known: dict[str, dict[str, Any]] = {}
    fitted, missing = model.model_, missing_rows(model.model_)
    counted = fitted.column_weights if fitted.calibration else {}
    far = fitted.sampled and fitted.sampled.far(fitted.parts, statistic)
    for part, parameters in zip(fitted.parts, fitted.parameters, strict=True):
        for j, name in enumerate(part.layout.columns):
            column = known[name] = {
                "name": name,
                "kind": read[name].kind,
                "family": families[name],
                "missing": float(missing[name].sum()),
                "parameters": parameters.describe(j),
            }
            if read[name].stored == "time":
                column["unit"] = read[name].reason
            if name in left_out:
                column["left_out"] = True
            elif name in counted:
                column["counted"] = counted[name]
            if rivals := parameters.rivals(j):
                column["log_loss_alone"] = rivals
            if (evidence := parameters.alpha_evidence) is not None:
                column["alpha"] = evidence.of(j)
            if far is not None and name in far.columns:
                rows = far.bins.total[:, far.columns.index(name)]
                column["sampled_rows"] = float(rows.sum())
    return {name: known[name] for name in read}


def _shown(facts: dict[str, Any], full: bool) -> Iterator[str | Table]:
    yield class_table(facts)
    yield (
        f"  Fitted to {rows_in_print(facts['rows'])}, {amount(facts['unlabelled'])} left out "
        f"without label; {facts['free_parameters']:,} free parameters"
    )
    if facts["ignored"]:
        yield f"  Ignored: {', '.join(facts['ignored'])}"
    if "pairs" in facts:
        d, bins = len(facts["pairs"]["columns"]), facts["pairs"]["bins"]
        weight = f"{facts['pairs']['counted']:.2f}"
        yield f"  Pairs of {d} columns in {bins:,} bins, of weight {weight}; beside them:"
    names = [str(known["label"]) for known in facts["classes"]]
    for column in facts["columns"]:
        yield ""
        if column.get("left_out"):
            yield f"  {column['name']}: left out, as it tells one row from another"
            continue
        table, left_out = _column(column, names, None if full else MOST_LINES)
        yield table
        yield from _how_chosen(column)
        if left_out:
            again = join(["suffice", "show", facts["model"], "--column", column["name"]])
            yield CommandLine(f"  ... {left_out} more: {again}")


def _column(column: dict[str, Any], classes: Sequence[str], most: int | None) -> tuple[Table, int]:
    """Return the parameters of one column, and how many lines of them were left out.

    Classes are across where they are few; else there is one line per class.
    """
    from suffice.models.generative.described import in_words

    title = f"{column['name']}: {column['family']}, {amount(column['missing'])} missing"
    if "counted" in column:
        title += f", weight {column['counted']:.2f}"
    parameters: Mapping[str, Any] = in_words(column["parameters"], column.get("unit", ""))
    header, lines = list(classes), list(parameters.items())
    if len(classes) > MOST_CLASSES_ACROSS:
        header = list(parameters)[:MOST_QUANTITIES_ACROSS]
        rows = zip(*(parameters[name] for name in header), strict=True)
        lines = [(name, list(row)) for name, row in zip(classes, rows, strict=False)]
    cells = [[name, *map(short, values)] for name, values in lines[:most]]
    return Table(title, ["", *header], cells), len(lines) - len(cells)


def _how_chosen(column: dict[str, Any]) -> Iterator[str]:
    """Yield why a column has its family, and from which rows."""
    if losses := column.get("log_loss_alone"):
        best_first = sorted(losses, key=lambda family: losses[family])
        told = ", ".join(f"{family} {losses[family]:.3f}" for family in best_first)
        yield f"  log loss alone: {told}"
    if chosen := column.get("alpha"):
        laplace = chosen["log_evidence"] - chosen["curve"][chosen["tried"].index(1.0)]
        yield f"  alpha {short(chosen['alpha'])} by evidence, {laplace:.2f} nats above that of 1"
    if rows := column.get("sampled_rows"):
        yield f"  far from 0, so its shape is that of {rows_in_print(rows)} of a sample"
