"""What a user reads when something is wrong: the fact and its place."""

import datetime
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse
from scipy.stats import norm
from sklearn.exceptions import NotFittedError

from suffice import LinearDiscriminantAnalysis, NaiveBayes, load, read_csv, read_table
from suffice.bayes import BayesClassifier
from suffice.errors import (
    DataError,
    ForgetError,
    ModelFileError,
    ParameterError,
    ReadError,
    SchemaError,
)
from suffice.families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson
from suffice.linear_model import LinearRegression, LogisticRegression
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

TABLE = pa.table(
    {
        "age": [20.5, 30.1, 40.2, 50.3],
        "color": ["red", "blue", "red", "blue"],
        "kind": ["a", "b", "a", "b"],
    }
)
ROWS = TABLE.drop(["kind"])
X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 1.0], [2.0, 2.0]])
Y = np.array(["a", "b", "a", "b"])


def put(name: str, values: Any, table: pa.Table = TABLE) -> pa.Table:
    """The table with other values in one column."""
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def fit(X: Any = TABLE, y: Any = "kind", weight: Any = None, **options: Any) -> NaiveBayes:
    return NaiveBayes.textbook(**options).fit(X, y, sample_weight=weight)


def forged(**arrays: Any) -> sparse.csr_matrix:
    """A sparse matrix whose arrays were changed behind its back."""
    matrix = sparse.csr_matrix(X)
    for name, values in arrays.items():
        setattr(matrix, name, np.array(values, np.int32))
    return matrix


def unfitted(name: str) -> str:
    return f"This {name} instance is not fitted yet. Call 'fit' with appropriate arguments before"


