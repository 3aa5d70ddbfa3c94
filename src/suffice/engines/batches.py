"""What a function makes of every batch of a source, in order, without keeping it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any, TypeVar

from suffice.data.schema import Layout
from suffice.data.source import Source, Split, each_batch
from suffice.engines.engine import Engine
from suffice.statistics.batch import BATCH_ROWS, Batch

__all__ = ["map_batches"]

R = TypeVar("R")


def map_batches(
    engine: Engine,
    function: Callable[[Batch], R],
    source: Source,
    layout: Layout,
    rows: int = BATCH_ROWS,
) -> Iterator[R]:
    """Yield ``function(batch)`` of every batch, in order.

    One worker in this process reads a batch when its result is asked for. Others answer whole
    splits, of which a bounded number waits.

    Parameters
    ----------
    engine : Engine
    function : callable
        It is sent to workers, so it has to pickle if they are other processes.
    source : Source
    layout : Layout
        How the source is read.
    rows : int
        The most that the function is given at a time.

    Raises
    ------
    DataError
        If a cell breaks a rule.
    """
    lazily = engine.in_process and engine.workers == 1
    splits = source.splits(layout, engine.workers)
    kernel, task = _each if lazily else _all, (layout, function, rows)
    return chain.from_iterable(engine.map(kernel, task, splits))


def _each(split: Split, task: tuple[Layout, Callable[[Batch], Any], int]) -> Iterator[Any]:
    """Kernel that answers a batch when it is asked for."""
    return each_batch(split, *task)


def _all(split: Split, task: tuple[Layout, Callable[[Batch], Any], int]) -> list[Any]:
    """Kernel that answers all batches of a split."""
    return list(each_batch(split, *task))
