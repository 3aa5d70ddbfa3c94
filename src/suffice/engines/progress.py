"""Progress of a pass over the rows: counted part by part, shown as a bar."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from html import escape
from importlib import import_module
from itertools import count
from threading import Timer
from typing import TYPE_CHECKING, Any, TypeVar, cast

from suffice.data.source import Part
from suffice.engines.engine import EngineView, current_fit
from suffice.errors import ParameterError

if TYPE_CHECKING:
    from rich.console import Console

P = TypeVar("P")
R = TypeVar("R")

PAUSE = 0.1  # seconds between two reports
SOON = 1.0  # seconds; what is done by then needs no bar
LONGEST = 22  # characters of what is going on


@dataclass(frozen=True)
class Progress:
    """Progress of a pass over the rows.

    Parameters
    ----------
    rows, bytes : int
        Done so far, as far as parts know their size; bytes as the rows are stored.
    total_rows, total_bytes : int, optional
        Of all of them; None where that is not known.
    fraction : float
        Of the pass that is done, from 0 to 1.
    seconds_left : float, optional
        If it goes on like this; None at the beginning.
    number : int
        Of the pass, from 1: a fit may need several.
    unit : str
        What is counted as rows.

    Examples
    --------
    >>> Progress(50, 400, 100, 800, 0.5, 2.0).fraction
    0.5
    """

    rows: int
    bytes: int
    total_rows: int | None
    total_bytes: int | None
    fraction: float
    seconds_left: float | None
    number: int = 1
    unit: str = "rows"


Report = Callable[[Progress], object]
"""A function that is called with the progress of a pass."""


@dataclass(frozen=True)
class WatchedEngine(EngineView):
    """An engine that says how far it is, as the results of parts arrive.

    Parameters
    ----------
    engine : Engine
        Where the rows are read.
    report : callable or True
        Is given a `Progress` about ten times a second, and at the end of every pass. True stands
        for a bar, in a notebook or on the terminal of the errors, for what takes longer than a
        second.

    Examples
    --------
    >>> from suffice import NaiveBayes, set_engine
    >>> from suffice.engines.engine import LocalEngine
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

    def map(self, kernel: Callable[[Part, P], R], params: P, parts: Sequence[Part]) -> Iterator[R]:
        results = cast(Any, self.engine.map(kernel, params, parts))
        with self._listener() as report, closing(results):
            rows, sizes = [part.rows for part in parts], [part.nbytes for part in parts]
            totals = _total(rows), _total(sizes)
            fit = current_fit()
            numbers = fit and fit.keep(WatchedEngine, lambda: nullcontext(count(1)))
            number = next(numbers) if numbers else 1
            begun = told = time.monotonic()
            for i, result in enumerate(results, start=1):
                yield result  # it may be read when it is asked for
                now = time.monotonic()
                if now - told >= PAUSE:
                    told = now
                    done = _known(rows[:i]), _known(sizes[:i])
                    known = (d / t for d, t in zip(done, totals, strict=True) if t and d)
                    fraction = next(known, i / len(parts))
                    left = (now - begun) * (1 - fraction) / fraction
                    report(Progress(*done, *totals, fraction, left, number))
            report(Progress(_known(rows), _known(sizes), *totals, 1.0, 0.0, number))

    def _listener(self) -> AbstractContextManager[Report]:
        if self.report is True:
            return bar()
        return nullcontext(self.report if callable(self.report) else lambda _: None)


def _known(sizes: Sequence[int | None]) -> int:
    return sum(size for size in sizes if size is not None)


def _total(sizes: Sequence[int | None]) -> int | None:
    return None if None in sizes else _known(sizes)


def described(progress: Progress) -> str:
    """Say in words how far a pass is.

    Examples
    --------
    >>> described(Progress(1_500_000, 12_000_000, 3_000_000, 24_000_000, 0.5, 61.5, number=2))
    'pass 2, 1,500,000 rows, 12.0 MB, 0:01:01 left'
    """
    from rich.filesize import decimal

    parts = [f"pass {progress.number}"] if progress.number > 1 else []
    if progress.rows or not progress.bytes:  # of some files only bytes are known
        parts.append(f"{progress.rows:,} {progress.unit}")
    if progress.bytes:
        parts.append(decimal(progress.bytes))
    if progress.seconds_left is not None:
        parts.append(f"{timedelta(seconds=int(progress.seconds_left))} left")
    return ", ".join(parts)


def _notebook() -> Any:
    """Return the module that shows output in the notebook that runs this; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return import_module("IPython.display") if hasattr(shell, "kernel") else None


@contextmanager
def _notebook_bar(what: str, notebook: Any) -> Iterator[Report]:
    """Show a bar below the cell, from the first second on, until the block ends."""
    begun, shown = time.monotonic(), []

    def report(progress: Progress) -> None:
        drawn = f'<progress max="1" value="{progress.fraction:.3f}"></progress>'
        said = f"{what}: {progress.fraction:.0%}, {described(progress)}"
        page = notebook.HTML(f"{drawn} {escape(said)}")
        if shown:
            shown[0].update(page)
        elif time.monotonic() - begun > SOON:
            shown.append(notebook.display(page, display_id=True))

    try:
        yield report
    finally:
        for one in shown:
            one.update(notebook.HTML(""))


@contextmanager
def bar(what: str = "Reading", console: Console | None = None) -> Iterator[Report]:
    """Show a bar from the first second on, until the block ends; nothing where none can be seen.

    Parameters
    ----------
    what : str
        Is going on.
    console : rich.console.Console, optional
        Default: that of the errors, or the notebook's output.

    Yields
    ------
    callable
        To be given every `Progress`.
    """
    from rich.console import Console
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn
    from rich.progress import Progress as Display
    from rich.table import Column

    if console is None and (notebook := _notebook()) is not None:
        with _notebook_bar(what, notebook) as report:
            yield report
        return
    console = console or Console(stderr=True, markup=False, emoji=False)
    if not console.is_interactive:
        yield lambda progress: None
        return
    display = Display(
        TextColumn("{task.description}", table_column=Column(no_wrap=True, max_width=LONGEST)),
        BarColumn(bar_width=10),
        TaskProgressColumn(),
        TextColumn("{task.fields[said]}", table_column=Column(no_wrap=True)),
        console=console,
        transient=True,
    )
    task = display.add_task(what, total=None, said="")

    def report(progress: Progress) -> None:
        display.update(task, total=1.0, completed=progress.fraction, said=described(progress))

    timer = Timer(SOON, display.start)
    timer.start()
    try:
        yield report
    finally:
        timer.cancel()
        timer.join()
        display.stop()
