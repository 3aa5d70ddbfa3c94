"""``suffice cv``: models compared by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli import options
from suffice.cli.options import option
from suffice.cli.output import CommandLine, deliver
from suffice.cli.results import fold_facts
from suffice.cli.values import REGRESSIONS, check_columns, class_of, listed, spelled
from suffice.errors import ParameterError
from suffice.phrases import meant

if TYPE_CHECKING:
    from suffice.ensemble.candidates import Size
    from suffice.model_selection.ranking import RankedModels
    from suffice.numerics.in_print import Table

FOR_NUMBERS = ("linear", "ridge", "lasso")
FOR_CLASSES = ("naive-bayes", "lda", "qda", "logistic", "logistic-bins", "aode")
FOLDS = "Folds"
MOST_VALUES = 10_000  # of a category that are counted
MOST_NAMED = 20
PATIENCE = 60.0  # seconds; a model that is foreseen to take longer is tried if it is named


def cv(
    *,
    data: options.Data,
    label: Annotated[str | None, option("COL", "Column to predict.", "--label", "--target")] = None,
    model: Annotated[
        list[str] | None, option("A,B", "Models, as for fit (default: those for the label).")
    ] = None,
    grid: Annotated[
        list[str] | None, option("NAME=A,B,C", "Compare values of a parameter.")
    ] = None,
    metric: Annotated[
        str | None, option("NAME", "Rank by 'error rate', 'ROC area', recall, RMSE, ...")
    ] = None,
    positive: Annotated[
        str | None, option("CLASS", "Of recall, precision, F1 (default: the second).")
    ] = None,
    threshold: Annotated[float | None, option("P", "Predict it above this probability.")] = None,
    as_json: options.AsJson = False,
    parameters: options.Parameters = None,
    folds: Annotated[str, option("K|loo", "Folds; loo: leave one out.", group=FOLDS)] = "10",
    by: Annotated[str | None, option("COL", "Groups that stay together.", group=FOLDS)] = None,
    shuffle: Annotated[
        bool | None,
        typer.Option(
            "--shuffle/--in-order",
            help="At random (default without --by), or stretches.",
            rich_help_panel=FOLDS,
        ),
    ] = None,
    seed: Annotated[int, option("N", "Of the random order.", group=FOLDS)] = 0,
    read: options.ReadAs = None,
    features: options.Features = None,
    ignore: options.LeftOut = None,
    categorical: options.Categorical = None,
    text: options.Text = None,
    weight: options.Weight = None,
    engine: options.Engine = None,
) -> None:
    """Compare models by cross-validation.

    Without --model, those that suit the table are tried, cheap ones first.

    Example: suffice cv adult.csv --label income --model naive-bayes,logistic
    """
    from suffice.model_selection import evaluate_models
    from suffice.model_selection.scores import (
        CLASS_SCORES,
        NUMBER_SCORES,
        OF_ONE_CLASS,
        named_score,
    )
    from suffice.models.base.answers import of_threshold

    division = _division(folds, by, shuffle, seed)
    targets = [label] if label else options.left_of_formula(parameters)
    if len(targets) != 1:
        fact = f"--label names {', '.join(targets)}" if targets else "--label is not given"
        raise ParameterError(fact, "models predict one column", "name it")
    (target,) = targets
    columns = {"features": features, "ignore": ignore, "categorical": categorical, "text": text}
    reading = options.Reading.of(read)
    table = options.selected(reading.open(data), columns, [target], weight, by)
    check_columns("by", [] if by is None else [by], table.names)
    numbers = options.holds_numbers(table, target)
    labels = [] if numbers else _labels(table, target, reading.labels)
    named = _known(listed(model))
    numbers = named[0] in REGRESSIONS if named else numbers
    judged = None if numbers else _judged_class(labels, metric, positive, threshold)
    if metric is not None:
        of_classes = [*CLASS_SCORES, *(() if judged is None else OF_ONE_CLASS)]
        named_score(metric, list(NUMBER_SCORES) if numbers else of_classes)
    models: dict[str, Sequence[str]] = dict.fromkeys(named, ())
    left_out: list[dict[str, str]] = []
    if not named:
        own = [name for name in table.names if name not in (weight, by, target)]
        fits = 1 if folds == "loo" else int(folds)
        models, left_out = _suited(numbers, *_size(table, own, len(labels)), fits)
    points = list(options.candidates(models, parameters, columns, reading, grid or ()))
    costs = None
    if judged is not None and threshold is not None:  # the second label is predicted above
        second = 1 - threshold if judged == labels[0] else threshold
        costs = of_threshold(second).tolist()
        for point in points:
            point.estimator.set_params(costs=costs)
    learners = {point.name: point.estimator for point in points}
    with options.running(engine, f"Evaluating models on {', '.join(data)}"):
        found = evaluate_models(learners, table, target, weight, **division)
    ranked = found.ranked_by(metric, judged)
    best = next(point for point in points if point.name == ranked.best)
    words = [*data, "--label", target, *options.typed({"weight": weight, **columns})]
    words += [*options.typed({"ignore": by}), *reading.words, "--model", best.model, *best.words]
    words += [] if costs is None else ["-p", f"costs={costs}".replace(" ", "")]
    facts = {
        **fold_facts(ranked),
        "positive": judged,
        "threshold": threshold,
        "left_out": left_out,
        "seed": seed if division["shuffle"] else None,
        "in_order": shuffle is False,
        "next": join(["suffice", "fit", *words]),
    }
    deliver(facts, _shown(facts, ranked), as_json)


def _division(folds: str, by: str | None, shuffle: bool | None, seed: int) -> dict[str, Any]:
    """Return the folds that `evaluate_models` makes."""
    from suffice.model_selection.folds import InOrder

    single = folds == "loo"
    if not single and not (folds.isdecimal() and int(folds) > 1):
        rule = "it is a whole number, 2 or more, or loo"
        raise ParameterError(f"--folds {folds}", rule, "write --folds 10")
    given = ["--folds loo"] * single + ["--by"] * (by is not None)
    given += [] if shuffle is None else ["--shuffle" if shuffle else "--in-order"]
    if len(given) > 1 and given != ["--by", "--shuffle"]:
        raise ParameterError(
            f"{given[0]} and {given[1]} are both given",
            "single rows are left out, and there are no folds"
            if single
            else "folds are made in one way",
            "leave one of them out",
        )
    number = folds if single else InOrder(int(folds)) if shuffle is False else int(folds)
    at_random = not given if shuffle is None else shuffle
    return {"cv": number, "groups": by, "shuffle": at_random, "random_state": seed}


def _judged_class(
    labels: Sequence[Any], metric: str | None, positive: str | None, threshold: float | None
) -> Any:
    """Return the class that precision, recall and F1 are of; None if none is asked about."""
    from suffice.model_selection.scores import OF_ONE_CLASS

    if threshold is not None:
        options.check_threshold(threshold, len(labels), "leave it out")
    if positive is not None:
        found = [one for one in labels if str(one) == positive]
        if not found:
            known = f"the labels are {', '.join(map(str, labels[:MOST_NAMED]))}"
            raise ParameterError(f"--positive {positive}", known, meant(positive, labels))
        return found[0]
    asked = threshold is not None or (metric or "").lower() in map(str.lower, OF_ONE_CLASS)
    return labels[1] if asked and len(labels) == 2 else None


def _shown(facts: dict[str, Any], ranked: RankedModels) -> Iterator[str | Table]:
    table = ranked.table()
    yield replace(table, notes=list(map(spelled, table.notes)))
    if facts["seed"] is not None:
        yield f"  Rows were dealt at random (seed {facts['seed']})."
    if facts["in_order"]:
        yield "  Each fold is a stretch of the table."
    if facts["positive"] is not None:
        at = "" if facts["threshold"] is None else f", predicted above {facts['threshold']:g}"
        yield f"  Precision, recall and F1 are of {facts['positive']}{at}."
    for one in facts["left_out"]:
        yield f"  {one['name']}: not tried; {one['why']} (--model {one['name']} tries it)"
    yield CommandLine(f"\n  {facts['next']}")


def _labels(table: Any, label: str, cleaning: Mapping[str, Any]) -> list[Any]:
    """Return the labels, sorted."""
    from suffice.data.open import open_table

    shown = open_table(table, label).shown_labels()
    suffix, names = cleaning.get("label_suffix") or "", cleaning.get("label_map", {})
    plain = [one.removesuffix(suffix) if isinstance(one, str) else one for one in shown]
    return sorted({names.get(one, one) for one in plain}, key=str)


def _size(table: Any, features: Sequence[str], classes: int) -> tuple[Size, bool]:
    """Read a table once; return how large it is, and whether a cell is missing."""
    from suffice.data.table_source import TableSource
    from suffice.ensemble.candidates import Size

    kinds = {one.name: one.kind for one in TableSource(table).columns(features)}
    categories = [name for name in features if kinds[name] in ("category", "binary")]
    values: dict[str, set[Any]] = {name: set() for name in categories}
    rows, missing = 0, False
    for part in table.parts(dict.fromkeys(features)):
        for batch in part.record_batches():
            rows += batch.num_rows
            missing = missing or any(batch.column(name).null_count for name in features)
            for name, known in values.items():
                if len(known) < MOST_VALUES:
                    known.update(batch.column(name).unique().to_pylist())
    levels = sum(map(len, values.values()))
    return Size(rows, len(features) - len(categories), len(categories), levels, classes), missing


def _suited(
    numbers: bool, size: Size, missing: bool, folds: int
) -> tuple[dict[str, Sequence[str]], list[dict[str, str]]]:
    """Return the models for such a table, what costs least first, and why others are left out."""
    from suffice.ensemble.candidates import CANDIDATES

    if numbers:
        return dict.fromkeys(FOR_NUMBERS, ["incomplete=gaussian"] * missing), []
    seconds = {name: folds * CANDIDATES[name].seconds(size) for name in FOR_CLASSES}
    suited = set(FOR_CLASSES) - ({"logistic"} if missing else set())  # needs every cell
    if not (size.numbers or missing):
        suited.remove("logistic-bins")
    tried: dict[str, Sequence[str]] = {}
    left_out = []
    for name in sorted(suited, key=lambda name: seconds[name]):
        if tried and seconds[name] > PATIENCE:
            why = f"{folds} folds would take about {seconds[name]:.0f} s"
            left_out.append({"name": name, "why": why})
        else:
            tried[name] = ["incomplete=indicator"] * (name == "logistic-bins" and missing)
    return tried, left_out


def _known(models: Sequence[str]) -> list[str]:
    """Return the models, each of which there is; classifiers alone, or regressions."""
    for name in models:
        class_of(name)
    if len({name in REGRESSIONS for name in models}) > 1:
        raise ParameterError(
            f"--model {','.join(models)}",
            "some predict a class, the others a number",
            "compare models of one kind",
        )
    return list(dict.fromkeys(models))
