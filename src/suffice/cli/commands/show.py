"""``suffice show``: what a model knows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from suffice.cli.options.models import has_candidates, load, load_generative
from suffice.cli.options.names import listed, no_such_column
from suffice.cli.options.shared import AsJson, ModelFile
from suffice.cli.output.fitted import candidate_facts, in_days, rendered_candidates
from suffice.cli.output.tables import (
    CommandLine,
    amount,
    barred,
    deliver,
    draws_bars,
    grid,
    percent,
    rows_in_print,
    short,
)

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.cli.documents import Alpha, KnownColumn, Shown
    from suffice.models.generative.classifier import GenerativeClassifier
    from suffice.sums.by_class import ByClass

__all__ = ["show"]

MOST_CLASSES_ACROSS = 5
MOST_QUANTITIES_ACROSS = 4
MOST_LINES = 10
PRIOR_BAR, SHARE_BAR = 12, 5  # characters of bars
FAMILIES_OF_SHARES = ("categorical", "bernoulli")  # whose parameters are parts of 1


def show(
    model: ModelFile,
    column: Annotated[
        list[str] | None, typer.Option(metavar="COL", help="Only this column, in full.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a model knows: class priors, and every column's family and parameters."""
    chosen = listed(column)
    if has_candidates(average := load(model)):
        of_all = candidate_facts(average, model)
        deliver(of_all, lambda: rendered_candidates(average), as_json, None)
        return
    fitted = load_generative(
        model, "it has coefficients, and no families", f"use suffice summary {model}"
    )
    facts = _facts(fitted, model, chosen)
    deliver(facts, lambda: _rendered(facts, full=bool(chosen)), as_json, None)


def _facts(model: GenerativeClassifier, path: Path, chosen: Sequence[str]) -> Shown:
    # A class may be declared that no row shows.
    statistic = model.statistic_.over(model.model_.classes)
    columns = _columns(model, statistic)
    for name in chosen:
        if name not in columns:
            raise no_such_column("column", name, tuple(columns))
    facts: Shown = {
        "model": str(path),
        "rows": float(statistic.weight.value.sum()),
        "unlabelled": float(statistic.unlabelled.value),
        "free_parameters": model.n_parameters_,
        "label": model.layout_.label,
        "classes": [
            {"label": name, "rows": float(rows), "prior": float(prior)}
            for name, rows, prior in zip(
                statistic.classes.values, statistic.weight.value, model.model_.prior, strict=True
            )
        ],
        "columns": [columns[name] for name in chosen or columns],
        "ignored": list(model.layout_.ignored),
    }
    pairs = getattr(model.model_, "pairs", None)
    if pairs is not None:
        weight = model.model_.pair_weight  # type: ignore[attr-defined]
        facts["pairs"] = {"columns": list(pairs.columns), "bins": pairs.size, "counted": weight}
    return facts


def _columns(model: GenerativeClassifier, statistic: ByClass) -> dict[str, KnownColumn]:
    """What is known of every column, in the order of the table."""
    families, left_out = model.model_.family_names, set(model.model_.identifiers)
    read = {column.name: column for column in model.schema_}
    known: dict[str, KnownColumn] = {}
    parts, calibration = model.model_.parts, model.model_.calibration
    counted = calibration.of_parts(parts) if calibration else [None] * len(parts)
    blocks = statistic.blocks[: len(parts)]  # the others are no columns of a family
    sampled = model.model_.sampled
    far = sampled and sampled.far(parts, statistic)
    for part, parameters, block, weights in zip(
        parts, model.model_.parameters, blocks, counted, strict=True
    ):
        for j, name in enumerate(part.layout.columns):
            # A text, or a group of counts, is observed or missing as a whole.
            observed = block.total[:, min(j, block.total.shape[1] - 1)]
            column = known[name] = {
                "name": name,
                "kind": read[name].kind,
                "family": families[name],
                "missing": float((statistic.weight.value - observed).sum()),
                "parameters": parameters.describe(j),
            }
            if read[name].stored == "time":
                column["unit"] = read[name].reason
            if name in left_out:
                column["left_out"] = True
            elif weights is not None:
                column["counted"] = float(weights[min(j, len(weights) - 1)])
            if rivals := parameters.rivals(j):
                column["log_loss_alone"] = rivals
            if (evidence := parameters.alpha_evidence) is not None:
                column["alpha"] = cast("Alpha", evidence.of(j))
            if far is not None and name in far.columns:
                rows = far.bins.total[:, far.columns.index(name)]
                column["sampled_rows"] = float(rows.sum())
    return {name: known[name] for name in read}


