"""The methods that are compared: another one is another line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.models.generative.classifier import GenerativeClassifier
from suffice.naive_bayes import GaussianNB

__all__ = ["METHODS", "Method"]


@dataclass(frozen=True)
class Method:
    """A classifier with scikit-learn's interface, and how many numbers a fitted one consists of."""

    name: str
    new: Callable[[], Any]
    parameters: Callable[[Any], int]


def _generative(model: GenerativeClassifier) -> int:
    """Those of the densities, and the class prior."""
    return model.model_.n_free + len(model.classes_) - 1


def _linear(model: Any) -> int:
    return int(model.coef_.size + model.intercept_.size)


def _neighbours(model: Any) -> int:
    """All that was learnt: nothing is summed up."""
    return int(model.n_samples_fit_ * model.n_features_in_)


METHODS = (
    Method("naive Bayes", GaussianNB, _generative),
    Method("LDA", LinearDiscriminantAnalysis, _generative),
    Method("QDA", QuadraticDiscriminantAnalysis, _generative),
    Method("logistic regression", partial(LogisticRegression, max_iter=1_000), _linear),
    Method("nearest neighbours", KNeighborsClassifier, _neighbours),
)
