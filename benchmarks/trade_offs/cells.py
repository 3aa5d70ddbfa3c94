"""Measuring a method on rows of a known distribution."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.trade_offs.methods import METHODS, Method
from benchmarks.trade_offs.truths import TRUTHS

__all__ = [
    "COLUMNS",
    "LIMIT",
    "MOST_DRAWS",
    "ROWS",
    "SEED",
    "TEST_ROWS",
    "Cell",
    "Size",
    "grouped",
    "measure",
]

TEST_ROWS = 10_000
DRAWN = 600_000  # numbers in the training sets of one size, together
MOST_DRAWS = 10
LIMIT = 10.0  # seconds of one fit and the prediction of the test set
SEED = 20

Size = tuple[int, int]  # n, d
Drawn = tuple[NDArray[np.float64], NDArray[np.int64]]

ROWS: tuple[Size, ...] = tuple(
    (n, 10) for n in (30, 100, 300, 1_000, 3_000, 10_000, 100_000, 1_000_000)
)
COLUMNS: tuple[Size, ...] = tuple((1_000, d) for d in (2, 5, 10, 20, 50, 100, 200))


@dataclass(frozen=True)
class Cell:
    """A method on n rows of d columns of a truth; or the reason why it was not measured.

    ``best`` is the accuracy of the Bayes-optimal rule on the same test rows. Times are in seconds,
    that of the prediction for 1,000 rows.
    """

    truth: str
    n: int
    d: int
    method: str
    best: float
    training: float | None = None
    prediction: float | None = None
    parameters: int | None = None
    bytes: int | None = None
    accuracy: float | None = None
    reason: str | None = None


def grouped(cells: Iterable[Cell], *fields: str) -> dict[tuple[Any, ...], list[Cell]]:
    """Cells by the values of some fields, in the order in which they come."""
    groups: dict[tuple[Any, ...], list[Cell]] = {}
    for cell in cells:
        groups.setdefault(tuple(getattr(cell, field) for field in fields), []).append(cell)
    return groups


def measure(
    sizes: Sequence[Size],
    truths: Collection[str],
    test_rows: int = TEST_ROWS,
    most_draws: int = MOST_DRAWS,
    limit: float = LIMIT,
) -> Iterator[Cell]:
    """Measure all methods on the truths at growing sizes."""
    for truth in TRUTHS:
        if truth.name not in truths:
            continue
        rng = np.random.default_rng(SEED)
        rates: dict[str, float] = {}  # seconds for n·d², where last measured
        for n, d in sizes:
            known = truth.known(d)
            test = known.sample(test_rows, np.random.default_rng([SEED, d]))  # one for every n
            draws = [known.sample(n, rng) for _ in range(min(most_draws, DRAWN // (n * d) + 1))]
            best = known.score(*test)
            for method in METHODS:
                place = truth.name, n, d, method.name, best
                if method.name not in rates:
                    _run(method, draws[0], test)  # warms up
                elif (forecast := rates[method.name] * n * d**2) > limit:
                    reason = f"about {forecast:,.0f} s, as it grows; the limit is {limit:g} s"
                    yield Cell(*place, reason=reason)
                    continue
                cell = _measured(place, method, draws, test)
                seconds = cell.training + cell.prediction / 1_000 * test_rows
                rates[method.name] = seconds / (n * d**2)
                yield cell


def _measured(place: Any, method: Method, draws: Sequence[Drawn], test: Drawn) -> Cell:
    runs = [_run(method, draw, test) for draw in draws]
    model = runs[0].model
    return Cell(
        *place,
        median(run.training for run in runs),
        median(run.prediction for run in runs) / len(test[1]) * 1_000,
        method.parameters(model),
        len(pickle.dumps(model)),
        fmean(run.accuracy for run in runs),
    )


@dataclass(frozen=True)
class _Run:
    model: Any
    training: float
    prediction: float
    accuracy: float


def _run(method: Method, draw: Drawn, test: Drawn) -> _Run:
    (x, y), (unseen, truth) = draw, test
    model = method.new()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few rows for many columns are meant here
        start = perf_counter()
        model.fit(x, y)
        fitted = perf_counter()
        predicted = model.predict(unseen)
        done = perf_counter()
    return _Run(model, fitted - start, done - fitted, float(np.mean(predicted == truth)))
