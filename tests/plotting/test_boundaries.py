"""Boundaries as curves, against the models' own."""

from typing import Any

import numpy as np
import pytest
from matplotlib.collections import PathCollection, QuadMesh
from matplotlib.contour import ContourSet
from sklearn.datasets import load_iris

from suffice import LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB
from suffice.plotting import DecisionBoundaryDisplay

X, Y = load_iris(return_X_y=True)
LIMITS = ((4.0, 8.0), (1.5, 5.0))


def drawn(display: DecisionBoundaryDisplay) -> np.ndarray:
    """The points of all boundaries that are drawn."""
    contours = [one for one in display.ax_.collections if isinstance(one, ContourSet)]
    lines = [path.vertices for lines in contours for path in lines.get_paths()]
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


def test_rows_are_points_and_colours_are_stronger_where_the_answer_is_surer() -> None:
    model = LogisticRegression().fit(X[:, :2], Y)
    display = DecisionBoundaryDisplay.from_estimator(model, (0, 1), X[:, :2], Y, points=40)
    points = [one for one in display.ax_.collections if isinstance(one, PathCollection)]
    for c, one in enumerate(points):
        mine = np.asarray(one.get_offsets())
        np.testing.assert_array_equal(np.sort(mine, axis=0), np.sort(X[c == Y, :2], axis=0))
    assert (display.x[0], display.x[-1]) == (X[:, 0].min(), X[:, 0].max())
    (shades,) = (one for one in display.ax_.collections if isinstance(one, QuadMesh))
    paler = np.asarray(shades.get_array()).min(axis=2)
    p = np.exp(display.log_proba)
    for c in range(3):
        own = p.argmax(axis=2) == c
        order = np.argsort(p[own][:, c])
        assert (np.diff(paler[own][order]) <= 1e-12).all()


def test_spikes_have_an_axis_on_which_rows_lie_apart() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1000)
    gain = np.where(rng.random(1000) < 0.8, 0.0, np.exp(rng.normal(8 + y, 1)))
    income = np.exp(rng.normal(10 + y, 1.5))
    rows = np.column_stack([gain, income])
    model = GaussianNB().fit(rows, y)
    display = DecisionBoundaryDisplay.from_estimator(model, (0, 1), rows, y, points=20)
    ax = display.ax_
    assert (ax.get_xscale(), ax.get_yscale()) == ("function", "log")
    at = ax.transAxes.inverted().transform(ax.transData.transform(rows[gain > 0]))
    assert 0.3 < np.median(at[:, 0]) < 0.7
    assert 0.3 < np.median(at[:, 1]) < 0.7
    assert (at[np.argsort(gain[gain > 0]), 0][1:] >= at[np.argsort(gain[gain > 0]), 0][:-1]).all()


def test_regions_of_more_classes_than_colours_have_their_names_in_them() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 12, 1200)
    rows = 5 * np.column_stack([np.cos(y / 2), np.sin(y / 2)]) + rng.normal(size=(1200, 2))
    names = np.array([f"class {c}" for c in range(12)])
    model = LinearDiscriminantAnalysis().fit(rows, names[y])
    display = DecisionBoundaryDisplay.from_estimator(model, points=60)
    texts = {text.get_text(): text.get_position() for text in display.ax_.texts}
    assert set(texts) == set(model.classes_[np.unique(display.log_proba.argmax(axis=2))])
    assert len(texts) > 7
    assert model.predict(list(texts.values())).tolist() == list(texts)
