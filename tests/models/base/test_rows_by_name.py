"""A row given as a dict, a Series, or in a list of dicts: the answer of the same row in a table."""

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from multiprocessing import get_context

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import LinearDiscriminantAnalysis, read_table
from suffice.errors import DataError, ParameterError, SchemaError, SufficeWarning
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.models.reading import row_by_name
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
)

RNG = np.random.default_rng(5)
N = 400
SIZES = {name: RNG.normal(size=N).tolist() for name in ("width", "height", "depth")}
HUES = {name: RNG.choice(list("abc"), N).tolist() for name in ("hue", "shade")}
COUNTS = {name: RNG.integers(0, 9, N).tolist() for name in ("here", "there")}
SIGNS = {"left": RNG.integers(0, 2, N).tolist(), "right": (RNG.random(N) < 0.5).tolist()}
NOTES = {"note": [f"{a} and {b} or word{i}" for i, (a, b) in enumerate(RNG.random((N, 2)))]}
DAYS = {"day": [datetime(2026, 1, 1) + timedelta(days=int(d)) for d in RNG.integers(0, 99, N)]}
ALL = SIZES | HUES | SIGNS | {"floor": RNG.integers(1, 4, N).tolist()}
KIND = RNG.choice(["fig", "plum", "sloe"], N).tolist()
CASES = {
    "everything": (NaiveBayes.textbook(), ALL),
    "words": (NaiveBayes.textbook(), SIZES | NOTES),
    "dates": (NaiveBayes.textbook(), SIZES | DAYS),
    "unseen": (NaiveBayes.textbook(unseen="error"), ALL),
    "gaussian": (GaussianNB(), SIZES),
    "categorical": (CategoricalNB(), HUES),
    "bernoulli": (BernoulliNB(binarize=0.5), SIZES),
    "multinomial": (MultinomialNB(), COUNTS),
    "complement": (ComplementNB(), COUNTS),
    "lda": (LinearDiscriminantAnalysis(), SIZES),
    "logistic": (LogisticRegression(), SIZES | HUES),
    "linear": (LinearRegression(), SIZES | HUES),
    "ridge": (Ridge(), SIZES),
}
READ_AT_ONCE = CASES.keys() - {"dates"}


def fitted(case: str):
    model, columns = CASES[case]
    y = SIZES["width"] if isinstance(model, LinearRegression | Ridge) else KIND
    return model.fit(pa.table(columns), y)


def answer_of(model):
    return getattr(model, "predict_proba", model.predict)


def rows_of(columns) -> list[dict[str, object]]:
    return pa.table(columns).to_pylist()


def bits(answers) -> bytes:
    return np.ascontiguousarray(answers).tobytes()


@pytest.mark.parametrize("case", CASES)
def test_a_row_has_the_bits_that_it_has_in_a_table(case: str) -> None:
    model, columns = fitted(case), CASES[case][1]
    table, rows = pa.table(columns).slice(0, 20), rows_of(columns)[:20]
    answer = answer_of(model)
    expected = answer(table)
    assert bits(answer(rows)) == bits(expected)
    for i, row in enumerate(rows):
        assert (row_by_name(model, row) is not None) == (case in READ_AT_ONCE)
        assert bits(answer(row)) == bits(answer([row])) == bits(expected[i : i + 1])
        assert bits(answer(pd.Series(row, dtype=object))) == bits(expected[i : i + 1])
        assert model.predict(row).tolist() == model.predict(table)[i : i + 1].tolist()


@settings(max_examples=10, deadline=None)
@given(st.data())
def test_a_key_that_is_not_there_is_a_missing_cell(data) -> None:
    for case in ("everything", "words"):
        model, columns = fitted(case), CASES[case][1]
        row = rows_of(columns)[data.draw(st.integers(0, 99))]
        gone = data.draw(st.sets(st.sampled_from(sorted(row)), max_size=len(row) - 1))
        some = {name: cell for name, cell in row.items() if name not in gone}
        none = {name: None if name in gone else cell for name, cell in row.items()}
        types = pa.table(columns).schema
        table = pa.table(
            {name: pa.array([cell], types.field(name).type) for name, cell in none.items()}
        )
        expected = bits(model.predict_proba(table))
        assert bits(model.predict_proba(some)) == bits(model.predict_proba(none)) == expected


