"""The progress of a pass as a bar on a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Timer

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as Display
from rich.table import Column

from suffice.engines.progress import Progress, Report

__all__ = ["bar", "described"]

SOON = 1.0  # seconds; what is done by then needs no bar
LONGEST = 22  # characters of what is going on


def described(progress: Progress) -> str:
    """Say in words how far a pass is.

    Examples
    --------
    >>> described(Progress(1_500_000, 12_000_000, 3_000_000, 24_000_000, 0.5, 61.5, number=2))
    'pass 2, 1,500,000 rows, 12.0 MB, 0:01:01 left'
    """
    parts = [f"pass {progress.number}"] if progress.number > 1 else []
    if progress.rows or not progress.bytes:  # of some files only bytes are known
        parts.append(f"{progress.rows:,} {progress.unit}")
    if progress.bytes:
        parts.append(decimal(progress.bytes))
    if progress.seconds_left is not None:
        parts.append(f"{timedelta(seconds=int(progress.seconds_left))} left")
    return ", ".join(parts)


@contextmanager
def bar(what: str = "Reading", console: Console | None = None) -> Iterator[Report]:
    """Show a bar from the first second on, until the block ends; nothing where no terminal is.

    Parameters
    ----------
    what : str
        Is going on.
    console : rich.console.Console, optional
        Default: that of the errors.

    Yields
    ------
    callable
        To be given every `Progress`.
    """
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
