"""What one fit keeps from its first pass over the rows to its last.

An engine holds settings only, and a fit may need several passes. `FitContext` holds what has to
last until the fit ends: clusters that it started, temporary files, the checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any, TypeVar, cast

__all__ = ["FitContext", "current_fit", "fit_context"]

T = TypeVar("T")


class FitContext(ExitStack):
    """What engines keep while a piece of work lasts."""

    @cached_property
    def _kept(self) -> dict[Hashable, Any]:
        return {}

    def keep(self, key: Hashable, make: Callable[[], AbstractContextManager[T]]) -> T:
        """Return what is kept under a key: entered the first time, left at the end of the work."""
        if key not in self._kept:
            self._kept[key] = self.enter_context(make())
        return cast(T, self._kept[key])


_current: ContextVar[FitContext | None] = ContextVar("fit_context", default=None)


@contextmanager
def fit_context(learner: Any = None) -> Iterator[FitContext]:
    """Begin a piece of work, or join the one that has begun; the outermost block ends it.

    A learner whose work fails half-way is again what it was before.

    Examples
    --------
    >>> with fit_context() as fit, fit_context() as part_of_it:
    ...     fit is part_of_it is current_fit()
    True
    >>> current_fit() is None
    True
    """
    before = None if learner is None else vars(learner).copy()
    joined = _current.get()
    try:
        if joined is not None:
            yield joined
            return
        with FitContext() as begun:
            token = _current.set(begun)
            try:
                yield begun
            finally:
                _current.reset(token)
    except BaseException:
        if before is not None:
            learner.__dict__ = before
        raise


def current_fit() -> FitContext | None:
    """Return the piece of work that has begun, if one has."""
    return _current.get()
