"""Scores and estimates against SciPy, mpmath and fractions; the shared laws are in tests/laws."""

from fractions import Fraction
from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy import stats
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from suffice import AODE, NaiveBayes
from suffice.errors import ParameterError
from suffice.families import Bernoulli, Categorical, Gaussian, Multinomial, Poisson, family_named
from suffice.families.family import Family, Parameters
from suffice.sums.batch import NO_WEIGHTS
from suffice.sums.block import BadCell, CodedBlock, RealBlock, SparseBlock
from suffice.sums.vocabulary import Vocabulary

X = np.array([[1.0, 7.0], [2.0, 3.0], [4.0, 0.0], [8.0, 1.0], [9.0, 2.0]])
CODES = np.array([0, 0, 0, 1, 1], np.intp)
PRIOR = {"mean0": 1.0, "kappa0": 2.0, "a0": 1.5, "b0": 3.0}
TWO = Vocabulary((False, True), closed=True)


def estimated(family: Family, block: Any, encoding: str, codes: Any = CODES, k: int = 2) -> Any:
    total = family.accumulator(encoding, block.width if encoding == "real" else 2)
    total.add(block, np.asarray(codes, np.intp), NO_WEIGHTS, k)
    return family.estimate(total.statistic())


def score(parameters: Parameters, block: Any, k: int = 2) -> np.ndarray:
    out = np.zeros((block.rows, k))
    parameters.add_log_likelihood(block, out)
    return out


# -- Gaussian


@pytest.mark.parametrize("ddof", [0, 1])
def test_gaussian_by_maximum_likelihood(ddof: int) -> None:
    found = estimated(Gaussian("mle", ddof=ddof), RealBlock(X), "real")
    for c in range(2):
        rows = X[c == CODES]
        np.testing.assert_allclose(found.mean[c], rows.mean(axis=0), rtol=1e-15)
        np.testing.assert_allclose(found.variance[c], rows.var(axis=0, ddof=ddof), rtol=1e-14)
        truth = stats.norm.logpdf(X, found.mean[c], np.sqrt(found.variance[c])).sum(axis=1)
        np.testing.assert_allclose(score(found, RealBlock(X))[:, c], truth, rtol=1e-13)


