"""All that is measured: suites of sections, each with its table."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from benchmarks import rows, tables
from benchmarks.measure.contests import Entry, hold
from benchmarks.measure.fresh import RUNS, first_fit, first_import
from benchmarks.measure.growth import GROWTHS, POINT_ROWS, grow
from benchmarks.measure.memory import fresh_process
from benchmarks.measure.peers import PEERS, compare
from benchmarks.measure.result import Result, measure
from benchmarks.measure.task import Method, Task
from benchmarks.mixed_file import ROW_GROUP, ROWS
from benchmarks.report import Table
from benchmarks.scaling import predictions
from benchmarks.scaling import sections as scaling
from benchmarks.scaling import tables as scaling_tables
from benchmarks.tasks import discriminant_analysis, engines, linear, naive_bayes, searchlight, small
from benchmarks.trade_offs import cells, findings, overview
from benchmarks.trade_offs.truths import TRUTHS

__all__ = ["SUITES", "Suite"]

QUICK = 100  # --quick: sizes are divided by it
FEWEST_ROWS = 150
PEER_ROWS = 10_000
SIZES = ((150, 4), (1_000, 10), (10_000, 20), (100_000, 50), (1_000_000, 50), (10_000_000, 10))

Section = Callable[[Collection[str], bool], Iterator[Any]]
Measured = Mapping[str, Sequence[Any]]


@dataclass(frozen=True)
class Suite:
    """Sections that make up a chapter of the page, and what can be said of them all.

    Parameters
    ----------
    title, about : str
        The heading, and how to read the tables.
    names : tuple of str
        What ``--only`` chooses among.
    sections : mapping from a name to a table and a generator of its items
    findings : callable
        From the measured items of every section to sentences.
    overview : callable
        From the same to tables that show them at a glance.
    """

    title: str
    about: str
    names: tuple[str, ...]
    sections: Mapping[str, tuple[Table, Section]]
    findings: Callable[[Measured], Sequence[str]] = lambda measured: ()
    overview: Callable[[Measured], Sequence[tuple[Table, Sequence[Any]]]] = lambda measured: ()


def _tasks(tasks: Sequence[Task], names: Collection[str], quick: bool) -> Iterator[Result]:
    with fresh_process() as pool:
        for task in tasks:
            if task.name in names:
                yield measure(task, _rows(task.n, quick), pool)


def _naive_bayes(names: Collection[str], quick: bool) -> Iterator[Result]:
    yield from _tasks(naive_bayes.TASKS, names, quick)
    runs = 1 if quick else RUNS
    if "import" in names:
        yield first_import(runs)
    if "first-fit" in names:
        yield first_fit(runs)


def _sizes(names: Collection[str], quick: bool) -> Iterator[Result]:
    if "sizes" not in names:
        return
    for n, d in SIZES:
        task = Task("sizes", Method("GaussianNB", "fit"), partial(rows.normal, d=d), n)
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


def _contests(names: Collection[str], quick: bool) -> Iterator[Entry]:
    for contest in linear.CONTESTS:
        if contest.name in names:
            yield from hold(contest, _rows(contest.n, quick, 10 * QUICK))


def _footprints(names: Collection[str], quick: bool) -> Iterator[Any]:
    if engines.MEMORY in names:
        sizes = [_rows(n, quick) for n in engines.SIZES]
        yield from engines.footprints(sizes, _rows(ROW_GROUP, quick))


def _times(names: Collection[str], quick: bool) -> Iterator[Any]:
    pairs = [pair for pair in engines.PAIRS if pair.name in names]
    yield from engines.timed(pairs, _rows(ROWS, quick), _rows(ROW_GROUP, quick))


def _power(names: Collection[str], quick: bool) -> Iterator[Any]:
    if searchlight.POWER in names:
        brains = searchlight.BRAINS
        yield from searchlight.found_in_noise(brains // QUICK if quick else brains)


def _cells(sizes: Sequence[cells.Size], names: Collection[str], quick: bool) -> Iterator[Any]:
    if quick:
        return cells.measure(sizes[:2], names, _rows(cells.TEST_ROWS, quick), most_draws=1)
    return cells.measure(sizes, names)


def _scaling(
    measure: Callable[[int, Collection[str]], Iterator[Any]],
    n: int,
    names: Collection[str],
    quick: bool,
) -> Iterator[Any]:
    return measure(_rows(n, quick), names)


def _rows(n: int, quick: bool, share: int = QUICK) -> int:
    return max(n // share, FEWEST_ROWS) if quick else n


SUITES = {
    "naive-bayes": Suite(
        "Naive Bayes beside scikit-learn",
        tables.ABOUT,
        (
            *(task.name for task in naive_bayes.TASKS),
            "import",
            "first-fit",
            "sizes",
            "growth",
            "peers",
        ),
        {
            "tasks": (tables.TASKS, _naive_bayes),
            "sizes": (tables.SIZES, _sizes),
            "growth": (tables.GROWTH, _growth),
            "peers": (tables.PEERS, _peers),
        },
    ),
    "discriminant-analysis": Suite(
        "Discriminant analysis beside scikit-learn",
        tables.ABOUT,
        tuple(task.name for task in discriminant_analysis.TASKS),
        {"tasks": (tables.TASKS, partial(_tasks, discriminant_analysis.TASKS))},
    ),
    "linear": Suite(
        "Linear models beside scikit-learn and scikit-learn-intelex",
        tables.ABOUT,
        (
            *(task.name for task in linear.TASKS),
            *(contest.name for contest in linear.CONTESTS),
        ),
        {
            "tasks": (tables.TASKS, partial(_tasks, linear.TASKS)),
            "contests": (tables.CONTESTS, _contests),
        },
    ),
    "engines": Suite(
        "Files of any size, and engines",
        tables.ABOUT_ENGINES,
        (engines.MEMORY, *(pair.name for pair in engines.PAIRS)),
        {
            "memory": (tables.MEMORY, _footprints),
            "times": (tables.TIMES, _times),
        },
    ),
    "small": Suite(
        "Small fits, single rows, first answers",
        tables.ABOUT_SMALL,
        small.NAMES,
        {"small": (tables.SMALL, small.measured)},
    ),
    "searchlight": Suite(
        "Brain images beside nilearn",
        tables.ABOUT_SEARCHLIGHT,
        (*searchlight.MAPS, searchlight.POWER),
        {"maps": (tables.MAPS, searchlight.maps), "power": (tables.POWER, _power)},
    ),
    "scaling": Suite(
        "The cost model: parameters, check and predictions",
        scaling_tables.ABOUT,
        scaling.NAMES,
        {
            name: (table, partial(_scaling, *scaling.SECTIONS[name]))
            for name, table in scaling_tables.TABLES.items()
        },
        predictions.findings,
        scaling_tables.overview,
    ),
    "trade-offs": Suite(
        "Trade-offs: what textbooks say in words, measured",
        overview.ABOUT,
        tuple(truth.name for truth in TRUTHS),
        {
            "rows": (overview.ROWS, partial(_cells, cells.ROWS)),
            "columns": (overview.COLUMNS, partial(_cells, cells.COLUMNS)),
        },
        findings.findings,
        overview.tables,
    ),
}
