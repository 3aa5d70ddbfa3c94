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
from suffice.cli.options.roles import COLUMNS, Roles
from suffice.cli.options.running import Checkpoint, Running, refuse_threads
from suffice.cli.options.shared import AsJson, Data, Labels, Reading, Weight, typed
from suffice.cli.options.tuning import judged_points
from suffice.cli.output.candidates import candidate_facts, rendered_candidates
from suffice.cli.output.cross_validation import fold_facts, tuned_lines
from suffice.cli.output.expected_labels import expected_facts, expected_lines
from suffice.cli.output.tables import (
    CommandLine,
    amount,
    deliver,
    grid,
    percent,
    refuse_overwriting,
    rows_in_print,
)
from suffice.engines.fit_context import fit_context
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from suffice.models.generative.classifier import GenerativeClassifier

__all__ = ["fit", "schema_facts", "schema_grid"]

MOST_COEFFICIENTS = 30
ENOUGH = 1_000  # rows of a sample: fewer are learnt before more models are loaded and fitted


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
            "--output", "-o", help="The model file; by default named after the first data file."
        ),
    ] = None,
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
            help="Take the options of the model that answer rows best which they have not learnt.",
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
        gain = _gain(chosen, options, roles) if comparable else None
    if has_coefficients(chosen):
        _deliver_coefficients(chosen, target, label, found, as_json)
        return
    if has_candidates(chosen):
        of_all = candidate_facts(chosen, target)
        saved = f"  Saved to {target}"
        deliver(of_all, lambda: chain(rendered_candidates(of_all), [saved]), as_json, None)
        return
    facts = _facts(chosen, target) | {"tuned": found}
    if comparable:
        compared = [*data, "--label", label[0], "--model", f"{NAIVE_BAYES},auto"]
        compared += typed({"weight": weight, "features": features})
        for given in (roles, reading, options):
            compared += typed(given)
        facts |= {"compare": join(["suffice", "cv", *compared]), "gain": gain}
    deliver(facts, lambda: _rendered(facts, chosen), as_json, None)


def _gain(model: GenerativeClassifier, options: Options, roles: Roles) -> dict[str, Any] | None:
    """What the mean of several models would gain, where the rows that weights rest on tell."""
    from suffice.statistics.row_sample import Sampled

    sums = model.statistic_
    if not (isinstance(sums, Sampled) and sums.sample.rows >= ENOUGH):
        return None
    from suffice.ensemble.candidates import Roles as Known
    from suffice.ensemble.gain import gain_of_average

    identifiers: Any = options.identifiers or "ignore"
    kinds = listed(roles.categorical) or None, listed(roles.text) or None
    known = Known(*kinds, (), identifiers, options.threads, None)
    found = gain_of_average(model, known)
    return None if found is None else {**found._asdict(), "sure": found.is_sure}


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
            yield f"  {_learnt(facts['rows'], facts['weight'])}"
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


def _facts(model: GenerativeClassifier, target: Path) -> dict[str, Any]:
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
        "advice": list(model.advice_),
        **expected_facts(model),
    }


def schema_facts(model: GenerativeClassifier) -> list[dict[str, Any]]:
    """What the columns are, for programs."""
    return [
        {"name": c.name, "kind": c.kind, "family": family, "reason": c.reason}
        for c, family in _modelled(model)
    ]


def _modelled(model: GenerativeClassifier) -> list[tuple[Any, str | None]]:
    """Every column with the name of its family; without a value so far, it has none."""
    families = model.model_.family_names
    return [(column, families.get(column.name)) for column in model.schema_]


def _rendered(facts: dict[str, Any], model: GenerativeClassifier) -> Iterator[RenderableType]:
    yield schema_grid(model)
    if facts["ignored"]:
        yield f"  ignored: {', '.join(facts['ignored'])}\n"
    classes = grid(f"{facts['label']}", "rows", "prior")
    for known in facts["classes"]:
        classes.add_row(str(known["label"]), amount(known["rows"]), percent(known["prior"]))
    yield classes
    learnt = _learnt(facts["rows"], facts["weight"])
    yield f"  {learnt}, {amount(facts['unlabelled'])} left out without label"
    yield from expected_lines(facts)
    for said in facts["advice"]:
        yield f"  Look: {said}"
    yield from tuned_lines(facts["tuned"])
    yield f"  Saved to {facts['model']}"
    if "compare" in facts:
        yield from _compared(facts["compare"], facts["gain"])


def _compared(command: str, gain: dict[str, Any] | None) -> Iterator[RenderableType]:
    """What more models would gain, and the command that measures it; nothing if they do not."""
    if gain is None:
        yield "  What --model auto would gain, on rows that no model has learnt:"
    elif gain["sure"]:
        own, other = gain["log_loss"], gain["log_loss_of_average"]
        yield (
            f"  --model auto: log loss about {other:.3f} instead of {own:.3f} nats a row, of "
            f"{rows_in_print(gain['rows'])} of a sample that neither had learnt. Of all rows:"
        )
    else:
        return
    yield CommandLine(f"  {command}")


def _learnt(rows: float, weight: str | None) -> str:
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
