"""Forms of fitted models say what the models say: by hand, by judges, on random and real tables."""

from fractions import Fraction
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import sklearn.naive_bayes as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.sparse import csr_array, csr_matrix
from sklearn import datasets
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from suffice import NaiveBayes, naive_bayes, read_csv
from suffice.bayes import form_features, linear_form, quadratic_form
from suffice.errors import DataError, ParameterError
from suffice.families import Bernoulli, Categorical, Gaussian, Multinomial, MultivariateGaussian

LINEAR = {
    "size": Gaussian("mle", shared=True),
    "far": Gaussian("map", shared=True),
    "visits": "poisson",
    "color": "categorical",
    "floor": "categorical",
    "old": "bernoulli",
    "note": "multinomial",
}
QUADRATIC = {**LINEAR, "size": "gaussian", "far": "gaussian", "note": Bernoulli()}
SMOOTH = {"estimation": "map", "alpha": 2.0}
WORDS = ["apple", "pear", "plum", "fig", "kiwi", "lime"]


def mixed(n: int, seed: int, k: int = 3, far: float = 1e6) -> pa.Table:
    """Complete rows of every kind of column."""
    rng = np.random.default_rng(seed)
    code = np.resize(np.arange(k), n)
    return pa.table(
        {
            "size": rng.normal(size=n) + code,
            "far": far + rng.normal(size=n) * (1 + code),
            "visits": rng.poisson(2.0 + code),
            "color": rng.choice(["red", "blue", "green"], n),
            "floor": rng.integers(1, 5, n),
            "old": rng.random(n) < 0.3 + 0.2 * code,
            "note": [" ".join(rng.choice(WORDS[: 3 + c], 5)) for c in code],
            "kind": [["ham", "spam", "eggs"][c] for c in code],
        }
    )


def agree(model: Any, form: Any, X: Any) -> None:
    """The form says of every pair of classes, of every row, what the model says."""
    phi, joint = form_features(model, X), model.predict_joint_log_proba(X)
    assert phi.shape == (len(joint), len(form.features))
    assert form.classes == tuple(model.classes_)
    predicted = model.predict(X)
    np.testing.assert_array_equal(form.decide(phi), predicted)
    values = form.values(phi)
    for a, b in permutations(range(len(form.classes)), 2):
        truth, found = joint[:, a] - joint[:, b], values[:, a] - values[:, b]
        scale = np.maximum(1.0, np.maximum(np.abs(joint[:, a]), np.abs(joint[:, b])))
        if not hasattr(form, "quadratic"):
            weights, intercept = form.pair(form.classes[a], form.classes[b])
            terms = abs(phi) @ np.abs(weights) + abs(intercept)
            scale = np.maximum(scale, 1e-4 * terms)  # what their sum is rounded to
        assert (np.abs(found - truth) <= 1e-10 * scale).all()
        assert (np.sign(found) == np.sign(truth)).all()
        if not hasattr(form, "quadratic"):
            np.testing.assert_allclose(phi @ weights + intercept, found, rtol=1e-7, atol=1e-7)
            assert (predicted[truth > 0] != form.classes[b]).all()


# -- by hand


def test_outcomes_in_fractions() -> None:
    X, y = np.array([[0, 1], [1, 1], [1, 0], [0, 0], [1, 0]]), ["a", "a", "b", "b", "b"]
    model = naive_bayes.BernoulliNB().fit(X, y)
    theta = {"a": [Fraction(2, 4), Fraction(3, 4)], "b": [Fraction(3, 5), Fraction(1, 5)]}
    odds = [(p / (1 - p)) / (q / (1 - q)) for p, q in zip(theta["a"], theta["b"], strict=True)]
    base = Fraction(2, 3)
    for p, q in zip(theta["a"], theta["b"], strict=True):
        base *= (1 - p) / (1 - q)
    form = linear_form(model)
    weights, intercept = form.pair("a", "b")
    np.testing.assert_allclose(np.exp(weights), [float(w) for w in odds], rtol=1e-14)
    assert np.exp(intercept) == pytest.approx(float(base), rel=1e-14)
    assert form.features == ("x0", "x1")
    np.testing.assert_array_equal(form_features(model, X), X)


