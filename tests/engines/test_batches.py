"""Batches are answered in order, and by one worker here only when they are asked for."""

from __future__ import annotations

from operator import attrgetter

import numpy as np
import pytest

from suffice.data.array_source import ArraySource
from suffice.data.schema import BlockLayout, Layout
from suffice.engines.engine import map_batches
from suffice.engines.executor import ProcessesEngine
from suffice.engines.local import LocalEngine
from suffice.engines.progress import WatchedEngine

ROWS = 200_000
LAYOUT = Layout((BlockLayout("real", ("x",)),), ())


def source() -> ArraySource:
    return ArraySource(np.arange(float(ROWS))[:, None], ("x",), None, None)


@pytest.mark.parametrize(
    "engine",
    [
        LocalEngine(1),
        LocalEngine(3),
        ProcessesEngine(2),
        WatchedEngine(LocalEngine(1), lambda _: None),
        WatchedEngine(LocalEngine(2), lambda _: None),
    ],
)
def test_every_row_is_answered_in_order(engine: LocalEngine) -> None:
    done = 0
    # A function of the standard library: worker processes cannot import this file.
    for (block,) in map_batches(engine, attrgetter("blocks"), source(), LAYOUT):
        assert block.values[0, 0] == done
        done += len(block.values)
    assert done == ROWS


def test_one_worker_here_reads_when_it_is_asked() -> None:
    read: list[int] = []
    answers = map_batches(LocalEngine(1), lambda batch: read.append(batch.rows), source(), LAYOUT)
    assert read == []
    next(answers)
    assert len(read) == 1
