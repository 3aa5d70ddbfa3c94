"""The Bayes-optimal classifier against exact sums, mpmath, SciPy and learnt classifiers."""

import itertools
import re
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from pandas import DataFrame
from scipy import stats
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone, is_classifier
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as TheirQuadratic
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer, log_loss
from sklearn.naive_bayes import GaussianNB as TheirGaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from suffice import BayesClassifier
from suffice.errors import DataError, ParameterError, SufficeWarning


def contains(found, truth):
    """Return whether the uncertainty holds: 4 standard errors, or that of rounding."""
    if found.method == "simulation":
        return abs(found.value - truth) <= 4 * found.uncertainty
    return abs(found.value - truth) <= found.uncertainty + 1e-11


def mp_error(densities, priors, cuts):
    """∫ min_c-complement of the joint by mpmath, cut where it has kinks and jumps."""
    with mpmath.workdps(30):

        def wrong(x):
            joint = [prior * density(x) for prior, density in zip(priors, densities, strict=True)]
            return mpmath.fsum(joint) - max(joint)

        return float(mpmath.quad(wrong, cuts, maxdegree=12))


def mp_normal(mean, sd):
    return lambda x: mpmath.npdf(x, mean, sd)


# -- one column


@pytest.mark.parametrize(("delta", "share"), [(0.5, 0.5), (0.5, 0.01), (2.0, 0.9), (7.0, 0.01)])
def test_two_normals(delta, share):
    """π₁ Φ(−Δ/2 + log(π₂/π₁)/Δ) + π₂ Φ(−Δ/2 − log(π₂/π₁)/Δ)."""
    densities = [stats.norm(1, 2), stats.norm(1 + 2 * delta, 2)]
    best = BayesClassifier(densities, [share, 1 - share])
    shift = np.log((1 - share) / share) / delta
    truth = [share, 1 - share] @ stats.norm.cdf([-delta / 2 + shift, -delta / 2 - shift])
    assert_allclose(best.bayes_error().value, truth, rtol=1e-9, atol=1e-14)
    simulated = best.bayes_error("simulation", n_samples=20_000, random_state=0)
    assert contains(simulated, truth)
    assert 0 < simulated.uncertainty < 0.01


# -- two columns


@pytest.mark.parametrize(("correlation", "share"), [(0.0, 0.5), (0.5, 0.9), (-0.9, 0.9)])
def test_two_columns_of_normals_along_their_discriminant(correlation, share):
    covariance = np.array([[1.0, correlation], [correlation, 1.0]])
    gap = np.array([1.0, 2.0])
    delta = np.sqrt(gap @ np.linalg.solve(covariance, gap))
    truth = BayesClassifier([stats.norm(0, 1), stats.norm(delta, 1)], [share, 1 - share])
    pair = [stats.multivariate_normal(mean, covariance) for mean in ([0.0, 0.0], gap)]
    found = BayesClassifier(pair, [share, 1 - share]).bayes_error()
    assert found.method == "quadrature"
    assert abs(found.value - truth.bayes_error().value) < 1e-5


# -- discrete columns


def binomial(n, p):
    p = Fraction(p)
    return {x: Fraction(mpmath.binomial(n, x).__int__()) * p**x * (1 - p) ** (n - x)
            for x in range(n + 1)}  # fmt: skip


def exact_error(tables, priors):
    values = set(itertools.chain.from_iterable(tables))
    joint = [[p * t.get(x, 0) for p, t in zip(priors, tables, strict=True)] for x in values]
    return sum((sum(row) - max(row) for row in joint), Fraction(0))


@pytest.mark.parametrize("priors", [(0.5, 0.25, 0.25), (0.125, 0.125, 0.75)])
def test_binomials_in_fractions(priors):
    options = [(10, 0.25), (10, 0.5), (7, 0.875)]
    found = BayesClassifier([stats.binom(n, p) for n, p in options], priors).bayes_error()
    truth = float(exact_error([binomial(n, p) for n, p in options], list(map(Fraction, priors))))
    assert found.method == "sum"
    assert abs(found.value - truth) < 1e-14
    assert contains(found, truth)
    assert found.uncertainty < 1e-12


