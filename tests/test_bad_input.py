"""What a user reads when something is wrong: the fact and its place, the rule, the next step."""

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

from suffice import NaiveBayes, load, read_csv, read_table
from suffice.bayes import BayesClassifier
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.errors import (
    DataError,
    ForgetError,
    ModelFileError,
    ParameterError,
    ReadError,
    SchemaError,
)
from suffice.families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson
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
        "column 'age', row 2: inf; a number must be finite.",
    ),
    "minus infinity in an array": (
        lambda: fit(np.where(X == 5, -np.inf, X), Y),
        DataError,
        "column 'x0', row 2: -inf; a number must be finite.",
    ),
    "infinity at prediction": (
        lambda: fit().predict(put("age", [1.0, -np.inf, 2.0, 3.0], ROWS)),
        DataError,
        "column 'age', row 1: -inf; a number must be finite.",
    ),
    "infinity in an array at prediction": (
        lambda: fit(X, Y).predict(np.array([[1.0, np.inf]])),
        DataError,
        "column 'x1', row 0: inf; a number must be finite.",
    ),
    "a number whose square overflows": (
        lambda: fit(put("age", [1.0, 2.0, 1e200, 3.0])),
        DataError,
        "column 'age', row 2: 1e+200; a number must be below 1e150, or its square overflows.",
    ),
    "such a number in an array": (
        lambda: fit(np.where(X == 5, 1e200, X), Y),
        DataError,
        "column 'x0', row 2: 1e+200; a number must be below 1e150, or its square overflows.",
    ),
    "such a number at prediction": (
        lambda: fit().predict(put("age", [1.0, 2.0, 3.0, -1e200], ROWS)),
        DataError,
        "column 'age', row 3: -1e+200; a number must be below 1e150, or its square overflows.",
    ),
    "a negative count": (
        lambda: fit(put("age", [1, 2, -3, 4]), families={"age": "multinomial"}),
        DataError,
        "column 'age', row 2: -3.0; a count is 0 or more.",
    ),
    "a negative count in an array": (
        lambda: fit(-X, Y, families="multinomial"),
        DataError,
        "column 'x0', row 0: -1.0; a count is 0 or more.",
    ),
    "a negative count in a sparse matrix": (
        lambda: fit(sparse.csr_matrix(-X), Y, families="multinomial"),
        DataError,
        "column 'x0', row 0: -1.0; a count is 0 or more.",
    ),
    "infinity in a sparse matrix": (
        lambda: fit(sparse.csr_matrix(np.where(X == 5, np.inf, X)), Y),
        DataError,
        "column 'x0', row 2: inf; a number must be finite.",
    ),
    **{
        f"a sparse matrix with {name}": (
            lambda arrays=arrays: fit(forged(**arrays), Y),
            DataError,
            "a sparse matrix of 4 rows and 2 columns has cells outside these; row pointers do not "
            "decrease, and indices are below the number of columns; check how it was made: "
            "X.check_format(full_check=True) names what is wrong.",
        )
        for name, arrays in FORGED.items()
    },
    "numbers whose squares underflow": (
        lambda: GaussianNB().fit(X * [1.0, 1e-154], Y),
        DataError,
        "column 'x1': its values differ by about 1e-140 or less; the squares of such differences "
        "underflow; give it in a smaller unit.",
    ),
    "such numbers in discriminant analysis": (
        lambda: LinearDiscriminantAnalysis(shrinkage="auto").fit(X * [1e-162, 1.0], Y),
        DataError,
        "column 'x0': its values differ by about 1e-140 or less; the squares of such differences "
        "underflow; give it in a smaller unit.",
    ),
    "counts whose sum overflows": (
        lambda: fit(np.where(X == 5, 1e308, X), Y, families="multinomial"),
        DataError,
        "column 'x0', row 2: 1e+308; a number must be below 1e150, or its square overflows.",
    ),
    "a Poisson count with a fraction": (
        lambda: fit(families={"age": "poisson"}),
        DataError,
        "column 'age', row 0: 20.5; a count has no fraction.",
    ),
    "a Poisson count with a fraction in an array": (
        lambda: fit(X + 0.5, Y, families="poisson"),
        DataError,
        "column 'x0', row 0: 1.5; a count has no fraction.",
    ),
    "a negative Poisson count": (
        lambda: fit(put("age", [1, 2, -3, 4]), families={"age": "poisson"}),
        DataError,
        "column 'age', row 2: -3.0; a count is 0 or more.",
    ),
    "-1 and 0 in a binary column": (
        lambda: fit(put("age", [-1, 0, 1, 0]), families={"age": "bernoulli"}),
        DataError,
        "column 'age', row 1: 0.0; a binary column holds 0 and 1, or -1 and 1.",
    ),
    "-1 and 0 in a binary array": (
        lambda: fit(np.array([[-1], [0], [1], [0]]), Y, families="bernoulli"),
        DataError,
        "column 'x0', row 1: 0; a binary column holds 0 and 1, or -1 and 1.",
    ),
    "2 in a binary array": (
        lambda: fit(np.array([[2], [0], [1], [0]]), Y, families="bernoulli"),
        DataError,
        "column 'x0', row 0: 2; a binary column holds 0 and 1, or -1 and 1.",
    ),
    "a real column as binary": (
        lambda: fit(families={"age": "bernoulli"}),
        DataError,
        "column 'age', row 0: 20.5; a binary column holds 0 and 1, or -1 and 1.",
    ),
    "a text as Gaussian": (
        lambda: fit(families={"color": "gaussian"}),
        DataError,
        "column 'color', row 0: 'red'; the column is read as numbers.",
    ),
    "an unseen category": (
        lambda: fit(unseen="error").predict(put("color", ["red", "green", "red", "red"], ROWS)),
        DataError,
        "column 'color', row 1: 'green'; the value was never seen in training.",
    ),
    "an unseen code": (
        lambda: fit(X, Y, families="categorical", unseen="error").predict([[1.0, 9.0]]),
        DataError,
        "column 'x1', row 0: 9.0; the value was never seen in training.",
    ),
    "an unseen code to explain": (
        lambda: fit(X, Y, families="categorical", unseen="error").explain([[1.0, 9.0]]),
        DataError,
        "column 'x1', row 0: 9.0; the value was never seen in training.",
    ),
}

