"""Seconds from Ctrl-C to the line after it: ``python -m benchmarks.interrupts``.

A process does something over and over; SIGINT comes at a drawn moment; it says when its ``except
KeyboardInterrupt`` is reached. Seconds are of processor time, which all threads of the process used
meanwhile: other work on the machine does not count.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from tempfile import TemporaryDirectory

PROGRAM = """
import sys, time, warnings
import numpy as np
import suffice
from suffice import model_selection

warnings.simplefilter("ignore")
name, n, d, k, verb = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
rng = np.random.default_rng(0)
X, y = rng.normal(size=(n, d)), rng.permutation(np.arange(n) % k)
if verb == "fit missing cells":
    X[rng.random(X.shape) < 0.1] = np.nan
make = getattr(suffice, name)
model = make()
if verb in ("predict_proba", "evaluate", "load"):
    model.fit(X, y)
if verb == "load":
    model.save(sys.argv[6])
calls = {
    "predict_proba": lambda: model.predict_proba(X),
    "evaluate": lambda: model.evaluate(X, y),
    "load": lambda: suffice.load(sys.argv[6]),
    "evaluate_folds": lambda: model_selection.evaluate_folds(model, X, y),
    "permutation_test_score": lambda: model_selection.permutation_test_score(model, X, y),
}
call = calls.get(verb, lambda: make().fit(X, y))
print("begun", flush=True)
try:
    while True:
        call()
except KeyboardInterrupt:
    print(time.process_time(), flush=True)
"""
LDA, QDA = "LinearDiscriminantAnalysis", "QuadraticDiscriminantAnalysis"
CASES = (
    ("NaiveBayes", 300_000, 20, 2, "fit"),
    ("NaiveBayes", 10_000, 2_000, 2, "fit"),
    ("NaiveBayes", 50_000, 20, 10_000, "fit"),
    ("NaiveBayes", 1_000_000, 20, 2, "predict_proba"),
    ("NaiveBayes", 1_000_000, 20, 2, "evaluate"),
    (LDA, 1_000_000, 20, 2, "fit"),
    (LDA, 300_000, 300, 2, "fit"),
    (LDA, 20_000, 1_000, 2, "fit"),
    (LDA, 6_000, 2_000, 2, "fit"),
    (LDA, 2_000, 1_000, 2, "load"),
    (QDA, 20_000, 1_000, 2, "predict_proba"),
    (LDA, 20_000, 30, 2, "fit missing cells"),
    ("LogisticRegression", 300_000, 20, 2, "fit"),
    ("LogisticRegression", 20_000, 300, 2, "fit"),
    ("LogisticRegression", 6_000, 2_000, 2, "fit"),
    ("LinearRegression", 6_000, 2_000, 2, "fit"),
    ("AutoClassifier", 10_000, 30, 2, "fit"),
    (LDA, 20_000, 300, 2, "evaluate_folds"),
    ("NaiveBayes", 5_000, 30, 2, "permutation_test_score"),
)
MOMENTS = 7


def waits(case: tuple[object, ...], folder: str, seed: int = 0) -> Iterator[float]:
    """Processor time until the interrupt is heard, of as many processes as there are moments."""
    drawn = random.Random(seed)
    command = [sys.executable, "-c", PROGRAM, *map(str, case), f"{folder}/model"]
    for _ in range(MOMENTS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(2 * drawn.random())
            sent = time.clock_gettime(_clock_of(process.pid))
            process.send_signal(signal.SIGINT)
            yield float(process.stdout.readline()) - sent


def _clock_of(pid: int) -> int:
    """The clock of the processor time of a process, as Linux numbers it."""
    return (~pid << 3) | 2


def main() -> None:
    """Print a row for each case."""
    parser = ArgumentParser("python -m benchmarks.interrupts", description=__doc__)
    parser.add_argument("--cases", type=int, nargs="*", metavar="NUMBER", help="only these")
    options = parser.parse_args()
    head = ("model", "rows", "columns", "classes", "call", "median, s", "longest, s")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    for number in options.cases or range(len(CASES)):
        name, n, d, k, verb = case = CASES[number]
        with TemporaryDirectory(prefix="suffice-") as folder:
            found = sorted(waits(case, folder))
        figures = f"{found[len(found) // 2]:.3f} | {found[-1]:.3f}"
        print(f"| {name} | {n:,} | {d:,} | {k:,} | {verb} | {figures} |", flush=True)


if __name__ == "__main__":
    main()
