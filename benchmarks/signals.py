"""Longest time between two checks for signals, call by call: ``python -m benchmarks.signals``.

A timer sends a signal every two milliseconds; its handler runs where Ctrl-C would be heard, and
says how much processor time the thread has used since it ran last, and at which line. Other work on
the machine does not count. Each call runs in a process of its own, with one thread, so that all of
it is seen.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import numpy as np

import suffice
from suffice import model_selection

EVERY = 0.002  # seconds
SOURCES = Path(suffice.__file__).parent
DISCRIMINANTS = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"


@dataclass(frozen=True)
class Case:
    """A model of some rows, and what is done with it: verbs, or functions of model selection."""

    model: str
    n: int
    d: int
    k: int = 2
    missing: float = 0.0
    verbs: tuple[str, ...] = ("fit", "predict", "evaluate", "save", "load")
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The model with what is special."""
        special = [f"{key}={value!r}" for key, value in self.options.items()]
        special += ["missing cells"] if self.missing else []
        return f"{self.model}({', '.join(special)})" if special else self.model


def _cases() -> Iterator[Case]:
    few = ("fit", "predict")
    yield from (Case("NaiveBayes", n, d) for n, d in ((1_000_000, 20), (20_000, 2_000)))
    yield Case("NaiveBayes.textbook", 60_000, 2_000)
    yield Case("NaiveBayes.textbook", 50_000, 20, 10_000, verbs=("fit", "save", "load"))
    yield Case("NaiveBayes.textbook", 50_000, 20, 2_000, verbs=("fit", "predict", "evaluate"))
    yield Case("NaiveBayes", 100_000, 20, 1_000, verbs=("fit",))
    for name in DISCRIMINANTS:
        yield from (Case(name, n, d) for n, d in ((100_000, 300), (10_000, 1_000)))
        yield Case(name, 20_000, 30, missing=0.1, verbs=few)
    yield Case("LinearDiscriminantAnalysis", 6_000, 2_000)
    yield Case("LinearDiscriminantAnalysis", 50_000, 100, 1_000, verbs=few)
    yield Case("LinearDiscriminantAnalysis", 5_000, 500, options={"shrinkage": "auto"}, verbs=few)
    yield Case("RegularizedDiscriminantAnalysis", 20_000, 300, verbs=few)
    yield from (Case("LogisticRegression", n, d) for n, d in ((300_000, 20), (20_000, 300)))
    yield Case("LogisticRegression", 6_000, 2_000, verbs=few)
    yield Case("LogisticRegression", 20_000, 50, 30, verbs=few)
    yield Case("LogisticRegression", 20_000, 300, options={"penalty": "l1"}, verbs=few)
    yield from (Case("LinearRegression", n, d) for n, d in ((100_000, 300), (6_000, 2_000)))
    yield Case("Ridge", 20_000, 500, options={"alpha": "gcv"}, verbs=few)
    yield Case("Lasso", 10_000, 1_000, options={"alpha": 0.01}, verbs=few)
    yield Case("AODE", 20_000, 50, verbs=few)
    yield from (
        Case("AutoClassifier", n, d, verbs=("fit",)) for n, d in ((10_000, 30), (2_000, 500))
    )
    for name, d in (("NaiveBayes", 30), (DISCRIMINANTS[0], 300), ("LogisticRegression", 50)):
        yield Case(name, 20_000, d, verbs=("evaluate_folds", "cross_validate"))
    for name, d in (("NaiveBayes.textbook", 30), (DISCRIMINANTS[0], 100)):
        yield Case(name, 5_000, d, verbs=("permutation_test_score", "learning_curve"))
    yield Case(DISCRIMINANTS[0], 10_000, 300, verbs=("leave one out",))


CASES = tuple(_cases())


