"""All that is measured, section by section."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import Any

from benchmarks import report, rows
from benchmarks.fresh import RUNS, first_fit, first_import
from benchmarks.growth import GROWTHS, POINT_ROWS, grow
from benchmarks.memory import fresh_process
from benchmarks.peers import PEERS, compare
from benchmarks.report import Table
from benchmarks.result import Result, measure
from benchmarks.tasks import TASKS, Task

__all__ = ["NAMES", "SECTIONS"]

QUICK = 100  # --quick: sizes are divided by it
FEWEST_ROWS = 150
PEER_ROWS = 10_000
SIZES = ((150, 4), (1_000, 10), (10_000, 20), (100_000, 50), (1_000_000, 50), (10_000_000, 10))
NAMES = (
    *(task.name for task in TASKS),
    "import",
    "first-fit",
    "first-fit-cold",
    "sizes",
    "growth",
    "peers",
)

Section = Callable[[Collection[str], bool], Iterator[Any]]


def _tasks(names: Collection[str], quick: bool) -> Iterator[Result]:
    with fresh_process() as pool:
        for task in TASKS:
            if task.name in names:
                yield measure(task, _rows(task.n, quick), pool)
    yield from _fresh(names, quick)


def _fresh(names: Collection[str], quick: bool) -> Iterator[Result]:
    runs = 1 if quick else RUNS
    if "import" in names:
        yield first_import(runs)
    if "first-fit" in names:
        yield first_fit("numba", runs)
    if "first-fit-cold" in names:
        yield first_fit("", runs)


def _sizes(names: Collection[str], quick: bool) -> Iterator[Result]:
    if "sizes" not in names:
        return
    for n, d in SIZES:
        task = Task("sizes", "GaussianNB", "fit", partial(rows.normal, d=d), n)
        yield measure(task, _rows(n, quick), None)


def _growth(names: Collection[str], quick: bool) -> Iterator[Any]:
    if "growth" in names:
        for growing in GROWTHS:
            for method in ("fit", "predict"):
                yield grow(growing, method, _rows(POINT_ROWS, quick))


def _peers(names: Collection[str], quick: bool) -> Iterator[Any]:
    if "peers" in names:
        given = rows.normal(_rows(PEER_ROWS, quick))
        yield from (compare(peer, given) for peer in PEERS)


def _rows(n: int, quick: bool) -> int:
    return max(n // QUICK, FEWEST_ROWS) if quick else n


SECTIONS: dict[str, tuple[Table, Section]] = {
    "tasks": (report.TASKS, _tasks),
    "sizes": (report.SIZES, _sizes),
    "growth": (report.GROWTH, _growth),
    "peers": (report.PEERS, _peers),
}
