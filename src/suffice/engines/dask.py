"""The engine of a Dask cluster: splits are tasks, and large statistics are added by the workers."""

from __future__ import annotations

import asyncio
import atexit
import io
import pickle
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import cloudpickle
import dask
from distributed import Client, Future, KilledWorker, LocalCluster, SpecCluster

from suffice.data.source import Split
from suffice.engines.local import AVAILABLE_CORES
from suffice.engines.remote import (
    ATTEMPTS,
    ExhaustedError,
    Message,
    RemoteEngine,
    lost,
    perform,
    serialised,
)
from suffice.errors import EngineError, ParameterError

__all__ = ["DaskEngine"]

TIMEOUT = 10  # seconds in which a scheduler answers
LOOPBACK = "127.0.0.1"
LOOK_EVERY = 1.0  # seconds from one look at the workers to the next
SMALL = 1 << 14  # bytes that may travel with every split


@dataclass(frozen=True)
class DaskEngine(RemoteEngine):
    """Workers of a Dask cluster.

    Files are read by the workers, under the paths that the caller gives. Arrays and frames in
    memory travel with every pass.

    Parameters
    ----------
    address : str, optional
        Of the scheduler, such as ``"tcp://host:8786"``. Default: the cluster of the current
        ``distributed.Client``; without one, a cluster of this machine's cores, started by the
        first fit and kept for the next ones.
    patience : float
        Seconds that a pass waits for a worker while the cluster has none: Dask itself would wait
        for ever. A cluster that is given its workers by a queue may need more.

    Raises
    ------
    ParameterError
        If ``patience`` is not a number, 0 or more.

    Examples
    --------
    >>> DaskEngine("tcp://host:8786").in_process
    False
    """

    dumps = staticmethod(cloudpickle.dumps)  # classes of the caller's script travel too
    address: str | None = None
    patience: float = 60.0

    def __post_init__(self) -> None:
        number = isinstance(self.patience, int | float) and not isinstance(self.patience, bool)
        if not (number and self.patience >= 0):
            raise ParameterError(
                f"patience={self.patience!r}", "it is a number of seconds, 0 or more"
            )

    @property
    def workers(self) -> int:
        """Number of threads of all workers."""
        threads: dict[str, int] = _client(self.address).nthreads()
        return max(1, sum(threads.values()))

    def _share(self, message: Message) -> Message | Future:
        if len(message.content) <= SMALL:
            return message
        # The result of a task is made again if the worker that holds it is lost; what `scatter`
        # sends is not.
        return self._submit(_itself, message)

    def _submit(self, function: Callable[..., Message], *arguments: Any) -> Future:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            client = _client(self.address)
            return client.submit(function, *arguments, pure=False, retries=ATTEMPTS - 1)

    def _begin(self, task: Message | Future, split: Split) -> Future:
        message, futures = _apart(split)
        return self._submit(_perform, task, message, *futures)

    def _fetch(self, reference: Future) -> Message:
        try:
            message: Message = reference.client.sync(_result, reference, self.patience)
        except KilledWorker as error:
            raise lost(error.allowed_failures + 1) from None
        except ExhaustedError as error:
            raise lost() from error
        except EngineError:
            raise
        except Exception as error:
            raise EngineError(
                f"Dask has no result: {type(error).__name__}: {error}",
                "a cluster has a scheduler that lives, and this library on every worker",
                "look at the logs of the cluster",
            ) from error
        return message

    def _drop(self, references: Iterable[Future]) -> None:
        for reference in references:
            reference.release()


def _itself(message: Message) -> Message:
    return message


# Waiting -----------------------------------------------------------------------------------------


async def _result(reference: Future, patience: float) -> Message:
    """Wait for a result, as long as there is somebody to make it.

    Raises
    ------
    EngineError
        If the cluster has no worker for so many seconds.
    """
    result: asyncio.Future[Any] = asyncio.ensure_future(reference)
    desertion: asyncio.Future[Any] = asyncio.ensure_future(_desertion(reference.client, patience))
    try:
        await asyncio.wait({result, desertion}, return_when=asyncio.FIRST_COMPLETED)
        if not result.done() and desertion.exception() is None:
            raise EngineError(
                f"the Dask cluster has had no worker for {patience:g} seconds",
                "a pass waits so long for one",
                "look at the logs of those that it had, start others, or wait longer: "
                "suffice.engine('dask', patience=...)",
            )
        message: Message = await result
        return message
    finally:
        desertion.cancel()
        result.cancel()


