"""Trade-offs of methods on known distributions: ``python -m benchmarks.trade_offs [--quick]``.

Two classes of equal probability. Every method learns from the same rows, with its defaults, and
predicts fresh rows. Printed is one table: the accuracy on each distribution, and that of the
Bayes-optimal classifier (*best*); then what it costs, the median over the distributions, in
milliseconds of processor time (prediction of 1,000 rows), in numbers that a fitted model consists
of, and in bytes.

- independent: independent columns, unequal variances; naive Bayes and QDA are right
- equal: correlated columns, equal covariances; LDA, QDA and logistic regression are right
- unequal: unequal covariances; QDA is right
- copies: half of the columns nearly copies of one; LDA, QDA and logistic regression are right
- humps: two humps per class in one column, the rest noise; only nearest neighbours are right
"""

from __future__ import annotations

import argparse
import pickle
from collections.abc import Callable, Iterator, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import expm, toeplitz
from scipy.stats import multivariate_normal, norm, rv_continuous
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.measure import Call, in_turns
from suffice import BayesClassifier
from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import GaussianNB

__all__ = ["METHODS", "TRUTHS", "Cell", "measured", "table"]

SEED = 20
DISTANCE = 2.0  # between the means, in standard deviations along the best direction
SIZES = (30, 10), (100, 10), (1_000, 10), (10_000, 10), (100_000, 10), (1_000, 2), (1_000, 100)
QUICK = (30, 2), (100, 5)
TEST_ROWS = 10_000
NUMBERS, MOST_DRAWS = 200_000, 10  # in the training sets of one size together; training sets

Drawn = tuple[NDArray[np.float64], NDArray[np.int64]]
Densities = tuple[Any, Any]


# Distributions, each as hard in 100 columns as in 2 ----------------------------------------------


def _independent(d: int) -> Densities:
    """Means ∓½ and variances exp(∓1), all divided among the columns."""
    half, log_sd = 0.5 * DISTANCE / np.sqrt(d), 0.5 / np.sqrt(d)
    return (norm(-half, np.exp(-log_sd)),) * d, (norm(half, np.exp(log_sd)),) * d


def _equal(d: int) -> Densities:
    """Correlations 0.6^|i − j|; the means differ in a random direction."""
    covariance = toeplitz(0.6 ** np.arange(d))
    direction = np.random.default_rng(SEED).standard_normal(d)
    length = np.sqrt(direction @ np.linalg.solve(covariance, direction))
    half = 0.5 * DISTANCE * direction / length
    return multivariate_normal(-half, covariance), multivariate_normal(half, covariance)


def _unequal(d: int) -> Densities:
    """Covariances exp(∓A), A symmetric with ‖A‖ = 1; the means differ by 1."""
    draw = np.random.default_rng(SEED).standard_normal((d, d))
    a = (draw + draw.T) / np.linalg.norm(draw + draw.T)
    half = np.full(d, 0.5 / np.sqrt(d))
    return multivariate_normal(-half, expm(-a)), multivariate_normal(half, expm(a))


def _copies(d: int) -> Densities:
    """One half of the columns are copies of each other, r = 0.95, and tell little together."""
    copies = d // 2
    covariance = np.eye(d)
    covariance[:copies, :copies] += 0.95 * (1 - np.eye(copies))
    half = np.full(d, 0.5 * DISTANCE / np.sqrt(d - copies))
    half[:copies] = 0.5
    return multivariate_normal(-half, covariance), multivariate_normal(half, covariance)


class _Humps(rv_continuous):
    """Half of N(a, ½²) and half of N(b, ½²)."""

    def _argcheck(self, a: Any, b: Any) -> Any:
        return np.isfinite(a) & np.isfinite(b)

    def _pdf(self, x: Any, a: Any, b: Any) -> Any:
        return (norm.pdf(x, a, 0.5) + norm.pdf(x, b, 0.5)) / 2

    def _cdf(self, x: Any, a: Any, b: Any) -> Any:
        return (norm.cdf(x, a, 0.5) + norm.cdf(x, b, 0.5)) / 2

    def _rvs(self, a: Any, b: Any, size: Any = None, random_state: Any = None) -> Any:
        return random_state.choice([a, b], size) + random_state.normal(0, 0.5, size)


def _humps(d: int) -> Densities:
    """The first column alternates between the classes, at −3, −1, 1 and 3; the others are noise."""

    def two(a: float, b: float) -> Any:
        return _Humps(name="humps")(a, b)

    noise = (norm(0, 0.5),) * (d - 1)
    return (two(-3, 1), *noise), (two(-1, 3), *noise)


