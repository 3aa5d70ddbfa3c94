"""Labels that equal each other, labels of several parts, and what NumPy masks."""

from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from suffice import (
    BayesClassifier,
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    load,
)
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

N = 40
RNG = np.random.default_rng(3)
Y = np.arange(N) % 2
X = RNG.integers(0, 4, (N, 3)) + Y[:, None]
FRAME = pd.DataFrame(X, columns=["a", "b", "c"])
CLASSIFIERS: list[Callable[[], Any]] = [
    NaiveBayes,
    GaussianNB,
    BernoulliNB,
    MultinomialNB,
    ComplementNB,
    CategoricalNB,
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    LogisticRegression,
]
TABLES: list[Any] = [X, FRAME, pl.from_pandas(FRAME)]


def objects(values: Any) -> NDArray[Any]:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


PAIRS = [("ham", int(y)) for y in Y]
VALUES: dict[str, tuple[Any, Any]] = {
    "dates": (date(2026, 1, 1), date(2026, 1, 2)),
    "points in time": (datetime(2026, 1, 1, 3), datetime(2026, 1, 2)),
    "times of day": (time(1, 30), time(12)),
    "durations": (timedelta(1), timedelta(2)),
    "decimals": (Decimal("1.5"), Decimal("2.5")),
}


@pytest.mark.parametrize("pair", VALUES.values(), ids=list(VALUES))
@pytest.mark.parametrize("make", [GaussianNB, LogisticRegression])
def test_labels_of_every_type_come_back(
    make: Callable[[], Any], pair: tuple[Any, Any], tmp_path: Path
) -> None:
    labels = [pair[y] for y in Y]
    expected = make().fit(X, Y).predict(X)
    for table in (X, X.tolist(), FRAME):
        model = make().fit(table, objects(labels))
        assert model.predict(table).tolist() == [pair[y] for y in expected]
        model.save(tmp_path / "m")
        assert load(tmp_path / "m").predict(table).tolist() == model.predict(table).tolist()
    frame = FRAME.assign(y=labels)
    assert make().fit(frame, "y").predict(frame).tolist() == [pair[y] for y in expected]


NESTED = {
    "tuples": PAIRS,
    "an array of tuples": objects(PAIRS),
    "a series of tuples": pd.Series(PAIRS),
    "tuples of strings": objects([("ham", str(y)) for y in Y]),
    "sets": objects([frozenset([int(y)]) for y in Y]),
    "lists": objects([["ham", int(y)] for y in Y]),
    "fractions": objects([Fraction(1, 2 + int(y)) for y in Y]),
    "universally unique identifiers": objects([UUID(int=int(y)) for y in Y]),
    "complex numbers": objects([1j * int(y) for y in Y]),
    "periods": objects([pd.Period("2026-01", "M") + int(y) for y in Y]),
    "what Python has no order of": objects([object() for _ in Y]),
}


@pytest.mark.parametrize("number", range(len(NESTED)))
def test_labels_that_are_no_values_are_refused(number: int) -> None:
    labels = list(NESTED.values())[number]
    with pytest.raises(SchemaError) as caught:
        CLASSIFIERS[number % len(CLASSIFIERS)]().fit(TABLES[number % len(TABLES)], labels)
    assert f"label, row 0: {labels[0]!r}" in str(caught.value)


