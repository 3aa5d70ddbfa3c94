"""Boundaries as curves, class ellipses, and the plane of discriminants, against the models' own."""

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import chi2
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as JudgeLDA

from suffice import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
)
from suffice.errors import ParameterError
from suffice.naive_bayes import GaussianNB
from suffice.plotting import DecisionBoundaryDisplay
from suffice.plotting.conics import boundaries, quadratics_of

X, Y = load_iris(return_X_y=True)
LIMITS = ((4.0, 8.0), (1.5, 5.0))


def drawn(display: DecisionBoundaryDisplay) -> np.ndarray:
    """The points of all boundaries that are drawn."""
    assert display.boundaries
    pieces = [piece for boundary in display.boundaries for piece in boundary.pieces]
    lines = [np.column_stack(line.get_data()) for line in display.ax_.lines[: len(pieces)]]
    for line, piece in zip(lines, pieces, strict=True):
        np.testing.assert_array_equal(line, piece)
    return np.concatenate(lines)


@pytest.mark.parametrize(
    "model",
    [
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
        RegularizedDiscriminantAnalysis(),
        GaussianNB(),
        LogisticRegression(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_two_classes_are_equally_probable_on_a_boundary(model: Any) -> None:
    model.fit(X[:, :2], Y)
    display = DecisionBoundaryDisplay.from_estimator(model, limits=LIMITS, points=60)
    points = drawn(display)
    assert len(points) > 1_000
    p = np.sort(model.predict_proba(points), axis=1)
    np.testing.assert_allclose(p[:, -1], p[:, -2], rtol=1e-7)
    # Nothing is left out: between neighbours of the grid with other answers a curve goes by.
    winner = display.log_proba.argmax(axis=2)
    step = display.x[1] - display.x[0]
    changes = np.argwhere(winner[:, 1:] != winner[:, :-1])
    for row, column in changes:
        near = np.abs(points[:, 1] - display.y[row]) < 0.02
        assert near.any()
        assert (points[near, 0] - display.x[column]).min() < 2 * step
        assert np.abs(points[near, 0] - display.x[column]).min() < 2 * step


def test_coefficients_are_those_of_the_form() -> None:
    model = QuadraticDiscriminantAnalysis().fit(X[:, :2], Y)
    display = DecisionBoundaryDisplay.from_estimator(model, limits=LIMITS, points=40)
    functions = quadratics_of(display.x, display.y, display.log_proba)
    assert functions is not None
    rng = np.random.default_rng(0)
    points = rng.uniform(*zip(*LIMITS, strict=True), (50, 2))
    values = model.quadratic_form().values(model.form_features(points))
    u = (points - functions.centre) / functions.half
    powers = np.column_stack(
        [np.ones(50), u[:, 0], u[:, 1], u[:, 0] ** 2, u[:, 0] * u[:, 1], u[:, 1] ** 2]
    )
    found = powers @ functions.coefficients.T
    np.testing.assert_allclose(
        found[:, 1:] - found[:, :1], values[:, 1:] - values[:, :1], rtol=1e-8
    )


def test_columns_that_are_left_out_are_left_out_of_the_curve() -> None:
    model = QuadraticDiscriminantAnalysis().fit(X, Y)
    display = DecisionBoundaryDisplay.from_estimator(model, ("x2", "x3"), points=40)
    alone = QuadraticDiscriminantAnalysis().fit(X[:, 2:], Y)
    p = np.sort(alone.predict_proba(drawn(display)), axis=1)
    np.testing.assert_allclose(p[:, -1], p[:, -2], rtol=1e-6)


HALF = quad(lambda u: np.sqrt(1 + 0.0625 / u**4), 0.25, 1)[0]
CIRCLE = [-0.25, 0.0, 0.0, 1.0, 0.0, 1.0]
CONICS = {
    "a circle": (CIRCLE, np.pi),
    "a steep line": ([0.1, 1.0, 1e-7, 0.0, 0.0, 0.0], 2.0),
    "a level line": ([0.1, 0.0, -1.0, 0.0, 0.0, 0.0], 2.0),
    "two lines that cross": ([0.0, 0.0, 0.0, 1.0, 0.0, -1.0], 4 * np.sqrt(2)),
    "two parallel lines": ([-0.25, 0.0, 0.0, 1.0, 0.0, 0.0], 4.0),
    "axes": ([0.0, 0.0, 0.0, 0.0, 1.0, 0.0], 4.0),
    "a hyperbola": ([-0.25, 0.0, 0.0, 0.0, 1.0, 0.0], 2 * HALF),
    "a parabola": ([-0.5, 0.0, 1.0, -1.0, 0.0, 0.0], None),
    "nothing": ([1.0, 0.0, 0.0, 1.0, 0.0, 1.0], 0.0),
}


@pytest.mark.parametrize("name", CONICS)
def test_every_conic_is_followed(name: str) -> None:
    coefficients, length = CONICS[name]
    line = np.linspace(-1, 1, 21)
    u, v = np.meshgrid(line, line)
    a, b, c, d, e, f = coefficients
    lead = a + b * u + c * v + d * u * u + e * u * v + f * v * v
    functions = quadratics_of(line, line, np.stack([lead, np.zeros_like(lead)], axis=-1))
    assert functions is not None
    pieces = [piece for boundary in boundaries(functions) for piece in boundary.pieces]
    points = np.concatenate([np.empty((0, 2)), *pieces])
    u, v = points.T
    off = a + b * u + c * v + d * u * u + e * u * v + f * v * v
    np.testing.assert_allclose(off, 0.0, atol=1e-9)
    if length is not None:
        found = sum(np.hypot(*np.diff(piece, axis=0).T).sum() for piece in pieces)
        assert found == pytest.approx(length, rel=0.01, abs=1e-9)


def test_densities_of_other_shapes_have_boundaries_from_the_grid() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    x = np.c_[rng.normal(size=600) + 3 * y * rng.choice([-1, 1], 600), rng.normal(y, 1)]
    model = NaiveBayes().fit(x, y)
    display = DecisionBoundaryDisplay.from_estimator(model)
    assert display.boundaries is None
    assert display.gaussians == {}
    points = np.concatenate([path.vertices for path in display.ax_.collections[0].get_paths()])
    assert len(points) > 100
    assert np.abs(np.log(model.predict_proba(points)) @ [1, -1]).mean() < 0.2


@pytest.mark.parametrize("model", [GaussianNB(), QuadraticDiscriminantAnalysis()])
def test_ellipses_hold_95_per_cent_of_their_class(model: Any) -> None:
    model.fit(X, Y)
    display = DecisionBoundaryDisplay.from_estimator(model, ("x0", "x2"))
    pieces = sum(len(boundary.pieces) for boundary in display.boundaries or ())
    for c, line in enumerate(display.ax_.lines[pieces:]):
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
    functions = quadratics_of(display.x, display.y, display.log_proba)
    assert functions is not None
    u = (at - functions.centre) / functions.half
    values = np.column_stack([np.ones(len(u)), u]) @ functions.coefficients[:, :3].T
    np.testing.assert_array_equal(values.argmax(axis=1), expected)
    np.testing.assert_allclose(functions.coefficients[:, 3:], 0, atol=1e-9 * np.abs(values).max())
    for label, (mean, covariance) in display.gaussians.items():
        np.testing.assert_allclose(mean, model.transform(x[y == label]).mean(axis=0), atol=1e-9)
        np.testing.assert_array_equal(covariance, np.eye(2))


def test_a_plane_of_discriminants_needs_two_of_them() -> None:
    with pytest.raises(ParameterError, match="the model has one axis that divides its classes"):
        DecisionBoundaryDisplay.of_discriminants(LinearDiscriminantAnalysis().fit(X[:100], Y[:100]))
    with pytest.raises(ParameterError, match="GaussianNB has no axes that divide its classes"):
        DecisionBoundaryDisplay.of_discriminants(GaussianNB().fit(X, Y))
