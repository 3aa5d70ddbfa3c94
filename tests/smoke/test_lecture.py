"""The lecture notes' worked examples: naive Bayes and Bayes' rule, in exact arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice.bayes import linear_form, quadratic_form

#: 10 of 110 people are ill; a test finds 9 of these, and calls 5 of the 100 healthy ones ill.
TESTS = np.array([[1.0]] * 9 + [[0.0]] + [[1.0]] * 5 + [[0.0]] * 95)
ILL = np.array([1] * 10 + [0] * 100)

#: A coin shows heads 7 times in 10, another 5 times in 10.
THROWS = {
    "throw": ["heads"] * 7 + ["tails"] * 3 + ["heads"] * 5 + ["tails"] * 5,
    "coin": ["mine"] * 10 + ["yours"] * 10,
}

#: Sums of squares are whole numbers: means 2 and 8, variances 2 / 3 and 8 / 3.
NUMBERS = np.array([[1.0], [2.0], [3.0], [6.0], [8.0], [10.0]])
SIDES = np.array(["left"] * 3 + ["right"] * 3)


def textbook(*args: Any, **options: Any) -> Any:
    from suffice import NaiveBayes

    return NaiveBayes.textbook(*args, **options)


def gaussian(**options: Any) -> Any:
    """Return the Gaussian by maximum likelihood, its variance as it is."""
    from suffice.families import Gaussian

    return Gaussian("mle", **options)


def normal(x: float, mean: float, variance: float) -> float:
    return math.exp(-((x - mean) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


# -- estimates of discrete columns


def test_bayes_rule_of_a_medical_test() -> None:
    from suffice.naive_bayes import BernoulliNB

    model = BernoulliNB(alpha=0, force_alpha=True).fit(TESTS, ILL)
    assert model.predict_proba([[1.0]])[0, 1] == pytest.approx(9 / 14, rel=1e-14)
    assert model.predict_proba([[0.0]])[0, 1] == pytest.approx(1 / 96, rel=1e-13)


@pytest.mark.parametrize(
    ("estimation", "alpha", "mine", "yours"),
    [
        ("mle", 1.0, Fraction(7, 10), Fraction(5, 10)),
        ("map", 2.0, Fraction(8, 12), Fraction(6, 12)),
        ("map", 1.0, Fraction(7, 10), Fraction(5, 10)),
        ("bayes", 1.0, Fraction(8, 12), Fraction(6, 12)),  # Laplace
        ("bayes", 0.5, Fraction(15, 22), Fraction(11, 22)),
    ],
)
@pytest.mark.parametrize("kind", ["category", "boolean"])
def test_maximum_likelihood_map_and_full_bayes_of_coins(
    estimation: str, alpha: float, mine: Fraction, yours: Fraction, kind: str
) -> None:
    throws: Any = [t == "heads" for t in THROWS["throw"]] if kind == "boolean" else THROWS["throw"]
    model = textbook(estimation=estimation, alpha=alpha).fit(THROWS | {"throw": throws}, "coin")
    head = True if kind == "boolean" else "heads"
    joint = np.exp(model.predict_joint_log_proba({"throw": [head]}))[0]
    assert_allclose(joint, [float(mine) / 2, float(yours) / 2], rtol=1e-14)


@pytest.mark.parametrize("low", [0, -1])
def test_bernoulli_columns_of_0_or_minus_1_and_1(low: int) -> None:
    from suffice.naive_bayes import BernoulliNB

    bits = np.array([[1, 0], [1, 1], [0, 1], [0, 0], [0, 1], [0, 1]])
    y = np.array([1, 1, 1, 0, 0, 0])
    model = BernoulliNB(alpha=1.0).fit(np.where(bits, 1, low), y)
    # P(x1 | 1) = 3/5, P(x2 | 1) = 3/5, P(x1 | 0) = 1/5, P(x2 | 0) = 3/5
    joint = model.predict_joint_log_proba(np.array([[1, low], [low, 1]]))
    expected = [[1 / 5 * 2 / 5, 3 / 5 * 2 / 5], [4 / 5 * 3 / 5, 2 / 5 * 3 / 5]]
    assert_allclose(np.exp(joint), np.array(expected) / 2, rtol=1e-14)
    assert_array_equal(model.predict(np.array([[1, low], [low, 1]])), [1, 0])


def test_bernoulli_as_a_linear_form() -> None:
    from suffice.naive_bayes import BernoulliNB

    bits = np.array([[1, 0], [1, 1], [0, 1], [0, 0], [0, 1], [0, 1]])
    model = BernoulliNB(alpha=1.0).fit(bits, [1, 1, 1, 0, 0, 0])
    form = linear_form(model, 0)
    assert_allclose(form.weights[1], [math.log(6), 0], atol=1e-14)  # log-odds 3/2 against 1/4
    assert form.intercepts[1] == pytest.approx(math.log(1 / 2), rel=1e-13)


def test_categorical_with_laplace() -> None:
    from suffice.naive_bayes import CategoricalNB

    model = CategoricalNB(alpha=1.0).fit([[0], [0], [1], [2], [2], [2]], [0, 0, 0, 1, 1, 1])
    joint = np.exp(model.predict_joint_log_proba([[0], [1], [2]]))
    expected = np.array([[3, 1], [2, 1], [1, 4]]) / 6 / 2
    assert_allclose(joint, expected, rtol=1e-14)


def test_multinomial_with_laplace() -> None:
    from suffice.naive_bayes import MultinomialNB

    model = MultinomialNB(alpha=1.0).fit([[2, 1, 0], [1, 1, 0], [0, 1, 3]], [0, 0, 1])
    theta = np.array([[4, 3, 1], [1, 2, 4]]) / np.array([[8], [7]])
    assert_allclose(np.exp(model.feature_log_prob_), theta, rtol=1e-14)
    expected = np.array([2 / 3, 1 / 3]) * theta[:, 0] ** 2 * theta[:, 2]
    assert_allclose(model.predict_proba([[2, 0, 1]])[0], expected / expected.sum(), rtol=1e-13)


def test_multinomial_of_texts() -> None:
    mails = {"text": ["free prize", "free money", "lunch today"], "kind": ["spam", "spam", "ham"]}
    model = textbook({"text": "multinomial"}).fit(mails, "kind")
    # Five words; "free" twice of four words of spam, never of two words of ham.
    ham, spam = 1 / 3 * (0 + 1) / (2 + 5), 2 / 3 * (2 + 1) / (4 + 5)
    proba = model.predict_proba({"text": ["free"]})[0]
    assert_allclose(proba, [ham / (ham + spam), spam / (ham + spam)], rtol=1e-13)


def test_poisson_counts() -> None:
    from suffice.families import Poisson

    model = textbook(Poisson(estimation="mle")).fit([[1.0], [3.0], [4.0], [8.0]], [0, 0, 1, 1])
    expected = np.array([math.exp(-2) * 2**3, math.exp(-6) * 6**3]) / 6 / 2
    assert_allclose(np.exp(model.predict_joint_log_proba([[3.0]]))[0], expected, rtol=1e-13)


@pytest.mark.parametrize(
    ("prior", "expected"),
    [
        ("empirical", [4 / 6, 2 / 6]),
        ("smoothed", [5 / 8, 3 / 8]),
        ("uniform", [1 / 2, 1 / 2]),
        ([0.9, 0.1], [0.9, 0.1]),
    ],
)
def test_class_priors(prior: Any, expected: list[float]) -> None:
    model = textbook(class_prior=prior).fit({"x": ["a"] * 6, "y": ["no"] * 4 + ["yes"] * 2}, "y")
    assert_allclose(model.class_prior_, expected, rtol=1e-14)


# -- Gaussians


@pytest.mark.parametrize(("ddof", "variances"), [(0, (2 / 3, 8 / 3)), (1, (1.0, 4.0))])
def test_gaussian_columns_by_maximum_likelihood(ddof: int, variances: tuple[float, float]) -> None:
    model = textbook(gaussian(ddof=ddof)).fit(NUMBERS, SIDES)
    joint = np.exp(model.predict_joint_log_proba([[4.0]]))[0]
    expected = [normal(4, 2, variances[0]) / 2, normal(4, 8, variances[1]) / 2]
    assert_allclose(joint, expected, rtol=1e-12)


def test_full_bayes_of_a_gaussian_is_student_t() -> None:
    from scipy.stats import t

    from suffice.families import Gaussian

    model = textbook(Gaussian("bayes", mean0=0.0, kappa0=1.0, a0=1.0, b0=1.0)).fit(NUMBERS, SIDES)
    expected = []
    for n, mean, squares in ((3, 2.0, 2.0), (3, 8.0, 8.0)):
        kappa, a = 1 + n, 1 + n / 2
        b = 1 + squares / 2 + n * mean**2 / (2 * kappa)
        scale = math.sqrt(b * (kappa + 1) / (a * kappa))
        expected.append(t(2 * a, n * mean / kappa, scale).pdf(4.0) / 2)
    joint = np.exp(model.predict_joint_log_proba([[4.0]]))[0]
    assert_allclose(joint, expected, rtol=1e-12)


def test_mixed_columns_multiply() -> None:
    rows = {
        "size": [1.0, 2.0, 3.0, 6.0, 8.0, 10.0],
        "color": ["red", "red", "blue", "blue", "blue", "blue"],
        "ripe": [True, False, True, False, False, True],
        "side": SIDES.tolist(),
    }
    model = textbook({"size": gaussian()}, estimation="mle").fit(rows, "side")
    joint = np.exp(
        model.predict_joint_log_proba({"size": [4.0], "color": ["blue"], "ripe": [True]})
    )[0]
    left = normal(4, 2, 2 / 3) * (1 / 3) * (2 / 3) / 2
    right = normal(4, 8, 8 / 3) * 1 * (1 / 3) / 2
    assert_allclose(joint, [left, right], rtol=1e-12)


def test_missing_attributes_are_summed_out() -> None:
    rows = {
        "size": [1.0, 2.0, 3.0, 6.0, 8.0, 10.0, None],
        "color": ["red", "red", "blue", "blue", None, "blue", "blue"],
        "side": [*SIDES.tolist(), "right"],
    }
    model = textbook({"size": gaussian()}, estimation="mle").fit(rows, "side")
    joint = np.exp(
        model.predict_joint_log_proba({"size": [None, 4.0, None], "color": ["blue", None, None]})
    )
    prior = np.array([3 / 7, 4 / 7])
    density = np.array([normal(4, 2, 2 / 3), normal(4, 8, 8 / 3)])
    expected = [prior * [1 / 3, 1], prior * density, prior]
    assert_allclose(joint, expected, rtol=1e-12)


def test_an_unseen_value_counts_as_missing() -> None:
    model = textbook().fit(THROWS, "coin")
    assert_allclose(model.predict_proba({"throw": ["edge"]}), [[0.5, 0.5]], rtol=1e-14)


def test_log_likelihood_and_number_of_parameters() -> None:
    model = textbook(gaussian()).fit(NUMBERS, SIDES)
    expected = sum(
        math.log(normal(x, *((2, 2 / 3) if x < 5 else (8, 8 / 3))) / 2) for x in NUMBERS[:, 0]
    )
    assert model.evaluate(NUMBERS, SIDES).log_likelihood == pytest.approx(expected, rel=1e-12)
    assert model.n_parameters_ == 1 + 2 * 2


@pytest.mark.parametrize("d", [1, 2, 3, 4])
def test_the_direct_joint_table_has_two_times_two_to_the_d_less_one(d: int) -> None:
    rows = np.array(list(product([False, True], repeat=d)) * 2)
    y = np.repeat([0, 1], 2**d)
    assert textbook("joint_table").fit(rows, y).n_parameters_ == 1 + 2 * (2**d - 1)
    assert textbook().fit(rows, y).n_parameters_ == 1 + 2 * d


def test_the_joint_table_counts_combinations() -> None:
    cells = {"p": [True, True, False, True], "q": [True, True, False, False], "y": [0, 0, 0, 1]}
    model = textbook("joint_table", estimation="mle").fit(cells, "y")
    joint = np.exp(
        model.predict_joint_log_proba({"p": [True, True, None], "q": [True, False, True]})
    )
    assert_allclose(joint, [[2 / 4, 0], [0, 1 / 4], [2 / 4, 0]], atol=1e-15)


# -- forms


def test_shared_variances_give_a_straight_boundary() -> None:
    model = textbook(gaussian(shared=True)).fit(NUMBERS, SIDES)
    form = linear_form(model, "left")
    variance = 10 / 6  # (2 + 8) / 6
    assert form.weights[1] == pytest.approx([6 / variance])
    assert form.intercepts[1] == pytest.approx((2**2 - 8**2) / (2 * variance))
    assert_allclose(model.predict_proba([[5.0]]), [[0.5, 0.5]], rtol=1e-12)


def test_variances_of_classes_give_a_quadratic_form() -> None:
    from suffice.naive_bayes import GaussianNB

    form = quadratic_form(GaussianNB(var_smoothing=0.0).fit(NUMBERS, SIDES), "left")
    assert np.ravel(form.quadratic[1]) == pytest.approx([(3 / 2 - 3 / 8) / 2])


def test_sampling_agrees_with_the_model_that_is_sampled() -> None:
    model = textbook(gaussian()).fit(NUMBERS, SIDES)
    rows, labels = model.sample(20_000, random_state=0)
    (values,) = rows.values()
    for label, mean, variance in (("left", 2, 2 / 3), ("right", 8, 8 / 3)):
        drawn = np.asarray(values, float)[labels == label]
        assert len(drawn) == pytest.approx(10_000, abs=4 * math.sqrt(5_000))
        assert drawn.mean() == pytest.approx(mean, abs=4 * math.sqrt(variance / 10_000))
        assert drawn.var() == pytest.approx(variance, rel=4 * math.sqrt(2 / 10_000))


def test_sampling_again_gives_the_same_rows() -> None:
    model = textbook().fit(THROWS, "coin")
    one, other = (model.sample(50, random_state=1) for _ in range(2))
    assert_array_equal(one[0]["throw"], other[0]["throw"])
    assert set(one[0]["throw"]) == {"heads", "tails"}


def test_probabilities_come_from_logarithms() -> None:
    """exp(-800) is 0 in double precision; 4,000 equal columns underflow, their sum does not."""
    from scipy.special import logsumexp

    from suffice.naive_bayes import GaussianNB

    X = np.repeat(NUMBERS, 4_000, axis=1)
    model = GaussianNB(var_smoothing=0.0).fit(X, SIDES)
    joint = model.predict_joint_log_proba(X[2:4] + 1.5)
    assert joint.max() < -5_000
    expected = joint - logsumexp(joint, axis=1, keepdims=True)
    assert_allclose(model.predict_log_proba(X[2:4] + 1.5), expected, rtol=1e-12, atol=1e-12)
    assert_allclose(model.predict_proba(X[2:4] + 1.5).sum(axis=1), 1)


# -- error, accuracy, the best that is possible


def test_error_accuracy_and_their_interval() -> None:
    model = textbook(estimation="mle").fit(
        {"x": ["a", "a", "a", "b", "b"], "y": [0, 0, 1, 1, 1]}, "y"
    )
    found = model.evaluate({"x": ["a"] * 3 + ["b"] * 2}, [0, 0, 1, 1, 1])
    assert (found.accuracy, found.error) == (pytest.approx(4 / 5), pytest.approx(1 / 5))
    low, high = found.error_interval()
    assert 0 < low < 1 / 5 < high < 1


def test_the_error_of_two_gaussians_is_a_tail() -> None:
    from scipy.stats import norm

    from suffice import BayesClassifier

    best = BayesClassifier([norm(-1, 1), norm(1, 1)])
    assert best.bayes_error().value == pytest.approx(norm.cdf(-1), rel=1e-9)
    assert_array_equal(best.predict([[-0.1], [0.1]]), [0, 1])


def test_the_bayes_optimal_classifier_weighs_by_priors() -> None:
    from scipy.stats import norm

    from suffice import BayesClassifier

    best = BayesClassifier({"a": norm(0, 1), "b": norm(2, 1)}, priors={"a": 0.8, "b": 0.2})
    cut = 1 + math.log(4) / 2
    assert_array_equal(best.predict([[cut - 1e-6], [cut + 1e-6]]), ["a", "b"])
    error = 0.8 * norm.sf(cut) + 0.2 * norm.cdf(cut - 2)
    assert best.bayes_error().value == pytest.approx(error, rel=1e-9)
    odds = 0.8 * norm.pdf(1.0) / (0.2 * norm.pdf(-1.0))
    assert best.predict_proba([[1.0]])[0, 0] == pytest.approx(odds / (1 + odds), rel=1e-12)


def test_the_minimal_error_of_discrete_columns_is_a_sum() -> None:
    from scipy.stats import bernoulli

    from suffice import BayesClassifier

    coins = BayesClassifier({"a": bernoulli(0.7), "b": bernoulli(0.5)})
    assert coins.bayes_error().method == "sum"
    # min(7, 5) + min(3, 5) of 20
    assert coins.bayes_error().value == pytest.approx(8 / 20, rel=1e-12)


def test_the_minimal_error_by_simulation_has_a_standard_error() -> None:
    from scipy.stats import multivariate_normal, norm

    from suffice import BayesClassifier

    far, eye = np.array([2.0, 0, 0]), np.eye(3)
    best = BayesClassifier([multivariate_normal(-far / 2, eye), multivariate_normal(far / 2, eye)])
    found = best.bayes_error(random_state=0)
    assert found.method == "simulation"
    assert abs(found.value - norm.cdf(-1)) < 4 * found.uncertainty < 0.01


def test_mutual_information_ranks_columns() -> None:
    from suffice.bayes import column_information

    rows = {"copy": ["a", "a", "b", "b"], "noise": ["a", "b", "a", "b"], "y": [0, 0, 1, 1]}
    found = column_information(textbook(estimation="mle").fit(rows, "y"))
    bits = dict(zip(found.columns, found.bits, strict=True))
    assert found.entropy == pytest.approx(1)
    assert bits == {"copy": pytest.approx(1), "noise": pytest.approx(0, abs=1e-12)}


def test_the_next_question_is_the_most_informative_missing_column() -> None:
    from suffice.bayes import next_question

    rows = {"copy": ["a", "a", "b", "b"], "noise": ["a", "b", "a", "b"], "y": [0, 0, 1, 1]}
    model = textbook(estimation="mle").fit(rows, "y")
    found = next_question(model, {"copy": None, "noise": None})
    assert dict(zip(found.columns, found.bits, strict=True))["copy"] == pytest.approx(1)
    assert found.columns[0] == "copy"


def test_evidence_of_a_row_in_nats() -> None:
    model = textbook(estimation="mle").fit(THROWS, "coin")
    prior, columns = model.explain({"throw": ["heads"]}).log_odds(0, against=1)
    assert prior == pytest.approx(0, abs=1e-15)
    assert columns[0, 0] == pytest.approx(math.log(7 / 5))


def test_costs_choose_the_label_of_least_expected_cost() -> None:
    model = textbook(estimation="mle", costs=[[0, 1], [10, 0]]).fit(
        {"x": ["a"] * 5, "y": [0, 0, 0, 0, 1]}, "y"
    )
    assert_array_equal(model.predict({"x": ["a"]}), [1])  # 4/5 · 1 < 1/5 · 10