MIXED: dict[str, tuple[Any, str]] = {
    "whole numbers": ([True, *Y[1:].tolist()], "bool, int"),
    "in an array": (objects([*Y[1:].tolist(), False]), "bool, int"),
    "numbers": (objects([1.0, 0.0, *Y[2:-1].astype(float).tolist(), True]), "bool, float"),
    "dates": (objects([date(2026, 1, 1), *Y[1:].tolist()]), "date, int"),
    "strings": (objects(["a", "b"] * (N // 2 - 1) + ["a", True]), "bool, str"),
    "NumPy's": (objects([*Y[1:].tolist(), np.True_]), "bool, int"),
}


@pytest.mark.parametrize("number", range(len(CLASSIFIERS)))
def test_booleans_are_no_other_labels(number: int) -> None:
    labels, types = list(MIXED.values())[number % len(MIXED)]
    with pytest.raises(SchemaError) as caught:
        CLASSIFIERS[number]().fit(TABLES[number % len(TABLES)], labels)
    assert f"the labels mix types: {types}" in str(caught.value)


@pytest.mark.filterwarnings("ignore:.* without a label")
@pytest.mark.parametrize("make", CLASSIFIERS)
def test_booleans_and_gaps_are_booleans(make: Callable[[], Any], tmp_path: Path) -> None:
    labels = objects([None, pd.NA, float("nan"), *(Y[3:] == 1)])
    model = make().fit(X, labels)
    assert model.classes_.tolist() == [False, True]
    assert set(map(type, model.predict(X).tolist())) == {bool}
    np.testing.assert_array_equal(model.predict(X), make().fit(X[3:], Y[3:] == 1).predict(X))


TRUTH = Y == 1
ACROSS: dict[str, Callable[[], Any]] = {
    "batches": lambda: GaussianNB().fit(X, Y).partial_fit(X, TRUTH),
    "batches of tables": lambda: NaiveBayes.textbook().fit(FRAME, Y).partial_fit(FRAME, TRUTH),
    "declared": lambda: GaussianNB().partial_fit(X, Y, classes=[False, True]),
    "declared later": lambda: GaussianNB().fit(X, TRUTH).partial_fit(X, TRUTH, classes=[0, 1]),
    "models": lambda: GaussianNB().fit(X, Y).merge(GaussianNB().fit(X, TRUTH)),
    "evaluated": lambda: GaussianNB().fit(X, TRUTH).evaluate(X, Y),
    "scored": lambda: NaiveBayes.textbook().fit(FRAME, Y).score(FRAME, TRUTH),
    "a logistic score": lambda: LogisticRegression().fit(X, Y).score(X, TRUTH),
}


@pytest.mark.parametrize("name", ACROSS)
def test_nor_are_they_so_across_tables(name: str) -> None:
    with pytest.raises(SchemaError, match=r"of the type (bool|number), those .* labels are of one"):
        ACROSS[name]()


def test_numbers_of_two_types_are_one_label() -> None:
    model = GaussianNB().fit(X, objects([1, 1.0, 0.0, 0] * (N // 4)))
    assert model.classes_.tolist() == [0, 1]
    assert model.partial_fit(X, Y.astype(float)).class_count_.sum() == 2 * N


@pytest.mark.parametrize("make", [NaiveBayes, CategoricalNB])
def test_categories_of_two_types_are_refused_or_one(make: Callable[[], Any]) -> None:
    labels = ["no", "yes"] * 20
    table = pa.table({"c": pa.array(Y), "d": pa.array(X[:, 0])})
    families = {"families": "categorical"} if make is NaiveBayes else {}
    model = make(**families).fit(table, labels)
    whole = model.predict_proba(table)
    floats = table.set_column(0, "c", table["c"].cast(pa.float64()))
    np.testing.assert_array_equal(model.predict_proba(floats), whole)
    booleans = table.set_column(0, "c", table["c"].cast(pa.bool_()))
    for answer in (model.predict, lambda t: model.partial_fit(t, labels)):
        with pytest.raises(SchemaError) as caught:
            answer(booleans)
        assert "column 'c' holds true and false" in str(caught.value)
    with pytest.raises(
        SchemaError, match="'c' holds whole numbers; in training it held true and false"
    ):
        make(**families).fit(booleans, labels).predict(table)


@pytest.mark.parametrize("cells", [[1.5, True], [True, 1.5], [1, True], [False, 0]])
def test_booleans_among_numbers_are_refused(cells: list[Any]) -> None:
    column = objects(cells * (N // 2))
    for table in (
        {"c": column.tolist()},
        {"c": column},
        pd.DataFrame({"c": column}),
        column[:, None],
    ):
        for model in (NaiveBayes.textbook(), CategoricalNB()):
            with pytest.raises(SchemaError, match=r"(mixes types: |cannot be read: .*)"):
                model.fit(table, Y)


# -- masked arrays


MODELS: list[Callable[[], Any]] = [
    *CLASSIFIERS[:-1],
    lambda: LogisticRegression(incomplete="drop"),
    lambda: LinearRegression(incomplete="gaussian"),
    lambda: LinearRegression(incomplete="drop"),
    lambda: Ridge(incomplete="drop"),
]
HIDDEN = RNG.random(X.shape) < 0.2


def predictions(model: Any, table: Any) -> NDArray[Any]:
    ask = model.predict_proba if hasattr(model, "predict_proba") else model.predict
    return np.asarray(ask(table))


@pytest.mark.parametrize("number", range(len(MODELS)))
def test_a_masked_cell_is_missing(number: int) -> None:
    """Under the mask there is a value that would show."""
    dtype, order = ([("i1", "C"), ("f4", "F"), ("O", "C")] * 4)[number]
    cells = np.asarray(np.where(HIDDEN, 9, X), dtype=dtype, order=order)
    masked = np.ma.array(cells, mask=HIDDEN)
    gaps = np.where(HIDDEN, np.nan, X)
    make = MODELS[number]
    model, expected = make().fit(masked, Y), make().fit(_like(make, gaps, dtype), Y)
    new = masked if "drop" not in str(getattr(model, "incomplete", "")) else X
    other = _like(make, gaps, dtype) if new is masked else X
    np.testing.assert_array_equal(predictions(model, new), predictions(expected, other))
    whole = np.ma.array(np.asarray(X, dtype=dtype, order=order))
    np.testing.assert_array_equal(
        predictions(make().fit(whole, Y), X), predictions(make().fit(X, Y), X)
    )


def _like(make: Any, gaps: NDArray[np.float64], dtype: str) -> Any:
    """The same cells in a form that is known to keep both gaps and types."""
    if make in (NaiveBayes, CategoricalNB) and dtype[0] in "iuO":
        kind = pa.int64()
        return pa.table(
            {f"x{j}": pa.array(X[:, j], kind, mask=HIDDEN[:, j]) for j in range(X.shape[1])}
        )
    return gaps.astype(dtype) if dtype[0] == "f" else gaps


def test_a_masked_boolean_is_missing() -> None:
    cells = X > 2
    masked = np.ma.array(np.where(HIDDEN, True, cells), mask=HIDDEN)
    model = NaiveBayes.textbook().fit(masked, Y)
    assert [column.kind for column in model.schema_] == ["binary"] * 3
    gaps = objects(
        [
            [None if h else bool(c) for h, c in zip(*r, strict=True)]
            for r in zip(HIDDEN, cells, strict=True)
        ]
    )
    expected = NaiveBayes.textbook().fit(np.array(gaps.tolist(), dtype=object), Y)
    np.testing.assert_array_equal(predictions(model, masked), predictions(expected, masked))
    plain = np.where(HIDDEN, np.nan, cells)
    np.testing.assert_array_equal(
        predictions(BernoulliNB().fit(masked, Y), masked),
        predictions(BernoulliNB().fit(plain, Y), plain),
    )


@pytest.mark.parametrize("number", range(len(CLASSIFIERS)))
def test_a_masked_label_leaves_its_row_out(number: int) -> None:
    make, table = CLASSIFIERS[number], TABLES[number % 2]
    labels = [Y + 0.0, Y == 1, np.array(["no", "yes"])[Y], objects(Y)][number // 2 % 4]
    hidden = np.arange(N) % 5 == 0
    strange = labels.copy()
    strange[hidden] = labels[1]
    masked = np.ma.array(strange, mask=hidden)
    model, expected = make().fit(table, masked), make().fit(table[~hidden], labels[~hidden])
    assert model.classes_.dtype == expected.classes_.dtype
    assert model.classes_.tolist() == expected.classes_.tolist()
    np.testing.assert_array_equal(predictions(model, table), predictions(expected, table))
    assert model.evaluate(table, masked).unlabelled == hidden.sum()


@pytest.mark.parametrize(("targets", "dtype"), [(1, "i8"), (2, "f4"), (2, "O")])
def test_a_masked_target_is_missing(targets: int, dtype: str) -> None:
    table = X if dtype == "i8" else FRAME
    y = X @ np.arange(3) + Y
    y = np.column_stack([y, y + X[:, 0] ** 2])[:, :targets].squeeze()
    hidden = RNG.random(y.shape) < 0.2
    masked = np.ma.array(np.where(hidden, 99, y).astype(dtype), mask=hidden)
    gaps = np.where(hidden, np.nan, y)
    for make in (
        lambda: LinearRegression(incomplete="drop"),
        lambda: LinearRegression(incomplete="gaussian"),
        lambda: Ridge(incomplete="drop"),
    ):
        model, expected = make().fit(table, masked), make().fit(table, gaps)
        np.testing.assert_array_equal(model.coef_, expected.coef_)
    with pytest.raises(DataError, match="cells are missing"):
        LinearRegression().fit(table, masked)


@pytest.mark.parametrize("make", [NaiveBayes, GaussianNB, LogisticRegression, Ridge])
def test_a_masked_weight_is_refused(make: Any) -> None:
    weights = np.ma.array(np.ones(N), mask=np.arange(N) == 7)
    rule = "a weight is 0, or from 1e-100 to 1e+100"
    for table in (X, FRAME):
        with pytest.raises(DataError) as caught:
            make().fit(table, Y, sample_weight=weights)
        assert str(caught.value) == f"sample_weight, row 7: masked; {rule}."
    weights = np.ma.array(np.arange(N) % 3 + 1.0)
    expected = make().fit(X, Y, sample_weight=np.arange(N) % 3 + 1.0)
    found = make().fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(predictions(found, X), predictions(expected, X))


def test_a_masked_column_of_a_dict_has_gaps() -> None:
    names = np.ma.array(["a", "b"] * (N // 2), mask=np.arange(N) == 3)
    times = np.ma.array(
        np.datetime64("2026-01-01") + np.arange(N), mask=np.arange(N) % 4 == 0, dtype="M8[s]"
    )
    masked = {"name": names, "day": times, "x": np.ma.array(X[:, 0], mask=HIDDEN[:, 0])}
    gaps = {
        "name": pa.array(names.data, mask=names.mask),
        "day": pa.array(times.data, mask=times.mask),
        "x": pa.array(X[:, 0], mask=HIDDEN[:, 0]),
    }
    model, expected = (
        NaiveBayes.textbook().fit(masked, Y),
        NaiveBayes.textbook().fit(pa.table(gaps), Y),
    )
    assert model.schema_ == expected.schema_
    assert model.statistic_ == expected.statistic_


def test_known_densities_leave_a_masked_cell_out_where_they_can() -> None:
    pairs = BayesClassifier({"a": (norm(0, 1), norm(1, 1)), "b": (norm(2, 1), norm(0, 1))})
    masked = np.ma.array([[0.0, 50.0], [3.0, 0.0]], mask=[[False, True], [False, False]])
    gaps = [[0.0, np.nan], [3.0, 0.0]]
    np.testing.assert_array_equal(pairs.predict_proba(masked), pairs.predict_proba(gaps))
    single = BayesClassifier([norm(0, 1), norm(2, 1)])
    with pytest.raises(DataError, match="column 'x0', row 0: nan; a number must be finite"):
        single.predict(np.ma.array([1.0, 2.0], mask=[True, False]))


def test_a_masked_array_is_a_batch_and_is_kept(tmp_path: Path) -> None:
    masked = np.ma.array(X, mask=HIDDEN)
    model = NaiveBayes.textbook().partial_fit(masked[:20], Y[:20]).partial_fit(masked[20:], Y[20:])
    whole = NaiveBayes.textbook().fit(masked, Y)
    np.testing.assert_array_equal(predictions(model, masked), predictions(whole, masked))
    model.save(tmp_path / "m.suffice")
    found = predictions(load(tmp_path / "m.suffice"), masked)
    np.testing.assert_array_equal(found, predictions(whole, masked))
    model.forget(masked[:20], Y[:20])
    rest = NaiveBayes.textbook().fit(masked[20:], Y[20:])
    np.testing.assert_array_equal(predictions(model, X), predictions(rest, X))


@pytest.mark.parametrize("model", [NaiveBayes, GaussianNB, LogisticRegression])
def test_labels_that_are_no_text_or_no_real_number(model: Any) -> None:
    x = np.arange(8.0)[:, None]
    with pytest.raises(SchemaError, match=r"the label 'a\\ud800' is a string with half of a char"):
        model().fit(x, ["a\ud800", "b"] * 4)
    for labels in (np.arange(8) + 1j, [1j, 2.0] * 4):
        with pytest.raises(DataError, match="the labels are complex numbers"):
            model().fit(x, labels)


@pytest.mark.parametrize("model", [NaiveBayes, GaussianNB])
def test_labels_are_among_the_classes_that_a_batch_names(model: Any) -> None:
    x = np.arange(6.0)[:, None]
    with pytest.raises(DataError, match=r"label\(s\) \['c'\] in y do not exist in the initial"):
        model().partial_fit(x, list("abcabc"), classes=["a", "b"])
    found = model().partial_fit(x, list("ababab"), classes=["a", "b", "d"])
    with pytest.raises(DataError, match="'c'"):
        found.partial_fit(x, list("abcabc"), classes=["a", "b"])
    found.partial_fit(x, list("abdabd"), classes=["b", "a", "d"])
    assert found.classes_.tolist() == ["a", "b", "d"]
    assert found.partial_fit(x, list("cccccc")).classes_.tolist() == ["a", "b", "c", "d"]


@pytest.mark.parametrize("classes", [["a"], ["a", "b", "c"], ["a", "b", "b"]])
def test_later_calls_name_the_same_classes_as_in_scikit_learn(classes: list[str]) -> None:
    x, y = np.arange(6.0)[:, None], list("ababab")
    model = GaussianNB().partial_fit(x, y, classes=["b", "a"])
    before = model.statistic_
    with pytest.raises(ParameterError, match=r"is not the same as on last call to partial_fit"):
        model.partial_fit(x[:1], y[:1], classes=classes)
    assert model.statistic_ is before
    assert NaiveBayes().partial_fit(x, y).partial_fit(x, y, classes=[*classes, "b"])