def test_categories_are_indicators_one_for_each() -> None:
    table = pa.table({"c": ["r", "g", "g", "b"], "y": ["p", "p", "q", "q"]})
    form = linear_form(NaiveBayes.textbook({"c": "categorical"}).fit(table, "y"), "q")
    assert form.features == (("c", "b"), ("c", "g"), ("c", "r"))
    truth = [Fraction(1, 2), Fraction(1), Fraction(2)]
    np.testing.assert_allclose(np.exp(form.weights[0]), [float(w) for w in truth], rtol=1e-15)
    assert (form.weights[1] == 0).all()
    assert form.intercepts.tolist() == [0.0, 0.0]
    assert form.reference == "q"


def test_counts_are_differences_of_feature_log_prob() -> None:
    X, y = datasets.load_digits(return_X_y=True)
    model = naive_bayes.MultinomialNB().fit(X, y)
    judge = theirs.MultinomialNB().fit(X, y)
    weights, intercept = linear_form(model).pair(3, 8)
    np.testing.assert_array_equal(weights, model.feature_log_prob_[3] - model.feature_log_prob_[8])
    truth = judge.feature_log_prob_[3] - judge.feature_log_prob_[8]
    np.testing.assert_allclose(weights, truth, rtol=1e-10, atol=1e-12)
    assert intercept == pytest.approx(judge.class_log_prior_[3] - judge.class_log_prior_[8])


def test_a_shared_variance_in_fractions() -> None:
    X = np.array([[1.0, 7.0], [2.0, 3.0], [4.0, 0.0], [8.0, 1.0], [9.0, 2.0]])
    y = np.array(["a", "a", "a", "b", "b"])
    model = NaiveBayes.textbook(Gaussian("mle", shared=True)).fit(X, y)
    weights, intercept = linear_form(model).pair("a", "b")
    base = 0
    for j in range(2):
        rows = {c: [Fraction(x) for x in X[y == c, j]] for c in "ab"}
        mean = {c: sum(rows[c]) / len(rows[c]) for c in "ab"}
        variance = sum((x - mean[c]) ** 2 for c in "ab" for x in rows[c]) / len(X)
        weight = (mean["a"] - mean["b"]) / variance
        base -= weight * (mean["a"] + mean["b"]) / 2
        assert weights[j] == pytest.approx(float(weight), rel=1e-14)
    assert intercept == pytest.approx(float(base) + np.log(3 / 2), rel=1e-14)


def test_variances_of_their_own_in_fractions() -> None:
    X, y = np.array([[1.0], [2.0], [4.0], [8.0], [9.0]]), ["a", "a", "a", "b", "b"]
    form = quadratic_form(naive_bayes.GaussianNB().fit(X, y))
    mean, variance = (Fraction(7, 3), Fraction(17, 2)), (Fraction(14, 9), Fraction(1, 4))
    quadratic, weights, intercept = form.pair("a", "b")
    assert quadratic == pytest.approx([float((1 / variance[1] - 1 / variance[0]) / 2)], rel=1e-14)
    truth = mean[0] / variance[0] - mean[1] / variance[1]
    assert weights == pytest.approx([float(truth)], rel=1e-14)
    truth = (mean[1] ** 2 / variance[1] - mean[0] ** 2 / variance[0]) / 2
    logs = np.log(3 / 2) + np.log(float(variance[1] / variance[0])) / 2
    assert intercept == pytest.approx(float(truth) + logs, rel=1e-14)
    assert form.origin.tolist() == [0.0]


