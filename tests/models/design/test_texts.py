"""Texts, ordered categories and dates as predictors of linear and logistic regression."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import hstack
from sklearn import linear_model
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer

import suffice
from suffice.data.words import split_words
from suffice.errors import DataError, ParameterError, SchemaError, SufficeWarning
from suffice.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from suffice.models.design.words import Words, hashed

RNG = np.random.default_rng(0)
N = 90
WORDS = ["good", "bad", "cat", "dog", "tree", "house", "river"]
NOTES = [" ".join(RNG.choice(WORDS, 6)) for _ in range(N)]
GRADES = RNG.choice(["S", "M", "L"], N)
ROWS = pd.DataFrame({"note": NOTES, "size": RNG.normal(size=N), "grade": GRADES})
ROWS["price"] = ROWS["note"].str.count("good") + ROWS["size"] + 0.1 * RNG.normal(size=N)
ROWS["kind"] = np.where(ROWS["price"] > 1.0, "dear", "cheap")
ORDERED = {"grade": ["S", "M", "L"]}
RANK = np.array(["SML".index(grade) for grade in GRADES])


def test_counted_words_are_the_columns_of_a_vectoriser():
    vectoriser = CountVectorizer().fit(NOTES)
    counts = vectoriser.transform(NOTES).toarray()
    expected = Ridge().fit(np.column_stack([counts, ROWS["size"]]), ROWS["price"])
    found = Ridge(words="counted").fit(ROWS[["note", "size", "price"]], "price")
    terms = [f"note[{word}]" for word in vectoriser.get_feature_names_out()]
    assert found.terms_ == ("(Intercept)", *terms, "size")
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-12)


def test_a_logistic_fit_of_counted_words():
    counts = CountVectorizer().fit_transform(NOTES).toarray()
    expected = LogisticRegression().fit(counts.astype(float), ROWS["kind"])
    found = LogisticRegression(words="counted").fit(ROWS[["note", "kind"]], "kind")
    np.testing.assert_allclose(found.coef_, expected.coef_, rtol=1e-9)
    np.testing.assert_array_equal(found.classes_, ["cheap", "dear"])


@settings(max_examples=20)
@given(st.lists(st.text("abc é", max_size=20), min_size=1), st.integers(2, 9))
def test_a_place_counts_the_words_that_fall_there(texts, places):
    block = split_words(texts)
    expected = np.zeros((len(texts), places))
    for row, text in zip(expected, texts, strict=True):
        for word, count in Counter(split_words([text]).vocabulary.values).items():
            index = split_words([text]).vocabulary.values.index(word)
            row[hashed(word) % places] += count * split_words([text]).data[index]
    np.testing.assert_array_equal(Words(places).counts(block), expected)


def test_the_hash_of_a_word_never_changes():
    assert [hashed(word) % 1_000 for word in ("the", "house", "größe")] == [790, 294, 100]


def test_hashed_words_are_learnt_in_parts_and_forgotten():
    model = Ridge(words=16).fit(ROWS[:50][["note", "size", "price"]], "price")
    first = model.coef_.copy()
    rest = ROWS[50:].assign(note="words that no row has shown before")[["note", "size", "price"]]
    model.partial_fit(rest, "price").forget(rest, "price")
    np.testing.assert_array_equal(model.coef_, first)


@pytest.mark.parametrize("formula", [None, "note + size"])
def test_words_that_are_forgotten_leave_the_fit_of_the_others(formula):
    rows = ROWS.assign(note=[*NOTES[:80], *(note + " rare words" for note in NOTES[80:])])
    rows = rows[["note", "size", "price"]]
    ridge = {"words": "counted", "formula": formula}
    model = Ridge(**ridge).fit(rows, "price").forget(rows[80:], "price")
    expected = Ridge(**ridge).fit(rows[:80], "price")
    assert model.terms_ == expected.terms_
    np.testing.assert_array_equal(model.coef_, expected.coef_)


def test_new_words_have_terms_where_words_are_counted_and_are_left_out_of_answers():
    model = Ridge(words="counted").fit(ROWS[["note", "price"]], "price")
    more = pd.DataFrame({"note": ["good new"], "price": [1.0]})
    known = model.predict(pd.DataFrame({"note": ["good"]}))
    np.testing.assert_array_equal(model.predict([{"note": "good new"}]), known)
    assert "note[new]" in model.partial_fit(more, "price").terms_


def test_a_missing_text_is_a_missing_cell():
    rows = ROWS.assign(note=[None, *NOTES[1:]])[["note", "price"]]
    with pytest.raises(DataError, match="1 of column 'note'"):
        LogisticRegression(words=4).fit(rows.assign(kind=ROWS["kind"])[["note", "kind"]], "kind")
    dropped = Ridge(words=4, incomplete="drop").fit(rows, "price")
    np.testing.assert_allclose(dropped.coef_, Ridge(words=4).fit(rows[1:], "price").coef_)
    with pytest.warns(SufficeWarning, match="1 of 90 rows has no answer"):
        (answers,) = dropped.predict_batches(rows, unanswerable="empty")
    assert answers["prediction"].null_count == 1


def test_short_strings_are_texts_where_told(tmp_path):
    rows = pd.DataFrame({"name": ["Ann Lee", "Bob Lee", "Ann Day"] * 9, "y": [1.0, 2, 5] * 9})
    model = Ridge(text=["name"], words="counted").fit(rows, "y")
    assert model.terms_[1:] == ("name[ann]", "name[bob]", "name[day]", "name[lee]")
    model.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
    with pytest.raises(SchemaError, match="column 'y2' holds no strings"):
        Ridge(text=["y2"]).fit(rows.assign(y2=1), "y")


@pytest.mark.parametrize("ngrams", [1, 2])
def test_words_without_limit_are_those_of_a_vectoriser(ngrams, tmp_path):
    texts = [" ".join(f"w{int(j)}" for j in RNG.zipf(1.3, 30) % 3_000) for _ in range(300)]
    rows = pd.DataFrame({"note": texts, "size": RNG.normal(size=300)})
    rows["price"] = rows["size"] + rows["note"].str.count("w1 ") + RNG.normal(size=300)
    vectoriser = TfidfVectorizer(ngram_range=(1, ngrams))
    x = hstack([vectoriser.fit_transform(texts), rows[["size"]].to_numpy()]).tocsr()
    words = {"ngrams": ngrams, "weights": "tf-idf"}
    for model, peer in (
        (Ridge(0.1, words=words), linear_model.Ridge(0.1, tol=1e-10)),
        (Lasso(0.01, words=words), linear_model.Lasso(0.01, tol=1e-10)),
    ):
        found = model.fit(rows, "price")
        assert len(found.terms_) == x.shape[1] + 1 > 384
        np.testing.assert_allclose(found.coef_, peer.fit(x, rows["price"]).coef_, atol=1e-6)
    found.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    new = rows[:5].assign(note="w1 unheard w2")
    np.testing.assert_allclose(again.predict(new), found.predict(new))


def test_a_logistic_fit_of_tf_idf_is_that_of_a_vectoriser(tmp_path):
    texts = [" ".join(f"w{int(j)}" for j in RNG.zipf(1.3, 20) % 3_000) for _ in range(200)]
    rows = pd.DataFrame({"note": texts, "kind": RNG.choice(["a", "b"], 200)})
    x = TfidfVectorizer(ngram_range=(1, 2)).fit_transform(texts)
    peer = linear_model.LogisticRegression(C=5.0, tol=1e-9, max_iter=10_000).fit(x, rows["kind"])
    found = LogisticRegression(C=5.0, words="tf-idf").fit(rows, "kind")
    np.testing.assert_allclose(found.predict_proba(rows), peer.predict_proba(x), atol=1e-5)
    found.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_allclose(again.predict_proba(rows), found.predict_proba(rows))


def test_rare_words_are_left_out():
    texts = pd.Series(["aa bb", "aa cc", "aa bb dd", "bb dd"] * 5 + ["ee"])
    rows = pd.DataFrame({"note": texts, "price": np.arange(21.0)})
    model = Ridge(text=["note"], words={"min_count": 6}).fit(rows, "price")
    assert model.terms_[1:] == ("note[aa]", "note[bb]", "note[dd]")
    model.partial_fit(rows.assign(note="new words"), "price")  # which are left out too
    with pytest.raises(SchemaError, match="min_count"):
        Ridge(text=["note"], words={"min_count": 60}).fit(rows, "price")


@pytest.mark.parametrize(
    "words", ["tfidf", 1, 2.5, None, {"ngram": 2}, {"ngrams": 0}, {"weights": "idf"}]
)
def test_odd_words(words):
    with pytest.raises(ParameterError, match="words="):
        Ridge(words=words).fit(ROWS, "price")


def stated() -> list:
    columns = {"grade": pd.Categorical(GRADES, ["S", "M", "L", "XL"], ordered=True)}
    frame = ROWS[["size", "price"]].assign(**columns)
    enum = pl.DataFrame(ROWS[["size", "price"]].to_dict("list")).with_columns(
        pl.Series("grade", GRADES.tolist(), dtype=pl.Enum(["S", "M", "L", "XL"]))
    )
    return [frame, enum, pa.Table.from_pandas(frame)]


@pytest.mark.parametrize("table", stated(), ids=["pandas", "polars", "arrow"])
def test_ordered_categories_are_steps_from_level_to_level(table):
    x = np.column_stack([ROWS["size"], RANK >= 1, RANK >= 2])
    expected = LinearRegression().fit(x, ROWS["price"])
    found = LinearRegression().fit(table, "price")
    assert set(found.terms_[1:]) == {"size", "grade[>=M]", "grade[>=L]"}
    order = [found.terms_[1:].index(term) for term in ("size", "grade[>=M]", "grade[>=L]")]
    np.testing.assert_allclose(found.coef_[order], expected.coef_, rtol=1e-9, atol=1e-12)


def test_levels_that_are_told(tmp_path):
    rows = ROWS[["grade", "kind", "size"]]
    model = LogisticRegression(ordered=ORDERED).fit(rows, "kind")
    x = np.column_stack([RANK >= 1, RANK >= 2, ROWS["size"]]).astype(float)
    np.testing.assert_allclose(model.coef_, LogisticRegression().fit(x, ROWS["kind"]).coef_)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(suffice.load(tmp_path / "model").coef_, model.coef_)
    with pytest.raises(SchemaError, match="column 'grade' has 'L'; its levels are 'S', 'M'"):
        LogisticRegression(ordered={"grade": ["S", "M"]}).fit(rows, "kind")
    with pytest.raises(ParameterError, match="levels are distinct, two at least"):
        LogisticRegression(ordered={"grade": ["S", "S"]}).fit(rows, "kind")


@pytest.mark.parametrize("gone", ["S", "M", "L"])
def test_a_level_that_is_forgotten_leaves_the_fit_of_the_others(gone):
    rows = ROWS[["grade", "size", "price"]]
    there = rows["grade"] != gone
    model = LinearRegression(ordered=ORDERED).fit(rows, "price").forget(rows[~there], "price")
    expected = LinearRegression(ordered=ORDERED).fit(rows[there], "price")
    assert model.terms_ == expected.terms_
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    (grade,) = [found for found in model.compare(expected).columns if "grade" in found.column]
    assert grade.distance == 0


def test_dates_are_numbers_whose_unit_is_said():
    day = pd.date_range("2024-01-01", periods=N)
    rows = pd.DataFrame({"day": day, "price": ROWS["price"]})
    model = LinearRegression().fit(rows, "price")
    seconds = (day - pd.Timestamp(0)).total_seconds().to_numpy()
    expected = LinearRegression().fit(seconds[:, None], ROWS["price"])
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-12)
    assert str(model.summary()).endswith("\nday: dates, in seconds since 1970-01-01")
    kinds = LogisticRegression(None).fit(rows.assign(price=ROWS["kind"]), "price")
    assert str(kinds.summary()).endswith("\nday: dates, in seconds since 1970-01-01")
