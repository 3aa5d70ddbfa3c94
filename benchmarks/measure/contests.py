"""Contests: solvers of one problem, each stopped where its gradient is as small as asked for.

One function measures the gradient of all, in the columns' own units and relative to that at 0,

    J(b, w) = loss + ½λ|w|²        |∇J(b, w)| / |∇J(0, 0)|

with half the sum of squares for numbers, −Σ log P(y | x) for classes. What a solver calls ``tol``
means something else in each; it is tightened tenfold, or more, until the gradient is small enough.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from math import floor, log10
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from benchmarks.measure.task import Target
from benchmarks.measure.timing import SLOW, medians
from benchmarks.rows import Rows

__all__ = ["Contest", "Entry", "Solver", "hold"]

ENOUGH = 1e-8  # relative gradient
FIRST_TOL, LEAST_TOL = 1e-4, 1e-15
PATIENCE = 2  # fits in a row that get no nearer
BLOCK = 2**16  # rows whose residuals are in memory at a time
WARM_ROWS = 1_000


@dataclass(frozen=True)
class Solver:
    """A class of a module ``linear_model``, with options; ``iterates`` if it has a ``tol``."""

    library: str
    model: str
    options: Mapping[str, Any] = field(default_factory=dict)
    iterates: bool = False

    def fit(self, given: Rows, tol: float) -> Any:
        cls = getattr(import_module(f"{self.library}.linear_model"), self.model)
        stop = {"tol": tol, "max_iter": 10_000} if self.iterates else {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it did not converge is measured below
            return cls(**self.options, **stop).fit(given.x, given.y)

    def __str__(self) -> str:
        return ", ".join([self.library, *map(str, self.options.values())])


@dataclass(frozen=True)
class Contest:
    """A problem, our solver of it, theirs, and what is asked of the fastest of a library.

    Parameters
    ----------
    penalty : float
        λ.
    bounds : mapping from a library to a bound of their time over ours
    """

    name: str
    make: Callable[[int], Rows]
    n: int
    ours: Solver
    theirs: Sequence[Solver]
    penalty: float = 0.0
    bounds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """What one solver did: where it was stopped, and in how many seconds; or why there is none."""

    contest: str
    rows: str
    library: str
    solver: str
    tol: float | None = None
    gradient: float | None = None
    seconds: float | None = None
    ratio: float | None = None
    verdict: str = ""
    absent: str | None = None

    @property
    def arrived(self) -> bool:
        return self.gradient is not None and self.gradient <= ENOUGH


def hold(contest: Contest, n: int) -> Iterator[Entry]:
    """Let all solvers run on n rows; times of quick ones are medians, taken in turns."""
    given, small = contest.make(n), contest.make(min(n, WARM_ROWS))
    solvers = [contest.ours, *contest.theirs]
    entries = [_settled(contest, solver, given, small) for solver in solvers]
    quick = {
        entry.solver: partial(solver.fit, given, entry.tol or FIRST_TOL)
        for solver, entry in zip(solvers, entries, strict=True)
        if entry.arrived and _seconds(entry) < SLOW
    }
    seconds = medians(quick) if quick else {}
    ours, *theirs = (replace(e, seconds=seconds.get(e.solver, e.seconds)) for e in entries)
    yield ours
    arrived = [e for e in theirs if e.arrived]
    fastest = {e.library: e for e in sorted(arrived, key=_seconds, reverse=True)}
    for entry in theirs:
        if entry.absent is not None:
            yield entry
            continue
        ratio = _seconds(entry) / _seconds(ours)
        is_judged = fastest.get(entry.library) is entry and entry.library in contest.bounds
        target = Target("ratio", contest.bounds.get(entry.library, 0.0))
        yield replace(entry, ratio=ratio, verdict=target.verdict(ratio) if is_judged else "")


def _seconds(entry: Entry) -> float:
    return np.inf if entry.seconds is None else entry.seconds


def _settled(contest: Contest, solver: Solver, given: Rows, small: Rows) -> Entry:
    """Tighten ``tol`` until the gradient is small enough, or no longer gets smaller."""
    empty = Entry(contest.name, given.shape, solver.library, str(solver))
    try:
        solver.fit(small, FIRST_TOL)
    except ImportError as error:
        return replace(empty, absent=str(error))
    tol, best, idle = FIRST_TOL, empty, 0
    while tol >= LEAST_TOL and idle < PATIENCE:
        start = perf_counter()
        model = solver.fit(given, tol)
        seconds = perf_counter() - start
        reached = _relative_gradient(model, given, contest.penalty)
        if not solver.iterates:
            return replace(best, gradient=reached, seconds=seconds)
        idle += 1
        if best.gradient is None or reached < best.gradient:
            best, idle = replace(best, tol=tol, gradient=reached, seconds=seconds), 0
        if best.arrived:
            break
        tol *= 10.0 ** min(floor(log10(ENOUGH / reached)), -1)
    return best


def _relative_gradient(model: Any, given: Rows, penalty: float) -> float:
    """|∇J| at the coefficients of a model, as a share of that at 0."""
    w = np.atleast_2d(np.asarray(model.coef_, np.float64))
    b = np.atleast_1d(np.asarray(model.intercept_, np.float64))
    size = np.linalg.norm(_gradient(0 * w, 0 * b, given, penalty))
    return float(np.linalg.norm(_gradient(w, b, given, penalty)) / size)


def _gradient(
    w: NDArray[np.float64], b: NDArray[np.float64], given: Rows, penalty: float
) -> NDArray[np.float64]:
    """∇J, (m, d + 1), the intercept last."""
    of_w, of_b = penalty * w, np.zeros(len(b))
    for first in range(0, len(given.y), BLOCK):
        x, y = given.x[first : first + BLOCK], given.y[first : first + BLOCK]
        t = np.asarray(x @ w.T) + b
        if given.y.dtype.kind == "f":
            residual = t - y[:, None]
        elif len(b) == 1:
            residual = expit(t) - (y[:, None] == given.classes[1])
        else:
            residual = softmax(t, axis=1) - (y[:, None] == given.classes)
        of_w, of_b = of_w + np.asarray(x.T @ residual).T, of_b + residual.sum(axis=0)
    return np.column_stack([of_w, of_b])
