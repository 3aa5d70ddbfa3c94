"""Where Arrow allocates while rows are read: from a pool that gives memory back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import pyarrow as pa

__all__ = ["frugal"]

_lock = Lock()
_readers = 0
_usual: pa.MemoryPool | None = None


@contextmanager
def frugal() -> Iterator[None]:
    """Let Arrow allocate by jemalloc meanwhile, in place of mimalloc and where pyarrow brings it.

    mimalloc, its default, keeps about as much again as two threads ever used. A reader takes the
    pool of the moment and every buffer stays with its own, so threads may begin and end as they
    like; a pool that the user has chosen is left alone.

    Examples
    --------
    >>> usual = pa.default_memory_pool().backend_name
    >>> with frugal(), frugal():
    ...     pa.default_memory_pool().backend_name in ("jemalloc", usual)
    True
    >>> pa.default_memory_pool().backend_name == usual
    True
    """
    global _readers, _usual
    with _lock:
        _readers += 1
        pool = pa.default_memory_pool()
        if pool.backend_name == "mimalloc" and "jemalloc" in pa.supported_memory_backends():
            _usual = pool
            pa.set_memory_pool(pa.jemalloc_memory_pool())
    try:
        yield
    finally:
        with _lock:
            _readers -= 1
            if _readers == 0 and _usual is not None:
                pa.set_memory_pool(_usual)
                _usual = None
