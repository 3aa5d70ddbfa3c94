"""The engine of Dask: whose cluster it uses, and where statistics are added."""

import operator
from typing import Any

import pytest

from suffice.errors import EngineError

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed import Client

import suffice.engines.dask as home
from suffice.engines.dask import DaskEngine


def test_the_current_client_comes_first(dask: Any) -> None:
    assert dask == DaskEngine()
    assert dask.workers == 2
    assert not dask.in_process


def test_a_cluster_has_an_address(dask: Any) -> None:
    address = Client.current().scheduler.address
    engine: Any = DaskEngine(address)
    assert engine.workers == 2
    client = home._connected(address)
    assert client is not Client.current()
    assert engine.run(operator.add, 1, [1, 2]) == 5
    client.close()
    home._connected.cache_clear()


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "TIMEOUT", 0.2)
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        _ = DaskEngine("tcp://127.0.0.1:9").workers