@pytest.mark.parametrize("rates", [(3, 5), (0.01, 2, 30), (100, 1000)])
def test_poisson_against_mpmath(rates):
    found = BayesClassifier([stats.poisson(rate) for rate in rates]).bayes_error()
    with mpmath.workdps(40):
        rows = [
            [mpmath.exp(x * mpmath.log(rate) - rate - mpmath.loggamma(x + 1)) for rate in rates]
            for x in range(1600)
        ]
        truth = float(mpmath.fsum(mpmath.fsum(row) - max(row) for row in rows) / len(rates))
    assert found.method == "sum"
    assert abs(found.value - truth) < 1e-12
    assert contains(found, truth)
    assert found.uncertainty < 1e-11


def test_lists_of_values_and_shifted_lattices():
    first = stats.rv_discrete(values=([0, 2, 7], [0.25, 0.25, 0.5]))
    second = stats.rv_discrete(values=([2, 7, 9], [0.5, 0.25, 0.25]))
    assert_allclose(BayesClassifier([first, second]).bayes_error().value, 0.25, rtol=1e-15)
    moved = BayesClassifier([first(loc=0.5), second(loc=0.5)]).bayes_error()
    assert moved.method == "sum"
    assert_allclose(moved.value, 0.25, rtol=1e-15)
    apart = BayesClassifier([stats.poisson(3), stats.poisson(3, loc=0.5)]).bayes_error()
    assert apart.value == 0.0
    two_sided = BayesClassifier([stats.dlaplace(0.5), stats.skellam(2, 3)]).bayes_error()
    x = np.arange(-200, 201)
    truth = np.minimum(stats.dlaplace.pmf(x, 0.5), stats.skellam.pmf(x, 2, 3)).sum() / 2
    assert abs(two_sided.value - truth) < 1e-13


# -- one continuous column


CONTINUOUS = {
    "two variances": (
        [stats.norm(0, 1), stats.norm(0.5, 3)],
        [0.5, 0.5],
        [mp_normal(0, 1), mp_normal(0.5, 3)],
        [-40, -2, -1, 0, 1, 2, 40],
    ),
    "three classes": (
        [stats.norm(-1, 1), stats.norm(0, 0.25), stats.norm(1, 1)],
        [0.25, 0.5, 0.25],
        [mp_normal(-1, 1), mp_normal(0, 0.25), mp_normal(1, 1)],
        [-12, -1, 0, 1, 12],
    ),
    "Laplace and normal": (
        [stats.laplace(0, 1), stats.norm(0, 1)],
        [0.3, 0.7],
        [lambda x: mpmath.exp(-abs(x)) / 2, mp_normal(0, 1)],
        [-80, -3, -1, 0, 1, 3, 80],
    ),
    "supports with gaps": (
        [stats.expon(0, 1), stats.expon(3, 0.5), stats.uniform(-5, 1)],
        [0.5, 0.25, 0.25],
        [
            lambda x: mpmath.exp(-x) if x >= 0 else mpmath.mpf(0),
            lambda x: 2 * mpmath.exp(-2 * (x - 3)) if x >= 3 else mpmath.mpf(0),
            lambda x: mpmath.mpf(1) if -5 <= x <= -4 else mpmath.mpf(0),
        ],
        [-5, -4, 0, 3, 4, 6, 80],
    ),
    "Cauchy": (
        [stats.cauchy(0), stats.cauchy(1)],
        [0.5, 0.5],
        [lambda x: 1 / mpmath.pi / (1 + x**2), lambda x: 1 / mpmath.pi / (1 + (x - 1) ** 2)],
        [-mpmath.inf, -1, 0.5, 2, mpmath.inf],
    ),
    "poles": (
        [stats.gamma(0.5), stats.expon(0, 0.125)],
        [0.5, 0.5],
        [lambda x: mpmath.exp(-x) / mpmath.sqrt(mpmath.pi * x), lambda x: 8 * mpmath.exp(-8 * x)],
        [0, 1e-3, 0.01, 0.1, 0.5, 1, 80],
    ),
}


def crossings(densities, priors, cuts):
    """Where the most probable of the classes changes, by mpmath between the points of a grid."""
    finite = [float(cut) for cut in cuts if abs(cut) < mpmath.inf]

    def joint(x):
        return [prior * density(x) for prior, density in zip(priors, densities, strict=True)]

    found = []
    for low, high in itertools.pairwise(finite):
        grid = np.linspace(low, high, 200)[1:-1]
        best = [int(np.argmax(joint(mpmath.mpf(x)))) for x in grid]
        for i in np.flatnonzero(np.diff(best)):

            def gap(x, a=best[i], b=best[i + 1]):
                return joint(x)[a] - joint(x)[b]

            bracket = (grid[i], grid[i + 1])
            found.append(mpmath.findroot(gap, bracket, solver="anderson", tol=1e-40))
    return found


