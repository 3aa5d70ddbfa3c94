"""Evaluation of a fitted model on labelled rows, of any kind and from any source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from math import isnan
from operator import or_
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import Part, Source, each_batch
from suffice.engines.engine import engine_for
from suffice.errors import DataError, ParameterError, warn
from suffice.models.base.answers import WithGaps, by_costs, of_complete, told
from suffice.models.base.evaluated_rows import UNKNOWN, Classifies, among_all, label_codes
from suffice.models.base.evaluation import Evaluation
from suffice.models.base.groups import (
    ByColumns,
    ByGroup,
    ByPlace,
    Results,
    require_free,
    results_by_group,
)
from suffice.models.base.options import Unanswerable, check_unanswerable
from suffice.models.base.unseen_values import warn_of_unseen
from suffice.numerics.exact import DoubleDouble
from suffice.phrases import rows_of_classes
from suffice.sums.base import tree_sum
from suffice.sums.batch import Batch, scored_rows
from suffice.sums.vocabulary import Value, Vocabulary


@dataclass(frozen=True)
class Hits:
    """Exact sums over labelled rows."""

    # Σw of the rows whose label is not predicted, and of those whose label is, (2,)
    weight: DoubleDouble
    unknown: Counter[Value]  # rows of the first by label, where it is none of the classes

    def __add__(self, other: Hits) -> Hits:
        return Hits(self.weight + other.weight, self.unknown + other.unknown)

    @property
    def accuracy(self) -> float:
        """Σw of the rows whose label is predicted, by that of all; NaN without rows."""
        missed, hit = self.weight.value.tolist()
        return hit / (missed + hit) if missed + hit else float("nan")


def hits(part: Part, model: Any, costs: NDArray[np.float64] | None = None) -> Hits:
    """Kernel of an accuracy, with costs (k, k) as for `evaluated_rows.evaluation`."""

    def of_batch(batch: Batch) -> Hits:
        codes, unknown = label_codes(batch, model.classes), Counter[Value]()
        if codes.min(initial=0) == UNKNOWN:
            strange = batch.codes[codes == UNKNOWN].tolist()
            unknown.update(map(batch.classes.values.__getitem__, strange))
        answers = model.answers(batch) if costs is None else by_costs(costs, model.answers, batch)
        labelled, right = codes != -1, answers.best == codes
        if not batch.weights.size:
            sides = np.count_nonzero(labelled & ~right), np.count_nonzero(right)
            return Hits(DoubleDouble.of(list(map(float, sides))), unknown)
        weights, places = batch.weights[labelled, None], right[labelled].astype(np.intp)
        return Hits(DoubleDouble.by_place(2, (weights, places))[:, 0], unknown)

    return tree_sum(each_batch(part, model.layout, of_batch, scored_rows(len(model.classes))))


def accuracy_told(found: Hits) -> float:
    """The accuracy, with a warning of rows whose label is none of the classes."""
    if found.unknown:
        warn(
            f"{rows_of_classes(found.unknown)}, which the model has not learnt: counted as errors."
        )
    return found.accuracy


J = TypeVar("J", Hits, Evaluation)


def of_rows(found: J) -> J:
    """Return a result of one row at least."""
    if isnan(found.accuracy):
        raise DataError(
            "there is no labelled row whose weight is not zero",
            "an evaluation needs at least one",
            "check the label column and the weights",
        )
    return found


Answers = NDArray[np.float64]


@dataclass(frozen=True)
class LeaveOneOut:
    """A model that predicts every row from all others, in closed form."""

    judge: Judge  # what an evaluation of the rows of the fit needs
    # what is said of rows of the fit, (n, ...): NaN where there is no closed form
    answer: Callable[[Batch], Answers]
    # what `predict` and its like make of these answers, by name
    methods: Mapping[str, Callable[[Answers], NDArray[Any]]]


def _as_it_is(found: Any) -> Any:
    return found


@dataclass(frozen=True)
class Judge:
    """The parts of an evaluation of a fitted model."""

    # its results can be added; rows without an answer are counted
    kernel: Callable[[Part, Any], WithGaps[Any]]
    model: Any
    layout: Layout  # how the rows are read
    # makes an evaluation of what was found, where it is none itself
    record: Callable[[Any], Any] = _as_it_is

    def of(self, source: Any) -> Any:
        """Evaluate all rows of a table; warn of those left out, and of unseen values."""
        warn_of_unseen(self.model.known_values, source, self.layout)
        return self.record(told({"all": evaluated(self, source)})["all"])

    def by_group(self, source: Any, by: str, taken: Sequence[str | None]) -> ByGroup[Any]:
        """Evaluate the rows of every value of a column, which is none of those ``taken``."""
        if not isinstance(by, str):
            raise ParameterError(
                f"by is of type {type(by).__name__}",
                "it is the name of a column of the table",
                "add the groups to the table as a column",
            )
        warn_of_unseen(self.model.known_values, source, self.layout)
        require_free(by, taken)
        found = told(results_by_group(_of_group, self, source, self.layout, ByColumns((by,))))
        return ByGroup(by, {value: self.record(one) for value, one in found.items()})


def _of_group(part: Part, judge: Judge, g: int) -> Results:
    return Results({g: judge.kernel(part, judge.model)})


def of_answered(
    estimator: Any, kernel: Callable[[Part, Any], Any], unanswerable: Unanswerable
) -> Callable[[Part, Any], WithGaps[Any]]:
    """Return the kernel that leaves out rows without an answer, if these are to be empty."""
    check_unanswerable(unanswerable)
    complete = estimator._complete_rows() if unanswerable == "empty" else None
    return partial(of_complete, kernel=kernel, complete=complete)


@dataclass(frozen=True)
class _Knowing:
    """A model to which more classes are known, and impossible: no row of it showed them."""

    model: Classifies
    classes: Vocabulary

    @property
    def layout(self) -> Layout:
        return self.model.layout

    @property
    def log_prior(self) -> NDArray[np.float64]:
        return among_all(self.model.log_prior, self.model.classes, self.classes)

    def log_joint(self, batch: Batch) -> NDArray[np.float64]:
        return among_all(self.model.log_joint(batch), self.model.classes, self.classes)


def knowing_all(judges: Sequence[Judge]) -> list[Judge]:
    """Let every classifier know the classes of all."""
    if not all(hasattr(judge.model, "classes") for judge in judges):
        return list(judges)
    every: Vocabulary = reduce(or_, (judge.model.classes for judge in judges))
    return [
        judge
        if judge.model.classes == every
        else replace(judge, model=_Knowing(judge.model, every))
        for judge in judges
    ]


def evaluated(judge: Judge, source: Source) -> WithGaps[Any]:
    """Evaluate all rows of a table."""
    engine = engine_for(source)
    parts = source.parts(judge.layout, engine.workers)
    return engine.run(judge.kernel, judge.model, parts)


def evaluated_by_place(
    judges: Sequence[Judge],
    source: Source,
    group: NDArray[np.intp],
    tested: NDArray[np.intp],
) -> dict[int, WithGaps[Any]]:
    """Evaluate every model on its groups of rows, in one pass over the table.

    Parameters
    ----------
    judges : sequence of f Judge
        That read rows in the same way.
    source : Source
    group : ndarray of int (n,)
        The group of every row; −1 leaves a row out.
    tested : ndarray of int (f, g)
        Which groups each model is judged on.

    Returns
    -------
    dict
        By model; nothing of one whose groups have no row.
    """
    mine = [[(f, judges[f]) for f in np.flatnonzero(column).tolist()] for column in tested.T]
    return results_by_group(_judged, mine, source, judges[0].layout, ByPlace(group))


def _judged(part: Part, params: Sequence[list[tuple[int, Judge]]], g: int) -> Results:
    """Kernel: the results of the models that are judged on a group, of some of its rows."""
    return Results({f: judge.kernel(part, judge.model) for f, judge in params[g]})