TABLES: dict[str, Case] = {
    "columns of different lengths": (
        lambda: fit({"age": [1.0, 2.0, 3.0], "size": [1.0, 2.0]}, list("aba")),
        SchemaError,
        "column 'size' has 2 values, column 'age' has 3; a column has one value for every row.",
    ),
    "a column of two dimensions": (
        lambda: fit({"age": X}, Y),
        SchemaError,
        "column 'age' is a ndarray of 2 dimensions; a column is a list, or an array of one "
        "dimension.",
    ),
    "a number for a column": (
        lambda: fit({"age": 3.0}, Y),
        SchemaError,
        "column 'age' is a float of 0 dimensions; a column is a list, or an array of one "
        "dimension.",
    ),
    "columns that share a name": (
        lambda: fit({"1": [1.0, 2.0], 1: [1.0, 2.0]}, list("ab")),
        SchemaError,
        "column '1' is there twice; column names differ; rename one of them.",
    ),
    "an array too wide": (
        lambda: fit(X, Y).predict(np.ones((2, 3))),
        ValueError,
        "X has 3 features, but NaiveBayes is expecting 2 features as input.",
    ),
    "an array too narrow": (
        lambda: fit(X, Y).predict(np.ones((2, 1))),
        ValueError,
        "X has 1 features, but NaiveBayes is expecting 2 features as input.",
    ),
    "a missing column": (
        lambda: fit().predict(ROWS.drop(["age"])),
        SchemaError,
        "column 'age' is not in the table; its columns are 'color'; correct the name.",
    ),
    "an unknown column": (
        lambda: fit().partial_fit(ROWS.append_column("new", pa.array([1, 2, 3, 4])), Y),
        SchemaError,
        "column 'new' is unknown to the model; it was fitted to 'age', 'color'; "
        "leave the column out.",
    ),
    "strings where numbers were learnt": (
        lambda: fit().predict(put("age", list("wxyz"), ROWS)),
        SchemaError,
        "column 'age' holds text; in training it held numbers; convert it.",
    ),
    "numbers where strings were learnt": (
        lambda: fit().predict(put("color", [1.0, 2.0, 3.0, 4.0], ROWS)),
        SchemaError,
        "column 'color' holds numbers; in training it held text; convert it.",
    ),
    "an array of strings where numbers were learnt": (
        lambda: fit(X, Y).predict(np.array([["u", "v"]])),
        SchemaError,
        "column 'x0' holds text; in training it held numbers; convert it.",
    ),
    "an empty table": (
        lambda: fit(TABLE.slice(0, 0)),
        DataError,
        "there is no labelled row whose weight is not zero; a model needs at least "
        "one; check the label column and the weights.",
    ),
    "an empty array": (
        lambda: fit(np.empty((0, 2)), np.empty(0)),
        DataError,
        "there is no row; an array has one at least.",
    ),
    "nothing but the label": (
        lambda: fit(TABLE.select(["kind"])),
        SchemaError,
        "the table has no column besides the label; a model needs features.",
    ),
    "lists in a column": (
        lambda: fit(put("color", [[1], [2], [3], [4]])),
        SchemaError,
        "column 'color' holds lists; a column holds numbers, strings, "
        "booleans, dates or times; leave it out or split it into such columns.",
    ),
    "records in a column": (
        lambda: fit(put("color", [{"x": 1}] * 4)),
        SchemaError,
        "column 'color' holds records; a column holds numbers, strings, "
        "booleans, dates or times; leave it out or split it into such columns.",
    ),
    "bytes in a column": (
        lambda: fit(put("color", [b"r", b"g", b"r", b"g"])),
        SchemaError,
        "column 'color' holds bytes; a column holds numbers, strings, booleans, "
        "dates or times; leave it out or split it into such columns.",
    ),
    "two columns of one name": (
        lambda: fit(pa.table([[1.0], [2.0], ["a"]], names=["x", "x", "y"]), "y"),
        SchemaError,
        "column 'x' is there twice; column names differ; rename one of them.",
    ),
    "two columns of one name in pandas": (
        lambda: fit(pd.DataFrame([[1, 2, "a"]], columns=["x", "x", "y"]), "y"),
        SchemaError,
        "column 'x' is there twice; column names differ; rename one of them.",
    ),
    "an object column of mixed types": (
        lambda: fit(pd.DataFrame({"x": [1, "a", 2.5], "y": ["a", "b", "a"]}), "y"),
        SchemaError,
        "the table cannot be read: Conversion failed for column x with type "
        "object: Could not convert 'a' with type str: tried to convert to int64; "
        "a column holds values of one type; convert the column named above.",
    ),
    "an object array of mixed types": (
        lambda: fit(np.array([[1, "a"], ["b", 2.0]], dtype=object), ["a", "b"]),
        SchemaError,
        "column 'x0' mixes types: Could not convert 'b' with type str: tried to "
        "convert to int64; a column holds values of one type; convert it.",
    ),
    "a number": (
        lambda: fit(3),
        SchemaError,
        "a int is no table; a table is an array, a sparse matrix, a data frame, "
        "or the path of a file; convert it.",
    ),
    "a set": (
        lambda: fit({1, 2}),
        SchemaError,
        "a set is no table; a table is an array, a sparse matrix, a data frame, "
        "or the path of a file; convert it.",
    ),
    "a Series": (
        lambda: fit(pd.Series([1, 2, 3, 4]), Y),
        SchemaError,
        "a Series is no table; a table is an array, a sparse matrix, a data "
        "frame, or the path of a file; make a table of it: to_frame().",
    ),
}

