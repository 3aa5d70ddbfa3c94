"""The reader: settled by the first table, frozen, and the same for all tables that follow."""

import inspect
import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from sklearn.base import clone

from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import ParameterError
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
)

RNG = np.random.default_rng(5)
X = RNG.integers(0, 4, (60, 3)).astype(float)
Y = np.arange(60) % 2
TABLE = pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": Y})
EXACT: list[Any] = [
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    LinearDiscriminantAnalysis,
    LinearRegression,
    MultinomialNB,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
]
ESTIMATORS = [*EXACT, LogisticRegression]


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_a_reader_is_a_frozen_value(kind: Any) -> None:
    readers = [kind().fit(X, Y).reader_, kind().fit(TABLE, "y").reader_]
    for reader in readers:
        assert pickle.loads(pickle.dumps(reader)) == reader
        with pytest.raises(FrozenInstanceError):
            reader.layout = None
    assert readers[0] != readers[1]
    assert readers[1] == kind().fit(TABLE, "y").reader_


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_the_first_table_settles_the_reader(kind: Any) -> None:
    model = kind().fit(TABLE, "y")
    reader = model.reader_
    model.predict(TABLE.drop(["y"]))
    model.score(TABLE.slice(0, 20), "y")
    assert model.reader_ is reader
    assert model.layout_ is reader.layout
    assert tuple(reader.names) == ("a", "b", "c") == tuple(model.feature_names_in_)
    with pytest.raises(AttributeError):
        model.layout_ = reader.layout


@pytest.mark.parametrize("kind", EXACT)
def test_what_is_learnt_later_is_read_in_the_same_way(kind: Any) -> None:
    model, half = kind().fit(TABLE, "y"), TABLE.slice(0, 30)
    reader = model.reader_
    other = kind().fit(half, "y")
    before = other.reader_
    model.partial_fit(half, "y").merge(other).forget(half, "y")
    assert model.reader_ == reader
    assert other.reader_ is before
    # One half was added twice and taken away once.
    expected = kind().fit(TABLE, "y").partial_fit(half, "y")
    assert model.statistic_ == expected.statistic_


@pytest.mark.parametrize("kind", EXACT)
def test_only_models_of_one_kind_go_together(kind: Any) -> None:
    model = kind().fit(TABLE, "y")
    stranger = (LinearRegression if hasattr(model, "classes_") else GaussianNB)().fit(TABLE, "y")
    for other in (stranger, LogisticRegression().fit(TABLE, "y"), 3):
        for verb in (model.merge, model.compare):
            with pytest.raises(ParameterError, match=f"is no {model.model_name}; only fitted"):
                verb(other)


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_options_are_what_the_signature_says(kind: Any) -> None:
    parameters = inspect.signature(kind).parameters
    assert kind().get_params() == {name: p.default for name, p in parameters.items()}
    assert set(vars(kind())) == set(parameters)
    assert clone(kind()).get_params() == kind().get_params()
    with pytest.raises(TypeError):
        kind(no_such_option=1)
    by_position = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    expected: dict[Any, list[str]] = {
        NaiveBayes: ["families"],
        Ridge: ["alpha"],
        LinearDiscriminantAnalysis: [
            "solver",
            "shrinkage",
            "priors",
            "n_components",
            "store_covariance",
            "tol",
            "covariance_estimator",
        ],
    }
    if kind is not LogisticRegression:
        assert by_position == expected.get(kind, [])