@pytest.mark.parametrize("name", CONTINUOUS)
def test_one_continuous_column_against_mpmath(name):
    densities, priors, same, cuts = CONTINUOUS[name]
    found = BayesClassifier(densities, priors).bayes_error()
    with mpmath.workdps(30):
        kinks = [cut for cut in crossings(same, priors, cuts) if cut not in cuts]
    truth = mp_error(same, priors, sorted([*cuts, *kinks]))
    assert found.method == "quadrature"
    assert abs(found.value - truth) < 1e-10
    assert found.uncertainty < 1e-10


@pytest.mark.parametrize("location", [0.0, 1e6, 1e12])
def test_columns_far_from_zero_and_scales_far_apart(location):
    near = [stats.norm(location, 1.0), stats.norm(location + 2.0, 1.0)]
    found = BayesClassifier(near).bayes_error("quadrature")
    assert contains(found, stats.norm.cdf(-1))
    assert found.uncertainty < (1e-5 if location else 1e-10)
    apart = BayesClassifier([stats.norm(0, 1e-12), stats.norm(0, 1e12)]).bayes_error()
    assert 0 <= apart.value < 1e-14


# -- simulation


def test_every_way_of_giving_densities_can_be_sampled():
    pairs = {
        "t": [stats.multivariate_t([0, 0], df=4), stats.multivariate_t([2, 0], df=4)],
        "multinomial": [stats.multinomial(4, [0.2, 0.8]), stats.multinomial(4, [0.5, 0.5])],
        "mixed": [(stats.norm(), stats.poisson(2)), (stats.norm(1), stats.poisson(4))],
    }
    for name, pair in pairs.items():
        best = BayesClassifier(pair)
        rough = best.bayes_error(n_samples=5_000, random_state=0)
        assert rough.method == "simulation", name
        x, y = best.sample(20_000, 1)
        wrong = 1 - best.score(x, y)
        assert abs(wrong - rough.value) < 4 * np.sqrt(0.25 / 20_000) + 4 * rough.uncertainty, name


# -- no rule is better


def test_no_learnt_classifier_beats_it():
    best = BayesClassifier(
        {
            "a": stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]),
            "b": stats.multivariate_normal([1, -1], [[2, -0.5], [-0.5, 1]]),
            "c": stats.multivariate_normal([2, 1], [[0.5, 0], [0, 0.5]]),
        },
        priors={"a": 0.5, "c": 0.2, "b": 0.3},
    )
    x, y = best.sample(4_000, 0)
    new, truth = best.sample(40_000, 1)
    right = best.predict(new) == truth
    error = best.bayes_error(random_state=2)
    noise = 4 * np.sqrt(error.value / len(new)) + 4 * error.uncertainty
    assert abs((1 - right.mean()) - error.value) < noise
    assert best.score(new, truth) == right.mean()
    for rule in (
        LogisticRegression(),
        TheirQuadratic(),
        TheirGaussianNB(),
        KNeighborsClassifier(15),
        DecisionTreeClassifier(max_depth=6, random_state=0),
    ):
        theirs = rule.fit(x, y).predict(new) == truth
        gain = theirs.astype(float) - right
        assert gain.mean() < 3 * gain.std() / np.sqrt(len(new)), rule
    assert best.predict_proba(new).shape == (40_000, 3)
    codes = np.searchsorted(["a", "b", "c"], truth)
    surprise = -best.predict_log_proba(new)[np.arange(len(new)), codes].mean()
    assert_allclose(surprise, log_loss(truth, best.predict_proba(new)), rtol=1e-12)


# -- deciding


def test_posterior_against_scipy_and_mpmath():
    best = BayesClassifier([stats.norm(0, 1), stats.norm(3, 2)], [0.25, 0.75])
    x = np.array([-1.0, 0.0, 2.5])
    joint = np.array([0.25 * stats.norm.pdf(x), 0.75 * stats.norm.pdf(x, 3, 2)]).T
    assert_allclose(np.exp(best.predict_joint_log_proba(x)), joint, rtol=1e-14)
    assert_allclose(best.predict_proba(x), joint / joint.sum(axis=1, keepdims=True), rtol=1e-14)
    assert_allclose(np.exp(best.predict_log_proba(x)), best.predict_proba(x), rtol=1e-14)
    assert_allclose(best.predict_proba(x[:, None]), best.predict_proba(x), rtol=0)


