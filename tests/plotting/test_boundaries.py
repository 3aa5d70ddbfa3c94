"""Boundaries as curves, against the models' own."""

from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris

from suffice import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    QuadraticDiscriminantAnalysis,
)
from suffice.naive_bayes import GaussianNB
from suffice.plotting import DecisionBoundaryDisplay

X, Y = load_iris(return_X_y=True)
LIMITS = ((4.0, 8.0), (1.5, 5.0))


def drawn(display: DecisionBoundaryDisplay) -> np.ndarray:
    """The points of all boundaries that are drawn."""
    lines = [path.vertices for lines in display.ax_.collections for path in lines.get_paths()]
    return np.concatenate([points for points in lines if len(points)])


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        GaussianNB(),
        LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_two_classes_are_equally_probable_on_a_boundary(model: Any) -> None:
    model.fit(X[:, :2], Y)
    display = DecisionBoundaryDisplay.from_estimator(model, limits=LIMITS)
    points = drawn(display)
    assert len(points) > 500
    logs = np.sort(model.predict_log_proba(points), axis=1)
    np.testing.assert_allclose(logs[:, -1], logs[:, -2], atol=0.1)  # linear between grid points
    assert np.median(logs[:, -1] - logs[:, -2]) < 1e-3
    # Nothing is left out: between neighbours of the grid with other answers a curve goes by.
    winner = display.log_proba.argmax(axis=2)
    step = display.x[1] - display.x[0]
    changes = np.argwhere(winner[:, 1:] != winner[:, :-1])
    for row, column in changes:
        away = np.hypot(*(points - (display.x[column], display.y[row])).T)
        assert away.min() < 2 * step


def test_columns_that_are_left_out_are_left_out_of_the_curve() -> None:
    model = QuadraticDiscriminantAnalysis().fit(X, Y)
    display = DecisionBoundaryDisplay.from_estimator(model, ("x2", "x3"))
    alone = QuadraticDiscriminantAnalysis().fit(X[:, 2:], Y)
    logs = np.sort(alone.predict_log_proba(drawn(display)), axis=1)
    np.testing.assert_allclose(logs[:, -1], logs[:, -2], atol=0.1)
