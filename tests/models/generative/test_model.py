"""When a model is estimated."""

import pickle

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.families import Gaussian, MultivariateGaussian, family_named, family_names
from suffice.families.family import Parameters

RNG = np.random.default_rng(8)
X, LABELS = RNG.normal(size=(60, 3)), RNG.integers(0, 3, 60)


def fitted(family: object) -> NaiveBayes:
    columns = ("0", "1", "2")
    families = {columns: family} if isinstance(family, MultivariateGaussian) else family
    return NaiveBayes.textbook(families=families).fit(
        {name: X[:, j] for j, name in enumerate(columns)}, LABELS
    )


def test_a_closed_form_waits_until_it_is_asked_for() -> None:
    model = fitted(Gaussian("mle")).model_
    assert "parameters" not in vars(model)
    (parameters,) = model.parameters
    assert vars(model)["parameters"] == (parameters,)
    np.testing.assert_allclose(
        parameters.mean, [X[c == LABELS].mean(axis=0) for c in range(3)], rtol=1e-13
    )


def test_what_may_have_something_to_say_does_not_wait() -> None:
    assert "parameters" in vars(fitted(MultivariateGaussian()).model_)


def test_a_model_that_travels_is_estimated_before() -> None:
    model = pickle.loads(pickle.dumps(fitted(Gaussian("mle")).model_))
    assert "parameters" in vars(model)


@pytest.mark.parametrize("name", [n for n in family_names() if family_named(n).lazy])
def test_a_family_that_waits_makes_no_remarks(name: str) -> None:
    model = NaiveBayes.textbook(families=family_named(name)).fit(X.round() ** 2, LABELS).model_
    (parameters,) = model.parameters
    assert type(parameters).remarks is Parameters.remarks
