"""Tables of every shape beside scikit-learn: ``python -m benchmarks.shapes [NAME ...] [--quick]``.

Every fit runs in a process of its own, after a small one to warm up. **CPU** is processor time,
**MB** the peak over the data, **apart** the largest difference of predictions (of classifiers,
probabilities) in units of the largest. Asked are 1.5 times the peer's seconds plus 0.3, twice its
MB plus 100, and 1e-6.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import rise

RNG = np.random.default_rng
QUICK_SHAPES = ("100 x 3,000", "sparse 5,000 x 5,000", "twins 1,000 x 600", "3,000 categories")
QUICK_MODELS = ("least squares", "ridge", "lasso")
SECONDS, MORE_SECONDS, MB, MORE_MB, APART = 1.5, 0.3, 2.0, 100.0, 1e-6
LIMIT = 600  # seconds of one fit
COMPARED = 1_000  # predictions
HEAD = "| shape | model | CPU | theirs | MB | theirs | apart | asked |"


class Rows(NamedTuple):
    """What is fitted; ``peer`` makes of it what scikit-learn takes, within its time."""

    x: Any
    y: Any
    peer: Callable[[Any, Any], tuple[Any, Any]] = lambda x, y: (x, y)
    options: Mapping[str, Any] = {}


def dense(n: int, p: int, dtype: type = np.float64) -> Rows:
    rng = RNG(n + p)
    x = rng.normal(size=(n, p))
    y = x[:, :20].sum(axis=1) + rng.normal(size=n)
    return Rows(x.astype(dtype), y)


def sparse(n: int, p: int, share: float) -> Rows:
    from scipy.sparse import random_array

    x: Any = random_array((n, p), density=share, format="csr", rng=RNG(n + p))
    return Rows(x, np.asarray(x[:, : p // 10].sum(axis=1)) + RNG(1).normal(size=n))


def twins(n: int, p: int) -> Rows:
    x, y, *_ = dense(n, p // 2)
    return Rows(np.hstack([x, x, np.full((n, 1), 7.0)]), y)


def gaps(n: int, p: int) -> Rows:
    x, y, *_ = dense(n, p)
    x[RNG(2).random(x.shape) < 0.2 / p] = np.nan

    def complete(x: Any, y: Any) -> tuple[Any, Any]:
        there = ~np.isnan(x).any(axis=1)
        return x[there], y[there]

    return Rows(x, y, complete, {"incomplete": "drop"})


def categories(n: int, *sizes: int) -> Rows:
    """Three numbers and columns of so many categories; one-hot without the first for the peer."""
    import pandas as pd

    rng = RNG(n)
    x, y = rng.normal(size=(n, 3)), rng.normal(size=n)
    table: dict[str, Any] = {f"x{j}": column for j, column in enumerate(x.T)}
    for j, size in enumerate(sizes):
        code = np.concatenate([np.arange(size), rng.integers(0, size, n - size)])
        y += rng.normal(size=size)[code]
        names: Any = [f"{name:06d}" for name in range(size)]
        table[f"c{j}"] = pd.Categorical.from_codes(code, names)
    numbers = [f"x{j}" for j in range(3)]

    def one_hot(rows: Any, y: Any) -> tuple[Any, Any]:
        from scipy.sparse import csr_array, hstack
        from sklearn.preprocessing import OneHotEncoder

        others = [name for name in rows if name not in numbers]
        shown = OneHotEncoder(drop="first").fit_transform(rows[others])
        return csr_array(hstack([csr_array(rows[numbers].to_numpy()), shown])), y

    return Rows(pd.DataFrame(table), y + x.sum(axis=1), one_hot)


def texts(n: int) -> Rows:
    """Texts of 15 words, of which rare ones are many; tf-idf with pairs."""
    import pandas as pd

    words = RNG(n).zipf(1.3, (n, 15)) % 20_000
    rows = pd.DataFrame({"note": [" ".join(f"w{word}" for word in row) for row in words]})

    def weighted(rows: Any, y: Any) -> tuple[Any, Any]:
        from sklearn.feature_extraction.text import TfidfVectorizer

        return TfidfVectorizer(ngram_range=(1, 2)).fit_transform(rows["note"]), y

    return Rows(
        rows, (words == 1).sum(axis=1) + RNG(1).normal(size=n), weighted, {"words": "tf-idf"}
    )


SHAPES: dict[str, Callable[[], Rows]] = {
    "100 x 3,000": lambda: dense(100, 3_000),
    "300 x 20,000": lambda: dense(300, 20_000),
    "2,000 x 5,000": lambda: dense(2_000, 5_000),
    "100,000 x 200": lambda: dense(100_000, 200),
    "1,000,000 x 10": lambda: dense(1_000_000, 10),
    "float32 50,000 x 100": lambda: dense(50_000, 100, np.float32),
    "gaps 50,000 x 40": lambda: gaps(50_000, 40),
    "twins 1,000 x 600": lambda: twins(1_000, 600),
    "sparse 5,000 x 5,000": lambda: sparse(5_000, 5_000, 0.01),
    "sparse 20,000 x 5,000": lambda: sparse(20_000, 5_000, 0.004),
    "3,000 categories": lambda: categories(100_000, 3_000, 20),
    "95,000 categories": lambda: categories(300_000, 95_000),
    "two of 50,000 and 8,000": lambda: categories(300_000, 50_000, 8_000),
    "5,000 texts": lambda: texts(5_000),
}


class Pair(NamedTuple):
    """Our model and the peer's; classes are whether a target is above the median."""

    ours: str
    theirs: str
    options: Mapping[str, Any] = {}
    their_options: Mapping[str, Any] = {}
    classifies: bool = False
    shapes: tuple[str, ...] = ()

    def model(self, side: str, options: Mapping[str, Any]) -> Any:
        from importlib import import_module

        module, _, name = (self.ours if side == "ours" else self.theirs).rpartition(".")
        said = {**self.options, **options} if side == "ours" else self.their_options
        return getattr(import_module(module), name)(**said)


