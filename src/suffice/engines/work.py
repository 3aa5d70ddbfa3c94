"""Which passes over the rows belong together: those of one fit.

An engine holds settings only, and a fit may need several of its passes. What has to last from the
first pass to the end of the fit is kept by a piece of work.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

__all__ = ["Work", "at_work", "work"]

T = TypeVar("T")


class Work:
    """What engines keep while a piece of work lasts."""

    def __init__(self, contexts: ExitStack) -> None:
        self._contexts = contexts
        self._kept: dict[Hashable, Any] = {}

    def keep(self, key: Hashable, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return what is kept under a key: entered the first time, left at the end of the work."""
        if key not in self._kept:
            self._kept[key] = self._contexts.enter_context(make())
        return cast(T, self._kept[key])


_current: ContextVar[Work | None] = ContextVar("work", default=None)


@contextmanager
def work() -> Iterator[Work]:
    """Begin a piece of work, or join the one that has begun; the outermost block ends it.

    Examples
    --------
    >>> with work() as fit, work() as part_of_it:
    ...     fit is part_of_it is at_work()
    True
    >>> at_work() is None
    True
    """
    joined = _current.get()
    if joined is not None:
        yield joined
        return
    with ExitStack() as contexts:
        begun = Work(contexts)
        token = _current.set(begun)
        try:
            yield begun
        finally:
            _current.reset(token)


def at_work() -> Work | None:
    """Return the piece of work that has begun, if one has."""
    return _current.get()
