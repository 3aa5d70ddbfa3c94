"""``suffice fit``: learn a model from files."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import remarked
from suffice.cli.messages.sentences import sentences
from suffice.cli.options.learner import (
    GRIDS,
    Columns,
    estimator_of,
    given_columns,
    parameters_for,
    points_of,
    selected,
)
from suffice.cli.options.models import (
    has_candidates,
    has_coefficients,
    predicts_numbers,
)
from suffice.cli.options.reading import ReadAs, Reading
from suffice.cli.options.recipes import NAIVE_BAYES
from suffice.cli.options.replacing import Force, NewModel, refuse_replacing
from suffice.cli.options.running import Checkpoint, Running, reported
from suffice.cli.options.shared import AsJson, Data, Parameters, Weight, typed
from suffice.cli.output.cross_validation import fold_facts, tuned_lines
from suffice.cli.output.fitted import (
    candidate_facts,
    learnt_facts,
    rendered_candidates,
    rendered_learnt,
    rows_learnt,
)
from suffice.cli.output.tables import amount, deliver, refuse_overwriting
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.cli.documents import FittedCoefficients, Folds
    from suffice.cli.options.learner import Point

__all__ = ["fit"]

MOST_COEFFICIENTS = 30
FOLDS = 10  # of --tune


def fit(
    *,
    data: Data,
    label: Annotated[
        list[str],
        typer.Option(
            "--label",
            "--target",
            metavar="COL",
            help="The column to be predicted; those for numbers take several.",
            show_default=False,
        ),
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="naive-bayes, aode, lda, qda or logistic for classes, or auto: the mean of "
            "the best of several; linear, ridge, lasso or elastic-net for numbers.",
        ),
    ] = NAIVE_BAYES,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The model file; by default named after the first data file. One that is there is "
            "replaced by a model of the same kind, label, columns and options, else kept.",
        ),
    ] = None,
    force: Force = False,
    weight: Weight = None,
    as_json: AsJson = False,
    parameters: Parameters = None,
    read: ReadAs = None,
    columns: Columns,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Try several values of parameters, and take those that predict held-out rows "
            "best.",
        ),
    ] = False,
    checkpoint: Checkpoint = None,
    running: Running,
) -> None:
    """Learn a model from files and keep it in one small file.

    By default naive Bayes: every column gets the family that its cells suggest,
    and the reason is shown; a missing cell is left out, never filled in.
    """
    from suffice.engines.engine import fit_context

    refuse_overwriting(output, data)
    found: Folds | None = None
    target = output or _named_after(data[0])
    _check_checkpoint(checkpoint, data, target)
    reading = Reading.of(read)
    given, words = parameters_for(model, parameters, [model])
    chosen = estimator_of(model, given, columns, reading)
    _check_targets(chosen, label)
    table = selected(remarked(reading.open(data)), columns, label, weight)
    names = set(table.names) - {*label, weight}
    points = _tuned(model, parameters, given) if tune else {}
    varied = {name for point in points.values() for name in point.parameters} - set(given)
    refuse_replacing(target, NewModel(chosen, label, names, varied), force)
    with reported(f"Learning from {', '.join(data)}") as report, fit_context():
        truth: Any = label if len(label) > 1 else label[0]
        if tune:
            from suffice.model_selection import evaluate_models

            learners = {
                name: estimator_of(model, point.parameters, columns, reading)
                for name, point in points.items()
            }
            judged = evaluate_models(
                learners, table, truth, weight, cv=FOLDS, shuffle=True, random_state=0
            )
            found = fold_facts(sentences(judged), None)
            chosen = learners[found["best"]]
        with running.chosen(report, checkpoint=checkpoint):
            chosen.fit(table, truth, weight)
        # Within the work: the checkpoint stays until the model is safe.
        chosen.save(target)
    if has_coefficients(chosen):
        _deliver_coefficients(chosen, target, label, found, as_json)
    elif has_candidates(chosen):
        of_all = candidate_facts(chosen, target)
        saved = f"  Saved to {target}"
        deliver(of_all, lambda: chain(rendered_candidates(chosen), [saved]), as_json, None)
    else:
        facts = learnt_facts(chosen, target)
        facts["tuned"] = found
        if model == NAIVE_BAYES and not (tune or "-" in data):  # a pipe is read once
            compared = [*data, "--label", label[0], "--model", f"{NAIVE_BAYES},auto"]
            compared += typed({"weight": weight, **given_columns(columns)})
            compared += [*reading.words, *words]
            facts["compare"] = join(["suffice", "cv", *compared])
        deliver(facts, lambda: rendered_learnt(facts, chosen), as_json, None)


def _tuned(model: str, given: Sequence[str] | None, own: Mapping[str, Any]) -> dict[str, Point]:
    """Return the points of the model's grid; a parameter that is given is not changed."""
    grid = [axis for axis in GRIDS.get(model, ()) if axis.partition("=")[0] not in own]
    if not grid:
        raise ParameterError(
            f"--tune is given for --model {model}",
            "there is no option left to choose" if model in GRIDS else "it has no such option",
            "leave --tune out",
        )
    return {point.name: point for point in points_of([model], given, grid)}


