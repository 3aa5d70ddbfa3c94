"""How many threads read a table, and in batches of which size, where memory is limited.

::

    peak = first rows + (10 MB + read + min(read, 40 MB)) + sums and answers
    read = workers · (held + b · row)

``held`` is what the reader of a split holds and ``row`` what every row of a batch of b rows takes
(`suffice.data.read_memory`); the 10 MB are threads, and the last term what allocators keep. The
limit is for the brackets: b is the largest power of two, 1,024 to 65,536, that keeps it; where none
does, fewer threads read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from suffice.data.read_memory import ReadMemory, in_batches, read_memory
from suffice.errors import ParameterError
from suffice.statistics.batch import BATCH_ROWS

__all__ = ["batch_rows", "bytes_of", "reading", "within_limit"]

THREADS = 10_000_000  # bytes of threads and their kernels
RETAINED = 40_000_000  # bytes that allocators keep at most of what was given back
FEWEST_ROWS = 1_024  # of a batch
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9}
SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(|B|KB|MB|GB)", re.IGNORECASE)


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


def reading(need: ReadMemory, workers: int, rows: int) -> int:
    """Bytes that so many workers take who read batches of so many rows.

    Examples
    --------
    >>> reading(ReadMemory(held=1_000, row=16), workers=2, rows=100)
    10010400
    """
    read = workers * (need.held + rows * need.row)
    return THREADS + read + min(read, RETAINED)


def batch_rows(need: ReadMemory, workers: int, limit: int) -> tuple[int, int]:
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
            if reading(need, number, rows) <= limit:
                return number, rows
            rows //= 2
    return 0, FEWEST_ROWS


def within_limit(
    splits: Sequence[Any], workers: int, limit: int | str
) -> tuple[int, Sequence[Any]]:
    """How many workers may read these splits within a limit, and the splits in smaller batches.

    Raises
    ------
    ParameterError
        If one worker with the smallest batches takes more.
    """
    needs = [read_memory(split) for split in splits]
    need = ReadMemory(
        max((one.held for one in needs), default=0), max((one.row for one in needs), default=0)
    )
    number, rows = batch_rows(need, workers, bytes_of(limit))
    if not number and splits:
        least = -(-reading(need, 1, FEWEST_ROWS) // 10**6)
        raise ParameterError(
            f"memory_limit={limit!r}",
            f"the largest part of the table takes {least:,} MB to read, with one thread",
            f"allow '{least} MB', or write the table in smaller parts, such as shorter row groups",
        )
    return number, [in_batches(split, rows) for split in splits]