# -- judges


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB"])
@pytest.mark.parametrize("kind", [np.asarray, csr_matrix])
def test_forms_against_scikit_learn(name: str, kind: Any) -> None:
    x, y = datasets.load_digits(return_X_y=True)
    x = kind(x)
    model, judge = getattr(naive_bayes, name)().fit(x, y), getattr(theirs, name)().fit(x, y)
    form, phi = linear_form(model, reference=0), form_features(model, x)
    assert isinstance(phi, csr_array) == (kind is csr_matrix)
    joint = judge.predict_joint_log_proba(x)
    np.testing.assert_allclose(form.values(phi), joint - joint[:, :1], rtol=1e-9, atol=1e-8)
    agree(model, linear_form(model), x)


# -- every family, random tables


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(2, 3), n=st.integers(8, 60))
def test_random_mixed_tables(seed: int, k: int, n: int) -> None:
    table = mixed(n, seed, k)
    rows = table.drop(["kind"])
    linear = NaiveBayes.textbook(LINEAR, **SMOOTH).fit(table, "kind")
    agree(linear, linear_form(linear), rows)
    agree(linear, quadratic_form(linear), rows)
    quadratic = NaiveBayes.textbook(QUADRATIC, **SMOOTH).fit(table, "kind")
    agree(quadratic, quadratic_form(quadratic), rows)
    with pytest.raises(ParameterError, match="column 'size', modelled by Gaussian"):
        linear_form(quadratic)


def test_features_come_in_the_order_of_the_columns() -> None:
    table = mixed(60, 0)
    model = NaiveBayes.textbook(LINEAR, **SMOOTH).fit(table, "kind")
    form = linear_form(model)
    columns = [f[0] if isinstance(f, tuple) else f for f in form.features]
    assert list(dict.fromkeys(columns)) == list(LINEAR)
    assert form.features[:3] == ("size", "far", "visits")
    assert form.features[3:6] == (("color", "blue"), ("color", "green"), ("color", "red"))
    phi = form_features(model, table.drop(["kind"])).toarray()
    np.testing.assert_array_equal(phi[:, 0], table["size"])
    np.testing.assert_array_equal(phi[:, 3], np.array(table["color"]) == "blue")
    np.testing.assert_array_equal(phi[:, 6], np.array(table["floor"]) == 1)
    place = form.features.index(("note", "pear"))
    truth = [note.split().count("pear") for note in table["note"].to_pylist()]
    np.testing.assert_array_equal(phi[:, place], truth)


def test_columns_far_from_zero() -> None:
    table = mixed(300, 5, far=2.0**40)
    model = NaiveBayes.textbook(QUADRATIC, **SMOOTH).fit(table, "kind")
    form = quadratic_form(model)
    assert dict(zip(form.features, form.origin, strict=True))["far"] == pytest.approx(2.0**40)
    assert np.count_nonzero(form.origin) == 1
    agree(model, form, table.drop(["kind"]))


def test_words_that_occur_and_counts_of_words() -> None:
    table = pa.table({"t": ["ab bc bc", "cd", "ab", "cd cd bc"], "y": ["p", "p", "q", "q"]})
    for family, twice in ((Multinomial(), 2.0), (Bernoulli(), 1.0)):
        model = NaiveBayes.textbook({"t": family}).fit(table, "y")
        rows = pa.table({"t": ["bc bc new", ""]})
        np.testing.assert_array_equal(
            form_features(model, rows).toarray(), [[0.0, twice, 0.0], [0.0, 0.0, 0.0]]
        )
        assert linear_form(model).features == (("t", "ab"), ("t", "bc"), ("t", "cd"))
        agree(model, linear_form(model), rows)


