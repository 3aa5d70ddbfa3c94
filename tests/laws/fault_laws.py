"""Workers that die, stand still, are cut off or have no room while a model learns or answers."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.laws.comparing import frozen, require

from suffice.data.source import Split
from suffice.engines.engine import Engine, EngineView
from suffice.statistics.batch import Batch

__all__ = ["FAULTS", "check_faults"]

VERBS = ("fit", "predict", "evaluate")
FAULTS = ("SIGKILL", "SIGSTOP", "sockets", "memory", "disk")
"""What may happen to a worker."""


def check_faults(
    engine: Engine,
    make: Callable[..., Any],
    path: str | os.PathLike[str],
    label: str,
    runs: int = 6,
    seed: int = 0,
    faults: Sequence[str] = FAULTS,
    stopped: float = 3.0,
) -> Counter[tuple[str, str]]:
    """Check that faults of workers change no bit of what a model learns and says.

    In each run a verb (fit, predict or evaluate), a fault and a split are drawn. The first worker
    that reads this split

    - ``"SIGKILL"``: is killed, as by a system that is out of memory;
    - ``"SIGSTOP"``: stands still for some seconds, with all its threads, and then goes on;
    - ``"sockets"``: loses all its connections;
    - ``"memory"``: gets no more memory from the system for this split;
    - ``"disk"``: can write no byte to a file while it reads this split, as on a full disk.

    Parameters
    ----------
    engine : Engine
        Of other processes of this machine, which has POSIX signals.
    make : callable
        ``make(engine=engine)`` is a classifier.
    path : path
        A file of several splits.
    label : str
        The column of labels.
    runs : int, default 6
    seed : int, default 0
        Of all that is drawn.
    faults : sequence of str
        Those that may be drawn. Dask does not replace a worker without connections: after
        ``"sockets"`` it has one worker less.
    stopped : float, default 3.0
        Seconds that a stopped worker stands still.

    Returns
    -------
    Counter of (str, str)
        How often each fault met each verb.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    Processes are killed, which takes seconds:

    >>> from suffice import NaiveBayes
    >>> from suffice.engines.processes import ProcessesEngine
    >>> check_faults(ProcessesEngine(2), NaiveBayes, "rows.parquet", "y")  # doctest: +SKIP
    """
    random = np.random.default_rng(seed)
    here = make(engine=None).fit(path, label)
    expected = {verb: _outcome(here, verb, path, label) for verb in VERBS}
    done: Counter[tuple[str, str]] = Counter()
    with TemporaryDirectory(prefix="suffice-") as folder:
        for run in range(runs):
            verb = VERBS[int(random.integers(len(VERBS)))]
            fault = faults[int(random.integers(len(faults)))]
            mark = Path(folder, f"run {run}")
            faulty = _Faulty(engine, fault, str(mark), float(random.random()), stopped)
            model = make(engine=faulty)
            if verb == "fit":
                model.fit(path, label)
            else:
                model = make(engine=None).fit(path, label)
                model.engine = faulty
            found = _outcome(model, verb, path, label)
            require(mark.exists(), f"a worker meets {fault}")
            require(found == expected[verb], f"{fault} of a worker changes no bit of {verb}")
            done[verb, fault] += 1
    return done


def _outcome(model: Any, verb: str, path: Any, label: str) -> Any:
    """What a model has learnt or says, to the last bit."""
    if verb == "fit":
        with TemporaryDirectory(prefix="suffice-") as folder:
            model.save(Path(folder, "model"))
            return Path(folder, "model").read_bytes()
    if verb == "predict":
        return frozen(model.predict_proba(path))
    return frozen(model.evaluate(path, label))


@dataclass(frozen=True)
class _Faulty(EngineView):
    """An engine, one of whose workers meets a fault once, in a drawn part of a pass."""

    fault: str
    mark: str
    where: float
    stopped: float

    def map(self, kernel: Any, params: Any, splits: Sequence[Any]) -> Iterator[Any]:
        return self.engine.map(kernel, params, self._some(splits))

    def run(self, kernel: Any, params: Any, splits: Sequence[Any]) -> Any:
        return self.engine.run(kernel, params, self._some(splits))

    def _some(self, splits: Sequence[Any]) -> list[Any]:
        found, i = list(splits), int(self.where * len(splits))
        found[i] = _FaultySplit(found[i], self.fault, self.mark, self.stopped)
        return found


@dataclass(frozen=True)
class _FaultySplit:
    """A split that a fault meets when its first batch has been read; the mark tells that it has."""

    split: Split
    fault: str
    mark: str
    stopped: float

    def batches(self) -> Iterator[Batch]:
        with ExitStack() as until_the_end:
            for batch in self.split.batches():
                if not os.path.exists(self.mark):
                    Path(self.mark).touch()
                    until_the_end.enter_context(_met(self.fault, self.stopped))
                yield batch

    def count(self) -> int:
        return self.split.count()

    def locate(self, row: int) -> str:
        return self.split.locate(row)


# On a worker -------------------------------------------------------------------------------------


@contextmanager
def _met(fault: str, stopped: float) -> Iterator[None]:
    """Meet a fault; one of a lack of room lasts until the block ends."""
    if fault in ("memory", "disk"):
        with _without_memory() if fault == "memory" else _limited("RLIMIT_FSIZE", 0):
            yield
        return
    if fault == "sockets":
        _disconnect()
    elif fault == "SIGSTOP":
        _stop(stopped)
    else:
        os.kill(os.getpid(), signal.SIGKILL)
    yield


@contextmanager
def _limited(name: str, limit: int) -> Iterator[None]:
    """Let this process have no more of something; its signal is left to be an error."""
    import resource

    what = getattr(resource, name)
    before = resource.getrlimit(what)
    resource.setrlimit(what, (limit, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(what, before)


@contextmanager
def _without_memory() -> Iterator[None]:
    """Ask for memory where the system gives none."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    with _limited("RLIMIT_AS", pages * os.sysconf("SC_PAGE_SIZE")):
        np.ones(1 << 25)
        yield


def _stop(stopped: float) -> None:
    """Stand still until a process that is no child of this one wakes it."""
    wake = f"os.kill({os.getpid()}, {int(signal.SIGCONT)})"
    waking = f"import os, time; time.sleep({stopped}); {wake}"
    subprocess.Popen([sys.executable, "-c", waking], start_new_session=True)
    os.kill(os.getpid(), signal.SIGSTOP)


def _disconnect() -> None:
    """Shut all sockets down, of whichever library they are."""
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):
            if stat.S_ISSOCK(os.fstat(int(number)).st_mode):
                with socket.socket(fileno=os.dup(int(number))) as one:
                    one.shutdown(socket.SHUT_RDWR)