def test_evidence_and_scores_take_rows_by_name() -> None:
    model, rows = fitted("everything"), rows_of(ALL)
    assert bits(model.explain(rows[3]).contributions) == bits(
        model.explain(pa.table(ALL).slice(3, 1)).contributions
    )
    assert model.score(rows, KIND) == model.score(pa.table(ALL), KIND)
    labelled = NaiveBayes.textbook().fit(pa.table(ALL | {"kind": KIND}), "kind")
    assert bits(labelled.predict_proba({**rows[0], "kind": "fig"})) == bits(
        model.predict_proba(rows[0])
    )


def test_rows_by_name_are_learnt_as_the_table_of_their_columns() -> None:
    rows = rows_of(ALL | {"kind": KIND})
    for row in rows[1::7]:
        del row["hue"]
    model = NaiveBayes.textbook().fit(rows, "kind")
    expected = NaiveBayes.textbook().fit(pa.Table.from_pylist(rows), "kind")
    assert model.statistic_ == expected.statistic_
    assert bits(model.predict_proba(rows[:9])) == bits(expected.predict_proba(rows[:9]))
    again = NaiveBayes.textbook().fit(rows[:50], "kind").partial_fit(rows[50:], "kind")
    assert again.statistic_ == expected.statistic_
    with pytest.raises(SchemaError, match="a Series is no table"):
        NaiveBayes().fit(pd.Series(rows[0]), ["fig"])


def test_unknown_names_are_left_out_with_a_warning() -> None:
    model, row = fitted("everything"), rows_of(ALL)[0]
    with pytest.warns(SufficeWarning, match="^left out, as the model does not know it: 'id'\\.$"):
        found = model.predict_proba({"id": 7, **row})
    assert bits(found) == bits(model.predict_proba(row))
    with pytest.warns(SufficeWarning, match="does not know them: 'id', 'day'"):
        model.predict([{"id": 7, **row}, {**row, "day": None}])


def test_third_and_unseen_values() -> None:
    row = rows_of(ALL)[0]
    for name, value in (("hue", "z"), ("left", 2)):
        lacking = fitted("everything").predict_proba({**row, name: None})
        assert bits(fitted("everything").predict_proba({**row, name: value})) == bits(lacking)
    with pytest.raises(DataError, match="column 'hue', row 0: 'z'"):
        fitted("unseen").predict({**row, "hue": "z"})
    tokens = NaiveBayes.textbook().fit(read_table(pa.table(ALL), missing=["?"]), KIND)
    assert bits(tokens.predict_proba({**row, "hue": "?"})) == bits(
        tokens.predict_proba({**row, "hue": None})
    )
    other = pa.table({name: pa.array([cell]) for name, cell in {**row, "hue": "-"}.items()})
    assert bits(tokens.predict_proba(read_table(other, missing=["-"]))) == bits(
        tokens.predict_proba({**row, "hue": None})
    )


def test_bad_cells_are_named() -> None:
    model, row = fitted("everything"), rows_of(ALL)[0]
    with pytest.raises(DataError, match="column 'width', row 0: inf; a number must be finite"):
        model.predict({**row, "width": np.inf})
    with pytest.raises(SchemaError, match="column 'width', row 0: 'wide'"):
        model.predict({**row, "width": "wide"})
    with pytest.raises(SchemaError, match="column 'width' mixes types: Integer value 9007"):
        model.predict([row, {**row, "width": 2**53 + 1}])
    with pytest.raises(DataError, match="column 'width', row 0: 9007199254740993"):
        model.predict({**row, "width": 2**53 + 1})
    with pytest.raises(DataError, match="column 'height'"):
        fitted("linear").predict({name: row[name] for name in ("width", "depth", "hue", "shade")})


def test_a_model_without_names_takes_no_names() -> None:
    model = GaussianNB().fit(np.arange(8.0).reshape(4, 2), [0, 0, 1, 1])
    with pytest.raises(ParameterError, match="was fitted to columns without names"):
        model.predict({"x0": 1.0, "x1": 2.0})


