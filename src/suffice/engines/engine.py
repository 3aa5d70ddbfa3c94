"""The protocol of engines: map a kernel over parts and add the statistics in part order.

An engine holds settings only, and a fit may need several passes. `FitContext` holds what has to
last until the fit ends: clusters that it started, temporary files, the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any, Protocol, TypeVar, cast, runtime_checkable

from suffice.data.schema import Layout
from suffice.data.source import Part, Source, each_batch
from suffice.sums.base import Statistic, tree_sum
from suffice.sums.batch import BATCH_ROWS, Batch

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")
T = TypeVar("T")

Kernel = Callable[[Part, Any], Any]
"""A module-level function (part, params) → result; it is shipped to workers by name."""


@runtime_checkable
class Engine(Protocol):
    """Runs kernels over parts, anywhere.

    It holds settings only: it can be compared and sent elsewhere.
    """

    @property
    def workers(self) -> int:
        """Number of parts worked on at a time."""
        ...

    @property
    def in_process(self) -> bool:
        """Return whether kernels see the memory of the caller."""
        return False

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        """Yield ``kernel(part, params)`` in part order; a bounded number of results waits."""
        ...

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        """Return the sum of ``kernel(part, params)``, added in part order."""
        return tree_sum(self.map(kernel, params, parts))


@dataclass(frozen=True)
class EngineView(Engine):
    """An engine around another, which works where that one does."""

    engine: Engine

    @property
    def workers(self) -> int:
        return self.engine.workers

    @property
    def in_process(self) -> bool:
        return self.engine.in_process


CHOSEN: ContextVar[Engine | None] = ContextVar("engine", default=None)
"""The engine that `suffice.set_engine` chose in this thread."""


# What lasts while a fit does ---------------------------------------------------------------------


class FitContext(ExitStack):
    """Resources that engines keep while a piece of work lasts."""

    @cached_property
    def _kept(self) -> dict[Hashable, Any]:
        return {}

    def keep(self, key: Hashable, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return what is kept under a key: entered the first time, left at the end of the work."""
        if key not in self._kept:
            self._kept[key] = self.enter_context(make())
        return cast(T, self._kept[key])


_current: ContextVar[FitContext | None] = ContextVar("fit_context", default=None)


@contextmanager
def fit_context(learner: Any = None) -> Iterator[FitContext]:
    """Begin a piece of work, or join the one that has begun; the outermost block ends it.

    A learner whose work fails half-way is again what it was before.

    Examples
    --------
    >>> with fit_context() as fit, fit_context() as part_of_it:
    ...     fit is part_of_it is current_fit()
    True
    >>> current_fit() is None
    True
    """
    before = None if learner is None else vars(learner).copy()
    joined = _current.get()
    try:
        if joined is not None:
            yield joined
            return
        with FitContext() as begun:
            token = _current.set(begun)
            try:
                yield begun
            finally:
                _current.reset(token)
    except BaseException:
        if before is not None:
            learner.__dict__ = before
        raise


def current_fit() -> FitContext | None:
    """Return the piece of work that has begun, if one has."""
    return _current.get()


# Batches -----------------------------------------------------------------------------------------


def map_batches(
    engine: Engine,
    function: Callable[[Batch], R],
    source: Source,
    layout: Layout,
    rows: int = BATCH_ROWS,
) -> Iterator[R]:
    """Yield ``function(batch)`` of every batch, in order.

    One worker in this process reads a batch when its result is asked for. Others answer whole
    parts, of which a bounded number waits. The function is given so many rows at most, and has to
    pickle if workers are other processes.
    """
    lazily = engine.in_process and engine.workers == 1
    parts = source.parts(layout, engine.workers)
    kernel, task = _each if lazily else _all, (layout, function, rows)
    return chain.from_iterable(engine.map(kernel, task, parts))


def _each(part: Part, task: tuple[Layout, Callable[[Batch], Any], int]) -> Iterator[Any]:
    """Kernel that answers a batch when it is asked for."""
    return each_batch(part, *task)


def _all(part: Part, task: tuple[Layout, Callable[[Batch], Any], int]) -> list[Any]:
    """Kernel that answers all batches of a part."""
    return list(each_batch(part, *task))
