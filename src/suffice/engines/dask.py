"""The engine of a Dask cluster: a graph of parts, whose sums are added by the workers."""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, TypeVar

import cloudpickle
from dask import delayed
from dask.delayed import Delayed
from distributed import Client, Future, KilledWorker
from distributed.comm import CommClosedError

from suffice._version import __version__
from suffice.data.frames.dask import DaskPartition
from suffice.data.read_ahead import in_order
from suffice.data.source import Part
from suffice.engines.engine import WAITING, Engine
from suffice.engines.executor import opened
from suffice.errors import EngineError
from suffice.sums.base import Statistic, tree_sum

S = TypeVar("S", bound=Statistic)
P = TypeVar("P")
R = TypeVar("R")

FAN_IN = 8  # sums added at a time, a power of two: those of neighbours are subtrees of their sum
TIMEOUT = 10  # seconds in which a scheduler answers


@dataclass(frozen=True)
class DaskEngine(Engine):
    """Workers of a Dask cluster.

    Files are read by the workers, under the paths that the caller gives. Arrays and frames in
    memory travel with every pass. Partitions of a Dask DataFrame are made where they are summed.
    A worker that is lost is Dask's affair: it gives the part to another, a few times.

    Parameters
    ----------
    address : str, optional
        Of the scheduler, such as ``"tcp://host:8786"``. Default: the cluster of the current
        ``distributed.Client``.

    Examples
    --------
    >>> DaskEngine("tcp://host:8786").in_process
    False
    """

    address: str | None = None

    @property
    def workers(self) -> int:
        threads: dict[str, int] = self._client().nthreads()
        return max(1, sum(threads.values()))

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        client, task = self._client(), _task(kernel, params)

        def begin(part: Part) -> Future:
            return client.compute(_result(task, part))

        def drop(pending: Iterable[Future]) -> None:
            for future in pending:
                future.release()

        yield from in_order(begin, parts, WAITING * self.workers, _first, drop)

    def run(self, kernel: Callable[[Part, P], S], params: P, parts: Sequence[Part]) -> S:
        if not parts:
            return tree_sum(())
        task = _task(kernel, params)
        sums = [_result(task, part) for part in parts]
        while len(sums) > 1:
            groups = (sums[i : i + FAN_IN] for i in range(0, len(sums), FAN_IN))
            sums = [delayed(tree_sum, pure=False)(group) for group in groups]
        total: S = _first(deque([self._client().compute(sums[0])]))
        return total

    def _client(self) -> Client:
        try:
            return Client.current() if self.address is None else _connected(self.address)
        except (OSError, TimeoutError, ValueError) as error:
            raise EngineError(
                f"no Dask scheduler answers at {self.address!r}: {error}",
                "it listens at an address such as 'tcp://host:8786', or a client is there",
                "start a cluster: client = dask.distributed.Client()",
            ) from error


@cache
def _connected(address: str) -> Client:
    return Client(address, set_as_default=False, timeout=TIMEOUT)


def _task(kernel: Callable[..., Any], params: Any) -> Delayed:
    """Return a node of the graph that opens the kernel and its parameters on the workers."""
    return delayed(opened, pure=False)(__version__, cloudpickle.dumps((kernel, params)))


def _result(task: Delayed, part: Any) -> Delayed:
    frame = None
    if isinstance(part, DaskPartition):
        frame = Delayed(part.key, part.tasks)
        part = replace(part, tasks={}, key=None)
    return delayed(_perform, pure=False)(task, cloudpickle.dumps(part), frame)


def _perform(task: tuple[Callable[..., Any], Any], packed: bytes, frame: Any = None) -> Any:
    kernel, params = task
    part = pickle.loads(packed)
    if frame is not None:  # a partition, made by Dask
        part = replace(part, frame=frame)
    return kernel(part, params)


def _first(pending: deque[Future]) -> Any:
    """Wait for a result. What a kernel raises is raised, and where Dask gives up, a sentence."""
    try:
        return pending.popleft().result()
    except (KilledWorker, CancelledError, CommClosedError) as error:
        raise EngineError(
            f"Dask has no result: workers died, or the scheduler: {error}",
            "a cluster gives a part to a few workers, one after the other",
            "look at the logs of the cluster, and give workers more memory or smaller parts",
        ) from error