TRUTHS: dict[str, Callable[[int], Densities]] = {
    "independent": _independent,
    "equal": _equal,
    "unequal": _unequal,
    "copies": _copies,
    "humps": _humps,
}


# Methods -----------------------------------------------------------------------------------------


def _kept(model: Any) -> int:
    """Nearest neighbours sum up nothing."""
    return int(model.n_samples_fit_ * model.n_features_in_)


METHODS: dict[str, tuple[Callable[[], Any], Callable[[Any], int]]] = {
    "naive Bayes": (GaussianNB, lambda model: model.n_parameters_),
    "LDA": (LinearDiscriminantAnalysis, lambda model: model.n_parameters_),
    "QDA": (QuadraticDiscriminantAnalysis, lambda model: model.n_parameters_),
    "logistic regression": (LogisticRegression, lambda model: model.coef_.size + 1),
    "nearest neighbours": (KNeighborsClassifier, _kept),
}


class Cell(NamedTuple):
    """A method on n rows of d columns of a distribution; seconds of prediction for 1,000 rows."""

    accuracy: float
    training: float
    prediction: float
    parameters: int
    bytes: int


def measured(truth: str, n: int, d: int, most_draws: int) -> tuple[dict[str, Cell], float]:
    """Return the figures of every method, and the accuracy of the Bayes-optimal classifier."""
    known = BayesClassifier(TRUTHS[truth](d))
    rng = np.random.default_rng(SEED)
    test = known.sample(TEST_ROWS, np.random.default_rng([SEED, d]))  # one for every n
    drawn = [known.sample(n, rng) for _ in range(min(most_draws, NUMBERS // (n * d) + 1))]
    return {name: _of_method(name, drawn, test) for name in METHODS}, known.score(*test)


def _of_method(name: str, drawn: Sequence[Drawn], test: Drawn) -> Cell:
    new, count = METHODS[name]
    models = [new().fit(x, y) for x, y in drawn]
    first, (x, y), (asked, truth) = models[0], drawn[0], test
    works: dict[str, Call] = {
        "fit": lambda: new().fit(x, y),
        "predict": lambda: first.predict(asked),
    }
    seconds = in_turns(works, once=len(drawn) == 1)
    return Cell(
        fmean(float(np.mean(model.predict(asked) == truth)) for model in models),
        seconds["fit"].cpu,
        seconds["predict"].cpu / TEST_ROWS * 1_000,
        count(first),
        len(pickle.dumps(first)),
    )


def table(sizes: Sequence[tuple[int, int]], most_draws: int = MOST_DRAWS) -> Iterator[list[str]]:
    """Yield the lines of the table: accuracies by distribution and size, then costs by size."""
    costs: dict[tuple[int, int], list[dict[str, Cell]]] = {}
    for truth in TRUTHS:
        for n, d in sizes:
            found, best = measured(truth, n, d, most_draws)
            costs.setdefault((n, d), []).append(found)
            shown = [f"{found[name].accuracy:.1%}" for name in METHODS]
            yield [f"accuracy, {truth}", f"{n:,}", str(d), *shown, f"{best:.1%}"]
    for title, text in COSTS.items():
        for (n, d), alike in costs.items():
            shown = [text([found[name] for found in alike]) for name in METHODS]
            yield [title, f"{n:,}", str(d), *shown, ""]


COSTS: dict[str, Callable[[Sequence[Cell]], str]] = {
    "training, ms": lambda cells: f"{1e3 * median(cell.training for cell in cells):,.3g}",
    "prediction, ms": lambda cells: f"{1e3 * median(cell.prediction for cell in cells):,.3g}",
    "parameters": lambda cells: f"{median(cell.parameters for cell in cells):,.0f}",
    "bytes, pickled": lambda cells: f"{median(cell.bytes for cell in cells):,.0f}",
}


def main() -> None:
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser("python -m benchmarks.trade_offs", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--quick", action="store_true", help="few rows and columns")
    quick = parser.parse_args().quick
    heading = ["figure", "rows", "columns", *METHODS, "best"]
    print(f"| {' | '.join(heading)} |", f"|{'---|' * len(heading)}", sep="\n")
    for line in table(QUICK if quick else SIZES, 1 if quick else MOST_DRAWS):
        print(f"| {' | '.join(line)} |", flush=True)


if __name__ == "__main__":
    main()
