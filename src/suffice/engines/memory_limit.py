"""How many threads read a table, and in batches of which size, where memory is limited.

::

    peak = 10 MB + read + min(read, workers · 20 MB) + sums
    read = workers · (held + b · row)
    sums = workers · worker + results · result + once

``held`` is what the reader of a split holds and ``row`` what every row of a batch of b rows takes
(`suffice.data.read_memory`); the 10 MB are threads, and the minimum what allocators keep. What a
worker has beside its rows, what a result takes, and what is there once is told by who asks for the
pass (`suffice.statistics.pass_memory`). b is the largest power of two, 1,024 to 65,536, that keeps
the peak below the limit; where none does, fewer threads read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from suffice.data.read_memory import ReadMemory, in_batches, read_memory
from suffice.data.source import InEngine
from suffice.data.split_size import split_size
from suffice.engines.engine import Engine, Limited
from suffice.errors import ParameterError
from suffice.statistics.batch import BATCH_ROWS
from suffice.statistics.pass_memory import PassMemory, PassNeed, PassRows, no_need

__all__ = ["WAITING", "batch_rows", "bytes_of", "expecting", "reading", "sums_of", "within_limit"]

THREADS = 10_000_000  # bytes of threads and their kernels
RETAINED = 20_000_000  # bytes that allocators keep for a worker, at most, of what was given back
FEWEST_ROWS = 1_024  # of a batch
WAITING = 2  # results for each thread, behind the one that is asked for
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(|B|KB|MB|GB)", re.IGNORECASE)

Sums = Callable[[int, int], int]
"""Bytes beside reading, of so many workers and rows of a batch."""


def bytes_of(size: int | str) -> int:
    """Return how many bytes a size is.

    Raises
    ------
    ParameterError
        If it is none, or less than 1.

    Examples
    --------
    >>> bytes_of("1.5 GB"), bytes_of("300MB"), bytes_of(4096)
    (1500000000, 300000000, 4096)
    """
    found = SIZE.fullmatch(str(size).strip()) if not isinstance(size, bool) else None
    number = float(found[1]) * UNITS[found[2].upper()] if found else 0.0
    if number < 1 or not number.is_integer():
        raise ParameterError(
            f"memory_limit={size!r}",
            "a limit is a number of bytes, or one of KB, MB or GB",
            "write it as '2 GB'",
        )
    return int(number)


def expecting(engine: Engine, source: InEngine, need: PassNeed) -> Engine:
    """An engine that knows what a pass takes beside reading, the rows included that a table keeps.

    Parameters
    ----------
    engine : Engine
    source : InEngine
        Whose rows it reads.
    need : callable
        What the pass takes, in batches of some size.
    """
    if getattr(engine, "memory_limit", engine) is None:
        return engine

    def whole(rows: PassRows) -> PassMemory:
        weighted = getattr(source, "weight", None) is not None
        kept = PassMemory(once=getattr(source, "kept_bytes", 0))
        return need(rows._replace(weighted=weighted)) + kept

    return engine.expecting(whole) if isinstance(engine, Limited) else engine


def reading(need: ReadMemory, workers: int, rows: int) -> int:
    """Bytes that so many workers take who read batches of so many rows.

    Examples
    --------
    >>> reading(ReadMemory(held=1_000, row=16), workers=2, rows=100)
    10010400
    """
    read = workers * (need.held + rows * need.row)
    return THREADS + read + min(read, workers * RETAINED)


def sums_of(need: PassNeed, sizes: Sequence[int | None]) -> Sums:
    """What a pass takes beside reading splits of these sizes.

    Of s splits, those results are in memory that wait for their turn, `WAITING` for each worker and
    one more, and the sums of 1, 2, 4, ... of them.

    Examples
    --------
    >>> sums = sums_of(lambda rows: PassMemory(worker=7, result=100), [1_000] * 20)
    >>> sums(1, 1_024), sums(2, 1_024)
    (607, 1014)
    """
    known = [size for size in sizes if size is not None]
    whole = len(known) == len(sizes)
    split, table = (max(known, default=0), sum(known)) if whole else (None, None)

    def sums(workers: int, rows: int) -> int:
        own = need(PassRows(min(rows, rows if split is None else split), split, table))
        waiting = WAITING * workers + 1 if workers > 1 else 1
        results = min(len(sizes), waiting + len(sizes).bit_length())
        return workers * own.worker + results * own.result + own.once

    return sums


def batch_rows(
    need: ReadMemory, workers: int, limit: int, sums: Sums = lambda workers, rows: 0
) -> tuple[int, int]:
    """How many workers may read within a limit, and the rows of their batches; 0 workers: none.

    Examples
    --------
    >>> batch_rows(ReadMemory(10_000_000, 160), workers=2, limit=170_000_000)
    (2, 65536)
    >>> batch_rows(ReadMemory(10_000_000, 16_000), workers=2, limit=170_000_000)
    (2, 2048)
    >>> batch_rows(ReadMemory(100_000_000, 160), workers=2, limit=170_000_000)
    (1, 65536)
    """
    for number in range(workers, 0, -1):
        rows = BATCH_ROWS
        while rows >= FEWEST_ROWS:
            if reading(need, number, rows) + sums(number, rows) <= limit:
                return number, rows
            rows //= 2
    return 0, FEWEST_ROWS


def within_limit(
    splits: Sequence[Any], workers: int, limit: int | str, need: PassNeed = no_need
) -> tuple[int, Sequence[Any]]:
    """How many workers may read these splits within a limit, and the splits in smaller batches.

    Raises
    ------
    ParameterError
        If one worker with the smallest batches takes more.
    """
    needs = [read_memory(split) for split in splits]
    largest = ReadMemory(
        max((one.held for one in needs), default=0), max((one.row for one in needs), default=0)
    )
    sums = sums_of(need, [split_size(split).rows for split in splits])
    number, rows = batch_rows(largest, workers, bytes_of(limit), sums)
    if not number and splits:
        raise _too_small(limit, *_least(largest, sums))
    return number, [in_batches(split, rows) for split in splits]


def _least(need: ReadMemory, sums: Sums) -> tuple[int, int]:
    """What one worker takes to read, and beside it, in batches of those rows that take least."""
    sizes = range(FEWEST_ROWS.bit_length() - 1, BATCH_ROWS.bit_length())
    return min(((reading(need, 1, 1 << e), sums(1, 1 << e)) for e in sizes), key=sum)


def _too_small(limit: int | str, read: int, sums: int) -> ParameterError:
    """The error of a limit that one worker with the smallest batches does not keep."""
    part, beside, least = (-(-size // 10**6) for size in (read, sums, read + sums))
    fact = f"the largest part of the table takes {part:,} MB to read, with one thread"
    if beside <= 1:
        return ParameterError(
            f"memory_limit={limit!r}",
            fact,
            f"allow '{least} MB', or write the table in smaller parts, such as shorter row groups",
        )
    return ParameterError(
        f"memory_limit={limit!r}",
        f"{fact}, and what is made of the rows {beside:,} MB",
        f"allow '{least} MB', or read fewer columns",
    )
