"""Tables that nothing was tuned to: those of scikit-learn and statsmodels, and drawn ones.

Usage: ``python -m benchmarks.made_tables``, with the options of `benchmarks.accuracy`. Drawn tables
have identifiers, codes for missing cells, cells missing not at random, dates, texts, zip codes,
labels that are noise, columns that are copies, and pairs that tell only together. Three stratified
folds; all else is measured as in `benchmarks.accuracy`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from sklearn import datasets
from sklearn.model_selection import StratifiedKFold
from statsmodels import datasets as statsmodels_datasets

from benchmarks.accuracy import Rows, compare
from benchmarks.drawn_rows import DRAWN, Made, numbers, parts

MOST_LEVELS = 255  # of a category that boosting takes


def _classes(seed: int, n: int, d: int, k: int, **options: Any) -> Made:
    options = {"n_informative": max(4, d // 2), "n_clusters_per_class": 1} | options
    return numbers(*datasets.make_classification(n, d, n_classes=k, random_state=seed, **options))


def _friedman(make: Any, k: int, **options: Any) -> Made:
    x, y = make(1000, random_state=5, **options)
    return numbers(x, parts(y, k))


def _with_noise(made: tuple[Any, Any], d: int) -> Made:
    x, y = made
    return numbers(np.hstack([x, np.random.default_rng(3).normal(size=(len(x), d))]), y)


def _statsmodels(name: str, label: Callable[[Any], Any], *left_out: str, rows: int = 3000) -> Made:
    frame = getattr(statsmodels_datasets, name).load_pandas().data
    frame = frame.sample(min(rows, len(frame)), random_state=0)
    y = np.asarray(label(frame))
    return {c: frame[c].to_numpy() for c in frame.columns if c not in left_out}, y


TABLES: dict[str, Callable[[], Made]] = {
    "iris": lambda: numbers(*datasets.load_iris(return_X_y=True)),
    "wine": lambda: numbers(*datasets.load_wine(return_X_y=True)),
    "breast cancer": lambda: numbers(*datasets.load_breast_cancer(return_X_y=True)),
    "digits": lambda: numbers(*datasets.load_digits(return_X_y=True)),
    "affairs": lambda: _statsmodels("fair", lambda f: f["affairs"] > 0, "affairs"),
    "election": lambda: _statsmodels("anes96", lambda f: f["PID"], "PID"),
    "travel": lambda: _statsmodels("modechoice", lambda f: f["choice"], "choice", "individual"),
    "doctors": lambda: _statsmodels("randhie", lambda f: np.minimum(f["mdvis"], 2), "mdvis"),
    "schools": lambda: _statsmodels(
        "star98", lambda f: parts(f["NABOVE"] / (f["NABOVE"] + f["NBELOW"]), 3), "NABOVE", "NBELOW"
    ),
    "food": lambda: _statsmodels("engel", lambda f: parts(f["foodexp"], 3), "foodexp"),
    "grades": lambda: _statsmodels("spector", lambda f: f["GRADE"], "GRADE"),
    "transplants": lambda: _statsmodels("heart", lambda f: f["censors"], "censors"),
    "two classes": lambda: _classes(1, 1000, 10, 2),
    "four, noisy labels": lambda: _classes(2, 1200, 12, 4, flip_y=0.2),
    "twelve classes": lambda: _classes(3, 1500, 15, 12, n_informative=8),
    "1 of 50": lambda: _classes(4, 2500, 8, 2, weights=[0.98], flip_y=0.005),
    "redundant": lambda: _classes(5, 800, 30, 3, n_redundant=20, n_informative=4),
    "clusters": lambda: _classes(6, 1200, 8, 3, n_clusters_per_class=4, n_informative=6),
    "200 columns, 100 rows": lambda: _classes(7, 100, 200, 2, n_informative=10),
    "moons": lambda: _with_noise(datasets.make_moons(800, noise=0.25, random_state=1), 6),
    "circles": lambda: _with_noise(
        datasets.make_circles(800, noise=0.15, factor=0.5, random_state=1), 6
    ),
    "hastie": lambda: numbers(*datasets.make_hastie_10_2(1500, random_state=1)),
    "quantiles": lambda: numbers(
        *datasets.make_gaussian_quantiles(n_samples=1000, n_features=6, n_classes=4, random_state=1)
    ),
    "friedman 1": lambda: _friedman(datasets.make_friedman1, 3, noise=1.0),
    "friedman 2": lambda: _friedman(datasets.make_friedman2, 4, noise=50.0),
    "friedman 3": lambda: _friedman(datasets.make_friedman3, 2, noise=0.1),
    **{name: partial(make, np.random.default_rng(11)) for name, make in DRAWN.items()},
}


def _for_peers(table: pa.Table) -> pa.Table:
    """What pipelines of scikit-learn can take: no date, no empty column, at most 255 categories."""
    found = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        if pa.types.is_temporal(column.type):
            column = column.cast(pa.timestamp("s")).cast(pa.int64())
        levels = len(column.unique()) if pa.types.is_string(column.type) else 2
        if column.null_count < len(column) and levels <= MOST_LEVELS:
            found[name] = column
    return pa.table(found)


def tables() -> Iterator[Rows]:
    """Every table, with its folds."""
    for name, make in TABLES.items():
        columns, labels = make()
        codes = np.unique(labels, return_inverse=True)[1]
        folds = StratifiedKFold(3, shuffle=True, random_state=17).split(codes, codes)
        yield Rows(name, pa.table(columns), codes, list(folds))


if __name__ == "__main__":
    compare(__doc__, tables(), _for_peers)
