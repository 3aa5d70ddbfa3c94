"""The engine of Dask: whose cluster it uses, and where statistics are added."""

import operator
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from suffice.engines.remote import LARGE_SUM
from suffice.errors import EngineError, ParameterError

pytest.importorskip("distributed", reason="Dask is not installed")

from distributed import Client

import suffice.engines.dask as home
from suffice.engines.dask import SMALL, DaskEngine

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


def test_large_statistics_are_added_by_the_workers(
    dask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = fetched(monkeypatch)
    letters = "abcdefghijkl"
    assert dask.run(operator.mul, LARGE_SUM, letters) == "".join(x * LARGE_SUM for x in letters)
    assert [size for size in sizes if size > LARGE_SUM] == [max(sizes)]
    assert max(sizes) > len(letters) * LARGE_SUM


def fetched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Watch how many bytes each result has that comes here."""
    sizes: list[int] = []
    fetch = DaskEngine._fetch

    def watched(self: DaskEngine, reference: Any) -> Any:
        message = fetch(self, reference)
        sizes.append(len(message.content))
        return message

    monkeypatch.setattr(DaskEngine, "_fetch", watched)
    return sizes


@pytest.mark.parametrize("length", [1, SMALL + 1])
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


# Workers that are lost ----------------------------------------------------------------------------

LOST = """
import os, signal, subprocess, sys
from pathlib import Path
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from distributed import Client, LocalCluster, wait
from suffice import NaiveBayes
from suffice.engines import progress_engine
from suffice.engines.dask import DaskEngine
from suffice.engines.progress_engine import WatchedEngine
from suffice.errors import EngineError

progress_engine.PAUSE = 0.0
ON_LOOPBACK = {"host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}

def part(number):
    rng = np.random.default_rng(number)
    return pd.DataFrame({"x": rng.normal(size=200), "kind": rng.choice(["ham", "spam"], 200)})

class Killing:
    # Kills a process when the first progress is told.
    def __init__(self, pid):
        self.pid, self.told = pid, 0

    def __call__(self, progress):
        if not self.told:
            os.kill(self.pid, signal.SIGKILL)
        self.told += 1

"""

WITHOUT_A_WORKER = """
if __name__ == "__main__":
    rows = pd.concat(map(part, range(40)))
    path = str(Path(__file__).with_name("rows.parquet"))
    pq.write_table(pa.Table.from_pandas(rows), path, row_group_size=200)
    with LocalCluster(n_workers=0, **ON_LOOPBACK) as cluster, Client(cluster) as client:
        command = "from distributed.cli.dask_worker import main; main()"
        options = [cluster.scheduler_address, "--no-nanny", "--nthreads=1", "--no-dashboard"]
        quiet = subprocess.DEVNULL
        worker = subprocess.Popen([sys.executable, "-c", command, *options], stderr=quiet)
        client.wait_for_workers(1)
        report = Killing(worker.pid)
        try:
            NaiveBayes.textbook(engine=WatchedEngine(DaskEngine(patience=0), report)).fit(
                path, "kind"
            )
        except EngineError as error:
            print(worker.wait() == -signal.SIGKILL, error.fact)
"""


def test_a_cluster_without_workers_is_not_waited_for_without_end(run: Run) -> None:
    done = run(LOST + WITHOUT_A_WORKER)
    said = "True the Dask cluster has had no worker for 0 seconds\n"
    assert (done.stdout, done.returncode) == (said, 0), done.stderr


PERSISTED = """
if __name__ == "__main__":
    import dask.dataframe as dd
    with LocalCluster(n_workers=2, threads_per_worker=1, **ON_LOOPBACK) as cluster:
        with Client(cluster) as client:
            frame = dd.from_map(part, range(40)).persist()
            wait(frame)
            report = Killing(next(iter(client.run(os.getpid).values())))
            watched = WatchedEngine(DaskEngine(), report)
            model = NaiveBayes.textbook(engine=watched).fit(frame, "kind")
            expected = NaiveBayes.textbook().fit(pd.concat(map(part, range(40))), "kind")
            print(report.told > 1, model.statistic_ == expected.statistic_)
"""


def test_partitions_that_a_lost_worker_kept_are_made_again(run: Run) -> None:
    done = run(LOST + PERSISTED)
    assert (done.stdout, done.returncode) == ("True True\n", 0), done.stderr


@pytest.mark.parametrize("wrong", [-1, "long", True, float("nan")])
def test_patience_is_a_number(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=r"^patience=.*; it is a number of seconds, 0 or mo"):
        DaskEngine(patience=wrong)
