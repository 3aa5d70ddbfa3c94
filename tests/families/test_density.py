"""Families that are compared by rows left out, where cuts have seen these rows."""

from typing import Any

import numpy as np
import pytest

import suffice
from suffice import NaiveBayes
from suffice.errors import ParameterError
from suffice.families import density
from suffice.families.densities.cells import cells_of_column
from suffice.families.density import Chosen, histogram, log_losses
from suffice.rules import check


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
    density = histogram(cells_of_column(model.statistic_.blocks[0].bins, 0))
    own, others = density.without_one, density.piece.log_density[::-1]
    n = density.counts.sum(axis=1, keepdims=True)
    p = n * np.exp(own) / (n * np.exp(own) + n[::-1] * np.exp(others))
    shown = density.counts > 0
    plain = -(density.counts[shown] * np.log(p[shown])).sum()
    cuts = 1 if differ else 0  # ten bins of equal frequency are made by no class
    assert density.counts.shape[1] == (2 if differ else 10)
    assert log_losses(density) == pytest.approx(plain + 3 * cuts, rel=1e-12)


# -- a loaded model chooses nothing anew, and is the model that was saved, to the bit


def rows(n: int, seed: int) -> tuple[dict[str, Any], np.ndarray]:
    """Numbers of every shape, a category, a constant, and numbers far from 0."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    sides = y * rng.choice([-3, 3], n)
    return {
        "near": rng.normal(size=n) + y,
        "around": rng.normal(size=n) + sides,
        "waves": (y + 1) * np.sin(rng.uniform(0, 6, n)) + 0.2 * rng.normal(size=n),
        "steps": rng.uniform(0, 1, n) ** (1 + 3 * y),
        "far": 1e6 + rng.normal(size=n) + y,
        "code": rng.integers(0, 3, n),
        "whole": rng.integers(0, 2_000, n) + 300 * y,
        "same": np.ones(n),
    }, y


def choices(model: Any) -> list[Any]:
    return [of.choices for of in model.model_.parameters if hasattr(of, "choices")]


OPTIONS = [{}, {"calibration": "none"}, {"families": "density"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_a_loaded_model_is_the_one_that_was_saved(options, tmp_path, monkeypatch):
    X, y = rows(600, 1)
    model = NaiveBayes(**options).fit(X, y)
    assert len({choice.shape for of in choices(model) for choice in of}) > 2
    model.save(tmp_path / "model")
    with monkeypatch.context() as patched:
        patched.setattr(density, "log_losses", None)  # nothing is compared
        loaded = suffice.load(tmp_path / "model")
        more, _ = rows(200, 0)
        assert np.array_equal(
            loaded.predict_joint_log_proba(more), model.predict_joint_log_proba(more)
        )
    assert choices(loaded) == choices(model)
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


def test_further_rows_are_compared_anew(tmp_path):
    first, second = rows(300, 0), rows(300, 1)
    whole = NaiveBayes(calibration="none").fit(*first).partial_fit(*second)
    part = NaiveBayes(calibration="none").fit(*first)
    part.save(tmp_path / "part")
    loaded = suffice.load(tmp_path / "part").partial_fit(*second)
    assert choices(loaded) == choices(whole)
    assert loaded.model_.chosen == ()
    assert choices(loaded.forget(*second)) == choices(part)


def test_choices_keep_their_rules():
    shape, bandwidth, some = np.zeros(1, np.int8), np.zeros(1), np.ones(1, bool)
    check(Chosen(shape, bandwidth, some, np.array([[np.inf], [0.0]])))
    for compared, losses, said in (
        (some, np.zeros((3, 1)), "every shape has a loss"),
        (some, np.full((2, 1), np.nan), "every shape has a loss"),
        (~some, np.zeros((2, 1)), "there was a choice"),
    ):
        with pytest.raises(ParameterError, match=said):
            check(Chosen(shape, bandwidth, compared, losses))
    assert Chosen.of(None) is None
