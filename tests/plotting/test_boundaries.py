"""Boundaries as curves, class ellipses, and the plane of discriminants, against the models' own."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as JudgeLDA

from suffice import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import ParameterError
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


def test_densities_of_other_shapes_have_boundaries_from_the_grid() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    x = np.c_[rng.normal(size=600) + 3 * y * rng.choice([-1, 1], 600), rng.normal(y, 1)]
    model = NaiveBayes().fit(x, y)
    display = DecisionBoundaryDisplay.from_estimator(model)
    assert display.gaussians == {}
    points = drawn(display)
    assert len(points) > 100
    assert np.abs(np.log(model.predict_proba(points)) @ [1, -1]).mean() < 0.2


@pytest.mark.parametrize("model", [GaussianNB(), QuadraticDiscriminantAnalysis()])
def test_ellipses_hold_95_per_cent_of_their_class(model: Any) -> None:
    model.fit(X, Y)
    display = DecisionBoundaryDisplay.from_estimator(model, ("x0", "x2"))
    for c, line in enumerate(display.ax_.lines):
        points = np.column_stack(line.get_data())
        mine = X[c == Y][:, [0, 2]]
        covariance = np.cov(mine.T, bias=True)
        if isinstance(model, GaussianNB):
            covariance = np.diag(np.diag(covariance))
        away = points - mine.mean(axis=0)
        squared = np.einsum("ni,ij,nj->n", away, np.linalg.inv(covariance), away)
        np.testing.assert_allclose(squared, chi2.ppf(0.95, 2), rtol=1e-6)
    held = DecisionBoundaryDisplay.from_estimator(model, ("x0", "x2"), held={"x1": 3.0, "x3": 1.0})
    assert held.gaussians == {}


def test_the_plane_of_discriminants_is_that_of_scikit_learn() -> None:
    x, y = load_wine(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(x, y)
    display = DecisionBoundaryDisplay.of_discriminants(model, x, y)
    judge = JudgeLDA(solver="eigen").fit(x, y).transform(x)
    assert display.rows is not None
    for mine, theirs in zip(display.rows[0].T, judge.T, strict=True):  # axes have no sign
        assert abs(np.corrcoef(mine, theirs)[0, 1]) == pytest.approx(1, abs=1e-9)
    points = [line for line in display.ax_.lines if line.get_marker() == "o"]
    assert [len(line.get_xdata()) for line in points] == np.bincount(y).tolist()
    # Of three classes, the plane decides as the model does.
    at, expected = display.rows[0], model.predict(x)
    nearest = [
        np.abs(axis[:, None] - z).argmin(axis=0)
        for axis, z in zip((display.x, display.y), at.T, strict=True)
    ]
    decided = display.log_proba[nearest[1], nearest[0]].argmax(axis=1)
    assert (decided == expected).mean() > 0.99  # a row next to a boundary has another grid point
    for label, (mean, covariance) in display.gaussians.items():
        np.testing.assert_allclose(mean, model.transform(x[y == label]).mean(axis=0), atol=1e-9)
        np.testing.assert_array_equal(covariance, np.eye(2))


def test_a_plane_of_discriminants_needs_two_of_them() -> None:
    with pytest.raises(ParameterError, match="the model has one axis that divides its classes"):
        DecisionBoundaryDisplay.of_discriminants(LinearDiscriminantAnalysis().fit(X[:100], Y[:100]))
    with pytest.raises(ParameterError, match="GaussianNB has no axes that divide its classes"):
        DecisionBoundaryDisplay.of_discriminants(GaussianNB().fit(X, Y))
