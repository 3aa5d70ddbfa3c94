"""The engine of this process: threads over parts."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from functools import cache, partial
from numbers import Integral
from typing import Any, Generic, TypeVar

from suffice.data.read_ahead import in_order
from suffice.data.source import Part
from suffice.engines.engine import CHOSEN, Engine
from suffice.errors import ParameterError
from suffice.numerics import kernels
from suffice.sums.base import Statistic
from suffice.sums.batch import Batch

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
AVAILABLE_CORES = (
    len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
)
R = TypeVar("R")
WAITING = 2  # results for each thread, behind the one that is asked for


@dataclass(frozen=True)
class LocalEngine(Engine):
    """Threads of this process. Kernels release the global lock, so threads run side by side.

    Parameters
    ----------
    threads : int, optional
        Default: the cores that this process may use.
    """

    threads: int | None = None
    in_process = True  # threads share the memory of the caller

    def __post_init__(self) -> None:
        require_workers("threads", self.threads)

    @property
    def workers(self) -> int:
        return self.threads or AVAILABLE_CORES

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        """Yield ``kernel(part, params)`` in part order; at most two results per thread wait.

        The caller's thread is one of the workers: it works while the next result is not there.
        """
        workers = min(self.workers, len(parts))
        if workers <= 1:
            for part in parts:
                yield kernel(part, params)
            return
        pool, stop = threads(workers - 1), kernels.interrupts.Stop()
        chosen = CHOSEN.get()  # a kernel may fit a model, in a thread that chose no engine

        def called(part: Part) -> R:
            before = CHOSEN.set(chosen)
            try:
                given: Any = _Stoppable(part, stop) if hasattr(part, "batches") else part
                return kernel(given, params)
            finally:
                CHOSEN.reset(before)

        def begin(part: Part) -> _Task[R]:
            return _Task(pool, partial(called, part), stop)

        def drop(tasks: Iterable[_Task[R]]) -> None:
            stop.set()
            futures = [task.future for task in tasks]
            for future in futures:
                future.cancel()
            wait(futures)  # they see the memory of the caller

        yield from in_order(begin, parts, WAITING * workers, _first, drop)

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        if len(parts) == 1:
            return kernel(parts[0], params)
        return super().run(kernel, params, parts)


@cache
def threads(number: int) -> ThreadPoolExecutor:
    """Return threads that are started once, as that takes as long as 10,000 rows."""
    return ThreadPoolExecutor(number, thread_name_prefix="suffice")


if hasattr(os, "register_at_fork"):
    # A child has none of its parent's threads.
    os.register_at_fork(after_in_child=threads.cache_clear)


def side_by_side(
    engine: Engine, function: Callable[[Any], R], arguments: Sequence[Any]
) -> Iterator[R]:
    """Yield what `map` does, by as many threads as an engine of this process has."""
    workers = engine.workers if engine.in_process else 1
    return LocalEngine(workers).map(lambda argument, _: function(argument), None, arguments)


def require_workers(option: str, number: int | None) -> None:
    """Refuse a number of workers that is less than 1, or is none."""
    if number is None:
        return
    whole = isinstance(number, Integral) and not isinstance(number, bool)
    if not (whole and number >= 1):
        raise ParameterError(
            f"{option}={number!r}",
            "it is a whole number, 1 or more, or None for all cores",
        )


class _Stoppable:
    """A part whose rows end with an error when nobody waits for what is made of them."""

    def __init__(self, part: Part, stop: kernels.interrupts.Stop) -> None:
        self._part, self._stop = part, stop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._part, name)

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of the part."""
        for batch in self._part.batches():
            if self._stop.is_set():
                raise CancelledError
            yield batch


class _Task(Generic[R]):
    """A call that a pool makes, or the caller where no thread has begun it."""

    def __init__(
        self, pool: ThreadPoolExecutor, call: Callable[[], R], stop: kernels.interrupts.Stop
    ) -> None:
        self.call = call
        self.future: Future[R] = pool.submit(stop.call, call)

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
