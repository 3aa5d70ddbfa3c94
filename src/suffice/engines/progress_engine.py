"""An engine that says how far it is, split by split."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from itertools import count
from typing import Any, TypeVar, cast

from suffice.data.source import Split
from suffice.data.split_size import split_size
from suffice.engines.engine import EngineView
from suffice.engines.fit_context import current_fit
from suffice.engines.progress import Progress, Report
from suffice.errors import ParameterError

__all__ = ["WatchedEngine"]

P = TypeVar("P")
R = TypeVar("R")

PAUSE = 0.1  # seconds between two reports


@dataclass(frozen=True)
class WatchedEngine(EngineView):
    """An engine that says how far it is, as the results of splits arrive.

    Parameters
    ----------
    engine : Engine
        Where the rows are read.
    report : callable or True
        Is given a `Progress` about ten times a second, and at the end of every pass. True stands
        for a bar on the terminal of the errors, where there is one, for what takes longer than a
        second.

    Raises
    ------
    ParameterError
        If ``report`` is neither.

    Examples
    --------
    >>> from suffice import NaiveBayes, set_engine
    >>> from suffice.engines.local import LocalEngine
    >>> seen = []
    >>> engine = WatchedEngine(LocalEngine(1), seen.append)
    >>> with set_engine(engine):
    ...     model = NaiveBayes().fit([[1.5], [2.5], [4.5]], [0, 0, 1])
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
        self, kernel: Callable[[Split, P], R], params: P, splits: Sequence[Split]
    ) -> Iterator[R]:
        """Yield ``kernel(split, params)`` in split order."""
        results = cast(Any, self.engine.map(kernel, params, splits))
        with self._listener() as report, closing(results):
            watch = _Watch(report, splits)
            for split, result in zip(splits, results, strict=True):
                yield result  # it may be read when it is asked for
                watch.add(split)
            watch.end()

    def _listener(self) -> AbstractContextManager[Report]:
        if callable(self.report):
            return nullcontext(self.report)
        if not self.report:
            return nullcontext(lambda _: None)
        from suffice.engines.progress_bar import bar

        return bar()


class _Watch:
    """Adds up which splits of a pass are done, and reports it."""

    def __init__(self, report: Report, splits: Sequence[Split]) -> None:
        sizes = [split_size(split) for split in splits]
        self._report = report
        self._totals = _total([s.rows for s in sizes]), _total([s.bytes for s in sizes])
        self._splits = len(splits)
        self._rows = self._bytes = self._done = 0
        fit = current_fit()
        numbers = None if fit is None else fit.keep(_Watch, lambda: nullcontext(count(1)))
        self._number = 1 if numbers is None else next(numbers)
        self._begun = self._told = time.monotonic()

    def add(self, split: Split) -> None:
        """Count a split that is done."""
        size = split_size(split)
        self._rows += size.rows or 0
        self._bytes += size.bytes or 0
        self._done += 1
        now = time.monotonic()
        if now - self._told >= PAUSE:
            self._told = now
            fraction = self._fraction()
            self._tell(fraction, (now - self._begun) * (1 - fraction) / fraction)

    def _fraction(self) -> float:
        for done, total in zip((self._rows, self._bytes), self._totals, strict=True):
            if total and done:
                return done / total
        return self._done / self._splits

    def end(self) -> None:
        """Report that all is done."""
        self._tell(1.0, 0.0)

    def _tell(self, fraction: float, left: float) -> None:
        done = self._rows, self._bytes
        self._report(Progress(*done, *self._totals, fraction, left, self._number))


def _total(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
