"""What rows without a label are worth: ten labelled rows of each class, the others without.

Usage: ``python -m benchmarks.unlabelled_rows [NAME ...]``. Of the first fold of
`benchmarks.accuracy`, and of SMS messages, ten rows of each class keep their label, drawn four
times. A cell is the mean error % / log loss in nats of the rows of the fold, with the other rows
left out (``unlabelled="drop"``) and with them (``"em"``).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn.model_selection import StratifiedKFold

from benchmarks.accuracy import APART, DATA, LEAST, Rows, tables
from suffice import NaiveBayes

LABELLED = 10  # of each class
REPEATS = 4
MOST_ROWS = 9_000
METHODS = {
    "textbook": NaiveBayes.textbook,
    "NaiveBayes()": NaiveBayes,
}


def messages() -> Rows:
    """Short messages, spam or not."""
    (path,) = (one for one in (DATA / "sms_spam").iterdir() if "." not in one.name)
    lines = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines()]
    codes = np.unique([label for label, _ in lines], return_inverse=True)[1]
    folds = StratifiedKFold(5, shuffle=True, random_state=17).split(codes, codes)
    return Rows("sms_spam", pa.table({"text": [text for _, text in lines]}), codes, list(folds)[:1])


def losses_of(rows: Rows, make: Any, unlabelled: str) -> tuple[float, float]:
    """Error and log loss, the means of all repeats."""
    found, (train, test) = [], rows.folds[0]
    for repeat in range(REPEATS):
        order = np.random.default_rng(repeat).permutation(train)
        known = np.zeros(len(rows.labels), np.bool_)
        for c in range(rows.labels.max() + 1):
            known[order[rows.labels[order] == c][:LABELLED]] = True
        labels = pa.array(rows.labels[order], mask=~known[order])
        model = make(unlabelled=unlabelled).fit(rows.table.take(order), labels)
        p = model.predict_proba(rows.table.take(test))
        place = np.searchsorted(model.classes_, rows.labels[test])
        own = np.maximum(p[np.arange(len(p)), place], LEAST)
        found.append((100 * (p.argmax(axis=1) != place).mean(), -np.log(own).mean()))
    error, loss = np.mean(found, axis=0).tolist()
    return error, loss


def _tables() -> Iterator[Rows]:
    yield messages()
    yield from (one for one in tables() if one.name not in APART and len(one.labels) < MOST_ROWS)


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="tables; all by default")
    options = parser.parse_args()
    heads = [f"{name}, {how}" for name in METHODS for how in ("drop", "em")]
    print(f"| table | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}", sep="\n")
    every = []
    for rows in _tables():
        if options.names and rows.name not in options.names:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            line = [losses_of(rows, m, how) for m in METHODS.values() for how in ("drop", "em")]
        every.append(line)
        cells = " | ".join(f"{error:.1f} / {loss:.3f}" for error, loss in line)
        print(f"| {rows.name} | {cells} |", flush=True)
    means = " | ".join(f"{error:.1f} / {loss:.3f}" for error, loss in np.mean(every, axis=0))
    print(f"| **mean of {len(every)}** | {means} |")


if __name__ == "__main__":
    main()
