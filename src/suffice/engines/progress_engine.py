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
            sizes = [split_size(split) for split in splits]
            totals = _total([size.rows for size in sizes]), _total([size.bytes for size in sizes])
            done, number, begun = (0, 0), _number(), time.monotonic()
            told = begun
            for i, (size, result) in enumerate(zip(sizes, results, strict=True), start=1):
                yield result  # it may be read when it is asked for
                done = done[0] + (size.rows or 0), done[1] + (size.bytes or 0)
                now = time.monotonic()
                if now - told >= PAUSE:
                    told = now
                    known = (d / t for d, t in zip(done, totals, strict=True) if t and d)
                    fraction = next(known, i / len(splits))
                    left = (now - begun) * (1 - fraction) / fraction
                    report(Progress(*done, *totals, fraction, left, number))
            report(Progress(*done, *totals, 1.0, 0.0, number))

    def _listener(self) -> AbstractContextManager[Report]:
        if callable(self.report):
            return nullcontext(self.report)
        if not self.report:
            return nullcontext(lambda _: None)
        from suffice.engines.progress_bar import bar

        return bar()


def _number() -> int:
    """Number of the pass in the fit that has begun, from 1."""
    fit = current_fit()
    return 1 if fit is None else next(fit.keep(WatchedEngine, lambda: nullcontext(count(1))))


def _total(sizes: Sequence[int | None]) -> int | None:
    known = [size for size in sizes if size is not None]
    return sum(known) if len(known) == len(sizes) else None
