"""Families that are compared by rows left out, where cuts have seen these rows."""

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.families.density import histogram, log_losses
from suffice.families.univariate.cells import cells_of_column


def chosen(x: np.ndarray, y: np.ndarray) -> str:
    model = NaiveBayes.textbook(numbers="density").fit(x[:, None], y)
    return model.model_.parameters[0].choices[0].shape


def test_shifted_normals_are_never_histograms() -> None:
    """Cuts that the rows left out have made won 7 of these 20 tables."""
    y = np.arange(200) % 2
    found = [chosen(np.random.default_rng(s).normal(size=200) + y, y) for s in range(20)]
    assert set(found) == {"kernel_density"}


def test_steps_are_histograms() -> None:
    """The class is decided at two thresholds, and labels are noisy."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=400)
    y = ((x > 0.3) & (x < 0.8)) ^ (rng.random(400) < 0.1)
    assert chosen(x, y) == "histogram"


@pytest.mark.parametrize("differ", [False, True])
def test_a_cut_costs_3_nats(differ: bool) -> None:
    rng = np.random.default_rng(1)
    x = rng.uniform(size=300)
    y = x > 0.5 if differ else rng.integers(0, 2, 300)
    model = NaiveBayes.textbook(numbers="density").fit(x[:, None], y)
    density = histogram(cells_of_column(model.statistic_.blocks[0].bins, 0), 10)[1]
    own, others = density.without_one, density.log_density[::-1]
    n = density.counts.sum(axis=1, keepdims=True)
    p = n * np.exp(own) / (n * np.exp(own) + n[::-1] * np.exp(others))
    shown = density.counts > 0
    plain = -(density.counts[shown] * np.log(p[shown])).sum()
    cuts = 1 if differ else 0  # ten bins of equal frequency are made by no class
    assert density.counts.shape[1] == (2 if differ else 10)
    assert log_losses(density) == pytest.approx(plain + 3 * cuts, rel=1e-12)
