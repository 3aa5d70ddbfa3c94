"""The mean of what several models say of a row, read once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Column, Layout
from suffice.data.source import Split, each_batch
from suffice.models.base.predictions import Predictions
from suffice.numerics.elementary import exp, log, log_of
from suffice.numerics.logspace import log_normalise, log_sum_exp
from suffice.statistics.batch import Batch, scored_rows
from suffice.statistics.block import BadCell
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["Answer", "AveragedModel", "Member", "answered", "joint_layout"]


class Member(Protocol):
    """A fitted model of classes."""

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        ...

    @property
    def classes(self) -> Vocabulary:
        """The k labels."""
        ...

    @property
    def known_values(self) -> Mapping[str, Vocabulary]:
        """The values of categories, and the words of texts, by column."""
        ...

    def partial_log_posterior(
        self, batch: Batch, hidden: Collection[str] = ()
    ) -> NDArray[np.float64]:
        """Return log P(c | x), (n, k), as if the cells of ``hidden`` columns were missing."""
        ...


@dataclass(frozen=True)
class AveragedModel:
    """Models of the same classes, and the weighted mean of their probabilities.

    Parameters
    ----------
    members : tuple of Member
        The M models.
    shares : ndarray (M,)
        v, above 0; they add up to 1.
    layout : Layout
        How a table is read: the blocks of all members, one member's after another's.
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
        """What an impossible row would be answered with; there is none."""
        return np.full(len(self.classes), -log_of(len(self.classes)))

    @cached_property
    def known_values(self) -> dict[str, Vocabulary]:
        """The values of columns that are categories, or texts, to all members that read them."""
        known = {name: v for member in self.members for name, v in member.known_values.items()}
        read = {name for m in self.members for name in {*m.layout.names} - m.known_values.keys()}
        return {name: values for name, values in known.items() if name not in read}

    def log_posterior(self, batch: Batch, hidden: Collection[str] = ()) -> NDArray[np.float64]:
        """Return log P(c | x) = log Σ_m v_m P_m(c | x) of every row, (n, k).

        Raises
        ------
        BadCell
            If a cell breaks a rule.
        """
        logs = np.stack(list(self._of_members(batch, hidden)), axis=-1)
        n, k, m = logs.shape
        total = log_sum_exp((logs + log(self.shares)).reshape(n * k, m)).reshape(n, k)
        return log_normalise(total, self.log_prior)[0]

    log_joint = log_posterior  # what `evaluation` asks a model for

    def posterior(self, batch: Batch) -> NDArray[np.float64]:
        """Return P(c | x) of every row, (n, k)."""
        return exp(self.log_posterior(batch))

    def best(self, batch: Batch) -> NDArray[np.intp]:
        """Return the code of the most probable class of every row, (n,)."""
        return np.asarray(self.log_posterior(batch).argmax(axis=1))

    def answers(self, batch: Batch, proba: bool = False, log_proba: bool = False) -> Predictions:
        """The most probable class of every row, and the probabilities of all, if asked for."""
        logs = self.log_posterior(batch)
        posterior = exp(logs) if proba else None
        return Predictions(logs.argmax(axis=1), posterior, logs if log_proba else None)

    def revealed(self, batch: Batch) -> NDArray[np.float64]:
        """What each column changes of log P(c | x) where it is revealed, (n, 1 + d, k).

        The mean of two orders: that of the table, and the reverse. First stands log P(c) before
        any column is revealed.
        """
        names = list(self.layout.names)
        start = self.log_posterior(batch, names)
        found = np.zeros((batch.rows, 1 + len(names), start.shape[1]))
        found[:, 0] = start
        for order in (range(len(names)), reversed(range(len(names)))):
            hidden, before = set(names), start
            for j in order:
                hidden.discard(names[j])
                after = self.log_posterior(batch, hidden)
                found[:, 1 + j] += (after - before) / 2
                before = after
        return found

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
    """How a table is read for several models at once: the blocks of all.

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


Answer = Callable[[AveragedModel, Batch], NDArray[Any]]
"""What to say of every row of a batch."""


def answered(split: Split, params: tuple[AveragedModel, Answer]) -> list[NDArray[Any]]:
    """Kernel of a prediction: the answers of a split, batch by batch."""
    model, answer = params
    rows = scored_rows(len(model.classes))
    return list(each_batch(split, model.layout, lambda batch: answer(model, batch), rows))
