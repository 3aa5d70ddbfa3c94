"""What one fit keeps from its first pass over the rows to its last.

An engine holds settings only, and a fit may need several passes. `FitContext` holds what has to
last until the fit ends: clusters that it started, temporary files, the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar, cast

__all__ = ["FitContext", "current_fit", "fit_context"]

T = TypeVar("T")


class FitContext:
    """What engines keep while a piece of work lasts."""

    def __init__(self, contexts: ExitStack) -> None:
        self._contexts = contexts
        self._kept: dict[Hashable, Any] = {}

    def keep(self, key: Hashable, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return what is kept under a key: entered the first time, left at the end of the work."""
        if key not in self._kept:
            self._kept[key] = self._contexts.enter_context(make())
        return cast(T, self._kept[key])


_current: ContextVar[FitContext | None] = ContextVar("fit_context", default=None)


@contextmanager
def fit_context() -> Iterator[FitContext]:
    """Begin a piece of work, or join the one that has begun; the outermost block ends it.

    Examples
    --------
    >>> with fit_context() as fit, fit_context() as part_of_it:
    ...     fit is part_of_it is current_fit()
    True
    >>> current_fit() is None
    True
    """
    joined = _current.get()
    if joined is not None:
        yield joined
        return
    with ExitStack() as contexts:
        begun = FitContext(contexts)
        token = _current.set(begun)
        try:
            yield begun
        finally:
            _current.reset(token)


def current_fit() -> FitContext | None:
    """Return the piece of work that has begun, if one has."""
    return _current.get()