def test_matrices_beside_indicators() -> None:
    table = mixed(90, 1, far=3.0).select(["size", "color", "far", "kind"])
    chosen = {("size", "far"): MultivariateGaussian("mle"), "color": "categorical"}
    model = NaiveBayes.textbook(chosen).fit(table, "kind")
    form, rows = quadratic_form(model), table.drop(["kind"])
    assert form.features == ("size", *(("color", c) for c in ("blue", "green", "red")), "far")
    assert form.quadratic.shape == (3, 5, 5)
    numbers, colors = [0, 4], [1, 2, 3]
    assert not form.quadratic[:, colors].any()
    assert not form.quadratic[:, :, colors].any()
    agree(model, form, rows)

    x, kind = np.stack([table["size"], table["far"]], axis=1), np.array(table["kind"])
    (chance,) = (p.theta[:, :3] for p in model.model_.parameters if hasattr(p, "theta"))
    phi = form_features(model, rows).toarray()
    np.testing.assert_array_equal(phi[:, numbers], x)
    truth = np.log(model.class_prior_) + phi[:, colors] @ np.log(chance).T
    for c, label in enumerate(form.classes):
        own = x[kind == label]
        judge = stats.multivariate_normal(own.mean(axis=0), np.cov(own.T, ddof=0))
        truth[:, c] += judge.logpdf(x)
    found = form.against("ham").values(phi)
    h = form.classes.index("ham")
    np.testing.assert_allclose(found, truth - truth[:, [h]], rtol=1e-10, atol=1e-10)
    with pytest.raises(ParameterError, match=r"column 'size', modelled by Multiv.* is quadratic"):
        linear_form(model)


def test_a_shared_matrix_is_linear_discriminant_analysis() -> None:
    X, y = datasets.load_wine(return_X_y=True)
    model = NaiveBayes.textbook(MultivariateGaussian("mle", pooling=1.0)).fit(X, y)
    judge = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    form = linear_form(model, reference=0)
    np.testing.assert_allclose(form.weights, judge.coef_ - judge.coef_[0], rtol=1e-9, atol=1e-9)
    truth = judge.intercept_ - judge.intercept_[0]
    np.testing.assert_allclose(form.intercepts, truth, rtol=1e-9, atol=1e-9)
    agree(model, linear_form(model), X)


# -- real data


@pytest.mark.parametrize("loader", ["iris", "wine", "breast_cancer"])
def test_real_numbers(loader: str) -> None:
    X, y = getattr(datasets, f"load_{loader}")(return_X_y=True)
    shared = NaiveBayes.textbook(Gaussian("mle", shared=True)).fit(X, y)
    agree(shared, linear_form(shared), X)
    own = naive_bayes.GaussianNB().fit(X, y)
    agree(own, quadratic_form(own), X)


def test_house_votes(data: Path) -> None:
    table = read_csv(
        data / "house_votes_84" / "house-votes-84.data", header=False, strip=True, missing=["?"]
    )
    model = NaiveBayes.textbook("categorical").fit(table, "column_1")
    # A missing vote has no indicator, which is what the model makes of it: all rows agree.
    rows = pd.read_csv(
        data / "house_votes_84" / "house-votes-84.data", header=None, na_values="?"
    ).drop(columns=0)
    rows.columns = [f"column_{j}" for j in range(2, 18)]
    form = linear_form(model)
    assert len(form.features) == 32
    agree(model, form, rows)


# -- what has no form


def fitted(families: Any, column: list[Any], **options: Any) -> NaiveBayes:
    table = pa.table({"c": column, "y": ["p", "p", "q", "q"]})
    return NaiveBayes.textbook({"c": families}, **options).fit(table, "y")


NO_FORM = "its log-likelihood is neither linear nor quadratic"
REMEDY = "fit it with estimation='mle', or choose another family for it"
FINITE = (
    "a form needs finite logarithms; "
    "smooth it: alpha > 0 with estimation='bayes', or alpha > 1 with 'map'."
)