def test_a_posterior_that_rounds_to_certainty_still_decides():
    # P(1 | x) is below the smallest double; the log joint is not.
    best = BayesClassifier([stats.norm(0, 1), stats.norm(100, 1)])
    assert best.predict([49.0, 51.0, -1e6, 1e6]).tolist() == [0, 1, 0, 1]
    assert_allclose(best.predict_log_proba([-100.0])[0, 1], -15000.0, rtol=1e-12)


# -- cells, poles, and rows that no class could have produced


def test_missing_cells_of_independent_columns_are_left_out():
    columns = {"a": (stats.norm(0, 1), stats.poisson(2)), "b": (stats.norm(2, 1), stats.poisson(5))}
    best = BayesClassifier(columns, {"a": 0.25, "b": 0.75})
    found = best.predict_proba([[np.nan, np.nan], [1.5, np.nan], [np.nan, 3]])
    first = BayesClassifier([stats.norm(0, 1), stats.norm(2, 1)], [0.25, 0.75])
    second = BayesClassifier([stats.poisson(2), stats.poisson(5)], [0.25, 0.75])
    assert_allclose(found[0], [0.25, 0.75], rtol=1e-15)
    assert_allclose(found[1], first.predict_proba([1.5])[0], rtol=1e-15)
    assert_allclose(found[2], second.predict_proba([3])[0], rtol=1e-15)


@pytest.mark.parametrize("container", [csr_array, coo_array, DataFrame])
def test_rows_of_other_containers_are_those_of_an_array(container):
    x = np.array([[0.0, 1.5], [0.0, 0.0], [-2.0, 0.0]])
    best = BayesClassifier([(stats.norm(0), stats.norm(0)), (stats.norm(1), stats.norm(2))])
    assert_array_equal(best.predict_log_proba(container(x)), best.predict_log_proba(x))


def test_rows_impossible_under_every_class_get_the_prior():
    best = BayesClassifier([stats.expon(), stats.expon(2)], [0.25, 0.75])
    for answer in (best.predict_proba, lambda x: np.exp(best.predict_log_proba(x))):
        with pytest.warns(SufficeWarning, match="1 of 3 rows is impossible under every class"):
            found = answer([-1.0, 1.0, 3.0])
        assert_allclose(found[:2], [[0.25, 0.75], [1.0, 0.0]], rtol=1e-15)
    with pytest.warns(SufficeWarning, match="answered by the class prior"):
        assert best.predict([-1.0, 1.0]).tolist() == [1, 0]
    assert_array_equal(best.predict_joint_log_proba([-1.0]), [[-np.inf, -np.inf]])


def test_a_pole_decides_and_two_poles_share_by_their_priors():
    best = BayesClassifier([stats.gamma(0.5), stats.gamma(0.25), stats.norm()], [0.2, 0.3, 0.5])
    assert_allclose(best.predict_proba([0.0])[0], [0.4, 0.6, 0.0], rtol=1e-15)
    assert best.predict([0.0]).tolist() == [1]
    assert_array_equal(best.predict_joint_log_proba([0.0])[0, :2], [np.inf, np.inf])


PLANE = [stats.multivariate_normal([0, 0]), stats.multivariate_normal([1, 0])]


@pytest.mark.parametrize(
    ("densities", "x", "message"),
    [
        (PLANE, [[0, 0], [0, np.nan]], "column 'x1', row 1: nan; a number must be finite"),
        ([stats.norm(), stats.norm(1)], [0.0, np.nan], "column 'x0', row 1: nan; a number"),
        (PLANE, [[np.inf, 0]], "column 'x0', row 0: inf; a number must be finite"),
        ([(stats.norm(),)] * 2, [np.nan, -np.inf], "column 'x0', row 1: -inf; a number must"),
        (PLANE, [[1, 2, 3]], r"X has shape \(1, 3\); the densities are about rows of 2 numbers"),
        (PLANE, [1, 2], r"X has shape \(2,\); the densities are about rows of 2 numbers"),
        (PLANE, 3.0, r"X has shape \(\)"),
        (PLANE, [["a", "b"]], "could not convert string to float: 'a'; known densities are about"),
    ],
)
def test_cells_that_are_refused(densities, x, message):
    with pytest.raises(DataError, match=message):
        BayesClassifier(densities).predict(x)


