"""Discriminants of more columns than rows: beside scikit-learn and dense formulas."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Peer

import suffice
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import ForgetError, ParameterError

N, D, K = 60, 300, 3


def table(seed: int = 0, n: int = N) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % K)
    together = rng.normal(size=(n, 8)) @ np.random.default_rng(9).normal(size=(8, D))
    x = together + rng.normal(size=(n, D)) + 0.3 * np.random.default_rng(8).normal(size=(K, D))[y]
    return x * np.exp(np.linspace(-3, 3, D)) + 100, y


X, Y = table()
NEW, _ = table(1)


def close(a, b, tolerance=1e-8):
    np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


def test_without_shrinkage_it_is_scikit_learns_svd():
    ours, peer = LinearDiscriminantAnalysis().fit(X, Y), Peer().fit(X, Y)
    close(ours.coef_, peer.coef_)
    close(ours.intercept_, peer.intercept_)
    close(ours.predict_proba(NEW), peer.predict_proba(NEW))
    close(np.abs(ours.transform(NEW)), np.abs(peer.transform(NEW)))


@pytest.mark.parametrize("shrinkage", [0.3, "auto"])
def test_shrunk_densities_are_those_of_the_dense_formula(shrinkage):
    model = LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(X, Y)
    means = np.array([X[c == Y].mean(axis=0) for c in range(K)])
    z = (X - means[Y]) / (X - means[Y]).std(axis=0)
    r = z.T @ z / N
    share = shrinkage
    if shrinkage == "auto":  # Ledoit and Wolf, of correlations
        distance = (r**2).sum() - D
        error = (((z**2).sum(axis=1) ** 2).sum() / N - (r**2).sum()) / N
        share = min(error, distance) / distance
    sd = (X - means[Y]).std(axis=0)
    sigma = ((1 - share) * r + share * np.eye(D)) * sd * sd[:, None]
    close(model.covariance_, sigma)
    for shown in (np.arange(D), np.arange(0, D, 2)):  # all cells, or half of them missing
        some = np.full_like(NEW, np.nan)
        some[:, shown] = NEW[:, shown]
        dense = [multivariate_normal(m[shown], sigma[np.ix_(shown, shown)]) for m in means]
        log_joint = np.array([one.logpdf(NEW[:, shown]) + np.log(1 / K) for one in dense]).T
        close(model.predict_joint_log_proba(some), log_joint, 1e-6)


def test_quadratic_discriminants_are_shrunk_or_refused():
    model = QuadraticDiscriminantAnalysis(reg_param=0.5).fit(X, Y)
    for c in range(K):
        rows = X[c == Y]
        s = np.cov(rows.T, bias=True)
        close(model.covariance_[c], 0.5 * s + 0.5 * np.diag(np.diag(s)))
    with pytest.raises(ParameterError, match="reg_param"):
        QuadraticDiscriminantAnalysis().fit(X, Y)


def test_rows_are_added_forgotten_and_merged_as_one_fit_has_them():
    whole = LinearDiscriminantAnalysis(shrinkage=0.2).fit(X, Y)
    grown = LinearDiscriminantAnalysis(shrinkage=0.2).partial_fit(X[20:], Y[20:])
    grown.partial_fit(X[:20], Y[:20])
    assert (grown.coef_ == whole.coef_).all()
    again = LinearDiscriminantAnalysis(shrinkage=0.2).fit(X[20:], Y[20:])
    assert (grown.forget(X[:20], Y[:20]).coef_ == again.coef_).all()
    rest = LinearDiscriminantAnalysis(shrinkage=0.2).fit(X[:20], Y[:20])
    assert (again.merge(rest).coef_ == whole.coef_).all()


def test_more_rows_than_columns_are_co_moments_in_any_order():
    x, y = table(2, n=2 * D)
    whole = LinearDiscriminantAnalysis().fit(x, y)
    parts = LinearDiscriminantAnalysis().partial_fit(x[:D], y[:D]).partial_fit(x[D:], y[D:])
    assert (parts.coef_ == whole.coef_).all()


def test_a_file_holds_no_rows_and_says_so(tmp_path):
    model = LinearDiscriminantAnalysis(shrinkage="auto").fit(X, Y)
    model.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert (loaded.predict_proba(NEW) == model.predict_proba(NEW)).all()
    content = (tmp_path / "m.suffice").read_bytes()
    assert not any(X[0, j].tobytes() in content for j in range(D))
    with pytest.raises(ForgetError):
        loaded.partial_fit(NEW, Y)