def _one_by_one(model, rows) -> bytes:
    return b"".join(bits(answer_of(model)(row)) for row in rows)


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
@pytest.mark.parametrize("case", ["everything", "logistic", "linear"])
def test_threads_and_forked_processes_answer_alike(case: str) -> None:
    rows = rows_of(CASES[case][1])[:50]
    expected = _one_by_one(fitted(case), rows)
    fresh = fitted(case)  # nothing that an answer needs is kept yet
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: _one_by_one(fresh, rows), range(8))) == {expected}
    if not hasattr(os, "fork"):
        return
    context = get_context("fork")
    mine, theirs = context.Pipe(duplex=False)
    child = context.Process(target=_answer_in_child, args=(fresh, rows, theirs))
    child.start()
    theirs.close()
    answers = mine.recv_bytes()
    child.join()
    assert answers == expected


def _answer_in_child(model, rows, pipe) -> None:
    pipe.send_bytes(_one_by_one(model, rows))
    pipe.close()


UNKNOWN = {
    "naive Bayes": (NaiveBayes.textbook(), SIZES | HUES, KIND),
    "discriminants": (LinearDiscriminantAnalysis(), SIZES, KIND),
    "logistic": (LogisticRegression(), SIZES, KIND),
    "linear": (LinearRegression(), SIZES, np.arange(N * 1.0)),
}


@pytest.mark.parametrize("case", list(UNKNOWN))
def test_unknown_columns_of_tables_are_left_out_with_a_warning_unless_rows_are_learnt(
    case: str,
) -> None:
    model, columns, y = UNKNOWN[case]
    known = pa.table(columns)
    more = known.append_column("id", pa.array(range(N))).append_column("note", pa.array(y))
    model.fit(known, y)
    with pytest.warns(SufficeWarning, match=r"does not know them: 'id', 'note'\.$"):
        assert bits(model.predict(more)) == bits(model.predict(known))
    with pytest.warns(SufficeWarning, match="does not know"):
        assert model.score(more, y) == model.score(known, y)
    for learn in ("partial_fit", "forget"):
        if hasattr(model, learn):
            with pytest.raises(SchemaError, match="column 'id' is unknown to the model"):
                getattr(model, learn)(more, y)


def test_a_table_that_still_has_its_target_is_scored() -> None:
    table = pa.table(SIZES | {"price": SIZES["width"]})
    model = LinearRegression().fit(pa.table(SIZES), pd.Series(SIZES["width"], name="price"))
    assert model.score(table, table.column("price").to_pandas().rename("price")) == 1.0


@pytest.mark.parametrize("model", [NaiveBayes(), LinearDiscriminantAnalysis(), GaussianNB()])
def test_rows_that_name_no_column_are_refused(model):
    table = pd.DataFrame({"width": SIZES["width"], "height": SIZES["height"]})
    model.fit(table, KIND)
    for rows, fact in (
        ({"Breadth": 1.0, "HEIGHT": 2.0}, "row 0 names no column"),
        ([{"width": 1.0, "height": 2.0}, {"depth": 1.0}], "row 1 names no column"),
        (table["width"], "a Series is no table"),
        (pl.Series("width", SIZES["width"]), "a Series is no table"),
        (pa.chunked_array([SIZES["width"]]), "a ChunkedArray is no table"),
    ):
        for ask in (model.predict, model.predict_proba, model.explain):
            with pytest.raises(SchemaError, match=fact):
                ask(rows)
        with pytest.raises(SchemaError, match=fact):
            model.score(rows, KIND)
    assert model.predict(table.iloc[0]).tolist() == model.predict(table.head(1)).tolist()


def test_a_misspelt_name_beside_known_ones_is_named():
    model = NaiveBayes().fit(pd.DataFrame(SIZES), KIND)
    with pytest.warns(SufficeWarning, match="perhaps 'depth' is meant"):
        model.predict({"width": 1.0, "height": 2.0, "Depth": 1.0})
