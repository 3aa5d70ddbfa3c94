"""The engine of a Ray cluster: splits are tasks, and large statistics are added by the workers."""

from __future__ import annotations

import logging
import signal
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import urlsplit

import ray
from ray import cloudpickle
from ray._private import ray_constants, services
from ray.exceptions import RayError, RayTaskError
from ray.util import client

from suffice.engines.remote import ATTEMPTS, ExhaustedError, Message, RemoteEngine, lost
from suffice.errors import EngineError

__all__ = ["RayEngine"]

TIMEOUT = 10  # seconds in which a cluster answers
_QUIET: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.WARNING}


@dataclass(frozen=True)
class RayEngine(RemoteEngine):
    """Workers of a Ray cluster.

    Files are read by the workers, under the paths that the caller gives. Arrays and frames in
    memory travel with every pass.

    Parameters
    ----------
    address : str, optional
        Of the cluster, such as ``"auto"`` or ``"ray://host:10001"``. Default: the cluster that this
        process is connected to, or that of the variable RAY_ADDRESS; without one, a cluster of this
        machine's cores, started by the first fit and kept for the next ones.

    Examples
    --------
    >>> RayEngine("auto").in_process
    False
    """

    dumps = staticmethod(cloudpickle.dumps)  # classes of the caller's script travel too
    address: str | None = None

    @property
    def workers(self) -> int:
        """Number of cores of the cluster."""
        _connect(self.address)
        return max(1, int(ray.cluster_resources().get("CPU", 1)))

    def _share(self, message: Message) -> Any:
        _connect(self.address)
        return ray.put(message)

    def _submit(self, function: Callable[..., Message], *arguments: Any) -> Any:
        return _remote(function).remote(*arguments)

    def _fetch(self, reference: Any) -> Message:
        try:
            message: Message = ray.get(reference)
        except RayTaskError as error:
            if isinstance(error.cause, ExhaustedError):
                raise lost() from error
            raise EngineError(
                f"a worker of Ray cannot begin: {error.cause}",
                "every worker has this library",
                "install it there",
            ) from error
        except RayError as error:
            raise lost(ATTEMPTS) from error
        return message

    def _drop(self, references: Iterable[Any]) -> None:
        for reference in references:
            ray.cancel(reference)


@cache
def _remote(function: Callable[..., Message]) -> Any:
    often = {"max_retries": ATTEMPTS - 1, "retry_exceptions": [ExhaustedError]}
    return ray.remote(**often)(function)


def _connect(address: str | None) -> None:
    """Connect this process to a cluster, or start one, unless it is connected already."""
    if ray.is_initialized():
        _check_node()
        return
    try:
        _knock(address)
        with _signals_left_alone():
            _init(address)
    except (OSError, RuntimeError, ValueError) as error:
        raise EngineError(
            f"no Ray cluster answers at {address!r}: {error}",
            "it listens at an address such as 'ray://host:10001'",
            "start it, or correct the address",
        ) from error


def _init(address: str | None) -> None:
    if _is_there(address):
        ray.init(address, **_QUIET)
        return
    with _on_loopback():
        ray.init("local", include_dashboard=False, **_QUIET)


@contextmanager
def _signals_left_alone() -> Iterator[None]:
    """Leave the answer to SIGTERM to a process that has one; Ray would take it over."""
    answer = signal.getsignal(signal.SIGTERM)
    yield
    if answer not in (None, signal.SIG_DFL, signal.getsignal(signal.SIGTERM)):
        signal.signal(signal.SIGTERM, answer)


def _is_there(address: str | None) -> bool:
    """Tell a cluster to connect to, of which Ray knows without an address, from one to start."""
    if address is not None and "://" in address:
        return True
    return services.canonicalize_bootstrap_address(address) is not None


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Have Ray take loopback for the address of this machine.

    It listens on loopback only then, as it does by default on macOS and Windows, and refuses to be
    told so by an option.
    """
    before = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = before


def _check_node() -> None:
    """Raise EngineError if the node of this process died; its next call would end the process."""
    if client.ray.is_connected():
        return  # what this process talks to is no node, and raises what it has to say
    here = ray.get_runtime_context().get_node_id()
    node = next(node for node in ray.nodes() if node["NodeID"] == here)
    try:
        socket.create_connection((node["NodeManagerAddress"], node["NodeManagerPort"])).close()
    except OSError as error:
        raise EngineError(
            "the Ray node that this process is connected to has died",
            "it hands out the work",
            "call ray.shutdown(), and fit again",
        ) from error


def _knock(address: str | None) -> None:
    """Raise OSError if nobody listens at an address; Ray itself would try for minutes."""
    place = urlsplit(address if address and "://" in address else f"//{address or ''}")
    if place.port is not None:
        socket.create_connection((place.hostname, place.port), TIMEOUT).close()