def _check_checkpoint(checkpoint: Path | None, data: Sequence[str], target: Path) -> None:
    """Refuse a checkpoint where there is, or will be, another file."""
    refuse_overwriting(checkpoint, data, "--checkpoint")
    if checkpoint is not None and checkpoint.resolve() == target.resolve():
        raise ParameterError(
            f"--checkpoint {checkpoint} is the model file",
            "a checkpoint is removed when the model is saved",
            "choose another name",
        )


def _check_targets(model: Any, targets: Sequence[str]) -> None:
    """Refuse more targets than a model has, and the same one twice."""
    for name in targets:
        if targets.count(name) > 1:
            raise ParameterError(
                f"--label names {name!r} twice", "a label is named once", "drop one of them"
            )
    if len(targets) > 1 and not predicts_numbers(model):
        raise ParameterError(
            f"--label names {', '.join(map(repr, targets))}",
            "a classifier predicts one column",
            "name one of them, or choose --model linear or ridge",
        )


def _deliver_coefficients(
    model: Any,
    target: Path,
    label: Sequence[str],
    tuned: Folds | None,
    as_json: bool,
) -> None:
    from suffice.cli.output.coefficients import coefficient_facts, rendered_coefficients

    facts: FittedCoefficients = {
        **coefficient_facts(model, target),
        "label": label[0] if len(label) == 1 else list(label),
        "weight": model.layout_.weight,
        "columns": [{"name": c.name, "kind": c.kind, "reason": c.reason} for c in model.schema_],
        "ignored": list(model.layout_.ignored),
        "tuned": tuned,
    }

    def rendered() -> Iterator[RenderableType]:
        yield from rendered_coefficients(facts, most=MOST_COEFFICIENTS)
        if facts["ignored"]:
            yield f"  ignored: {', '.join(facts['ignored'])}"
        if "rows" in facts:
            weight = facts["weight"] if hasattr(model, "rows_") else None  # else rows are counted
            yield f"  {rows_learnt(facts['rows'], weight)}"
        if facts.get("unlabelled"):
            yield f"  Rows left out without label: {amount(facts['unlabelled'])}"
        yield from tuned_lines(facts["tuned"])
        yield f"  Saved to {target}"

    deliver(facts, rendered, as_json, None)


def _named_after(data: str) -> Path:
    """``model.suffice`` in the working directory, for the first file called ``model.csv.gz``.

    Also for a pipe, whose name says nothing.
    """
    from suffice.data.files.pipes import is_read_once

    first = Path(min(glob.glob(data, recursive=True), default=data))
    name = first.resolve().name if first.is_dir() else Path(first.name.removesuffix(".gz")).stem
    if data == "-" or is_read_once(first) or not name:
        return Path("model.suffice")
    return Path(f"{name}.suffice")
