"""The reader: settled by the first table, frozen, and the same for all tables that follow."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
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
def test_the_first_table_settles_the_reader(kind: Any) -> None:
    model = kind().fit(TABLE, "y")
    reader = model.reader_
    model.predict(TABLE.drop(["y"]))
    model.score(TABLE.slice(0, 20), "y")
    assert model.reader_ is reader
    assert model.reader_.layout is reader.layout
    assert tuple(reader.names) == ("a", "b", "c") == tuple(model.feature_names_in_)
    with pytest.raises(AttributeError):
        model.reader_.layout = reader.layout


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
            with pytest.raises(ParameterError, match=f"is no {model.kind.name}; only fitted"):
                verb(other)
