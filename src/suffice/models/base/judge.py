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
from suffice.data.source import Part, Source
from suffice.engines.engine import Engine
from suffice.models.base.evaluated_rows import Classifies
from suffice.models.base.fold_sums import by_place
from suffice.models.base.partial_answers import WithGaps
from suffice.sums.batch import Batch
from suffice.sums.vocabulary import Vocabulary

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
        Its results, of a part and the model, can be added; rows without an answer are counted.
    model : object
    layout : Layout
        How the rows are read.
    record : callable, optional
        Makes an evaluation of what was found, where it is none itself.
    """

    kernel: Callable[[Part, Any], WithGaps[Any]]
    model: Any
    layout: Layout
    record: Callable[[Any], Any] = _as_it_is


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


def evaluated(judge: Judge, engine: Engine, source: Source) -> WithGaps[Any]:
    """What is found in all rows of a table."""
    parts = source.parts(judge.layout, engine.workers)
    return engine.run(judge.kernel, judge.model, parts)


def evaluated_by_place(
    judges: Sequence[Judge],
    engine: Engine,
    source: Source,
    group: NDArray[np.intp],
    tested: NDArray[np.intp],
) -> dict[int, WithGaps[Any]]:
    """What is found of every model in its groups of rows, from one pass over the table.

    Parameters
    ----------
    judges : sequence of f Judge
        That read rows in the same way.
    engine : Engine
    source : Source
    group : ndarray of int (n,)
        As in `suffice.models.base.fold_sums.by_place`.
    tested : ndarray of int (f, g)
        Which groups each model is judged on.

    Returns
    -------
    dict
        By model; nothing of one whose groups have no row.
    """
    mine = [[(f, judges[f]) for f in np.flatnonzero(column).tolist()] for column in tested.T]
    parts = source.parts(judges[0].layout, engine.workers)
    by_group = by_place(_judged, mine, engine, parts, group)
    return dict(reduce(add, by_group.values(), _ByModel()))


class _ByModel(dict[int, Any]):
    """Results by model, which are added model by model."""

    def __add__(self, other: _ByModel) -> _ByModel:
        both = {f: self[f] + other[f] for f in self.keys() & other.keys()}
        return _ByModel({**self, **other, **both})


def _judged(part: Part, params: Sequence[list[tuple[int, Judge]]], g: int) -> _ByModel:
    """Kernel: the results of the models that are judged on a group, of some of its rows."""
    return _ByModel({f: judge.kernel(part, judge.model) for f, judge in params[g]})
