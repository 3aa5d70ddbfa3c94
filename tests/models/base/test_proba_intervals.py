"""Intervals of P(c | x): closed-form moments against draws of the parameters, and known truths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, logit
from scipy.stats import beta, norm

from suffice import (
    AODE,
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    families,
)
from suffice.data.source import each_batch
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.families import Density
from suffice.models.classifier import answers_by_batch
from suffice.models.generative.proba_intervals import ModelPosterior
from suffice.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

RNG = np.random.default_rng(3)
N = 120
Y = np.repeat(list("abc"), N // 3)
SHIFT = np.repeat([0.0, 0.7, 1.4], N // 3)[:, None]
REAL = RNG.normal(SHIFT, 1.0, (N, 3))
COUNT = RNG.poisson(1 + SHIFT, (N, 3)).astype(float)
CODE = np.minimum(COUNT, 2).astype(int)
TEXT = [" ".join(RNG.choice(list("uvwxyz"), 4)) for _ in range(N)]
HOLES = REAL.copy()
HOLES[::7, 1] = np.nan
HOLES[5] = np.nan

MODELS: dict[str, tuple[Any, Any]] = {
    "bernoulli": (BernoulliNB(), CODE > 0),
    "categorical": (
        NaiveBayes.textbook(families.Categorical(unseen="smooth", min_categories=5)),
        CODE,
    ),
    "poisson": (NaiveBayes.textbook("poisson"), COUNT),
    "multinomial": (MultinomialNB(), COUNT),
    "words": (NaiveBayes.textbook({"text": "multinomial"}), {"text": TEXT}),
    "occurrences": (NaiveBayes.textbook({"text": "bernoulli"}), {"text": TEXT}),
    "joint table": (NaiveBayes.textbook("joint_table"), CODE),
    "gaussian": (NaiveBayes.textbook("gaussian"), HOLES),
    "gaussian, mle": (GaussianNB(), HOLES),
    "gaussian, shared": (NaiveBayes.textbook(families.Gaussian(shared=True)), HOLES),
    "multivariate": (NaiveBayes.textbook("multivariate_gaussian"), HOLES),
    "lda": (LinearDiscriminantAnalysis(), HOLES),
    "qda": (QuadraticDiscriminantAnalysis(), HOLES),
    "mixed": (
        NaiveBayes.textbook(class_prior="smoothed"),
        {"size": HOLES[:, 0], "hue": np.array(list("rgb"))[CODE[:, 0]], "flag": CODE[:, 1] > 0},
    ),
}


def few(X: Any, rows: slice) -> Any:
    return {name: cells[rows] for name, cells in X.items()} if isinstance(X, dict) else X[rows]


def batches_of(part: Any, layout: Any) -> Any:
    return list(each_batch(part, layout, lambda batch: batch))


def posterior_of_model(model: Any) -> ModelPosterior:
    return model._interval_ends(0.95, 0, None).func.__self__


@pytest.mark.parametrize("draws", [250, pytest.param(10_000, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("name", MODELS)
def test_closed_form_moments_are_those_of_draws(name, draws):
    estimator, X = MODELS[name]
    model = estimator.fit(X, Y)
    posterior, first = posterior_of_model(model), few(X, slice(0, 12))
    (rows,) = answers_by_batch(model, first, batches_of, model.layout_)
    found = posterior.moments(rows)
    rng, scores = np.random.default_rng(0), np.zeros((draws, 12, 3))
    for i in range(draws):
        posterior.draw(rng)(rows, scores[i])
    covariance = found.covariance + found.variance[:, :, None] * np.eye(3)
    contrasts = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    seen = scores @ contrasts.T
    mean, variance = (
        found.mean @ contrasts.T,
        np.einsum("ca,nab,cb->nc", contrasts, covariance, contrasts),
    )
    error = np.sqrt(variance / draws)
    assert (np.abs(seen.mean(axis=0) - mean) < 5 * error + 1e-12).all()
    fourth = ((seen - seen.mean(axis=0)) ** 4).mean(axis=0)
    of_variance = np.sqrt(np.maximum(fourth - variance**2, 0) / draws)
    assert (np.abs(seen.var(axis=0) - variance) < 6 * of_variance + 1e-12).all()


@pytest.mark.parametrize(
    "name",
    ["bernoulli", *(pytest.param(n, marks=pytest.mark.exhaustive) for n in ("gaussian", "mixed"))],
)
def test_closed_form_and_sampling_agree_over_many_rows(name):
    estimator, X = MODELS[name]
    repeated = (
        {k: np.tile(v, 40) for k, v in X.items()} if isinstance(X, dict) else np.tile(X, (40, 1))
    )
    model = estimator.fit(repeated, np.tile(Y, 40))
    closed = model.predict_proba_interval(few(X, slice(0, 4)))
    drawn = model.predict_proba_interval(few(X, slice(0, 4)), method="sampling", n_samples=10_000)
    assert np.abs(closed - drawn).max() < 0.004


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
    model = LogisticRegression(C=np.inf).fit(np.tile(REAL, (10, 1)), np.tile(outcome, 10))
    ends = model.predict_proba_interval(REAL[:20])
    drawn = model.predict_proba_interval(REAL[:20], method="sampling", n_samples=10_000)
    assert np.abs(ends - drawn).max() < 0.01
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
    for method in ("normal", "sampling"):
        with pytest.raises(DataError, match="needs all its cells"):
            model.predict_proba_interval({"a": [np.nan], "c": ["x"]}, method=method)


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
    normal = model.predict_proba_interval(REAL[::6])
    drawn = model.predict_proba_interval(REAL[::6], method="sampling", random_state=0)
    p = model.predict_proba(REAL[::6])
    assert ((normal[..., 0] <= p) & (p <= normal[..., 1])).mean() > 0.95
    assert np.abs(normal - drawn).max() < 0.15
    assert np.abs(normal - drawn).mean() < 0.02


def test_a_weight_draws_the_ends_of_log_odds_together():
    """Of one column and two classes that are equally likely, the log-odds are w times as large."""
    rows, labels = REAL[Y != "c", :1], Y[Y != "c"]
    whole = NaiveBayes.textbook(class_prior="uniform").fit(rows, labels)
    part = NaiveBayes.textbook(class_prior="uniform", calibration="weights").fit(rows, labels)
    (w,) = part.calibration_.weights
    assert w != 1
    expected = logit(whole.predict_proba_interval(rows))
    assert_allclose(logit(part.predict_proba_interval(rows)), w * expected, rtol=1e-9)


def test_the_posterior_of_a_histogram_is_dirichlet():
    """Shares of bins have the mean of the estimate, and the variance p (1 − p)/(A + 1)."""
    family = Density("histogram")
    statistic = NaiveBayes.textbook(family).fit(REAL[:, :1], Y).model_.statistic.blocks[0]
    estimate, posterior = family.estimate(statistic), family.posterior(statistic)
    rng = np.random.default_rng(0)
    draws = np.array([posterior.draw(rng).probabilities(0) for _ in range(4000)])
    p = estimate.probabilities(0)
    error = np.sqrt(p * (1 - p) / 4000)
    assert (np.abs(draws.mean(axis=0) - p) < 5 * error).all()
    (shares,) = posterior.columns
    total = np.array([a.sum() for a in shares.a])[:, None]
    assert_allclose(draws.var(axis=0), p * (1 - p) / (total + 1), rtol=0.15)


def test_what_has_no_posterior_is_refused():
    with pytest.raises(ParameterError, match="gives scores"):
        ComplementNB().fit(COUNT, Y).predict_proba_interval(COUNT)
    with pytest.raises(ParameterError, match="an interval is asked for, with pairs of columns"):
        AODE().fit(REAL, Y).predict_proba_interval(REAL)
    with pytest.raises(ParameterError, match="penalised estimate"):
        LogisticRegression().fit(REAL, Y).predict_proba_interval(REAL)
    model = GaussianNB().fit(REAL, Y)
    with pytest.raises(ParameterError, match="between 0 and 1"):
        model.predict_proba_interval(REAL, level=95)
    with pytest.raises(ParameterError, match="'normal', 'sampling'"):
        model.predict_proba_interval(REAL, method="bootstrap")
