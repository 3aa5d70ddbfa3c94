"""The tables of times beside those of other libraries, and what their columns mean."""

from __future__ import annotations

from benchmarks.measure.contests import Entry
from benchmarks.measure.growth import Growth
from benchmarks.measure.peers import Compared
from benchmarks.measure.result import Result
from benchmarks.report import Table, milliseconds, significant
from benchmarks.tasks.engines import Footprint, Timed
from benchmarks.tasks.searchlight import Found, Mapped
from benchmarks.tasks.small import Small

__all__ = [
    "ABOUT",
    "ABOUT_ENGINES",
    "ABOUT_SEARCHLIGHT",
    "ABOUT_SMALL",
    "CONTESTS",
    "GROWTH",
    "MAPS",
    "MEMORY",
    "PEERS",
    "POWER",
    "SIZES",
    "SMALL",
    "TASKS",
    "TIMES",
]

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

ABOUT_ENGINES = """\
A file of six numbers, four columns of strings (3, 20, 200 and 1,000 levels), 5 % holes and a label,
in row groups of 500,000: what `python -m benchmarks.mixed_file rows.parquet` writes, or `rows.csv`.

- **peak, MB**: peak resident memory of a fresh process that learns from the file by `NaiveBayes`,
  the interpreter and all imports included; **more, MB**: over that of the first file.
- **ours**, **theirs**: medians of at least 5 runs (3 where one takes more than 3 s), in turns in
  one process, after a run of each; clusters are started before. Every engine has as many workers
  as the local engine has threads. Polars computes the counts, sums and sums of squares that the
  fit needs, and nothing else; pyarrow parses the file into columns and lets go of them.
- **times**: our time over theirs; less than 1 means that ours is faster.
- **target**: `memory` is the peak, `more` its distance from that of the first file, either way, and
  `theirs` is times.
"""

ABOUT_SMALL = """\
What a call costs beside its rows, and what a fresh process waits for.

- **ours**, **theirs**: milliseconds of processor time, of all threads. Of calls in one process the
  least of 7 means; of fresh processes the median of 5, from start to end. They take turns.
- **calls**, **switches**: Python calls of one run in our files, and switches between these files.
"""
ABOUT_SEARCHLIGHT = """\
Gaussian naive Bayes around every voxel, 864 volumes of 8 classes in 12 runs, each left out in turn;
nilearn does the same with scikit-learn's GaussianNB. The slice is that of the Haxby study, 530
voxels; the brain has 30,000 that follow those of the slice.

- **ours**, **theirs**: CPU seconds of the process unless said, ours the least of 10 runs of the
  slice; nilearn in one job. For a brain its seconds are reckoned from 192 of its searchlights.
- **MB**: peak resident memory of a fresh process above what the imports take.
- **target**: `ratio` is theirs over ours, `memory` MB, `seconds` ours.
- **power**: brains of noise, 15 x 15 x 15 voxels, 2 classes, 10 runs of 40 volumes; in a region of
  5 x 5 x 5 voxels one class is shifted. A voxel is found where its accuracy is above the threshold
  of 200 permuted maps. *False alarms* are brains with a voxel above it that no cube joins to the
  region, with Wilson's interval of 95 %: 5 % is what the threshold promises.
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


def _contest_cells(entry: Entry) -> list[str]:
    if entry.absent is not None:
        skipped = f"skipped: {entry.absent}"
        return [entry.contest, entry.rows, entry.solver, "", "", "", "", skipped]
    return [
        entry.contest,
        entry.rows,
        entry.solver,
        "" if entry.tol is None else f"{entry.tol:.0e}",
        "" if entry.gradient is None else f"{entry.gradient:.1e}",
        milliseconds(entry.seconds),
        significant(entry.ratio),
        entry.verdict,
    ]


def _footprint_cells(footprint: Footprint) -> list[str]:
    megabytes = map(_whole, (footprint.file, footprint.peak, footprint.more))
    return [f"{footprint.rows:,}", *megabytes, "; ".join(footprint.verdicts())]


def _timed_cells(timed: Timed) -> list[str]:
    skipped = "" if timed.absent is None else f"skipped: {timed.absent}"
    return [
        timed.name,
        timed.ours,
        timed.theirs,
        f"{timed.rows:,}",
        _whole(timed.file),
        milliseconds(timed.our_seconds),
        milliseconds(timed.their_seconds),
        significant(timed.times),
        f"{timed.load:.1f}",
        timed.verdict or skipped,
    ]


def _small_cells(small: Small) -> tuple[str, ...]:
    return (
        small.name,
        small.of,
        milliseconds(small.ours),
        milliseconds(small.theirs),
        significant(None if small.theirs is None else small.theirs / small.ours),
        "" if small.calls is None else str(small.calls),
        "" if small.switches is None else str(small.switches),
    )


def _map_cells(mapped: Mapped) -> list[str]:
    return [
        mapped.name,
        mapped.what,
        "" if mapped.ours is None else f"{mapped.ours:.4g}",
        "" if mapped.theirs is None else f"{mapped.theirs:,.4g}",
        "" if mapped.ratio is None else f"{mapped.ratio:,.0f}",
        _whole(mapped.memory),
        "; ".join(mapped.verdicts()) or (f"skipped: {mapped.absent}" if mapped.absent else ""),
    ]


def _found_cells(found: Found) -> list[str]:
    low, high = found.interval
    return [
        f"{found.shift:.2f}",
        str(found.brains),
        f"{found.found:.1%}",
        f"{found.region:.1%}",
        f"{found.false_alarms:.1%} ({low:.1%} to {high:.1%})",
        f"{found.voxels:.3%}",
    ]


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
CONTESTS = Table(
    "Solvers, each stopped where the relative gradient is below 1e-8; over 3 s from one run",
    (
        ("task", 14),
        ("rows", 16),
        ("solver", 24),
        ("tol", 5),
        ("gradient", 8),
        ("ms", 9),
        ("ratio", 5),
        ("target", 40),
    ),
    _contest_cells,
)
MEMORY = Table(
    "Memory of NaiveBayes.fit",
    (("rows", 10), ("file, MB", 8), ("peak, MB", 8), ("more, MB", 8), ("target", 40)),
    _footprint_cells,
)
TIMES = Table(
    "NaiveBayes.fit beside others, and on engines beside threads",
    (
        ("task", 9),
        ("ours", 14),
        ("theirs", 26),
        ("rows", 10),
        ("file, MB", 8),
        ("ours, ms", 9),
        ("theirs, ms", 10),
        ("times", 5),
        ("load", 4),
        ("target", 24),
    ),
    _timed_cells,
)
SMALL = Table(
    "Small calls beside scikit-learn's",
    (
        ("task", 32),
        ("of", 36),
        ("ours, ms", 8),
        ("theirs, ms", 10),
        ("ratio", 5),
        ("calls", 5),
        ("switches", 8),
    ),
    _small_cells,
)
MAPS = Table(
    "A searchlight beside nilearn's",
    (
        ("task", 5),
        ("from", 27),
        ("ours, s", 8),
        ("theirs, s", 9),
        ("ratio", 5),
        ("MB", 6),
        ("target", 40),
    ),
    _map_cells,
)
POWER = Table(
    "Regions that are planted in noise",
    (
        ("shift, sd", 9),
        ("brains", 6),
        ("found", 6),
        ("of the region", 13),
        ("false alarms", 22),
        ("voxels outside", 14),
    ),
    _found_cells,
)
