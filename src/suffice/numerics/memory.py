"""Memory that is asked for before it is taken."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from suffice.errors import DataError

SMALL = 2**28  # bytes that are taken without a question
CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def available_memory() -> float:
    """Return the bytes that this process can still take; infinite where nothing tells."""
    return min(_limits(), default=float("inf"))


def _limits() -> Iterator[float]:
    """Yield what the machine has free, and what is left of limits set to the process."""
    with suppress(OSError), Path("/proc/meminfo").open() as lines:
        yield from (
            1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable")
        )
    for limit, used in CGROUPS:
        try:
            yield float(Path(limit).read_text()) - float(Path(used).read_text())
        except (OSError, ValueError):  # there is no such limit
            continue
    try:
        import resource
    except ImportError:  # of systems without such limits
        return
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        pages = int(Path("/proc/self/statm").read_text().split()[0])
        yield float(soft - pages * resource.getpagesize())


def require_memory(amount: float, what: str, instead: str) -> None:
    """Refuse to take more bytes than there are, for "products of 50,000 columns"."""
    if amount <= SMALL:
        return
    there = available_memory()
    if amount > there:
        raise DataError(
            f"{what} take {amount / 1e9:,.1f} GB of memory",
            f"{max(there, 0.0) / 1e9:,.1f} GB are available",
            instead,
        )