OURS, THEIRS = "suffice.linear_model.", "sklearn.linear_model."
DENSE = ("100 x 3,000", "300 x 20,000", "2,000 x 5,000", "100,000 x 200", "float32 50,000 x 100")


def linear(name: str, options: Mapping[str, Any], more: Mapping[str, Any], *rest: Any) -> Pair:
    return Pair(OURS + name, THEIRS + name, options, {**options, **more}, *rest)


def generative(name: str) -> Pair:
    return Pair(f"suffice.{name}", f"sklearn.{name}", classifies=True, shapes=DENSE)


CLOSE = {"tol": 1e-9, "max_iter": 100_000}
MODELS: dict[str, Pair] = {
    "least squares": linear("LinearRegression", {}, {"tol": 1e-10}),
    "ridge": linear("Ridge", {"alpha": 1.0}, {"tol": 1e-10}),
    "lasso": linear("Lasso", {"alpha": 0.1}, CLOSE),
    "elastic net": linear("ElasticNet", {"alpha": 0.2}, CLOSE),
    "logistic": linear("LogisticRegression", {}, CLOSE, True),
    "GaussianNB": generative("naive_bayes.GaussianNB"),
    "LDA": generative("discriminant_analysis.LinearDiscriminantAnalysis"),
}


def fit(shape: str, name: str, side: str, answer: Path) -> None:
    """Fit in this process; print seconds and MB, and write what is compared."""
    import sklearn  # noqa: F401 - neither side pays for the import

    pair, rows = MODELS[name], SHAPES[shape]()
    warm = np.vander(np.arange(8.0), 3)[:, 1:]
    pair.model(side, {}).fit(warm, [0.0, 1, 1, 0, 1, 0, 0, 1])
    x, y = rows.x, np.where(rows.y > np.median(rows.y), "b", "a") if pair.classifies else rows.y
    model = pair.model(side, rows.options)
    seconds: list[float] = []

    def work() -> None:
        start = process_time()
        model.fit(*(rows.peer(x, y) if side == "theirs" else (x, y)))
        getattr(model, "coef_", None)  # which may be solved for when they are asked for
        seconds.append(process_time() - start)

    memory = rise(work)
    first = rows.peer(x, y)[0] if side == "theirs" else x
    found = (model.predict_proba if pair.classifies else model.predict)(first)
    np.save(answer, np.ravel(found[:COMPARED]))
    print(json.dumps([*seconds, memory]))


def measured(shape: str, name: str, folder: Path) -> list[str]:
    """Fit both in fresh processes; return what a row of the table says."""
    found: list[list[float]] = []
    for side in ("ours", "theirs"):
        arguments = [shape, name, side, str(folder / f"{side}.npy")]
        command = [sys.executable, "-m", "benchmarks.shapes", "--fit", *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            found.append([float("inf"), float("inf")])
            continue
        if done.returncode:
            return [shape, name, f"{side}: {done.stderr.strip().splitlines()[-1][:70]}"]
        found.append(json.loads(done.stdout.splitlines()[-1]))
    (seconds, memory), (their_seconds, their_memory) = found
    apart = float("nan")
    if np.isfinite([seconds, their_seconds]).all():
        ours, theirs = (np.load(folder / f"{side}.npy") for side in ("ours", "theirs"))
        apart = float(np.abs(ours - theirs).max() / max(np.abs(theirs).max(), 1e-300))
    over = {
        "CPU": seconds > SECONDS * their_seconds + MORE_SECONDS,
        "MB": memory > MB * their_memory + MORE_MB,
        "apart": apart > APART,
    }
    figures = [f"{one:,.2f}" for one in (seconds, their_seconds)]
    figures += [f"{one:,.0f}" for one in (memory, their_memory)]
    return [
        shape,
        name,
        *figures,
        f"{apart:.0e}",
        ", ".join(word for word, one in over.items() if one) or "met",
    ]


def main() -> None:
    """Measure and print."""
    parser = ArgumentParser("python -m benchmarks.shapes", description=__doc__)
    parser.formatter_class = RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help="shapes or models; default: all")
    parser.add_argument("--quick", action="store_true", help="a few, which take a minute")
    parser.add_argument("--fit", nargs=4, metavar=("SHAPE", "MODEL", "SIDE", "FILE"))
    options = parser.parse_args()
    if options.fit:
        shape, name, side, answer = options.fit
        fit(shape, name, side, Path(answer))
        return
    shapes = [one for one in options.names if one in SHAPES]
    models = [one for one in options.names if one in MODELS]
    shapes = shapes or list(QUICK_SHAPES if options.quick else SHAPES)
    models = models or list(QUICK_MODELS if options.quick else MODELS)
    print(HEAD, "|---" * 8 + "|", sep="\n")
    with tempfile.TemporaryDirectory() as folder:
        for shape in shapes:
            for name in models:
                if shape in (MODELS[name].shapes or SHAPES):
                    print(f"| {' | '.join(measured(shape, name, Path(folder)))} |", flush=True)


if __name__ == "__main__":
    main()
