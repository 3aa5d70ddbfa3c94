"""Integers are numbers, and 0 and 1 are outcomes: one model from every source, and one answer."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from suffice import NaiveBayes, load
from suffice.errors import DataError, SchemaError, SufficeWarning
from suffice.model_selection import cross_val_predict
from suffice.naive_bayes import BernoulliNB, GaussianNB

N = 120
RNG = np.random.default_rng(22)
Y = RNG.choice(["a", "b"], N)
COLUMNS = {
    "hit": (RNG.random(N) < np.where(Y == "a", 0.8, 0.3)).astype(int),
    "grade": RNG.integers(1, 4, N) + (Y == "b"),
    "sign": RNG.choice([-1, 1], N),
}
KINDS = [("hit", "binary"), ("grade", "real"), ("sign", "binary")]
GAPS = pd.DataFrame(COLUMNS).astype("Int64").mask(RNG.random((N, 3)) < 0.1)


def written(suffix: str, write: Callable[[pd.DataFrame, Path], Any]) -> Callable[..., Path]:
    def made(table: pd.DataFrame, home: Path) -> Path:
        path = home / f"{len(list(home.iterdir()))}{suffix}"
        write(table, path)
        return path

    return made


SOURCES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "CSV": written(".csv", lambda table, path: table.to_csv(path, index=False)),
    "Parquet": written(".parquet", lambda table, path: table.to_parquet(path, index=False)),
    "JSON lines": written(
        ".jsonl", lambda table, path: table.to_json(path, orient="records", lines=True)
    ),
    "Excel": written(".xlsx", lambda table, path: table.to_excel(path, index=False)),
    "Int64": lambda table, home: table,
    "Arrow": lambda table, home: pa.Table.from_pandas(table, preserve_index=False),
    "polars": lambda table, home: pl.from_pandas(table),
    "float with NaN": lambda table, home: table.astype(
        {name: np.float64 for name in COLUMNS if name in table}
    ),
    "dict": lambda table, home: {
        name: [None if cell is pd.NA else cell for cell in table[name].tolist()] for name in table
    },
}
COMPLETE = SOURCES | {
    "int64": lambda table, home: table.astype(
        {name: np.int64 for name in COLUMNS if name in table}
    ),
    "int8": lambda table, home: table.astype({name: np.int8 for name in COLUMNS if name in table}),
}


@pytest.mark.parametrize("gaps", [False, True], ids=["complete", "gaps"])
@pytest.mark.parametrize("make", [NaiveBayes, NaiveBayes.textbook])
def test_one_model_and_one_answer_from_every_source(make: Any, gaps: bool, tmp_path: Path) -> None:
    table = GAPS if gaps else pd.DataFrame(COLUMNS).astype("Int64")
    sources = SOURCES if gaps else COMPLETE
    asked = {name: given(table, tmp_path) for name, given in sources.items()}
    expected = make().fit(table.assign(y=Y), "y").predict_proba(table)
    for name, given in sources.items():
        model = make().fit(given(table.assign(y=Y), tmp_path), "y")
        assert [(c.name, c.kind) for c in model.schema_] == KINDS, name
        for new in asked.values() if name == "CSV" else [asked[name]]:
            np.testing.assert_array_equal(model.predict_proba(new), expected, name)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.float32, np.float64])
def test_arrays_make_the_model_of_a_frame(dtype: Any) -> None:
    table = pd.DataFrame(COLUMNS)
    if dtype is np.uint8:
        table = table[["hit", "grade"]]
    expected = NaiveBayes.textbook().fit(table, Y).predict_proba(table)
    x = table.to_numpy(dtype)
    model = NaiveBayes.textbook().fit(x, Y)
    assert [column.kind for column in model.schema_] == [kind for _, kind in KINDS][: x.shape[1]]
    for new in (x, np.asfortranarray(x), table.to_numpy(np.float64)):
        np.testing.assert_array_equal(model.predict_proba(new), expected)


def test_an_array_with_gaps_makes_the_model_of_a_frame() -> None:
    x = GAPS.to_numpy(np.float64, na_value=np.nan)
    expected = NaiveBayes.textbook().fit(GAPS, Y).predict_proba(GAPS)
    np.testing.assert_array_equal(NaiveBayes.textbook().fit(x, Y).predict_proba(x), expected)
    expected = NaiveBayes().fit(GAPS, Y).predict_proba(GAPS)  # names order the rows of a sample
    np.testing.assert_allclose(NaiveBayes().fit(x, Y).predict_proba(x), expected, rtol=1e-12)


def test_true_and_false_are_1_and_0(tmp_path: Path) -> None:
    numbers = GAPS[["hit"]].assign(y=Y)
    outcomes = numbers.astype({"hit": "boolean"})
    expected = NaiveBayes().fit(numbers, "y").predict_proba(numbers)
    tables = {
        f"{name} {t['hit'].dtype}": given(t, tmp_path)
        for t in (numbers, outcomes)
        for name, given in SOURCES.items()
        if name in ("CSV", "Parquet", "JSON lines", "Int64", "polars")
    }
    for name, table in tables.items():
        model = NaiveBayes().fit(table, "y")
        for asked in tables.values() if name.startswith("CSV") else [table]:
            np.testing.assert_array_equal(model.predict_proba(asked), expected, name)


def test_a_column_of_0_and_1_has_the_posterior_predictive_of_a_bernoulli() -> None:
    model = NaiveBayes.textbook(class_prior="uniform").fit({"hit": COLUMNS["hit"]}, Y)
    n, hits = (Y == "a").sum(), COLUMNS["hit"][Y == "a"].sum()
    m, others = (Y == "b").sum(), COLUMNS["hit"][Y == "b"].sum()
    a, b = (hits + 1) / (n + 2), (others + 1) / (m + 2)
    found = model.predict_proba({"hit": [1, 0, None]})[:, 0]
    np.testing.assert_allclose(found, [a / (a + b), (1 - a) / (2 - a - b), 0.5], rtol=1e-14)


@pytest.mark.parametrize(("estimation", "alpha"), [("bayes", 0.5), ("map", 2.0)])
def test_rows_left_out_are_those_of_fits_to_all_others(estimation: Any, alpha: float) -> None:
    table, y = GAPS[["hit", "sign"]][:15], Y[:15]
    table.loc[:, "one"] = pd.array([1] + [0] * 14, "Int64")
    model = NaiveBayes.textbook({"one": "bernoulli"}, estimation=estimation, alpha=alpha)
    found = cross_val_predict(model, table, y, cv="loo", method="predict_proba")
    folds = [
        model.fit(table.drop(i), np.delete(y, i)).predict_proba(table[i : i + 1])[0]
        for i in range(15)
    ]
    np.testing.assert_allclose(found, folds, rtol=0, atol=1e-12)


def test_integers_have_the_family_of_numbers() -> None:
    grade = {"grade": COLUMNS["grade"]}
    expected = GaussianNB().fit(grade, Y).predict_proba(grade)
    found = NaiveBayes(estimation="mle", calibration="none").fit(grade, Y).predict_proba(grade)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_codes_are_told() -> None:
    grade = COLUMNS["grade"]
    expected = NaiveBayes.textbook({"grade": "categorical"}).fit({"grade": grade}, Y)
    assert [column.kind for column in expected.schema_] == ["category"]
    for told in (
        pd.DataFrame({"grade": pd.Categorical(grade)}),
        pl.DataFrame({"grade": grade.astype(str)}, schema={"grade": pl.Enum(list("1234"))}),
    ):
        found = NaiveBayes.textbook().fit(told, Y)
        assert [column.kind for column in found.schema_] == ["category"]
        np.testing.assert_array_equal(
            found.predict_proba(told), expected.predict_proba({"grade": grade})
        )


def test_rows_drawn_are_such_as_were_learnt() -> None:
    model = NaiveBayes().fit(COLUMNS, Y)
    drawn, labels = model.sample(300, random_state=0)
    assert {name: cells.dtype.kind for name, cells in drawn.items()} == dict.fromkeys(COLUMNS, "i")
    assert [set(drawn[name].tolist()) for name in ("hit", "sign")] == [{0, 1}, {-1, 1}]
    again = NaiveBayes().fit(drawn, labels)
    assert [(column.name, column.kind) for column in again.schema_] == KINDS
    measured = NaiveBayes().fit({"hit": COLUMNS["hit"] * 1.0, "size": RNG.random(N)}, Y)
    assert set(measured.sample(50, random_state=0)[0]["hit"].tolist()) == {0.0, 1.0}


# -- the first table says what a column is


class TestAnotherNumberLater:
    """A column of 0 and 1 has two values; a number beside them is refused, and nothing is lost."""

    @pytest.mark.parametrize("form", ["frame", "array", "floats", "CSV"])
    def test_it_is_refused_by_name(self, form: str, tmp_path: Path) -> None:
        first = pd.DataFrame({"hit": COLUMNS["hit"], "grade": COLUMNS["grade"]})
        later = first.copy()
        later.loc[3, "hit"] = 2
        if form == "CSV":
            tables = [SOURCES["CSV"](table.assign(y=Y), tmp_path) for table in (first, later)]
            model, y, where = NaiveBayes().partial_fit(tables[0], "y"), "y", "'hit', line 5 "
        elif form == "frame":
            tables, where, y = [first, later], "'hit', row 3", Y
            model = NaiveBayes().partial_fit(first, y)
        else:
            dtype = np.int64 if form == "array" else np.float64
            tables, where, y = [t.to_numpy(dtype) for t in (first, later)], "'x0', row 3", Y
            model = NaiveBayes().partial_fit(tables[0], y)
        before = model.statistic_
        with pytest.raises(DataError, match=rf"column {where}.*: 2; .*families=") as caught:
            model.partial_fit(tables[1], y)
        assert "0 and 1" in str(caught.value)
        assert model.statistic_ == before
        families = {"x0" if form in ("array", "floats") else "hit": "gaussian"}
        told = NaiveBayes.textbook(families).partial_fit(tables[0], y).partial_fit(tables[1], y)
        assert all(block.total.sum() == 2 * N * block.d for block in told.statistic_.blocks)

    def test_models_that_differ_in_it_are_not_merged(self) -> None:
        hits = NaiveBayes.textbook().fit({"x": COLUMNS["hit"]}, Y)
        grades = NaiveBayes.textbook().fit({"x": COLUMNS["grade"]}, Y)
        for one, other in ((hits, grades), (grades, hits)):
            with pytest.raises(SchemaError, match=r"column 'x' .*families"):
                one.merge(other)
        both = [
            NaiveBayes.textbook({"x": "gaussian"}).fit({"x": COLUMNS[name]}, Y)
            for name in ("hit", "grade")
        ]
        x = np.concatenate([COLUMNS["hit"], COLUMNS["grade"]])
        whole = NaiveBayes.textbook({"x": "gaussian"}).fit({"x": x}, [*Y, *Y])
        assert both[0].merge(both[1]).statistic_ == whole.statistic_

    def test_rows_one_by_one_are_numbers(self) -> None:
        model = NaiveBayes.textbook()
        for x, y in zip([0, 1, 5, 0, 1, 7], "aabbab", strict=True):
            model.partial_fit({"x": [x]}, [y])
        whole = NaiveBayes.textbook().fit({"x": [0, 1, 5, 0, 1, 7]}, list("aabbab"))
        assert model.statistic_ == whole.statistic_

    def test_it_is_missing_in_a_row_that_is_asked_about(self) -> None:
        model = NaiveBayes().fit(COLUMNS, Y)
        asked = {name: cells[:3].tolist() for name, cells in COLUMNS.items()}
        other = {**asked, "hit": [2, 0.5, -1]}
        without = {**asked, "hit": [None, None, None]}
        np.testing.assert_array_equal(model.predict_proba(other), model.predict_proba(without))
        with pytest.raises(DataError, match="column 'hit', row 1: inf; a number must be finite"):
            model.predict({**asked, "hit": [1, np.inf, 0]})


def test_outcomes_of_a_bernoulli_are_told_by_the_table() -> None:
    model = BernoulliNB(binarize=None).fit(pd.DataFrame(COLUMNS)[["hit", "sign"]] * 1.0, Y)
    with pytest.raises(DataError, match="column 'sign', row 1: 0; "):
        model.partial_fit({"hit": [0, 1], "sign": [1, 0]}, ["a", "b"])


# -- columns without a value


@pytest.mark.parametrize(
    "stored", [pa.float64(), pa.int16(), pa.decimal128(15, 2), pa.duration("s")], ids=str
)
def test_a_type_says_what_an_empty_column_holds(stored: pa.DataType) -> None:
    table = pa.table({"grade": COLUMNS["grade"], "late": pa.nulls(N, stored), "y": Y})
    model = NaiveBayes.textbook().fit(table, "y")
    assert [(c.name, c.kind) for c in model.schema_] == [("grade", "real"), ("late", "real")]
    plain = table.drop(["late"])
    expected = NaiveBayes.textbook().fit(plain, "y").predict_proba(plain)
    np.testing.assert_array_equal(model.predict_proba(table), expected)
    width = pa.int64() if pa.types.is_duration(stored) else pa.int32()
    values = pa.array(RNG.integers(0, 50, N), width).cast(stored)
    more = table.set_column(1, "late", values)
    whole = NaiveBayes.textbook().fit(pa.concat_tables([table, more]), "y")
    assert model.partial_fit(more, "y").statistic_ == whole.statistic_


@pytest.mark.parametrize("stored", [pa.null(), pa.string(), pa.dictionary(pa.int8(), pa.string())])
def test_a_column_of_unknown_kind_is_left_out_and_said(stored: pa.DataType, tmp_path: Path) -> None:
    table = pa.table({"grade": COLUMNS["grade"], "note": pa.nulls(N, stored), "y": Y})
    with pytest.warns(SufficeWarning, match="'note'.*families="):
        model = NaiveBayes.textbook().fit(table, "y")
    assert [column.name for column in model.schema_] == ["grade"]
    without = NaiveBayes.textbook().fit(table.drop(["note"]), "y")
    model.save(tmp_path / "m")
    more = table.set_column(1, "note", pa.array(["x", "y"] * (N // 2)))
    path = SOURCES["CSV"](more.to_pandas(), tmp_path)
    for known in (model, load(tmp_path / "m")):
        for asked in (table, more, more.drop(["note"]), path):
            np.testing.assert_array_equal(
                known.predict_proba(asked), without.predict_proba(table.drop(["note", "y"]))
            )
    expected = without.partial_fit(more.drop(["note"]), "y").statistic_
    for known in (model, load(tmp_path / "m")):
        assert known.partial_fit(more, "y").statistic_ == expected


def test_a_family_keeps_a_column_of_unknown_kind() -> None:
    table = pa.table({"grade": COLUMNS["grade"], "note": pa.nulls(N), "y": Y})
    more = table.set_column(1, "note", pa.array(["x", "y"] * (N // 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error", SufficeWarning)
        model = NaiveBayes.textbook({"note": "categorical"}).fit(table, "y")
    empty = table.set_column(1, "note", pa.nulls(N, pa.string()))
    whole = NaiveBayes.textbook({"note": "categorical"})
    whole.fit(pa.concat_tables([empty, more]), "y")
    assert model.partial_fit(more, "y").statistic_ == whole.statistic_


def test_a_family_keeps_a_column_of_a_text_file_whose_values_come_late(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,note,y\n" + "1.5,,a\n" * 65_536 + "2.5,red,b\n3.5,blue,b\n")
    model = NaiveBayes.textbook({"note": "categorical"}).fit(path, "y")
    (counts,) = (b for b in model.statistic_.blocks if hasattr(b, "vocabularies"))
    assert counts.vocabularies[0].values == ("blue", "red")


def test_a_text_file_says_so_of_a_column_without_a_cell(tmp_path: Path) -> None:
    table = pd.DataFrame({"grade": COLUMNS["grade"], "note": None, "y": Y})
    with pytest.warns(SufficeWarning, match="'note'"):
        model = NaiveBayes().fit(SOURCES["CSV"](table, tmp_path), "y")
    assert [column.name for column in model.schema_] == ["grade"]


def test_a_table_of_nothing_else_is_refused() -> None:
    with pytest.raises(DataError, match="no row has a value in 'note'"):
        NaiveBayes().fit({"note": [None] * 4}, list("abab"))


def test_labels_that_come_late_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n" + "1,\n" * 65_536 + "2,a\n3,b\n")
    with pytest.raises(SchemaError, match="label 'y' has no value in the first 65,536 rows"):
        NaiveBayes().fit(path, "y")
    labels = pa.array([None] * 65_536 + ["a", "b", None])
    pq.write_table(pa.table({"x": np.ones(65_539), "y": labels}), tmp_path / "t.parquet")
    with pytest.warns(SufficeWarning, match="65,537 rows without a label"):
        model = NaiveBayes().fit(tmp_path / "t.parquet", "y")
    assert model.classes_.tolist() == ["a", "b"]
