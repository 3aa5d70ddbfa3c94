"""What blanked cells cost: the rise of log loss where test rows lose 5 % of their cells.

Usage: ``python -m benchmarks.blanked_cells [--tables N] [--repeats N]``. Models learn the first
fold of `benchmarks.accuracy` as it is. Cells of its test rows are then blanked at random. Naive
Bayes leaves a missing cell out; the pipelines of scikit-learn put the median, and a category of its
own, in its place, and boosting has a branch for it. A cell is the rise in nats a row, mean over
repeats, with its standard error; a model that is too sure may gain. The last line has the log loss
of the rows as they are.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from benchmarks.accuracy import APART, LEAST, PEERS, Rows, tables
from suffice import AODE, AutoClassifier, NaiveBayes

BLANKED = 0.05
MOST_ROWS = 9_000
METHODS = {
    "none": lambda _: NaiveBayes(calibration="none"),
    "weights": lambda _: NaiveBayes(),
    "AODE()": lambda _: AODE(),
    "AutoClassifier()": lambda _: AutoClassifier(),
}


def _log_loss(model: Any, asked: Any, labels: NDArray[np.intp]) -> float:
    p = model.predict_proba(asked)
    at = np.full(labels.max() + 1, -1)
    at[model.classes_] = np.arange(len(model.classes_))
    place = at[labels]
    own = np.where(place >= 0, p[np.arange(len(p)), place], 0.0)
    return float(-np.log(np.maximum(own, LEAST)).mean())


def _blanked(table: pa.Table, rng: np.random.Generator) -> pa.Table:
    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        keep = pa.array(rng.random(len(table)) >= BLANKED)
        columns[name] = pa.compute.if_else(keep, column, pa.scalar(None, column.type))
    return pa.table(columns)


def _as_doubles(table: pa.Table) -> pa.Table:
    return pa.table(
        {
            name: column if pa.types.is_string(column.type) else column.cast(pa.float64())
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


def losses_of(rows: Rows, repeats: int) -> dict[str, NDArray[np.float64]]:
    """The log loss of the rows as they are and of every repeat, by method, (1 + repeats,)."""
    table, (train, test) = _as_doubles(rows.table), rows.folds[0]
    rng = np.random.default_rng(0)
    clean, labels = table.take(test), rows.labels[test]
    blanked = [_blanked(clean, rng) for _ in range(repeats)]
    found = {}
    for name, make in {**METHODS, **PEERS}.items():
        frame = name in PEERS
        model = make(table)
        learnt = table.take(train)
        model.fit(learnt.to_pandas() if frame else learnt, rows.labels[train])
        losses = [
            _log_loss(model, asked.to_pandas() if frame else asked, labels)
            for asked in (clean, *blanked)
        ]
        found[name] = np.array(losses)
    return found


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=10)
    parser.add_argument("--repeats", type=int, default=20)
    options = parser.parse_args()
    names = [*METHODS, *PEERS]
    print(f"| table | {' | '.join(names)} |", f"|---|{'---|' * len(names)}", sep="\n")
    means = []
    chosen = (rows for rows in tables() if rows.name not in APART and len(rows.labels) < MOST_ROWS)
    for rows, _ in zip(chosen, range(options.tables), strict=False):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = losses_of(rows, options.repeats)
        means.append([found[name] for name in names])
        cells = [_shown(found[name]) for name in names]
        print(f"| {rows.name} | {' | '.join(cells)} |", flush=True)
    over = np.array(means).mean(axis=0)  # (methods, 1 + repeats)
    print(f"| **mean** | {' | '.join(map(_shown, over))} |")
    print(f"| mean log loss, no cell blanked | {' | '.join(f'{own[0]:.4f}' for own in over)} |")


def _shown(losses: NDArray[np.float64]) -> str:
    rise = losses[1:] - losses[0]
    return f"{rise.mean():.4f} ± {rise.std(ddof=1) / np.sqrt(len(rise)):.4f}"


if __name__ == "__main__":
    main()
