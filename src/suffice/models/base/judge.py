"""How a fitted model is judged on labelled rows, whatever it is and wherever they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add, or_
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.source import InParts, Split
from suffice.engines.engine import Engine
from suffice.models.base.evaluated_rows import Classifies
from suffice.models.base.fold_sums import by_place
from suffice.models.base.partial_answers import WithGaps
from suffice.statistics.batch import Batch
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Judge", "evaluated", "evaluated_by_place", "knowing_all"]


def _as_it_is(found: Any) -> Any:
    """What was found is an evaluation."""
    return found


@dataclass(frozen=True)
class Judge:
    """What an evaluation of a fitted model needs.

    Parameters
    ----------
    kernel : callable
        Its results, of a split and the model, can be added; rows without an answer are counted.
    model : object
    layout : Layout
        How the rows are read.
    record : callable, optional
        Makes an evaluation of what was found, where it is none itself.
    together : callable, optional
        Takes models that read rows in the same way; gives a kernel that finds as much for each of
        them, and what it takes beside a split; or None.
    """

    kernel: Callable[[Split, Any], WithGaps[Any]]
    model: Any
    layout: Layout
    record: Callable[[Any], Any] = _as_it_is
    together: Callable[[Sequence[Any]], tuple[Callable[..., Any], Any] | None] | None = None


class Judged(Protocol):
    """An estimator whose answers can be judged."""

    def _judge(self, source: Any) -> Judge:
        """What the evaluation of a table needs."""
        ...


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
        return self._over_all(self.model.log_prior)

    def log_joint(self, batch: Batch) -> NDArray[np.float64]:
        return self._over_all(self.model.log_joint(batch))

    def _over_all(self, known: NDArray[np.float64]) -> NDArray[np.float64]:
        """Columns (..., k) of the classes of the model among those of all."""
        whole = np.full((*known.shape[:-1], len(self.classes)), -np.inf)
        whole[..., self.classes.index(self.model.classes.values, -1)] = known
        return whole


def knowing_all(judges: Sequence[Judge]) -> list[Judge]:
    """The same, where every classifier knows the classes of all."""
    if not all(hasattr(judge.model, "classes") for judge in judges):
        return list(judges)
    every: Vocabulary = reduce(or_, (judge.model.classes for judge in judges))
    return [
        judge
        if judge.model.classes == every
        else replace(judge, model=_Knowing(judge.model, every))
        for judge in judges
    ]


def evaluated(judge: Judge, engine: Engine, source: InParts) -> WithGaps[Any]:
    """What is found in all rows of a table."""
    splits = source.splits(judge.layout, engine.workers)
    return engine.run(judge.kernel, judge.model, splits)


def evaluated_by_place(
    judges: Sequence[Judge],
    engine: Engine,
    source: InParts,
    group: NDArray[np.intp],
    tested: NDArray[np.intp],
) -> dict[int, WithGaps[Any]]:
    """What is found of every model in its groups of rows, from one pass over the table.

    Parameters
    ----------
    judges : sequence of f Judge
        That read rows in the same way.
    engine : Engine
    source : InParts
    group : ndarray of int (n,)
        As in `suffice.models.base.fold_sums.by_place`.
    tested : ndarray of int (f, g)
        Which groups each model is judged on.

    Returns
    -------
    dict
        By model; nothing of one whose groups have no row.
    """
    mine = [_together(judges, np.flatnonzero(column).tolist()) for column in tested.T]
    splits = source.splits(judges[0].layout, engine.workers)
    by_group = by_place(_judged, mine, engine, splits, group)
    return dict(reduce(add, by_group.values(), _ByModel()))


def _together(judges: Sequence[Judge], places: list[int]) -> list[tuple[list[int], Any, Any]]:
    """Kernels, what they take, and the models that they judge."""
    first = judges[places[0]] if places else None
    if first is not None and first.together is not None and len(places) > 1:
        models = [judges[f].model for f in places]
        if (found := first.together(models)) is not None:
            return [(places, *found)]
    return [([f], judges[f].kernel, judges[f].model) for f in places]


class _ByModel(dict[int, Any]):
    """Results by model, which are added model by model."""

    def __add__(self, other: _ByModel) -> _ByModel:
        both = {f: self[f] + other[f] for f in self.keys() & other.keys()}
        return _ByModel({**self, **other, **both})


def _judged(part: Split, params: Sequence[Any], g: int) -> _ByModel:
    """Kernel: what the models that are judged on a group make of some of its rows."""
    found = _ByModel()
    for places, kernel, model in params[g]:
        of_models = kernel(part, model)
        found |= zip(places, of_models if len(places) > 1 else [of_models], strict=True)
    return _ByModel(found)