def _rendered(facts: Shown, full: bool) -> Iterator[RenderableType]:
    drawn = draws_bars()
    classes = grid(facts["label"] or "label", "rows", "prior")
    for known in facts["classes"]:
        prior = percent(known["prior"])
        shown = barred(prior, known["prior"], PRIOR_BAR) if drawn else prior
        classes.add_row(str(known["label"]), amount(known["rows"]), shown)
    yield classes
    yield (
        f"  {rows_in_print(facts['rows'])} learnt, {amount(facts['unlabelled'])} left out without "
        f"label, {facts['free_parameters']:,} free parameters"
    )
    if facts["ignored"]:
        yield f"  ignored: {', '.join(facts['ignored'])}"
    if "pairs" in facts:
        d, bins = len(facts["pairs"]["columns"]), facts["pairs"]["bins"]
        yield (
            f"  pairs of {d} columns in {bins:,} bins, counted {facts['pairs']['counted']:.2f} "
            "times; beside them, single columns:"
        )
    yield ""
    names = [str(known["label"]) for known in facts["classes"]]
    for column in facts["columns"]:
        table, left_out = _column(column, names, None if full else MOST_LINES, drawn)
        yield table
        below = list(_how_chosen(column))
        if left_out:
            again = join(["suffice", "show", facts["model"], "--column", column["name"]])
            below.append(CommandLine(f"  ... {left_out} more: {again}"))
        if below or isinstance(table, str):
            yield from (*below, "")


def _column(
    column: KnownColumn, classes: Sequence[str], most: int | None, drawn: bool
) -> tuple[RenderableType, int]:
    """The parameters of one column, and how many lines of them were left out.

    Classes are across where they are few; else there is one line per class.
    """
    if column.get("left_out"):
        return f"  {column['name']}: left out, as it tells one row from another", 0
    title = f"{column['name']}: {column['family']}, {amount(column['missing'])} missing"
    if "counted" in column:
        title += f", counted {column['counted']:.2f} times"
    parameters: Mapping[str, list[Any]] = column["parameters"]
    from suffice.data.schema import DATES

    if column.get("unit") == DATES:
        parameters = in_days(parameters)
    if len(classes) <= MOST_CLASSES_ACROSS:
        table = grid("", *classes, title=title)
        lines = list(parameters.items())
    else:
        across = list(parameters)[:MOST_QUANTITIES_ACROSS]
        table = grid("", *across, title=title)
        rows = zip(*(parameters[name] for name in across), strict=True)
        lines = [(name, list(row)) for name, row in zip(classes, rows, strict=False)]
    shares = drawn and column["family"] in FAMILIES_OF_SHARES
    for name, values in lines[:most]:
        cells = (barred(short(v), v, SHARE_BAR) if shares else short(v) for v in values)
        table.add_row(name, *cells)
    return table, len(lines) - len(lines[:most])


def _how_chosen(column: KnownColumn) -> Iterator[str]:
    """Why a column has its family, and from which rows."""
    if column.get("left_out"):
        return
    if losses := column.get("log_loss_alone"):
        best_first = sorted(losses, key=lambda family: losses[family])
        told = ", ".join(f"{family} {losses[family]:.3f}" for family in best_first)
        yield f"  log loss alone: {told}"
    if chosen := column.get("alpha"):
        laplace = chosen["log_evidence"] - chosen["curve"][chosen["tried"].index(1.0)]
        yield f"  alpha {short(chosen['alpha'])} by evidence, {laplace:.2f} nats above that of 1"
    if rows := column.get("sampled_rows"):
        yield f"  far from 0, so its shape is that of {rows_in_print(rows)} of a sample"
