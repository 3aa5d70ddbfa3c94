"""What the mean of several models would gain on one that was fitted, estimated from its sample."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.ensemble.candidates import CANDIDATES, IMPOSSIBLE, Roles
from suffice.ensemble.racing import DEAR
from suffice.ensemble.sampled_rows import sampled_rows
from suffice.ensemble.stacking import shares
from suffice.errors import SufficeError
from suffice.model_selection.evaluated_folds import FoldEvaluations, evaluate_models
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.numerics.elementary import exp, log
from suffice.statistics.row_sample import Sampled

__all__ = ["Gain", "gain_of_average"]

FEWEST = 100  # rows: fewer do not tell what another model would gain
MOST_ASKED = 1_000  # rows, about
MOST_CELLS = 100_000  # that candidates learn from
SURE = 2.0  # standard errors
AVERAGED = 3
OWN = "naive-bayes"  # the candidate in whose place the model stands


class Gain(NamedTuple):
    """Log losses, in nats a row, of rows that models had not learnt.

    Parameters
    ----------
    log_loss, log_loss_of_average : float
        Of a model, and of the mean of the best.
    standard_error : float
        Of the difference of the two.
    rows : int
        How many distinct rows were asked about.
    """

    log_loss: float
    log_loss_of_average: float
    standard_error: float
    rows: int

    @property
    def is_sure(self) -> bool:
        """Whether the mean is better by more than chance: two standard errors."""
        return self.log_loss - self.log_loss_of_average > SURE * self.standard_error


def gain_of_average(model: GenerativeClassifier, roles: Roles) -> Gain | None:
    """Estimate what `AutoClassifier` would gain on a model that was fitted, from its sample.

    Candidates are fitted to some rows of the sample and asked about others: about 1,000, or each
    once where there are fewer than 1,500. Rows of equal cells are of one fold, whatever their
    labels. Shares, and which three are averaged, are those of the other half of the rows asked
    about, so that no row decides what it is answered. Candidates that are dear to fit are left out.
    All learn from fewer rows than there are.

    Parameters
    ----------
    model : GenerativeClassifier
        Fitted.
    roles : Roles
        What the user says of columns.

    Returns
    -------
    Gain or None
        None where the sample has fewer than 100 rows that differ in a cell, or more than 1,000
        columns, or the model cannot be fitted to a part of it.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rng = np.random.default_rng(0)
    >>> a, b = rng.integers(0, 2, (2, 300))
    >>> model = NaiveBayes().fit({"a": a + 0.1 * rng.normal(size=300), "b": b * 1.0}, a ^ b)
    >>> found = gain_of_average(model, Roles(None, None, (), "ignore"))
    >>> found.is_sure, found.rows
    (True, 300)
    """
    sums = model.statistic_
    found_rows = sampled_rows(sums.sample, model.layout_) if isinstance(sums, Sampled) else None
    if found_rows is None:
        return None
    rows, labels, weights = found_rows
    n = min(len(rows), MOST_CELLS // max(1, rows.num_columns))
    group = np.zeros(0, np.intp) if n < FEWEST else _equal_rows(rows[:n])
    if len(np.unique(group)) < FEWEST:
        return None
    number, folds = _folds(group)
    learners: dict[str, Any] = {
        name: CANDIDATES[name](roles) for name in CANDIDATES if name not in {*DEAR, OWN}
    }
    learners[OWN] = model.unfitted()
    found: Mapping[str, Any] = {}
    with warnings.catch_warnings(), suppress(SufficeError):
        warnings.simplefilter("ignore")  # the model itself has told what there is to tell
        found = evaluate_models(
            learners,
            rows[:n],
            labels[:n].tolist(),
            weights[:n],
            cv=folds,
            label_scores=True,
        )
    known = {name: one for name, one in found.items() if isinstance(one, FoldEvaluations)}
    asked = group[np.concatenate([places for _, places in folds])]
    whole = OWN in known and sum(map(len, known[OWN].label_scores)) == len(asked)
    return _gain(known, asked // number % 2) if whole else None


def _equal_rows(rows: pa.Table) -> NDArray[np.intp]:
    """Which rows have equal cells: numbers (n,) of groups, in the order of their first rows."""
    columns = (column.combine_chunks() for column in rows.columns)
    codes = [column.dictionary_encode(null_encoding="encode").indices for column in columns]
    _, first, group = np.unique(
        np.stack([code.to_numpy() for code in codes], axis=1),
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    return np.argsort(np.argsort(first))[group.reshape(-1)]


def _folds(
    group: NDArray[np.intp],
) -> tuple[int, list[tuple[NDArray[np.intp], NDArray[np.intp]]]]:
    """How many folds there are, and places to learn from and to ask about of each that is asked.

    All three are asked of few rows, one of many.
    """
    n = len(group)
    few = 2 * n < 3 * MOST_ASKED
    folds = 3 if few else max(3, round(n / MOST_ASKED))
    asked = range(folds if few else 1)
    places = [
        (np.flatnonzero(group % folds != f), np.flatnonzero(group % folds == f)) for f in asked
    ]
    return folds, places


def _gain(found: Mapping[str, FoldEvaluations], halves: NDArray[np.intp]) -> Gain:
    """The losses of the model itself, and of the mean of the best, chosen by the other half."""
    scores = {name: np.concatenate(one.label_scores) for name, one in found.items()}
    own, weights = np.maximum(scores[OWN][:, 0], -IMPOSSIBLE), scores[OWN][:, 1]
    alike = [name for name in scores if len(scores[name]) == len(own)]  # which answer all rows
    log_p = np.maximum(np.stack([scores[name][:, 0] for name in alike], axis=1), -IMPOSSIBLE)
    averaged = np.empty(len(own))
    for half in (0, 1):
        known, asked = halves != half, halves == half
        order = np.argsort(-np.average(log_p[known], axis=0, weights=weights[known]))[:AVERAGED]
        v = shares(log_p[known][:, order], weights[known])
        averaged[asked] = log(exp(log_p[asked][:, order]) @ v)
    apart = averaged - own
    mean = float(np.average(apart, weights=weights))
    error = float(np.sqrt(((weights * (apart - mean)) ** 2).sum()) / weights.sum())
    before = -float(np.average(own, weights=weights))
    return Gain(before, before - mean, error, len(own))
