"""Tasks beside their peers: ``python -m benchmarks [NAME ...] [--quick] [--json FILE]``.

Both calls run in one process, in turns; **ratio** is the peer's seconds over ours, by processor
time and by the clock. **MB** is the peak over input and result, in a fresh process for either.
"""

from __future__ import annotations

import json
import os
import platform
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.measure import Seconds, fresh_process, in_turns
from benchmarks.tasks import BY_NAME, Task, memory_of

QUICK, FEWEST_ROWS = 100, 150
WIDTHS = (
    *(("task", 19), ("peer", 8), ("rows", 9)),
    *(("ours, CPU ms", 12), ("theirs", 8), ("ratio", 6)),
    *(("ours, wall ms", 13), ("theirs", 8), ("ratio", 6)),
    *(("MB", 6), ("theirs", 6), ("asked", 24)),
)


@dataclass(frozen=True)
class Result:
    """Seconds and MB of both calls of a task; None where there is nothing to measure."""

    task: Task
    rows: int
    ours: Seconds | None = None
    theirs: Seconds | None = None
    memory: float | None = None
    their_memory: float | None = None
    absent: str = ""

    def ratio(self, clock: str) -> float | None:
        if self.ours is None or self.theirs is None:
            return None
        ratio: float = getattr(self.theirs, clock) / getattr(self.ours, clock)
        return ratio

    def verdicts(self) -> list[str]:
        """Return what is asked, what was measured, and whether it is enough."""
        found: list[str] = []
        if self.rows < self.task.n:
            return found  # few rows say nothing about what is asked of many
        for clock, least in self.task.asked.items():
            if (ratio := self.ratio(clock)) is not None:
                met = "pass" if ratio >= least else "short"
                found.append(f"{clock} ≥ {least:.3g}: {ratio:.3g} {met}")
        most = self.task.most
        if most is not None and self.memory is not None:
            met = "pass" if self.memory <= most else "short"
            found.append(f"MB ≤ {most:g}: {self.memory:.3g} {met}")
        return found

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.task.name,
            "peer": self.task.peer,
            "rows": self.rows,
            "ours": self.ours and self.ours._asdict(),
            "theirs": self.theirs and self.theirs._asdict(),
            "ratio": {clock: self.ratio(clock) for clock in ("cpu", "wall")},
            "memory": self.memory,
            "their_memory": self.their_memory,
            "asked": self.verdicts(),
            "absent": self.absent,
        }

    def cells(self) -> list[str]:
        cells = [self.task.name, self.task.peer, f"{self.rows:,}" if self.rows else ""]
        for clock in ("cpu", "wall"):
            seconds = [one and getattr(one, clock) for one in (self.ours, self.theirs)]
            cells += ["" if one is None else f"{one * 1e3:,.4g}" for one in seconds]
            cells.append(_short(self.ratio(clock)))
        cells += [_short(self.memory), _short(self.their_memory)]
        return [*cells, f"skipped: {self.absent}" if self.absent else "; ".join(self.verdicts())]


def measure(task: Task, n: int, pool: ProcessPoolExecutor, once: bool) -> Result:
    """Time a task on n rows; measure its memory in fresh processes."""
    works, absent = {}, ""
    try:
        given = task.make(n)
        for side, prepare in zip(("ours", "theirs"), task.calls, strict=True):
            works[side] = prepare(given)
    except (ImportError, FileNotFoundError) as error:
        absent = str(error)
    seconds = in_turns(works, once) if works else {}
    if "theirs" in seconds:
        seconds["theirs"] = Seconds(*(one / task.share for one in seconds["theirs"]))
    memory: list[float | None] = [None, None]
    if task.most is not None:
        memory = [pool.submit(memory_of, task.name, side, n).result() for side in (0, 1)]
    times = seconds.get("ours"), seconds.get("theirs")
    return Result(task, n, *times, *memory, absent)


def measured(tasks: Sequence[Task], quick: bool) -> Iterator[Result]:
    """Measure task by task."""
    with fresh_process(["benchmarks.tasks"]) as pool:
        for task in tasks:
            small = task.quick or max(task.n // QUICK, FEWEST_ROWS)
            yield measure(task, small if quick and task.n else task.n, pool, quick)


def environment() -> dict[str, Any]:
    """Return what the figures depend on besides the code."""
    libraries = ("suffice", "scikit-learn", "numpy", "scipy")
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in libraries},
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": os.getloadavg(),
    }


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    for line in cpuinfo.read_text().splitlines() if cpuinfo.exists() else ():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _short(number: float | None) -> str:
    return "" if number is None else f"{number:,.3g}" if number < 1000 else f"{number:,.0f}"


def _line(cells: Sequence[str]) -> str:
    padded = (cell.ljust(width) for cell, (_, width) in zip(cells, WIDTHS, strict=True))
    return f"| {' | '.join(padded)} |"


def main() -> None:
    """Measure, print, and write what was measured."""
    parser = ArgumentParser("python -m benchmarks", description=__doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BY_NAME)}")
    parser.add_argument("--quick", action="store_true", help="everything small")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    if unknown := set(options.names) - set(BY_NAME):
        parser.error(f"no task {', '.join(sorted(unknown))}; there are {', '.join(BY_NAME)}")
    where = environment()
    print(*(f"{key} {value}" for key, value in where.items()), sep="; ")
    print("", _line([name for name, _ in WIDTHS]), sep="\n")
    print(_line(["-" * width for _, width in WIDTHS]))
    found = []
    chosen = [BY_NAME[name] for name in BY_NAME if name in (options.names or BY_NAME)]
    for result in measured(chosen, options.quick):
        found.append(result.to_json())
        print(_line(result.cells()), flush=True)
    if options.json:
        content = {"environment": where, "quick": options.quick, "tasks": found}
        options.json.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n")


if __name__ == "__main__":
    main()
