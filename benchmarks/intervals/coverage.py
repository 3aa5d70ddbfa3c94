"""How often 95 % intervals of P(c | x) hold the true probability.

    python -m benchmarks.intervals.coverage [draws]

A draw takes a truth from the model's own prior (class prior, parameters), n rows from the truth, a
fit, one more row from the truth, and asks whether its interval holds the true P(c | x). Draws in
which a class shows no row are drawn again, as no model can be fitted to them; that leaves the
coverage as it is, which is of the posterior, given the rows. Beside it stand fixed sparse truths,
of which the intervals promise nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from suffice import NaiveBayes, families

COLUMNS, SIZES = 3, (30, 300, 3000)


class Bernoulli:
    """θ ~ Beta(1, 1)."""

    family = "bernoulli"

    def __init__(self, rng: np.random.Generator, k: int, sparse: bool) -> None:
        self.theta = np.full((k, COLUMNS), 0.02) if sparse else rng.beta(1, 1, (k, COLUMNS))
        if sparse:
            self.theta[0, 0] = 0.1

    def rows(self, rng: np.random.Generator, y: Any) -> Any:
        return (rng.random((len(y), COLUMNS)) < self.theta[y]).astype(float)

    def log_likelihood(self, x: Any) -> Any:
        return (x * np.log(self.theta) + (1 - x) * np.log1p(-self.theta)).sum(axis=1)


class Categorical:
    """θ ~ Dirichlet(1) over four values, which the model knows of."""

    family = "categorical"

    def __init__(self, rng: np.random.Generator, k: int, sparse: bool) -> None:
        theta = rng.dirichlet(np.ones(4), (k, COLUMNS))
        if sparse:
            theta = np.broadcast_to([0.94, 0.02, 0.02, 0.02], theta.shape).copy()
            theta[0, 0] = 0.85, 0.05, 0.05, 0.05
        self.theta = theta

    def rows(self, rng: np.random.Generator, y: Any) -> Any:
        below = rng.random((len(y), COLUMNS, 1)) >= np.cumsum(self.theta[y], axis=2)
        return np.minimum(below.sum(axis=2), 3)

    def log_likelihood(self, x: Any) -> Any:
        return np.log(self.theta[:, np.arange(COLUMNS), x]).sum(axis=1)


class Poisson:
    """λ ~ Gamma(1, 1)."""

    family = "poisson"

    def __init__(self, rng: np.random.Generator, k: int, sparse: bool) -> None:
        self.rate = np.full((k, COLUMNS), 0.02) if sparse else rng.gamma(1, 1, (k, COLUMNS))
        if sparse:
            self.rate[0, 0] = 0.1

    def rows(self, rng: np.random.Generator, y: Any) -> Any:
        return rng.poisson(self.rate[y]).astype(float)

    def log_likelihood(self, x: Any) -> Any:
        return (x * np.log(self.rate) - self.rate).sum(axis=1)


class Gaussian:
    """1/σ² ~ Gamma(1, 1), μ ~ N(0, σ²); sparse: one distant value in fifty."""

    family = "gaussian"

    def __init__(self, rng: np.random.Generator, k: int, sparse: bool) -> None:
        variance = 1 / rng.gamma(1, 1, (k, COLUMNS))
        self.mean = rng.normal(0, np.sqrt(variance))
        if sparse:
            variance, self.mean = np.ones((k, COLUMNS)), np.zeros((k, COLUMNS))
            self.mean[0, 0] = 1.0
        self.sd = np.sqrt(variance)

    def rows(self, rng: np.random.Generator, y: Any) -> Any:
        return rng.normal(self.mean[y], self.sd[y])

    def log_likelihood(self, x: Any) -> Any:
        return (-np.log(self.sd) - 0.5 * ((x - self.mean) / self.sd) ** 2).sum(axis=1)


FAMILIES = {
    "bernoulli": families.Bernoulli(),
    "categorical": families.Categorical(min_categories=4, from_zero=True),
    "poisson": families.Poisson(),
    "gaussian": families.Gaussian(mean0=0.0, b0=1.0),
}


def covered(
    kind: Callable[..., Any], k: int, n: int, sparse: bool, rng: np.random.Generator
) -> tuple[bool, bool]:
    """Whether one interval holds the truth; and whether it is (0, 1)."""
    while True:
        prior = np.full(k, 1 / k) if sparse else rng.dirichlet(np.ones(k))
        truth = kind(rng, k, sparse)
        y = rng.choice(k, n, p=prior)
        if len(np.unique(y)) == k:
            break
    X = truth.rows(rng, y)
    model = NaiveBayes.textbook(FAMILIES[truth.family], class_prior="smoothed")
    model.fit(X, y)
    row = truth.rows(rng, rng.choice(k, 1, p=prior))
    ends = model.predict_proba_interval(row)[0]
    joint = np.log(prior) + truth.log_likelihood(row[0])
    p = np.exp(joint - np.logaddexp.reduce(joint))
    return bool(ends[0, 0] <= p[0] <= ends[0, 1]), bool(ends[0, 0] == 0 and ends[0, 1] == 1)


def main() -> None:
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    for sparse in (False, True):
        print("fixed sparse truths" if sparse else "truths from the prior", flush=True)
        for kind in (Bernoulli, Categorical, Poisson, Gaussian):
            for k in (2, 3):
                cells = []
                for n in SIZES:
                    rng = np.random.default_rng([n, k, sparse])
                    found = [covered(kind, k, n, sparse, rng)[0] for _ in range(draws)]
                    cells.append(f"{100 * np.mean(found):.1f} %")
                print(f"| {kind.__name__} | {k} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
