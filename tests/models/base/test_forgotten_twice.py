"""A set of rows that a model has forgotten is not forgotten again unasked."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy.sparse import random as random_sparse

from suffice import AODE, LinearDiscriminantAnalysis, NaiveBayes, load
from suffice.errors import ForgetError
from suffice.linear_model import LinearRegression, Ridge
from suffice.models.base import forgotten
from suffice.naive_bayes import GaussianNB, MultinomialNB

N = 400
RNG = np.random.default_rng(0)
# Every row stands there twice, so that sums could lose it twice.
ONCE = pd.DataFrame(
    {
        "a": RNG.normal(size=N // 2).round(2),
        "b": RNG.choice(list("xyz"), N // 2),
        "k": RNG.integers(0, 5, N // 2),
        "w": RNG.choice([1.0, 2.0, 0.5], N // 2),
        "y": RNG.choice(["no", "yes"], N // 2),
        "z": RNG.normal(size=N // 2).round(2),
    }
)
ONCE.loc[::9, "a"] = np.nan
ROWS = pd.concat([ONCE, ONCE], ignore_index=True)
GONE, OTHERS = slice(10, 40), slice(60, 80)
MODELS: dict[str, tuple[Callable[[], Any], list[str], str]] = {
    "naive Bayes": (NaiveBayes, ["a", "b", "k"], "y"),
    "pairs": (AODE, ["a", "b", "k"], "y"),
    "LDA": (LinearDiscriminantAnalysis, ["k", "z"], "y"),
    "linear": (lambda: LinearRegression(incomplete="gaussian"), ["a", "b", "k"], "z"),
    "ridge": (lambda: Ridge(incomplete="drop"), ["a", "b"], "z"),
}
pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")


def refuses(model: Any, *rows: Any) -> bool:
    """Whether a model refuses to forget, because it has done so; it stays as it was then."""
    before = deepcopy(model.statistic_)
    try:
        deepcopy(model).forget(*rows)
    except ForgetError as error:
        assert model.statistic_ == before
        return "before" in error.fact
    return False


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("name", MODELS)
def test_in_any_order_from_any_source(name: str, weight: str | None, tmp_path: Path) -> None:
    make, columns, label = MODELS[name]
    table = ROWS[[*columns, label, *([weight] if weight else [])]]
    gone = table[GONE]
    model = make().fit(table, label, weight)
    assert not refuses(model, gone, label, weight)
    model.forget(gone, label, weight).forget(table[OTHERS], label, weight)
    gone.sample(frac=1, random_state=1).to_csv(tmp_path / "gone.csv", index=False)
    gone[gone.columns[::-1]].to_parquet(tmp_path / "gone.parquet", index=False)
    model.save(tmp_path / "model")
    sources = [gone, gone[::-1], tmp_path / "gone.csv", tmp_path / "gone.parquet", pa.table(gone)]
    for one in (model, load(tmp_path / "model")):
        assert all(refuses(one, rows, label, weight) for rows in sources)
        assert not refuses(one, gone[1:], label, weight)
        twice = one.forget(gone, label, weight, again=True)
        assert len(twice.forgotten_) == 2


def test_arrays_and_sparse_rows() -> None:
    counts = (random_sparse(N, 20, 0.3, random_state=0, format="csr") * 9).floor()
    y = RNG.integers(0, 2, N)
    cases = [
        (GaussianNB, np.repeat(RNG.normal(size=(N // 2, 3)), 2, axis=0)),
        (MultinomialNB, counts),
        (LinearRegression, counts),
    ]
    for make, x in cases:
        model, gone, labels = make().fit(x, y), x[4:20], y[4:20]
        model.forget(gone, labels)
        assert refuses(model, gone[::-1], labels[::-1])
        if x is counts:
            assert refuses(model, gone.toarray(), labels)


def test_what_was_learnt_again_can_be_forgotten_again() -> None:
    gone = ROWS[GONE]
    model = NaiveBayes.textbook().fit(ROWS, "y").forget(gone, "y")
    model.partial_fit(gone[::-1], "y")
    assert model.forgotten_ == ()
    assert not refuses(model, gone, "y")


def test_a_fit_begins_anew() -> None:
    for make, label in ((NaiveBayes.textbook, "y"), (LinearRegression, "z")):
        rows = ROWS.dropna()
        model = make().fit(rows, label).forget(rows[GONE], label)
        assert len(model.forgotten_) == 1
        assert not refuses(model.fit(rows, label), rows[GONE], label)


def test_a_merged_model_remembers_what_either_forgot() -> None:
    gone, others = ROWS[GONE], ROWS[OTHERS]
    mine = NaiveBayes.textbook().fit(ROWS, "y").forget(gone, "y")
    theirs = NaiveBayes.textbook().fit(ROWS, "y").forget(others, "y").forget(gone, "y")
    mine.merge(theirs)
    assert len(mine.forgotten_) == 3
    assert len({entry[:16] for entry in mine.forgotten_}) == 2
    assert refuses(mine, gone, "y")
    assert refuses(mine, others, "y")


def test_the_last_thousand_are_remembered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert forgotten.MOST == 1_000
    monkeypatch.setattr(forgotten, "MOST", 50)
    x = np.arange(150.0)[:, None]
    model = GaussianNB().fit(np.repeat(x, 3, axis=0), np.tile([0, 0, 1], 150))
    for row in x[:55]:
        model.forget([row], [0])
    assert len(model.forgotten_) == 50
    assert refuses(model, [x[5]], [0])
    assert not refuses(model, [x[4]], [0])
    model.save(tmp_path / "model")
    assert load(tmp_path / "model").forgotten_ == model.forgotten_


def test_the_same_rows_have_other_digests_in_another_model() -> None:
    one, other = (GaussianNB().fit(ROWS[["k", "z"]], ROWS["y"]) for _ in range(2))
    for model in (one, other):
        model.forget(ROWS[["k", "z"]][GONE], ROWS["y"][GONE])
    assert set(one.forgotten_).isdisjoint(other.forgotten_)
    assert {len(entry) for entry in one.forgotten_} == {32}


def test_sets_that_are_refused_otherwise_are_not_remembered() -> None:
    model = GaussianNB().fit([[1.0], [2.0], [3.0]], [0, 1, 1])
    with pytest.raises(ForgetError, match="fewer rows"):
        model.forget([[9.0]] * 3, [0] * 3)
    assert model.forgotten_ == ()
