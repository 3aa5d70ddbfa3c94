"""Tables for the terminal and for Markdown, and what they were measured on."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.floor import THREADS
from benchmarks.growth import Growth
from benchmarks.peers import Compared
from benchmarks.result import Result

__all__ = ["GROWTH", "PEERS", "SIZES", "TASKS", "Table", "environment", "markdown"]

LIBRARIES = ("suffice", "scikit-learn", "numpy", "scipy", "numba")
EXPLANATION = """\
Every figure is the median of at least 5 runs (3 where scikit-learn takes more than 3 s), ours and
theirs in turns in one process, after a run of each to warm up.

- **ratio**: scikit-learn's time over ours; more than 1 means that Suffice is faster.
- **floor**: the time of one pass that only reads the same input (for a fit the labels too), in
  pieces of 8 MB on as many threads as Suffice uses. No fit that reads its input can take less;
  **x floor** is our time over it.
- **MB**: peak resident memory during the call, less what was there before (the input, the imports,
  the compiled kernels) and less the result, in a fresh process for each.
- **target**: what is asked of a figure, then the figure. `ratio` and `memory` are the columns;
  `floors` is x floor; `fits` our time over that of our `fit` of the same rows; `imports` our time
  over theirs; `seconds` our time.
- **load**: load average of the last minute when the task began. More than the cores that the task
  itself keeps busy means that other work took part of the machine.
"""


@dataclass(frozen=True)
class Table:
    """Columns of fixed width, so that every row can be printed when it is measured."""

    title: str
    columns: tuple[tuple[str, int], ...]
    cells: Callable[[Any], Sequence[str]]

    def header(self) -> list[str]:
        names = self._line([name for name, _ in self.columns])
        return [names, self._line(["-" * width for _, width in self.columns])]

    def row(self, item: Any) -> str:
        return self._line(self.cells(item))

    def lines(self, items: Iterable[Any]) -> list[str]:
        return [f"## {self.title}", "", *self.header(), *map(self.row, items)]

    def _line(self, cells: Sequence[str]) -> str:
        padded = [cell.ljust(width) for cell, (_, width) in zip(cells, self.columns, strict=True)]
        return f"| {' | '.join(padded)} |"


def _milliseconds(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1e3:,.4g}"


def _times(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _whole(megabytes: float | None) -> str:
    return "" if megabytes is None else f"{megabytes:,.1f}"


def _figures(result: Result) -> list[str]:
    return [
        _milliseconds(result.ours),
        _milliseconds(result.theirs),
        _times(result.ratio),
        _milliseconds(result.floor),
        _times(result.floors),
    ]


def _task_cells(result: Result) -> list[str]:
    return [
        result.name,
        result.what,
        result.rows,
        *_figures(result),
        _whole(result.ours_memory),
        _whole(result.theirs_memory),
        f"{result.load:.1f}",
        "; ".join(result.verdicts()),
    ]


def _size_cells(result: Result) -> list[str]:
    return [result.rows, *_figures(result), f"{result.load:.1f}"]


def _growth_cells(growth: Growth) -> list[str]:
    ours, theirs = growth.slopes
    return [
        f"{growth.what}, {growth.size}",
        " · ".join(f"{value:,}" for value in growth.values),
        " · ".join(map(_milliseconds, growth.ours)),
        f"{ours:.2f}",
        " · ".join(map(_milliseconds, growth.theirs)),
        f"{theirs:.2f}",
    ]


def _peer_cells(compared: Compared) -> list[str]:
    if compared.ours is None or compared.theirs is None:
        return [compared.peer, compared.rows, "", "", f"skipped: {compared.absent}"]
    ratio = _times(compared.theirs / compared.ours)
    times = [_milliseconds(compared.ours), _milliseconds(compared.theirs)]
    return [compared.peer, compared.rows, *times, ratio]


FIGURES = (("ours, ms", 9), ("theirs, ms", 10), ("ratio", 5), ("floor, ms", 9), ("x floor", 7))
TASKS = Table(
    "Tasks",
    (
        ("task", 22),
        ("call", 38),
        ("rows", 26),
        *FIGURES,
        ("MB", 6),
        ("theirs, MB", 10),
        ("load", 4),
        ("target", 40),
    ),
    _task_cells,
)
SIZES = Table("GaussianNB.fit at other sizes", (("rows", 24), *FIGURES, ("load", 4)), _size_cells)
GROWTH = Table(
    "Growth: slope of a straight line through log time against log size",
    (
        ("growing", 27),
        ("sizes", 52),
        ("ours, ms", 52),
        ("slope", 5),
        ("theirs, ms", 52),
        ("slope", 5),
    ),
    _growth_cells,
)
PEERS = Table(
    "GaussianNB.fit beside other libraries",
    (("library", 18), ("rows", 14), ("ours, ms", 9), ("theirs, ms", 10), ("ratio", 24)),
    _peer_cells,
)


def environment() -> dict[str, Any]:
    """What the figures depend on besides the code."""
    return {
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
        "processor": _processor(),
        "cores": os.cpu_count(),
        "threads": THREADS,
        "load": os.getloadavg(),
    }


def markdown(sections: Sequence[tuple[Table, Sequence[Any]]], where: dict[str, Any]) -> str:
    """The page with all tables."""
    used = ", ".join(f"{name} {where[name]}" for name in ("python", *LIBRARIES))
    machine = f"{where['processor']}, {where['cores']} cores, {where['threads']} threads"
    loads = " ".join(f"{load:.1f}" for load in where["load"])
    lines = [
        "# Naive Bayes: Suffice beside scikit-learn",
        "",
        f"{used}; {machine}; load average at the start {loads}. Made by "
        "`python -m benchmarks naive-bayes --markdown benchmarks/RESULTS.md`.",
        "",
        EXPLANATION,
    ]
    for table, items in sections:
        lines += [*table.lines(items), ""]
    return "\n".join(lines)


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
