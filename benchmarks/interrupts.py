"""Seconds from Ctrl-C to the line after it: ``python -m benchmarks.interrupts``.

A process fits or predicts over and over; SIGINT comes at a drawn moment; it says when its
``except KeyboardInterrupt`` is reached. Both read the clock of the system.
"""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

PROGRAM = """
import sys, time, warnings
import numpy as np
import suffice

warnings.simplefilter("ignore")
name, n, d, verb = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
rng = np.random.default_rng(0)
X, y = rng.normal(size=(n, d)), rng.integers(0, 2, n)
make = getattr(suffice, name)
model = make().fit(X[:5000], y[:5000])
print("begun", flush=True)
try:
    while True:
        model.predict_proba(X) if verb == "predict" else make().fit(X, y)
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""
CASES = (
    ("NaiveBayes", 300_000, 20, "fit"),
    ("NaiveBayes", 1_000_000, 20, "predict"),
    ("LogisticRegression", 300_000, 20, "fit"),
    ("LinearDiscriminantAnalysis", 1_000_000, 20, "fit"),
    ("LinearDiscriminantAnalysis", 600_000, 300, "fit"),
    ("LinearDiscriminantAnalysis", 30_000, 1_000, "fit"),
)
MOMENTS = 7


def waits(name: str, n: int, d: int, verb: str, seed: int = 0) -> Iterator[float]:
    """Seconds until the interrupt is heard, of as many processes as there are moments."""
    drawn = random.Random(seed)
    command = [sys.executable, "-c", PROGRAM, name, str(n), str(d), verb]
    for _ in range(MOMENTS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(drawn.random())
            sent = time.monotonic()
            process.send_signal(signal.SIGINT)
            yield float(process.stdout.readline()) - sent


def main() -> None:
    """Print a row for each case."""
    print("| model | rows | columns | verb | median, s | longest, s |\n|---|---|---|---|---|---|")
    for case in CASES:
        found = sorted(waits(*case))
        name, n, d, verb = case
        middle = found[len(found) // 2]
        print(f"| {name} | {n:,} | {d:,} | {verb} | {middle:.3f} | {found[-1]:.3f} |", flush=True)


if __name__ == "__main__":
    main()
