"""Threads that stay, and that keep off the processor of their caller.

A scheduler that packs threads on few processors, to save power or on a virtual machine, wakes a
thread where the one that woke it runs. There it waits for its turn while another processor is
idle, for milliseconds: as long as many a pass takes.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from typing import Any, TypeVar

__all__ = ["Threads", "threads"]

R = TypeVar("R")


class Threads:
    """A pool of threads.

    Parameters
    ----------
    number : int
        How many; they start with the first calls.
    """

    def __init__(self, number: int) -> None:
        self._started: list[int] = []
        self._kept_off = -1, 0  # a processor, and how many threads
        begin = self._begin
        self._pool = ThreadPoolExecutor(number, thread_name_prefix="suffice", initializer=begin)

    def submit(self, call: Callable[[], R]) -> Future[R]:
        """Let a thread make a call."""
        return self._pool.submit(call)

    def keep_off(self) -> None:
        """Let the threads run where the caller may, except on the processor where it runs now."""
        if not hasattr(os, "sched_setaffinity"):
            return
        here = _processor(), len(self._started)
        if here == self._kept_off:
            return
        allowed, self._kept_off = os.sched_getaffinity(0), here
        elsewhere = allowed - {here[0]} or allowed
        for thread in self._started:
            with suppress(OSError):  # the system may forbid it
                os.sched_setaffinity(thread, elsewhere)

    def _begin(self) -> None:
        self._started.append(threading.get_native_id())


@cache
def _system() -> Any:
    return ctypes.PyDLL(None)


def _processor() -> int:
    """The processor that this thread runs on, or −1 if the system does not tell."""
    return int(_system().sched_getcpu()) if hasattr(_system(), "sched_getcpu") else -1


@cache
def threads(number: int) -> Threads:
    """The threads of this process: to start them takes as long as 10,000 rows."""
    return Threads(number)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        after_in_child=threads.cache_clear
    )  # a child has none of its parent's threads