LABELS: dict[str, Case] = {
    "no y": (
        lambda: fit(TABLE, None),
        ParameterError,
        "NaiveBayes requires y to be passed, but the target y is None; a "
        "classifier learns from labels; pass an array or the name of the label "
        "column.",
    ),
    "no y in partial_fit": (
        lambda: fit().partial_fit(TABLE),
        ParameterError,
        "NaiveBayes requires y to be passed, but the target y is None; a "
        "classifier learns from labels; pass an array or the name of the label "
        "column.",
    ),
    "no y in forget": (
        lambda: fit().forget(TABLE),
        ParameterError,
        "NaiveBayes requires y to be passed, but the target y is None; a "
        "classifier learns from labels; pass an array or the name of the label "
        "column.",
    ),
    "no y in score": (
        lambda: fit(X, Y).score(X),
        ParameterError,
        "NaiveBayes requires y to be passed, but the target y is None; a "
        "classifier learns from labels; pass an array or the name of the label "
        "column.",
    ),
    "an absent label column": (
        lambda: fit(TABLE, "nope"),
        SchemaError,
        "there is no column 'nope' to be the label; the columns are 'age', 'color', 'kind'.",
    ),
    "a label column of an array": (
        lambda: fit(X, "kind"),
        ParameterError,
        "'kind' names a column of an array; the columns of an array have no "
        "names; pass the values, or a table with named columns.",
    ),
    "too few labels": (
        lambda: fit(TABLE, ["a", "b"]),
        ParameterError,
        "2 labels for 4 rows; there is one label per row.",
    ),
    "too few labels for an array": (
        lambda: fit(X, ["a", "b"]),
        ValueError,
        "Found input variables with inconsistent numbers of samples: [4, 2]",
    ),
    "no labelled row": (
        lambda: fit(put("kind", pa.array([None] * 4, pa.string()))),
        DataError,
        "there is no labelled row whose weight is not zero; a model needs at least "
        "one; check the label column and the weights.",
    ),
    "no labelled row in an array": (
        lambda: fit(X, [np.nan] * 4),
        DataError,
        "there is no labelled row whose weight is not zero; a model needs at least "
        "one; check the label column and the weights.",
    ),
    "one class": (
        lambda: fit(put("kind", ["a"] * 4)),
        DataError,
        "there is one class: every label is 'a'; a classifier needs two classes or more; check the "
        "label column.",
    ),
    "one class in an array": (
        lambda: fit(X, ["a"] * 4),
        DataError,
        "there is one class: every label is 'a'; a classifier needs two classes or more; check the "
        "label column.",
    ),
    "a label with a fraction": (
        lambda: fit(put("kind", [1.5, 2.0, 1.5, 2.0])),
        DataError,
        "column 'kind', row 0: 1.5; a label is not a fraction; to predict a number, use a model of "
        "suffice.linear_model.",
    ),
    "labels with a fraction for an array": (
        lambda: fit(X, [1.5, 2.0, 1.5, 2.0]),
        ValueError,
        "Unknown label type: continuous. Maybe you are trying to fit a "
        "classifier, which expects discrete classes on a regression target with "
        "continuous values.",
    ),
    "an infinite label": (
        lambda: fit(X, [1.0, np.inf, 1.0, 2.0]),
        DataError,
        "label, row 1: inf; a label is not a fraction.",
    ),
    "10,001 classes": (
        lambda: fit(pa.table({"x": np.arange(10_001.0), "y": np.arange(10_001)}), "y"),
        DataError,
        "label 'y' has more than 10000 values; a label names a class; check that "
        "the right column is the label.",
    ),
    "10,001 classes for an array": (
        lambda: fit(np.arange(10_001.0)[:, None], np.arange(10_001)),
        DataError,
        "the labels have more than 10000 values; a label names a class; check "
        "that the right values are the labels.",
    ),
    "lists as labels": (
        lambda: fit(put("kind", [[1], [2], [1], [2]])),
        SchemaError,
        "column 'kind' holds lists; a label is a string, a whole "
        "number, a boolean or a date; choose another label.",
    ),
    "labels of mixed types": (
        lambda: fit(X, np.array(["a", 1, "a", 1], dtype=object)),
        SchemaError,
        "the labels mix types: int, str; labels are of one type; convert them.",
    ),
    "labels of mixed types for a table": (
        lambda: fit(ROWS, np.array(["a", 1, "a", 1], dtype=object)),
        SchemaError,
        "the labels mix types: Expected bytes, got a 'int' object; labels are of "
        "one type; convert them.",
    ),
    "no label of a known class": (
        lambda: fit().evaluate(put("kind", list("zzyy")), "kind"),
        DataError,
        "the label 'y' was never seen in training; the model knows 'a', 'b'; "
        "clean the labels, or learn the new class first.",
    ),
}

