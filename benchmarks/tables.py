"""The tables of times beside those of other libraries, and what their columns mean."""

from __future__ import annotations

from benchmarks.growth import Growth
from benchmarks.peers import Compared
from benchmarks.report import Table, milliseconds, significant
from benchmarks.result import Result

__all__ = ["ABOUT", "GROWTH", "PEERS", "SIZES", "TASKS"]

ABOUT = """\
Every figure is the median of at least 5 runs (3 where scikit-learn takes more than 3 s), ours and
theirs in turns in one process, after a run of each to warm up.

- **ratio**: scikit-learn's time over ours; more than 1 means that Suffice is faster.
- **floor**: the time of one pass that only reads the same input (for a fit the labels too), in
  pieces of 8 MB on as many threads as Suffice uses. No fit that reads its input can take less;
  **x floor** is our time over it.
- **MB**: peak resident memory during the call, less what was there before (the input, the imports,
  the compiled kernels) and less the result, in a fresh process for each.
- **target**: what is asked of a figure, then the figure. `ratio` and `memory` are the columns;
  `floors` is x floor; `fits` our time over that of our `fit` of the same rows; `theirs` our time
  over theirs; `seconds` our time.
- **load**: load average of the last minute when the task began. More than the cores that the task
  itself keeps busy means that other work took part of the machine.
"""


def _whole(megabytes: float | None) -> str:
    return "" if megabytes is None else f"{megabytes:,.1f}"


def _figures(result: Result) -> list[str]:
    return [
        milliseconds(result.ours),
        milliseconds(result.theirs),
        significant(result.ratio),
        milliseconds(result.floor),
        significant(result.floors),
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
        " · ".join(map(milliseconds, growth.ours)),
        f"{ours:.2f}",
        " · ".join(map(milliseconds, growth.theirs)),
        f"{theirs:.2f}",
    ]


def _peer_cells(compared: Compared) -> list[str]:
    if compared.ours is None or compared.theirs is None:
        return [compared.peer, compared.rows, "", "", f"skipped: {compared.absent}"]
    ratio = significant(compared.theirs / compared.ours)
    times = [milliseconds(compared.ours), milliseconds(compared.theirs)]
    return [compared.peer, compared.rows, *times, ratio]


FIGURES = (("ours, ms", 9), ("theirs, ms", 10), ("ratio", 5), ("floor, ms", 9), ("x floor", 7))
TASKS = Table(
    "Tasks",
    (
        ("task", 22),
        ("call", 45),
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
