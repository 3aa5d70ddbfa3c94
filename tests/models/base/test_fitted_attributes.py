"""What was given and what was learnt: neither changes the model when it is written to."""

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import suffice
from suffice import linear_model, naive_bayes
from suffice.errors import UnavailableError
from suffice.families import Gaussian

X = np.array([[0.0, 3.0], [1.0, 1.0], [0.0, 2.0], [4.0, 0.0], [2.0, 6.0], [1.0, 5.0], [3.0, 3.0]])
Y = np.array([0, 1, 0, 1, 0, 1, 1])
MODELS = {
    name: getattr(module, name)
    for module in (naive_bayes, linear_model)
    for name in module.__all__
    if hasattr(getattr(module, name), "fit")
} | {
    "LinearDiscriminantAnalysis": suffice.LinearDiscriminantAnalysis,
    "QuadraticDiscriminantAnalysis": suffice.QuadraticDiscriminantAnalysis,
}


def fitted(name: str) -> Any:
    return MODELS[name]().fit(X, Y)


def arrays(model: Any) -> dict[str, np.ndarray]:
    """The fitted attributes that are arrays."""
    names = [name for name in dir(model) if name.endswith("_") and not name.startswith("_")]
    found = {name: getattr(model, name, None) for name in names}
    return {name: value for name, value in found.items() if isinstance(value, np.ndarray)}


@pytest.mark.parametrize("name", MODELS)
def test_arrays_of_a_fitted_model_cannot_be_written_to(name: str) -> None:
    model = fitted(name)
    found = arrays(model)
    assert len(found) >= 2
    copies = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    for other in (model, *copies):
        for attribute, value in arrays(other).items():
            assert not value.flags.writeable, attribute
    for value in found.values():
        if value.size:
            with pytest.raises(ValueError, match="read-only"):
                value.flat[0] = 0


@pytest.mark.parametrize("name", MODELS)
def test_what_was_given_may_change_after_the_fit(name: str) -> None:
    x, y, weights = X.copy(), Y.copy(), np.linspace(1.0, 2.0, len(X))
    model = MODELS[name]().fit(x, y, sample_weight=weights)
    before = model.predict(X)
    x[:], y[:], weights[:] = 9.0, 0, 0.0
    np.testing.assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("GaussianNB", "priors"),
        ("LinearDiscriminantAnalysis", "priors"),
        ("QuadraticDiscriminantAnalysis", "priors"),
        ("NaiveBayes", "class_prior"),
        ("BernoulliNB", "class_prior"),
        ("MultinomialNB", "class_prior"),
        ("CategoricalNB", "class_prior"),
        ("BernoulliNB", "alpha"),
        ("MultinomialNB", "alpha"),
    ],
)
def test_an_array_given_as_an_option_is_copied(name: str, option: str) -> None:
    given = np.array([0.25, 0.75])
    model = MODELS[name](**{option: given}).fit(X, Y)
    assert getattr(model, option) is given  # as `clone` asks
    before = model.predict_joint_log_proba(X)
    given[:] = [0.5, 0.5]
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), before)
    np.testing.assert_array_equal(copy.deepcopy(model).predict_joint_log_proba(X), before)
    assert (clone(model).fit(X, Y).predict_joint_log_proba(X) != before).any()


def test_a_mapping_given_as_an_option_is_copied() -> None:
    families: dict[str, Any] = {"x0": Gaussian("mle")}
    prior = {0: 0.25, 1: 0.75}
    model = MODELS["NaiveBayes"](families, class_prior=prior).fit(X, Y)
    before = model.predict_joint_log_proba(X)
    families["x1"] = "poisson"
    prior[0], prior[1] = 0.5, 0.5
    np.testing.assert_array_equal(model.predict_joint_log_proba(X), before)


def test_what_a_fit_lacks_is_no_attribute_of_it() -> None:
    by_sums = linear_model.LinearRegression().fit(X, Y)
    by_descent = linear_model.LinearRegression(solver="gradient").fit(X, Y)
    assert by_sums.rank_ == 2
    assert "rank_" in dir(by_sums)
    assert "rank_" not in dir(by_descent)
    assert not hasattr(by_descent, "singular_")
    with pytest.raises(UnavailableError, match="gradient descent keeps no sums over the rows"):
        _ = by_descent.rank_