WEIGHTS: dict[str, Case] = {
    "a negative weight": (
        lambda: fit(weight=[1, -1, 1, 1]),
        DataError,
        "column 'weight', row 1: -1.0; a weight is 0, or from 1e-100 to 1e+100.",
    ),
    "a missing weight": (
        lambda: fit(weight=[1, 1, np.nan, 1]),
        DataError,
        "column 'weight', row 2: nan; a weight is 0, or from 1e-100 to 1e+100.",
    ),
    "a negative weight for an array": (
        lambda: fit(X, Y, weight=[1, -1, 1, 1]),
        DataError,
        "sample_weight, row 1: -1.0; a weight is 0, or from 1e-100 to 1e+100.",
    ),
    "an infinite weight for an array": (
        lambda: fit(X, Y, weight=[1, np.inf, 1, 1]),
        DataError,
        "sample_weight, row 1: inf; a weight is 0, or from 1e-100 to 1e+100.",
    ),
    "a weight whose products overflow": (
        lambda: fit(weight=[1, 1, 1, 1e101]),
        DataError,
        "column 'weight', row 3: 1e+101; a weight is 0, or from 1e-100 to 1e+100.",
    ),
    "a weight for an array whose products underflow": (
        lambda: fit(X, Y, weight=[1, 0, 1e-200, 1]),
        DataError,
        "sample_weight, row 2: 1e-200; a weight is 0, or from 1e-100 to 1e+100.",
    ),
    "a string as weight": (
        lambda: fit(weight="color"),
        DataError,
        "column 'color', row 0: 'red'; the column is read as numbers.",
    ),
    "strings as weights of an array": (
        lambda: fit(X, Y, weight=list("wxyz")),
        DataError,
        "sample_weight: could not convert string to float: 'w'; a weight is a "
        "number; convert the weights.",
    ),
    "too few weights": (
        lambda: fit(weight=[1, 1]),
        ParameterError,
        "2 weights for 4 rows; there is one weight per row.",
    ),
    "too few weights for an array": (
        lambda: fit(X, Y, weight=[1, 1]),
        ParameterError,
        "sample_weight has shape (2,) for 4 rows; there is one weight per row.",
    ),
    "an absent weight column": (
        lambda: fit(weight="nope"),
        SchemaError,
        "there is no column 'nope' to be the weight; the columns are 'age', 'color', 'kind'.",
    ),
    "nothing but zero weights": (
        lambda: fit(weight=[0, 0, 0, 0]),
        DataError,
        "there is no labelled row whose weight is not zero; a model needs at least "
        "one; check the label column and the weights.",
    ),
}

