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
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
)

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


FORGED = {
    "an index beyond the columns": {"indices": [0, 1, 0, 1, 0, 2, 0, 1]},
    "an index below 0": {"indices": [0, 1, 0, -1, 0, 1, 0, 1]},
    "rows that begin before they end": {"indptr": [0, 4, 2, 6, 8]},
    "rows beyond the cells": {"indptr": [0, 2, 4, 6, 9]},
    "too few rows": {"indptr": [0, 2, 4, 8]},
}
Case = tuple[Callable[[], Any], type[Exception], str]

CELLS: dict[str, Case] = {
    "infinity in a table": (
        lambda: fit(put("age", [1.0, 2.0, np.inf, 3.0])),
        DataError,
        "column 'age', row 2: inf",
    ),
    "infinity at prediction": (
        lambda: fit().predict(put("age", [1.0, -np.inf, 2.0, 3.0], ROWS)),
        DataError,
        "column 'age', row 1: -inf",
    ),
    "a number whose square overflows": (
        lambda: fit(put("age", [1.0, 2.0, 1e200, 3.0])),
        DataError,
        "column 'age', row 2: 1e+200",
    ),
    "such a number in an array": (
        lambda: fit(np.where(X == 5, 1e200, X), Y),
        DataError,
        "column 'x0', row 2: 1e+200",
    ),
    "a negative count": (
        lambda: fit(put("age", [1, 2, -3, 4]), families={"age": "multinomial"}),
        DataError,
        "column 'age', row 2: -3.0",
    ),
    "a negative count in a sparse matrix": (
        lambda: fit(sparse.csr_matrix(-X), Y, families="multinomial"),
        DataError,
        "column 'x0', row 0: -1.0",
    ),
    "infinity in a sparse matrix": (
        lambda: fit(sparse.csr_matrix(np.where(X == 5, np.inf, X)), Y),
        DataError,
        "column 'x0', row 2: inf",
    ),
    **{
        f"a sparse matrix with {name}": (
            lambda arrays=arrays: fit(forged(**arrays), Y),
            DataError,
            "a sparse matrix of 4 rows and 2 columns has cells outside these",
        )
        for name, arrays in FORGED.items()
    },
    "numbers whose squares underflow": (
        lambda: GaussianNB().fit(X * [1.0, 1e-154], Y),
        DataError,
        "column 'x1': its values differ by about 1e-140 or less",
    ),
    "such numbers in discriminant analysis": (
        lambda: LinearDiscriminantAnalysis(shrinkage="auto").fit(X * [1e-162, 1.0], Y),
        DataError,
        "column 'x0': its values differ by about 1e-140 or less",
    ),
    "counts whose sum overflows": (
        lambda: fit(np.where(X == 5, 1e308, X), Y, families="multinomial"),
        DataError,
        "column 'x0', row 2: 1e+308",
    ),
    "a Poisson count with a fraction": (
        lambda: fit(families={"age": "poisson"}),
        DataError,
        "column 'age', row 0: 20.5",
    ),
    "a negative Poisson count": (
        lambda: fit(put("age", [1, 2, -3, 4]), families={"age": "poisson"}),
        DataError,
        "column 'age', row 2: -3.0",
    ),
    "-1 and 0 in a binary column": (
        lambda: fit(put("age", [-1, 0, 1, 0]), families={"age": "bernoulli"}),
        DataError,
        "column 'age', row 1: 0.0",
    ),
    "2 in a binary array": (
        lambda: fit(np.array([[2], [0], [1], [0]]), Y, families="bernoulli"),
        DataError,
        "column 'x0', row 0: 2",
    ),
    "a real column as binary": (
        lambda: fit(families={"age": "bernoulli"}),
        DataError,
        "column 'age', row 0: 20.5",
    ),
    "a text as Gaussian": (
        lambda: fit(families={"color": "gaussian"}),
        DataError,
        "column 'color', row 0: 'red'",
    ),
    "an unseen category": (
        lambda: fit(unseen="error").predict(put("color", ["red", "green", "red", "red"], ROWS)),
        DataError,
        "column 'color', row 1: 'green'",
    ),
    "an unseen code": (
        lambda: fit(X, Y, families="categorical", unseen="error").predict([[1.0, 9.0]]),
        DataError,
        "column 'x1', row 0: 9.0",
    ),
}

