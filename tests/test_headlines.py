"""Wrong answers that other libraries give in ordinary situations; here they are right.

Each test states the situation in which the failure was measured.
"""

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes
from suffice.errors import DataError, SufficeWarning
from suffice.families import Gaussian
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge


def two_normals(means, sds, n=200, seed=0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return rng.normal(np.take(means, y), np.take(sds, y))[:, None], y


def columns(table: dict[str, list]) -> pa.Table:
    return pa.table(table)


ESTIMATIONS = pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])


# -- a column of small scale is dropped from a linear model without a word


@pytest.mark.parametrize("model", [LinearRegression(dependent="error"), Ridge(1e-12)], ids=str)
@pytest.mark.parametrize("wide", ["spread", "time stamps"])
def test_a_small_column_beside_a_wide_one_has_its_coefficient(model, wide):
    rng = np.random.default_rng(0)
    x = np.stack([rng.normal(0, 1e6, 500), rng.random(500)], axis=1)
    if wide == "time stamps":
        x[:, 0] = 1.7e9 + rng.integers(0, 10**8, 500)
    y = 10 * x[:, 1]
    assert model.fit(x, y).coef_ == pytest.approx([0.0, 10.0], abs=1e-11)
    assert model.rank_ == 2
    assert model.score(x, y) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_of_a_column_change_the_unit_of_its_coefficient(scale):
    rng = np.random.default_rng(0)
    x, e = rng.normal(size=(500, 2)), rng.normal(size=500)
    plain = LinearRegression().fit(x, 10 * x[:, 1] + e)
    model = LinearRegression(dependent="error").fit(x * [1.0, scale], 10 * x[:, 1] + e)
    assert model.coef_ * [1.0, scale] == pytest.approx(plain.coef_, rel=1e-12)
    assert model.score(x * [1.0, scale], 10 * x[:, 1] + e) == pytest.approx(
        plain.score(x, 10 * x[:, 1] + e), rel=1e-12
    )


@pytest.mark.parametrize("power", [5, 8])
def test_all_powers_of_a_column_count(power):
    # Wampler's y = 1 + x + x² + ... at x = 0, ..., 20: every coefficient is 1
    x = np.arange(21.0)[:, None] ** np.arange(1, power + 1)
    model = LinearRegression(dependent="error").fit(x, 1 + x.sum(axis=1))
    assert model.coef_.tolist() == [1.0] * power
    assert model.intercept_ == 1.0
    assert model.rank_ == power


# -- classes that are separated get large coefficients, and ordinary tables end early


def test_separated_classes_are_named():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(100, 3))
    y = (x[:, 1] > 0).astype(int)
    with pytest.raises(DataError) as error:
        LogisticRegression(C=np.inf).fit(x, y)
    assert str(error.value) == (
        "column 'x1' separates the classes; the likelihood grows with the coefficients "
        "for ever; use a penalty (C=1.0) or penalty='firth'."
    )
    for way_out in (LogisticRegression(), LogisticRegression(penalty="firth")):
        assert way_out.fit(x, y).score(x, y) > 0.95


# -- a variance floor taken from the widest column drowns the others


@ESTIMATIONS
def test_a_wide_column_does_not_drown_a_separating_one(estimation):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 500)
    X = np.stack([rng.normal(0, 1e6, 1000), y + rng.normal(0, 0.05, 1000)], axis=1)
    assert NaiveBayes.textbook(estimation=estimation).fit(X, y).score(X, y) == 1.0


def test_the_variance_of_the_small_column_is_its_own():
    X = np.stack([np.arange(1000.0), np.tile([-0.01, -0.01, 0.01, 0.01], 250)], axis=1)
    model = NaiveBayes.textbook(estimation="mle").fit(X, np.tile([0, 1], 500))
    assert model.model_.parameters[0].variance[:, 1] == pytest.approx([1e-4, 1e-4], rel=1e-15)


# -- a density that underflows is replaced by a floor, so the class that fits worse wins


def test_no_error_between_far_apart_classes():
    X, y = two_normals([100, 50_000], [20, 20], n=5500)
    assert NaiveBayes.textbook(estimation="mle").fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize("x", [20.0, 30.0, 60.0, 1e6])
def test_log_odds_in_the_far_tail(x):
    # N(0, 1) against N(10, 1), from two rows each: log odds = 10x − 50
    model = NaiveBayes.textbook(estimation="mle").fit([[-1.0], [1.0], [9.0], [11.0]], [0, 0, 1, 1])
    near, far = model.predict_joint_log_proba([[x]])[0]
    assert far - near == pytest.approx(10 * x - 50, rel=1e-10)
    assert model.predict_proba([[x]])[0, 1] == 1.0
    assert model.predict_log_proba([[x]])[0, 0] == pytest.approx(50 - 10 * x, rel=1e-10)


