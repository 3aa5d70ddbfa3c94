"""The cells as tables: all of them one by one, and at a glance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

from benchmarks.report import Table, milliseconds
from benchmarks.trade_offs.cells import LIMIT, MOST_DRAWS, TEST_ROWS, Cell, grouped
from benchmarks.trade_offs.methods import METHODS
from benchmarks.trade_offs.truths import TRUTHS

__all__ = ["ABOUT", "COLUMNS", "ROWS", "tables"]

ABSENT = "—"
ABOUT = f"""\
Two classes of equal probability are drawn from distributions that are known:

{chr(10).join(f"- **{truth.name}**: {truth.about}." for truth in TRUTHS)}

Every method learns from the same rows, with the options it comes with (logistic regression with
scikit-learn's penalty), and predicts {TEST_ROWS:,} fresh rows, the same for every n. **best** is
the accuracy on these of the Bayes-optimal rule of the truth (`suffice.BayesClassifier`): no method
beats it but by chance. Accuracies are means, times medians, over up to {MOST_DRAWS} training sets.
Prediction is the time for 1,000 rows. Parameters are the numbers that a fitted model consists of;
nearest neighbours keep all rows. Bytes are those of a pickled model; the models of Suffice hold the
exact sums too, from which they can learn on. {ABSENT} stands where a fit and a prediction were
forecast, from the size before, to take more than {LIMIT:g} s.
"""


def _cells(cell: Cell) -> list[str]:
    figures = [
        milliseconds(cell.training),
        milliseconds(cell.prediction),
        _count(cell.parameters),
        _count(cell.bytes),
        _percent(cell.accuracy),
    ]
    return [
        cell.truth,
        f"{cell.n:,}",
        str(cell.d),
        cell.method,
        *(figure or ABSENT for figure in figures),
        _percent(cell.best),
        cell.reason or "",
    ]


def _count(number: float | None) -> str:
    return "" if number is None else f"{number:,.0f}"


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


FIGURES = (
    ("truth", 11),
    ("rows", 9),
    ("columns", 7),
    ("method", 19),
    ("training, ms", 12),
    ("prediction, ms", 14),
    ("parameters", 10),
    ("bytes", 10),
    ("accuracy", 8),
    ("best", 6),
    ("left out", 8),
)
ROWS = Table("All figures, growing rows", FIGURES, _cells, folded=True)
COLUMNS = Table("All figures, growing columns", FIGURES, _cells, folded=True)

SIZE = (("rows", 9), ("columns", 7))
NAMES = tuple((method.name, 19) for method in METHODS)
ACCURACY = Table("Accuracy", (("truth", 11), *SIZE, *NAMES, ("best", 6)), list)
COSTS = {
    "training": ("Training, ms", milliseconds),
    "prediction": ("Prediction of 1,000 rows, ms", milliseconds),
    "parameters": ("Parameters", _count),
    "bytes": ("Bytes", _count),
}


def tables(measured: Mapping[str, Sequence[Cell]]) -> list[tuple[Table, list[list[str]]]]:
    """Accuracy by truth and size; then what that costs by size, the median over the truths."""
    sweeps = [cells for cells in measured.values() if cells]
    found = [(ACCURACY, [line for cells in sweeps for line in _accuracies(cells)])]
    for figure, (title, text) in COSTS.items():
        lines = [line for cells in sweeps for line in _medians(cells, figure, text)]
        found.append((Table(title, (*SIZE, *NAMES), list), lines))
    return found


def _accuracies(cells: Sequence[Cell]) -> Iterator[list[str]]:
    for (truth, n, d), alike in grouped(cells, "truth", "n", "d").items():
        shown = [_percent(cell.accuracy) or ABSENT for cell in alike]
        yield [truth, f"{n:,}", str(d), *shown, _percent(alike[0].best)]


def _medians(
    cells: Sequence[Cell], figure: str, text: Callable[[float], str]
) -> Iterator[list[str]]:
    for (n, d), alike in grouped(cells, "n", "d").items():
        shown = []
        for of_method in grouped(alike, "method").values():
            values = [getattr(cell, figure) for cell in of_method if cell.reason is None]
            shown.append(text(median(values)) if values else ABSENT)
        yield [f"{n:,}", str(d), *shown]