class Gaps:
    """The longest time between two runs of a handler, and the line where the second ran."""

    def __init__(self) -> None:
        self.longest, self.where = 0.0, ""
        self._before = time.thread_time()

    def __call__(self, _: int, frame: FrameType | None) -> None:
        """Note the time, and the innermost line of the library."""
        gap = time.thread_time() - self._before
        if gap > self.longest:
            self.longest, self.where = gap, _line(frame)
        self._before = time.thread_time()


def _line(frame: FrameType | None) -> str:
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        if path.is_relative_to(SOURCES):
            return f"{path.relative_to(SOURCES)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def longest_gap(call: Callable[[], object]) -> tuple[float, Gaps]:
    """Seconds of processor that a call takes, and the longest gap."""
    gaps, begun = Gaps(), time.process_time()
    signal.signal(signal.SIGALRM, gaps)
    signal.setitimer(signal.ITIMER_REAL, EVERY, EVERY)
    call()
    signal.setitimer(signal.ITIMER_REAL, 0)
    return time.process_time() - begun, gaps


def _calls(case: Case, folder: str) -> Iterator[tuple[str, Callable[[], object]]]:
    """What is called, by verb; the model is fitted first if the verbs do not begin with that."""
    random, path = np.random.default_rng(0), Path(folder, "model")
    x, y = random.normal(size=(case.n, case.d)), random.permutation(np.arange(case.n) % case.k)
    x[:, 0] += y % 7
    x[random.random(x.shape) < case.missing] = np.nan
    make: Any = suffice
    for part in case.model.split("."):
        make = getattr(make, part)
    model, target = make(threads=1, **case.options), y.astype(float) if _is_regressor(case) else y
    calls: dict[str, Callable[[], object]] = {
        "fit": lambda: model.fit(x, target),
        "predict": lambda: getattr(model, "predict_proba", model.predict)(x),
        "evaluate": lambda: model.evaluate(x, target),
        "save": lambda: model.save(path),
        "load": lambda: suffice.load(path),
        "leave one out": lambda: model_selection.evaluate_folds(model, x, y, cv="loo"),
    }
    for verb in case.verbs:
        of_folds: Any = getattr(model_selection, verb, None)
        yield verb, calls.get(verb) or (lambda of=of_folds: of(model, x, y))


def _is_regressor(case: Case) -> bool:
    return case.model in ("LinearRegression", "Ridge", "Lasso")


def _run(case: Case) -> None:
    """Print what is found as lines of JSON."""
    warnings.simplefilter("ignore")
    with TemporaryDirectory(prefix="suffice-") as folder:
        for verb, call in _calls(case, folder):
            seconds, gaps = longest_gap(call)
            print(json.dumps([verb, seconds, gaps.longest, gaps.where]), flush=True)


def main() -> None:
    """Print a row for each call."""
    parser = ArgumentParser("python -m benchmarks.signals", description=__doc__)
    parser.add_argument("--case", type=int, metavar="NUMBER", help="only this one, as JSON")
    parser.add_argument("--cases", type=int, nargs="*", metavar="NUMBER", help="only these")
    options = parser.parse_args()
    if options.case is not None:
        _run(CASES[options.case])
        return
    print("| model | rows | columns | classes | call | CPU, s | longest, s | line after it |")
    print(f"|{'---|' * 8}")
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    for number in options.cases or range(len(CASES)):
        case, command = CASES[number], [sys.executable, "-m", "benchmarks.signals", "--case"]
        done = subprocess.run(
            [*command, str(number)], env=environment, stdout=subprocess.PIPE, text=True, check=False
        )
        for verb, seconds, longest, where in map(json.loads, done.stdout.splitlines()):
            table = f"{case.name} | {case.n:,} | {case.d:,} | {case.k:,} | {verb}"
            print(f"| {table} | {seconds:.2f} | {longest:.3f} | {where} |", flush=True)
        if done.returncode:
            print(f"| {case.name} | {case.n:,} | {case.d:,} | ended with {done.returncode} |")


if __name__ == "__main__":
    main()