OPTIONS: dict[str, Case] = {
    "a prior of GaussianNB": (
        lambda: GaussianNB(priors=[0.5, 0.6]).fit(X, Y),
        ParameterError,
        "priors=[0.5, 0.6]; The sum of the priors should be 1.",
    ),
    "a prior in brackets": (
        lambda: GaussianNB(priors=[[0.5, 0.5]]).fit(X, Y),
        ParameterError,
        "priors has the shape (1, 2), not (2,); Number of priors must match number of classes, "
        "2: 'a', 'b'.",
    ),
    "a prior that scores do not use": (
        lambda: ComplementNB(class_prior=[1.0]).fit(X, Y),
        ParameterError,
        "class_prior has 1 numbers; Number of priors must match number of classes, 2: 'a', 'b'.",
    ),
    "a negative smoothing of variances": (
        lambda: GaussianNB(var_smoothing=-1).fit(X, Y),
        ParameterError,
        "var_smoothing=-1; var_smoothing is a finite number, 0 or more.",
    ),
    "a number of events as a string": (
        lambda: MultinomialNB(alpha="1").fit(X, Y),
        ParameterError,
        "alpha='1'; alpha is a finite number, 0 or more, or 'evidence' or 'shared_evidence'.",
    ),
    "no alpha": (
        lambda: BernoulliNB(alpha=None).fit(X, Y),
        ParameterError,
        "alpha=None; alpha is a finite number, 0 or more.",
    ),
    "alphas of which one is a string": (
        lambda: MultinomialNB(alpha=[1.0, "x"]).fit(X, Y),
        ParameterError,
        "alpha=(1.0, 'x'); alpha is a finite number, 0 or more.",
    ),
    "alphas of categories": (
        lambda: CategoricalNB(alpha=[1, 2]).fit(X, Y),
        ParameterError,
        "alpha=(1.0, 2.0); alpha is one number for all values.",
    ),
    "a threshold that is a string": (
        lambda: BernoulliNB(binarize="x").fit(X, Y),
        ParameterError,
        "binarize='x'; binarize is a number, or None.",
    ),
    "two thresholds": (
        lambda: BernoulliNB(binarize=[1, 2]).fit(X, Y),
        ParameterError,
        "binarize=[1, 2]; binarize is a number, or None.",
    ),
    "NaN as a threshold": (
        lambda: BernoulliNB(binarize=np.nan).fit(X, Y),
        ParameterError,
        "binarize=nan; binarize is a number, or None.",
    ),
    "half a category": (
        lambda: CategoricalNB(min_categories=2.5).fit(X, Y),
        ParameterError,
        "min_categories=2.5; min_categories is a whole number, 0 or more.",
    ),
    "half a category in one column": (
        lambda: CategoricalNB(min_categories=[3, 10.5]).fit(X, Y),
        ParameterError,
        "min_categories=10.5; min_categories is a whole number, 0 or more.",
    ),
    "codes that are no codes": (
        lambda: CategoricalNB().fit([[1, 2**40], [0, 3]], [0, 1]),
        DataError,
        "column 1, counted from 0: 1099511627777 values from 0 to 1099511627776; whole numbers "
        "are codes that count from 0, 1,000,000 at most; number the values without gaps, or give "
        "them as strings.",
    ),
    "codes beyond 64 bits": (
        lambda: CategoricalNB().fit(np.array([[2**63 + 5], [3]], np.uint64), [0, 1]),
        DataError,
        "column 0, counted from 0: 9223372036854775814 values from 0 to 9223372036854775813; "
        "whole numbers are codes that count from 0, 1,000,000 at most; number the values without "
        "gaps, or give them as strings.",
    ),
    "force_alpha as a word": (
        lambda: MultinomialNB(force_alpha="no").fit(X, Y),  # type: ignore[arg-type]
        ParameterError,
        "force_alpha='no'; it is True or False.",
    ),
    "fit_prior as a word": (
        lambda: CategoricalNB(fit_prior="no").fit(X, Y),  # type: ignore[arg-type]
        ParameterError,
        "fit_prior='no'; it is True or False.",
    ),
    "norm as a word": (
        lambda: ComplementNB(norm="no").fit(X, Y),  # type: ignore[arg-type]
        ParameterError,
        "norm='no'; it is True or False.",
    ),
    "a seed of the Bayes error": (
        lambda: BayesClassifier([norm(), norm(1)]).bayes_error(random_state="x"),  # type: ignore[arg-type]
        ParameterError,
        "random_state='x'; it is a whole number, 0 or more, a numpy.random.Generator, or None.",
    ),
    "a negative seed": (
        lambda: fit().sample(3, -1),
        ParameterError,
        "random_state=-1; it is a whole number, 0 or more, a numpy.random.Generator, or None.",
    ),
    "a family for an unknown column": (
        lambda: fit(families={"agee": "gaussian"}),
        ParameterError,
        "families names the column 'agee'; the columns are 'age', 'color'.",
    ),
    "a family for a number of a column": (
        lambda: fit(families={3: "gaussian"}),
        ParameterError,
        "families names the column 3; the columns are 'age', 'color'.",
    ),
    "a column with two families": (
        lambda: fit(families={"age": "gaussian", ("age", "color"): "multinomial"}),
        ParameterError,
        "families names the column 'age' twice; a column has one family.",
    ),
    "an unknown family": (
        lambda: fit(families={"age": "gausian"}),
        ParameterError,
        "family 'gausian' is not known; choose one of bernoulli, categorical, complement, "
        "density, gaussian, joint_table, multinomial, multivariate_gaussian, poisson.",
    ),
    "a family that is a number": (
        lambda: fit(families={"age": 3}),
        ParameterError,
        "families has 3; a family is a name or an object of suffice.families.",
    ),
    "texts in one group": (
        lambda: fit(families={("kind", "color"): "multinomial"}, y=Y),
        ParameterError,
        "families groups the texts 'kind', 'color'; a text is modelled on its "
        "own; name the columns one by one.",
    ),
    "alpha below 0": (
        lambda: fit(alpha=-1),
        ParameterError,
        "alpha=-1; alpha is a finite number, 0 or more.",
    ),
    "alpha by evidence of a mode": (
        lambda: fit(estimation="map", alpha="evidence"),
        ParameterError,
        "alpha='evidence' with estimation='map'; the evidence is that of a prior under which the "
        "estimate is the posterior mean; use estimation='bayes', or a number.",
    ),
    "alpha as a string": (
        lambda: fit(alpha="1"),
        ParameterError,
        "alpha='1'; alpha is a finite number, 0 or more, or 'evidence' or 'shared_evidence'.",
    ),
    "a mode that does not exist": (
        lambda: fit(estimation="map", alpha=0.5),
        ParameterError,
        "alpha=0.5 with estimation='map'; the posterior has a mode for alpha >= 1 "
        "only; use estimation='bayes', whose posterior mean exists for every "
        "alpha.",
    ),
    "an unknown estimation": (
        lambda: fit(estimation="ml"),
        ParameterError,
        "estimation='ml'; estimation is one of 'mle', 'map', 'bayes'.",
    ),
    "an unknown rule for unseen values": (
        lambda: fit(unseen="drop"),
        ParameterError,
        "unseen='drop'; it is 'ignore', 'error' or 'smooth'.",
    ),
    "an unknown class prior": (
        lambda: fit(class_prior="flat"),
        ParameterError,
        "class_prior='flat'; it is 'empirical', 'smoothed', 'uniform', a mapping "
        "or one number per class.",
    ),
    "a class prior too short": (
        lambda: fit(class_prior=[1.0]),
        ParameterError,
        "class_prior has 1 numbers; Number of priors must match number of classes, 2: 'a', 'b'.",
    ),
    "a class prior that does not add up": (
        lambda: fit(class_prior=[0.5, 0.6]),
        ParameterError,
        "class_prior=[0.5, 0.6]; The sum of the priors should be 1.",
    ),
    "a class prior without a class": (
        lambda: fit(class_prior={"a": 1.0}),
        ParameterError,
        "class_prior has no entry for the class 'b'; a prior that is given has one for every "
        "class; add it, or leave class_prior out and adjust the prior again.",
    ),
    "a class prior of strings": (
        lambda: fit(class_prior=["x", "y"]),
        ParameterError,
        "class_prior=['x', 'y']; a probability is a number.",
    ),
    "one string of missing tokens": (
        lambda: read_table(TABLE, missing="NA"),
        ParameterError,
        "missing='NA'; it must be a sequence of strings; write a list or tuple.",
    ),
    "a label suffix that is no string": (
        lambda: read_table(TABLE, label_suffix=None),
        ParameterError,
        "label_suffix=None; it is a string.",
    ),
    "a label map that is a list": (
        lambda: read_table(TABLE, label_map=["a"]),
        ParameterError,
        "label_map=['a']; it maps labels to new names.",
    ),
    "a Gaussian that trusts no prior": (
        lambda: Gaussian(kappa0=0),
        ParameterError,
        "kappa0=0; kappa0 is a positive finite number.",
    ),
    "a Gaussian prior mean of NaN": (
        lambda: Gaussian(mean0=np.nan),
        ParameterError,
        "mean0=nan; mean0 is a finite number, or None.",
    ),
    "a Gaussian prior variance of infinity": (
        lambda: Gaussian(b0=np.inf),
        ParameterError,
        "b0=inf; b0 is a positive finite number.",
    ),
    "a Poisson rate prior of 0 rows": (
        lambda: Poisson(beta=0),
        ParameterError,
        "beta=0; beta is a positive finite number.",
    ),
    "a Poisson shape of 0": (
        lambda: Poisson(alpha=0),
        ParameterError,
        "alpha=0; alpha is a positive finite number.",
    ),
    "fewer than no categories": (
        lambda: Categorical(min_categories=-1),
        ParameterError,
        "min_categories=-1; min_categories is a whole number, 0 or more.",
    ),
    "an unknown estimation of a Bernoulli": (
        lambda: Bernoulli(estimation="mean"),
        ParameterError,
        "estimation='mean'; estimation is one of 'mle', 'map', 'bayes'.",
    ),
    "alpha of NaN of a multinomial": (
        lambda: Multinomial(alpha=np.nan),
        ParameterError,
        "alpha=nan; alpha is a finite number, 0 or more.",
    ),
}