TABLES: dict[str, Case] = {
    "columns of different lengths": (
        lambda: fit({"age": [1.0, 2.0, 3.0], "size": [1.0, 2.0]}, list("aba")),
        SchemaError,
        "column 'size' has 2 values, column 'age' has 3",
    ),
    "a column of two dimensions": (
        lambda: fit({"age": X}, Y),
        SchemaError,
        "column 'age' is a ndarray of 2",
    ),
    "columns that share a name": (
        lambda: fit({"1": [1.0, 2.0], 1: [1.0, 2.0]}, list("ab")),
        SchemaError,
        "column '1' is there twice",
    ),
    "an array too wide": (
        lambda: fit(X, Y).predict(np.ones((2, 3))),
        DataError,
        "X has 3 features, but NaiveBayes is expecting 2 features as input.",
    ),
    "text in an array of numbers": (
        lambda: LinearRegression().fit(np.array([["a"], ["b"]], object), [1.0, 2.0]),
        DataError,
        "could not convert string to float: 'a'; give text in a data frame",
    ),
    "rows of one dimension": (lambda: fit([1.0, 2.0], Y), DataError, "Expected 2D array, got 1D"),
    "a missing column": (
        lambda: fit().predict(ROWS.drop(["age"])),
        SchemaError,
        "column 'age' is not in the table",
    ),
    "an unknown column": (
        lambda: fit().partial_fit(ROWS.append_column("new", pa.array([1, 2, 3, 4])), Y),
        SchemaError,
        "column 'new' is unknown to the model",
    ),
    "strings where numbers were learnt": (
        lambda: fit().predict(put("age", list("wxyz"), ROWS)),
        SchemaError,
        "column 'age', row 0: 'w' is not a number",
    ),
    "numbers where strings were learnt": (
        lambda: fit().predict(put("color", [1.0, 2.0, 3.0, 4.0], ROWS)),
        SchemaError,
        "column 'color' holds numbers",
    ),
    "an array of strings where numbers were learnt": (
        lambda: fit(X, Y).predict(np.array([["u", "v"]])),
        SchemaError,
        "column 'x0' holds text",
    ),
    "an empty table": (lambda: fit(TABLE.slice(0, 0)), DataError, "there is no labelled row whose"),
    "nothing but the label": (lambda: fit(TABLE.select(["kind"])), SchemaError, "the table has no"),
    "lists in a column": (
        lambda: fit(put("color", [[1], [2], [3], [4]])),
        SchemaError,
        "column 'color' holds lists",
    ),
    "two columns of one name": (
        lambda: fit(pa.table([[1.0], [2.0], ["a"]], names=["x", "x", "y"]), "y"),
        SchemaError,
        "column 'x' is there twice",
    ),
    "an object column of mixed types": (
        lambda: fit(pd.DataFrame({"x": [1, "a", 2.5], "y": ["a", "b", "a"]}), "y"),
        SchemaError,
        "column 'x' mixes types: Could not convert 'a' with type str: tried to convert to int64",
    ),
    "an object array of mixed types": (
        lambda: fit(np.array([[1, "a"], ["b", 2.0]], dtype=object), ["a", "b"]),
        SchemaError,
        "column 'x0' mixes types: Could not convert 'b' with type str: tried to convert to int64",
    ),
    "a number": (lambda: fit(3), SchemaError, "a int is no table"),
    "a Series": (lambda: fit(pd.Series([1, 2, 3, 4]), Y), SchemaError, "a Series is no table"),
}

LABELS: dict[str, Case] = {
    "no y": (lambda: fit(TABLE, None), ParameterError, "NaiveBayes requires y to be passed, but"),
    "no y in score": (lambda: fit(X, Y).score(X), ParameterError, "NaiveBayes requires y to be"),
    "an absent label column": (
        lambda: fit(TABLE, "nope"),
        SchemaError,
        "there is no column 'nope'",
    ),
    "a label column of an array": (lambda: fit(X, "kind"), ParameterError, "'kind' names a column"),
    "too few labels": (lambda: fit(TABLE, ["a", "b"]), ParameterError, "2 labels for 4 rows"),
    "no labelled row": (
        lambda: fit(put("kind", pa.array([None] * 4, pa.string()))),
        DataError,
        "there is no labelled row whose weight is not zero",
    ),
    "one class": (lambda: fit(put("kind", ["a"] * 4)), DataError, "there is one class: every"),
    "a label with a fraction": (
        lambda: fit(put("kind", [1.5, 2.0, 1.5, 2.0])),
        DataError,
        "column 'kind', row 0: 1.5",
    ),
    "labels with a fraction for an array": (
        lambda: fit(X, [1.5, 2.0, 1.5, 2.0]),
        DataError,
        "label, row 0: 1.5; Unknown label type: continuous",
    ),
    "an infinite label": (lambda: fit(X, [1.0, np.inf, 1.0, 2.0]), DataError, "label, row 1: inf"),
    "10,001 classes": (
        lambda: fit(pa.table({"x": np.arange(10_001.0), "y": np.arange(10_001)}), "y"),
        DataError,
        "label 'y' has more than 10000 values",
    ),
    "labels of mixed types": (
        lambda: fit(X, np.array(["a", 1, "a", 1], dtype=object)),
        SchemaError,
        "the labels mix types: int, str",
    ),
    "labels of mixed types for a table": (
        lambda: fit(ROWS, np.array(["a", 1, "a", 1], dtype=object)),
        SchemaError,
        "the labels mix types: int, str",
    ),
    "no label of a known class": (
        lambda: fit().evaluate(put("kind", list("zzyy")), "kind"),
        DataError,
        "the label 'y' was never seen in training",
    ),
}

