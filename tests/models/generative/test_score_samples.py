"""log p(x) of rows, beside densities of SciPy and mixtures of scikit-learn."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp
from scipy.stats import bernoulli, multivariate_normal, norm
from sklearn.mixture import GaussianMixture

from suffice import AODE, LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.errors import ParameterError
from suffice.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 3, 150)
X = RNG.normal(size=(150, 3)) @ RNG.normal(size=(3, 3)) + 2 * Y[:, None]


def mixture(model: Any, kind: str, means: Any, covariances: Any) -> GaussianMixture:
    """The mixture of a fitted model's classes."""
    found = GaussianMixture(len(means), covariance_type=kind)
    found.weights_, found.means_ = np.bincount(Y) / len(Y), np.asarray(means)
    covariances = np.asarray(covariances)
    if kind == "diag":
        found.precisions_cholesky_ = 1 / np.sqrt(covariances)
    else:
        found.precisions_cholesky_ = np.linalg.cholesky(np.linalg.inv(covariances))
    return found


def test_naive_bayes_is_a_mixture_of_gaussians_without_covariances() -> None:
    model = GaussianNB().fit(X, Y)
    peer = mixture(model, "diag", model.theta_, model.var_)
    np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X), rtol=1e-9)


def test_quadratic_and_linear_discriminants_are_mixtures_of_gaussians() -> None:
    quadratic = QuadraticDiscriminantAnalysis().fit(X, Y)
    linear = LinearDiscriminantAnalysis().fit(X, Y)
    for model, kind in ((quadratic, "full"), (linear, "tied")):
        peer = mixture(model, kind, model.means_, model.covariance_)
        np.testing.assert_allclose(model.score_samples(X), peer.score_samples(X), rtol=1e-9)


def test_a_missing_cell_is_marginalised() -> None:
    model = QuadraticDiscriminantAnalysis().fit(X, Y)
    prior = np.log(np.bincount(Y) / len(Y))
    some = [
        prior[c]
        + multivariate_normal(model.means_[c, :2], model.covariance_[c][:2, :2]).logpdf(X[:, :2])
        for c in range(3)
    ]
    gaps = np.column_stack([X[:, :2], np.full(len(X), np.nan)])
    np.testing.assert_allclose(model.score_samples(gaps), logsumexp(some, axis=0), rtol=1e-9)
    np.testing.assert_allclose(model.score_samples([[np.nan] * 3]), [0.0], atol=1e-12)


def test_columns_count_once_in_a_model_with_weights() -> None:
    twice = np.hstack([X[:, :1], X[:, :1]])
    model = NaiveBayes(numbers="gaussian", estimation="mle").fit(twice, Y)
    assert (model.calibration_.weights < 0.9).all()
    mean = np.array([X[c == Y, 0].mean() for c in range(3)])
    sd = np.array([X[c == Y, 0].std() for c in range(3)])
    logs = np.log(np.bincount(Y) / len(Y)) + 2 * norm(mean, sd).logpdf(X[:, :1])
    np.testing.assert_allclose(model.score_samples(twice), logsumexp(logs, axis=1), rtol=1e-9)


def test_outcomes_and_counts() -> None:
    x = RNG.integers(0, 2, (150, 4))
    model = BernoulliNB().fit(x, Y)
    logs = [
        np.log((c == Y).mean())
        + bernoulli((x[c == Y].sum(0) + 1) / ((c == Y).sum() + 2)).logpmf(x).sum(1)
        for c in range(3)
    ]
    np.testing.assert_allclose(model.score_samples(x), logsumexp(logs, axis=0), rtol=1e-12)
    counts = MultinomialNB().fit(x, Y)
    joint = counts.predict_joint_log_proba(x)
    np.testing.assert_allclose(counts.score_samples(csr_array(x)), logsumexp(joint, axis=1))
    never = BernoulliNB(alpha=0).fit([[0], [0], [0]], [0, 1, 1])
    assert never.score_samples([[1]]).tolist() == [-np.inf]


def test_rows_of_frames_and_files_are_those_of_arrays(tmp_path: Path) -> None:
    names = ["a", "b", "c"]
    table = pa.table(dict(zip(names, X.T, strict=True)))
    model = GaussianNB().fit(table, Y)
    expected = GaussianNB().fit(X, Y).score_samples(X)
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=40)
    for rows in (table, str(tmp_path / "rows.parquet")):
        np.testing.assert_array_equal(model.score_samples(rows), expected)
    one = dict(zip(names, X[0].tolist(), strict=True))
    np.testing.assert_array_equal(model.score_samples(one), expected[:1])


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (partial(NaiveBayes.textbook, "complement"), "gives scores"),
        (AODE, "of a model that counts pairs of columns"),
    ],
)
def test_models_that_are_no_densities_say_so(make: Any, said: str) -> None:
    model = make().fit(RNG.integers(0, 2, (60, 3)), np.tile([0, 1], 30))
    with pytest.raises(ParameterError, match=said):
        model.score_samples([[0, 1, 1]])
    assert not hasattr(ComplementNB(), "score_samples")