@pytest.mark.parametrize(
    ("family", "column", "options", "message"),
    [
        (
            *("gaussian", [1.0, 2.0, 4.0, 3.0], {}),
            f"column 'c' is modelled by Gaussian(); {NO_FORM}; {REMEDY}.",
        ),
        (
            *("poisson", [1, 2, 4, 3], {}),
            f"column 'c' is modelled by Poisson(); {NO_FORM}; {REMEDY}.",
        ),
        (
            *("joint_table", ["r", "r", "b", "g"], {}),
            f"column 'c' is modelled by JointTable(); {NO_FORM}; {REMEDY}.",
        ),
        (
            *("categorical", ["r", "r", "b", "g"], {"alpha": 0.0}),
            f"column 'c': 'b' is impossible under the class 'p'; {FINITE}",
        ),
        (
            *("bernoulli", [True, True, False, True], {"alpha": 0.0}),
            f"column 'c': an outcome is impossible under the class 'p'; {FINITE}",
        ),
        (
            *("categorical", ["r", "r", "b", "g"], {"class_prior": {"p": 0.0, "q": 1.0}}),
            "the class 'p' has the prior 0; a form needs finite logarithms; "
            "fit with class_prior='smoothed'.",
        ),
    ],
)
def test_models_without_a_form(
    family: str, column: list[Any], options: dict[str, Any], message: str
) -> None:
    model = fitted(family, column, **options)
    for ask in (linear_form, quadratic_form):
        with pytest.raises(ParameterError) as caught:
            ask(model)
        assert str(caught.value) == message


def test_a_quadratic_model_is_not_linear() -> None:
    model = fitted("gaussian", [1.0, 2.0, 4.0, 9.0], estimation="mle")
    with pytest.raises(ParameterError) as caught:
        linear_form(model)
    assert (
        "column 'c', modelled by Gaussian(estimation='mle', variance_floor='loo'), is quadratic"
        in str(caught.value)
    )


def test_a_class_that_is_not_there() -> None:
    form = linear_form(fitted("categorical", ["r", "r", "b", "g"]))
    with pytest.raises(ParameterError, match="there is no class 'x'; the classes are 'p', 'q'"):
        form.pair("p", "x")
    with pytest.raises(ParameterError, match="there is no class 'x'"):
        form.against("x")


@pytest.mark.parametrize(
    ("family", "column"),
    [
        (Gaussian("mle"), [1.0, 2.0, 4.0, 9.0]),
        ("poisson", [1, 2, 3, 5]),
        ("bernoulli", [True, False, True, True]),
        (Bernoulli(), ["ab bc", "cd de", "ab", "bc"]),
    ],
)
def test_missing_cells_that_a_form_has_no_place_for(family: Any, column: list[Any]) -> None:
    model = fitted(family, column, estimation="mle")
    rows = pa.table({"c": pa.array([column[0], None])})
    with pytest.raises(DataError) as caught:
        form_features(model, rows)
    assert "column 'c', row 1: None" in str(caught.value)


def test_missing_cells_that_are_zeros() -> None:
    for family, column in (("categorical", ["r", "r", "b", "g"]), ("multinomial", [1, 2, 0, 1])):
        model = fitted(family, column)
        rows = pa.table({"c": pa.array([column[0], None])})
        agree(model, linear_form(model), rows)
    x = np.array([[1.0, 2.0], [3.0, 0.0], [0.0, 1.0]])
    model = naive_bayes.MultinomialNB().fit(x, [0, 0, 1])
    agree(model, linear_form(model), np.array([[np.nan, 2.0]]))


def test_values_never_seen() -> None:
    rows = pa.table({"c": ["r", "new"]})
    model = fitted("categorical", ["r", "r", "b", "g"])
    agree(model, linear_form(model), rows)
    for unseen in ("smooth", "error"):
        model = fitted(Categorical(unseen=unseen), ["r", "r", "b", "g"])
        with pytest.raises(DataError, match=r"column 'c', row 1: 'new'; the value was never seen"):
            form_features(model, rows)


def test_features_that_do_not_fit() -> None:
    form = quadratic_form(fitted(Gaussian("mle"), [1.0, 2.0, 4.0, 9.0]))
    with pytest.raises(ParameterError, match=r"the shape \(2, 3\); the form has 1 features"):
        form.values(np.ones((2, 3)))
    with pytest.raises(DataError, match="row 1 has a feature that is missing or infinite"):
        form.values(np.array([[1.0], [np.nan]]))
    model = fitted(Gaussian("mle"), [1.0, 2.0, 4.0, 9.0])
    with pytest.raises(DataError, match="column 'c', row 0: inf; a number must be finite"):
        form_features(model, pa.table({"c": [np.inf]}))
