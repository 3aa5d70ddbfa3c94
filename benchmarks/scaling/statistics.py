"""What it costs to serialise, deserialise and add statistics."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Collection, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import scipy.sparse as sp

from benchmarks.measure.timing import Call, medians
from benchmarks.scaling.cost_model import Merge
from benchmarks.scaling.fits import COLUMNS, FEW, MODELS, Counting, file_of, fit
from suffice.linear_model import LinearRegression
from suffice.naive_bayes import CategoricalNB, GaussianNB, MultinomialNB

__all__ = ["FITTED", "MERGES", "comoments", "gaussian", "merges"]

MERGES = "statistics"
FITTED = "of a fit: "


def merges(n: int, names: Collection[str]) -> Iterator[Merge]:
    """What statistics of several kinds and sizes cost, and those of the fits."""
    if MERGES not in names:
        return
    for kind, size, make in STATISTICS:
        yield _merge(kind, size, make(np.random.default_rng(0)), make(np.random.default_rng(1)))
    with TemporaryDirectory(prefix="suffice-") as folder:
        for model in MODELS:
            path, counting = file_of(Path(folder), model.file, n, FEW[0]), Counting()
            fit(model, path, counting)
            yield _merge(f"{FITTED}{model.name}", model.file, counting.last, counting.last)


def _merge(kind: str, size: str, one: Any, other: Any) -> Merge:
    sum_ = one + other  # a new sum: those of models keep means that are no part of it
    content = pickle.dumps(sum_)
    calls: dict[str, Call] = {
        "pack": partial(pickle.dumps, sum_),
        "open": partial(pickle.loads, content),
        "add": partial(type(one).__add__, one, other),
    }
    return Merge(kind, size, len(content), **medians(calls))


def gaussian(d: int, k: int, rng: np.random.Generator) -> Any:
    x = rng.standard_normal((20 * k, d))
    return GaussianNB().fit(x, np.arange(len(x)) % k).statistic_


def _categorical(rng: np.random.Generator) -> Any:
    codes = np.stack([rng.permutation(1_000) for _ in range(4)], axis=1)
    return CategoricalNB().fit(codes, np.arange(len(codes)) % 4).statistic_


def comoments(d: int, rng: np.random.Generator) -> Any:
    x = rng.standard_normal((2 * d, d))
    return LinearRegression().fit(x, x[:, 0]).statistic_


def _text(rng: np.random.Generator) -> Any:
    counts = sp.random(1_000, 50_000, 0.001, format="csr", random_state=rng)
    counts.data = np.ceil(counts.data)
    return MultinomialNB().fit(counts, np.arange(1_000) % 20).statistic_


STATISTICS: tuple[tuple[str, str, Callable[[np.random.Generator], Any]], ...] = (
    *(
        ("Gaussian naive Bayes", f"d={d:,}, k={k}", partial(gaussian, d, k))
        for d, k in ((10, 2), (100, 2), (1_000, 2), (10, 100), (100, 100))
    ),
    ("categories", "d=4, 1,000 levels, k=4", _categorical),
    *(("co-moments", f"d={d}", partial(comoments, d)) for d in (COLUMNS, 500)),
    ("multinomial", "50,000 words, k=20", _text),
)
