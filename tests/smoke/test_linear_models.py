"""Linear and logistic regression, LDA and QDA, beside scikit-learn and by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.smoke.cases import table

#: y = 1 + 2 x, but for residuals 0.5, -0.5, -0.5, 0.5 that are orthogonal to 1 and x.
LINE = np.array([[0.0], [1.0], [2.0], [3.0]])
HEIGHT = np.array([1.5, 2.5, 4.5, 7.5])


def linear(name: str = "LinearRegression", **options: Any) -> Any:
    import suffice.linear_model

    return getattr(suffice.linear_model, name)(**options)


def discriminant(name: str, **options: Any) -> Any:
    import suffice

    return getattr(suffice, f"{name}DiscriminantAnalysis")(**options)


# -- linear regression


def test_normal_equations_by_hand() -> None:
    model = linear().fit(LINE, HEIGHT)
    assert_allclose([model.intercept_, *model.coef_], [1, 2], rtol=1e-14)
    assert_allclose(model.predict([[10.0]]), [21], rtol=1e-14)
    assert model.score(LINE, HEIGHT) == pytest.approx(1 - 1 / 21)


def test_the_table_of_coefficients() -> None:
    """σ² = 1 / (4 − 2); standard errors σ √(1/4 + 1.5²/5) and σ / √5."""
    from scipy.stats import t

    found = linear().fit(LINE, HEIGHT).summary()
    assert_allclose(np.ravel(found.estimate), [1, 2], rtol=1e-13)
    errors = [math.sqrt(0.5 * (1 / 4 + 1.5**2 / 5)), math.sqrt(0.5 / 5)]
    assert_allclose(np.ravel(found.standard_error), errors, rtol=1e-13)
    assert_allclose(np.ravel(found.p), 2 * t(2).sf(np.array([1, 2]) / errors), rtol=1e-12)
    assert found.r_squared == pytest.approx(20 / 21)


@pytest.mark.parametrize("kind", ["confidence", "prediction"])
def test_intervals_of_predictions(kind: str) -> None:
    from scipy.stats import t

    low, high = linear().fit(LINE, HEIGHT).predict_interval([[4.0]], kind)[0].tolist()
    leverage = 1 / 4 + 2.5**2 / 5 + (kind == "prediction")
    half = t(2).ppf(0.975) * math.sqrt(0.5 * leverage)
    assert_allclose([low, high], [9 - half, 9 + half], rtol=1e-12)


def test_leverage_is_the_diagonal_of_the_hat_matrix() -> None:
    found = linear().fit(LINE, HEIGHT).leverage(LINE)
    assert_allclose(found, 1 / 4 + (LINE[:, 0] - 1.5) ** 2 / 5, rtol=1e-13)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("LinearRegression", {}),
        ("LinearRegression", {"fit_intercept": False}),
        ("LinearRegression", {"positive": True}),
        ("Ridge", {"alpha": 0.5}),
        ("Ridge", {"alpha": 10.0}),
        ("Lasso", {"alpha": 0.3}),
        ("ElasticNet", {"alpha": 0.3, "l1_ratio": 0.4}),
    ],
)
def test_coefficients_are_those_of_scikit_learn(name: str, options: dict[str, Any]) -> None:
    import sklearn.linear_model

    X, y = table("target")
    tight = {"tol": 1e-14, "max_iter": 100_000} if name in ("Lasso", "ElasticNet") else {}
    theirs = getattr(sklearn.linear_model, name)(**options, **tight).fit(X, y)
    ours = linear(name, **options).fit(X, y)
    assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-9)
    assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-9)


def test_ridge_by_hand() -> None:
    """Slope Σxy / (Σx² + α) of centred columns: 10 / (5 + 5)."""
    model = linear("Ridge", alpha=5.0).fit(LINE, HEIGHT)
    assert_allclose([model.intercept_, *model.coef_], [4 - 1.5, 1], rtol=1e-13)


def test_generalised_cross_validation_chooses_ridge() -> None:
    X, y = table("target")
    alphas = [0.01, 0.1, 1.0, 10.0, 100.0]
    fits = [linear("Ridge", alpha=alpha).fit(X, y) for alpha in alphas]
    gcv = [
        ((y - fit.predict(X)) ** 2).sum() / (len(y) - fit.effective_parameters_) ** 2
        for fit in fits
    ]
    ours = linear("Ridge", alpha="gcv", alphas=alphas).fit(X, y)
    assert ours.alpha_ == alphas[int(np.argmin(gcv))]


@pytest.mark.parametrize("solver", ["gradient", "sgd", "minibatch"])
def test_gradient_descent_of_least_squares(solver: str) -> None:
    X = np.array([[0.5, 1.0], [1.0, -1.0], [2.0, 1.0], [3.0, 0.0]])
    y = X @ [2.0, -1.0] + 1  # without residuals, stochastic steps end at the minimum too
    descent = linear("GradientDescent", passes=20_000, tol=1e-9, batch_size=2, random_state=0)
    model = linear(solver=solver, descent=descent).fit(X, y)
    assert_allclose([model.intercept_, *model.coef_], [1, 2, -1], rtol=1e-4)
    assert model.loss_history_[-1] < model.loss_history_[0]


def test_one_step_of_gradient_descent() -> None:
    """From 0, η = 0.1 of the way to Σxr / Σx² = 5 / 2, for r = y − ȳ = −2, −1, 3."""
    descent = linear("GradientDescent", learning_rate=0.1, passes=1)
    model = linear(solver="gradient", descent=descent)
    with pytest.warns(UserWarning, match="passes"):
        model.fit([[-1.0], [0.0], [1.0]], [1.0, 2.0, 6.0])
    assert_allclose([model.intercept_, *model.coef_], [3, 0.25], rtol=1e-13)


def test_several_targets_at_once() -> None:
    targets = np.column_stack([HEIGHT, -2 * HEIGHT])
    model = linear().fit(LINE, targets)
    assert_allclose(model.coef_, [[2], [-4]], rtol=1e-13)
    assert_allclose(model.intercept_, [1, -2], rtol=1e-13)


def test_a_formula_names_its_terms() -> None:
    pytest.importorskip("formulaic")
    rows = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.0, 2.0, 5.0, 10.0]}  # y = 1 + x²
    model = linear(formula="I(x**2)").fit(rows, "y")
    assert_allclose([model.intercept_, *np.ravel(model.coef_)], [1, 1], rtol=1e-12)
    assert_allclose(np.ravel(model.predict({"x": [5.0]})), [26], rtol=1e-12)


def test_categories_become_differences_to_the_first() -> None:
    rows = {"kind": ["a", "a", "b", "b", "c"], "y": [1.0, 3.0, 6.0, 8.0, 0.0]}
    model = linear().fit(rows, "y")
    assert_allclose([model.intercept_, *np.ravel(model.coef_)], [2, 5, -2], rtol=1e-13)


def test_missing_cells_are_refused_with_row_and_column_or_dropped() -> None:
    from suffice.errors import DataError

    rows = {"x": [0.0, 1.0, None, 2.0, 3.0], "y": [1.5, 2.5, 9.0, 4.5, 7.5]}
    with pytest.raises(DataError, match="'x'"):
        linear().fit(rows, "y")
    model = linear(incomplete="drop").fit(rows, "y")
    assert_allclose([model.intercept_, *np.ravel(model.coef_)], [1, 2], rtol=1e-13)


def test_a_column_far_from_zero_loses_no_digits() -> None:
    model = linear().fit(LINE + 1e9, HEIGHT)
    assert_allclose(model.coef_, [2], rtol=1e-12)


# -- logistic regression


def test_logistic_regression_of_a_two_by_two_table() -> None:
    """Without a penalty the fitted probabilities are the frequencies 1/4 and 3/4."""
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    model = linear("LogisticRegression", C=np.inf).fit(X, [0, 0, 0, 1, 0, 1, 1, 1])
    assert_allclose(model.intercept_, [-math.log(3)], rtol=1e-8)
    assert_allclose(model.coef_, [[2 * math.log(3)]], rtol=1e-8)
    assert_allclose(model.predict_proba([[0.0], [1.0]])[:, 1], [0.25, 0.75], rtol=1e-8)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"C": 0.1}, {"solver": "lbfgs"}, {"penalty": "l1", "solver": "saga", "C": 0.5}]
)
def test_logistic_regression_is_that_of_scikit_learn(classes: int, options: dict[str, Any]) -> None:
    from sklearn.linear_model import LogisticRegression

    X, y = table("numbers")
    rows = slice(None) if classes == 3 else y != "c"
    l1 = options.get("penalty") == "l1"
    theirs = LogisticRegression(
        C=options.get("C", 1.0),
        l1_ratio=1.0 if l1 else 0.0,
        solver="saga" if l1 else "newton-cg",
        tol=1e-10,
        max_iter=100_000,
    ).fit(X[rows], y[rows])
    ours = linear("LogisticRegression", **options).fit(X[rows], y[rows])
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=2e-6 if l1 else 1e-7)


@pytest.mark.parametrize("solver", ["gradient", "sgd", "minibatch"])
def test_gradient_descent_of_logistic_regression(solver: str) -> None:
    X = np.repeat([[-1.0], [1.0]], 4, axis=0)
    y = [0, 0, 0, 1, 0, 1, 1, 1]
    descent = linear("GradientDescent", passes=2_000, tol=0.03, random_state=0)
    model = linear("LogisticRegression", C=np.inf, solver=solver, descent=descent).fit(X, y)
    assert_allclose(model.predict_proba([[-1.0], [1.0]])[:, 1], [0.25, 0.75], atol=0.03)
    assert model.loss_history_[-1] < math.log(2)


def test_standard_errors_of_log_odds() -> None:
    """Of a 2 x 2 table, √(1/3 + 1/1) and √(1/3 + 1 + 1/3 + 1)."""
    X = np.repeat([[0.0], [1.0]], 4, axis=0)
    model = linear("LogisticRegression", C=np.inf).fit(X, [0, 0, 0, 1, 0, 1, 1, 1])
    found = model.summary()
    assert_allclose(np.ravel(found.standard_error), np.sqrt([4 / 3, 8 / 3]), rtol=1e-7)


def test_separated_classes_have_no_maximum() -> None:
    from suffice.errors import SufficeError

    with pytest.raises(SufficeError, match="x0"):
        linear("LogisticRegression", C=np.inf).fit(LINE, [0, 0, 1, 1])


# -- discriminant analysis


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Linear", {}),
        ("Linear", {"priors": [0.5, 0.3, 0.2]}),
        ("Quadratic", {}),
        ("Quadratic", {"priors": [0.5, 0.3, 0.2]}),
    ],
)
def test_discriminants_are_those_of_scikit_learn(name: str, options: dict[str, Any]) -> None:
    import sklearn.discriminant_analysis as module

    X, y = table("numbers")
    theirs = getattr(module, f"{name}DiscriminantAnalysis")(**options).fit(X, y)
    ours = discriminant(name, **options).fit(X, y)
    assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-9, atol=1e-12)
    assert_array_equal(ours.predict(X), theirs.predict(X))


@pytest.mark.parametrize("name", ["Linear", "Quadratic"])
def test_shrinkage_moves_covariances_to_their_diagonals(name: str) -> None:
    from scipy.stats import multivariate_normal

    X, y = table("numbers")
    classes = [X[y == label] for label in "abc"]
    covariances = np.array([np.cov(rows.T, bias=True) for rows in classes])
    if name == "Linear":
        covariances[:] = covariances.mean(axis=0)
    shrunk = 0.7 * covariances + 0.3 * covariances * np.eye(4)
    densities = np.column_stack(
        [
            multivariate_normal(rows.mean(axis=0), covariance).pdf(X)
            for rows, covariance in zip(classes, shrunk, strict=True)
        ]
    )
    expected = densities / densities.sum(axis=1, keepdims=True)
    model = discriminant(name, shrinkage=0.3).fit(X, y)
    assert_allclose(model.predict_proba(X), expected, rtol=1e-9, atol=1e-14)


def test_automatic_shrinkage_is_that_of_ledoit_and_wolf() -> None:
    from sklearn.covariance import ledoit_wolf_shrinkage

    X, y = table("numbers")
    X = X @ (np.eye(4) + 0.5)
    centred = np.concatenate([X[y == label] - X[y == label].mean(axis=0) for label in "abc"])
    share = ledoit_wolf_shrinkage(centred / centred.std(axis=0), assume_centered=True)
    assert 0.01 < share < 0.5
    given, found = (
        discriminant("Linear", solver="lsqr", shrinkage=value).fit(X, y)
        for value in (share, "auto")
    )
    assert_allclose(found.predict_proba(X), given.predict_proba(X), rtol=1e-7)


def test_the_boundary_of_lda_by_hand() -> None:
    """w = Σ⁻¹ (μ₁ − μ₀), with Σ = diag(1/2, 2) and μ₁ − μ₀ = (4, 2)."""
    offsets = np.array([[1.0, 0], [-1, 0], [0, 2], [0, -2]])
    X = np.concatenate([offsets, offsets + np.array([4, 2])])
    model = discriminant("Linear").fit(X, [0] * 4 + [1] * 4)
    assert_allclose(model.coef_, [[8, 1]], rtol=1e-12)
    assert_allclose(model.predict_proba([[2.0, 1.0]]), [[0.5, 0.5]], rtol=1e-9)


def test_lda_projects_as_scikit_learn_does() -> None:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    X, y = table("numbers")
    theirs = LinearDiscriminantAnalysis(n_components=2).fit(X, y)
    ours = discriminant("Linear", n_components=2).fit(X, y)
    assert_allclose(np.abs(ours.transform(X)), np.abs(theirs.transform(X)), rtol=1e-8, atol=1e-9)
    assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_, rtol=1e-9)


def test_lda_leaves_out_missing_cells_exactly() -> None:
    from suffice import LinearDiscriminantAnalysis

    X, y = table("numbers")
    holes = X[:5].copy()
    holes[:, 1] = np.nan
    model, without = LinearDiscriminantAnalysis().fit(X, y), LinearDiscriminantAnalysis()
    without.fit(X[:, [0, 2, 3]], y)
    expected = without.predict_proba(X[:5][:, [0, 2, 3]])
    assert_allclose(model.predict_proba(holes), expected, rtol=1e-9)


# -- naive Bayes with scikit-learn's names


@pytest.mark.parametrize(
    ("name", "kind", "options"),
    [
        ("GaussianNB", "numbers", {}),
        ("GaussianNB", "numbers", {"priors": [0.5, 0.3, 0.2]}),
        ("BernoulliNB", "flags", {}),
        ("BernoulliNB", "flags", {"alpha": 0.3, "fit_prior": False}),
        ("CategoricalNB", "codes", {"alpha": 0.5}),
        ("MultinomialNB", "counts", {}),
        ("MultinomialNB", "counts", {"alpha": 0.1, "class_prior": [0.2, 0.3, 0.5]}),
        ("ComplementNB", "counts", {}),
        ("ComplementNB", "counts", {"norm": True}),
    ],
)
def test_naive_bayes_is_that_of_scikit_learn(name: str, kind: str, options: Any) -> None:
    import sklearn.naive_bayes

    import suffice.naive_bayes

    X, y = table(kind)
    theirs = getattr(sklearn.naive_bayes, name)(**options).fit(X, y)
    ours = getattr(suffice.naive_bayes, name)(**options).fit(X, y)
    # scikit-learn adds 1e-9 of the largest variance to every one
    rtol = 1e-6 if name == "GaussianNB" else 1e-11
    assert_allclose(ours.predict_log_proba(X), theirs.predict_log_proba(X), rtol=rtol, atol=1e-11)
    assert_array_equal(ours.predict(X), theirs.predict(X))
