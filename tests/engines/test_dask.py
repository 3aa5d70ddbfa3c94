"""The engine of Dask: whose cluster it uses, and where statistics are added."""

import operator
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from suffice.errors import EngineError

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed import Client

import suffice.engines.dask as home
from suffice.engines.dask import DaskEngine

Run = Callable[[str], subprocess.CompletedProcess[str]]


def test_the_current_client_comes_first(dask: Any) -> None:
    assert dask == DaskEngine()
    assert dask.workers == 2
    assert not dask.in_process
    assert home._client(None) is Client.current()
    assert not home._clients


def test_a_cluster_has_an_address(dask: Any) -> None:
    address = Client.current().scheduler.address
    engine: Any = DaskEngine(address)
    assert engine.workers == 2
    client = home._clients[address]
    assert client is not Client.current()
    assert engine.run(operator.add, 1, [1, 2]) == 5
    client.close()
    assert engine.workers == 2  # connected anew
    home._close()


def test_a_scheduler_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(home, "TIMEOUT", 0.2)
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at 'tcp://127\.0\.0\.1:9'"):
        _ = DaskEngine("tcp://127.0.0.1:9").workers


@pytest.mark.parametrize("n", [1, 7, 8, 9, 70])
def test_sums_are_added_in_order_by_the_workers(dask: Any, n: int) -> None:
    splits = [chr(97 + i % 26) for i in range(n)]
    assert dask.run(operator.mul, 2, splits) == "".join(2 * split for split in splits)


@pytest.mark.parametrize("length", [1, 100_000])
def test_parameters_of_any_size(dask: Any, length: int) -> None:
    params = "-" * length
    assert dask.run(operator.add, params, "abc") == "".join(x + params for x in "abc")


def test_a_cluster_of_our_own_ends_with_the_script(run: Run) -> None:
    body = """
import operator
from suffice.engines.dask import DaskEngine

class Pair:
    def __init__(self, a):
        self.a = a
    def __add__(self, other):
        return Pair(self.a + other.a)

def pair(split, params):
    return Pair(split + params)

if __name__ == "__main__":
    engine = DaskEngine()
    print(engine.run(operator.add, 1, range(100)), engine.workers >= 1)
    print(engine.run(pair, 1, range(100)).a)  # kernels and classes of a script travel by value
"""
    done = run(body)
    assert (done.stdout, done.stderr, done.returncode) == ("5050 True\n5050\n", "", 0)
