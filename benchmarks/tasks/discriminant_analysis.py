"""Discriminant analysis beside ``sklearn.discriminant_analysis``, and the sums it rests on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks import rows
from benchmarks.measure.floor import POOL, THREADS
from benchmarks.measure.task import MILLION, Library, Method, Target, Task
from benchmarks.measure.timing import Call
from benchmarks.rows import Rows
from suffice.statistics.batch import NO_WEIGHTS
from suffice.statistics.block import RealBlock
from suffice.statistics.comoments import Comoments
from suffice.statistics.comoments_accumulator import ComomentsAccumulator
from suffice.statistics.statistic import tree_sum

__all__ = ["TASKS"]


@dataclass(frozen=True)
class Products:
    """Σ(x − p)(x − p)ᵀ of all rows by one accumulator per thread; beside it XᵀX by BLAS."""

    learns = True

    def call(self, library: Library, given: Rows) -> Call:
        if library == "sklearn":
            return lambda: given.x.T @ given.x
        size = -(-len(given.y) // THREADS)
        pieces = [slice(first, first + size) for first in range(0, len(given.y), size)]
        return lambda: tree_sum(POOL.map(partial(self._summed, given), pieces))

    def _summed(self, given: Rows, piece: slice) -> Comoments:
        x, codes = given.x[piece], given.y[piece].astype(np.intp, copy=False)
        total = ComomentsAccumulator(x.shape[1], pooled=True)
        total.add(RealBlock(x), codes, NO_WEIGHTS, len(given.classes))
        return total.statistic()

    def __str__(self) -> str:
        return "co-moments / X.T @ X"


linear = partial(Method, "LinearDiscriminantAnalysis", module="discriminant_analysis")
quadratic = partial(Method, "QuadraticDiscriminantAnalysis", module="discriminant_analysis")
svd, lsqr = {"solver": "svd"}, {"solver": "lsqr"}

WORKS = (
    ("lda-fit", linear("fit", theirs=svd), (Target("ratio", 15),)),
    ("lda-fit-lsqr", linear("fit", theirs=lsqr), (Target("ratio", 2),)),
    ("lda-predict", linear("predict"), (Target("ratio", 3),)),
    ("qda-fit", quadratic("fit"), (Target("ratio", 10),)),
    ("qda-predict", quadratic("predict"), (Target("ratio", 8),)),
    ("co-moments", Products(), (Target("theirs", 3.4),)),
)
TASKS = tuple(Task(name, work, rows.normal, MILLION, targets) for name, work, targets in WORKS)
