"""Where independence is harmless, and where not: labels and probabilities of known distributions.

Usage: ``python -m benchmarks.trade_offs.independence``. Every method learns the same rows, with the
options it comes with, and answers 10,000 fresh ones; a cell is the mean over training sets of
accuracy % / log loss in nats, *best* that of the Bayes-optimal rule.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import multivariate_normal

from benchmarks.trade_offs.cells import SEED, TEST_ROWS, Size
from benchmarks.trade_offs.truths import DISTANCE, TRUTHS, Densities, Truth
from suffice import AODE, AutoClassifier, NaiveBayes
from suffice.discriminant_analysis import RegularizedDiscriminantAnalysis

__all__ = ["METHODS", "SIZES", "Cell", "measured", "sentences"]

CLOSE = 0.01  # of accuracy: a point
NEAR = 0.02  # of log loss, in nats
DRAWS = 2
LEAST = 1e-15
SIZES: tuple[Size, ...] = ((100, 10), (1_000, 10), (10_000, 10))
METHODS: Mapping[str, Callable[[], Any]] = {
    "textbook": NaiveBayes.textbook,
    "NaiveBayes()": NaiveBayes,
    "AODE()": AODE,
    "RDA()": RegularizedDiscriminantAnalysis,
    "AutoClassifier()": AutoClassifier,
}


class Cell(NamedTuple):
    """A truth at a size: accuracy and log loss of the best rule, and of every method."""

    truth: str
    size: Size
    best: tuple[float, float]
    found: dict[str, tuple[float, float]]


def _twins(d: int) -> Densities:
    """Every column has a twin, r = 0.95: all that is known is counted twice."""
    covariance = np.kron(np.eye(d // 2), np.array([[1.0, 0.95], [0.95, 1.0]]))
    half = np.full(d, 0.5 * DISTANCE / np.sqrt(d / 2))
    return multivariate_normal(-half, covariance), multivariate_normal(half, covariance)


TWINS = Truth("twins", "every column has a twin: what is said is said twice", _twins)


def measured(
    truths: Sequence[Truth] = (*TRUTHS, TWINS),
    sizes: Sequence[Size] = SIZES,
    methods: Mapping[str, Callable[[], Any]] = METHODS,
    test_rows: int = TEST_ROWS,
    draws: int = DRAWS,
) -> Iterator[Cell]:
    """Measure the methods on every truth at every size."""
    for truth in truths:
        rng = np.random.default_rng(SEED)
        for n, d in sizes:
            known = truth.known(d)
            x, y = known.sample(test_rows, np.random.default_rng([SEED, d]))
            rows = [known.sample(n, rng) for _ in range(draws)]
            found = {}
            for name, make in methods.items():
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # few rows for many columns are meant here
                    each = [_judged(make().fit(*draw).predict_proba(x), y) for draw in rows]
                accuracy, loss = np.mean(each, axis=0).tolist()
                found[name] = accuracy, loss
            yield Cell(truth.name, (n, d), _judged(known.predict_proba(x), y), found)


def _judged(p: NDArray[np.float64], y: NDArray[np.int64]) -> tuple[float, float]:
    own = np.maximum(p[np.arange(len(p)), y], LEAST)
    return float((p.argmax(axis=1) == y).mean()), float(-np.log(own).mean())


def sentences(cells: Sequence[Cell]) -> Iterator[str]:
    """Where the rule of the textbook is as good as the best one, and what others make of the rest.

    Sizes of 1,000 rows and more count: with fewer, all methods lack rows.
    """
    names: list[str] = list(dict.fromkeys(cell.truth for cell in cells))
    enough = [cell for cell in cells if cell.size[0] >= 1_000]
    for method in cells[0].found:
        labels, both = set(names), set(names)
        for cell in enough:
            accuracy, loss = (
                found - best for found, best in zip(cell.found[method], cell.best, strict=True)
            )
            if accuracy < -CLOSE:
                labels.discard(cell.truth)
            if accuracy < -CLOSE or loss > NEAR:
                both.discard(cell.truth)
        yield (
            f"{method}: labels within a point of the best rule for {_listed(names, labels)}; "
            f"probabilities within {NEAR} nats too for {_listed(names, both)}."
        )


def _listed(names: Sequence[str], chosen: set[str]) -> str:
    return ", ".join(name for name in names if name in chosen) or "none"


def main() -> None:
    """Print the table in Markdown, and the sentences."""
    print(f"| truth | rows | columns | {' | '.join(METHODS)} | best |")
    print(f"|---|---|---|{'---|' * len(METHODS)}---|")
    cells = []
    for cell in measured():
        cells.append(cell)
        pairs = [*cell.found.values(), cell.best]
        shown = " | ".join(f"{100 * accuracy:.1f} / {loss:.3f}" for accuracy, loss in pairs)
        n, d = cell.size
        print(f"| {cell.truth} | {n:,} | {d} | {shown} |", flush=True)
    print("\n" + "\n".join(f"- {sentence}" for sentence in sentences(cells)))


if __name__ == "__main__":
    main()
