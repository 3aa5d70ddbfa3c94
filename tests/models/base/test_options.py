"""An option that is True or False is nothing else: a word such as "no" would count as True."""

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
import pytest

import suffice
from suffice import AutoClassifier, LinearRegression, LogisticRegression, NaiveBayes
from suffice import naive_bayes as by_name
from suffice.errors import ParameterError
from suffice.families import Complement, Gaussian
from suffice.model_selection import GridSearchCV, cross_validate, evaluate_folds, learning_curve

RNG = np.random.default_rng(0)
X, Y = RNG.integers(0, 2, (40, 3)).astype(float), np.tile([0, 1], 20)
MODEL = NaiveBayes().fit(X, Y)
LINE, LOGIT = LinearRegression().fit(X, Y), LogisticRegression(C=np.inf).fit(X, Y)

PUBLIC = [(suffice, name) for name in suffice.__all__] + [(by_name, n) for n in by_name.__all__]
ESTIMATORS = {name: getattr(module, name) for module, name in PUBLIC}
OPTIONS = [
    (name, option.name)
    for name, made in ESTIMATORS.items()
    if hasattr(made, "fit")
    for option in fields(made)
    if option.type == "bool"
]


@pytest.mark.parametrize(("name", "option"), OPTIONS)
def test_options_of_estimators(name: str, option: str) -> None:
    for given in ("no", 0, None):
        with pytest.raises(ParameterError, match=f"^{option}={given!r}; it is True or False.$"):
            ESTIMATORS[name](**{option: given}).fit(X, Y)


def test_every_kind_of_estimator_has_such_an_option() -> None:
    known = {"fit_intercept", "fit_prior"}
    assert {option for _, option in OPTIONS} >= known


def test_a_first_batch_is_learnt_with_options_that_are_checked() -> None:
    with pytest.raises(ParameterError, match="fit_prior='no'; it is True or False"):
        by_name.BernoulliNB(fit_prior="no").partial_fit(X, Y, [0, 1])  # type: ignore[arg-type]
    by_name.BernoulliNB(fit_prior=np.True_).partial_fit(X, Y, [0, 1])  # type: ignore[arg-type]


ASKED: dict[str, Callable[[Any], Any]] = {
    "allow_empty": lambda no: MODEL.predict_set(X, allow_empty=no),
    "allow_empty of a mean": lambda no: (
        AutoClassifier(["naive-bayes", "lda"]).fit(X, Y).predict_set(X, allow_empty=no)
    ),
    "learnt": lambda no: MODEL.calibrate(X, Y, learnt=no),
    "learnt of a line": lambda no: LINE.calibrate(X, Y, learnt=no),
    "as_frame": lambda no: LINE.summary(as_frame=no),
    "as_frame of a logit": lambda no: LOGIT.summary(as_frame=no),
    "proba": lambda no: MODEL.predict_batches(X, proba=no),
    "return_train_score": lambda no: cross_validate(MODEL, X, Y, return_train_score=no),
    "return_estimator": lambda no: cross_validate(MODEL, X, Y, return_estimator=no),
    "return_indices": lambda no: cross_validate(MODEL, X, Y, return_indices=no),
    "return_train_score of a grid": lambda no: GridSearchCV(
        NaiveBayes.textbook(), {"alpha": [1.0]}, return_train_score=no
    ).fit(X, Y),
    "shuffle": lambda no: evaluate_folds(MODEL, X, Y, shuffle=no),
    "shuffle of a curve": lambda no: learning_curve(
        NaiveBayes.textbook("bernoulli"), X, Y, shuffle=no
    ),
    "norm": lambda no: Complement(norm=no),
    "shared": lambda no: Gaussian(shared=no),
}


@pytest.mark.parametrize("name", ASKED)
def test_what_methods_and_functions_are_asked(name: str) -> None:
    with pytest.raises(ParameterError, match=f"^{name.split()[0]}='no'; it is True or False.$"):
        ASKED[name]("no")
