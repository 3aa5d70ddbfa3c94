"""Rows drawn at random from a whole table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.source import Split, each_batch
from suffice.models.logistic.data_loop import DataLoop
from suffice.models.logistic.training_rows import TrainingRows
from suffice.statistics.batch import Batch

__all__ = ["Sample", "draw"]

OVERSAMPLING = 2.0  # times the rows wanted that are drawn, so that chance leaves enough


@dataclass(frozen=True, eq=False)
class Sample:
    """Some rows z (n, D), with their class codes and weights."""

    z: NDArray[np.float64]
    codes: NDArray[np.intp]
    weights: NDArray[np.float64]

    @classmethod
    def empty(cls, width: int) -> Sample:
        """No rows."""
        return cls(np.empty((0, width)), np.empty(0, np.intp), np.empty(0))

    @classmethod
    def of(cls, batch: Batch, places: NDArray[np.intp], rows: TrainingRows) -> Sample:
        """Some rows of a batch."""
        batch, centred = batch.take(places), rows.centred
        pieces = [
            z.toarray() if isinstance(z, csr_array) else z.copy()
            for (z,) in centred.pieces(batch, False)
        ]
        weights = batch.weights if len(batch.weights) else np.ones(batch.rows)
        z = np.concatenate([np.empty((0, centred.width)), *pieces])
        return cls(z, batch.learnt(rows.classes), weights)

    @classmethod
    def joined(cls, parts: Iterable[Sample]) -> Sample:
        """All rows of all samples."""
        parts = list(parts)
        names = ("z", "codes", "weights")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, rows: slice | NDArray[np.intp]) -> Sample:
        return Sample(self.z[rows], self.codes[rows], self.weights[rows])


def sampled(split: Split, params: tuple[TrainingRows, int, float]) -> tuple[NDArray[Any], Sample]:
    """Kernel: rows drawn at random, at most so many, and the numbers that they drew.

    The last of ``params`` is the weight of all rows, or 0 if it is not known.
    """
    rows, limit, total = params
    rng = np.random.default_rng(0)
    drawn, parts = [np.empty(0)], [Sample.empty(rows.centred.width)]
    bound = np.inf  # above it, a number has no chance

    def add(batch: Batch) -> None:
        nonlocal bound
        batch, codes = rows.of(batch)
        places = np.flatnonzero(codes >= 0)
        number = rng.random(len(places))
        every = np.concatenate([*drawn, number])
        if len(every) > limit:
            bound = min(bound, float(np.partition(every, limit)[limit]))
        if total and not len(batch.weights):  # then it is their number
            bound = min(bound, OVERSAMPLING * limit / total)
        kept = number < bound
        drawn.append(number[kept])
        parts.append(Sample.of(batch, places[kept], rows))

    for _ in each_batch(split, rows.layout, add):
        pass
    return _lowest(drawn, parts, limit)


def _lowest(
    drawn: Sequence[NDArray[Any]], parts: Sequence[Sample], limit: int
) -> tuple[NDArray[Any], Sample]:
    number = np.concatenate(drawn)
    kept = np.argsort(number, kind="stable")[:limit]
    return number[kept], Sample.joined(parts)[kept]


def draw(data: DataLoop, rows: TrainingRows, n: int, total: float = 0.0) -> Sample:
    """Draw n rows of a whole table, or take all if there are fewer."""
    numbers, parts = zip(*data.map(sampled, (rows, n, total)), strict=True)
    return _lowest(numbers, parts, n)[1]
