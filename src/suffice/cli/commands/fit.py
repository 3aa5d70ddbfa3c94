"""``suffice fit``: a model of files."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import join
from typing import Annotated, Any

import typer

from suffice.cli import options
from suffice.cli.models import (
    BOTH,
    has_candidates,
    has_coefficients,
    predicts_numbers,
    refuse_overwriting,
    refuse_replacing,
    sums_in,
)
from suffice.cli.options import option, output_file
from suffice.cli.output import CommandLine, deliver
from suffice.cli.results import (
    candidate_facts,
    class_facts,
    class_table,
    coefficient_results,
    read_as,
    read_columns,
)
from suffice.cli.values import NAIVE_BAYES, class_of
from suffice.errors import ParameterError
from suffice.numerics.in_print import Table
from suffice.persist import is_model_file
from suffice.phrases import amount, rows_in_print


def fit(
    *,
    data: options.Data,
    label: options.Targets = None,
    model: Annotated[
        str | None,
        option(
            "NAME",
            "Classes: naive-bayes (default), aode, lda, qda, logistic, or auto, an average; "
            "numbers: linear (default), ridge, lasso, elastic-net.",
        ),
    ] = None,
    output: Annotated[Path | None, output_file("Model file (default: named after DATA).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace any file.")] = False,
    as_json: options.AsJson = False,
    parameters: options.Parameters = None,
    read: options.ReadAs = None,
    features: options.Features = None,
    ignore: options.LeftOut = None,
    categorical: options.Categorical = None,
    text: options.Text = None,
    weight: options.Weight = None,
    where: Annotated[
        list[str] | None, option("KEY=VALUE", "Groups of a file of sums; default: all.")
    ] = None,
    checkpoint: options.Checkpoint = None,
    engine: options.Engine = None,
) -> None:
    """Fit a model to files and save it.

    Naive Bayes chooses a family for every column from its cells; missing cells
    are left out, never imputed.

    Example: suffice fit boston.csv --target medv --model linear
    """
    from suffice.engines.engine import fit_context

    columns = {"features": features, "ignore": ignore, "categorical": categorical, "text": text}
    refuse_overwriting(output, data)
    target = output or _named_after(data[0])
    _check_checkpoint(checkpoint, data, target)
    reading = options.Reading.of(read)
    if model is not None:
        class_of(model)
    sums = sums_in(data)
    rows: tuple[Any, ...]
    if sums is None:
        if model_files := [file for file in data if is_model_file(file)]:
            fact, rule = f"{model_files[0]} holds a model", "a model is fitted to rows, or to sums"
            raise ParameterError(fact, rule, "to fit it to more rows: suffice update")
        opened = reading.open(data, notes=False)
        label = label or options.left_of_formula(parameters)
        if not label:
            raise ParameterError("--label is not given", "a fit predicts a column", "name it")
        if where:
            rule = "rows of a table have no keys"
            raise ParameterError("--where is given", rule, "sum the rows first: suffice sums --by")
        table = options.selected(opened, columns, label, weight)
        rows = table, label if len(label) > 1 else label[0], weight
        own, model = False, model or options.suited(table, label)
    else:
        said = {"label": label, "weight": weight, "checkpoint": checkpoint, **columns}
        for name in [name for name, value in said.items() if value]:
            fact = f"--{name} is given with a file of sums"
            raise ParameterError(fact, "it stands in the sums", "leave it out")
        own, model = model is None and not parameters, model or NAIVE_BAYES
        sums = sums.where(**_keys(where)).total()
        rows, label = (sums,), list(sums.target_names)
    words: Sequence[str] = ()
    if sums is not None and own:
        chosen = sums.estimator
    else:
        (made,) = options.candidates({model: ()}, parameters, columns, reading)
        chosen, words = made.estimator, made.words
    if sums is None:
        _check_targets(chosen, label)
    elif not hasattr(chosen, "sums"):
        fact = f"--model {model} is given with a file of sums"
        rule = "it is fitted by repeated passes over the rows"
        raise ParameterError(fact, rule, "fit it to rows")
    if force:
        refuse_overwriting(target, data)
    else:
        refuse_replacing(target, chosen, label, step=f"{BOTH}, or replace any file with --force")
    with fit_context():
        with options.running(engine, f"Fitting {', '.join(data)}", checkpoint=checkpoint):
            chosen.fit(*rows)
        # Within the work: the checkpoint stays until the model is safe.
        chosen.save(target)
    facts: dict[str, Any]
    if has_coefficients(chosen):
        facts, parts = coefficient_results(chosen, target)
        facts |= {
            "label": label[0] if len(label) == 1 else list(label),
            "weight": chosen.reader_.layout.weight,
            "ignored": list(chosen.reader_.layout.ignored),
        }
    elif has_candidates(chosen):
        facts = candidate_facts(chosen, target)
        parts = iter([chosen.candidates_.table()])
    else:
        facts = _class_facts(chosen, target)
        if sums is None and model == NAIVE_BAYES and "-" not in data:  # a pipe is read once
            compared = [*data, "--label", label[0], "--model", f"{NAIVE_BAYES},auto"]
            compared += options.typed({"weight": weight, **columns})
            facts["compare"] = join(["suffice", "cv", *compared, *reading.words, *words])
        parts = iter([chosen.schema_.table(), "", class_table(facts)])
    facts["read_as"] = [] if sums is not None else read_as(table)
    deliver(facts, _shown(parts, facts, chosen), as_json)


def _class_facts(model: Any, target: Path) -> dict[str, Any]:
    from suffice.models.generative.described import advice

    families = model.model_.family_names
    more = {
        "weight": model.reader_.layout.weight,
        "columns": [{**c, "family": families.get(c["name"])} for c in read_columns(model)],
        "advice": list(advice(model.model_)),
    }
    return class_facts(model, target) | more


def _shown(parts: Iterator[str | Table], facts: Any, model: Any) -> Iterator[str | Table]:
    """Yield the tables of a fit, what it read and chose, and where it is."""
    yield from parts
    yield from (f"  Read as: {line}" for line in facts["read_as"])
    if facts["ignored"]:
        yield f"  Ignored: {', '.join(facts['ignored'])}"
    if facts.get("rows") is not None:
        # Without an attribute, rows are counted although they have weights.
        weighed = facts.get("weight") if "classes" in facts or hasattr(model, "rows_") else None
        amounts = amount(facts["rows"])
        rows = f"{amounts} total weight ({weighed})" if weighed else rows_in_print(facts["rows"])
        missed = facts.get("unlabelled")
        left_out = "" if missed is None else f", {amount(missed)} left out without label"
        yield f"  Fitted to {rows}{left_out}"
    for warning in facts.get("advice", ()):
        yield f"  Look: {warning}"
    yield f"  Saved to {facts['model']}"
    if "compare" in facts:
        yield "  To compare with --model auto on held-out rows (about 100 times as long):"
        yield CommandLine(f"  {facts['compare']}")


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


def _keys(where: Sequence[str] | None) -> dict[str, Any]:
    """Return the values of keys that are given as KEY=VALUE; several of one key are a list."""
    found: dict[str, Any] = {}
    for given in where or ():
        name, sign, value = given.partition("=")
        if not sign:
            raise ParameterError(
                f"--where {given}", "it is a key and a value: KEY=VALUE", "write --where city=Ulm"
            )
        found.setdefault(name, []).append(value or None)
    return found


def _named_after(data: str) -> Path:
    """Return ``model.suffice`` in the working directory, for the first file ``model.csv.gz``.

    Also for a pipe, whose name says nothing.
    """
    from suffice.data.files.listing import is_read_once
    from suffice.data.text.records import unpacked_name

    first = Path(min(glob.glob(data, recursive=True), default=data))
    name = first.resolve().name if first.is_dir() else Path(unpacked_name(first.name)).stem
    if data == "-" or is_read_once(first) or not name:
        return Path("model.suffice")
    return Path(f"{name}.suffice")
