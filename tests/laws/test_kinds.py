"""What an integer column is follows from all rows that a model holds, and from nothing else."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.kind_laws import check_kinds

from suffice import NaiveBayes
from suffice.data.schema import Column
from suffice.errors import SufficeWarning
from suffice.naive_bayes import CategoricalNB, GaussianNB

LEARNERS: dict[str, Any] = {
    "default": NaiveBayes,
    "textbook": NaiveBayes.textbook,
    "mle": lambda: NaiveBayes(estimation="mle", calibration="none"),
    "histogram": lambda: NaiveBayes.textbook(numbers="histogram"),
    "kernels": lambda: NaiveBayes.textbook(numbers="kernel_density", unseen="smooth"),
}
VALUES = {
    "two": lambda rng, n: rng.integers(0, 2, n),
    "signs": lambda rng, n: rng.choice([-1, 1], n),
    "few": lambda rng, n: rng.integers(-2, 3, n),
    "nearly few": lambda rng, n: np.append(rng.integers(0, 2, n - 1), 300),
    "as many as may be": lambda rng, n: rng.integers(0, 20, n),
    "one too many": lambda rng, n: rng.integers(0, 21, n),
    "at the end": lambda rng, n: rng.integers(254, 258, n),
    "years": lambda rng, n: rng.integers(2007, 2010, n),
    "large": lambda rng, n: rng.integers(-(2**50), 2**50, n),
    "one": lambda rng, n: np.full(n, 7),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.sampled_from([12, 47, 230]))
    columns: dict[str, Any] = {}
    for name in draw(st.lists(st.sampled_from(sorted(VALUES)), min_size=1, max_size=4)):
        cells = pa.array(VALUES[name](rng, n), mask=rng.random(n) < draw(st.sampled_from([0, 0.3])))
        columns[f"{name} {len(columns)}"] = cells
    if draw(st.booleans()):
        columns["size"] = rng.normal(size=n)
    return pa.table({**columns, "kind": np.resize(["a", "b", "a"], n)})


@pytest.mark.parametrize("learner", LEARNERS)
@settings(max_examples=6, deadline=None)
@given(table=tables(), seed=st.integers(0, 2**32 - 1))
def test_all_rows_decide(learner: str, table: pa.Table, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        check_kinds(LEARNERS[learner], table, "kind", seed)


class ByFirstRows(NaiveBayes):
    """As it was: the rows of the first table decide."""

    def _described(self, source: Any) -> Sequence[Column]:
        cells = source.table.head().column("x")
        kind: Any = "category" if len(cells.unique()) <= 20 else "real"
        return tuple(replace(column, kind=kind) for column in super()._described(source))


def test_the_law_finds_kinds_that_the_first_rows_decide() -> None:
    table = pa.table({"x": [1, 2, 3] * 100 + list(range(20, 40)), "kind": ["a", "b"] * 160})
    with pytest.raises(AssertionError, match="partial_fit in any parts = fit"):
        check_kinds(lambda: ByFirstRows(calibration="none"), table, "kind")


def test_the_first_rows_of_a_text_file_do_not_say_that_later_ones_are_whole(
    tmp_path: Path,
) -> None:
    whole, parts = tmp_path / "all.csv", [tmp_path / "a.csv", tmp_path / "b.csv"]
    rows = [f"{q},{'ab'[i % 2]}" for i, q in enumerate([1, 2, 3] * 20)]
    more = ["1.5,a", "2,b"]
    whole.write_text("\n".join(["x,kind", *rows, *more]))
    parts[0].write_text("\n".join(["x,kind", *rows]))
    parts[1].write_text("\n".join(["x,kind", *more]))
    model = NaiveBayes.textbook().fit(parts[0], "kind")
    assert model.schema_[0].kind == "category"
    model.partial_fit(parts[1], "kind")
    assert model.schema_[0].kind == "real"
    expected = NaiveBayes.textbook().fit(whole, "kind")
    found = [one.predict_joint_log_proba({"x": [1, 1.5, 9]}) for one in (model, expected)]
    np.testing.assert_array_equal(*found)
    model.forget(parts[1], "kind")
    assert model.schema_[0].reason == "3 whole numbers, each seen 20 times on average"


@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        (pa.array([1, 2] * 20).dictionary_encode(), "category"),
        (pa.array([True, False] * 20), "binary"),
        (pa.array(["1", "2"] * 20), "category"),
        (pa.array([1.0, 2.0] * 20), "real"),
    ],
)
def test_what_a_type_states_never_changes(cells: Any, kind: str) -> None:
    table = pa.table({"x": cells, "kind": ["a", "b", "b", "a"] * 10})
    model = NaiveBayes.textbook().fit(table, "kind")
    for _ in range(3):
        assert model.schema_[0] == model.layout_.columns[0]
        assert model.schema_[0].kind == kind
        model.partial_fit(table[:3], "kind")


def test_what_families_fix_never_changes() -> None:
    table = pa.table({"x": [1, 2] * 20, "kind": ["a", "b", "b", "a"] * 10})
    more = pa.table({"x": list(range(400)), "kind": ["a", "b"] * 200})
    for family in ("categorical", "gaussian", "poisson"):
        model = NaiveBayes.textbook({"x": family}).fit(table, "kind").partial_fit(more, "kind")
        assert model.model_.family_names == {"x": family}


def test_a_named_family_says_what_kind_integers_are() -> None:
    table = {"a": np.arange(60) % 3, "b": np.arange(60) % 5, "c": np.arange(60)}
    y = np.arange(60) % 2
    named = NaiveBayes(families={"a": "gaussian", "c": "categorical"}).fit(table, y)
    assert [column.kind for column in named.schema_] == ["real", "category", "category"]
    assert [column.reason for column in named.schema_][::2] == ["whole numbers"] * 2
    assert {column.kind for column in GaussianNB().fit(table, y).schema_} == {"real"}
    assert {column.kind for column in CategoricalNB().fit(table, y).schema_} == {"category"}
