"""Coefficients, residuals, losses, posteriors, drift: against statsmodels, SciPy and by hand."""

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_diabetes, load_iris

from suffice import LinearRegression, LogisticRegression, NaiveBayes, Ridge
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.naive_bayes import GaussianNB
from suffice.plotting import (
    CoefficientDisplay,
    DriftDisplay,
    LossHistoryDisplay,
    PosteriorDisplay,
    ResidualDisplay,
)

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


def test_residuals_are_those_of_statsmodels() -> None:
    influence = ols().get_influence()  # type: ignore[attr-defined]
    display = ResidualDisplay.from_estimator(LinearRegression().fit(X, Y), X, Y)
    np.testing.assert_allclose(display.leverage, influence.hat_matrix_diag, rtol=1e-9)
    np.testing.assert_allclose(
        display.standardised, influence.resid_studentized_internal, rtol=1e-8, atol=1e-9
    )
    np.testing.assert_allclose(display.cook, influence.cooks_distance[0], rtol=1e-8, atol=1e-12)
    at, drawn = display.axes_[0, 1].lines[0].get_data()
    order = np.argsort(at)
    expected, _ = stats.probplot(display.standardised, fit=False)
    assert np.all(np.diff(drawn[order]) >= 0)
    np.testing.assert_allclose(at[order][50:-50], expected[50:-50], atol=2e-3)


def test_no_scale_without_degrees_of_freedom() -> None:
    x, y = np.array([[1.0], [2.0]]), np.array([1.0, 3.0])
    with pytest.raises(DataError, match="2 rows for 2 coefficients"):
        ResidualDisplay.from_estimator(LinearRegression().fit(x, y), x, y)
    with pytest.raises(ParameterError, match="GaussianNB has no leverages"):
        ResidualDisplay.from_estimator(GaussianNB().fit(IRIS, SPECIES), IRIS, SPECIES)


def test_losses_of_several_models() -> None:
    models = {
        solver: LogisticRegression(solver=solver, C=0.1).fit(IRIS, SPECIES)
        for solver in ("gradient", "minibatch")
    }
    display = LossHistoryDisplay.from_estimators(models)
    for line, (name, model) in zip(display.ax_.lines, models.items(), strict=True):
        assert line.get_label() == name
        np.testing.assert_array_equal(line.get_ydata(), model.loss_history_)
        assert line.get_xdata()[0] == 1
    one = LossHistoryDisplay.from_estimator(models["gradient"])
    assert list(one.losses) == ["gradient"]
    with pytest.raises(ParameterError, match="'exact' was not fitted by gradient descent"):
        LossHistoryDisplay.from_estimators({"exact": LinearRegression().fit(X, Y)})


def test_the_coin() -> None:
    display = PosteriorDisplay.of_coin(7, 3, alpha=2, beta=3)
    assert display.maximum_likelihood == 0.7
    assert display.mode == pytest.approx(float(Fraction(8, 13)))
    assert display.mean == pytest.approx(float(Fraction(9, 15)))
    at = display.values
    prior, likelihood, posterior = (line.get_ydata() for line in display.ax_.lines[:3])
    np.testing.assert_allclose(prior, stats.beta.pdf(at, 2, 3))
    np.testing.assert_allclose(posterior, stats.beta.pdf(at, 9, 6))
    inside = slice(1, -1)
    shape = prior[inside] * likelihood[inside] / posterior[inside]  # Bayes' rule: a constant
    np.testing.assert_allclose(shape, shape[0], rtol=1e-9)


def test_a_coin_that_was_never_thrown() -> None:
    display = PosteriorDisplay.of_coin(0, 0)
    np.testing.assert_array_equal(display.prior, display.posterior)
    assert np.isnan(display.maximum_likelihood)
    assert np.isnan(display.mode)
    assert display.mean == 0.5


def test_a_rate_and_a_mean() -> None:
    rate = PosteriorDisplay.of_rate(12, 4, alpha=2, rate=1)
    assert (rate.maximum_likelihood, rate.mode, rate.mean) == pytest.approx((3.0, 13 / 5, 14 / 5))
    np.testing.assert_allclose(rate.posterior, stats.gamma.pdf(rate.values, 14, scale=1 / 5))
    mean = PosteriorDisplay.of_mean([1.0, 3.0], sigma=2.0, mean0=0.0, sigma0=1.0)
    assert mean.mean == pytest.approx(2.0 / 3)  # (2/4 · 2) / (1 + 2/4)
    spread = (1 / (1 + 2 / 4)) ** 0.5
    np.testing.assert_allclose(mean.posterior, stats.norm.pdf(mean.values, 2 / 3, spread))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: PosteriorDisplay.of_coin(-1, 2), "heads=-1; heads is a finite number, 0 or more"),
        (lambda: PosteriorDisplay.of_coin(1, 2, alpha=0), "alpha=0; alpha is a finite number, pos"),
        (lambda: PosteriorDisplay.of_rate(1, 2, rate=0), "rate=0; rate is a finite number, positi"),
        (lambda: PosteriorDisplay.of_mean([], sigma=1.0), "rows=0; rows is a finite number, posit"),
    ],
)
def test_impossible_counts_are_refused(call: object, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()  # type: ignore[operator]


def test_drift_draws_the_distances() -> None:
    before = GaussianNB().fit(IRIS[::2], SPECIES[::2])
    after = GaussianNB().fit(IRIS[1::2] + np.array([0, 0, 0, 1.0]), SPECIES[1::2])
    display = DriftDisplay.from_estimators(before, after)
    expected = before.compare(after)
    widths = [bar.get_width() for bar in display.ax_.patches]
    assert expected.labels is not None
    assert widths == [expected.labels.hellinger, *(c.distance for c in expected.columns)]
    assert display.ax_.get_yticklabels()[1].get_text() == "x3"
    other = NaiveBayes.textbook().fit({"a": [1.0, 2.5]}, ["u", "v"])
    with pytest.raises(SchemaError, match="column 'x0' is in this model only"):
        DriftDisplay.from_estimators(before, other)