FORGED = [
    {"indices": [0, 1, 0, 1, 0, 2, 0, 1]},  # an index beyond the columns
    {"indices": [0, 1, 0, -1, 0, 1, 0, 1]},  # and one below 0
    {"indptr": [0, 4, 2, 6, 8]},  # rows that begin before they end
    {"indptr": [0, 2, 4, 6, 9]},  # rows beyond the cells
    {"indptr": [0, 2, 4, 8]},  # too few rows
]
OUTSIDE = "a sparse matrix of 4 rows and 2 columns has cells outside these"
Case = tuple[Callable[[], Any], str]
DATA: list[Case] = [
    # cells: infinities, numbers whose squares or sums overflow or underflow, wrong counts and codes
    (lambda: fit(put("age", [1.0, 2.0, np.inf, 3.0])), "column 'age', row 2: inf"),
    (
        lambda: fit().predict(put("age", [1.0, -np.inf, 2.0, 3.0], ROWS)),
        "column 'age', row 1: -inf",
    ),
    (lambda: fit(put("age", [1.0, 2.0, 1e200, 3.0])), "column 'age', row 2: 1e+200"),
    (lambda: fit(np.where(X == 5, 1e200, X), Y), "column 'x0', row 2: 1e+200"),
    (
        lambda: fit(put("age", [1, 2, -3, 4]), families={"age": "multinomial"}),
        "column 'age', row 2: -3.0",
    ),
    (lambda: fit(sparse.csr_matrix(-X), Y, families="multinomial"), "column 'x0', row 0: -1.0"),
    (lambda: fit(sparse.csr_matrix(np.where(X == 5, np.inf, X)), Y), "column 'x0', row 2: inf"),
    (
        lambda: GaussianNB().fit(X * [1.0, 1e-154], Y),
        "column 'x1': its values differ by about 1e-140 or less",
    ),
    (
        lambda: LinearDiscriminantAnalysis(shrinkage="auto").fit(X * [1e-162, 1.0], Y),
        "column 'x0': its values differ by about 1e-140 or less",
    ),
    (
        lambda: fit(np.where(X == 5, 1e308, X), Y, families="multinomial"),
        "column 'x0', row 2: 1e+308",
    ),
    (lambda: fit(families={"age": "poisson"}), "column 'age', row 0: 20.5"),
    (
        lambda: fit(put("age", [1, 2, -3, 4]), families={"age": "poisson"}),
        "column 'age', row 2: -3.0",
    ),
    (
        lambda: fit(put("age", [-1, 0, 1, 0]), families={"age": "bernoulli"}),
        "column 'age', row 1: 0.0",
    ),
    (lambda: fit(np.array([[2], [0], [1], [0]]), Y, families="bernoulli"), "column 'x0', row 0: 2"),
    (lambda: fit(families={"age": "bernoulli"}), "column 'age', row 0: 20.5"),
    (lambda: fit(families={"color": "gaussian"}), "column 'color', row 0: 'red'"),
    (
        lambda: fit(unseen="error").predict(put("color", ["red", "green", "red", "red"], ROWS)),
        "column 'color', row 1: 'green'",
    ),
    (
        lambda: fit(X, Y, families="categorical", unseen="error").predict([[1.0, 9.0]]),
        "column 'x1', row 0: 9.0",
    ),
    *((lambda arrays=arrays: fit(forged(**arrays), Y), OUTSIDE) for arrays in FORGED),
    # tables
    (
        lambda: fit(X, Y).predict(np.ones((2, 3))),
        "X has 3 features, but NaiveBayes is expecting 2 features as input.",
    ),
    (
        lambda: LinearRegression().fit(np.array([["a"], ["b"]], object), [1.0, 2.0]),
        "could not convert string to float: 'a'; give text in a data frame",
    ),
    (lambda: fit([1.0, 2.0], Y), "Expected 2D array, got 1D"),
    (lambda: fit(TABLE.slice(0, 0)), "there is no labelled row whose"),
    # labels
    (
        lambda: fit(put("kind", pa.array([None] * 4, pa.string()))),
        "there is no labelled row whose weight is not zero",
    ),
    (lambda: fit(put("kind", ["a"] * 4)), "there is one class: every"),
    (lambda: fit(put("kind", [1.5, 2.0, 1.5, 2.0])), "column 'kind', row 0: 1.5"),
    (lambda: fit(X, [1.5, 2.0, 1.5, 2.0]), "label, row 0: 1.5; Unknown label type: continuous"),
    (lambda: fit(X, [1.0, np.inf, 1.0, 2.0]), "label, row 1: inf"),
    (
        lambda: fit(pa.table({"x": np.arange(10_001.0), "y": np.arange(10_001)}), "y"),
        "label 'y' has more than 10000 values",
    ),
    (
        lambda: fit().evaluate(put("kind", list("zzyy")), "kind"),
        "the label 'y' was never seen in training",
    ),
    # weights
    (lambda: fit(weight=[1, -1, 1, 1]), "sample_weight, row 1: -1.0"),
    (lambda: fit(weight=[1, 1, np.nan, 1]), "sample_weight, row 2: nan"),
    (lambda: fit(X, Y, weight=[1, -1, 1, 1]), "sample_weight, row 1: -1.0"),
    (lambda: fit(weight=[1, 1, 1, 1e101]), "sample_weight, row 3: 1e+101"),
    (lambda: fit(X, Y, weight=[1, 0, 1e-200, 1]), "sample_weight, row 2: 1e-200"),
    (lambda: fit(weight="color"), "column 'color', row 0: 'red'"),
    (
        lambda: fit(X, Y, weight=list("wxyz")),
        "sample_weight: could not convert string to float: 'w'",
    ),
    (lambda: fit(weight=[0, 0, 0, 0]), "there is no labelled row whose weight is not zero"),
    # options
    (
        lambda: CategoricalNB().fit([[1, 2**40], [0, 3]], [0, 1]),
        "column 1, counted from 0: 1099511627777 values from 0 to 1099511627776",
    ),
]
SCHEMA: list[Case] = [
    # tables
    (
        lambda: fit({"age": [1.0, 2.0, 3.0], "size": [1.0, 2.0]}, list("aba")),
        "column 'size' has 2 values, column 'age' has 3",
    ),
    (lambda: fit({"age": X}, Y), "column 'age' is a ndarray of 2"),
    (lambda: fit({"1": [1.0, 2.0], 1: [1.0, 2.0]}, list("ab")), "column '1' is there twice"),
    (lambda: fit().predict(ROWS.drop(["age"])), "column 'age' is not in the table"),
    (
        lambda: fit().partial_fit(ROWS.append_column("new", pa.array([1, 2, 3, 4])), Y),
        "column 'new' is unknown to the model",
    ),
    (
        lambda: fit().predict(put("age", list("wxyz"), ROWS)),
        "column 'age', row 0: 'w' is not a number",
    ),
    (
        lambda: fit().predict(put("color", [1.0, 2.0, 3.0, 4.0], ROWS)),
        "column 'color' holds numbers",
    ),
    (lambda: fit(X, Y).predict(np.array([["u", "v"]])), "column 'x0' holds text"),
    (lambda: fit(TABLE.select(["kind"])), "the table has no"),
    (lambda: fit(put("color", [[1], [2], [3], [4]])), "column 'color' holds lists"),
    (
        lambda: fit(pa.table([[1.0], [2.0], ["a"]], names=["x", "x", "y"]), "y"),
        "column 'x' is there twice",
    ),
    (
        lambda: fit(pd.DataFrame({"x": [1, "a", 2.5], "y": ["a", "b", "a"]}), "y"),
        "column 'x' mixes types: Could not convert 'a' with type str: tried to convert to int64",
    ),
    (
        lambda: fit(np.array([[1, "a"], ["b", 2.0]], dtype=object), ["a", "b"]),
        "column 'x0' mixes types: Could not convert 'b' with type str: tried to convert to int64",
    ),
    (lambda: fit(3), "a int is no table"),
    (lambda: fit(pd.Series([1, 2, 3, 4]), Y), "a Series is no table"),
    # labels
    (lambda: fit(TABLE, "nope"), "there is no column 'nope'"),
    (lambda: fit(X, np.array(["a", 1, "a", 1], dtype=object)), "the labels mix types: int, str"),
    (lambda: fit(ROWS, np.array(["a", 1, "a", 1], dtype=object)), "the labels mix types: int, str"),
    # weights
    (lambda: fit(weight="nope"), "there is no column 'nope'"),
    # what a model is asked for
    (
        lambda: fit().merge(fit(TABLE.drop(["age"]))),
        "the models differ: column 'age' is in this model only",
    ),
    (
        lambda: fit().merge(fit(families={"age": "categorical"})),
        "the models differ: column 'age' is Gaussian() in this model and Categorical() in the",
    ),
    (lambda: fit().merge(fit(alpha=2)), "the models differ: column 'color'"),
]
PARAMETERS: list[Case] = [
    # labels
    (lambda: fit(TABLE, None), "NaiveBayes requires y to be passed, but"),
    (lambda: fit(X, Y).score(X), "NaiveBayes requires y to be"),
    (lambda: fit(X, "kind"), "'kind' names a column"),
    (lambda: fit(TABLE, ["a", "b"]), "2 labels for 4 rows"),
    # weights
    (lambda: fit(weight=[1, 1]), "2 weights for 4 rows"),
    # options
    (lambda: GaussianNB(priors=[0.5, 0.6]).fit(X, Y), "priors=[0.5, 0.6]"),
    (lambda: GaussianNB(priors=[[0.5, 0.5]]).fit(X, Y), "priors has the shape (1, 2), not (2,)"),
    (lambda: ComplementNB(class_prior=[1.0]).fit(X, Y), "class_prior has 1 numbers"),
    (lambda: GaussianNB(var_smoothing=-1).fit(X, Y), "var_smoothing=-1"),
    (lambda: MultinomialNB(alpha="1").fit(X, Y), "alpha='1'"),
    (lambda: MultinomialNB(alpha=[1.0, "x"]).fit(X, Y), "alpha=(1.0, 'x')"),
    (lambda: CategoricalNB(alpha=[1, 2]).fit(X, Y), "alpha=(1.0, 2.0)"),
    (lambda: BernoulliNB(binarize="x").fit(X, Y), "binarize='x'"),
    (lambda: CategoricalNB(min_categories=2.5).fit(X, Y), "min_categories=2.5"),
    (lambda: CategoricalNB(min_categories=[3, 10.5]).fit(X, Y), "min_categories=10.5"),
    (lambda: MultinomialNB(force_alpha="no").fit(X, Y), "force_alpha='no'"),
    (lambda: BayesClassifier([norm(), norm(1)]).bayes_error(random_state="x"), "random_state='x'"),
    (lambda: fit().sample(3, -1), "random_state=-1"),
    (lambda: fit(families={"agee": "gaussian"}), "families names the column 'agee'"),
    (lambda: fit(families={3: "gaussian"}), "families names the column 3"),
    (
        lambda: fit(families={"age": "gaussian", ("age", "color"): "multinomial"}),
        "families names the column 'age' twice",
    ),
    (lambda: fit(families={"age": "gausian"}), "family 'gausian' is not known"),
    (lambda: fit(families={"age": 3}), "families has 3"),
    (
        lambda: fit(families={("kind", "color"): "multinomial"}, y=Y),
        "families groups the texts 'kind', 'color'",
    ),
    (lambda: fit(alpha=-1), "alpha=-1"),
    (lambda: fit(estimation="map", alpha="evidence"), "alpha='evidence' with estimation='map'"),
    (lambda: fit(estimation="map", alpha=0.5), "alpha=0.5 with estimation='map'"),
    (lambda: fit(estimation="ml"), "estimation='ml'"),
    (lambda: fit(unseen="drop"), "unseen='drop'"),
    (lambda: fit(class_prior="flat"), "class_prior='flat'"),
    (lambda: fit(class_prior=[1.0]), "class_prior has 1 numbers"),
    (lambda: fit(class_prior=[0.5, 0.6]), "class_prior=[0.5, 0.6]"),
    (lambda: fit(class_prior={"a": 1.0}), "class_prior has no entry for the class 'b'"),
    (lambda: fit(class_prior=["x", "y"]), "class_prior=['x', 'y']"),
    (lambda: read_table(TABLE, missing="NA"), "missing='NA'"),
    (lambda: read_table(TABLE, label_suffix=None), "label_suffix=None"),
    (lambda: read_table(TABLE, label_map=["a"]), "label_map=['a']"),
    (lambda: Gaussian(kappa0=0), "kappa0=0"),
    (lambda: Gaussian(mean0=np.nan), "mean0=nan"),
    (lambda: Gaussian(b0=np.inf), "b0=inf"),
    (lambda: Poisson(beta=0), "beta=0"),
    (lambda: Poisson(alpha=0), "alpha=0"),
    (lambda: Categorical(min_categories=-1), "min_categories=-1"),
    (lambda: Bernoulli(estimation="mean"), "estimation='mean'"),
    (lambda: Multinomial(alpha=np.nan), "alpha=nan"),
    # what a model is asked for
    (lambda: fit().merge(3), "3 is no generative"),
    (lambda: fit().sample(-1), "n=-1"),
]
FORGOTTEN: list[Case] = [
    (
        lambda: fit().forget(put("age", [99.0, 1.0, 2.0, 3.0]), "kind"),
        "column 'age': fewer values than are to be forgotten, or other ones",
    ),
    (
        lambda: fit().forget(put("color", ["green"] * 4), "kind"),
        "column 'color': fewer rows than are to be forgotten",
    ),
    (
        lambda: fit().forget(put("kind", ["z"] * 4), "kind"),
        "class 'z': fewer rows than are to be forgotten",
    ),
    (
        lambda: fit().forget(pa.concat_tables([TABLE, TABLE]), "kind"),
        "class 'a': fewer rows than are to be forgotten",
    ),
    (lambda: fit().forget(TABLE, "kind"), "no labelled row would be left"),
]
UNFITTED: list[Case] = [
    (lambda: NaiveBayes.textbook().predict(ROWS), unfitted("NaiveBayes")),
    (lambda: NaiveBayes.textbook().score(ROWS, "kind"), unfitted("NaiveBayes")),
    (lambda: LogisticRegression().evaluate(ROWS, "kind"), unfitted("LogisticRegression")),
    (lambda: NaiveBayes.textbook().save("model.suffice"), unfitted("NaiveBayes")),
]

