"""What `score` returns for the model of every fold, from sums or from one pass over the rows."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from suffice.engines.engine import fit_context
from suffice.errors import DataError
from suffice.model_selection.folds import Partition
from suffice.model_selection.rows import Rows, Scored
from suffice.models.base.judge import evaluated_by_place
from suffice.models.reading import engine_for

__all__ = ["own_scores"]


def own_scores(
    models: Sequence[Any],
    folds: Sequence[int],
    table: Rows,
    division: Sequence[Any],
    tested: Sequence[Any] | None = None,
) -> list[Scored] | None:
    """The own score of every model on the rows that its fold has not learnt.

    Parameters
    ----------
    models : sequence of estimators
        That read rows in the same way.
    folds : sequence of int
        The fold of each model.
    table : Rows
    division : sequence of folds
    tested : sequence of statistics, optional
        The sums of the rows that every fold is judged on, each of weight 1.

    Returns
    -------
    list of Scored
        None where they are to be scored fold by fold: where rows are not in one test set each, a
        model was not fitted, or a score is an error.
    """
    if not isinstance(division, Partition) or any(isinstance(m, Exception) for m in models):
        return None
    started = perf_counter()
    if tested is not None:
        pairs = zip(models, folds, strict=True)
        told = [model.method().score_of_sums(model, tested[fold]) for model, fold in pairs]
        if None not in told:
            share = (perf_counter() - started) / len(models)
            return [Scored({"score": score}, share) for score in told]
    first = models[0]
    try:
        source = first._open_judged(table.X, table.y, None)
        judges = [model._scoring(source) for model in models]
        judged = np.eye(len(division), dtype=np.intp)[np.asarray(folds)]
        with fit_context(first):
            engine = engine_for(source)
            found = evaluated_by_place(judges, engine, source, division.fold, judged)
        scores = [judge.record(found[i].found) for i, judge in enumerate(judges)]
    except DataError:
        return None
    share = (perf_counter() - started) / len(models)
    return [Scored({"score": score}, share) for score in scores]
