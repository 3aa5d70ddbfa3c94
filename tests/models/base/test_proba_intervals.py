"""Intervals of P(c | x): against draws of the parameters by NumPy and SciPy, and known truths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import beta, invwishart, multivariate_normal, norm, poisson

from suffice import (
    AODE,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.families import Density, Gaussian
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

RNG = np.random.default_rng(3)
N = 3_000
Y = np.repeat(list("abc"), N // 3)
SHIFT = np.repeat([0.0, 0.7, 1.4], N // 3)[:, None]
REAL = RNG.normal(SHIFT, 1.0, (N, 3))
COUNT = RNG.poisson(1 + SHIFT, (N, 3)).astype(float)
CODE = np.minimum(COUNT, 2).astype(int)
ROWS = np.arange(0, N, N // 20)
DRAWS = 2_000


def bernoulli_scores(rng: Any, own: Any, all_rows: Any, x: Any) -> Any:
    theta = rng.beta(1 + own.sum(axis=0), 1 + (1 - own).sum(axis=0), (DRAWS, 3))
    return np.log(np.where(x[:, None], theta, 1 - theta)).sum(axis=2)


def categorical_scores(rng: Any, own: Any, all_rows: Any, x: Any) -> Any:
    return sum(
        np.log(rng.dirichlet(1 + np.bincount(own[:, j], minlength=3), DRAWS))[:, x[:, j]].T
        for j in range(3)
    )


def joint_scores(rng: Any, own: Any, all_rows: Any, x: Any) -> Any:
    place = np.array([9, 3, 1])
    count = np.bincount(own @ place, minlength=27)
    return np.log(rng.dirichlet(1 + count, DRAWS))[:, x @ place].T


def poisson_scores(rng: Any, own: Any, all_rows: Any, x: Any) -> Any:
    rate = rng.gamma(1 + own.sum(axis=0), 1 / (1 + len(own)), (DRAWS, 3))
    return poisson(rate).logpmf(x[:, None]).sum(axis=2)


def multinomial_scores(rng: Any, own: Any, all_rows: Any, x: Any) -> Any:
    return x @ np.log(rng.dirichlet(1 + own.sum(axis=0), DRAWS)).T


def gaussian_scores(rng: Any, own: Any, all_rows: Any, x: Any) -> Any:
    n, mean, shift = len(own), own.mean(axis=0), own.mean(axis=0) - all_rows.mean(axis=0)
    kappa, a = 1 + n, 1 + n / 2
    b = all_rows.var(axis=0) + (own.var(axis=0) * n + n / kappa * shift**2) / 2
    precision = rng.gamma(a, 1 / b, (DRAWS, 3))
    middle = mean - shift / kappa + rng.normal(size=(DRAWS, 3)) / np.sqrt(kappa * precision)
    return norm(middle, precision**-0.5).logpdf(x[:, None]).sum(axis=2)


def multivariate_scores(rng: Any, own: Any, all_rows: Any, x: Any) -> Any:
    n, mean, shift = len(own), own.mean(axis=0), own.mean(axis=0) - all_rows.mean(axis=0)
    kappa, nu = 1 + n, 2 + 3 - 1 + n
    psi = 2 * np.diag(all_rows.var(axis=0)) + np.cov(own.T, ddof=0) * n
    psi += n / kappa * np.outer(shift, shift)
    found = []
    for sigma in invwishart(nu, psi).rvs(DRAWS // 4, random_state=rng):
        middle = rng.multivariate_normal(mean - shift / kappa, sigma / kappa)
        found.append(multivariate_normal(middle, sigma).logpdf(x))
    return np.transpose(found)


@pytest.mark.parametrize(
    ("model", "X", "scores_of"),
    [
        (BernoulliNB(), (CODE > 0) * 1, bernoulli_scores),
        (CategoricalNB(), CODE, categorical_scores),
        (NaiveBayes.textbook("joint_table"), CODE, joint_scores),
        (NaiveBayes.textbook("poisson"), COUNT, poisson_scores),
        (MultinomialNB(), COUNT, multinomial_scores),
        (NaiveBayes.textbook("gaussian"), REAL, gaussian_scores),
        (NaiveBayes.textbook("multivariate_gaussian"), REAL, multivariate_scores),
    ],
    ids=lambda given: given.__name__ if callable(given) else "",
)
def test_over_many_rows_ends_are_quantiles_of_drawn_parameters(model, X, scores_of):
    rng, x = np.random.default_rng(0), X[ROWS]
    drawn = np.stack([scores_of(rng, X[c == Y], X, x) for c in "abc"], axis=2)
    drawn += np.log(rng.gamma(N // 3, size=(drawn.shape[1], 3)))
    rest = [np.logaddexp.reduce(np.delete(drawn, c, axis=2), axis=2) for c in range(3)]
    expected = np.quantile(drawn - np.stack(rest, axis=2), [0.025, 0.975], axis=1)
    found = logit(model.fit(X, Y).predict_proba_interval(x))
    width = expected[1] - expected[0]
    assert (np.abs(np.moveaxis(found, 2, 0) - expected) < 0.2 * width).all()


@pytest.mark.parametrize(
    "model",
    [
        GaussianNB(),
        NaiveBayes.textbook(Gaussian(shared=True)),
        NaiveBayes.textbook("multivariate_gaussian"),
        LinearDiscriminantAnalysis(),
        QuadraticDiscriminantAnalysis(),
    ],
    ids=str,
)
def test_a_missing_cell_leaves_the_interval_of_the_other_columns(model):
    x = REAL[ROWS].copy()
    x[:, 1] = np.nan
    found = model.fit(REAL, Y).predict_proba_interval(x)
    expected = model.fit(REAL[:, [0, 2]], Y).predict_proba_interval(x[:, [0, 2]])
    assert_allclose(found, expected, rtol=2e-2)  # ν of an improper prior depends on d


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
def test_words_have_the_intervals_of_their_counts(family):
    texts = [
        " ".join(w for w, n in zip(("uu", "vv", "ww"), row, strict=True) for _ in range(n))
        for row in CODE
    ]
    of_texts = NaiveBayes.textbook({"text": family}).fit({"text": texts}, Y)
    by_hand = NaiveBayes.textbook(family).fit(CODE if family == "multinomial" else CODE > 0, Y)
    few = CODE[ROWS] if family == "multinomial" else CODE[ROWS] > 0
    found = of_texts.predict_proba_interval({"text": [texts[i] for i in ROWS]})
    assert_allclose(found, by_hand.predict_proba_interval(few), rtol=1e-9)


def test_one_binary_column_has_the_moments_of_beta_distributions():
    X, y = np.array([[0]] * 30 + [[1]] * 10 + [[0]] * 15 + [[1]] * 45), list("a" * 40 + "b" * 60)
    model = BernoulliNB(class_prior=[0.5, 0.5]).fit(X, y)
    draws = np.random.default_rng(1)
    a, b = (
        beta(11, 31).rvs(200_000, random_state=draws),
        beta(46, 16).rvs(200_000, random_state=draws),
    )
    L = np.log(b) - np.log(a)
    expected = expit(L.mean() + norm.ppf([0.05, 0.95]) * L.std())
    assert_allclose(model.predict_proba_interval([[1]], level=0.9)[0, 1], expected, atol=2e-3)


def test_intervals_of_two_classes_mirror_each_other_and_hold_the_estimate():
    model = GaussianNB().fit(REAL, Y == "c")
    ends, p = model.predict_proba_interval(REAL), model.predict_proba(REAL)
    assert_allclose(ends[:, 0], 1 - ends[:, 1, ::-1], atol=1e-12)
    assert ((ends[..., 0] < p) & (p < ends[..., 1])).all()
    wider = model.predict_proba_interval(REAL, level=0.99)
    assert ((wider[..., 0] < ends[..., 0]) & (ends[..., 1] < wider[..., 1])).all()


@pytest.mark.parametrize("outcome", [Y, Y == "c"])
def test_a_logistic_regression_has_the_covariance_of_its_estimates(outcome):
    model = LogisticRegression(C=np.inf).fit(REAL, outcome)
    ends, p = model.predict_proba_interval(REAL[:20]), model.predict_proba(REAL[:20])
    assert ((ends[..., 0] < p) & (p < ends[..., 1])).all()
    if len(model.classes_) == 2:
        covariance = model.covariance(reference=model.classes_[0])
        rows = np.column_stack([np.ones(20), REAL[:20]])
        reach = norm.ppf(0.975) * np.sqrt(np.einsum("ni,ij,nj->n", rows, covariance, rows))
        assert_allclose(ends[:, 1, 1], expit(model.decision_function(REAL[:20]) + reach), rtol=1e-9)


def test_a_logistic_regression_reads_rows_as_its_probabilities_do():
    rows = {"a": REAL[:, 0].tolist(), "c": [*"xyz"] * (len(REAL) // 3) + [*"xyz"][: len(REAL) % 3]}
    model = LogisticRegression(C=np.inf, unseen="reference")
    model.fit(rows, Y == "c")
    first = model.predict_proba_interval({"a": [0.1], "c": ["x"]})
    assert_allclose(model.predict_proba_interval({"a": [0.1], "c": ["new"]}), first)
    with pytest.raises(DataError, match="needs all its cells"):
        model.predict_proba_interval({"a": [np.nan], "c": ["x"]})


def test_an_improper_posterior_leaves_everything_open():
    X, y = [["u"], ["u"], ["v"], ["v"]], list("aabb")
    model = NaiveBayes.textbook(alpha=0).fit(X, y)
    ends = model.predict_proba_interval([["u"]])
    assert ends.tolist() == [[[0.0, 1.0], [0.0, 1.0]]]
    with pytest.warns(SufficeWarning, match="more rows"):
        one_row = QuadraticDiscriminantAnalysis().partial_fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    assert one_row.predict_proba_interval([[0.3]]).tolist() == [[[0.0, 1.0], [0.0, 1.0]]]


@pytest.mark.parametrize(
    "options",
    [
        {"families": Density("histogram")},
        {"families": Density("kernel_density")},
        {"numbers": "density", "calibration": "weights"},
        {"numbers": "gaussian", "calibration": "temperature"},
    ],
    ids=str,
)
def test_densities_in_bins_and_weights(options):
    model = NaiveBayes.textbook(**options).fit(REAL, Y)
    ends, p = model.predict_proba_interval(REAL[ROWS]), model.predict_proba(REAL[ROWS])
    assert ((ends[..., 0] <= p) & (p <= ends[..., 1])).mean() > 0.95
    assert 0 < (ends[..., 1] - ends[..., 0]).mean() < 0.2


def test_a_weight_draws_the_ends_of_log_odds_together():
    """Of one column and two classes that are equally likely, the log-odds are w times as large."""
    rows, labels = REAL[Y != "c", :1], Y[Y != "c"]
    whole = NaiveBayes.textbook(class_prior="uniform").fit(rows, labels)
    part = NaiveBayes.textbook(class_prior="uniform", calibration="weights").fit(rows, labels)
    (w,) = part.calibration_.weights
    assert w != 1
    expected = logit(whole.predict_proba_interval(rows))
    assert_allclose(logit(part.predict_proba_interval(rows)), w * expected, rtol=1e-9)


def test_what_has_no_posterior_is_refused():
    with pytest.raises(ParameterError, match="gives scores"):
        ComplementNB().fit(COUNT, Y).predict_proba_interval(COUNT)
    with pytest.raises(ParameterError, match="an interval of a model that counts pairs of columns"):
        AODE().fit(REAL, Y).predict_proba_interval(REAL)
    with pytest.raises(ParameterError, match="penalised estimate"):
        LogisticRegression().fit(REAL, Y).predict_proba_interval(REAL)
    model = GaussianNB().fit(REAL, Y)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        model.predict_proba_interval(REAL, level=95)