REFUSED = {
    DataError: DATA,
    SchemaError: SCHEMA,
    ParameterError: PARAMETERS,
    ForgetError: FORGOTTEN,
    NotFittedError: UNFITTED,
}


@pytest.mark.parametrize(
    ("kind", "action", "message"),
    [
        pytest.param(kind, *case, id=f"{kind.__name__}: {case[1]}")
        for kind, cases in REFUSED.items()
        for case in cases
    ],
)
def test_message(kind, action, message):
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value).startswith(message)
    assert type(caught.value) is kind


# -- files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,kind\n20,a\n30,b\nforty,a\n50,b\n")
    (tmp_path / "ragged.csv").write_text("age,kind\n20,a\n30,b,c\n")
    (tmp_path / "empty.csv").write_text("")
    return tmp_path


FILES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: fit("absent.csv"), ReadError, "'absent.csv' does not exist"),
    (lambda: fit("absent*.parquet"), ReadError, "no file matches 'absent*.parquet'"),
    (lambda: fit("empty.csv"), ReadError, "empty.csv is empty"),
    (
        lambda: fit("ragged.csv"),
        ReadError,
        "line 3 of ragged.csv: 3 fields, where the table has 2 columns",
    ),
    (
        lambda: fit("people.csv", families={"age": "gaussian"}),
        ReadError,
        "line 4 of people.csv, column 'age': 'forty' is not a number",
    ),
    (lambda: fit("people.csv", "nope"), SchemaError, "there is no column 'nope'"),
    (
        lambda: fit("people.csv", ["a", "b", "a", "b"]),
        ParameterError,
        "the labels are given as values, the rows as a file",
    ),
    (lambda: read_csv("people.csv", separator=",,"), ParameterError, "separator=',,'"),
    (lambda: load("absent.suffice"), ModelFileError, "absent.suffice cannot be"),
    (lambda: load("people.csv"), ModelFileError, "people.csv does not"),
]


