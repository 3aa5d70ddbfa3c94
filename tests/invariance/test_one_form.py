"""The file of a model of exact sums depends on the rows that it knows, not on how it came to."""

from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import suffice
from suffice import NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Gaussian, MultivariateGaussian, Poisson
from suffice.linear_model import LinearRegression, Ridge
from suffice.naive_bayes import GaussianNB

N, D = 60, 4
KINDS = ["plain", "wide", "gaps", "weights", "whole weights", "mixed"]
MODELS = ["lda", "qda", "joint", "linear", "ridge"]
PRODUCTS = [f"{model}: {kind}" for model in MODELS for kind in ("plain", "gaps", "weights")]


Model = Any
# Beside 1e140 the other rows are as good as equal, until those are forgotten.
SINGULAR = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


class Rows(NamedTuple):
    """A table, labels, and weights of rows."""

    x: np.ndarray
    y: np.ndarray
    weight: np.ndarray

    def named(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        return {"X": self.x[rows], "y": self.y[rows], "sample_weight": self.weight[rows]}


def rows_of(kind: str, rng: np.random.Generator, n: int) -> Rows:
    model, _, kind = kind.rpartition(": ")
    x = rng.normal(size=(n, D)) * [1.0, 1e-3, 1e6, 1.0] + [0.0, 5.0, 0.0, 1e9]
    weight = np.ones(n)
    if kind == "wide":
        x = x * 10.0 ** rng.integers(-30, 30, x.shape)
    if kind == "gaps":
        x[rng.random(x.shape) < 0.2] = np.nan
    if kind == "weights":
        weight = rng.random(n) * 10.0 ** rng.integers(-3, 3, n)
    if kind == "whole weights":
        weight = rng.integers(0, 4, n).astype(np.float64)
    if kind == "mixed":
        x[:, 2], x[:, 3] = rng.integers(0, 5, n), rng.poisson(3.0, n)
    y = rng.normal(size=n) if model in ("linear", "ridge") else rng.integers(0, 3, n)
    return Rows(x, y, weight)


def made(kind: str) -> Model:
    model, _, of_rows = kind.rpartition(": ")
    drops: Any = {"incomplete": "drop" if of_rows == "gaps" else "error"}
    if model == "lda":
        return LinearDiscriminantAnalysis(precision="exact")
    if model == "qda":
        return QuadraticDiscriminantAnalysis(precision="exact")
    if model == "joint":
        return NaiveBayes.textbook(MultivariateGaussian(precision="exact"))
    if model == "linear":
        return LinearRegression(precision="exact", **drops)
    if model == "ridge":
        return Ridge(precision="exact", **drops)
    if kind != "mixed":
        return GaussianNB(precision="exact")
    families = {
        "x0": Gaussian("mle", precision="exact"),
        "x1": "gaussian",
        "x2": "categorical",
        "x3": Poisson(precision="exact"),
    }
    return NaiveBayes.textbook(families, precision="exact")


def digest(model: Model, path: Path) -> str:
    model.save(path)
    return sha256(path.read_bytes()).hexdigest()


def learnt(kind: str, rows: Rows, rng: np.random.Generator, path: Path) -> Model:
    """A model of the rows by fit, partial_fit, merge and files, in any order and parts."""
    order = rng.permutation(len(rows.x))
    first, *others = np.array_split(order, int(rng.integers(1, 6)))
    model = made(kind)
    shown = np.unique(rows.y[first], return_counts=True)[1]
    fits = len(shown) > 1 and shown.min() > 1  # of a class of one row there is no covariance
    (model.fit if fits else model.partial_fit)(**rows.named(first))
    for part in others:
        if rng.random() < 0.5:
            model.partial_fit(**rows.named(part))
        elif rng.random() < 0.5:
            model.save(path)
            model = suffice.load(path).partial_fit(**rows.named(part))
        else:
            model.merge(made(kind).partial_fit(**rows.named(part)))
    return model


def wandered(kind: str, rows: Rows, rng: np.random.Generator, path: Path) -> Model:
    """A model of the rows among others that are forgotten again, some of them huge."""
    more = rows_of(kind, rng, 30)
    more.x[0, :2], more.x[1, 0] = 1e140, -1e149
    both = learnt(kind, Rows(*map(np.concatenate, zip(rows, more, strict=True))), rng, path)
    order = rng.permutation(len(more.x))
    for part in np.array_split(order, int(rng.integers(1, 4))):
        both.forget(**more.named(part))
    return both


def check(kind: str, seeds: range, path: Path) -> None:
    rows = rows_of(kind, np.random.default_rng(17), N)
    expected = digest(made(kind).fit(*rows), path)
    assert digest(suffice.load(path), path) == expected
    for seed in seeds:
        assert digest(wandered(kind, rows, np.random.default_rng(seed), path), path) == expected, (
            seed
        )


@SINGULAR
@pytest.mark.parametrize("kind", PRODUCTS)
def test_any_way_to_the_same_products_is_the_same_file(kind: str, tmp_path: Path) -> None:
    check(kind, range(4), tmp_path / "m")


@pytest.mark.parametrize("kind", KINDS)
def test_any_way_to_the_same_rows_is_the_same_file(kind: str, tmp_path: Path) -> None:
    check(kind, range(9), tmp_path / "m")


@pytest.mark.exhaustive
@SINGULAR
@pytest.mark.parametrize("kind", KINDS + PRODUCTS)
def test_a_thousand_ways_to_the_same_rows_are_the_same_file(kind: str, tmp_path: Path) -> None:
    check(kind, range(167), tmp_path / "m")
