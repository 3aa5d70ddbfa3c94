"""Small fits, single rows, and the first answer of a process."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import sklearn.discriminant_analysis
import sklearn.linear_model
import sklearn.naive_bayes

from benchmarks.measure.calls import calls, fresh_seconds, seconds
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import GaussianNB, NaiveBayes

__all__ = ["NAMES", "Small", "measured"]

ANSWER = """
import numpy as np
from {library}.{module} import {name}
x, y = np.random.default_rng(0).normal(size=(150, 4)), np.arange(150) % 3
{name}().fit(x, y).predict_proba(x)
"""
FIRST = {"GaussianNB": "naive_bayes", "LinearDiscriminantAnalysis": "discriminant_analysis"}
COMMANDS = ("help", "fit", "predict", "demo")
TABLE = "size,hue,kind\n" + "1.5,red,apple\n2.5,blue,plum\n1.0,red,apple\n2.0,blue,plum\n" * 80


@dataclass(frozen=True)
class Small:
    """One call, ours and theirs, in seconds of the processor."""

    name: str
    of: str
    ours: float
    theirs: float | None = None
    calls: int | None = None
    switches: int | None = None


def _calls() -> dict[str, tuple[str, int, Callable[[], Any], Callable[[], Any] | None]]:
    """What is called, of what, how often for one mean, by us and by scikit-learn."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(400, 5)), rng.integers(0, 3, 400)
    two = (y > 0).astype(int)
    table = pa.table({**{f"x{j}": column for j, column in enumerate(x.T)}, "y": y})
    iris = rng.normal(size=(150, 4)) + (labels := np.arange(150) % 3)[:, None]
    wide, row = rng.normal(size=(400, 50)), rng.normal(size=(1, 50))
    gaussian, mixed = GaussianNB().fit(wide, y), NaiveBayes.textbook().fit(wide, y)
    mixed_columns = {f"x{j}": column for j, column in enumerate(x.T)}
    mixed_columns |= {f"c{j}": rng.choice(list("abcdef"), 400) for j in range(5)}
    named = NaiveBayes.textbook().fit(mixed_columns, y)
    record = {name: column[0].item() for name, column in mixed_columns.items()}
    axes = LinearDiscriminantAnalysis().fit(wide, y)
    theirs, theirs_axes = (
        sklearn.naive_bayes.GaussianNB().fit(wide, y),
        sklearn.discriminant_analysis.LinearDiscriminantAnalysis().fit(wide, y),
    )
    their_fit, their_logistic = (
        sklearn.naive_bayes.GaussianNB().fit,
        sklearn.linear_model.LogisticRegression().fit,
    )
    return {
        "nb-array": (
            "NaiveBayes.textbook().fit 400 x 5",
            100,
            lambda: NaiveBayes.textbook().fit(x, y),
            None,
        ),
        "nb-arrow": (
            "the same, an Arrow table",
            50,
            lambda: NaiveBayes.textbook().fit(table, "y"),
            None,
        ),
        "logistic": (
            "LogisticRegression.fit 400 x 5",
            10,
            lambda: LogisticRegression().fit(x, two),
            lambda: their_logistic(x, two),
        ),
        "gaussian-150": (
            "GaussianNB.fit 150 x 4",
            100,
            lambda: GaussianNB().fit(iris, labels),
            lambda: their_fit(iris, labels),
        ),
        "logistic-150": (
            "LogisticRegression.fit 150 x 4",
            10,
            lambda: LogisticRegression().fit(iris, labels),
            lambda: their_logistic(iris, labels),
        ),
        "row-gaussian": (
            "GaussianNB.predict_proba 1 x 50",
            500,
            lambda: gaussian.predict_proba(row),
            lambda: theirs.predict_proba(row),
        ),
        "row-mixed": (
            "NaiveBayes.predict_proba 1 x 50",
            500,
            lambda: mixed.predict_proba(row),
            None,
        ),
        "row-record": (
            "the same, a dict: 5 numbers, 5 strings",
            500,
            lambda: named.predict_proba(record),
            None,
        ),
        "row-lda": (
            "LinearDiscriminantAnalysis, the same",
            200,
            lambda: axes.predict_proba(row),
            lambda: theirs_axes.predict_proba(row),
        ),
    }


CALLS = (
    "nb-array",
    "nb-arrow",
    "logistic",
    "gaussian-150",
    "logistic-150",
    "row-gaussian",
    "row-mixed",
    "row-record",
    "row-lda",
)
NAMES = (*CALLS, *(f"first-{name}" for name in FIRST), *(f"suffice-{name}" for name in COMMANDS))


def measured(names: Collection[str], quick: bool) -> Iterator[Small]:
    """Measure what is named."""
    runs = 1 if quick else 5
    for name, (of, times, ours, theirs) in _calls().items():
        if name in names:
            ours()
            found = seconds([ours, *([theirs] if theirs else [])], 1 if quick else times)
            yield Small(name, of, found[0], found[1] if theirs else None, *calls(ours))
    for name, module in FIRST.items():
        if f"first-{name}" in names:
            programs = [
                ["-c", ANSWER.format(library=library, module=module, name=name)]
                for library in ("suffice", "sklearn")
            ]
            first, second = fresh_seconds(programs, runs)
            yield Small(f"first-{name}", "a fresh process", first, second)
    with tempfile.TemporaryDirectory() as folder:
        for command, words in _commands(Path(folder)).items():
            if f"suffice-{command}" in names:
                (ours_of,) = fresh_seconds([["-m", "suffice", *words]], runs)
                yield Small(f"suffice-{command}", "a fresh process", ours_of)


def _commands(folder: Path) -> dict[str, list[str]]:
    """The words of every command, of a table and a model in a folder."""
    table, model = folder / "fruit.csv", folder / "fruit.suffice"
    table.write_text(TABLE)
    NaiveBayes.textbook().fit(str(table), "kind").save(model)
    fitted, answers = str(folder / "again.suffice"), str(folder / "answers.csv")
    return {
        "help": ["--help"],
        "fit": ["fit", str(table), "--label", "kind", "-o", fitted],
        "predict": ["predict", str(model), str(table), "-o", answers],
        "demo": ["demo"],
    }
