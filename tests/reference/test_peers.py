"""scikit-learn and SciPy as judges, where they are right: dense, complete, well scaled data."""

import numpy as np
import pytest
from scipy import stats
from sklearn import datasets
from sklearn import naive_bayes as peers

from suffice import NaiveBayes
from suffice.families import Gaussian, Poisson

SETS = {
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
    "breast cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
}


def weighted(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(0.1, 3.0, n)


def agree(ours: NaiveBayes, peer, X, rtol: float = 1e-10) -> None:
    """The same log joint: absolute below one, relative above."""
    theirs = peer.predict_joint_log_proba(X)
    assert ours.predict_joint_log_proba(X) == pytest.approx(theirs, rel=rtol, abs=1e-10)
    assert (ours.classes_ == peer.classes_).all()


@pytest.mark.parametrize("name", ["iris", "wine", "breast cancer"])
@pytest.mark.parametrize("weights", [False, True])
def test_gaussian(name, weights):
    X, y = SETS[name](return_X_y=True)
    w = weighted(len(y)) if weights else None
    ours = NaiveBayes.textbook(Gaussian("mle", variance_floor=0))
    peer = peers.GaussianNB(var_smoothing=0).fit(X, y, sample_weight=w)
    agree(ours.fit(X, y, sample_weight=w), peer, X)


def counts(n: int = 300, d: int = 12, k: int = 3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.poisson(rng.gamma(1.0, 2.0, (k, d))[rng.integers(0, k, n)]), rng.integers(0, k, n)


@pytest.mark.parametrize(("alpha", "prior"), [(0.1, None), (3.0, [0.2, 0.3, 0.5])])
@pytest.mark.parametrize(
    ("family", "peer"),
    [
        ("multinomial", peers.MultinomialNB),
        ("bernoulli", peers.BernoulliNB),
        ("categorical", peers.CategoricalNB),
    ],
)
def test_discrete(family, peer, alpha, prior):
    X, y = counts()
    X = (X > 1).astype(int) if family == "bernoulli" else X
    w = weighted(len(y))
    ours = NaiveBayes.textbook(families=family, alpha=alpha, class_prior=prior or "empirical")
    judge = peer(alpha=alpha, class_prior=prior)
    # CategoricalNB counts every whole number up to the largest, seen or not: show them all.
    if family == "categorical":
        X = np.minimum(X, 3)
    agree(ours.fit(X, y, sample_weight=w), judge.fit(X, y, sample_weight=w), X)


def test_digits_as_counts_and_as_bits():
    X, y = datasets.load_digits(return_X_y=True)
    agree(NaiveBayes.textbook(families="multinomial").fit(X, y), peers.MultinomialNB().fit(X, y), X)
    bits = (X > 8).astype(int)
    agree(
        NaiveBayes.textbook(families="bernoulli").fit(bits, y),
        peers.BernoulliNB().fit(bits, y),
        bits,
    )


def test_uniform_prior():
    X, y = counts()
    ours = NaiveBayes.textbook(families="multinomial", class_prior="uniform").fit(X, y)
    agree(ours, peers.MultinomialNB(fit_prior=False).fit(X, y), X)


# -- densities from SciPy, one column, the sums written out


@pytest.fixture
def column() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], [30, 50])
    return rng.poisson(np.where(y, 7.0, 2.0)).astype(float), y


def densities(family, column, log_density) -> None:
    """Compare log p(x | c) with a function of the rows of the class and of all rows."""
    x, y = column
    model = NaiveBayes.textbook(families=family, class_prior="uniform").fit(x[:, None], y)
    grid = np.arange(0.0, 40.0)
    found = model.predict_joint_log_proba(grid[:, None]) - np.log(0.5)
    for c in (0, 1):
        assert found[:, c] == pytest.approx(log_density(x[y == c], x, grid), rel=1e-12)


def test_normal(column):
    densities(
        Gaussian(estimation="mle", ddof=1),
        column,
        lambda x, _, grid: stats.norm(x.mean(), x.std(ddof=1)).logpdf(grid),
    )


def test_student(column):
    # Murphy (2007), Conjugate Bayesian analysis of the Gaussian distribution, eqs. 86-89 and 110
    def student(x, everything, grid):
        n, m0, k0, a0 = len(x), everything.mean(), 2.0, 1.5
        b0 = a0 * everything.var()
        k, a = k0 + n, a0 + n / 2
        b = b0 + ((x - x.mean()) ** 2).sum() / 2 + k0 * n * (x.mean() - m0) ** 2 / (2 * k)
        location, scale = (k0 * m0 + x.sum()) / k, np.sqrt(b * (k + 1) / (a * k))
        return stats.t(2 * a, location, scale).logpdf(grid)

    family = Gaussian(kappa0=2.0, a0=1.5, b0=1.5 * column[0].var())
    densities(family, column, student)


def test_poisson(column):
    densities(
        Poisson(estimation="mle"), column, lambda x, _, grid: stats.poisson(x.mean()).logpmf(grid)
    )


def test_negative_binomial(column):
    # Gelman et al., Bayesian Data Analysis (2013), section 2.6: Gamma(α, β) prior
    def predictive(x, _, grid):
        a, b = 2.0 + x.sum(), 0.5 + len(x)
        return stats.nbinom(a, b / (b + 1)).logpmf(grid)

    densities(Poisson(alpha=2.0, beta=0.5), column, predictive)
