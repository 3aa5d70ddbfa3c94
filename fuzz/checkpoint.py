"""Checkpoints whose digest holds, of other bytes: refused, or the fit goes on and ends.

The first ones are of fits that were stopped after some of their parts. A forged checkpoint may
hold other sums, as a forged model may; it may not crash the fit.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from driver import SCRATCH, fuzz, written
from model_file import mutate, signed

import suffice
from suffice.engines import checkpoint
from suffice.engines.checkpoint import CheckpointedEngine
from suffice.engines.engine import LocalEngine, set_engine

ROWS, BEGUN = SCRATCH / "rows.parquet", SCRATCH / "begun"
PARTS = 6


@dataclass(frozen=True)
class Stopping:
    """An engine that is interrupted after so many results."""

    after: int
    workers = 1
    in_process = True

    def map(self, kernel: Any, params: Any, parts: Sequence[Any]) -> Iterator[Any]:
        """Results one by one."""
        for number, result in enumerate(LocalEngine(1).map(kernel, params, parts)):
            if number == self.after:
                raise KeyboardInterrupt
            yield result


def prepare() -> Path:
    """Write rows, and checkpoints of fits of them that were stopped."""
    random = np.random.default_rng(0)
    columns = {"x": random.normal(size=60), "c": random.choice(["a", "b"], 60)}
    table = pa.table({**columns, "y": np.arange(60) % 2})
    pq.write_table(table, ROWS, row_group_size=60 // PARTS)
    BEGUN.mkdir()
    checkpoint.SHARE = float("inf")  # written after every result
    for after in range(1, PARTS):
        path = BEGUN / str(after)
        try:
            with set_engine(CheckpointedEngine(Stopping(after), path, every=0.0)):
                suffice.NaiveBayes().fit(ROWS, "y")
        except KeyboardInterrupt:
            continue
    assert len(list(BEGUN.iterdir())) == PARTS - 1
    return BEGUN


def go_on(data: bytes) -> None:
    """Take a fit up from a checkpoint."""
    path = written("fit.checkpoint", signed(data))
    engine = CheckpointedEngine(LocalEngine(1), path, every=1e9)
    with set_engine(engine):
        suffice.NaiveBayes().fit(ROWS, "y").predict(ROWS)


if __name__ == "__main__":
    fuzz(go_on, prepare(), mutate)