VERBS: dict[str, Case] = {
    "predicting before fit": (
        lambda: NaiveBayes.textbook().predict(ROWS),
        NotFittedError,
        "This NaiveBayes instance is not fitted yet. Call 'fit' with appropriate "
        "arguments before using this estimator.",
    ),
    "saving before fit": (
        lambda: NaiveBayes.textbook().save("model.suffice"),
        NotFittedError,
        "This NaiveBayes instance is not fitted yet. Call 'fit' with appropriate "
        "arguments before using this estimator.",
    ),
    "forgetting other numbers": (
        lambda: fit().forget(put("age", [99.0, 1.0, 2.0, 3.0]), "kind"),
        ForgetError,
        "column 'age': fewer values than are to be forgotten, or other ones; "
        "only rows that were learnt can be forgotten.",
    ),
    "forgetting other categories": (
        lambda: fit().forget(put("color", ["green"] * 4), "kind"),
        ForgetError,
        "column 'color': fewer rows than are to be forgotten; only rows that were "
        "learnt can be forgotten.",
    ),
    "forgetting another class": (
        lambda: fit().forget(put("kind", ["z"] * 4), "kind"),
        ForgetError,
        "class 'z': fewer rows than are to be forgotten; only rows that were learnt "
        "can be forgotten.",
    ),
    "forgetting rows twice": (
        lambda: fit().forget(pa.concat_tables([TABLE, TABLE]), "kind"),
        ForgetError,
        "class 'a': fewer rows than are to be forgotten; only rows that were learnt "
        "can be forgotten.",
    ),
    "forgetting everything": (
        lambda: fit().forget(TABLE, "kind"),
        ForgetError,
        "no labelled row would be left; a model rests on one row at least; delete "
        "the model instead.",
    ),
    "merging other columns": (
        lambda: fit().merge(fit(TABLE.drop(["age"]))),
        SchemaError,
        "the models differ: column 'age' is in this model only; only models of "
        "the same columns and families can be merged; fit both with the same "
        "`families`.",
    ),
    "merging other families": (
        lambda: fit().merge(fit(families={"age": "categorical"})),
        SchemaError,
        "the models differ: column 'age' is Gaussian() in this model and Categorical() "
        "in the other; only models of the same columns and families can be "
        "merged; fit both with the same `families`.",
    ),
    "merging another alpha": (
        lambda: fit().merge(fit(alpha=2)),
        SchemaError,
        "the models differ: column 'color' is Categorical() in this model and "
        "Categorical(alpha=2) in the other; only models of the same columns and "
        "families can be merged; fit both with the same `families`.",
    ),
    "merging what is no model": (
        lambda: fit().merge(3),
        ParameterError,
        "3 is no generative classifier; only fitted generative classifiers can be merged with one.",
    ),
    "drawing fewer than no rows": (
        lambda: fit().sample(-1),
        ParameterError,
        "n=-1; the number of rows is a whole number, 0 or more.",
    ),
}

