"""The cost model of docs/scaling.md: from measured parameters to seconds of a fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import ceil, log2

FAN_IN = 8  # sums added at a time by workers

__all__ = ["Cluster", "Merge", "Overhead", "Prediction", "Speed", "Work", "predict"]

TASKS, RESULTS, PIECE = 4, 256, 1 << 18  # as in suffice/engines/spark.py, which needs Spark


@dataclass(frozen=True)
class Speed:
    """Seconds of a pass on one machine, by its parts.

    Parameters
    ----------
    fixed, split : mapping from a number of busy cores to seconds
        Of a pass, however few rows there are, and of a split, while so many workers are at work,
        each on a core of its own.
    rows, bytes : float
        Of a split.
    """

    fixed: Mapping[int, float]
    split: Mapping[int, float]
    rows: float
    bytes: float

    def of_split(self, workers: int, cores: int) -> float:
        """Seconds of a split where workers share cores."""
        return self.split[self._known(workers, cores)] * max(1.0, workers / cores)

    def of_pass(self, splits: int, workers: int, cores: int) -> float:
        """Seconds of a pass: every worker takes a split, then the next."""
        rounds = ceil(splits / workers)
        return self.fixed[self._known(workers, cores)] + rounds * self.of_split(workers, cores)

    def _known(self, workers: int, cores: int) -> int:
        """The largest number of cores that was measured, up to those that are busy."""
        return max(busy for busy in self.split if busy <= min(workers, cores))


@dataclass(frozen=True)
class Merge:
    """What a statistic costs: bytes on the way, seconds to pack, to open, and to add one."""

    kind: str
    size: str
    bytes: int
    pack: float
    open: float
    add: float


@dataclass(frozen=True)
class Overhead:
    """Seconds of an engine whose kernel does nothing: passes of one split, and of many.

    ``start`` is that of its workers, before the first pass; None where it was not measured.
    """

    engine: str
    workers: int
    statistic: str
    bytes: int | None = None
    splits: int | None = None
    one: float | None = None
    many: float | None = None
    start: float | None = None
    load: float = 0.0
    absent: str | None = None

    @property
    def each(self) -> float | None:
        """Seconds of one more split."""
        if self.one is None or self.many is None or self.splits is None:
            return None
        return max(self.many - self.one, 0.0) / (self.splits - 1)


@dataclass(frozen=True)
class Cluster:
    """Machines, and what is assumed of them.

    Parameters
    ----------
    cores : int
        Of a machine; each is a worker.
    reading : float
        Bytes per second that a machine reads.
    bandwidth, latency : float
        Of the network between driver and workers: bytes per second; seconds there and back.
    """

    cores: int = 8
    reading: float = 1.25e9
    bandwidth: float = 1.25e9
    latency: float = 0.5e-3


@dataclass(frozen=True)
class Work:
    """A fit of many rows.

    Parameters
    ----------
    model : str
    splits : int
    split_rows : int
    passes : float
    """

    model: str
    splits: int
    split_rows: int
    passes: float


@dataclass(frozen=True)
class Prediction:
    """Seconds of a fit, all passes together, by what they go into."""

    engine: str
    work: Work
    workers: int
    fixed: float
    computing: float
    storage: float
    driver: float
    merging: float

    @cached_property
    def parts(self) -> dict[str, float]:
        """What may be the bound."""
        return {
            "computing": self.computing,
            "storage": self.storage,
            "driver": self.driver,
            "fixed": self.fixed,
            "merging": self.merging,
        }

    @property
    def seconds(self) -> float:
        """The driver works while the workers read."""
        return self.fixed + max(self.computing, self.storage, self.driver) + self.merging

    @property
    def bound(self) -> str:
        return max(self.parts, key=lambda part: self.parts[part])


def predict(
    work: Work, workers: int, speed: Speed, merge: Merge, overhead: Overhead, cluster: Cluster
) -> Prediction:
    """Seconds of a fit on a cluster whose machines have a worker per core."""
    on_machine = min(workers, cluster.cores)
    share = work.split_rows / speed.rows
    computing = share * speed.of_split(on_machine, cluster.cores)
    storage = share * speed.bytes / (cluster.reading / on_machine)
    fetch = cluster.latency + merge.bytes / cluster.bandwidth + merge.open + merge.add
    if overhead.engine == "spark":
        rounds, fixed, driver, merging = _on_spark(work, workers, merge, overhead, cluster, fetch)
    else:
        rounds, fixed = ceil(work.splits / workers), overhead.one or 0.0
        driver, merging = _by_driver(work, merge, overhead, cluster, fetch)
    seconds = (fixed, rounds * computing, rounds * storage, driver, merging)
    return Prediction(overhead.engine, work, workers, *(work.passes * s for s in seconds))


def _by_driver(
    work: Work, merge: Merge, overhead: Overhead, cluster: Cluster, fetch: float
) -> tuple[float, float]:
    """Dask, whose workers add, and others: the driver's seconds meanwhile, and at the end."""
    each = overhead.each or 0.0
    if overhead.engine != "dask":
        return work.splits * (each + fetch), (ceil(log2(work.splits)) + 1) * merge.add
    levels = ceil(log2(work.splits) / log2(FAN_IN))
    return work.splits * each, levels * _node(merge, cluster) + fetch


def _on_spark(
    work: Work, workers: int, merge: Merge, overhead: Overhead, cluster: Cluster, fetch: float
) -> tuple[int, float, float, float]:
    """Rounds of splits, and seconds: fixed, of the driver meanwhile, and after the last task."""
    width = 1
    while width * TASKS * workers < work.splits:
        width *= 2
    groups, fixed = ceil(work.splits / width), overhead.many or 0.0
    rounds = width * ceil(groups / workers)
    if groups <= RESULTS and merge.bytes <= PIECE:
        return rounds, fixed, 0.0, groups * fetch
    levels = ceil(log2(groups) / log2(FAN_IN))
    stage = overhead.one or 0.0
    return rounds, fixed, 0.0, levels * (stage + _node(merge, cluster)) + fetch


def _node(merge: Merge, cluster: Cluster) -> float:
    """Seconds in which a worker fetches and adds `FAN_IN` statistics, one after the other."""
    moved = merge.bytes / cluster.bandwidth + merge.open
    return cluster.latency + FAN_IN * moved + (FAN_IN - 1) * merge.add + merge.pack