# -- densities multiplied before they are normalised underflow to NaN


@ESTIMATIONS
@pytest.mark.parametrize("d", [20_000])
def test_many_columns_stay_finite(estimation, d):
    rng = np.random.default_rng(0)
    y = np.tile([0, 1], 20)
    X = rng.normal(0, 1, (40, d)) + 0.1 * y[:, None]
    model = NaiveBayes.textbook(estimation=estimation).fit(X, y)
    log_posterior = model.predict_log_proba(X)
    assert np.isfinite(log_posterior).all()
    assert np.exp(log_posterior).sum(axis=1) == pytest.approx(np.ones(40), rel=1e-12)


# -- E[x²] − E[x]² cancels


@pytest.mark.parametrize("offset", [0.0, 1e8, 1e9, 1e12])
def test_variance_at_an_offset(offset):
    # ±1 and ±3 around the offset are doubles: the variance is 5 exactly
    X = offset + np.tile([-3.0, -1.0, 1.0, 3.0], 2500)[:, None]
    model = NaiveBayes.textbook(families=Gaussian(estimation="mle")).fit(X, np.repeat([0, 1], 5000))
    assert model.model_.parameters[0].variance.tolist() == [[5.0], [5.0]]


# -- alpha = 0 gives NaN for every class


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
def test_alpha_zero_on_a_seen_row(family):
    X = np.array([[1, 0], [0, 1]])
    model = NaiveBayes.textbook(families=family, alpha=0).fit(X, ["a", "b"])
    assert model.predict_proba(X).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_alpha_zero_where_every_class_has_an_empty_cell():
    table = columns({"p": ["x", "x", "y"], "q": ["u", "u", "v"]})
    model = NaiveBayes.textbook(alpha=0).fit(table, ["a", "a", "b"])
    with pytest.warns(SufficeWarning) as caught:
        found = model.predict_proba(columns({"p": ["x", "x"], "q": ["v", "u"]}))
    assert found == pytest.approx(np.array([[2 / 3, 1 / 3], [1.0, 0.0]]), rel=1e-15)
    assert [str(warning.message) for warning in caught] == [
        "1 of 2 rows is impossible under every class, and was answered by the class prior. "
        "Smoothing (alpha > 0) avoids this."
    ]


# -- an unseen category crashes, codes with a fraction are truncated, batches forget categories


@pytest.mark.parametrize(
    ("unseen", "expected"),
    # smooth: a third category, 3/4 · (0 + 1)/(3 + 3) against 1/4 · (0 + 1)/(1 + 3)
    [("ignore", [3 / 4, 1 / 4]), ("smooth", [2 / 3, 1 / 3])],
)
def test_an_unseen_category(unseen, expected):
    model = NaiveBayes.textbook(unseen=unseen).fit(columns({"c": list("rrgr")}), list("aaab"))
    assert model.predict_proba(columns({"c": ["blue"]}))[0] == pytest.approx(expected, rel=1e-15)


def test_codes_with_a_fraction_are_categories_of_their_own():
    X = np.array([[1.2], [1.9], [1.2], [1.9]])
    model = NaiveBayes.textbook(families="categorical", alpha=0).fit(X, list("abab"))
    assert model.model_.parameters[0].vocabularies[0].values == (1.2, 1.9)
    assert model.predict_proba(X).tolist() == [[1.0, 0.0], [0.0, 1.0]] * 2


# -- a NaN that is learnt poisons its class


@ESTIMATIONS
def test_a_nan_poisons_nothing(estimation):
    X, y = two_normals([0, 10], [1, 1])
    clean = NaiveBayes.textbook(estimation=estimation).fit(X, y)
    holed = NaiveBayes.textbook(estimation=estimation, class_prior="uniform").fit(X, y)
    holed.partial_fit([[np.nan]], [0])
    found, expected = (model.model_.parameters[0].describe(0) for model in (holed, clean))
    assert found == expected
    assert (holed.predict_log_proba(X) == clean.predict_log_proba(X)).all()


def test_a_nan_beside_a_number_leaves_the_number():
    X = np.array([[1.0, np.nan], [3.0, 5.0], [np.nan, 7.0], [9.0, 9.0]])
    model = NaiveBayes.textbook(families=Gaussian(estimation="mle")).fit(X, [0, 0, 1, 1])
    assert model.model_.parameters[0].mean.tolist() == [[2.0, 5.0], [9.0, 8.0]]