CASES = CELLS | TABLES | LABELS | WEIGHTS | OPTIONS | VERBS


@pytest.mark.parametrize("name", CASES)
def test_message(name):
    action, kind, message = CASES[name]
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value) == message
    assert type(caught.value) is kind


def test_cases_have_names_of_their_own():
    assert len(CASES) == sum(map(len, (CELLS, TABLES, LABELS, WEIGHTS, OPTIONS, VERBS)))


# -- files


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("age,kind\n20,a\n30,b\nforty,a\n50,b\n")
    (tmp_path / "ragged.csv").write_text("age,kind\n20,a\n30,b,c\n")
    (tmp_path / "empty.csv").write_text("")
    return tmp_path


FILES: dict[str, Case] = {
    "an absent file": (
        lambda: fit("absent.csv"),
        ReadError,
        "'absent.csv' does not exist; check the path; the working directory is {folder}.",
    ),
    "a glob without a match": (
        lambda: fit("absent*.parquet"),
        ReadError,
        "no file matches 'absent*.parquet'; check the path; the working directory is {folder}.",
    ),
    "an empty file": (
        lambda: fit("empty.csv"),
        ReadError,
        "empty.csv is empty; a table has at least a header or one row; check how it was written.",
    ),
    "a ragged line": (
        lambda: fit("ragged.csv"),
        ReadError,
        "line 3 of ragged.csv: 3 fields, where the table has 2 columns; every row "
        "must have one field per column; correct the row, or leave such rows out "
        "with CsvFormat(skip_bad_rows=...).",
    ),
    "text in a number column": (
        lambda: fit("people.csv", families={"age": "gaussian"}),
        ReadError,
        "line 4 of people.csv, column 'age': 'forty' is not a number; every cell of "
        "this column is read as a number; correct the cell, declare 'forty' in "
        "CsvFormat(missing=...), or declare another type for the column.",
    ),
    "an absent label": (
        lambda: fit("people.csv", "nope"),
        SchemaError,
        "there is no column 'nope' to be the label; the columns are 'age', 'kind'.",
    ),
    "labels for a file": (
        lambda: fit("people.csv", ["a", "b", "a", "b"]),
        ParameterError,
        "the labels are given as values, the rows as a file; a file brings its "
        "own labels; give the name of their column.",
    ),
    "a separator of two characters": (
        lambda: read_csv("people.csv", separator=",,"),
        ParameterError,
        "separator=',,'; it must be one ASCII character that ends no line; for a "
        'tab write "\\t".',
    ),
    "an absent model": (
        lambda: load("absent.suffice"),
        ModelFileError,
        "absent.suffice cannot be read: No such file or directory; check the path "
        "and its permissions.",
    ),
    "a model that is none": (
        lambda: load("people.csv"),
        ModelFileError,
        "people.csv does not start like a model file; only files that Suffice "
        "saved can be loaded; check the path.",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_message_about_a_file(name, folder):
    action, kind, message = FILES[name]
    with pytest.raises(kind) as caught:
        action()
    assert str(caught.value) == message.replace("{folder}", str(folder))
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
