"""Whole numbers: the rule, and that each kind is what its own family makes of the same cells."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.model_selection import KFold

import suffice
from suffice import AODE, NaiveBayes
from suffice.bayes import column_information, next_question
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.families import Categorical, Gaussian, WholeNumbers
from suffice.model_selection import cross_val_predict
from suffice.naive_bayes import GaussianNB
from suffice.statistics.binned_count_accumulator import BinnedCountAccumulator
from suffice.statistics.block import IntegerBlock, RealBlock
from suffice.statistics.count_accumulator import CountAccumulator
from suffice.statistics.vocabulary import Vocabulary
from suffice.statistics.whole_values import codes_of, counts_of, whole_values

N = 300
RNG = np.random.default_rng(17)
CODE = RNG.integers(0, 3, N)
KIND = np.array(["fig", "plum", "sloe"])[CODE]
ROOMS = RNG.integers(1, 4, N) + CODE
PRICE = RNG.integers(500, 900, N) + 100 * CODE
TABLE = pa.table({"rooms": ROOMS, "price": PRICE, "two": RNG.integers(0, 2, N), "kind": KIND})
ROWS = TABLE.drop(["kind"])
textbook = NaiveBayes.textbook


def kind_of(cells: Any) -> tuple[str, str]:
    y = np.resize(["a", "b"], len(cells))
    column = textbook().fit({"x": cells, "y": y}, "y").schema_[0]
    return column.kind, column.reason


# -- the rule


@pytest.mark.parametrize(
    ("cells", "kind", "reason"),
    [
        ([0, 1, 1], "category", "only 0 and 1"),
        ([-1, 1, 1], "category", "only -1 and 1"),
        ([1, 2, 1], "real", "whole numbers, 2 distinct in 3"),
        ([1, 2] * 10, "category", "2 whole numbers, each seen 10 times on average"),
        ([1, 2] * 9 + [2], "real", "whole numbers, 2 distinct in 19"),
        ([*range(20)] * 10, "category", "20 whole numbers, each seen 10 times on average"),
        ([*range(21)] * 10, "real", "whole numbers, 21 distinct in 210"),
        ([-256, 256] * 10, "category", "2 whole numbers, each seen 10 times on average"),
        ([-256, 257] * 10, "real", "not all are whole numbers up to 256"),
        ([2007, 2008, 2009] * 20, "real", "not all are whole numbers up to 256"),
        ([7] * 10, "category", "1 whole number, each seen 10 times on average"),
        ([7] * 9, "real", "whole numbers, 1 distinct in 9"),
    ],
)
def test_the_kind_follows_from_the_values(cells: list[int], kind: str, reason: str) -> None:
    for made in (cells, pd.array(cells, "Int16"), np.array(cells, np.int32)):
        assert kind_of(made) == (kind, reason)
    model = textbook().fit(np.array(cells)[:, None], np.resize(["a", "b"], len(cells)))
    assert (model.schema_[0].kind, model.schema_[0].reason) == (kind, reason)


def test_weights_are_rows() -> None:
    table = {"x": [1, 2], "y": ["a", "b"], "w": [9.5, 10.0]}
    model = textbook().fit(table, "y", sample_weight="w")
    assert model.schema_[0].kind == "real"
    model.partial_fit({"x": [1], "y": ["a"], "w": [0.5]}, "y", sample_weight="w")
    assert model.schema_[0].reason == "2 whole numbers, each seen 10 times on average"
    model.partial_fit({"x": [900], "y": ["a"], "w": [0.0]}, "y", sample_weight="w")
    assert model.schema_[0].kind == "category"


def test_a_column_of_which_every_value_is_forgotten_has_no_kind() -> None:
    x = pa.array([1, None, None], pa.int64())
    table = pa.table({"x": x, "z": [1.0, 2, 3], "y": list("aab")})
    model = textbook().fit(table, "y").forget(table[:1], "y")
    assert (model.schema_[0].kind, model.schema_[0].reason) == ("undecided", "no value yet")
    rest = textbook().fit(table[1:], "y")
    np.testing.assert_array_equal(model.predict_proba(table), rest.predict_proba(table))


# -- statistics


@given(st.lists(st.integers(-256, 256), max_size=60), st.integers(0, 2**32 - 1))
def test_counts_are_those_of_the_values(cells: list[int], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, codes = np.resize(cells, (len(cells), 2)), rng.integers(0, 3, len(cells))
    weights = rng.integers(1, 9, len(cells)) / 7
    binned, counted = BinnedCountAccumulator(np.zeros(2)), CountAccumulator(2)
    binned.add(RealBlock(x.astype(np.float64)), codes, weights, 3)
    counted.add(IntegerBlock(x), codes, weights, 3)
    expected, bins = counted.statistic(), binned.statistic()
    if cells:
        assert counts_of(bins, np.arange(2)) == expected
        assert counts_of(bins, np.array([1])).vocabularies == expected.vocabularies[1:]
    for j, found in enumerate(whole_values(bins)):
        assert found is not None
        assert found.values.tolist() == sorted({int(v) for v in x[:, j]})


@given(st.lists(st.floats(allow_infinity=False), min_size=1, max_size=40))
def test_a_number_is_a_value_or_none(cells: list[float]) -> None:
    known = Vocabulary((-256, -3, 0, 7, 256))
    x = np.array([*cells, -256, -3, 0, 7, 256, -0.0, 7.5, 256.5])
    found = codes_of(RealBlock(x[:, None]), (known,))[:, 0]
    expected = [-1 if v != v else known.codes.get(v, 5) for v in x.tolist()]
    assert found.tolist() == expected


# -- each kind is its own family


@pytest.mark.parametrize("make", [NaiveBayes, textbook])
@pytest.mark.parametrize("unseen", ["ignore", "smooth"])
@pytest.mark.parametrize("gaps", [False, True])
def test_a_category_has_the_bits_of_the_categorical(make: Any, unseen: Any, gaps: bool) -> None:
    mask = RNG.random(N) < 0.2 if gaps else np.zeros(N, np.bool_)
    table = pa.table({n: pa.array(TABLE[n].to_numpy(), mask=mask) for n in ("rooms", "two")})
    table = table.append_column("kind", TABLE["kind"])
    new = {"rooms": [1, 2, None, 77, 3], "two": [0, 1, 1, 0, 5]}
    found = make(unseen=unseen).fit(table, "kind")
    named = make("categorical", unseen=unseen).fit(table, "kind")
    for rows in (table.drop(["kind"]), new, {**new, "rooms": [1, 2.5, None, -4.0, 3]}):
        for method in ("predict_proba", "predict_joint_log_proba"):
            mine, theirs = (getattr(model, method)(rows) for model in (found, named))
            np.testing.assert_array_equal(mine, theirs)
    assert found.n_parameters_ == named.n_parameters_


@pytest.mark.parametrize("numbers", ["adaptive", "gaussian", "histogram", "kernel_density"])
def test_numbers_have_the_bits_of_their_family(numbers: Any) -> None:
    table = pa.table({"price": PRICE, "year": RNG.integers(2007, 2010, N), "kind": KIND})
    found = textbook(numbers=numbers).fit(table, "kind")
    named = textbook(numbers).fit(table, "kind")
    np.testing.assert_array_equal(
        found.predict_proba(table.drop(["kind"])), named.predict_proba(table.drop(["kind"]))
    )


def test_maximum_likelihood_has_one_floor_for_all_numbers() -> None:
    x = np.c_[PRICE, RNG.integers(300, 9000, N)]
    model = NaiveBayes(estimation="mle", calibration="none").fit(x, KIND)
    expected = GaussianNB(var_smoothing="loo").fit(x, KIND)
    np.testing.assert_array_equal(model.predict_proba(x), expected.predict_proba(x))
    forms = model.quadratic_form(), expected.quadratic_form()
    np.testing.assert_array_equal(forms[0].weights, forms[1].weights)


def test_arrays_and_frames_agree() -> None:
    x = np.c_[ROOMS, PRICE]
    frame = textbook().fit(pd.DataFrame(x), KIND)
    for dtype in (np.int64, np.int32, np.uint16):
        model = textbook().fit(x.astype(dtype), KIND)
        assert [column.kind for column in model.schema_] == ["category", "real"]
        expected = frame.predict_proba(pd.DataFrame(x))
        for new in (x, x.astype(dtype), x.astype(np.float64), np.asfortranarray(x)):
            np.testing.assert_array_equal(model.predict_proba(new), expected)


def test_an_unseen_value_is_refused_on_request() -> None:
    model = textbook(unseen="error").fit(TABLE, "kind")
    rule = "the value was never seen in training"
    for value, shown in ((99, "99"), (1.5, "1.5")):
        with pytest.raises(DataError, match=f"column 'rooms', row 1: {shown}; {rule}"):
            model.predict({"price": [600, 600], "two": [0, 0], "rooms": [1, value]})
    with pytest.raises(DataError, match="column 'price', row 0: inf; a number must be finite"):
        model.predict({"price": [np.inf], "two": [0], "rooms": [1]})
    with pytest.raises(DataError, match="column 'rooms', row 0: inf; a number must be finite"):
        textbook().fit(TABLE, "kind").predict({"price": [600], "two": [0], "rooms": [np.inf]})


# -- what is said of a model


def test_both_kinds_have_their_forms() -> None:
    model = NaiveBayes(estimation="map", alpha=2.0, calibration="none").fit(TABLE, "kind")
    values = model.quadratic_form("fig").values(model.form_features(ROWS))
    logs = model.predict_joint_log_proba(ROWS)
    np.testing.assert_allclose(values, logs - logs[:, :1], rtol=1e-9, atol=1e-9)
    with pytest.raises(DataError, match="column 'price', row 0: None; a form describes complete"):
        model.form_features({"rooms": [1], "price": [None], "two": [0]})


@pytest.mark.parametrize("name", ["rooms", "price", "two"])
def test_what_columns_tell_is_what_their_own_families_say(name: str) -> None:
    table = TABLE.select([name, "kind"])
    model = textbook().fit(table, "kind")
    family = "gaussian" if name == "price" else "categorical"
    named = textbook(family).fit(table, "kind")
    assert model.model_.family_names == {name: family}
    np.testing.assert_array_equal(column_information(model).bits, column_information(named).bits)
    np.testing.assert_array_equal(next_question(model, {}).bits, next_question(named, {}).bits)
    ends = [one.predict_proba_interval(table.drop(["kind"])) for one in (model, named)]
    np.testing.assert_array_equal(*ends)


def test_rows_drawn_are_whole_in_columns_of_integers() -> None:
    model = textbook().fit(TABLE, "kind")
    drawn, _ = model.sample(500, random_state=0)
    assert set(drawn["rooms"].tolist()) == set(ROOMS.tolist())
    assert set(drawn["two"].tolist()) == {0, 1}
    assert drawn["price"].dtype == np.int64
    assert textbook().fit(drawn, _).schema_[0].kind == "category"


def test_tables_are_compared_by_the_kind_that_both_show() -> None:
    tables = TABLE[:150], TABLE[150:]
    halves = [textbook().fit(one, "kind") for one in tables]
    named = [textbook("categorical").fit(one.drop(["price"]), "kind") for one in tables]
    found = {c.column: c for c in halves[0].compare(halves[1]).columns}
    expected = {c.column: c for c in named[0].compare(named[1]).columns}
    assert found["rooms"] == expected["rooms"]
    assert found["two"] == expected["two"]
    assert set(found) == {"rooms", "two", "price"}


def test_a_category_far_from_0_is_counted_in_all_rows() -> None:
    table = {"x": [200, 201] * 5000, "y": ["a", "b", "b", "a", "b"] * 2000}
    model = NaiveBayes().fit(table, "y")
    assert model.model_.sampled is None
    expected = NaiveBayes("categorical").fit(table, "y").predict_proba({"x": [200, 201]})
    np.testing.assert_array_equal(model.predict_proba({"x": [200, 201]}), expected)


def test_pairs_have_a_bin_for_every_value_of_a_category() -> None:
    rng = np.random.default_rng(3)
    a, b = rng.integers(1, 5, (2, 600))
    y = np.where((a % 2) == (b % 2), "same", "other")
    model = AODE().fit({"a": a, "b": b}, y)
    assert [len(cuts) for cuts in model.bins_.values()] == [3, 3]
    assert model.score({"a": a, "b": b}, y) == 1.0


# -- leaving rows out, keeping


TASKS = {
    "both": (TABLE.select(["rooms", "price"])[:60], CODE[:60]),
    "at the limit": (pa.table({"x": np.resize([1, 2, 3], 30), "z": PRICE[:30]}), CODE[:30]),
    "one above": (pa.table({"x": np.resize([1, 2, 3], 31)}), CODE[:31]),
    "a lone value": (pa.table({"x": [300, *np.resize([1, 2], 40)]}), CODE[:41]),
    "a lone third": (pa.table({"x": [2, *np.resize([0, 1], 11)]}), CODE[:12]),
    "a lone one": (pa.table({"x": [1, *[0] * 8]}), CODE[:9]),
    "21 values": (pa.table({"x": [20, *np.resize(range(20), 200)]}), CODE[:201]),
}


@pytest.mark.parametrize("task", TASKS)
def test_rows_left_out_one_by_one_are_those_of_fits_to_all_others(task: str) -> None:
    X, y = TASKS[task]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        for estimator in (textbook(), textbook(estimation="map")):
            by_fits = cross_val_predict(estimator, X, y, cv=KFold(len(y)), method="predict_proba")
            found = cross_val_predict(estimator, X, y, cv="loo", method="predict_proba")
            np.testing.assert_allclose(found, by_fits, rtol=0, atol=1e-12)


def test_a_value_that_one_row_shows_is_named_where_it_is_refused() -> None:
    X = pa.table({"size": PRICE[:41], "rooms": [*np.resize([1, 2], 40), 3]})
    with pytest.raises(DataError, match=r"column 'rooms', row 40: .*no other row shows this value"):
        cross_val_predict(textbook(unseen="error"), X, CODE[:41], cv="loo")


def test_weights_are_taken_out_whole() -> None:
    X, y = TASKS["at the limit"]
    params = {"sample_weight": np.resize([1.0, 0.5, 2.0, 0.0], 30)}
    options = {"params": params, "method": "predict_proba"}
    by_fits = cross_val_predict(textbook(), X, y, cv=KFold(30), **options)
    found = cross_val_predict(textbook(), X, y, cv="loo", **options)
    np.testing.assert_allclose(found, by_fits, rtol=0, atol=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.sampled_from([NaiveBayes, textbook]), st.integers(0, 60))
def test_a_file_goes_on_deciding(tmp_path_factory: Any, make: Any, cut: int) -> None:
    path = Path(tmp_path_factory.mktemp("kinds")) / "m.suffice"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)
        model = make().fit(TABLE[: 20 + cut], "kind")
        model.save(path)
        again = suffice.load(path)
        assert again.schema_ == model.schema_
        np.testing.assert_array_equal(again.predict_proba(ROWS), model.predict_proba(ROWS))
        again.partial_fit(TABLE[20 + cut :], "kind")
    whole = make().fit(TABLE, "kind")
    assert again.schema_ == whole.schema_
    if make is textbook:
        np.testing.assert_array_equal(again.predict_proba(ROWS), whole.predict_proba(ROWS))


def test_the_family_can_be_named() -> None:
    x = ROOMS.astype(np.float64)  # numbers, as their type says
    table = pa.table({"x": x, "kind": KIND})
    assert textbook().fit(table, "kind").schema_[0].kind == "real"
    for family in ("whole_numbers", WholeNumbers(alpha=2.0)):
        model = textbook({"x": family}).fit(table, "kind")
        assert model.schema_[0].kind == "category"
    expected = textbook(Categorical(alpha=2.0)).fit(ROOMS[:, None], KIND)
    np.testing.assert_array_equal(
        model.predict_proba(table.drop(["kind"])), expected.predict_proba(ROOMS[:, None])
    )
    with pytest.raises(ParameterError, match="numbers='numbers'; it is 'gaussian', 'adap"):
        WholeNumbers(numbers="numbers")  # type: ignore[arg-type]
    assert str(WholeNumbers("gaussian", variance_floor=1e-3)) == (
        "WholeNumbers(numbers='gaussian', variance_floor=0.001)"
    )
    assert Gaussian() != WholeNumbers()


@pytest.mark.parametrize("alpha", ["evidence", "shared_evidence"])
@pytest.mark.parametrize("make", [NaiveBayes, textbook])
def test_pseudo_counts_are_chosen_as_those_of_categories(make: Any, alpha: Any) -> None:
    table = TABLE.drop(["price"])
    found = make(alpha=alpha).fit(table, "kind")
    named = make("categorical", alpha=alpha).fit(table, "kind")
    rows = table.drop(["kind"])
    np.testing.assert_array_equal(found.predict_proba(rows), named.predict_proba(rows))
    assert repr(found.alpha_evidence_) == repr(named.alpha_evidence_)
    both = make(alpha=alpha).fit(TABLE, "kind")
    assert repr(both.alpha_evidence_) == repr(named.alpha_evidence_)
    numbers = make(alpha=alpha).fit(TABLE.select(["price", "kind"]), "kind")
    assert numbers.alpha_evidence_ is None
    with pytest.raises(ParameterError, match="alpha is one number for the values of all columns"):
        WholeNumbers(alpha=(1.0, 2.0))