@pytest.mark.parametrize("shared", [False, True])
def test_gaussian_posterior_predictive_is_the_ratio_of_evidences(shared: bool) -> None:
    found = estimated(Gaussian(**PRIOR, shared=shared), RealBlock(X), "real")

    def log_evidence(groups: list[list[float]]) -> mpmath.mpf:
        """Log of the integral over σ² of the evidences of the groups given σ².

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
            scores = score(found, RealBlock(np.array([[x, x]])))[0]
            for c in range(2):
                truth = mpmath.mpf(0)
                for j in range(2):
                    classes = range(2) if shared else [c]
                    groups = [X[code == CODES, j].tolist() for code in classes]
                    more = [g + [x] * (code == c) for code, g in zip(classes, groups, strict=True)]
                    truth += log_evidence(more) - log_evidence(groups)
                assert abs(scores[c] - float(truth)) < 1e-13 * max(1, abs(float(truth)))
    assert found.n_free == (2 * 2 + 2 if shared else 2 * 2 * 2)


@pytest.mark.parametrize("ddof", [0, 1])
def test_shared_variance_in_fractions(ddof: int) -> None:
    found = estimated(Gaussian("mle", ddof=ddof, shared=True), RealBlock(X), "real")
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
    np.testing.assert_allclose(score(found, RealBlock(X)), truth, rtol=1e-13)
    assert found.n_free == 2 * 2 + 2


@pytest.mark.parametrize("shared", [False, True])
def test_gaussian_mode_is_the_highest_point_of_the_posterior(shared: bool) -> None:
    found = estimated(Gaussian("map", **PRIOR, shared=shared), RealBlock(X), "real")

    def log_posterior(classes: list[int], means: np.ndarray, variance: float, j: int) -> float:
        """Of the classes that share a variance."""
        sd = np.sqrt(variance)
        total = stats.invgamma.logpdf(variance, 1.5, scale=3.0)
        for c in classes:
            total += stats.norm.logpdf(X[c == CODES, j], means[c], sd).sum()
            total += stats.norm.logpdf(means[c], 1.0, sd / np.sqrt(2.0))
        return float(total)

    for classes, j in product([[0, 1]] if shared else [[0], [1]], range(2)):
        means, variance = found.mean[:, j], found.variance[classes[0], j]
        top = log_posterior(classes, means, variance, j)
        for factor in (0.999, 1.001):
            assert log_posterior(classes, means, variance * factor, j) < top
            assert log_posterior(classes, means * factor + 1e-3, variance, j) < top
            for c in classes:
                moved = np.where(np.arange(2) == c, means * factor, means)
                assert log_posterior(classes, moved, variance, j) < top


def test_one_column_is_linear_discriminant_analysis() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    x = (rng.normal(size=200) + y)[:, None]
    judge = LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    model = NaiveBayes.textbook(Gaussian("mle", shared=True)).fit(x, y)
    theirs = judge.predict_log_proba(x)
    np.testing.assert_allclose(model.predict_log_proba(x), theirs, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("far", [False, True])
def test_the_prior_of_a_gaussian_follows_from_the_spread_within_and_between_classes(far) -> None:
    classes = [[0, 1, 5], [10, 12], [-7, -7, -4, -2]] if far else [[0, 8, 5], [4, 2], [-1, 9, 7, 2]]
    values = [Fraction(v) for rows in classes for v in rows]
    n, m0 = len(values), sum(values) / len(values)
    means = [Fraction(sum(rows), len(rows)) for rows in classes]
    both = list(zip(classes, means, strict=True))
    v = sum((x - m0) ** 2 for x in values) / n
    s2 = (sum((x - mean) ** 2 for rows, mean in both for x in rows) + v / n) / (n - 3 + 1)
    kappa0, b0 = min(Fraction(1), 2 * s2 / (v - s2)) if v > s2 else 1, min(v, 3 * s2)
    assert (kappa0 < 1) == far
    x, codes = RealBlock(np.array([[float(x)] for x in values])), np.repeat([0, 1, 2], [3, 2, 4])
    found = estimated(Gaussian(), x, "real", codes, 3)
    for c, (rows, mean) in enumerate(both):
        kappa, a = kappa0 + len(rows), 1 + Fraction(len(rows), 2)
        b = b0 + sum((x - mean) ** 2 for x in rows) / 2
        b += kappa0 * len(rows) * (mean - m0) ** 2 / kappa / 2
        assert found.location[c, 0] == pytest.approx(float((kappa0 * m0 + sum(rows)) / kappa))
        assert found.scale2[c, 0] == pytest.approx(float(b * (kappa + 1) / (a * kappa)), rel=1e-12)


@pytest.mark.parametrize("unit", [1e-139, 1e-3, 1.0, 1e3, 1e140])
@pytest.mark.parametrize("shared", [False, True])
def test_without_a_floor_a_class_of_one_value_is_certain_of_it(unit: float, shared: bool) -> None:
    x = RealBlock(np.array([[1.0, 5.0], [1.0, 5.0], [2.0, 5.0], [2.0 + (not shared), 5.0]]) * unit)
    found = estimated(Gaussian("mle", variance_floor=0.0, shared=shared), x, "real", [0, 0, 1, 1])
    rows = RealBlock(np.array([[1.0, 5.0], [1.001, 5.0], [2.0, 5.0], [3.0, 5.0]]) * unit)
    first, second = score(found, rows).T
    assert ((first > second) == [True, shared, False, False]).all()
    assert (np.abs(first - second) > 25).tolist() == [True, True, True, True]
    alone = score(found.column(1), RealBlock(rows.values[:, 1:]))  # it has one value in all classes
    np.testing.assert_array_equal(alone, np.zeros((4, 2)))


# -- Poisson


@pytest.mark.parametrize("estimation", ["mle", "map"])
def test_poisson_rates_and_scores(estimation: Any) -> None:
    found = estimated(Poisson(2.0, 3.0, estimation), RealBlock(X), "whole")
    sums, n = np.array([[7, 10], [17, 3]]), np.array([[3], [2]])
    truth = sums / n if estimation == "mle" else (sums + 2 - 1) / (n + 3)
    np.testing.assert_allclose(found.rate, truth, rtol=1e-15)
    for c in range(2):
        expected = stats.poisson.logpmf(X, found.rate[c]).sum(axis=1)
        np.testing.assert_allclose(score(found, RealBlock(X))[:, c], expected, rtol=1e-13)


def test_poisson_predictive_is_negative_binomial() -> None:
    found = estimated(Poisson(2.0, 3.0), RealBlock(X), "whole")
    for c in range(2):
        p = found.b[c] / (found.b[c] + 1)
        expected = stats.nbinom.logpmf(X, found.a[c], p).sum(axis=1)
        np.testing.assert_allclose(score(found, RealBlock(X))[:, c], expected, rtol=1e-12)


# -- categories and outcomes


@pytest.mark.parametrize(
    ("estimation", "alpha", "theta"),
    [
        ("mle", 1.0, [Fraction(2, 3), Fraction(1, 3), 0]),
        ("map", 2.0, [Fraction(3, 6), Fraction(2, 6), Fraction(1, 6)]),
        ("bayes", 0.5, [Fraction(5, 9), Fraction(3, 9), Fraction(1, 9)]),
    ],
)
def test_categories(estimation: Any, alpha: float, theta: list[Fraction]) -> None:
    values = Vocabulary(("a", "b", "c"))
    block = CodedBlock(np.array([[0], [1], [0], [2], [-1]]), (values,))
    family = Categorical(alpha, estimation)
    total = family.accumulator("category", 1)
    total.add(block, CODES, NO_WEIGHTS, 2)
    found = family.estimate(total.statistic())
    np.testing.assert_allclose(found.probabilities(0)[0], list(map(float, theta)), rtol=1e-15)
    np.testing.assert_allclose(found.probabilities(0).sum(axis=1), 1, rtol=1e-15)
    unseen = CodedBlock(np.array([[0], [-1]]), (Vocabulary(("new",)),))
    np.testing.assert_array_equal(score(found, unseen), np.zeros((2, 2)))


def test_a_value_never_seen_may_be_smoothed_or_refused() -> None:
    block = CodedBlock(np.array([[0], [1], [0], [1], [1]]), (Vocabulary(("a", "b")),))
    unseen = CodedBlock(np.array([[-1], [1]]), (Vocabulary(("a", "new")),))
    scores = {}
    for unseen_rule in ("smooth", "error"):
        family = Categorical(unseen=unseen_rule)
        total = family.accumulator("category", 1)
        total.add(block, CODES, NO_WEIGHTS, 2)
        scores[unseen_rule] = family.estimate(total.statistic())
    smoothed = score(scores["smooth"], unseen)
    np.testing.assert_allclose(smoothed, [[0, 0], np.log([1 / 6, 1 / 5])], rtol=1e-15)
    with pytest.raises(BadCell) as caught:
        score(scores["error"], unseen)
    assert (caught.value.row, caught.value.column, caught.value.value) == (1, 0, "new")


def test_outcomes() -> None:
    block = CodedBlock(np.array([[1, 0], [1, -1], [0, 0], [0, 1], [0, 1]]), (TWO, TWO))
    found = estimated(Bernoulli(), block, "binary")
    np.testing.assert_allclose(found.theta[:, :, 1], [[3 / 5, 1 / 4], [1 / 4, 3 / 4]], rtol=1e-15)
    row = CodedBlock(np.array([[1, 0]]), (TWO, TWO))
    np.testing.assert_allclose(score(found, row), [np.log([9 / 20, 1 / 16])], rtol=1e-15)
    assert found.n_free == 4


def test_a_class_that_never_showed_a_column_borrows_from_all() -> None:
    block = CodedBlock(np.array([[1], [1], [0], [-1], [-1]]), (TWO,))
    family = Bernoulli(estimation="mle")
    total = family.accumulator("binary", 1)
    total.add(block, CODES, NO_WEIGHTS, 2)
    theta = family.estimate(total.statistic()).theta[:, 0, 1]
    np.testing.assert_allclose(theta, [2 / 3, 2 / 3], rtol=1e-15)
    gaps = RealBlock(np.array([[1.0], [3.0], [5.0], [np.nan], [np.nan]]))
    for estimation in ("mle", "map", "bayes"):
        family = Gaussian(estimation)
        total = family.accumulator("real", 1)
        total.add(gaps, CODES, NO_WEIGHTS, 2)
        mean = getattr(family.estimate(total.statistic()), "mean", None)
        if mean is not None:
            np.testing.assert_array_equal(mean, [[3.0], [3.0]])


# -- words


def words(rows: list[list[int]]) -> SparseBlock:
    dense = np.array(rows, np.float64)
    indptr = np.concatenate([[0], np.cumsum((dense > 0).sum(axis=1))])
    indices = np.nonzero(dense)[1]
    vocabulary = Vocabulary(("be", "or", "to"))
    return SparseBlock(dense[dense > 0], indices, indptr, vocabulary, np.ones(len(dense), np.bool_))


TEXTS = words([[2, 0, 1], [0, 1, 0], [0, 0, 0], [0, 0, 3], [1, 0, 1]])


def test_words_of_a_multinomial() -> None:
    found = estimated(Multinomial(alpha=2.0), TEXTS, "events")
    theta = np.array([[4, 3, 3], [3, 2, 6]]) / np.array([[10], [11]])
    np.testing.assert_allclose(found.theta, theta, rtol=1e-15)
    expected = np.array([2, 0, 1]) @ np.log(theta).T
    np.testing.assert_allclose(score(found, TEXTS)[0], expected, rtol=1e-15)


# -- options


def test_families_are_found_by_name() -> None:
    assert family_named("gaussian", ddof=1, alpha=3.0) == Gaussian(ddof=1)
    with pytest.raises(
        ParameterError, match="family 'cauchy' is not known; choose one of bernoulli, cat"
    ):
        family_named("cauchy")


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "complement"])
def test_a_text_is_described_by_the_words_that_divide_the_classes(family: str) -> None:
    notes, kinds = ["win win cash", "cash now", "see you", "you and me and now"], list("sshh")
    model = NaiveBayes.textbook(families={"note": family}).fit({"note": notes}, kinds)
    (parameters,) = model.model_.parameters
    found = parameters.describe(0)
    assert set(found) == {"win", "cash", "now", "see", "you", "and", "me"}
    (first, *_, last) = found
    assert first in {"win", "cash", "you", "and"}
    assert last == "now"
    assert all(len(values) == 2 for values in found.values())


def test_numbers_of_parameters_are_counted() -> None:
    rng = np.random.default_rng(0)
    y, counts = np.arange(60) % 3, rng.poisson(2.0, (60, 4))
    poisson = NaiveBayes.textbook(families="poisson", estimation="mle").fit(counts, y)
    assert poisson.n_parameters_ == 3 * 4 + 2
    rows = {"a": list("pq" * 30), "b": list("uvw" * 20)}
    pairs = AODE(calibration="none").fit(rows, y)
    parents = (3 * 2 - 1) + (3 * 3 - 1), 3 * 2 * 2 + 3 * 3 * 1  # P(c, x_i), P(x_j | c, x_i)
    single = NaiveBayes.textbook().fit(rows, y).n_parameters_
    assert pairs.n_parameters_ == sum(parents) + single


def test_densities_of_some_columns_and_students_of_others_draw_rows() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(300) % 2
    x = rng.normal(size=(300, 140)) + y[:, None] * (np.arange(140) < 5)
    model = NaiveBayes(calibration="none").fit(x, y)
    (parameters,) = model.model_.parameters
    assert 0 < sum(choice.shape == "" for choice in parameters.choices) < 140
    drawn, labels = model.sample(2_000, random_state=0)
    values = np.column_stack(list(drawn.values()))
    gap = values[labels == 1].mean(axis=0) - values[labels == 0].mean(axis=0)
    assert np.abs(gap[:5] - 1).max() < 0.35
    assert np.abs(gap[5:]).max() < 0.5
    assert model.n_parameters_ > 2 * 2 * 140
