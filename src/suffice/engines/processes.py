"""The engine of this machine's processes: spawned once, kept warm, replaced when they die."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import tempfile
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from pathlib import Path
from threading import Thread
from typing import TypeVar

from threadpoolctl import threadpool_limits

from suffice.data.source import Split
from suffice.engines.local import AVAILABLE_CORES
from suffice.engines.remote import ATTEMPTS, LARGE, Parcel, Task, lost, opened, packed, perform
from suffice.errors import EngineError, ParameterError
from suffice.statistics.statistic import Statistic, tree_sum

__all__ = ["ProcessesEngine"]

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True)
class ProcessesEngine:
    """Processes of this machine, for kernels that hold Python's global lock.

    They are started by the first fit and kept for the next ones. A script that fits with them does
    so under ``if __name__ == "__main__":``, because every process imports the script.

    Parameters
    ----------
    processes : int, optional
        Default: the cores that this process may use.

    Raises
    ------
    ParameterError
        If ``processes`` is less than 1.

    Examples
    --------
    >>> ProcessesEngine(processes=2).workers
    2
    """

    processes: int | None = None

    def __post_init__(self) -> None:
        if self.processes is None:
            return
        number = isinstance(self.processes, Integral) and not isinstance(self.processes, bool)
        if not (number and self.processes >= 1):
            raise ParameterError(
                f"processes={self.processes!r}",
                "it is a whole number, 1 or more, or None for all cores",
            )

    @property
    def workers(self) -> int:
        """Number of processes."""
        return self.processes or AVAILABLE_CORES

    @property
    def in_process(self) -> bool:
        """Processes have memory of their own."""
        return False

    def run(self, kernel: Callable[[Split, P], S], params: P, splits: Sequence[Split]) -> S:
        """Return the sum of ``kernel(split, params)``, added in split order."""
        return tree_sum(self.map(kernel, params, splits))

    def map(
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; at most two results per process wait.

        Raises
        ------
        EngineError
            If the processes cannot be started, or die again and again over the same rows.
        """
        pending: deque[tuple[Split, Future[Parcel]]] = deque()
        with _shared(packed(Task(kernel, params))) as task:
            try:
                for split in splits:
                    pending.append((split, self._submit(task, split)))
                    if len(pending) > 2 * self.workers:
                        yield opened(self._next(task, pending))
                while pending:
                    yield opened(self._next(task, pending))
            finally:
                for _, result in pending:
                    result.cancel()

    def _submit(self, task: Parcel | Path, split: Split) -> Future[Parcel]:
        """Hand a split to the processes, or to new ones if these have died since."""
        parcel, pool = packed(split), _pool(self.workers)
        try:
            return pool.submit(_perform, task, parcel)
        except BrokenProcessPool:
            if _pools.get(self.workers) is pool:
                del _pools[self.workers]
            return _pool(self.workers).submit(_perform, task, parcel)

    def _next(self, task: Parcel | Path, pending: deque[tuple[Split, Future[Parcel]]]) -> Parcel:
        """Wait for the first result; whenever a process dies, start again what is not done.

        One process that dies takes the others with it, so nobody knows which split was the cause;
        but the first in the queue is started again every time.
        """
        for _ in range(ATTEMPTS):
            try:
                result = pending[0][1].result()
            except BrokenProcessPool:
                for i, (split, future) in enumerate(pending):
                    if future.done() and future.exception() is not None:
                        pending[i] = split, self._submit(task, split)
            else:
                pending.popleft()
                return result
        raise lost()


# Here --------------------------------------------------------------------------------------------

_pools: dict[int, ProcessPoolExecutor] = {}


def _pool(workers: int) -> ProcessPoolExecutor:
    """Return so many warm processes, started now if there are none."""
    if workers not in _pools:
        pool = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _begin)
        try:
            pool.submit(os.getpid).result()
        except BrokenProcessPool:
            raise EngineError(
                "the processes ended as soon as they began",
                "each of them imports the script that was started",
                'put what the script does under `if __name__ == "__main__":`',
            ) from None
        _pools[workers] = pool
    return _pools[workers]


@contextmanager
def _shared(task: Parcel) -> Iterator[Parcel | Path]:
    """Write a large task to a file, so that it does not travel with every split."""
    if len(task.content) <= LARGE:
        yield task
        return
    with tempfile.TemporaryDirectory(prefix="suffice-") as folder:
        path = Path(folder) / "task"
        path.write_bytes(pickle.dumps(task))
        yield path


# In the processes --------------------------------------------------------------------------------


def _begin() -> None:
    """Prepare a process: it ends with its parent, and its work has one thread."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent answers Ctrl-C for all
    threadpool_limits(1)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _perform(task: Parcel | Path, split: Parcel) -> Parcel:
    return perform(pickle.loads(task.read_bytes()) if isinstance(task, Path) else task, split)
