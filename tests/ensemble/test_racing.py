"""A candidate that is behind on the first fold is not fitted to the others."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from suffice import AutoClassifier
from suffice.ensemble import candidates
from suffice.ensemble.candidates import Folds
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
    assert not is_behind(found(0.05), {"a": found(0.0, n=1_000)}, 1)  # not of the same rows
    assert not is_behind(DataError("no", "rule"), others, 1)


def test_many_rows_are_raced() -> None:
    y = np.arange(45_000) % 3
    parts = {part: list(Folds(0, part).split(None, y)) for part in ("all", "first", "rest")}
    assert [len(parts[part]) for part in parts] == [2, 1, 1]
    for whole, part in zip(parts["all"], parts["first"] + parts["rest"], strict=True):
        np.testing.assert_array_equal(whole[0], part[0])
        np.testing.assert_array_equal(whole[1], part[1])
    few = Folds(0, "first")
    assert len(list(few.split(None, y[:19_000]))) == 4  # of 1,900 rows
    assert (few.raced, few.left) == (False, 0)
    assert not list(Folds(0, "rest").split(None, y[:19_000]))


def test_one_that_is_behind_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """The distance to the origin tells the class: linear discriminants are of no use."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1_000)
    X = rng.normal(size=(1_000, 4)) * (1 + 2 * y[:, None])
    names = ["lda", "qda"]
    whole = AutoClassifier(names, best=1).fit(X, y)
    assert all(one.refusal is None for one in whole.candidates_)
    assert [one.name for one in whole.candidates_][-1] == "lda"
    monkeypatch.setattr(candidates, "LEAST_RACED", 100)
    model = AutoClassifier(names, best=1).fit(X, y)
    refused = {one.name: str(one.refusal) for one in model.candidates_ if one.refusal}
    assert "lda" in refused
    assert "others are clearly better on the first fold; its log loss there is" in refused["lda"]
    judged = {one.name: one.log_loss for one in whole.candidates_}
    for one in model.candidates_:
        if one.refusal is None:  # by the first fold and the rest, which are all
            assert one.log_loss == pytest.approx(judged[one.name], rel=1e-9)
    assert len(model.members_) == 1


def test_copies_of_a_row_are_in_one_fold() -> None:
    rng = np.random.default_rng(0)
    row = rng.permutation(np.tile(np.arange(60), 5))
    y = row % 3
    asked = [set(row[places]) for _, places in Folds(0, together=True).split(None, y, row)]
    assert sorted(number for fold in asked for number in fold) == list(range(60))
    apart = [test for _, test in Folds(0).split(None, y)]
    alone = [test for _, test in Folds(0, together=True).split(None, y, np.arange(300))]
    assert all((a == b).all() for a, b in zip(apart, alone, strict=True))
