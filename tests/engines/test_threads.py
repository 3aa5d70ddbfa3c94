"""Threads that stay, and what a fit leaves as it was."""

import os
import subprocess
import threading
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.running import on

from suffice import NaiveBayes
from suffice.engines.engine import LocalEngine, threads

Run = Callable[[str], subprocess.CompletedProcess[str]]


def test_they_are_started_once() -> None:
    first = threads(1).submit(threading.get_native_id).result()
    assert threads(1).submit(threading.get_native_id).result() == first


FORKED = """
import os
from suffice.engines.engine import threads

threads(1).submit(int).result()
child = os.fork()
if child == 0:
    os._exit(threads(1).submit(lambda: 3).result(timeout=60))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="only POSIX forks")
def test_a_forked_child_has_threads_of_its_own(run: Run) -> None:
    assert run(FORKED).stdout == "3\n"


def affinities() -> dict[int, set[int]]:
    return {thread.native_id: os.sched_getaffinity(thread.native_id) for thread in running()}


def running() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.native_id is not None]


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux tells")
def test_a_fit_leaves_the_process_as_it_was(
    tmp_path: "os.PathLike[str]", monkeypatch: pytest.MonkeyPatch
) -> None:
    """The pool of Arrow is the user's, and every thread may run on every processor."""
    pools = []
    monkeypatch.setattr(pa, "set_memory_pool", pools.append)
    path = os.path.join(tmp_path, "rows.parquet")
    rng = np.random.default_rng(0)
    rows = {"x": rng.normal(size=9_000), "y": rng.integers(0, 2, 9_000)}
    pq.write_table(pa.table(rows), path, row_group_size=1_000)
    pool, allowed = pa.default_memory_pool().backend_name, os.sched_getaffinity(0)
    on(LocalEngine(2), NaiveBayes.textbook()).fit(path, "y")
    assert not pools
    assert pa.default_memory_pool().backend_name == pool
    assert all(found == allowed for found in affinities().values())
