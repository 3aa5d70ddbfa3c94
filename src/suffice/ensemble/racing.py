"""Candidates are judged on one fold first, and on all only where they may be among the best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.ensemble.candidates import IMPOSSIBLE, Folds
from suffice.errors import ParameterError
from suffice.model_selection.evaluated_folds import FoldEvaluations, evaluate_models

__all__ = ["is_behind", "judged"]

DEAR: Mapping[str, Mapping[str, Any]] = {}
"""Candidates that are dear to fit, and options by which the first fold tries them first."""

MARGIN = 3.0  # standard errors

Judged = dict[str, FoldEvaluations | Exception]


def judged(
    learners: Mapping[str, Any],
    rows: tuple[Any, Any, Any],
    seed: int,
    best: int,
    together: bool = False,
) -> Judged:
    """What each candidate says of rows that it has not learnt, or its error.

    Where the first fold has 2,000 rows, those that are clearly behind so many others there are not
    judged on the other folds.

    Parameters
    ----------
    learners : mapping of str to estimator
    rows : tuple
        Table, labels and weights.
    seed : int
        Of the folds.
    best : int
        How many candidates are averaged.
    together : bool
        Whether equal rows are in one fold.
    """

    def evaluated(chosen: Mapping[str, Any], folds: Folds) -> Judged:
        return evaluate_models(chosen, *rows, cv=folds, label_scores=True)

    first = Folds(seed, "first", together)
    cheap = {name: one for name, one in learners.items() if name not in DEAR}
    found = evaluated(cheap, first) if cheap else {}
    behind = {}
    for name in learners.keys() - cheap.keys():
        if first.raced:
            trial = learners[name].unfitted().set_params(**DEAR[name])
            tried = evaluated({name: trial}, Folds(seed, "first", together))[name]
            if is_behind(tried, found, best):
                behind[name] = tried
                continue
        found |= evaluated({name: learners[name]}, Folds(seed, "first", together))
    if first.raced:
        others = dict(found)
        behind |= {name: one for name, one in others.items() if is_behind(one, others, best)}
        found |= {name: _refusal(one) for name, one in behind.items()}
    left = {name: one for name, one in learners.items() if not isinstance(found[name], Exception)}
    if first.left and left:
        rest = evaluated(left, Folds(seed, "rest", together))
        found |= {name: _joined(found[name], one) for name, one in rest.items()}
    return {name: found[name] for name in learners}


def is_behind(first: Any, others: Mapping[str, Any], best: int) -> bool:
    """Whether a candidate is worse than so many others on the first fold, beyond chance.

    The losses are compared row by row; the mean difference is to be 3 standard errors above 0.

    Parameters
    ----------
    first : FoldEvaluations
        Of the first fold.
    others : mapping of str to FoldEvaluations or Exception
        It may be among them.
    best : int
        How many are averaged.

    Source: O. Maron, A. W. Moore, Hoeffding races (NIPS 6, 1994), here with normal errors.
    """
    if isinstance(first, Exception):
        return False
    mine, weights = _losses(first)
    better = 0
    for other in others.values():
        if isinstance(other, Exception):
            continue
        theirs, _ = _losses(other)
        if len(theirs) != len(mine):  # one of them cannot answer some rows
            continue
        apart = mine - theirs
        mean = np.average(apart, weights=weights)
        error = np.sqrt(np.average((apart - mean) ** 2, weights=weights) / len(apart))
        better += bool(mean > MARGIN * error)
    return better >= best


def _losses(found: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """−log P(y | x) of the rows of the first fold, and their weights."""
    rows = found.label_scores[0]
    return np.minimum(-rows[:, 0], IMPOSSIBLE), rows[:, 1]


def _refusal(first: Any) -> ParameterError:
    return ParameterError(
        "others are clearly better on the first fold",
        f"its log loss there is {first.mean('log loss'):.4f}",
    )


def _joined(first: Any, rest: Any) -> Any:
    """The evaluations of all folds, or the error of one."""
    for one in (first, rest):
        if isinstance(one, Exception):
            return one
    one, more = len(first.folds), len(rest.folds)
    return replace(
        first,
        folds=first.folds + rest.folds,
        test_share=(one * first.test_share + more * rest.test_share) / (one + more),
        seconds=first.seconds + rest.seconds,
        label_scores=first.label_scores + rest.label_scores,
    )
