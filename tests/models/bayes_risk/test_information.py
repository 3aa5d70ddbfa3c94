"""What columns tell of the class, against sums over tables and SciPy's integrals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import entropy, nbinom, norm
from sklearn.exceptions import NotFittedError

from suffice import LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.bayes import column_information, column_weights, linear_form, quadratic_form
from suffice.errors import ParameterError
from suffice.families import Poisson
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import ComplementNB, GaussianNB, MultinomialNB

RANDOM = np.random.default_rng(2)
Y = np.arange(90) % 3
X = RANDOM.normal(size=(90, 2)) * (1 + Y[:, None]) + [1.0, 0.0] * Y[:, None]


def bits(densities, prior, low, high) -> float:
    """I(C; X) of densities on the line."""

    def integrand(x: float) -> float:
        joint = prior * np.array([density(x) for density in densities])
        return sum(
            p * np.log2(p / (q * joint.sum())) for p, q in zip(joint, prior, strict=True) if p > 0
        )

    return quad(integrand, low, high, limit=500, epsabs=1e-12, points=[-1, 0, 1, 2])[0]


def test_categories_tell_what_the_table_of_counts_tells() -> None:
    table = pd.DataFrame(
        {
            "a": RANDOM.choice(list("uvw"), 200),
            "b": RANDOM.integers(0, 2, 200),
            "y": np.arange(200) % 2,
        }
    )
    table.loc[table.y == 1, "a"] = RANDOM.choice(list("uv"), 100)
    found = column_information(NaiveBayes.textbook(estimation="mle").fit(table, "y"))
    assert found.entropy == 1.0
    for name, value in zip(found.columns, found.bits, strict=True):
        joint = pd.crosstab(table[name], table.y).to_numpy() / 200
        truth = entropy(joint.ravel(), np.outer(joint.sum(1), joint.sum(0)).ravel(), base=2)
        assert value == pytest.approx(truth, rel=1e-12)
    assert found.columns[found.order[0]] == "a"


def test_numbers_are_integrated() -> None:
    model = GaussianNB().fit(X, Y)
    found = column_information(model)
    prior = np.full(3, 1 / 3)
    assert found.entropy == pytest.approx(np.log2(3), rel=1e-15)
    for j in range(2):
        densities = [
            norm(m, v**0.5).pdf for m, v in zip(model.theta_[:, j], model.var_[:, j], strict=True)
        ]
        assert found.bits[j] == pytest.approx(bits(densities, prior, -60, 60), rel=1e-9)


def test_counts_are_summed() -> None:
    counts = np.random.default_rng(0).poisson(2.0 + 3.0 * (Y == 1)).astype(float)[:, None]
    model = NaiveBayes.textbook(families=Poisson()).fit(counts, Y)
    (p,) = model.model_.parameters
    x = np.arange(400)
    joint = np.array([nbinom(p.a[c, 0], p.b[c, 0] / (p.b[c, 0] + 1)).pmf(x) / 3 for c in range(3)])
    truth = entropy(joint.ravel(), (joint.sum(0) / 3 * np.ones((3, 1))).ravel(), base=2)
    assert column_information(model).bits == pytest.approx([truth], rel=1e-9)


def test_words_add_up() -> None:
    counts = RANDOM.integers(0, 5, (90, 4)) * (1 + (Y[:, None] == [0, 1, 2, 2]))
    model = MultinomialNB().fit(counts, Y)
    joint = np.exp(model.feature_log_prob_) / 3
    truth = (joint * np.log2(joint / (joint.sum(0) / 3))).sum(axis=0)
    assert column_information(model).bits == pytest.approx(truth, rel=1e-10)
    texts = pd.DataFrame(
        {"note": ["good sunny warm day", "bad cold rain day"] * 30, "y": [0, 1] * 30}
    )
    texts["note"] += [f" n{i}" for i in range(60)]
    (found,) = column_information(NaiveBayes.textbook().fit(texts, "y")).bits
    assert 0.2 < found < 1


def test_a_shared_covariance_and_one_of_each_class() -> None:
    two = Y < 2
    for estimator in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis):
        model = estimator().fit(X[two], Y[two])
        found = column_information(model)
        for j in range(2):
            covariances = np.broadcast_to(model.covariance_, (2, 2, 2))
            densities = [
                norm(m[j], s[j, j] ** 0.5).pdf
                for m, s in zip(model.means_, covariances, strict=True)
            ]
            truth = bits(densities, np.full(2, 0.5), -60, 60)
            assert found.bits[j] == pytest.approx(truth, rel=1e-8)


def test_nothing_to_tell_and_everything() -> None:
    y = ["a", "a", "b", "b"]
    alike = column_information(GaussianNB().fit([[0.0], [1.0], [0.0], [1.0]], y))
    assert alike.bits == pytest.approx([0.0], abs=1e-12)
    apart = column_information(GaussianNB().fit([[0.0], [1.0], [900.0], [901.0]], y))
    assert apart.bits == pytest.approx([1.0], rel=1e-10)
    lone = column_information(GaussianNB().fit([[0.0], [1.0]], ["a", "a"]))
    assert lone.entropy == 0.0
    assert "-" in repr(lone)


def test_models_without_distributions() -> None:
    for asked in (column_information, column_weights, linear_form, quadratic_form):
        with pytest.raises(ParameterError, match="LogisticRegression does not say how a column"):
            asked(LogisticRegression().fit(X, Y))
    with pytest.raises(NotFittedError):
        column_information(GaussianNB())
    scores = column_information(ComplementNB().fit(np.abs(X), Y))
    assert np.isnan(scores.bits).all()
    assert repr(scores).count("-") >= 2


def test_densities_in_bins_are_summed() -> None:
    """Against the integral of the densities that the model answers with."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    x = np.c_[rng.normal(size=400) * (1 + 2 * y), rng.exponential(size=400) + y]
    model = NaiveBayes.textbook(numbers="density", class_prior="uniform").fit(x, y)
    found = column_information(model)
    assert found.bits.shape == (2,)
    for j in range(2):
        line = np.linspace(-60, 60, 1_200_001)
        asked = np.full((len(line), 2), np.nan)
        asked[:, j] = line
        low, high = x[:, j].min(), x[:, j].max()
        density = np.exp(model.predict_joint_log_proba(asked)) * 2
        if found.families[j] != "gaussian":  # a density in bins ends with them
            density[(line < low) | (line > high)] = 0.0
            density /= density.sum(axis=0) * (line[1] - line[0])
        total = density.mean(axis=1, keepdims=True)
        ratio = np.divide(density, total, out=np.ones_like(density), where=density > 0)
        expected = (0.5 * density * np.log2(ratio)).sum() * (line[1] - line[0])
        assert found.bits[j] == pytest.approx(expected, abs=2e-3)
