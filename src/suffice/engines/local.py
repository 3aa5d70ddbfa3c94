"""The engine of this process: threads over splits."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache
from numbers import Integral
from typing import TypeVar

from suffice.data.source import Split
from suffice.errors import ParameterError
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
                f"threads={self.threads!r}",
                "it is a whole number, 1 or more, or None for all cores",
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
        """Yield ``kernel(split, params)`` in split order; at most two results per thread wait."""
        workers = min(self.workers, len(splits))
        if workers <= 1:
            yield from (kernel(split, params) for split in splits)
            return
        pending: deque[Future[R]] = deque()
        pool = _pool(workers)
        try:
            for split in splits:
                pending.append(pool.submit(kernel, split, params))
                if len(pending) > 2 * workers:
                    yield pending.popleft().result()
            while pending:
                yield pending.popleft().result()
        finally:
            for task in pending:
                task.cancel()
            wait(pending)


@cache
def _pool(workers: int) -> ThreadPoolExecutor:
    """Threads that stay: to start them takes as long as 10,000 rows."""
    return ThreadPoolExecutor(workers, thread_name_prefix="suffice")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        after_in_child=_pool.cache_clear
    )  # a child has none of its parent's threads
