"""A candidate that is behind on the first fold is not fitted to the others."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from suffice import AutoClassifier
from suffice.ensemble import auto, racing
from suffice.ensemble.racing import is_behind
from suffice.errors import DataError


def found(mean: float, n: int = 4_000, seed: int = 0) -> Any:
    """Rows whose losses have a mean, and what all candidates share."""
    rng = np.random.default_rng(seed)
    losses = np.random.default_rng(99).exponential(size=n) + mean + 0.1 * rng.normal(size=n)
    return SimpleNamespace(label_scores=(np.stack([-losses, np.ones(n)], axis=1),))


def test_behind_is_worse_than_the_best_beyond_chance() -> None:
    others = {"a": found(0.0, seed=1), "b": found(0.01, seed=2), "c": DataError("no", "rule")}
    assert is_behind(found(0.05), others, 2)
    assert not is_behind(found(0.05), others, 3)  # only two can be averaged
    assert not is_behind(found(0.012), others, 2)  # of b within 3 standard errors
    assert is_behind(found(0.012), others, 1)
    assert not is_behind(found(0.05, n=1_000), {"a": found(0.0, n=1_000)}, 1)


def test_one_that_is_behind_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 2)) + y[:, None]
    whole = AutoClassifier(["naive-bayes", "rda"], best=1).fit(X, y)
    assert all(one.refusal is None for one in whole.candidates_)
    assert auto.DEAR is racing.DEAR
    monkeypatch.setattr(auto, "is_behind", lambda *_: True)
    model = AutoClassifier(["rda", "naive-bayes"], best=1).fit(X, y)
    (refused,) = [one for one in model.candidates_ if one.refusal]
    assert refused.name == "rda"
    assert "after the first fold 1 others are better; its log loss there is" in str(refused.refusal)
    assert [type(member).__name__ for member in model.members_] == ["NaiveBayes"]
