"""A third value in a column that showed two.

Where rows are answered it is missing. In rows to learn from it is refused.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from suffice import NaiveBayes, load
from suffice.errors import DataError, SchemaError

N = 60
RNG = np.random.default_rng(55)
CODE = RNG.integers(0, 2, N)
TWO = (RNG.random(N) < 0.2 + 0.6 * CODE).astype(np.int64)
LABEL = np.array(["no", "yes"])[CODE]


def rows(low: int) -> pa.Table:
    two = np.where(TWO == 1, 1, low)
    return pa.table({"two": two, "size": RNG_SIZE, "kind": LABEL})


RNG_SIZE = RNG.normal(size=N) + CODE


def in_csv(table: pa.Table, home: Path) -> Path:
    pyarrow.csv.write_csv(table, home / "t.csv")
    return home / "t.csv"


def in_parquet(table: pa.Table, home: Path) -> Path:
    pq.write_table(table, home / "t.parquet")
    return home / "t.parquet"


FORMS: dict[str, Callable[[pa.Table, Path], Any]] = {
    "pyarrow": lambda table, home: table,
    "pandas": lambda table, home: table.to_pandas(),
    "pandas nullable": lambda table, home: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, home: pl.from_arrow(table),
    "CSV": in_csv,
    "Parquet": in_parquet,
}
ROWS_OF_A_BATCH = 70_000  # or fewer
STRANGE: dict[int, list[float]] = {0: [-1, 10**15], -1: [0, 0.5]}


@pytest.mark.parametrize(("form", "low"), list(zip(FORMS, 3 * [0, -1], strict=True)))
def test_it_counts_as_missing_where_rows_are_answered(form: str, low: int, tmp_path: Path) -> None:
    given = FORMS[form]
    model = NaiveBayes.textbook().fit(given(rows(low), tmp_path), "kind")
    assert (model.schema_[0].kind, model.schema_[0].reason) == ("binary", f"only {low} and 1")
    model.save(tmp_path / "m.suffice")
    for known in (model, load(tmp_path / "m.suffice")):
        for strange in STRANGE[low]:
            cells = [strange, low, 1]
            table = pa.table({"two": cells, "size": RNG_SIZE[:3], "kind": LABEL[:3]})
            missing = table.set_column(0, "two", pa.array([None, low, 1]))
            x, y = (t.drop(["kind"]) for t in (table, missing))
            expected = known.predict_joint_log_proba(y)
            found = known.predict_joint_log_proba(given(x, tmp_path))
            np.testing.assert_array_equal(found, expected)
            explained = known.explain(given(x, tmp_path)).contributions
            assert not explained[0, 0].any()
            assert explained[1:, 0].all()
            assert known.evaluate(given(table, tmp_path), "kind") == known.evaluate(missing, "kind")


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.float64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_so_it_does_in_arrays(dtype: Any, order: Any) -> None:
    x = np.column_stack([TWO, 1 - TWO, CODE ^ 1]).astype(np.int64)
    model = NaiveBayes.textbook().fit(x, LABEL)
    new = np.array([[0, 1, 1], [2, 1, 0], [1, 100, 1]], dtype=dtype, order=order)
    expected = model.predict_joint_log_proba([[0, 1, 1], [np.nan, 1, 0], [1, np.nan, 1]])
    np.testing.assert_array_equal(model.predict_joint_log_proba(new), expected)
    assert model.score(new, LABEL[:3]) == model.score(np.where(new > 1, np.nan, new), LABEL[:3])


def test_so_it_does_in_a_column_of_booleans() -> None:
    table = rows(0)
    model = NaiveBayes.textbook().fit(
        table.set_column(0, "two", table["two"].cast(pa.bool_())), "kind"
    )
    size = RNG_SIZE[:4]
    expected = model.predict_joint_log_proba({"two": [None, None, True, False], "size": size})
    found = model.predict_joint_log_proba({"two": [2, -1, 1, 0], "size": size})
    np.testing.assert_array_equal(found, expected)
    with pytest.raises(SchemaError, match="column 'two'"):
        model.predict({"two": ["maybe"] * 4, "size": size})


@pytest.mark.parametrize(("low", "third"), [(0, 2), (0, -1), (-1, 0)])
def test_it_is_refused_on_request(low: int, third: int) -> None:
    new = {"two": [1, third], "size": [0.0, 0.0]}
    for families in (None, {"two": "bernoulli"}):
        model = NaiveBayes.textbook(families, unseen="error").fit(rows(low), "kind")
        with pytest.raises(DataError) as caught:
            model.predict(new)
        assert f"column 'two', row 1: {third}" in str(caught.value)


def test_two_outcomes_have_no_room_for_more() -> None:
    table = rows(0).append_column("color", pa.array(["red", "blue"] * (N // 2)))
    model = NaiveBayes.textbook(unseen="smooth").fit(table, "kind")
    new = {"two": [2, 0], "size": [0.0, 1.0], "color": ["green", "red"]}
    expected = model.predict_joint_log_proba({**new, "two": [None, 0]})
    np.testing.assert_array_equal(model.predict_joint_log_proba(new), expected)


SENTENCE = (
    "the first rows of this column hold only 0 and 1, so it has two values; give it a family of "
    "numbers when it is first fitted: families={'column': 'gaussian'}."
)


@pytest.mark.parametrize("third", [2, -1])
def test_rows_to_learn_from_name_it(third: int, tmp_path: Path) -> None:
    model, table = NaiveBayes.textbook().fit(rows(0), "kind"), rows(0)
    bad = table.set_column(0, "two", pa.array([*TWO[:-1], third]))
    before = model.statistic_
    for learn in (model.partial_fit, model.forget):
        with pytest.raises(DataError) as caught:
            learn(bad, "kind")
        assert str(caught.value) == f"column 'two', row {N - 1}: {third}; {SENTENCE}"
    with pytest.raises(DataError) as caught:
        model.partial_fit(in_csv(bad, tmp_path), "kind")
    assert str(caught.value) == f"column 'two', line {N + 1} of t.csv: {third}; {SENTENCE}"
    assert model.statistic_ == before
    array = NaiveBayes.textbook().fit(TWO[:, None], LABEL)
    with pytest.raises(DataError) as caught:
        array.partial_fit(np.array([[0], [third]]), LABEL[:2])
    assert str(caught.value) == f"column 'x0', row 1: {third}; {SENTENCE}"


@pytest.mark.parametrize("third", [2, -1])
def test_it_is_named_in_later_rows_of_one_fit(third: int) -> None:
    two = np.tile(TWO, ROWS_OF_A_BATCH // N + 2)
    two[ROWS_OF_A_BATCH + 3] = third
    label = np.tile(LABEL, ROWS_OF_A_BATCH // N + 2)
    with pytest.raises(DataError) as caught:
        NaiveBayes.textbook().fit(two[:, None], label)
    assert str(caught.value) == f"column 'x0', row {ROWS_OF_A_BATCH + 3}: {third}; {SENTENCE}"
    model = NaiveBayes.textbook({"two": "categorical"}).fit({"two": two}, label)
    assert model.model_.parameters[0].values(0) == tuple(sorted([0, 1, third]))
