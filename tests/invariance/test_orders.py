"""Parameters and answers of a model depend on the rows of the fit, not on how they came."""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from tests.laws.comparing import frozen

import suffice
from suffice import LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.families import MultivariateGaussian
from suffice.linear_model import LinearRegression, Ridge
from suffice.naive_bayes import GaussianNB

N, D = 60, 4
KINDS = ["plain", "gaps", "weights", "whole weights", "mixed"]
MODELS = ["lda", "qda", "joint", "linear", "ridge"]
PRODUCTS = [f"{model}: {kind}" for model in MODELS for kind in ("plain", "gaps", "weights")]


Model = Any
pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


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
        return LinearDiscriminantAnalysis()
    if model == "qda":
        return QuadraticDiscriminantAnalysis()
    if model == "joint":
        return NaiveBayes.textbook(MultivariateGaussian())
    if model == "linear":
        return LinearRegression(**drops)
    if model == "ridge":
        return Ridge(**drops)
    if kind != "mixed":
        return GaussianNB()
    families = {"x0": "gaussian", "x1": "gaussian", "x2": "categorical", "x3": "poisson"}
    return NaiveBayes.textbook(families)


def known(model: Model, x: np.ndarray) -> Any:
    """Parameters and answers, to the bit."""
    if hasattr(model, "classes_"):
        return frozen((model.model_.parameters, model.predict_joint_log_proba(x)))
    return frozen((model.coef_, model.intercept_, model.predict(x)))


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
    """A model of the rows among others that are forgotten again."""
    more = rows_of(kind, rng, 30)
    both = learnt(kind, Rows(*map(np.concatenate, zip(rows, more, strict=True))), rng, path)
    order = rng.permutation(len(more.x))
    for part in np.array_split(order, int(rng.integers(1, 4))):
        both.forget(**more.named(part))
    return both


@pytest.mark.parametrize("kind", KINDS + PRODUCTS)
@pytest.mark.parametrize("ways", [1, pytest.param(167, marks=pytest.mark.exhaustive)])
def test_any_way_to_the_same_rows_is_the_same_model(kind: str, ways: int, tmp_path: Path) -> None:
    rows, path = rows_of(kind, np.random.default_rng(17), N), tmp_path / "m"
    asked = np.nan_to_num(rows.x) if "linear" in kind or "ridge" in kind else rows.x
    model = made(kind).fit(*rows)
    expected = known(model, asked)
    model.save(path)
    assert known(suffice.load(path), asked) == expected
    for seed in range(ways):
        found = wandered(kind, rows, np.random.default_rng(seed), path)
        assert known(found, asked) == expected, seed
