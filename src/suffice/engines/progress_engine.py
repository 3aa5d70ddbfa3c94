"""An engine that says how far it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from itertools import count
from threading import Lock
from typing import Any, TypeVar, cast

from suffice.data.files.bytes_read import reporting_bytes
from suffice.data.source import Split
from suffice.data.split_size import SplitSize, split_size
from suffice.engines.engine import EngineView
from suffice.engines.fit_context import current_fit
from suffice.engines.progress import Progress, Report
from suffice.errors import ParameterError
from suffice.statistics.batch import Batch

__all__ = ["WatchedEngine"]

P = TypeVar("P")
R = TypeVar("R")

PAUSE = 0.1  # seconds between two reports


@dataclass(frozen=True)
class WatchedEngine(EngineView):
    """An engine that says how far it is.

    In this process it reports batch by batch; elsewhere, as the results of splits arrive.

    Parameters
    ----------
    engine : Engine
        Where the rows are read.
    report : callable or True
        Is given a `Progress` about ten times a second, and at the end of every pass; never twice
        at a time, but from any thread. True stands for a bar on the terminal of the errors,
        where there is one, for what takes longer than a second.

    Raises
    ------
    ParameterError
        If ``report`` is neither.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> from suffice.engines.local import LocalEngine
    >>> seen = []
    >>> engine = WatchedEngine(LocalEngine(1), seen.append)
    >>> model = NaiveBayes(engine=engine).fit([[1.5], [2.5], [4.5]], [0, 0, 1])
    >>> seen[-1].rows, seen[-1].total_rows, seen[-1].fraction
    (3, 3, 1.0)
    """

    report: Report | bool = True

    def __post_init__(self) -> None:
        if not (isinstance(self.report, bool) or callable(self.report)):
            raise ParameterError(
                f"progress={self.report!r}",
                "it is True, False, or a callable that is given how far the work is",
            )

    def __deepcopy__(self, memo: object) -> WatchedEngine:
        # A copy of an estimator reports to the same listener, not to a copy of it.
        return self

    def map(
        self,
        kernel: Callable[[Split, P], R],
        params: P,
        splits: Sequence[Split],
        done: Sequence[Split] = (),
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order; ``done`` are splits done before them."""
        with self._listener() as report:
            watch = Watch(report, splits, done)
            results = self._nearby if self.engine.in_process else self._far
            with closing(results(kernel, params, splits, watch)) as found:
                yield from found
            watch.end()

    def _listener(self) -> AbstractContextManager[Report]:
        if callable(self.report):
            return nullcontext(self.report)
        if not self.report:
            return nullcontext(lambda _: None)
        from suffice.engines.progress_bar import bar

        return bar()

    def _nearby(
        self, kernel: Any, params: Any, splits: Sequence[Split], watch: Watch
    ) -> Generator[Any, None, None]:
        yield from self.engine.map(_reporting, (kernel, params, watch), splits)

    def _far(
        self, kernel: Any, params: Any, splits: Sequence[Split], watch: Watch
    ) -> Generator[Any, None, None]:
        results = self.engine.map(_counted, (kernel, params), splits)
        for split, counted in zip(splits, results, strict=True):
            watch.add(counted.rows, split_size(split).bytes or 0, 1)
            yield counted.result


