"""Work that is begun ahead of who takes its results."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from typing import TypeVar

U = TypeVar("U")
T = TypeVar("T")
R = TypeVar("R")


def in_order(
    begin: Callable[[U], T],
    items: Iterable[U],
    ahead: int,
    take: Callable[[deque[T]], R],
    drop: Callable[[deque[T]], object],
) -> Generator[R]:
    """Begin work on items, no more than so many ahead, and yield its results in their order.

    ``take`` removes the first of what has begun, and waits for its result; ``drop`` lets go of what
    is not asked for any more.
    """
    pending: deque[T] = deque()
    try:
        for item in items:
            pending.append(begin(item))
            if len(pending) > ahead:
                yield take(pending)
        while pending:
            yield take(pending)
    finally:
        drop(pending)
