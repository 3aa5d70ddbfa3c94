"""The engine of a Dask cluster: splits are tasks, and large statistics are added by the workers."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import cloudpickle
import dask
from distributed import Client, Future, KilledWorker, LocalCluster

from suffice.engines.local import AVAILABLE_CORES
from suffice.engines.remote import Parcel, RemoteEngine, lost
from suffice.errors import EngineError

__all__ = ["DaskEngine"]

PATIENCE = 10  # seconds in which a scheduler answers
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

    Examples
    --------
    >>> DaskEngine("tcp://host:8786").in_process
    False
    """

    address: str | None = None

    @property
    def workers(self) -> int:
        """Number of threads of all workers."""
        threads: dict[str, int] = _client(self.address).nthreads()
        return max(1, sum(threads.values()))

    @property
    def dumps(self) -> Callable[[Any], bytes]:
        """Classes of the caller's script travel with their values."""
        dumps: Callable[[Any], bytes] = cloudpickle.dumps
        return dumps

    def _share(self, parcel: Parcel) -> Parcel | Future:
        if len(parcel.content) <= SMALL:
            return parcel
        # The result of a task is made again if the worker that holds it is lost; what `scatter`
        # sends is not.
        return self._submit(_itself, parcel)

    def _submit(self, function: Callable[..., Parcel], *arguments: Any) -> Future:
        with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TiB"}):
            return _client(self.address).submit(function, *arguments, pure=False)

    def _fetch(self, reference: Future) -> Parcel:
        try:
            parcel: Parcel = reference.result()
        except KilledWorker as error:
            raise lost(error.allowed_failures + 1) from None
        except Exception as error:
            raise EngineError(
                f"Dask has no result: {type(error).__name__}: {error}",
                "a cluster has a scheduler that lives, and this library on every worker",
                "look at the logs of the cluster",
            ) from error
        return parcel

    def _drop(self, references: Iterable[Future]) -> None:
        for reference in references:
            reference.release()


def _itself(parcel: Parcel) -> Parcel:
    return parcel


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
        return Client(address or _local_cluster(), set_as_default=False, timeout=PATIENCE)
    except (OSError, TimeoutError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address!r}: {error}",
            "it listens at an address such as 'tcp://host:8786'",
            "start it, or correct the address",
        ) from error


def _local_cluster() -> LocalCluster:
    try:
        cluster = LocalCluster(
            n_workers=AVAILABLE_CORES, threads_per_worker=1, dashboard_address=":0"
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
