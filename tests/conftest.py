"""Fixtures that several folders of tests share: data sets, and a PostgreSQL server on loopback."""

import glob
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# Where Python is told to leave no bytecode beside modules, every process that a test starts would
# compile the library again, and every run of pytest the tests: it is kept here instead.
if sys.dont_write_bytecode and sys.pycache_prefix is None:
    sys.pycache_prefix = str(Path(__file__).parents[1] / ".pytest_cache" / "bytecode")
    sys.dont_write_bytecode = False
    os.environ["PYTHONPYCACHEPREFIX"] = sys.pycache_prefix
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# As many processes as processors run the tests; with threads of their own they would only wait for
# each other. That threads of BLAS change no bit is a test of `invariance/test_processors.py`.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell ignores Ctrl-C for what it starts with "&", and so would the tests that send it.
signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("without a clock", deadline=None)
settings.load_profile("without a clock")

DATA = Path(os.environ.get("SUFFICE_DATA", Path(__file__).parents[1].parent / "shared" / "data"))


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets, which is not part of the repository."""
    if not DATA.is_dir():
        pytest.skip(f"the data sets are absent: {DATA} (set SUFFICE_DATA)")
    return DATA


@dataclass(frozen=True)
class Server:
    """A PostgreSQL server that anyone on this machine may use."""

    programs: Path
    home: Path
    port: int
    identity: dict[str, Any]

    @property
    def address(self) -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        log = str(self.home / "log")
        self._run("pg_ctl", "start", "-w", "-D", self._data, "-l", log, "-o", f"{options} -F")

    def stop(self) -> None:
        """Break every connection off, as a crash would."""
        self._run("pg_ctl", "stop", "-w", "-D", self._data, "-m", "immediate")

    def make(self) -> None:
        encoding = ("--encoding=UTF8", "--locale=C")
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", "postgres", "-N", *encoding)

    @property
    def _data(self) -> str:
        return str(self.home / "data")

    def _run(self, program: str, *arguments: str) -> None:
        # What the server inherits must not be a pipe: it would be waited for.
        subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=120,
            **self.identity,
        )


def programs() -> Path:
    """Where initdb and pg_ctl are."""
    on_path = shutil.which("initdb")
    found = [on_path] if on_path else sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
    if not found:
        pytest.skip("PostgreSQL is not installed (Debian: postgresql)")
    return Path(os.path.realpath(found[-1])).parent


def identity(home: Path) -> dict[str, Any]:
    """Whom to run the server as: PostgreSQL refuses to be run by root."""
    if os.geteuid() != 0:
        return {}
    known = {user.pw_name: user for user in pwd.getpwall()}
    user = known.get("postgres") or known.get("nobody")
    if user is None:
        pytest.skip("PostgreSQL does not run as root, and there is neither postgres nor nobody")
    os.chown(home, user.pw_uid, user.pw_gid)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Server]:
    """A running server."""
    pytest.importorskip(
        "adbc_driver_postgresql.dbapi", reason="adbc-driver-postgresql is not installed"
    )
    there = programs()
    home = Path(tempfile.mkdtemp(prefix="postgresql-"))
    try:
        server = Server(there, home, free_port(), identity(home))
        server.make()
        server.start()
        yield server
        server.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)
