"""Who can reach what an engine starts on this machine: this machine alone."""

import os
import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import pytest

Run = Callable[[str], subprocess.CompletedProcess[str]]

# Kernels run while sockets are looked for, so that there are workers; those that a library opens
# for the time of a request are seen too.
SCRIPT = """
import operator
from ipaddress import ip_address
from socket import SOCK_DGRAM

import psutil
import suffice

def listening():
    here = psutil.Process()
    for process in [here, *here.children(recursive=True)]:
        try:
            sockets = process.net_connections("inet")
        except psutil.NoSuchProcess:
            continue
        for socket in sockets:
            if socket.status == psutil.CONN_LISTEN or socket.type == SOCK_DGRAM:
                yield process.name(), socket.laddr

def is_loopback(text):
    address = ip_address(text)
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback

if __name__ == "__main__":
    engine = suffice.engine({name!r}, **{options!r})
    seen = set()
    for i, result in enumerate(engine.map(operator.add, 1, range(20))):
        assert result == i + 1
        seen |= set(listening())
    seen |= set(listening())
    print("to others:", [place for place in seen if not is_loopback(place[1].ip)])
    print("to this machine:", len(seen) > 0)
"""

CASES: list[tuple[str, dict[str, Any], str | None]] = [
    ("local", {"threads": 2}, None),
    ("processes", {"processes": 2}, None),
    ("dask", {}, "distributed"),
    ("spark", {}, "pyspark"),
    ("spark", {"master": "local-cluster[1,1,1024]"}, "pyspark"),
    ("spark", {"remote": "local[2]"}, "pyspark"),
]


@pytest.mark.parametrize(("name", "options", "library"), CASES, ids=str)
def test_nothing_listens_to_other_machines(
    run: Run, name: str, options: dict[str, Any], library: str | None
) -> None:
    if library is not None and find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    if name == "spark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        pytest.skip("Spark needs Java, which is absent")
    if "remote" in options and find_spec("grpc") is None:
        pytest.skip("Spark Connect needs grpc: pip install 'pyspark[connect]'")
    done = run(SCRIPT.replace("{name!r}", repr(name)).replace("{options!r}", repr(options)))
    assert "to others: []" in done.stdout, done.stdout + done.stderr
    # Threads and processes of this machine need no socket.
    assert f"to this machine: {library is not None}" in done.stdout
