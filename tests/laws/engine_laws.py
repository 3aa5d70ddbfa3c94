"""The laws of an engine: order, exceptions, and workers that die."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.laws.comparing import require

from suffice.data.source import Part
from suffice.engines.engine import Engine
from suffice.errors import DataError, EngineError
from suffice.sums.batch import Batch

__all__ = ["check_engine", "check_lost_worker"]

LARGE_RESULT = 1 << 21  # characters of a result that no engine calls small


def check_engine(engine: Engine) -> None:
    """Check that an engine gives what a loop over the parts gives.

    ::

        list(map(kernel, params, parts)) = [kernel(s, params) for s in parts]
        run(kernel, params, parts)       = the sum of these, in their order
        what a kernel raises is raised    with its type and its message

    Results are strings, whose sum shows their order, from few bytes to some megabytes.

    Parameters
    ----------
    engine : Engine
        What to check.

    Raises
    ------
    AssertionError
        Naming the law that is broken.

    Examples
    --------
    >>> from suffice.engines.engine import LocalEngine
    >>> check_engine(LocalEngine(threads=2))
    """
    require(engine.workers >= 1, "an engine has a worker")
    for parts in ("", "a", "ab", "abcdefg", "abcdefgh", "abcdefghi", 10 * "a few words"):
        _check_order(engine, parts, times=1 + len(parts) % 3)
    _check_order(engine, "abcdefghijk", LARGE_RESULT)
    _check_exceptions(engine)
    _check_memory(engine)


def _check_order(engine: Engine, parts: str, times: int) -> None:
    expected = [_repeated(part, times) for part in parts]
    require(list(_map(engine, _repeated, times, parts)) == expected, "results in part order")
    if parts:
        require(_run(engine, _repeated, times, parts) == "".join(expected), "sums in part order")
        results = _map(engine, _repeated, times, parts)
        require(next(results) == expected[0], "the first result comes first")
        del results  # work that nobody waits for does not disturb the next
        require(_run(engine, _repeated, 1, parts) == parts, "an engine can be used again")


def _check_exceptions(engine: Engine) -> None:
    for times in (1, LARGE_RESULT):
        for call in (_run, lambda *task: list(_map(*task))):
            caught: Exception | None = None
            try:
                call(engine, _failing, times, "abcdefghij")
            except Exception as error:
                caught = error
            require(type(caught) is DataError, f"the kernel's exception is raised, not {caught!r}")
            require(str(caught) == "part 'd'; it fails.", "an exception keeps its message")


def _check_memory(engine: Engine) -> None:
    inside = _run(engine, _process, None, ["a"]) == {os.getpid()}
    require(inside == engine.in_process, "in_process says whether kernels run in this process")


def check_lost_worker(
    engine: Engine, kernel: Callable[[Any, Any], Any], params: Any, parts: Sequence[Part]
) -> None:
    """Check that a worker that dies never leads to a wrong sum.

    The first process that reads the middle part is killed: the sum is right all the same, where
    the executor gives the part to another, or there is an error. Then every one that reads it is
    killed: there is an error.

    Parameters
    ----------
    engine : Engine
        Of other processes of this machine.
    kernel, params, parts
        A pass over rows.

    Raises
    ------
    AssertionError
        Naming the law that is broken.
    """
    expected = kernel(parts[0], params)
    for part in parts[1:]:
        expected = expected + kernel(part, params)
    middle = len(parts) // 2
    with TemporaryDirectory() as folder:
        deadly = _Deadly(parts[middle], str(Path(folder) / "one died"))
        try:
            total = engine.run(kernel, params, [*parts[:middle], deadly, *parts[middle + 1 :]])
        except EngineError:
            total = expected
        require(any(Path(folder).iterdir()), "a worker was killed")
        require(total == expected, "a lost worker changes no bit")
    try:
        engine.run(kernel, params, [*parts[:middle], replace(deadly, death=None)])
    except EngineError as error:
        require("die" in str(error), "the message says that workers died")
    else:
        raise AssertionError("rows that kill every worker end in an EngineError")
    total = engine.run(kernel, params, parts)
    require(total == expected, "an engine that gave up can be used again")


@dataclass(frozen=True)
class _Deadly:
    """A part that kills who reads it, once if ``death`` names a file to remember it by."""

    part: Part
    death: str | None

    def batches(self) -> Iterator[Batch]:
        death = None if self.death is None else Path(self.death)
        if death is None or not death.exists():
            if death is not None:
                death.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.part.batches()

    def count(self) -> int:
        return self.part.count()

    def locate(self, row: int) -> str:
        return self.part.locate(row)


# Kernels -----------------------------------------------------------------------------------------


def _repeated(part: str, times: int) -> str:
    return part * times


def _failing(part: str, times: int) -> str:
    if part == "d":
        raise DataError("part 'd'", "it fails")
    return part * times


def _process(part: str, _: None) -> set[int]:
    return {os.getpid()}


def _map(engine: Any, kernel: Callable[..., Any], params: Any, parts: Any) -> Iterator[Any]:
    results: Iterator[Any] = engine.map(kernel, params, parts)
    return results


def _run(engine: Any, kernel: Callable[..., Any], params: Any, parts: Any) -> Any:
    return engine.run(kernel, params, parts)
