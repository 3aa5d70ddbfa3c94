"""Random rows to learn from, and iris."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy.sparse import csr_matrix
from sklearn.datasets import load_iris

__all__ = ["Rows", "booleans", "codes", "iris", "normal", "numbers", "overlapping", "words"]

SEED = 20


@dataclass(frozen=True)
class Rows:
    """A table x (n, d), an array or a CSR matrix, and the label or number of every row."""

    x: Any
    y: NDArray[Any]

    @property
    def shape(self) -> str:
        n, d = self.x.shape
        return f"{n:,} x {d:,}"

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The distinct labels, looked for once."""
        return np.unique(self.y)

    @property
    def table(self) -> list[NDArray[Any]]:
        """The arrays that make up x."""
        if isinstance(self.x, np.ndarray):
            return [self.x]
        return [self.x.data, self.x.indices, self.x.indptr]


def normal(
    n: int,
    d: int = 50,
    k: int = 5,
    dtype: DTypeLike = np.float64,
    order: Literal["C", "F"] = "C",
) -> Rows:
    """Normal columns whose means differ by class."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, k, n)
    x = rng.standard_normal((n, d))
    x += rng.standard_normal((k, d))[y]
    return Rows(np.asarray(x, dtype, order=order), y)


def numbers(n: int, d: int = 50) -> Rows:
    """Normal columns, and a number that depends on them all."""
    rng = np.random.default_rng(SEED)
    x = rng.standard_normal((n, d))
    return Rows(x, x @ rng.standard_normal(d) + rng.standard_normal(n))


def overlapping(n: int, d: int = 50, k: int = 2) -> Rows:
    """Normal columns, and classes drawn from a logistic model: about a quarter are surprises."""
    rng = np.random.default_rng(SEED)
    x = rng.standard_normal((n, d))
    t = x @ rng.standard_normal((d, k)) * (2 / np.sqrt(d))
    return Rows(x, (t + rng.gumbel(size=(n, k))).argmax(axis=1))


def booleans(n: int, d: int = 50, k: int = 5) -> Rows:
    """Columns of False and True whose shares differ by class."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, k, n)
    return Rows(rng.random((n, d), np.float32) < rng.random((k, d), np.float32)[y], y)


def codes(n: int, d: int = 50, k: int = 5, m: int = 8) -> Rows:
    """Columns of the codes 0, ..., m − 1; the first tells about the class."""
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, k, n)
    x = rng.integers(0, m, (n, d))
    x[:, 0] = np.where(x[:, 1] == 0, x[:, 0], y % m)
    return Rows(x, y)


def words(n: int, d: int = 50_000, k: int = 20, each: int = 60) -> Rows:
    """Counts of d words in a CSR matrix: a row has one word of each of 60 bands.

    Every band is wider than the one before, so that the first words are in most rows and the last
    in few, as in texts.
    """
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, k, n)
    edges = np.maximum(np.arange(each + 1), np.geomspace(1, d, each + 1).astype(np.int64))
    place = rng.random((n, each)) ** (1 + y[:, None] / k)
    words = edges[:-1] + (place * np.diff(edges)).astype(np.int64)
    counts = rng.geometric(0.7, n * each).astype(np.float64)
    starts = np.arange(0, n * each + 1, each, dtype=np.int32)
    table = csr_matrix((counts, words.ravel().astype(np.int32), starts), (n, d))
    table.sum_duplicates()  # the first bands share a word
    return Rows(table, y)


def iris(n: int = 150) -> Rows:
    """The 150 flowers, or the first n of them."""
    x, y = load_iris(return_X_y=True)
    return Rows(x[:n], y[:n])
