"""Measuring one task."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.measure.floor import reading
from benchmarks.measure.memory import peak
from benchmarks.measure.task import Library, Target, Task
from benchmarks.measure.timing import medians

__all__ = ["Result", "measure"]

WARM_ROWS = 1_000
MB = 1e6


@dataclass(frozen=True)
class Result:
    """Medians in seconds, peaks in MB; None where there is nothing to measure."""

    name: str
    what: str
    rows: str
    ours: float
    theirs: float
    floor: float | None = None
    ours_memory: float | None = None
    theirs_memory: float | None = None
    fit: float | None = None
    targets: tuple[Target, ...] = ()
    load: float = 0.0

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    @property
    def floors(self) -> float | None:
        return None if self.floor is None else self.ours / self.floor

    def verdicts(self) -> list[str]:
        """Every target with the figure measured, and whether it is met."""
        return [
            target.verdict(figure)
            for target in self.targets
            if (figure := self._figure(target)) is not None
        ]

    def to_json(self) -> dict[str, Any]:
        content = asdict(self)
        content["targets"] = self.verdicts()
        return content | {"ratio": self.ratio, "floors": self.floors}

    def _figure(self, target: Target) -> float | None:
        return {
            "ratio": self.ratio,
            "floors": self.floors,
            "fits": None if self.fit is None else self.ours / self.fit,
            "theirs": self.ours / self.theirs,
            "seconds": self.ours,
            "memory": self.ours_memory,
        }[target.figure]


def measure(task: Task, n: int, pool: ProcessPoolExecutor | None) -> Result:
    """Time a task on n rows beside scikit-learn and the floor; measure its memory in the pool."""
    given, work = task.make(n), task.work
    calls = {
        "ours": work.call("suffice", given),
        "theirs": work.call("sklearn", given),
        "floor": reading(given.table + [given.y] * work.learns),
    }
    if any(target.figure == "fits" for target in task.targets):
        calls["fit"] = replace(work, name="fit").call("suffice", given)
    load = os.getloadavg()[0]
    seconds = medians(calls)
    return Result(
        name=task.name,
        what=str(work),
        rows=f"{given.shape} {given.x.dtype}{' F' * _is_fortran(given.x)}",
        targets=task.targets,
        load=load,
        ours=seconds["ours"],
        theirs=seconds["theirs"],
        floor=seconds["floor"],
        fit=seconds.get("fit"),
        ours_memory=_megabytes(task, "suffice", n, pool),
        theirs_memory=_megabytes(task, "sklearn", n, pool),
    )


def _megabytes(
    task: Task, library: Library, n: int, pool: ProcessPoolExecutor | None
) -> float | None:
    found = None if pool is None else pool.submit(memory_of, task, library, n).result()
    return None if found is None else found / MB


def memory_of(task: Task, library: Library, n: int) -> int | None:
    """Bytes at the peak of a task; runs in a fresh process."""
    small, given = task.make(WARM_ROWS), task.make(n)
    return peak(task.work.call(library, small), task.work.call(library, given))


def _is_fortran(x: Any) -> bool:
    flags = getattr(x, "flags", None)
    return flags is not None and flags.f_contiguous and not flags.c_contiguous
