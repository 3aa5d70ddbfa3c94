"""Gaussians of several columns together: SciPy, scikit-learn, mpmath, and what must not matter."""

from itertools import product
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import covariance
from tests.laws.comparing import frozen

import suffice
from suffice.errors import ParameterError, SufficeWarning
from suffice.families import Gaussian, MultivariateGaussian
from suffice.families.family import Family, Parameters
from suffice.sums.batch import NO_WEIGHTS
from suffice.sums.block import BadCell, RealBlock

ESTIMATIONS = ("mle", "map", "bayes")
NAMES = [f"x{j}" for j in range(9)]


def rows(n: int, d: int, k: int = 2, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns, and classes in turn."""
    rng = np.random.default_rng([seed, n, d])
    codes = np.resize(np.arange(k), n)
    x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return x + rng.normal(size=(k, d))[codes], codes


X, CODES = rows(40, 3)


def statistic(
    family: Family, x: np.ndarray, codes: Any, k: int = 2, weights: np.ndarray = NO_WEIGHTS
) -> Any:
    total = family.accumulator("real", x.shape[1])
    total.add(RealBlock(x), np.asarray(codes, np.intp), weights, k)
    return total.statistic()


def estimated(family: Family, x: np.ndarray = X, codes: Any = CODES, k: int = 2) -> Any:
    return family.estimate(statistic(family, x, codes, k))


def score(parameters: Parameters, x: np.ndarray, k: int = 2) -> np.ndarray:
    out = np.zeros((len(x), k))
    parameters.add_log_likelihood(RealBlock(x), out)
    return out


def posterior(scores: np.ndarray) -> np.ndarray:
    p = np.exp(scores - scores.max(axis=1, keepdims=True))
    return p / p.sum(axis=1, keepdims=True)


def scatter(x: np.ndarray) -> np.ndarray:
    return np.atleast_2d(np.cov(x.T, ddof=0)) * len(x)


# -- maximum likelihood


@pytest.mark.parametrize("ddof", [0, 1])
@pytest.mark.parametrize("pooling", [0, 1])
def test_maximum_likelihood(ddof: int, pooling: int) -> None:
    x, codes = X[3:], CODES[3:]
    found = estimated(MultivariateGaussian("mle", pooling=pooling, ddof=ddof), x, codes)
    own = [x[codes == c] for c in range(2)]
    all_scatter, all_rows = sum(map(scatter, own)), len(x) - 2 * ddof
    for c, part in enumerate(own):
        assert_allclose(found.mean[c], part.mean(axis=0), rtol=1e-13)
        sigma = all_scatter / all_rows if pooling else scatter(part) / (len(part) - ddof)
        of_c = found.covariance[0 if pooling == 1 else c]
        assert_allclose(of_c, sigma, rtol=1e-11)
        judge = stats.multivariate_normal(part.mean(axis=0), sigma)
        assert_allclose(score(found, x)[:, c], judge.logpdf(x), rtol=1e-10)
    assert found.n_free == 2 * 3 + (6 if pooling == 1 else 2 * 6)


def test_shrinkage() -> None:
    sigma = scatter(X) / len(X)
    one = CODES * 0
    for shrinkage, truth in (
        (0.25, 0.75 * sigma + 0.25 * np.diag(np.diag(sigma))),
        (1.0, np.diag(np.diag(sigma))),
    ):
        for pooling in (0, 1):
            family = MultivariateGaussian("mle", pooling=pooling, shrinkage=shrinkage)
            found = estimated(family, X, one, 1)
            assert_allclose(found.covariance[0], truth, rtol=1e-13, atol=1e-300)
            assert found.n_free == 3 + 6


@pytest.mark.parametrize("pooling", [0, 1])
@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(("offset", "decades"), [(0.0, 3), (1e8, 0)])
def test_shrinkage_of_ledoit_and_wolf(pooling: int, k: int, offset: float, decades: int) -> None:
    for n, d in ((9, 20), (60, 4)):
        x, codes = rows(n, d, k)
        units = 7 * 10.0 ** np.linspace(-decades, decades, d)
        family = MultivariateGaussian("mle", pooling=pooling, shrinkage="ledoit-wolf")
        found = estimated(family, x * units + offset, codes, k)
        own = [x[codes == c] - x[codes == c].mean(axis=0) for c in range(k)]
        parts = [np.concatenate(own)] if pooling else own
        for m, part in enumerate(parts):
            sd = part.std(axis=0)
            theirs, share = covariance.ledoit_wolf(part / sd, assume_centered=True)
            assert 0 < share < 1
            found_r = found.covariance[m] / np.outer(sd * units, sd * units)
            assert_allclose(found_r, theirs, rtol=0, atol=1e-9 + offset * 1e-15)
            if not offset:
                assert_allclose(found_r, theirs, rtol=1e-8)


# -- posteriors


def test_mode_is_the_highest_point_of_the_posterior() -> None:
    x, codes = X[:9], CODES[:9]
    d, a0, kappa0 = 3, 1.5, 2.0
    m0, psi0 = x.mean(axis=0), 2 * a0 * np.diag(x.var(axis=0))
    nu0 = 2 * a0 + d - 1

    def log_posterior(means: np.ndarray, sigmas: list[np.ndarray]) -> float:
        total = sum(stats.invwishart.logpdf(sigma, nu0, psi0) for sigma in sigmas)
        for c, mean in enumerate(means):
            sigma = sigmas[c % len(sigmas)]
            total += stats.multivariate_normal(mean, sigma).logpdf(x[codes == c]).sum()
            total += stats.multivariate_normal(m0, sigma / kappa0).logpdf(mean)
        return float(total)

    rng = np.random.default_rng(3)
    for pooling in (0, 1):
        family = MultivariateGaussian("map", pooling=pooling, a0=a0, kappa0=kappa0)
        found = estimated(family, x, codes)
        top = log_posterior(found.mean, list(found.covariance))
        for _ in range(15):
            step = rng.normal(size=found.covariance.shape) * 1e-3 * np.diag(psi0).min()
            sigmas = found.covariance + step + step.transpose(0, 2, 1)
            assert log_posterior(found.mean, list(sigmas)) < top
            means = found.mean + 1e-3 * rng.normal(size=found.mean.shape)
            assert log_posterior(means, list(found.covariance)) < top


@pytest.mark.parametrize("pooling", [0, 1])
def test_posterior_predictive_is_the_ratio_of_evidences(pooling: int) -> None:
    x, codes = X[:9, :2], CODES[:9]
    a0, kappa0, d = 1.5, 2.0, 2
    family = MultivariateGaussian(pooling=pooling, a0=a0, kappa0=kappa0)
    found = estimated(family, x, codes)
    m0 = mpmath.matrix(x.mean(axis=0).tolist())
    psi0 = mpmath.diag((2 * a0 * x.var(axis=0)).tolist())
    nu0 = mpmath.mpf(2 * a0 + d - 1)

    def log_gamma(a: mpmath.mpf) -> mpmath.mpf:
        return mpmath.fsum(mpmath.loggamma(a - mpmath.mpf(i) / 2) for i in range(d))

    def log_evidence(groups: list[list[list[float]]]) -> mpmath.mpf:
        """Murphy (2007), eq. 266, of groups with a mean each and one covariance."""
        psi, nu, rest = psi0.copy(), nu0, mpmath.mpf(0)
        for group in groups:
            vectors = [mpmath.matrix(v) for v in group]
            n = len(vectors)
            mean = sum(vectors, mpmath.zeros(d, 1)) / n
            for v in vectors:
                psi += (v - mean) * (v - mean).T
            psi += kappa0 * n / (kappa0 + n) * (mean - m0) * (mean - m0).T
            nu += n
            rest += d * mpmath.log(kappa0 / (kappa0 + n)) / 2 - n * d * mpmath.log(mpmath.pi) / 2
        rest += log_gamma(nu / 2) - log_gamma(nu0 / 2)
        return rest + (nu0 * mpmath.log(mpmath.det(psi0)) - nu * mpmath.log(mpmath.det(psi))) / 2

    with mpmath.workdps(40):
        groups = [x[codes == c].tolist() for c in range(2)]
        for row in ([0.0, 0.0], [3.0, -2.0], [40.0, 1e3]):
            for c in range(2):
                used = groups if pooling else [groups[c]]
                place = c if pooling else 0
                more = [g + [row] * (i == place) for i, g in enumerate(used)]
                truth = float(log_evidence(more) - log_evidence(used))
                assert score(found, np.array([row]))[0, c] == pytest.approx(truth, rel=1e-11)


def test_with_fewer_rows_than_columns_a_posterior_uses_all_columns() -> None:
    x, codes = rows(6, 9)
    asked = np.random.default_rng(0).normal(size=(5, 9))
    for pooling in (0, 1):
        found = estimated(MultivariateGaussian(pooling=pooling), x, codes)
        assert not list(found.remarks(NAMES, "ab"))
        a0, n, d = 1.0, 6, 9
        m0, psi0 = x.mean(axis=0), 2 * a0 * np.diag(x.var(axis=0))
        for c in range(2):
            used = range(2) if pooling else [c]
            psi, nu = psi0.copy(), 2 * a0 + d - 1
            for i in used:
                own = x[codes == i]
                shift = own.mean(axis=0) - m0
                psi += scatter(own) + len(own) / (1 + len(own)) * np.outer(shift, shift)
                nu += len(own)
            kappa = 1 + n / 2
            mean = (m0 + x[codes == c].sum(axis=0)) / kappa
            dof = nu - d + 1
            judge = stats.multivariate_t(mean, psi * (kappa + 1) / (kappa * dof), dof)
            assert_allclose(score(found, asked)[:, c], judge.logpdf(asked), rtol=1e-10)


# -- Gaussians column by column


@pytest.mark.parametrize(("estimation", "ddof"), [("mle", 0), ("mle", 1), ("map", 0), ("bayes", 1)])
@pytest.mark.parametrize("pooling", [0, 1])
@pytest.mark.parametrize("codes", [[0, 1] * 4, [0] * 7 + [1], [0, 2] * 4, [0] * 7 + [2]], ids=str)
def test_one_column_is_the_gaussian(
    estimation: Any, pooling: int, ddof: int, codes: list[int]
) -> None:
    x, k = X[:8, :1] + 10, max(codes) + 1
    asked = np.linspace(5, 15, 9)[:, None]
    family = Gaussian(estimation, ddof=ddof, shared=bool(pooling), kappa0=1.0, b0=float(x.var()))
    alone = estimated(family, x, codes, k)
    found = estimated(MultivariateGaussian(estimation, pooling=pooling, ddof=ddof), x, codes, k)
    assert_allclose(score(found, asked, k), score(alone, asked, k), rtol=1e-10)
    assert found.describe(0).keys() == alone.describe(0).keys()
    for name, values in alone.describe(0).items():
        if name != "scale":  # of which the multivariate one has a part in every class
            assert_allclose(found.describe(0)[name], values, rtol=1e-10)
    if ddof == 0:
        assert found.n_free == alone.n_free


# -- what must not matter

OPTIONS: list[dict[str, Any]] = [
    *({"estimation": e, "pooling": p} for e in ESTIMATIONS for p in (0, 1)),
    {"estimation": "mle", "ddof": 1},
    {"estimation": "mle", "shrinkage": 0.2},
    {"estimation": "mle", "shrinkage": 0.2, "pooling": 1},
]


def tables() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows, codes, and rows to score; the same with gaps; fewer rows than columns."""
    x, codes = rows(60, 4)
    asked, _ = rows(20, 4, seed=1)
    gaps = np.random.default_rng(0).random(x.shape) < 0.2
    few, few_codes = rows(5, 8)
    return {
        "complete": (x, codes, asked),
        "gaps at predict": (x, codes, np.where(gaps[:20], np.nan, asked)),
        "gaps": (np.where(gaps, np.nan, x), codes, np.where(gaps[:20], np.nan, asked)),
        "few": (few, few_codes, rows(20, 8, seed=1)[0]),
    }


def regular(name: str, options: dict[str, Any]) -> bool:
    """Plain maximum likelihood leaves out columns that few rows determine, the last of them."""
    plain = options["estimation"] == "mle" and "shrinkage" not in options
    return not (name == "few" and plain)


CASES = [
    pytest.param(name, options, id=f"{name}-{MultivariateGaussian(**options)}")
    for name in tables()
    for options in (OPTIONS if name == "complete" else OPTIONS[::4])
    if regular(name, options)
]


@pytest.mark.parametrize(("name", "options"), CASES)
def test_the_order_the_units_and_the_origin_of_columns_do_not_matter(
    name: str, options: dict[str, Any]
) -> None:
    x, codes, asked = tables()[name]
    family = MultivariateGaussian(**options)
    truth = posterior(score(estimated(family, x, codes), asked))
    d = x.shape[1]
    tolerance = 1e-7 if name == "gaps" else 1e-9  # the iterations come to rest before the bits do
    order = np.random.default_rng(0).permutation(d)
    found = score(estimated(family, x[:, order], codes), asked[:, order])
    assert_allclose(posterior(found), truth, rtol=tolerance, atol=tolerance)
    shift = np.linspace(-1e3, 1e3, d)
    found = score(estimated(family, x + shift, codes), asked + shift)
    assert_allclose(posterior(found), truth, rtol=tolerance, atol=tolerance)
    units = np.resize([1e-8, 1.0, 1e8, -3.0], d)
    found = score(estimated(family, x * units, codes), asked * units)
    assert_allclose(posterior(found), truth, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("pooling", [0, 1])
def test_linear_maps_of_the_columns_do_not_matter_to_maximum_likelihood(pooling: int) -> None:
    a = np.random.default_rng(7).normal(size=(3, 3)) + np.diag([1e3, 1.0, 1e-3])
    family = MultivariateGaussian("mle", pooling=pooling, ddof=1)
    truth = posterior(score(estimated(family), X))
    found = posterior(score(estimated(family, X @ a), X @ a))
    assert_allclose(found, truth, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("gap", [1e-2, 1e-8])
def test_nearly_equal_columns_are_told_apart_by_the_same_bits_in_any_order(gap: float) -> None:
    rng = np.random.default_rng(4)
    x = np.concatenate([X, X[:, :2] + gap * rng.normal(size=(40, 2))], axis=1)
    for pooling in (0, 1):
        family = MultivariateGaussian("mle", pooling=pooling)
        found = estimated(family, x)
        assert not list(found.remarks(NAMES, "ab"))
        for _ in range(5):
            order = rng.permutation(40)
            assert frozen(estimated(family, x[order], CODES[order])) == frozen(found)
        means = [x[c == CODES].mean(axis=0) for c in range(2)]
        with mpmath.workdps(60):
            own = [x[c == CODES] for c in range(2)]
            truth = exact_score(own[0], own if pooling else own[:1], x[0])
        assert score(found, x[:1])[0, 0] == pytest.approx(truth, rel=1e-13 / gap)
        assert_allclose(found.mean, means, rtol=1e-12)


def exact_score(own: np.ndarray, groups: list[np.ndarray], row: np.ndarray) -> float:
    """Log N(row; mean of its class, covariance within the groups), with mpmath."""
    d = len(row)
    sigma = mpmath.zeros(d, d)
    for group in groups:
        vectors = [mpmath.matrix(v) for v in group.tolist()]
        mean = sum(vectors, mpmath.zeros(d, 1)) / len(vectors)
        for v in vectors:
            sigma += (v - mean) * (v - mean).T / sum(map(len, groups))
    vectors = [mpmath.matrix(v) for v in own.tolist()]
    v = mpmath.matrix(row.tolist()) - sum(vectors, mpmath.zeros(d, 1)) / len(vectors)
    distance = (v.T * mpmath.lu_solve(sigma, v))[0]
    return float(-(distance + mpmath.log(mpmath.det(2 * mpmath.pi * sigma))) / 2)


# -- missing cells


@pytest.mark.parametrize("estimation", ESTIMATIONS)
@pytest.mark.parametrize("pooling", [0, 1])
def test_a_row_is_scored_by_the_columns_it_shows(estimation: Any, pooling: int) -> None:
    found = estimated(MultivariateGaussian(estimation, pooling=pooling))
    factored = found.factored
    for pattern in product([False, True], repeat=3):
        shown = np.flatnonzero(pattern)
        asked = np.where(pattern, X, np.nan)
        got = score(found, asked)
        for c in range(2):
            sigma = factored.covariance[c * (1 - pooling)][np.ix_(shown, shown)]
            mean, x = factored.mean[c, shown], X[:, shown]
            if not len(shown):
                truth = np.zeros(40)
            elif estimation == "bayes":
                judge = stats.multivariate_t(mean, sigma * found.factor[c], found.dof[c])
                truth = judge.logpdf(x)
            else:
                truth = stats.multivariate_normal(mean, sigma).logpdf(x)
            assert_allclose(got[:, c], truth, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("pooling", [0, 1])
def test_estimates_from_rows_with_gaps_are_the_most_likely(pooling: int) -> None:
    x = X.copy()
    x[np.random.default_rng(2).random(x.shape) < 0.25] = np.nan
    found = estimated(MultivariateGaussian("mle", pooling=pooling), x)

    def log_likelihood(means: np.ndarray, sigmas: np.ndarray) -> float:
        total = 0.0
        for row, c in zip(x, CODES, strict=True):
            shown = ~np.isnan(row)
            if shown.any():
                sigma = sigmas[c * (1 - pooling)][np.ix_(shown, shown)]
                judge = stats.multivariate_normal(means[c, shown], sigma)
                total += float(judge.logpdf(row[shown]))
        return total

    top = log_likelihood(found.mean, found.covariance)
    assert score(found, x)[np.arange(40), CODES].sum() == pytest.approx(top, rel=1e-11)
    rng = np.random.default_rng(0)
    for _ in range(8):
        step = rng.normal(size=found.covariance.shape) * 1e-3
        sigmas = found.covariance + step + step.transpose(0, 2, 1)
        assert log_likelihood(found.mean, sigmas) < top
        means = found.mean + 1e-3 * rng.normal(size=found.mean.shape)
        assert log_likelihood(means, found.covariance) < top


# -- singular covariances


def singular_tables() -> dict[str, tuple[np.ndarray, Any]]:
    z, codes = rows(12, 4)
    within = z.copy()
    within[codes == 1, 2] = within[codes == 1, 0]
    constant = z.copy()
    constant[codes == 1, 2] = 0.1
    few, few_codes = rows(5, 9)
    return {
        "a duplicate": (np.c_[z, z[:, 0]], codes),
        "a constant": (np.c_[z, np.full(12, 0.1)], codes),
        "a sum": (np.c_[z, z[:, 0] - 2 * z[:, 1]], codes),
        "a sum far from zero": (np.c_[z + 1e8, z[:, 0] + z[:, 1] + 1e8], codes),
        "a duplicate within a class": (within, codes),
        "a constant within a class": (constant, codes),
        "a constant within every class": (np.c_[z, codes * 3.0], codes),
        "zeros and ones": ((z > 0).astype(np.float64)[:, [0, 1, 2, 3, 0]], codes),
        "few rows": (few, few_codes),
        "a class of one row": (z, [0] * 11 + [1]),
        "one row": (z[:1], [0]),
        "two rows": (z[:2], [0, 1]),
        "no rows": (z[:0], []),
        "equal rows": (np.ones((12, 4)), codes),
        "tiny numbers": (z * 1e-140, codes),
        "huge numbers": (np.clip(z * 1e149, -1e150, 1e150), codes),
        "columns of all sizes": (z * [1e-140, 1e140, 1.0, 1e-8], codes),
        "nearly a duplicate": (np.c_[z, z[:, 0] + 1e-9 * z[:, 1] ** 2], codes),
    }


@pytest.mark.parametrize("name", singular_tables())
@pytest.mark.parametrize("floor", [0.0, 1e-9])
def test_there_is_always_an_answer_and_the_order_of_rows_is_nothing(
    name: str, floor: float
) -> None:
    x, codes = singular_tables()[name]
    codes = np.asarray(codes, np.intp)
    d = x.shape[1]
    rng = np.random.default_rng(0)
    far = np.array([np.full(d, 1e150), np.full(d, -1e150)])
    asked = np.concatenate([x, x + 1, np.where(rng.random(x.shape) < 0.4, np.nan, x)])
    for options in OPTIONS[1::4] if floor else OPTIONS[::4]:
        family = MultivariateGaussian(**options, variance_floor=floor)
        found = estimated(family, x, codes)
        assert np.isfinite(score(found, x)).all(), options
        assert not np.isnan(score(found, np.concatenate([asked, far]))).any(), options
        assert np.isfinite(found.sample(np.array([0, 1]), rng)).all(), options
        for j in range(d):
            assert not np.isnan(score(found.column(j), asked[:, [j]])).any(), options
        form = found.form()
        assert form is None or all(np.isfinite(part).all() for part in form[1:]), options
        order = rng.permutation(len(x))
        shuffled = estimated(family, x[order], codes[order])
        assert frozen(shuffled) == frozen(found), options


def remarks(x: np.ndarray, codes: Any = CODES, k: int = 2, **options: Any) -> list[str]:
    found = estimated(MultivariateGaussian(**options), x, codes, k)
    return list(found.remarks(NAMES, ["ham", "spam", "eggs"][:k]))


def test_columns_that_say_nothing_are_named() -> None:
    for options in OPTIONS[:7]:
        assert remarks(X, **options) == []
        assert remarks(np.c_[X, X[:, 1]], **options) == [
            "column 'x3' is 1 × 'x1' plus a constant, up to 2e-12 of its standard deviation; "
            "it is left out"
        ]
        assert remarks(np.c_[X, 2 * X[:, 0] - 0.5 * X[:, 2] + 7], **options) == [
            "column 'x3' is 2 × 'x0' + -0.5 × 'x2' plus a constant, up to 2e-12 of its standard "
            "deviation; it is left out"
        ]
        assert remarks(np.c_[X[:, 0], np.ones(40), X[:, 1:]], **options) == [
            "column 'x1' has one value only; it is left out"
        ]


def test_classes_without_spread_are_named() -> None:
    x, codes = singular_tables()["a duplicate within a class"]
    advice = (
        "; a variance that would be 0 is kept at a small fraction of that over "
        "all classes; more rows, shrinkage, a shared covariance or estimation='bayes' would help"
    )
    first = "within class 'spam', the other columns determine 'x2'"
    assert remarks(x, codes, estimation="mle") == [first + advice]
    assert remarks(x, codes, estimation="mle", pooling=1) == []
    assert remarks(x, codes, estimation="mle", shrinkage=0.1) == []
    assert remarks(x, codes) == []
    x, codes = singular_tables()["a constant within every class"]
    assert remarks(x, codes, estimation="mle", pooling=1) == [
        "within the classes, the other columns determine 'x4'" + advice
    ]


@settings(max_examples=10)
@given(scale=st.floats(1e-90, 1e90), pooling=st.sampled_from([0, 1]), gaps=st.booleans())
def test_the_unit_of_weights_changes_neither_floor_nor_prior_variance(
    scale: float, pooling: int, gaps: bool
) -> None:
    x, weights = X.copy(), 1.0 + np.arange(len(X)) % 4
    x[::5, 1] = np.nan if gaps else 0.0

    def covariance(family: Family, weights: np.ndarray) -> np.ndarray:
        return family.estimate(statistic(family, x, CODES, weights=weights)).covariance

    floored = MultivariateGaussian("mle", pooling=pooling, variance_floor=0.6)
    assert_allclose(
        covariance(floored, scale * weights), covariance(floored, weights), rtol=1e-6, atol=1e-7
    )
    # A prior that outweighs all rows: its variances are those of the cells over all classes.
    prior = MultivariateGaussian("map", pooling=pooling, a0=1e12 * max(scale, 1.0))
    shown = ~np.isnan(x)
    for j, variance in enumerate(np.diagonal(covariance(prior, scale * weights)[0])):
        w, cells = weights[shown[:, j]], x[shown[:, j], j]
        assert variance == pytest.approx(np.cov(cells, aweights=w, ddof=0), rel=1e-9)


# -- samples and forms


@pytest.mark.parametrize("pooling", [0, 1])
def test_a_sample_has_the_means_and_covariances_asked_for(pooling: int) -> None:
    units = np.array([1e-8, 1.0, 1e8])
    codes = np.repeat([0, 1], 20_000)
    for estimation in ESTIMATIONS:
        family = MultivariateGaussian(estimation, pooling=pooling)
        found = estimated(family, X * units)
        drawn = np.stack(found.sample(codes, np.random.default_rng(1)), axis=1) / units
        for c in range(2):
            sigma = found.factored.covariance[c * (1 - pooling)] / np.outer(units, units)
            if estimation == "bayes":
                sigma = sigma * found.factor[c] * found.dof[c] / (found.dof[c] - 2)
            own = drawn[codes == c]
            sd = np.sqrt(np.diag(sigma))
            far = np.abs(own.mean(axis=0) - found.factored.mean[c] / units) / sd
            assert (far < 5 / np.sqrt(20_000)).all()
            error = np.abs(np.cov(own.T) - sigma) / np.outer(sd, sd)
            assert (error < 0.06).all()


# -- options and errors


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pooling": 0.5}, r"^pooling=0\.5; pooling is 0 or 1\.$"),
        ({"shrinkage": 2}, r"^shrinkage=2; "),
        ({"shrinkage": "ledoit"}, r"^shrinkage='ledoit'; "),
        ({"kappa0": 0}, r"^kappa0=0; "),
        ({"a0": np.inf}, r"^a0=inf; "),
        ({"ddof": -1}, r"^ddof=-1; "),
        ({"estimation": "best"}, r"^estimation='best'; estimation is one of "),
        ({"shrinkage": 0.5}, r"use estimation='mle', or leave shrinkage out\.$"),
    ],
    ids=str,
)
def test_options_outside_their_rules(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        MultivariateGaussian(**options)


@pytest.mark.parametrize("row", [63, 4_100])
def test_a_number_too_large_is_named(row: int) -> None:
    found = estimated(MultivariateGaussian("mle"))
    for gap in (False, True):
        x = np.zeros((5_000, 3))
        if gap:
            x[::2, 0] = np.nan
        x[row, 1] = np.inf
        with pytest.raises(BadCell) as caught:
            score(found, x)
        assert (caught.value.row, caught.value.column) == (row, 1)


# -- in an estimator


def _of_unequal_precision(top: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows with a column that the others determine exactly, labels, and 1/variance weights."""
    rng = np.random.default_rng(0)
    scale = 10 ** rng.uniform(0, top, 600)
    z = np.round(rng.normal(size=(600, 2)) * scale[:, None] * 2**20) / 2**20
    return np.column_stack([z, z @ [1, 2]]), np.arange(600) % 2, 1 / scale**2


@pytest.mark.parametrize("top", [3, 8])
def test_light_rows_of_large_values_take_no_digits_from_the_others(top: int) -> None:
    x, y, weights = _of_unequal_precision(top)
    with pytest.warns(SufficeWarning, match="x2"):
        model = suffice.LinearDiscriminantAnalysis().fit(x, y, sample_weight=weights)
    order = np.random.default_rng(1).permutation(600)
    with pytest.warns(SufficeWarning, match="x2"):
        other = suffice.LinearDiscriminantAnalysis().fit(
            x[order], y[order], sample_weight=weights[order]
        )
    np.testing.assert_array_equal(model.covariance_, other.covariance_)


@pytest.mark.filterwarnings("ignore:.* without a label:suffice.errors.SufficeWarning")
def test_a_heavy_row_without_a_label_takes_no_digits_either() -> None:
    x, y, weights = _of_unequal_precision(3)
    more = np.vstack([x, np.ones((1, 3))]), np.append(y.astype(float), np.nan)
    with pytest.warns(SufficeWarning, match="x2"):
        model = suffice.LinearDiscriminantAnalysis().fit(x, y, sample_weight=weights)
    with pytest.warns(SufficeWarning, match="x2"):
        other = suffice.LinearDiscriminantAnalysis().fit(
            *more, sample_weight=np.append(weights, 1e12)
        )
    np.testing.assert_array_equal(model.covariance_, other.covariance_)