WEIGHTS: dict[str, Case] = {
    "a negative weight": (
        lambda: fit(weight=[1, -1, 1, 1]),
        DataError,
        "sample_weight, row 1: -1.0",
    ),
    "a missing weight": (
        lambda: fit(weight=[1, 1, np.nan, 1]),
        DataError,
        "sample_weight, row 2: nan",
    ),
    "a negative weight for an array": (
        lambda: fit(X, Y, weight=[1, -1, 1, 1]),
        DataError,
        "sample_weight, row 1: -1.0",
    ),
    "a weight whose products overflow": (
        lambda: fit(weight=[1, 1, 1, 1e101]),
        DataError,
        "sample_weight, row 3: 1e+101",
    ),
    "a weight for an array whose products underflow": (
        lambda: fit(X, Y, weight=[1, 0, 1e-200, 1]),
        DataError,
        "sample_weight, row 2: 1e-200",
    ),
    "a string as weight": (lambda: fit(weight="color"), DataError, "column 'color', row 0: 'red'"),
    "strings as weights of an array": (
        lambda: fit(X, Y, weight=list("wxyz")),
        DataError,
        "sample_weight: could not convert string to float: 'w'",
    ),
    "too few weights": (lambda: fit(weight=[1, 1]), ParameterError, "2 weights for 4 rows"),
    "an absent weight column": (
        lambda: fit(weight="nope"),
        SchemaError,
        "there is no column 'nope'",
    ),
    "nothing but zero weights": (
        lambda: fit(weight=[0, 0, 0, 0]),
        DataError,
        "there is no labelled row whose weight is not zero",
    ),
}