class Watch:
    """Adds up what is done of a pass, from any thread, and reports it.

    Of the same pass, other parts may be done before.
    """

    def __init__(self, report: Report, splits: Sequence[Split], done: Sequence[Split] = ()) -> None:
        self._report = report
        before = [split_size(split) for split in done]
        known = [*before, *(split_size(split) for split in splits)]
        self._total_rows = _total([part.rows for part in known])
        self._total_bytes = _total([part.bytes for part in known])
        self._total_splits = len(known)
        self._rows = sum(part.rows or 0 for part in before)
        self._bytes = sum(part.bytes or 0 for part in before)
        self._splits = len(before)
        self._before = SplitSize(
            _total([p.rows for p in before]), _total([p.bytes for p in before])
        )
        self._begun_fraction = self._fraction()
        fit_context = current_fit()
        self._number = (
            1
            if fit_context is None
            else next(fit_context.keep(Watch, lambda: nullcontext(count(1))))
        )
        self._lock = Lock()
        self._begun = self._reported = time.monotonic()

    def add(self, rows: int, size: int, splits: int = 0) -> None:
        """Count rows, bytes and splits that are done."""
        with self._lock:
            self._rows += rows
            self._bytes += size
            self._splits += splits
            now = time.monotonic()
            if now - self._reported >= PAUSE:
                self._reported = now
                self._report(self._progress(now - self._begun))

    def _progress(self, seconds: float) -> Progress:
        rows, size = _within(self._rows, self._total_rows), _within(self._bytes, self._total_bytes)
        fraction = self._fraction()
        gained = fraction - self._begun_fraction
        left = seconds * (1.0 - fraction) / gained if gained else None
        totals = self._total_rows, self._total_bytes
        return Progress(rows, size, *totals, fraction, left, self._number)

    def _fraction(self) -> float:
        if self._total_rows:
            return _within(self._rows, self._total_rows) / self._total_rows
        if self._total_bytes:
            return _within(self._bytes, self._total_bytes) / self._total_bytes
        return self._splits / self._total_splits if self._total_splits else 0.0

    def end(self) -> None:
        """Report that all is done."""
        rows = self._rows if self._total_rows is None else self._total_rows
        size = self._bytes if self._total_bytes is None else self._total_bytes
        # Of what was done before, the size may never be known.
        totals = (
            None if self._before.rows is None else rows,
            None if self._before.bytes is None else size,
        )
        self._report(Progress(rows, size, *totals, 1.0, 0.0, self._number))


def _total(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None


def _within(done: int, total: int | None) -> int:
    """What is done, at most all: a kernel may read a row twice."""
    return done if total is None else min(done, total)


# Splits ------------------------------------------------------------------------------------------


class WatchedSplit:
    """A split that counts the rows which are taken from it, and tells a watch if there is one."""

    def __init__(self, split: Split, watch: Watch | None = None) -> None:
        self._split, self._watch = split, watch
        self._size = split_size(split) if watch is not None else SplitSize()
        self.rows = self._bytes = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._split, name)

    def batches(self) -> Iterator[Batch]:
        """Yield the batches of the split; one that is done with is counted."""
        rows, size = self._size.rows or 1, self._size.bytes or 0
        for batch in self._split.batches():
            yield batch
            # Without a number of rows, the reader tells of the bytes.
            self._count(batch.rows, size * batch.rows // rows if self._size.rows else 0)

    def read(self, size: int) -> None:
        """Count bytes that were read."""
        self._count(0, size)

    def end(self) -> None:
        """Count what was not yet counted."""
        self._count(0, (self._size.bytes or 0) - self._bytes, 1)

    def _count(self, rows: int, size: int, splits: int = 0) -> None:
        self.rows += rows
        self._bytes += size
        if self._watch is not None:
            self._watch.add(rows, size, splits)


def _reporting(split: Split, task: tuple[Callable[[Any, Any], R], Any, Watch]) -> R:
    """Kernel that tells a watch of this process how far another kernel is."""
    kernel, params, watch = task
    watched = WatchedSplit(split, watch)
    with reporting_bytes(watched.read):
        result = kernel(watched, params)
    if isinstance(result, Iterator):  # it reads when it is asked
        return cast(R, _reporting_each(result, watched))
    watched.end()
    return result


def _reporting_each(results: Iterator[R], watched: WatchedSplit) -> Iterator[R]:
    """Results of a kernel, and how far it is, as they are asked for."""
    with reporting_bytes(watched.read):
        yield from results
    watched.end()


@dataclass(frozen=True)
class _Counted:
    """A result and its number of rows; a frame of many partitions gives the sum over them."""

    result: Any
    rows: int

    def __add__(self, other: _Counted) -> _Counted:
        return _Counted(self.result + other.result, self.rows + other.rows)


def _counted(split: Split, task: tuple[Callable[[Any, Any], Any], Any]) -> _Counted:
    """Kernel that counts the rows which another kernel takes, where no watch can hear of it."""
    kernel, params = task
    watched = WatchedSplit(split)
    return _Counted(kernel(watched, params), watched.rows)
