"""The engine of any executor of `concurrent.futures`."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import (
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib import import_module
from typing import Any, TypeVar

from suffice._version import __version__
from suffice.data.read_ahead import in_order
from suffice.data.source import Part
from suffice.engines.engine import AVAILABLE_CORES, WAITING, Engine, require_workers
from suffice.errors import EngineError

P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True, init=False)
class ExecutorEngine(Engine):
    """The workers of an executor: threads, processes, those of Dask or of MPI.

    ::

        ProcessPoolExecutor(8, mp_context=multiprocessing.get_context("spawn"))
        dask.distributed.Client("tcp://host:8786").get_executor()
        mpi4py.futures.MPIPoolExecutor()

    What it does when a worker dies is its own affair: most break, and the pass ends with an error.

    Parameters
    ----------
    executor : concurrent.futures.Executor
    workers : int, optional
        Number of its workers. Default: what it says itself, else the cores of this machine.

    Examples
    --------
    >>> with ThreadPoolExecutor(2) as pool:
    ...     ExecutorEngine(pool).run(pow, 2, [1, 2, 3])
    14
    """

    executor: Executor
    number: int

    def __init__(self, executor: Executor, workers: int | None = None) -> None:
        require_workers("workers", workers)
        own = (getattr(executor, name, None) for name in ("_max_workers", "num_workers"))
        known = next((number for number in own if isinstance(number, int)), AVAILABLE_CORES)
        object.__setattr__(self, "executor", executor)
        object.__setattr__(self, "number", workers or known)

    @property
    def workers(self) -> int:
        return self.number

    @property
    def in_process(self) -> bool:
        return isinstance(self.executor, ThreadPoolExecutor)

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        call: Callable[[Part], Any] = partial(_called, kernel, params)
        if not self.in_process:
            dumps = pickle.dumps
            if not isinstance(self.executor, ProcessPoolExecutor):
                with suppress(ModuleNotFoundError):  # clusters lack the script of the caller
                    dumps = import_module("cloudpickle").dumps
            call = partial(_perform, __version__, dumps((kernel, params)))

        def begin(part: Part) -> Future[Any]:
            try:
                return self.executor.submit(call, part)
            except RuntimeError as error:  # the only one that an executor raises here
                raise _given_up(error) from error

        def drop(pending: Iterable[Future[Any]]) -> None:
            futures = list(pending)
            for future in futures:
                future.cancel()
            if self.in_process:
                wait(futures)  # threads see the memory of the caller

        yield from in_order(begin, parts, WAITING * self.workers, _first, drop)


# What travels ------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def opened(version: str, task: bytes) -> tuple[Callable[..., Any], Any]:
    """Return a kernel and its parameters, which a worker keeps for the parts that follow."""
    if version != __version__:
        raise EngineError(
            f"suffice {version} and suffice {__version__} were to work together",
            "workers have the version of their caller",
            "install the same version everywhere",
        )
    found: tuple[Callable[..., Any], Any] = pickle.loads(task)
    return found


def _perform(version: str, task: bytes, part: Any) -> Any:
    return _called(*opened(version, task), part)


def _called(kernel: Callable[[Any, Any], Any], params: Any, part: Any) -> Any:
    return kernel(part, params)


def _first(pending: deque[Future[Any]]) -> Any:
    try:
        return pending.popleft().result()
    except (BrokenExecutor, CancelledError) as error:
        raise _given_up(error) from error


def _given_up(error: Exception) -> EngineError:
    return EngineError(
        f"the executor does not go on: {error}",
        "it ends with its `with` block, and where a worker dies, by a lack of memory or because it "
        'cannot import a script without `if __name__ == "__main__":`',
        "start another, with more memory or fewer workers",
    )
