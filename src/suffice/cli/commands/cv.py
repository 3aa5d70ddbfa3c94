"""``suffice cv``: models compared by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

from suffice.cli.messages import sentence
from suffice.cli.options import (
    AsJson,
    Columns,
    Data,
    Parameters,
    ReadAs,
    Reading,
    Running,
    Weight,
    check_options,
    estimator_of,
    given_columns,
    holds_numbers,
    points_of,
    reported,
    selected,
    typed,
)
from suffice.cli.output import CommandLine, deliver
from suffice.cli.results import fold_facts
from suffice.cli.values import REGRESSIONS, class_of, listed
from suffice.errors import ParameterError, SchemaError
from suffice.phrases import meant, rows_in_print

if TYPE_CHECKING:
    from suffice.ensemble.candidates import Size
    from suffice.model_selection.ranking import RankedModels
    from suffice.numerics.in_print import Table

FOR_NUMBERS = ("linear", "ridge", "lasso")
FOR_CLASSES: dict[str, tuple[str, list[str]]] = {
    "naive-bayes": ("naive-bayes", []),
    "lda": ("lda", []),
    "qda": ("qda", []),
    "logistic": ("logistic", []),
    "logistic-bins": ("logistic", ["numbers=bins"]),
    "aode": ("aode", []),
}
"""By the names that foresee their costs: a model, and its parameters."""
MOST_VALUES = 10_000  # of a category that are counted
MOST_NAMED = 20
PATIENCE = 60.0  # seconds; a model that is foreseen to take longer is tried if it is named


def cv(
    *,
    data: Data,
    label: Annotated[
        str, typer.Option("--label", "--target", metavar="COL", help="Column to predict.")
    ],
    model: Annotated[
        list[str] | None,
        typer.Option(metavar="A,B", help="Models, as for fit (default: those for the label)."),
    ] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B,C", help="Compare values of a parameter."),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Rank by 'error rate', 'ROC area', recall, RMSE, ...",
        ),
    ] = None,
    positive: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="Of recall, precision, F1 (default: the second)."),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(metavar="P", help="Predict it above this probability."),
    ] = None,
    as_json: AsJson = False,
    parameters: Parameters = None,
    folds: Annotated[
        str,
        typer.Option(metavar="K|loo", help="Folds; loo: leave one out.", rich_help_panel="Folds"),
    ] = "10",
    by: Annotated[
        str | None,
        typer.Option(metavar="COL", help="Groups that stay together.", rich_help_panel="Folds"),
    ] = None,
    shuffle: Annotated[
        bool | None,
        typer.Option(
            "--shuffle/--in-order",
            help="At random (default without --by), or stretches.",
            rich_help_panel="Folds",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Of the random order.", rich_help_panel="Folds")
    ] = 0,
    read: ReadAs = None,
    columns: Columns,
    weight: Weight = None,
    running: Running,
) -> None:
    """Compare models by cross-validation.

    Without --model, those that suit the table are tried, cheap ones first.
    """
    from suffice.model_selection import evaluate_models
    from suffice.model_selection.folds import InOrder
    from suffice.model_selection.ranking import RankedModels
    from suffice.model_selection.scores import named_score

    reading, loo = Reading.of(read), folds == "loo"
    if not loo and not (folds.isdecimal() and int(folds) > 1):
        rule = "it is a whole number, 2 or more, or loo"
        raise ParameterError(f"--folds {folds}", rule, "write --folds 10")
    _check_ways(loo, by, shuffle)
    shuffled = shuffle or (shuffle is None and by is None and not loo)
    division: Any = "loo" if loo else InOrder(int(folds)) if shuffle is False else int(folds)
    table = selected(reading.open(data), columns, [label], weight, by)
    if by is not None and by not in table.names:
        names = ", ".join(map(repr, table.names))
        fact, step = f"there is no column {by!r}", "give --by one of these"
        raise SchemaError(fact, f"the columns are {names}", step)
    own = [name for name in table.names if name not in (weight, by)]
    look = _Look.of(table, own, label, reading.labels)
    named = _known(listed(model))
    numbers = named[0] in REGRESSIONS if named else look.numbers
    seen = None if numbers else _class_of(positive, threshold, metric, look.labels)
    if metric is not None:
        named_score(metric, _metrics(numbers, seen))
    chosen: list[tuple[str, str, list[str]]] = [(name, name, []) for name in named]
    chosen = chosen or list(look.models(1 if loo else int(folds)))
    points = list(points_of(chosen, parameters, grid or []))
    models = [point.model for point in points]
    learners = {
        point.name: estimator_of(point.model, point.parameters, columns, reading, models)
        for point in points
    }
    costs = None if threshold is None else _costs(threshold, seen == look.labels[0])
    for name, learner in learners.items():
        if costs is not None:
            learners[name] = learner.set_params(costs=costs)
        check_options(learner)
    how: Any = {"cv": division, "groups": by, "shuffle": shuffled, "random_state": seed}
    with reported(f"Evaluating models on {', '.join(data)}") as report, running.chosen(report):
        found = evaluate_models(learners, table, label, weight, **how)
    ranked = RankedModels(found, metric, seen)
    best = next(point for point in points if point.name == ranked.best)
    words = [*data, "--label", label, *typed({"weight": weight, **given_columns(columns)})]
    words += [*typed({"ignore": by}), *reading.words, "--model", best.model, *best.words]
    words += [] if costs is None else ["-p", f"costs={costs}".replace(" ", "")]
    facts = {
        **fold_facts(ranked),
        "positive": seen,
        "threshold": threshold,
        "left_out": look.left_out,
        "seed": seed if shuffled else None,
        "in_order": shuffle is False,
        "next": join(["suffice", "fit", *words]),
    }
    deliver(facts, lambda: _shown(facts, ranked), as_json)


def _shown(facts: dict[str, Any], ranked: RankedModels) -> Iterator[str | Table]:
    yield ranked.table()
    dealt = "" if facts["seed"] is None else f" dealt at random (seed {facts['seed']})"
    stretches = ", each a stretch of the table" if facts["in_order"] else ""
    rows = rows_in_print(facts["rows"])
    if facts["folds"] == 1:
        yield f"  {rows}, each left out of the fit that predicts it."
    else:
        yield f"  {rows}{dealt} in {facts['folds']} folds{stretches}; mean ± standard error."
    if facts["positive"] is not None:
        at = "" if facts["threshold"] is None else f", predicted above {facts['threshold']:g}"
        yield f"  Precision, recall and F1 are of {facts['positive']}{at}."
    for name, refused in ranked.found.items():
        if isinstance(refused, Exception):
            yield f"  {name}: not fitted; {sentence(refused)}"
    for one in facts["left_out"]:
        yield f"  {one['name']}: not tried; {one['why']} (--model {one['name']} tries it)"
    yield CommandLine(f"\n  {facts['next']}")


def _check_ways(loo: bool, by: str | None, shuffle: bool | None) -> None:
    """Refuse two ways to make folds."""
    given = ["--folds loo"] * loo + ["--by"] * (by is not None)
    given += [] if shuffle is None else ["--shuffle" if shuffle else "--in-order"]
    if len(given) > 1 and given != ["--by", "--shuffle"]:
        one = "single rows are left out, and there are no folds"
        raise ParameterError(
            f"{given[0]} and {given[1]} are both given",
            one if loo else "folds are made in one way",
            "leave one of them out",
        )


@dataclass(frozen=True)
class _Look:
    """What a table is like, found in one reading."""

    numbers: bool  # in the label
    labels: list[Any]  # sorted
    missing: bool  # whether a cell is
    size: Size
    left_out: list[dict[str, str]] = field(default_factory=list)  # that `models` leaves out

    @classmethod
    def of(
        cls, table: Any, columns: Sequence[str], label: str, cleaning: Mapping[str, Any]
    ) -> _Look:
        from suffice.data.open import open_table
        from suffice.data.table_source import TableSource
        from suffice.ensemble.candidates import Size

        features = [name for name in columns if name != label]
        kinds = {one.name: one.kind for one in TableSource(table).columns(features)}
        categories = [name for name in features if kinds[name] in ("category", "binary")]
        values: dict[str, set[Any]] = {name: set() for name in categories}
        numbers = holds_numbers(table, label)
        shown = [] if numbers else open_table(table, label).shown_labels()
        suffix, names = cleaning.get("label_suffix") or "", cleaning.get("label_map", {})
        plain = [one.removesuffix(suffix) if isinstance(one, str) else one for one in shown]
        labels = sorted({names.get(one, one) for one in plain}, key=str)
        rows, missing = 0, False
        for part in table.parts(dict.fromkeys(features)):
            for batch in part.record_batches():
                rows += batch.num_rows
                missing = missing or any(batch.column(name).null_count for name in features)
                for name, known in values.items():
                    if len(known) < MOST_VALUES:
                        known.update(batch.column(name).unique().to_pylist())
        levels = sum(map(len, values.values()))
        sizes = len(features) - len(categories), len(categories), levels, len(labels)
        return cls(numbers, labels, missing, Size(rows, *sizes))

    def models(self, folds: int) -> Iterator[tuple[str, str, list[str]]]:
        """Yield what is good on such a table, what costs least first."""
        from suffice.ensemble.candidates import CANDIDATES

        if self.numbers:
            own = ["incomplete=gaussian"] * self.missing
            yield from ((name, name, own) for name in FOR_NUMBERS)
            return
        seconds = {name: folds * CANDIDATES[name].seconds(self.size) for name in FOR_CLASSES}
        for name in sorted(FOR_CLASSES, key=lambda name: seconds[name]):
            model, own = FOR_CLASSES[name]
            if name == "logistic" and self.missing:  # which needs every cell
                continue
            if name == "logistic-bins":
                if not (self.size.numbers or self.missing):
                    continue
                own = [*own, *["incomplete=indicator"] * self.missing]
            if seconds[name] > PATIENCE:
                why = f"{folds} folds would take about {seconds[name]:.0f} s"
                self.left_out.append({"name": model, "why": why})
                continue
            yield name, model, own


def _class_of(
    positive: str | None, threshold: float | None, metric: str | None, labels: Sequence[Any]
) -> Any:
    """Return the class that precision, recall and F1 are of; None where none is asked about."""
    from suffice.model_selection.scores import OF_ONE_CLASS

    asked = positive is not None or threshold is not None
    if threshold is not None and not 0 <= threshold <= 1:
        raise ParameterError(f"--threshold {threshold:g}", "a probability is from 0 to 1")
    if threshold is not None and len(labels) != 2:
        fact = f"--threshold {threshold:g} is given for {len(labels)} labels"
        raise ParameterError(fact, "a threshold decides between two", "leave it out")
    if positive is not None:
        found = [one for one in labels if str(one) == positive]
        if not found:
            known = f"the labels are {', '.join(map(str, labels[:MOST_NAMED]))}"
            raise ParameterError(f"--positive {positive}", known, meant(positive, labels))
        return found[0]
    asked = asked or (metric or "").lower() in map(str.lower, OF_ONE_CLASS)
    return labels[1] if asked and len(labels) == 2 else None


def _metrics(numbers: bool, positive: Any) -> list[str]:
    from suffice.model_selection.scores import CLASS_SCORES, NUMBER_SCORES, OF_ONE_CLASS

    if numbers:
        return list(NUMBER_SCORES)
    return [*CLASS_SCORES, *(OF_ONE_CLASS if positive is not None else ())]


def _costs(threshold: float, first: bool) -> list[list[float]]:
    """Return costs by which one of two labels is predicted above a probability."""
    from suffice.models.base.answers import of_threshold

    found: list[list[float]] = of_threshold(1 - threshold if first else threshold).tolist()
    return found


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