OPTIONS: dict[str, Case] = {
    "a prior of GaussianNB": (
        lambda: GaussianNB(priors=[0.5, 0.6]).fit(X, Y),
        ParameterError,
        "priors=[0.5, 0.6]",
    ),
    "a prior in brackets": (
        lambda: GaussianNB(priors=[[0.5, 0.5]]).fit(X, Y),
        ParameterError,
        "priors has the shape (1, 2), not (2,)",
    ),
    "a prior that scores do not use": (
        lambda: ComplementNB(class_prior=[1.0]).fit(X, Y),
        ParameterError,
        "class_prior has 1 numbers",
    ),
    "a negative smoothing of variances": (
        lambda: GaussianNB(var_smoothing=-1).fit(X, Y),
        ParameterError,
        "var_smoothing=-1",
    ),
    "a number of events as a string": (
        lambda: MultinomialNB(alpha="1").fit(X, Y),
        ParameterError,
        "alpha='1'",
    ),
    "alphas of which one is a string": (
        lambda: MultinomialNB(alpha=[1.0, "x"]).fit(X, Y),
        ParameterError,
        "alpha=(1.0, 'x')",
    ),
    "alphas of categories": (
        lambda: CategoricalNB(alpha=[1, 2]).fit(X, Y),
        ParameterError,
        "alpha=(1.0, 2.0)",
    ),
    "a threshold that is a string": (
        lambda: BernoulliNB(binarize="x").fit(X, Y),
        ParameterError,
        "binarize='x'",
    ),
    "half a category": (
        lambda: CategoricalNB(min_categories=2.5).fit(X, Y),
        ParameterError,
        "min_categories=2.5",
    ),
    "half a category in one column": (
        lambda: CategoricalNB(min_categories=[3, 10.5]).fit(X, Y),
        ParameterError,
        "min_categories=10.5",
    ),
    "codes that are no codes": (
        lambda: CategoricalNB().fit([[1, 2**40], [0, 3]], [0, 1]),
        DataError,
        "column 1, counted from 0: 1099511627777 values from 0 to 1099511627776",
    ),
    "force_alpha as a word": (
        lambda: MultinomialNB(force_alpha="no").fit(X, Y),
        ParameterError,
        "force_alpha='no'",
    ),
    "a seed of the Bayes error": (
        lambda: BayesClassifier([norm(), norm(1)]).bayes_error(random_state="x"),
        ParameterError,
        "random_state='x'",
    ),
    "a negative seed": (lambda: fit().sample(3, -1), ParameterError, "random_state=-1"),
    "a family for an unknown column": (
        lambda: fit(families={"agee": "gaussian"}),
        ParameterError,
        "families names the column 'agee'",
    ),
    "a family for a number of a column": (
        lambda: fit(families={3: "gaussian"}),
        ParameterError,
        "families names the column 3",
    ),
    "a column with two families": (
        lambda: fit(families={"age": "gaussian", ("age", "color"): "multinomial"}),
        ParameterError,
        "families names the column 'age' twice",
    ),
    "an unknown family": (
        lambda: fit(families={"age": "gausian"}),
        ParameterError,
        "family 'gausian' is not known",
    ),
    "a family that is a number": (
        lambda: fit(families={"age": 3}),
        ParameterError,
        "families has 3",
    ),
    "texts in one group": (
        lambda: fit(families={("kind", "color"): "multinomial"}, y=Y),
        ParameterError,
        "families groups the texts 'kind', 'color'",
    ),
    "alpha below 0": (lambda: fit(alpha=-1), ParameterError, "alpha=-1"),
    "alpha by evidence of a mode": (
        lambda: fit(estimation="map", alpha="evidence"),
        ParameterError,
        "alpha='evidence' with estimation='map'",
    ),
    "a mode that does not exist": (
        lambda: fit(estimation="map", alpha=0.5),
        ParameterError,
        "alpha=0.5 with estimation='map'",
    ),
    "an unknown estimation": (lambda: fit(estimation="ml"), ParameterError, "estimation='ml'"),
    "an unknown rule for unseen values": (
        lambda: fit(unseen="drop"),
        ParameterError,
        "unseen='drop'",
    ),
    "an unknown class prior": (
        lambda: fit(class_prior="flat"),
        ParameterError,
        "class_prior='flat'",
    ),
    "a class prior too short": (
        lambda: fit(class_prior=[1.0]),
        ParameterError,
        "class_prior has 1 numbers",
    ),
    "a class prior that does not add up": (
        lambda: fit(class_prior=[0.5, 0.6]),
        ParameterError,
        "class_prior=[0.5, 0.6]",
    ),
    "a class prior without a class": (
        lambda: fit(class_prior={"a": 1.0}),
        ParameterError,
        "class_prior has no entry for the class 'b'",
    ),
    "a class prior of strings": (
        lambda: fit(class_prior=["x", "y"]),
        ParameterError,
        "class_prior=['x', 'y']",
    ),
    "one string of missing tokens": (
        lambda: read_table(TABLE, missing="NA"),
        ParameterError,
        "missing='NA'",
    ),
    "a label suffix that is no string": (
        lambda: read_table(TABLE, label_suffix=None),
        ParameterError,
        "label_suffix=None",
    ),
    "a label map that is a list": (
        lambda: read_table(TABLE, label_map=["a"]),
        ParameterError,
        "label_map=['a']",
    ),
    "a Gaussian that trusts no prior": (lambda: Gaussian(kappa0=0), ParameterError, "kappa0=0"),
    "a Gaussian prior mean of NaN": (lambda: Gaussian(mean0=np.nan), ParameterError, "mean0=nan"),
    "a Gaussian prior variance of infinity": (
        lambda: Gaussian(b0=np.inf),
        ParameterError,
        "b0=inf",
    ),
    "a Poisson rate prior of 0 rows": (lambda: Poisson(beta=0), ParameterError, "beta=0"),
    "a Poisson shape of 0": (lambda: Poisson(alpha=0), ParameterError, "alpha=0"),
    "fewer than no categories": (
        lambda: Categorical(min_categories=-1),
        ParameterError,
        "min_categories=-1",
    ),
    "an unknown estimation of a Bernoulli": (
        lambda: Bernoulli(estimation="mean"),
        ParameterError,
        "estimation='mean'",
    ),
    "alpha of NaN of a multinomial": (
        lambda: Multinomial(alpha=np.nan),
        ParameterError,
        "alpha=nan",
    ),
}

