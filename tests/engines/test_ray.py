"""The engine of Ray: whose cluster it uses, and where statistics are added."""

import operator
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from suffice.engines.remote import LARGE_SUM

pytest.importorskip("ray", reason="Ray is not installed")

from suffice.engines.ray import RayEngine

Run = Callable[[str], subprocess.CompletedProcess[str]]


def test_the_cluster_that_is_connected_comes_first(ray: Any) -> None:
    assert ray == RayEngine()
    assert ray.workers == 2
    assert not ray.in_process


def test_large_statistics_are_added_by_the_workers(
    ray: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    fetch = RayEngine._fetch

    def watched(self: RayEngine, reference: Any) -> Any:
        message = fetch(self, reference)
        sizes.append(len(message.content))
        return message

    monkeypatch.setattr(RayEngine, "_fetch", watched)
    letters = "abcdefghijkl"
    assert ray.run(operator.mul, LARGE_SUM, letters) == "".join(x * LARGE_SUM for x in letters)
    assert [size for size in sizes if size > LARGE_SUM] == [max(sizes)]
    assert max(sizes) > len(letters) * LARGE_SUM


def test_a_cluster_of_our_own_ends_with_the_script(run: Run) -> None:
    body = """
import operator
import ray
from suffice.engines.ray import RayEngine

class Pair:
    def __init__(self, a):
        self.a = a
    def __add__(self, other):
        return Pair(self.a + other.a)

def pair(split, params):
    return Pair(split + params)

engine = RayEngine()
print(engine.run(operator.add, 1, range(100)), engine.workers >= 1)
ray.shutdown()
# A new cluster; and what a script defines travels by value.
print(engine.run(pair, 1, range(100)).a)
"""
    done = run(body)
    assert (done.stdout, done.returncode) == ("5050 True\n5050\n", 0)


def test_a_node_that_has_died(run: Run) -> None:
    body = """
import operator
import ray
from suffice.engines.ray import RayEngine
from suffice.errors import EngineError

engine = RayEngine()
print(engine.run(operator.add, 1, range(3)))
ray._private.worker._global_node.kill_raylet()
try:
    engine.run(operator.add, 1, range(3))
except EngineError as error:
    print(error)
ray.shutdown()
print(engine.run(operator.add, 1, range(3)))
"""
    done = run(body)
    first, *between, last = done.stdout.splitlines()  # Ray prints there too
    assert (first, last, done.returncode) == ("6", "6", 0)
    message = "the Ray node that this process is connected to has died"
    assert any(line.startswith(message) for line in between)


def test_a_cluster_that_does_not_answer(run: Run) -> None:
    done = run("from suffice.engines.ray import RayEngine; RayEngine('127.0.0.1:9').workers")
    assert done.returncode == 1
    assert "EngineError: no Ray cluster answers at '127.0.0.1:9': " in done.stderr
