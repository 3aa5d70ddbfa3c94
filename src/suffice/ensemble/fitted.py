"""An average of fitted classifiers: the mean of their probabilities, and how it is kept."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Column, Layout
from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.ensemble.candidates import Candidate
from suffice.linear_model import LogisticRegression
from suffice.models.base.answers import Doubts, Predictions
from suffice.models.base.saved import SavedClassifier
from suffice.models.classifier import Classifier
from suffice.models.generative.model import GenerativeModel, revealed
from suffice.models.logistic.model import LogisticModel
from suffice.naive_bayes import NaiveBayes
from suffice.naive_bayes.aode import AODE
from suffice.numerics.elementary import exp, log, log_of
from suffice.numerics.logspace import log_normalise, log_sum_exp
from suffice.rules import rule
from suffice.sums.batch import Batch
from suffice.sums.block import BadCell
from suffice.sums.vocabulary import Vocabulary
from suffice.tree import named

NARROW = 1e-2  # where (1 − exp(−w))/w is a short series

Member: TypeAlias = GenerativeModel | LogisticModel
"""A fitted model of classes."""


@dataclass(frozen=True)
class AveragedModel:
    """Models of the same classes, and the mean of their probabilities, weighted by shares v (M,).

    The layout has the blocks of all members, one member's after another's.
    """

    members: tuple[Member, ...]
    shares: NDArray[np.float64]
    layout: Layout

    @property
    def classes(self) -> Vocabulary:
        """The k labels."""
        return self.members[0].classes

    @property
    def log_prior(self) -> NDArray[np.float64]:
        """Equal probabilities, for an impossible row; there is none."""
        return np.full(len(self.classes), -log_of(len(self.classes)))

    @cached_property
    def known_values(self) -> dict[str, Vocabulary]:
        """The values of columns that are categories, or texts, to all members that read them."""
        known = {name: v for member in self.members for name, v in member.known_values.items()}
        read = {name for m in self.members for name in {*m.layout.names} - m.known_values.keys()}
        return {name: values for name, values in known.items() if name not in read}

    def log_posterior(self, batch: Batch, hidden: Collection[str] = ()) -> NDArray[np.float64]:
        """Return log P(c | x) = log Σ_m v_m P_m(c | x) of every row, (n, k)."""
        logs = np.stack(list(self._of_members(batch, hidden)), axis=-1)
        n, k, m = logs.shape
        total = log_sum_exp((logs + log(self.shares)).reshape(n * k, m)).reshape(n, k)
        return log_normalise(total, self.log_prior)[0]

    log_joint = log_posterior  # what `evaluation` asks a model for

    def answers(self, batch: Batch, proba: bool = False) -> Predictions:
        """The most probable class of every row, and the probabilities of all, if asked for."""
        logs = self.log_posterior(batch)
        return Predictions(logs.argmax(axis=1), exp(logs) if proba else None)

    def revealed(self, batch: Batch) -> NDArray[np.float64]:
        """Return log P(c) before any column is `revealed`, and what each changes, (n, 1 + d, k)."""
        names = list(self.layout.names)
        start, found = revealed(partial(self.log_posterior, batch), names)
        return np.concatenate([start[:, None], found], axis=1)

    def by_member(self, batch: Batch) -> NDArray[np.float64]:
        """Return log P(c) before any cell, and what each member adds, (n, 1 + M, k)."""
        before, after = (
            np.stack(list(self._of_members(batch, hidden)), axis=1)
            for hidden in (list(self.layout.names), ())
        )
        start, end = self.log_posterior(batch, list(self.layout.names)), self.log_posterior(batch)
        top, width = np.maximum(start, end), np.abs(end - start)
        series = 1 - width / 2 * (1 - width / 3 * (1 - width / 4 * (1 - width / 5)))
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = np.where(width < NARROW, series, (1 - exp(-width)) / width)
            moved = exp(after - top[:, None]) - exp(before - top[:, None])
        found = np.nan_to_num(self.shares[:, None] * moved / mean[:, None])
        return np.concatenate([start[:, None], found], axis=1)

    def _of_members(self, batch: Batch, hidden: Collection[str]) -> Iterator[NDArray[np.float64]]:
        """The log-probabilities of every member, each of its own blocks."""
        first = 0
        for member in self.members:
            own = replace(batch, blocks=batch.blocks[first : first + len(member.layout.blocks)])
            try:
                yield member.partial_log_posterior(own, hidden)
            except BadCell as bad:
                bad.block += first
                raise
            first += len(own.blocks)


def joint_layout(layouts: Sequence[Layout]) -> Layout:
    """Return the layout that reads the blocks of several models at once.

    A column that some of them read is known; one that all leave out is ignored.
    """
    columns: dict[str, Column] = {}
    for layout in layouts:
        columns = {column.name: column for column in layout.columns} | columns
    ignored = dict.fromkeys(name for layout in layouts for name in layout.ignored)
    return replace(
        layouts[0],
        blocks=tuple(block for layout in layouts for block in layout.blocks),
        columns=tuple(columns.values()),
        ignored=tuple(name for name in ignored if name not in columns),
    )


MEMBERS: Mapping[str, type[Classifier]] = {
    cls.__name__: cls
    for cls in (
        NaiveBayes,
        AODE,
        LogisticRegression,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
}
SAVED: dict[str, type] = {
    **{name: kind for cls in MEMBERS.values() for name, kind in (cls.kind.types or {}).items()},
    **named(Candidate, Doubts),
}
"""The types that the file of an average may hold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedAverage(SavedClassifier):
    """The entries and kind of every member, all candidates, and the doubts of held-out rows."""

    members: tuple[dict[str, Any], ...]
    judged: tuple[Candidate, ...]
    doubts: Doubts

    @property
    def labels(self) -> tuple[Vocabulary, ...]:
        """None: those of the members are checked where they are restored."""
        return ()

    @rule("every member has a share above 0, and these add up to 1")
    def _has_shares(self) -> bool:
        shares = [one.weight for one in self.judged if one.weight]
        whole = abs(sum(shares) - 1) < 1e-9
        return len(shares) == len(self.members) and min(shares, default=0) > 0 and whole

    @rule("there is a member, and each is of a kind that can be averaged")
    def _has_members(self) -> bool:
        return len(self.members) > 0 and all(
            isinstance(entries, dict) and entries.get("kind") in MEMBERS for entries in self.members
        )