VERBS: dict[str, Case] = {
    "predicting before fit": (
        lambda: NaiveBayes.textbook().predict(ROWS),
        NotFittedError,
        "This NaiveBayes instance is not fitted yet. Call 'fit' with appropriate arguments before",
    ),
    "a score before fit": (
        lambda: NaiveBayes.textbook().score(ROWS, "kind"),
        NotFittedError,
        "This NaiveBayes instance is not fitted yet. Call 'fit' with appropriate arguments before",
    ),
    "an evaluation before fit": (
        lambda: LogisticRegression().evaluate(ROWS, "kind"),
        NotFittedError,
        "This LogisticRegression instance is not fitted yet. Call 'fit' with appropriate arguments",
    ),
    "saving before fit": (
        lambda: NaiveBayes.textbook().save("model.suffice"),
        NotFittedError,
        "This NaiveBayes instance is not fitted yet. Call 'fit' with appropriate arguments before",
    ),
    "forgetting other numbers": (
        lambda: fit().forget(put("age", [99.0, 1.0, 2.0, 3.0]), "kind"),
        ForgetError,
        "column 'age': fewer values than are to be forgotten, or other ones",
    ),
    "forgetting other categories": (
        lambda: fit().forget(put("color", ["green"] * 4), "kind"),
        ForgetError,
        "column 'color': fewer rows than are to be forgotten",
    ),
    "forgetting another class": (
        lambda: fit().forget(put("kind", ["z"] * 4), "kind"),
        ForgetError,
        "class 'z': fewer rows than are to be forgotten",
    ),
    "forgetting rows twice": (
        lambda: fit().forget(pa.concat_tables([TABLE, TABLE]), "kind"),
        ForgetError,
        "class 'a': fewer rows than are to be forgotten",
    ),
    "forgetting everything": (
        lambda: fit().forget(TABLE, "kind"),
        ForgetError,
        "no labelled row would be left",
    ),
    "merging other columns": (
        lambda: fit().merge(fit(TABLE.drop(["age"]))),
        SchemaError,
        "the models differ: column 'age' is in this model only",
    ),
    "merging other families": (
        lambda: fit().merge(fit(families={"age": "categorical"})),
        SchemaError,
        "the models differ: column 'age' is Gaussian() in this model and Categorical() in the",
    ),
    "merging another alpha": (
        lambda: fit().merge(fit(alpha=2)),
        SchemaError,
        "the models differ: column 'color'",
    ),
    "merging what is no model": (lambda: fit().merge(3), ParameterError, "3 is no generative"),
    "drawing fewer than no rows": (lambda: fit().sample(-1), ParameterError, "n=-1"),
}

CASES = CELLS | TABLES | LABELS | WEIGHTS | OPTIONS | VERBS


@pytest.mark.parametrize("name", CASES)
def test_message(name):
    action, kind, message = CASES[name]
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


FILES: dict[str, Case] = {
    "an absent file": (lambda: fit("absent.csv"), ReadError, "'absent.csv' does not exist"),
    "a glob without a match": (
        lambda: fit("absent*.parquet"),
        ReadError,
        "no file matches 'absent*.parquet'",
    ),
    "an empty file": (lambda: fit("empty.csv"), ReadError, "empty.csv is empty"),
    "a ragged line": (
        lambda: fit("ragged.csv"),
        ReadError,
        "line 3 of ragged.csv: 3 fields, where the table has 2 columns",
    ),
    "text in a number column": (
        lambda: fit("people.csv", families={"age": "gaussian"}),
        ReadError,
        "line 4 of people.csv, column 'age': 'forty' is not a number",
    ),
    "an absent label": (
        lambda: fit("people.csv", "nope"),
        SchemaError,
        "there is no column 'nope'",
    ),
    "labels for a file": (
        lambda: fit("people.csv", ["a", "b", "a", "b"]),
        ParameterError,
        "the labels are given as values, the rows as a file",
    ),
    "a separator of two characters": (
        lambda: read_csv("people.csv", separator=",,"),
        ParameterError,
        "separator=',,'",
    ),
    "an absent model": (lambda: load("absent.suffice"), ModelFileError, "absent.suffice cannot be"),
    "a model that is none": (lambda: load("people.csv"), ModelFileError, "people.csv does not"),
}


@pytest.mark.parametrize("name", FILES)
def test_message_about_a_file(name, folder):
    action, kind, message = FILES[name]
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value).startswith(message.replace("{folder}", str(folder)))
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
