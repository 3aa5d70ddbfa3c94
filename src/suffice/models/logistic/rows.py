"""The rows that a logistic regression learns from: passes over them, and samples of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from suffice.data.schema import Layout
from suffice.data.source import Part, each_batch
from suffice.engines.engine import Engine
from suffice.models.logistic.centred_design import CentredDesign
from suffice.sums.base import Statistic
from suffice.sums.batch import Batch
from suffice.sums.vocabulary import Vocabulary

OVERSAMPLING = 2.0  # times the rows wanted that are drawn, so that chance leaves enough

S = TypeVar("S", bound=Statistic)
R = TypeVar("R")


@dataclass
class DataLoop:
    """Sends kernels over all rows, and counts how often.

    Parameters
    ----------
    engine : Engine
    parts : sequence of Part
    """

    engine: Engine
    parts: Sequence[Part]
    count: int = field(default=0, init=False)

    def run(self, kernel: Callable[[Part, Any], S], params: Any) -> S:
        """The sum of what a kernel finds in every part."""
        self.count += 1
        return self.engine.run(kernel, params, self.parts)

    def map(self, kernel: Callable[[Part, Any], R], params: Any) -> list[R]:
        """What a kernel finds, one result for every part."""
        self.count += 1
        return list(self.engine.map(kernel, params, self.parts))


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """How batches become rows z with classes and weights.

    Parameters
    ----------
    centred : CentredDesign
        How rows z = (1, x − m) are made.
    classes : Vocabulary
        The k labels.
    class_weights : ndarray (k,)
        What the weights of the rows of a class are multiplied by.
    """

    centred: CentredDesign
    classes: Vocabulary
    class_weights: NDArray[np.float64]

    @property
    def layout(self) -> Layout:
        """How a table is read."""
        return self.centred.layout

    def of(self, batch: Batch) -> tuple[Batch, NDArray[np.intp]]:
        """The rows of a batch, and codes of their classes; −1 for those that a fit leaves out."""
        batch = self.centred.to_fit(batch) if self.centred.leaves_out else batch
        return batch, batch.learnt(self.classes)


def farthest(part: Part, params: tuple[TrainingRows, NDArray[np.float64]]) -> float:
    """Kernel: the largest |z/s|² of a row; the second of ``params`` is 1/s."""
    rows, inverse_scale = params

    def of(batch: Batch) -> float:
        batch, codes = rows.of(batch)
        largest = 0.0
        for z, piece in rows.centred.pieces(batch, False, codes >= 0):
            squares = (z * z)[piece] @ inverse_scale**2
            largest = max(largest, float(squares.max(initial=0.0)))
        return largest

    return max(each_batch(part, rows.layout, of))


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


def sampled(part: Part, params: tuple[TrainingRows, int, float]) -> tuple[NDArray[Any], Sample]:
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

    for _ in each_batch(part, rows.layout, add):
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