@pytest.mark.parametrize(("action", "kind", "message"), FILES, ids=[case[2] for case in FILES])
def test_message_about_a_file(action, kind, message, folder):
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value).startswith(message)
    assert sorted(os.listdir(folder)) == ["empty.csv", "people.csv", "ragged.csv"]


# -- what looks bad and is not


def test_a_stream_that_can_be_read_once_is_read_twice():
    stream = TABLE.to_reader(max_chunksize=1)
    assert fit(stream).statistic_ == fit().statistic_


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_file_without_rows_gets_no_predictions(suffix, tmp_path):
    nothing = ROWS.slice(0, 0)
    path = tmp_path / f"nothing.{suffix}"
    if suffix == "csv":
        path.write_text("age,color\n")
    else:
        pq.write_table(nothing, path)
    model = fit()
    for table in (nothing, path):
        assert model.predict(table).shape == (0,)
        assert model.predict_proba(table).shape == (0, 2)


def test_the_index_of_a_frame_is_no_column():
    frame = TABLE.to_pandas().set_index(pd.Index([3, 5, 7, 9]))
    assert [column.name for column in fit(frame).schema_] == ["age", "color"]


def test_label_and_weight_may_stay_in_the_table_to_predict():
    table = TABLE.append_column("w", pa.array([1.0, 2.0, 1.0, 1.0]))
    model = fit(table, weight="w")
    assert model.predict(table).tolist() == model.predict(ROWS).tolist() == list("abab")


def test_a_date_and_its_midnight_are_one_moment():
    days = [datetime.date(2020, 1, day) for day in (1, 2, 3, 4)]
    table = pa.table({"day": days})
    model = fit(table, Y)
    moments = table.cast(pa.schema([("day", pa.timestamp("ns"))]))
    assert (model.predict_proba(moments) == model.predict_proba(table)).all()


def test_weights_of_a_sparse_matrix():
    dense = fit(X, Y, weight=[1, 2, 1, 1], families="multinomial")
    rows = sparse.csr_matrix(X)
    model = fit(rows, Y, weight=[1, 2, 1, 1], families="multinomial")
    assert (model.predict_proba(rows) == dense.predict_proba(X)).all()


def test_a_failed_batch_leaves_the_model_as_it_was():
    model = fit()
    before = model.statistic_
    with pytest.raises(DataError):
        model.partial_fit(put("age", [1.0, 2.0, np.inf, 3.0]), "kind")
    assert model.statistic_ is before
