"""The engine of this machine's processes: spawned once, kept warm, replaced when they die."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from suffice.data.files.temporary import TemporaryFolder
from suffice.data.read_ahead import in_order
from suffice.data.source import Split
from suffice.engines.engine import Engine
from suffice.engines.local import AVAILABLE_CORES, require_workers
from suffice.engines.remote import LARGE_SUM, Message, Task, deserialised, serialised
from suffice.engines.workers import workers

__all__ = ["ProcessesEngine"]

P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True)
class ProcessesEngine(Engine):
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
        require_workers("processes", self.processes)

    @property
    def workers(self) -> int:
        """Number of processes."""
        return self.processes or AVAILABLE_CORES

    def map(
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; at most two results per process wait.

        Raises
        ------
        EngineError
            If the processes cannot be started, or die again and again over the same rows.
        """
        there = workers(self.workers)
        with _shared(serialised(Task(kernel, params))) as task:

            def begin(split: Split) -> Future[Message]:
                return there.submit(task, serialised(split))

            yield from in_order(begin, splits, 2 * self.workers, _first, _cancel)


def _first(pending: deque[Future[Message]]) -> Any:
    return deserialised(pending.popleft().result())


def _cancel(pending: Iterable[Future[Message]]) -> None:
    for result in pending:
        result.cancel()


@contextmanager
def _shared(task: Message) -> Iterator[Message]:
    """Write a large task to a file, so that it does not travel with every split."""
    if len(task.content) <= LARGE_SUM:
        yield task
        return
    folder = TemporaryFolder()
    path = folder.path / "task"
    try:
        path.write_bytes(pickle.dumps(task))
        yield serialised(Task(_from_file, path))
    finally:
        folder.remove()


def _from_file(split: Any, path: Path) -> Any:
    """Kernel that runs another, which is in a file with its parameters."""
    task: Task = deserialised(pickle.loads(path.read_bytes()))
    return task.kernel(split, task.params)
