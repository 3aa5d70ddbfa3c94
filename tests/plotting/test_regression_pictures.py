"""Coefficients, against statsmodels."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from suffice import LinearRegression, LogisticRegression, Ridge
from suffice.plotting import CoefficientDisplay

X, Y = load_diabetes(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)


def ols() -> object:
    sm = pytest.importorskip("statsmodels.api")
    return sm.OLS(Y, sm.add_constant(X)).fit()


def test_coefficients_have_the_intervals_of_statsmodels() -> None:
    truth = ols()
    display = CoefficientDisplay.from_estimator(LinearRegression().fit(X, Y), level=0.9)
    np.testing.assert_allclose(display.estimate[0], truth.params[1:], rtol=1e-8)  # type: ignore[attr-defined]
    ends = np.array([display.lower[0], display.upper[0]]).T
    np.testing.assert_allclose(ends, truth.conf_int(0.1)[1:], rtol=1e-7)  # type: ignore[attr-defined]
    (points, _, (bars,)) = display.ax_.containers[0]
    np.testing.assert_array_equal(points.get_xdata(), display.estimate[0])
    drawn = np.array([segment[:, 0] for segment in bars.get_segments()])
    np.testing.assert_allclose(drawn, ends)
    assert display.ax_.get_xlabel() == "coefficient, 90 % interval"


def test_coefficients_of_classes() -> None:
    model = LogisticRegression(C=np.inf).fit(IRIS[50:, :2], SPECIES[50:])
    display = CoefficientDisplay.from_estimator(model)
    assert display.outcomes == ("2 against 1",)
    np.testing.assert_allclose(display.estimate, model.coef_)
    penalised = CoefficientDisplay.from_estimator(LogisticRegression().fit(IRIS, SPECIES))
    assert penalised.outcomes == ("0", "1", "2")
    assert np.isnan(penalised.lower).all()
    assert penalised.ax_.get_xlabel() == "coefficient, penalised"
    assert len(penalised.ax_.containers) == 3


def test_coefficients_of_several_targets() -> None:
    model = LinearRegression().fit(X, np.column_stack([Y, -2 * Y]))
    display = CoefficientDisplay.from_estimator(model, most=4)
    np.testing.assert_allclose(display.estimate[1], -2 * display.estimate[0], rtol=1e-9)
    assert len(display.ax_.get_yticklabels()) == 4
    assert display.ax_.get_xlabel().endswith("; 6 more terms")


def test_a_ridge_fit_is_drawn() -> None:
    model = Ridge(alpha=1.0).fit(X, Y)
    np.testing.assert_allclose(CoefficientDisplay.from_estimator(model).estimate[0], model.coef_)
