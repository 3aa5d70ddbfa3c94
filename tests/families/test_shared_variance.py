"""Gaussians whose classes share one variance per column: fractions, mpmath, scikit-learn."""

from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from suffice import NaiveBayes
from suffice.families import Gaussian
from suffice.families.family import Parameters
from suffice.sums.batch import NO_WEIGHTS
from suffice.sums.block import RealBlock

X = np.array([[1.0, 7.0], [2.0, 3.0], [4.0, 0.0], [8.0, 1.0], [9.0, 2.0]])
CODES = np.array([0, 0, 0, 1, 1], np.intp)
PRIOR = {"mean0": 1.0, "kappa0": 2.0, "a0": 1.5, "b0": 3.0}


def estimated(family: Gaussian, x: np.ndarray = X, codes: Any = CODES, k: int = 2) -> Any:
    total = family.accumulator("real", x.shape[1])
    total.add(RealBlock(x), np.asarray(codes, np.intp), NO_WEIGHTS, k)
    return family.estimate(total.statistic())


def score(parameters: Parameters, x: np.ndarray, k: int = 2) -> np.ndarray:
    out = np.zeros((len(x), k))
    parameters.add_log_likelihood(RealBlock(x), out)
    return out


@pytest.mark.parametrize("ddof", [0, 1])
def test_maximum_likelihood_in_fractions(ddof: int) -> None:
    found = estimated(Gaussian("mle", ddof=ddof, shared=True))
    for j in range(2):
        scatter = Fraction(0)
        for c in range(2):
            rows = [Fraction(x) for x in X[c == CODES, j]]
            mean = sum(rows) / len(rows)
            assert found.mean[c, j] == pytest.approx(float(mean), rel=1e-15)
            scatter += sum((x - mean) ** 2 for x in rows)
        variance = scatter / (len(X) - 2 * ddof)
        assert found.variance[:, j] == pytest.approx([float(variance)], rel=1e-15)
        assert found.describe(j)["sd"] == [float(variance) ** 0.5] * 2
    truth = stats.norm.logpdf(X[:, None], found.mean, found.sd).sum(axis=2)
    np.testing.assert_allclose(score(found, X), truth, rtol=1e-13)
    assert found.n_free == 2 * 2 + 2


def test_mode_is_the_highest_point_of_the_posterior() -> None:
    found = estimated(Gaussian("map", **PRIOR, shared=True))

    def log_posterior(means: np.ndarray, variance: float, j: int) -> float:
        sd = np.sqrt(variance)
        likelihood = stats.norm.logpdf(X[:, j], means[CODES], sd).sum()
        prior = stats.norm.logpdf(means, 1.0, sd / np.sqrt(2.0)).sum()
        return float(likelihood + prior + stats.invgamma.logpdf(variance, 1.5, scale=3.0))

    for j in range(2):
        means, variance = found.mean[:, j], found.variance[0, j]
        top = log_posterior(means, variance, j)
        for factor in (0.999, 1.001):
            assert log_posterior(means * factor, variance, j) < top
            assert log_posterior(means * [1.0, factor], variance, j) < top
            assert log_posterior(means, variance * factor, j) < top


def test_posterior_predictive_is_the_ratio_of_evidences() -> None:
    found = estimated(Gaussian(**PRIOR, shared=True))

    def log_evidence(groups: list[list[float]]) -> mpmath.mpf:
        """Log of the integral over σ² of the evidences of the groups given σ², without constants.

        Given σ², group c contributes (κ₀/κ)^½ (2πσ²)^(−n/2) exp(−s/2σ²); see Murphy (2007), 3.
        """
        m0, k0, a0, b0 = map(mpmath.mpf, (1, 2, 1.5, 3))
        a, b, rest = a0, b0, a0 * mpmath.log(b0) - mpmath.loggamma(a0)
        for group in groups:
            values = [mpmath.mpf(v) for v in group]
            n, mean = len(values), mpmath.fsum(values) / len(values)
            a += mpmath.mpf(n) / 2
            b += mpmath.fsum((v - mean) ** 2 for v in values) / 2
            b += k0 * n * (mean - m0) ** 2 / (2 * (k0 + n))
            rest += mpmath.log(k0 / (k0 + n)) / 2 - n * mpmath.log(2 * mpmath.pi) / 2
        return rest + mpmath.loggamma(a) - a * mpmath.log(b)

    with mpmath.workdps(40):
        for x in (-3.0, 2.5, 40.0):
            scores = score(found, np.array([[x, x]]))[0]
            for c in range(2):
                truth = mpmath.mpf(0)
                for j in range(2):
                    groups = [X[code == CODES, j].tolist() for code in range(2)]
                    more = [group + [x] * (code == c) for code, group in enumerate(groups)]
                    truth += log_evidence(more) - log_evidence(groups)
                assert scores[c] == pytest.approx(float(truth), rel=1e-13)
    assert found.n_free == 2 * 2 + 2


def test_one_column_is_linear_discriminant_analysis() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    x = (rng.normal(size=200) + y)[:, None]
    judge = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    model = NaiveBayes.textbook(Gaussian("mle", shared=True)).fit(x, y)
    theirs = judge.predict_log_proba(x)
    np.testing.assert_allclose(model.predict_log_proba(x), theirs, rtol=1e-10, atol=1e-12)
