"""Print how many functions and files of the package a fit enters, and how often it opens its file.

Usage: ``python -m benchmarks.entered``. Every estimator is fitted once before it is traced, so that
what is done once in a process (imports, caches) does not count. Functions are those with a name;
comprehensions and lambdas belong to the function around them.
"""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

ROWS = 150


def main() -> None:
    """Trace fits, and print a line for each."""
    warnings.simplefilter("ignore")
    print(f"{'':32}{'functions':>10}{'files':>7}{'opened':>8}")
    with TemporaryDirectory() as folder:
        for name, fit in fits(Path(folder)).items():
            functions, opened = entered(fit)
            files = {file for file, _, _ in functions}
            print(f"{name:32}{len(functions):>10}{len(files):>7}{opened or '':>8}")


def fits(folder: Path) -> dict[str, Callable[[], Any]]:
    """Return what is traced, by name."""
    import pandas as pd
    from sklearn.datasets import load_iris

    from suffice import NaiveBayes
    from suffice.linear_model import LinearRegression, LogisticRegression
    from suffice.naive_bayes import GaussianNB

    x, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(x[:ROWS], columns=["a", "b", "c", "d"])
    frame["kind"] = pd.Series(y).map({0: "setosa", 1: "versicolor", 2: "virginica"})
    path = str(folder / "iris.csv")
    frame.to_csv(path, index=False)
    return {
        "GaussianNB, array": lambda: GaussianNB().fit(x, y),
        "LinearRegression, array": lambda: LinearRegression().fit(x, y),
        "LogisticRegression, array": lambda: LogisticRegression().fit(x, y),
        "NaiveBayes, frame": lambda: NaiveBayes().fit(frame, "kind"),
        "NaiveBayes.textbook, frame": lambda: NaiveBayes.textbook().fit(frame, "kind"),
        "NaiveBayes, CSV": lambda: NaiveBayes().fit(path, "kind"),
    }


def entered(fit: Callable[[], Any]) -> tuple[set[tuple[str, int, str]], int]:
    """Return the functions that a second call enters, and how often it opens a file."""
    from suffice import set_engine

    found: set[tuple[str, int, str]] = set()
    opened = 0

    def noted(frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and "/suffice/" in code.co_filename and code.co_name[0] != "<":
            found.add((code.co_filename, code.co_firstlineno, code.co_name))

    def audited(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal opened
        if tracing and event == "open" and str(arguments[0]).endswith("iris.csv"):
            opened += 1

    tracing = False
    sys.addaudithook(audited)
    with set_engine("local", threads=1):
        fit()
        tracing = True
        threading.setprofile(noted)
        sys.setprofile(noted)
        try:
            fit()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
            tracing = False
    return found, opened


if __name__ == "__main__":
    main()
