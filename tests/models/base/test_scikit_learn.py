"""Estimators follow scikit-learn's protocol without inheriting from its classes."""

import subprocess
import sys

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import LinearDiscriminantAnalysis
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge
from suffice.models.estimator import Estimator
from suffice.naive_bayes import GaussianNB

RNG = np.random.default_rng(3)
Y = np.arange(60) % 3
X = RNG.normal(size=(60, 4)) + Y[:, None]
UNFITTED = """
import sys
from suffice.naive_bayes import GaussianNB
assert "sklearn" not in sys.modules
try:
    GaussianNB().predict([[1.0]])
except ValueError as error:
    from sklearn.exceptions import NotFittedError
    print(isinstance(error, NotFittedError))
"""


class Many(Estimator):
    """Parameters by the dozen."""

    def __init__(self, one=1, two=None, three="three", four=(4.0,), five=5.5):
        self.one, self.two, self.three, self.four, self.five = one, two, three, four, five


class TheirMany(BaseEstimator):
    """The same, by inheritance."""

    __init__ = Many.__init__


def test_parameters_are_those_that_a_base_class_would_find() -> None:
    inner = Ridge(3.0)
    ours, theirs = Many(two=inner), TheirMany(two=inner)
    assert ours.get_params() == theirs.get_params()
    assert ours.get_params(deep=False) == theirs.get_params(deep=False)
    ours.set_params(two__alpha=5.0, one=2)
    assert (ours.two.alpha, ours.one) == (5.0, 2)
    with pytest.raises(ValueError, match=r"Invalid parameter 'six' for estimator Many\("):
        ours.set_params(six=6)


def test_kinds_are_told_by_tags() -> None:
    assert is_classifier(GaussianNB())
    assert is_classifier(LogisticRegression())
    assert is_regressor(Ridge())
    assert not is_classifier(Ridge())


def test_copies_searches_and_pipelines() -> None:
    model = GaussianNB(var_smoothing=0.1).fit(X, Y)
    copied = clone(model)
    assert copied.get_params() == model.get_params()
    assert not hasattr(copied, "classes_")
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 0.5]}, cv=3).fit(X, Y)
    assert search.best_params_["var_smoothing"] in (1e-9, 0.5)
    piped = make_pipeline(StandardScaler(), GaussianNB(var_smoothing=0.5))
    assert repr(piped).endswith("('gaussiannb', GaussianNB(var_smoothing=0.5))])")
    assert cross_val_score(piped, X, Y, cv=3).shape == (3,)


def test_metadata_is_routed() -> None:
    weight = RNG.uniform(size=60)
    with sklearn.config_context(enable_metadata_routing=True):
        ours, theirs = GaussianNB(), TheirGaussianNB()
        assert ours.set_fit_request(sample_weight=True) is ours
        routed = clone(ours).get_metadata_routing()
        assert routed.fit.requests == {"sample_weight": True}
        assert theirs.get_metadata_routing().fit.requests == {"sample_weight": None}
        piped = make_pipeline(ours).fit(X, Y, sample_weight=weight)
    expected = GaussianNB().fit(X, Y, weight)
    assert np.array_equal(piped[-1].theta_, expected.theta_)


def test_transformed_rows_come_in_the_container_asked_for() -> None:
    model = LinearDiscriminantAnalysis().fit(X, Y)
    rows = model.transform(X)
    assert type(rows) is np.ndarray
    with sklearn.config_context(transform_output="pandas"):
        framed = model.transform(X)
    assert list(framed.columns) == list(model.get_feature_names_out())
    assert np.array_equal(framed.to_numpy(), rows)
    polars = LinearDiscriminantAnalysis().set_output(transform="polars").fit_transform(X, Y)
    assert np.array_equal(polars.to_numpy(), rows)


def test_methods_that_options_hide() -> None:
    descent = LinearRegression(solver="sgd")
    assert hasattr(LinearRegression(), "partial_fit")
    assert not hasattr(descent, "partial_fit")
    assert "partial_fit" not in dir(descent)
    with pytest.raises(AttributeError, match="This 'LinearRegression' has no attribute 'par"):
        _ = descent.partial_fit


def test_errors_are_those_of_scikit_learn() -> None:
    with pytest.raises(NotFittedError, match="This LinearRegression instance is not fitted yet"):
        LinearRegression().predict(X)


@pytest.mark.exhaustive
def test_errors_are_those_of_scikit_learn_where_it_is_imported_later() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNFITTED], capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout == "True\n"
