"""``suffice fit``: learn a model from files."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages.remarks import remarked
from suffice.cli.messages.sentences import sentences
from suffice.cli.options.decision import Decision
from suffice.cli.options.estimators import Options, given_of
from suffice.cli.options.learner import estimator_of, selected
from suffice.cli.options.models import (
    has_candidates,
    has_coefficients,
    predicts_numbers,
    refuse_tokens,
)
from suffice.cli.options.names import listed
from suffice.cli.options.recipes import NAIVE_BAYES
from suffice.cli.options.replacing import Force, NewModel, refuse_replacing
from suffice.cli.options.roles import COLUMNS, Roles
from suffice.cli.options.running import Checkpoint, Running, refuse_threads
from suffice.cli.options.shared import AsJson, Data, Labels, Reading, Weight, typed
from suffice.cli.options.tuning import judged_points, tuned_options
from suffice.cli.output.candidates import candidate_facts, rendered_candidates
from suffice.cli.output.cross_validation import fold_facts, tuned_lines
from suffice.cli.output.learnt import learnt_facts, rendered_learnt, rows_learnt
from suffice.cli.output.tables import amount, deliver, refuse_overwriting
from suffice.engines.fit_context import fit_context
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType


__all__ = ["fit"]

MOST_COEFFICIENTS = 30


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
            help="naive-bayes, aode, lda, qda, rda or logistic for classes, or auto: the mean of "
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
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COL",
            help="Predict from these columns only; names may be comma lists.",
            rich_help_panel=COLUMNS,
        ),
    ] = None,
    roles: Roles,
    reading: Reading,
    labels: Labels,
    options: Options,
    tune: Annotated[
        bool,
        typer.Option(
            "--tune",
            help="Try several options of the model, and take those that answer best the rows that "
            "are left out of a fit.",
        ),
    ] = False,
    decision: Decision,
    checkpoint: Checkpoint = None,
    running: Running,
) -> None:
    """Learn a model from files and keep it in one small file.

    By default naive Bayes: every column gets the family that its cells suggest,
    and the reason is shown; a missing cell is left out, never filled in.
    """
    refuse_overwriting(output, data)
    found: dict[str, Any] | None = None
    target = output or _named_after(data[0])
    _check_checkpoint(checkpoint, data, target)
    refuse_threads(running, options.threads)
    chosen = estimator_of(model, options, roles, reading, labels)
    _check_targets(chosen, label)
    table = selected(remarked(reading.open(data)), roles, label, weight, listed(features))
    refuse_tokens(chosen, reading, table, data[0])
    names = set(table.names) - {*label, weight}
    found_by_tuning = tuned_options(model, options) if tune else ()
    refuse_replacing(target, NewModel(chosen, label, names, found_by_tuning), force)
    with running.reported(f"Learning from {', '.join(data)}") as report, fit_context():
        truth: Any = label if len(label) > 1 else label[0]
        if tune:
            build = partial(estimator_of, roles=roles, reading=reading, labels=labels)
            points, judged = judged_points(model, options, build, table, truth, weight)
            found = fold_facts(sentences(judged), None)
            chosen = build(model, points[found["best"]])
        chosen.engine = running.chosen(report, options.threads, checkpoint)
        chosen.fit(table, truth, weight)
        # Within the work: the checkpoint stays until the model is safe.
        decision.applied(chosen).save(target)
        # A pipe is read once, and only naive Bayes cleans labels.
        comparable = model == NAIVE_BAYES and not (tune or "-" in data or given_of(labels))
    if has_coefficients(chosen):
        _deliver_coefficients(chosen, target, label, found, as_json)
    elif has_candidates(chosen):
        of_all = candidate_facts(chosen, target)
        saved = f"  Saved to {target}"
        deliver(of_all, lambda: chain(rendered_candidates(of_all), [saved]), as_json, None)
    else:
        facts = learnt_facts(chosen, target) | {"tuned": found}
        if comparable:
            compared = [*data, "--label", label[0], "--model", f"{NAIVE_BAYES},auto"]
            compared += typed({"weight": weight, "features": features})
            for given in (roles, reading, options):
                compared += typed(given)
            facts |= {"compare": join(["suffice", "cv", *compared])}
        deliver(facts, lambda: rendered_learnt(facts, chosen), as_json, None)


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
    tuned: dict[str, Any] | None,
    as_json: bool,
) -> None:
    from suffice.cli.output.coefficients import coefficient_facts, rendered_coefficients

    facts = coefficient_facts(model, target) | {
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
