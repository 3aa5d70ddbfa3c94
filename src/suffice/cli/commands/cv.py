"""``suffice cv``: models compared by cross-validation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from shlex import join
from typing import TYPE_CHECKING, Annotated, Any

import typer

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
    check_threshold,
    estimator_of,
    given_columns,
    holds_numbers,
    left_of_formula,
    option,
    points_of,
    reported,
    selected,
    typed,
)
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
MOST_VALUES = 10_000  # of a category that are counted
MOST_NAMED = 20
PATIENCE = 60.0  # seconds; a model that is foreseen to take longer is tried if it is named


@dataclass(frozen=True, kw_only=True)
class Judged:
    """Options of what models are ranked by."""

    metric: Annotated[
        str | None, option("NAME", "Rank by 'error rate', 'ROC area', recall, RMSE, ...")
    ] = None
    positive: Annotated[
        str | None, option("CLASS", "Of recall, precision, F1 (default: the second).")
    ] = None
    threshold: Annotated[float | None, option("P", "Predict it above this probability.")] = None

    def one_class(self, labels: Sequence[Any]) -> Any:
        """Return the class that precision, recall and F1 are of; None if none is asked about."""
        from suffice.model_selection.scores import OF_ONE_CLASS

        if self.threshold is not None:
            check_threshold(self.threshold, len(labels), "leave it out")
        if self.positive is not None:
            found = [one for one in labels if str(one) == self.positive]
            if not found:
                known = f"the labels are {', '.join(map(str, labels[:MOST_NAMED]))}"
                step = meant(self.positive, labels)
                raise ParameterError(f"--positive {self.positive}", known, step)
            return found[0]
        of_one = (self.metric or "").lower() in map(str.lower, OF_ONE_CLASS)
        asked = self.threshold is not None or of_one
        return labels[1] if asked and len(labels) == 2 else None

    def check_metric(self, numbers: bool, of_one: bool) -> None:
        from suffice.model_selection.scores import (
            CLASS_SCORES,
            NUMBER_SCORES,
            OF_ONE_CLASS,
            named_score,
        )

        if self.metric is not None:
            of_classes = [*CLASS_SCORES, *(OF_ONE_CLASS if of_one else ())]
            named_score(self.metric, list(NUMBER_SCORES) if numbers else of_classes)

    def costs(self, first: bool) -> list[list[float]] | None:
        """Return costs by which the first, or the second label is predicted above the threshold."""
        from suffice.models.base.answers import of_threshold

        if self.threshold is None:
            return None
        costs: list[list[float]] = of_threshold(
            1 - self.threshold if first else self.threshold
        ).tolist()
        return costs


@dataclass(frozen=True, kw_only=True)
class Division:
    """Options of folds."""

    folds: Annotated[str, option("K|loo", "Folds; loo: leave one out.", group="Folds")] = "10"
    by: Annotated[str | None, option("COL", "Groups that stay together.", group="Folds")] = None
    shuffle: Annotated[
        bool | None,
        typer.Option(
            "--shuffle/--in-order",
            help="At random (default without --by), or stretches.",
            rich_help_panel="Folds",
        ),
    ] = None
    seed: Annotated[int, option("N", "Of the random order.", group="Folds")] = 0

    def __post_init__(self) -> None:
        if not self.loo and not (self.folds.isdecimal() and int(self.folds) > 1):
            rule = "it is a whole number, 2 or more, or loo"
            raise ParameterError(f"--folds {self.folds}", rule, "write --folds 10")
        given = ["--folds loo"] * self.loo + ["--by"] * (self.by is not None)
        given += [] if self.shuffle is None else ["--shuffle" if self.shuffle else "--in-order"]
        if len(given) > 1 and given != ["--by", "--shuffle"]:
            one = "single rows are left out, and there are no folds"
            raise ParameterError(
                f"{given[0]} and {given[1]} are both given",
                one if self.loo else "folds are made in one way",
                "leave one of them out",
            )

    @property
    def loo(self) -> bool:
        """Tell whether single rows are left out."""
        return self.folds == "loo"

    def options(self) -> dict[str, Any]:
        """Return the options of `evaluate_models`."""
        from suffice.model_selection.folds import InOrder

        number = "loo" if self.loo else int(self.folds)
        division = number if self.shuffle is not False else InOrder(int(self.folds))
        at_random = self.shuffle or (self.shuffle is None and self.by is None and not self.loo)
        return {
            "cv": division,
            "groups": self.by,
            "shuffle": at_random,
            "random_state": self.seed,
        }


def cv(
    *,
    data: Data,
    label: Annotated[str | None, option("COL", "Column to predict.", "--label", "--target")] = None,
    model: Annotated[
        list[str] | None, option("A,B", "Models, as for fit (default: those for the label).")
    ] = None,
    grid: Annotated[
        list[str] | None, option("NAME=A,B,C", "Compare values of a parameter.")
    ] = None,
    judged: Judged,
    as_json: AsJson = False,
    parameters: Parameters = None,
    division: Division,
    read: ReadAs = None,
    columns: Columns,
    weight: Weight = None,
    running: Running,
) -> None:
    """Compare models by cross-validation.

    Without --model, those that suit the table are tried, cheap ones first.

    Example: suffice cv adult.csv --label income --model naive-bayes,logistic
    """
    from suffice.model_selection import evaluate_models

    targets = [label] if label else left_of_formula(parameters)
    if len(targets) != 1:
        fact = f"--label names {', '.join(targets)}" if targets else "--label is not given"
        raise ParameterError(fact, "models predict one column", "name it")
    (target,) = targets
    reading, by = Reading.of(read), division.by
    table = selected(reading.open(data), columns, [target], weight, by)
    check_columns("by", [] if by is None else [by], table.names)
    own = [name for name in table.names if name not in (weight, by)]
    look = _Look.of(table, own, target, reading.labels)
    named = _known(listed(model))
    numbers = named[0] in REGRESSIONS if named else look.numbers
    positive = None if numbers else judged.one_class(look.labels)
    judged.check_metric(numbers, positive is not None)
    chosen: list[tuple[str, str, list[str]]] = [(name, name, []) for name in named]
    chosen = chosen or list(look.models(1 if division.loo else int(division.folds)))
    points = list(points_of(chosen, parameters, grid or []))
    models = [point.model for point in points]
    costs = None if positive is None else judged.costs(positive == look.labels[0])
    learners, options = {}, division.options()
    for point in points:
        learner = estimator_of(point.model, point.parameters, columns, reading, models)
        learners[point.name] = learner if costs is None else learner.set_params(costs=costs)
        check_options(learner)
    with reported(f"Evaluating models on {', '.join(data)}") as report, running.chosen(report):
        found = evaluate_models(learners, table, target, weight, **options)
    ranked = found.ranked_by(judged.metric, positive)
    best = next(point for point in points if point.name == ranked.best)
    words = [*data, "--label", target, *typed({"weight": weight, **given_columns(columns)})]
    words += [*typed({"ignore": by}), *reading.words, "--model", best.model, *best.words]
    words += [] if costs is None else ["-p", f"costs={costs}".replace(" ", "")]
    facts = {
        **fold_facts(ranked),
        "positive": positive,
        "threshold": judged.threshold,
        "left_out": look.left_out,
        "seed": division.seed if options["shuffle"] else None,
        "in_order": division.shuffle is False,
        "next": join(["suffice", "fit", *words]),
    }
    deliver(facts, lambda: _shown(facts, ranked), as_json)


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
        suited = set(FOR_CLASSES) - ({"logistic"} if self.missing else set())  # needs every cell
        if not (self.size.numbers or self.missing):
            suited.remove("logistic-bins")
        for place, name in enumerate(sorted(suited, key=lambda name: seconds[name])):
            if place and seconds[name] > PATIENCE:
                why = f"{folds} folds would take about {seconds[name]:.0f} s"
                self.left_out.append({"name": name, "why": why})
                continue
            yield name, name, ["incomplete=indicator"] * (name == "logistic-bins" and self.missing)


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
