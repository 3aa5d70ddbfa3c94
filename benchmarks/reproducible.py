"""What bits cost: ``LogisticRegression(reproducible=True)`` beside the default.

``python -m benchmarks.reproducible`` prints processor time of all threads, the least of some runs
in turns in one process; tables that fit in the last cache of most processors, and such that do not.
"""

from __future__ import annotations

import argparse
import warnings
from time import process_time
from typing import Any

import numpy as np

from suffice.linear_model import LogisticRegression
from suffice.numerics import kernels

CASES = (
    (150, 4, 3),
    (1_000, 10, 2),
    (20_000, 20, 2),
    (60_000, 50, 2),
    (20_000, 20, 5),
    (20_000, 150, 2),
    (6_000, 500, 2),
    (1_000_000, 20, 2),
    (600_000, 50, 2),
    (300_000, 50, 3),
    (400_000, 20, 5),
)
RUNS = 5


def rows(n: int, d: int, k: int) -> tuple[Any, Any]:
    """Normal columns, and labels whose log-odds are linear in them, with noise."""
    random = np.random.default_rng([n, d, k])
    x = random.normal(size=(n, d))
    score = x @ random.normal(size=(d, k)) / d**0.5 + random.gumbel(size=(n, k))
    return x, score.argmax(axis=1)


def seconds(model: Any, x: Any, y: Any) -> float:
    """Processor time of a fit."""
    begun = process_time()
    model.fit(x, y)
    return process_time() - begun


def main() -> None:
    """Print a row for each case."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.reproducible", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="tables of a twentieth of the rows")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")
    print(
        f"level {kernels.level()}\n\n| rows | MB | C = 1: default, ms | reproducible | times |",
        end="",
    )
    print(" C = ∞: default | reproducible | times |\n|" + "---|" * 8)
    for n, d, k in CASES:
        n = max(n // 20, 150) if quick else n
        x, y = rows(n, d, k)
        cells = [f"{n:,} x {d}, {k} classes", f"{x.nbytes / 1e6:.3g}"]
        for c in (1.0, np.inf):
            models = [LogisticRegression(C=c, reproducible=r) for r in (False, True)]
            least = [np.inf, np.inf]
            for run in range(RUNS):
                for side in (0, 1) if run % 2 else (1, 0):
                    least[side] = min(least[side], seconds(models[side], x, y))
            cells += [f"{1e3 * s:.4g}" for s in least] + [f"{least[1] / least[0]:.2f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