# -- options that are refused


class NotANumber:
    def logpdf(self, x):
        return np.full(np.shape(x)[0], np.nan)


N = stats.norm()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"densities": stats.norm()}, r"densities is norm\(\); it is a mapping"),
        ({"densities": [N]}, "there are two classes or more"),
        ({"densities": {}}, "there are two classes or more"),
        ({"densities": [N, 3.0]}, "class 1: 3.0 is no distribution; a distribution has a method"),
        ({"densities": [N, ()]}, r"class 1: \(\); a tuple holds"),
        ({"densities": [N, (PLANE[0],)]}, r"class 1: \(multivariate_normal\(...\),\); a tuple"),
        ({"densities": [N, stats.gamma]}, r"gamma has free parameters: a; .*stats.gamma\(a\)"),
        ({"densities": [N, stats.norm(0, -1)]}, r"class 1: norm\(0, -1\) is no distribution"),
        ({"densities": [N, stats.norm([0, 1, 2])]}, "is no distribution of one column"),
        ({"densities": [N, stats.poisson(1)]}, "class 0 has a density .* class 1 a prob"),
        ({"densities": [(N, N), (N, stats.poisson(1))]}, "class 0 has a density"),
        ({"densities": [N, PLANE[0]]}, "class 0 has 1 columns, class 1 has 2"),
        ({"densities": {"a": N, None: N}}, "None is no label"),
        ({"densities": [N, N], "priors": [0.5, 0.6]}, "sum of the priors should be 1"),
        ({"densities": [N, N], "priors": [1.5, -0.5]}, "must be non-negative"),
        ({"densities": [N, N], "priors": [1.0]}, "priors has 1 numbers; .* classes, 2"),
        ({"densities": [N, N], "priors": "equal"}, "priors='equal'; a probability is a number"),
        ({"densities": [N, N], "priors": {0: 1.0}}, "no entry for the class 1"),
        ({"densities": [N, N], "priors": {0: 0.5, 1: 0.5, 2: 0}}, "class 2 has a prior, and no"),
    ],
)
def test_options_that_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        BayesClassifier(**arguments)


def test_a_density_that_is_no_number_is_named():
    with pytest.raises(ParameterError, match=re.escape("class 1 at row 0, [1.0], is NaN")):
        BayesClassifier([N, NotANumber()]).predict([1.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "guess"}, "method='guess'; it is one of 'auto', 'sum'"),
        ({"method": "sum"}, "method='sum' does not apply; it is for discrete columns"),
        ({"method": "quadrature"}, "method='quadrature' does not apply; it is for one or two"),
        ({"n_samples": 1}, "n_samples=1; it is a whole number, 2 or more"),
        ({"n_samples": 1.5}, "n_samples=1.5"),
    ],
)
def test_options_of_the_error_that_are_refused(options, message):
    best = BayesClassifier([stats.multivariate_normal(np.zeros(3), s * np.eye(3)) for s in (1, 2)])
    with pytest.raises(ParameterError, match=message):
        best.bayes_error(**options)


# -- sampling and scikit-learn


def test_sample():
    best = BayesClassifier({"a": N, "b": stats.norm(100, 1)}, {"a": 0.25, "b": 0.75})
    x, y = best.sample(4_000, 0)
    assert x.shape == (4_000, 1)
    assert_array_equal(best.predict(x), y)
    assert abs((y == "b").mean() - 0.75) < 4 * np.sqrt(0.1875 / 4_000)
    assert abs(x[y == "a"].mean()) < 4 / np.sqrt(1_000)
    assert_array_equal(best.sample(5, 1)[0], best.sample(5, np.random.default_rng(1))[0])
    with pytest.raises(ParameterError, match="n=-1; the number of rows"):
        best.sample(-1)


def test_scikit_learn_takes_it_for_a_classifier():
    best = BayesClassifier({"a": N, "b": stats.norm(2, 1)})
    x, y = best.sample(200, 0)
    assert is_classifier(best)
    assert get_scorer("accuracy")(best, x, y) == best.score(x, y)
    same = log_loss(y, best.predict_proba(x))
    assert get_scorer("neg_log_loss")(best, x, y) == pytest.approx(-same)
    copy = clone(best).set_params(priors=[0.9, 0.1])
    assert copy.class_prior_.tolist() == [0.9, 0.1]
    assert best.class_prior_.tolist() == [0.5, 0.5]