async def _desertion(client: Client, patience: float) -> None:
    """Return when a cluster has had no worker for so many seconds."""
    waited = 0.0
    while not waited or waited < patience:
        await asyncio.sleep(LOOK_EVERY)
        waited = 0.0 if await client.nthreads() else waited + LOOK_EVERY


# Splits of frames that workers keep --------------------------------------------------------------
#
# A partition of a persisted frame is a future. Dask brings it to the task that depends on it, and
# makes it again if the worker that kept it is lost. A task that waited for it, inside, would keep a
# worker from doing so.


@dataclass(frozen=True)
class _Split(Message):
    """A split in which futures are numbered, and what they stand for once it is known."""

    values: tuple[Any, ...] = ()

    def value(self) -> Any:
        """Unpickle the split, with values in the place of futures."""
        return _Unpickler(self.content, self.values).load()


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: bytes, values: tuple[Any, ...]) -> None:
        super().__init__(io.BytesIO(content))
        self._values = values

    def persistent_load(self, number: int) -> Any:
        return self._values[number]


def _apart(split: Split) -> tuple[_Split, list[Future]]:
    """Take the futures out of a split."""
    futures: list[Future] = []

    def number(value: Any) -> int | None:
        if not isinstance(value, Future):
            return None
        futures.append(value)
        return len(futures) - 1

    def dumps(split: Split) -> bytes:
        file = io.BytesIO()
        pickler = cloudpickle.Pickler(file)
        pickler.persistent_id = number
        pickler.dump(split)
        return file.getvalue()

    message = serialised(split, dumps)
    return _Split(message.version, message.content), futures


def _perform(task: Message, split: _Split, *values: Any) -> Message:
    return perform(task, replace(split, values=values))


# Clients -----------------------------------------------------------------------------------------

_clients: dict[str | None, Client] = {}
_clusters: list[LocalCluster] = []


def _client(address: str | None) -> Client:
    """Return the client of a scheduler, or the current one, or that of a cluster of our own."""
    if address is None:
        with suppress(ValueError):
            return Client.current()
    client = _clients.get(address)
    if client is None or client.status != "running":
        client = _clients[address] = _connected(address)
    return client


def _connected(address: str | None) -> Client:
    try:
        return Client(address or _local_cluster(), set_as_default=False, timeout=TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address!r}: {error}",
            "it listens at an address such as 'tcp://host:8786'",
            "start it, or correct the address",
        ) from error


class _Cluster(LocalCluster):  # type: ignore[misc]
    """A cluster of this machine that starts a worker anew however often it dies.

    Dask gives up a worker that is gone 15 s after one of its name was lost
    (``distributed.deploy.lost-worker-timeout``), even if it came back and has just died again.
    """

    def _update_worker_status(self, op: str, msg: Any) -> None:
        super(SpecCluster, self)._update_worker_status(op, msg)


def _local_cluster() -> LocalCluster:
    try:
        cluster = _Cluster(
            n_workers=AVAILABLE_CORES,
            threads_per_worker=1,
            host=LOOPBACK,
            # Without a dashboard the scheduler answers requests for its health all the same.
            dashboard_address=f"{LOOPBACK}:0",
            scheduler_kwargs={"dashboard": False},
        )
    except RuntimeError as error:
        raise EngineError(
            f"no Dask cluster can be started on this machine: {error}",
            "each of its workers imports the script that was started",
            'put what the script does under `if __name__ == "__main__":`',
        ) from error
    _clusters.append(cluster)
    return cluster


@atexit.register
def _close() -> None:
    while _clients:
        _clients.popitem()[1].close()
    while _clusters:
        _clusters.pop().close()
