"""The file of a model depends on the rows that it knows, not on how it came to know them."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

from suffice.naive_bayes import GaussianNB

Tables = tuple[np.ndarray, np.ndarray]
N, D = 60, 4


def rows(kind: str, rng: np.random.Generator, n: int) -> Tables:
    x = rng.normal(size=(n, D)) * [1.0, 1e-3, 1e6, 1.0] + [0.0, 5.0, 0.0, 1e9]
    if kind == "wide":
        x = x * 10.0 ** rng.integers(-30, 30, x.shape)
    if kind == "gaps":
        x[rng.random(x.shape) < 0.2] = np.nan
    return x, rng.integers(0, 3, n)


def digest(model: GaussianNB, path: Path) -> str:
    model.save(path)
    return sha256(path.read_bytes()).hexdigest()


def learnt(x: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> GaussianNB:
    """The rows by fit, partial_fit and merge, in any order and parts."""
    order = rng.permutation(len(x))
    parts = np.array_split(order, int(rng.integers(1, 6)))
    model = GaussianNB(precision="exact").fit(x[parts[0]], y[parts[0]])
    for part in parts[1:]:
        if rng.random() < 0.5:
            model.partial_fit(x[part], y[part])
        else:
            model.merge(GaussianNB(precision="exact").fit(x[part], y[part]))
    return model


def wandered(x: np.ndarray, y: np.ndarray, kind: str, rng: np.random.Generator) -> GaussianNB:
    """The same, among rows that are forgotten again, some of them huge."""
    more, labels = rows(kind, rng, 30)
    more[0], more[1, 0] = 1e140, -1e149
    both = learnt(np.concatenate([x, more]), np.concatenate([y, labels]), rng)
    order = rng.permutation(len(more))
    for part in np.array_split(order, int(rng.integers(1, 4))):
        both.forget(more[part], labels[part])
    return both


def check(kind: str, seeds: range, make: Callable[..., GaussianNB], path: Path) -> None:
    x, y = rows(kind, np.random.default_rng(17), N)
    expected = digest(GaussianNB(precision="exact").fit(x, y), path)
    for seed in seeds:
        assert digest(make(x, y, kind, np.random.default_rng(seed)), path) == expected, seed


@pytest.mark.parametrize("kind", ["plain", "wide", "gaps"])
def test_any_way_to_the_same_rows_is_the_same_file(kind: str, tmp_path: Path) -> None:
    check(kind, range(17), wandered, tmp_path / "m")


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["plain", "wide", "gaps"])
def test_a_thousand_ways_to_the_same_rows_are_the_same_file(kind: str, tmp_path: Path) -> None:
    check(kind, range(334), wandered, tmp_path / "m")
