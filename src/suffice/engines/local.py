"""The engine of this process: threads over splits."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Generic, TypeVar

from suffice.data.source import Split
from suffice.engines.threads import threads
from suffice.errors import ParameterError
from suffice.phrases import Option, Phrase, PythonOnly
from suffice.statistics.statistic import Statistic, tree_sum

__all__ = ["LocalEngine"]

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
AVAILABLE_CORES = (
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)
R = TypeVar("R")


@dataclass(frozen=True)
class LocalEngine:
    """Threads of this process. Kernels release the global lock, so threads run side by side.

    Parameters
    ----------
    threads : int, optional
        Default: the cores that this process may use.

    Raises
    ------
    ParameterError
        If ``threads`` is less than 1.
    """

    threads: int | None = None

    def __post_init__(self) -> None:
        if self.threads is None:
            return
        number = isinstance(self.threads, Integral) and not isinstance(self.threads, bool)
        if not (number and self.threads >= 1):
            raise ParameterError(
                Option.of("threads", self.threads),
                Phrase("it is a whole number, 1 or more", PythonOnly(", or None for all cores")),
            )

    @property
    def workers(self) -> int:
        """Number of threads."""
        return self.threads or AVAILABLE_CORES

    @property
    def in_process(self) -> bool:
        """Threads share the memory of the caller."""
        return True

    def run(self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split]) -> S:
        """Return the sum of ``kernel(split, params)``, added in split order."""
        return tree_sum(self.map(kernel, params, splits))

    def map(
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; at most two results per thread wait.

        The caller's thread is one of the workers: it works while the next result is not there.
        """
        workers = min(self.workers, len(splits))
        if workers <= 1:
            yield from (kernel(split, params) for split in splits)
            return
        pending: deque[_Task[R]] = deque()
        pool = threads(workers - 1)
        try:
            for split in splits:
                pending.append(_Task(pool, partial(kernel, split, params)))
                if len(pending) > 2 * workers:
                    yield _first(pending)
            while pending:
                yield _first(pending)
        finally:
            for task in pending:
                task.future.cancel()
            wait([task.future for task in pending])


class _Task(Generic[R]):
    """A call that a pool makes, or the caller where no thread has begun it."""

    def __init__(self, pool: ThreadPoolExecutor, call: Callable[[], R]) -> None:
        self.call, self.future = call, pool.submit(call)

    def taken_over(self) -> bool:
        """Make the call here, unless it has begun."""
        if not self.future.cancel():
            return False
        done = Future[R]()
        try:
            done.set_result(self.call())
        except Exception as error:
            done.set_exception(error)  # it is raised when its turn comes
        self.future = done
        return True


def _first(pending: deque[_Task[R]]) -> R:
    """Remove the first task and return its result; until it is there, work on those that wait."""
    waiting = iter(list(pending))
    while not pending[0].future.done():
        if not any(task.taken_over() for task in waiting):
            break
    return pending.popleft().future.result()
