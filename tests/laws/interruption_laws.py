"""Fits that signals end at any moment: the checkpoint leads on to the same bits."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.laws.comparing import require
from tests.running import on

from suffice.engines import checkpoint
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import EngineView, LocalEngine

__all__ = ["Interrupted", "check_resuming"]

INTERRUPTED = 128 + signal.SIGINT  # what shells have for a process that Ctrl-C ended
NAMES = ("SIGKILL", "SIGTERM", "SIGINT")
MOST = 3  # signals in one round


@dataclass
class Interrupted:
    """What `check_resuming` did.

    Parameters
    ----------
    parts : int
        Parts that a fit reads if nothing ends it, passes together.
    signals : Counter
        How often each signal ended a fit.
    late : int
        Signals that came when the fit had ended.
    again : int
        Parts that were read once more because of a signal.
    """

    parts: int
    signals: Counter[str] = field(default_factory=Counter)
    late: int = 0
    again: int = 0


def check_resuming(
    make: Callable[..., Any],
    path: str | os.PathLike[str],
    label: str,
    moments: int = 6,
    seed: int = 0,
) -> Interrupted:
    """Check that fits that signals end go on to the same bits.

    ::

        bytes of the model (fit, killed, fit, ..., fit) = bytes of the model (fit)
        once a fit has succeeded      beside its model is only what a kill cut off, *.tmp

    A fit runs in a process of its own and says of every part that it is done. After a drawn number
    of parts, and a drawn part of the time that a part takes, it gets SIGKILL, SIGTERM or SIGINT:
    while it reads, in a kernel, or while the checkpoint is written. It is run again, and ended
    again or not, until it succeeds. It needs a system that has processes of a server (POSIX).

    Parameters
    ----------
    make : callable
        ``make()`` is an estimator; it has to pickle.
    path : path
        A file of many parts.
    label : str
        The column of labels.
    moments : int, default 6
        Signals to send.
    seed : int, default 0
        Of all that is drawn.

    Returns
    -------
    Interrupted
        What was done, for a table.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    Processes are killed, which takes seconds:

    >>> from suffice import NaiveBayes
    >>> check_resuming(NaiveBayes, "rows.parquet", "y")  # doctest: +SKIP
    """
    random = np.random.default_rng(seed)
    with TemporaryDirectory(prefix="suffice-") as folder:
        begun = time.monotonic()
        whole = _Fit(make, path, label, Path(folder, "whole"))
        require(whole.run() == 0, "a fit succeeds")
        pause = (time.monotonic() - begun) / max(1, whole.parts)
        done = Interrupted(whole.parts)
        while (sent := done.signals.total() + done.late) < moments:
            here = Path(folder, f"after {sent}")
            fit = _Fit(make, path, label, here)
            _end_again_and_again(fit, done, min(MOST, moments - sent), pause, random)
            require(fit.model == whole.model, "a fit that was ended leads to the same bytes")
            _require_nothing_beside(here)
            done.again += fit.parts - whole.parts
    return done


def _end_again_and_again(
    fit: _Fit, done: Interrupted, most: int, pause: float, random: np.random.Generator
) -> None:
    """Run a fit until it succeeds, and end it a few times before; count what ended it."""
    for _ in range(random.integers(1, most + 1)):
        name = NAMES[random.integers(len(NAMES))]
        number = getattr(signal, name)
        left = max(1, done.parts - fit.parts)
        status = fit.run(int(random.integers(left)), random.uniform(0, pause), number)
        expected = INTERRUPTED if name == "SIGINT" else -number
        require(status in (0, expected), f"{name} ends a fit by itself: {status}")
        done.late += status == 0
        done.signals[name] += status != 0
        if status == 0:
            return
        if not fit.is_begun:  # it was about to begin, or only to save its model
            fit.parts = 0
    require(fit.run() == 0, "a fit that was ended goes on when it is run again")


def _require_nothing_beside(folder: Path) -> None:
    """Nothing stays beside the model but files that a kill cut off while they were written."""
    full = {entry.name: entry.stat().st_size for entry in os.scandir(folder)}
    kept = sorted(name for name in full if not (name[:9] == ".suffice-" and name[-4:] == ".tmp"))
    require(kept == ["model"], f"nothing stays beside the model: {full}")


class _Fit:
    """A fit in a folder, run in processes of its own."""

    def __init__(
        self, make: Callable[..., Any], path: str | os.PathLike[str], label: str, folder: Path
    ) -> None:
        self._task = make, os.path.abspath(path), label, folder
        self._folder = folder
        self.parts = 0  # read so far
        folder.mkdir()

    def run(self, after: int = -1, pause: float = 0.0, number: int = 0) -> int:
        """Run to the end, or until a signal so long after so many parts; the exit status."""
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload([__name__, getattr(self._task[0], "__module__", __name__)])
        said, its_end = context.Pipe(duplex=False)
        process = context.Process(target=_fit, args=(*self._task, its_end))
        process.start()
        its_end.close()
        heard = 0
        for heard in _heard(said):
            self.parts += heard > 0
            if heard == after:
                time.sleep(pause)
                if process.pid is not None and process.is_alive():
                    with suppress(ProcessLookupError):  # it has ended in between
                        os.kill(process.pid, number)
        process.join()
        return int(process.exitcode or 0)

    @property
    def is_begun(self) -> bool:
        """Whether there is a checkpoint."""
        return (self._folder / "checkpoint").exists()

    @property
    def model(self) -> bytes:
        """The bytes of the model."""
        return (self._folder / "model").read_bytes()


def _heard(said: Connection) -> Iterator[int]:
    """0 when a fit has begun, then the number of every part, until its process ends."""
    with said:
        while True:
            try:
                yield said.recv()
            except EOFError:
                return


# In the process of a fit -------------------------------------------------------------------------


@dataclass(frozen=True)
class _Telling(EngineView):
    """An engine that says of every result that it is there, before it is added."""

    tell: Callable[[], None]

    def map(self, kernel: Any, params: Any, parts: Sequence[Any]) -> Iterator[Any]:
        for result in self.engine.map(kernel, params, parts):
            self.tell()
            yield result


def _fit(make: Callable[..., Any], path: str, label: str, folder: Path, said: Connection) -> None:
    """Fit and save; Ctrl-C ends it with the status of a shell."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what is ignored would be inherited
    checkpoint.SHARE = float("inf")  # written after every part, however slow the disk is
    told = 0

    def tell() -> None:
        nonlocal told
        told += 1
        said.send(told)

    engine = CheckpointedEngine(_Telling(LocalEngine(2), tell), folder / "checkpoint", every=0.0)
    try:
        said.send(0)
        on(engine, make()).fit(path, label).save(folder / "model")
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the fit is over, its process not quite
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
