"""Discriminant analysis: scikit-learn's numbers, the laws, and answers for singular data."""

import re
import warnings

import numpy as np
import pyarrow as pa
import pytest
import sklearn.covariance as estimators
import sklearn.discriminant_analysis as theirs
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.utils.estimator_checks import check_estimator
from tests.laws.estimator_laws import check_estimator_laws

import suffice
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.bayes import linear_form
from suffice.errors import DataError, ParameterError, SufficeWarning

BOTH = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]
LOADERS = [load_iris, load_breast_cancer, None]
CLOSE = {"rtol": 1e-10, "atol": 1e-10}


def random_table(seed=0, n=300, d=6, k=4, decades=3):
    """Correlated columns of different units, and classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) + rng.normal(size=(k, d))[y]
    return x * 10.0 ** rng.integers(-decades, decades + 1, d) + rng.normal(size=d), y


def table(loader):
    return random_table() if loader is None else loader(return_X_y=True)


def reference(model, **options):
    """Their model; tol: the smallest variance that is not refused, in the units of the columns."""
    smallest = {"tol": 0.0} if model is QuadraticDiscriminantAnalysis else {}
    return getattr(theirs, model.__name__)(**smallest, **options)


def signless(columns):
    """Columns with their largest entry positive."""
    top = np.abs(columns).argmax(axis=0)
    return columns * np.sign(columns[top, np.arange(columns.shape[1])])


def said(make, x, y):
    with pytest.warns(SufficeWarning) as caught:
        model = make().fit(x, y)
    return model, " ".join(str(warning.message) for warning in caught)


# -- equality with scikit-learn


def assert_equal_linear(mine, other, x):
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), **CLOSE)
    assert_allclose(mine.decision_function(x), other.decision_function(x), **CLOSE)
    assert_array_equal(mine.predict(x), other.predict(x))
    for name in ("classes_", "priors_", "means_", "xbar_", "coef_", "intercept_"):
        assert_allclose(getattr(mine, name), getattr(other, name), rtol=1e-10, atol=1e-12)
    assert_allclose(mine.explained_variance_ratio_, other.explained_variance_ratio_, **CLOSE)
    assert_allclose(signless(mine.scalings_), signless(other.scalings_), **CLOSE)
    assert_allclose(signless(mine.transform(x)), signless(other.transform(x)), **CLOSE)


@pytest.mark.parametrize("loader", LOADERS)
def test_linear(loader):
    x, y = table(loader)
    mine = LinearDiscriminantAnalysis().fit(x, y)
    other = theirs.LinearDiscriminantAnalysis(store_covariance=True).fit(x, y)
    assert_equal_linear(mine, other, x)
    assert_allclose(mine.covariance_, other.covariance_, **CLOSE)


@pytest.mark.parametrize("solver", ["lsqr", "eigen"])
@pytest.mark.parametrize("loader", [load_iris, load_wine, None])
def test_linear_by_the_other_solvers(loader, solver):
    x, y = table(loader)
    mine = LinearDiscriminantAnalysis(solver).fit(x, y)
    other = theirs.LinearDiscriminantAnalysis(solver).fit(x, y)
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), **CLOSE)
    assert_allclose(mine.covariance_, other.covariance_, **CLOSE)
    # their coefficients are about 0, not about the mean: the classes share the difference
    assert_allclose(mine.coef_, other.coef_ - mine.priors_ @ other.coef_, rtol=1e-9, atol=1e-10)
    if solver == "eigen":
        axes = other.scalings_[:, : mine.scalings_.shape[1]]
        assert_allclose(signless(mine.scalings_), signless(axes), **CLOSE)
        ratio = other.explained_variance_ratio_
        assert_allclose(mine.explained_variance_ratio_, ratio, **CLOSE)


def test_linear_with_constant_columns():
    x, y = load_digits(return_X_y=True)
    mine, sentence = said(LinearDiscriminantAnalysis, x, y)
    columns = re.findall(r"column '(\w+)' has one value only; it is left out", sentence)
    assert columns == ["x0", "x32", "x39"]
    assert_equal_linear(mine, theirs.LinearDiscriminantAnalysis().fit(x, y), x)


@pytest.mark.parametrize("loader", LOADERS)
def test_quadratic(loader):
    x, y = table(loader)
    mine = QuadraticDiscriminantAnalysis().fit(x, y)
    for solver in ("eigen", "svd"):
        other = reference(type(mine), solver=solver, store_covariance=True).fit(x, y)
        assert_allclose(mine.decision_function(x), other.decision_function(x), rtol=1e-8, atol=1e-8)
        assert_array_equal(mine.predict(x), other.predict(x))
    assert_allclose(mine.decision_function(x), other.decision_function(x), **CLOSE)
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), **CLOSE)
    assert_allclose(mine.means_, other.means_, rtol=1e-13)
    assert_allclose(mine.priors_, other.priors_, rtol=1e-15)
    for c in range(len(mine.classes_)):
        assert_allclose(mine.covariance_[c], other.covariance_[c], rtol=1e-10, atol=1e-12)
        assert_allclose(mine.scalings_[c][0], other.scalings_[c][0], rtol=1e-10)
        axes, variances = mine.rotations_[c], mine.scalings_[c]
        assert_allclose(axes * variances @ axes.T, mine.covariance_[c], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", BOTH)
def test_priors(model):
    x, y = random_table()
    priors = [0.1, 0.2, 0.3, 0.4]
    mine = model(priors=priors).fit(x, y)
    other = reference(model, priors=priors).fit(x, y)
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), **CLOSE)
    assert_allclose(mine.decision_function(x), other.decision_function(x), **CLOSE)
    if model is LinearDiscriminantAnalysis:
        assert_equal_linear(mine, other, x)


@pytest.mark.parametrize("model", BOTH)
def test_weights_are_repetitions(model):
    x, y = random_table()
    times = np.arange(len(y)) % 4
    repeated = np.repeat(np.arange(len(y)), times)
    mine = model().fit(x, y, times)
    other = reference(model).fit(x[repeated], y[repeated])
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), **CLOSE)
    assert_allclose(mine.decision_function(x), other.decision_function(x), **CLOSE)


@pytest.mark.parametrize("model", BOTH)
def test_two_classes(model):
    x, y = random_table(k=2)
    mine, other = model().fit(x, y), reference(model).fit(x, y)
    assert mine.decision_function(x).shape == (len(x),)
    assert_allclose(mine.decision_function(x), other.decision_function(x), **CLOSE)
    log_odds = np.diff(mine.predict_log_proba(x), axis=1)[:, 0]
    assert_allclose(mine.decision_function(x), log_odds, **CLOSE)


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("ddof", [0, 1])
def test_densities_and_divisor(model, ddof):
    x, y = random_table(decades=0)
    mine = model(ddof=ddof).fit(x, y)
    parts = [x[y == c] for c in range(4)]
    if model is LinearDiscriminantAnalysis:
        scatter = sum(len(part) * np.cov(part.T, ddof=0) for part in parts)
        covariances = [scatter / (len(x) - 4 * ddof)] * 4
        assert_allclose(mine.covariance_, covariances[0], rtol=1e-12)
    else:
        covariances = [np.cov(part.T, ddof=ddof) for part in parts]
        assert_allclose(mine.covariance_, covariances, rtol=1e-12)
    expected = [
        multivariate_normal(part.mean(axis=0), covariance).logpdf(x) + np.log(len(part) / len(x))
        for part, covariance in zip(parts, covariances, strict=True)
    ]
    assert_allclose(mine.predict_joint_log_proba(x), np.transpose(expected), rtol=1e-10)
    log_posterior = np.transpose(expected - np.logaddexp.reduce(expected))
    assert_allclose(mine.predict_log_proba(x), log_posterior, **CLOSE)


# -- the axes


def test_axes_solve_the_eigenvalue_problem():
    x, y = random_table()
    model = LinearDiscriminantAnalysis(priors=[0.1, 0.2, 0.3, 0.4]).fit(x, y)
    a, offsets = model.scalings_, model.means_ - model.xbar_
    within, between = model.covariance_, offsets.T * model.priors_ @ offsets
    eigenvalues = np.diag(a.T @ between @ a)
    assert_allclose(a.T @ within @ a, np.eye(3), atol=1e-12)
    assert_allclose(between @ a, within @ a * eigenvalues, rtol=1e-9, atol=1e-12)
    assert (np.diff(eigenvalues) < 0).all()
    assert_allclose(model.explained_variance_ratio_, eigenvalues / eigenvalues.sum(), rtol=1e-12)
    assert (model.transform(model.means_[-1:]) > 0).all()


def test_number_of_axes():
    x, y = load_wine(return_X_y=True)
    whole = LinearDiscriminantAnalysis().fit(x, y)
    first = LinearDiscriminantAnalysis(n_components=1).fit(x, y)
    assert_array_equal(first.transform(x), whole.transform(x)[:, :1])
    assert_array_equal(first.explained_variance_ratio_, whole.explained_variance_ratio_[:1])
    assert_array_equal(first.fit_transform(x, y), first.transform(x))
    with pytest.raises(ParameterError, match="n_components cannot be larger than 2: so many axes"):
        first.set_params(n_components=3).fit(x, y)
    assert first.partial_fit(x, y).predict(x[:1]) == whole.predict(x[:1])
    with pytest.raises(ParameterError, match="n_components cannot be larger than 2: so many axes"):
        first.transform(x)
    with pytest.raises(ParameterError, match="n_components=0; the number of axes is a whole"):
        first.set_params(n_components=0).fit(x, y)


def test_classes_on_a_line_have_one_axis():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 20)
    x = rng.normal(size=(60, 3))
    x -= np.repeat([x[y == c].mean(axis=0) for c in range(3)], 20, axis=0)
    x += np.outer(y, [1.0, 2.0, 3.0])
    model = LinearDiscriminantAnalysis().fit(x, y)
    assert model.scalings_.shape == (3, 1)
    assert model.transform(x).shape == (60, 1)
    assert_allclose(model.explained_variance_ratio_, [1.0])
    names = model.get_feature_names_out().tolist()
    assert names == ["lineardiscriminantanalysis0"]


def test_classes_of_one_mean_have_no_axis():
    x = np.array([[-1.0, 0], [1, 0], [0, -1], [0, 1]] * 2)
    y = np.repeat([0, 1], 4)
    model = LinearDiscriminantAnalysis().fit(x, y)
    assert model.transform(x).shape == (8, 0)
    assert_array_equal(model.coef_, np.zeros((1, 2)))
    assert_array_equal(model.predict_proba(x), np.full((8, 2), 0.5))


@pytest.mark.parametrize("columns", [3, 300])
def test_columns_of_one_value_have_no_axis(columns):
    model, _ = said(LinearDiscriminantAnalysis, np.ones((6, columns)), np.arange(6) % 3)
    assert model.scalings_.shape == (columns, 0)
    assert model.explained_variance_ratio_.shape == (0,)
    assert model.transform(np.ones((2, columns))).shape == (2, 0)


def test_output_as_a_frame():
    x, y = load_iris(return_X_y=True, as_frame=True)
    model = LinearDiscriminantAnalysis().set_output(transform="pandas").fit(x, y)
    frame = model.transform(x)
    assert list(frame) == ["lineardiscriminantanalysis0", "lineardiscriminantanalysis1"]
    plain = LinearDiscriminantAnalysis().fit(x.to_numpy(), y)
    assert_array_equal(frame.to_numpy(), plain.transform(x.to_numpy()))


# -- rows of any kind


@pytest.mark.parametrize(("n", "d"), [(1, 1), (2, 8), (3, 9), (4, 7), (5, 23), (9, 16)])
def test_discriminants_are_log_joints_up_to_a_term_of_each_row(n, d):
    rng = np.random.default_rng(d)
    x, y = rng.normal(size=(60, d)) + 1e3, np.arange(60) % 3
    model = LinearDiscriminantAnalysis().fit(x, y)
    rows = rng.normal(size=(n, d)) + 1e3
    rows[rng.random(rows.shape) < 0.1] = np.nan
    rows[n // 2] = rng.normal(size=d) + 1e3
    found, joint = model.decision_function(rows), model.predict_joint_log_proba(rows)
    shared = (found - joint).mean(axis=1, keepdims=True)
    assert_allclose(found - shared, joint, rtol=1e-11, atol=1e-11)
    # a row has the same bits wherever it stands
    alone = [model.decision_function(rows[i : i + 1])[0] for i in range(n)]
    assert_array_equal(found, alone)


def test_linear_scores_are_those_of_the_coefficients():
    x, y = random_table()
    model = LinearDiscriminantAnalysis().fit(x, y)
    assert_allclose(model.decision_function(x), x @ model.coef_.T + model.intercept_, **CLOSE)
    form = linear_form(model)
    assert_allclose(form.weights - form.weights[0], model.coef_ - model.coef_[0], rtol=1e-9)


@pytest.mark.parametrize("model", BOTH)
def test_missing_cells_are_left_out_at_prediction(model):
    x, y = random_table(n=80, decades=0)
    fitted = model().fit(x, y)
    holed = np.where(np.random.default_rng(1).random(x.shape) < 0.3, np.nan, x)
    holed[0] = np.nan
    expected = np.empty((len(x), 4))
    for i, row in enumerate(holed):
        o = ~np.isnan(row)
        for c in range(4):
            sigma = fitted.covariance_ if model is BOTH[0] else fitted.covariance_[c]
            expected[i, c] = np.log(fitted.priors_[c])
            if o.any():
                of_row = multivariate_normal(fitted.means_[c][o], sigma[np.ix_(o, o)])
                expected[i, c] += of_row.logpdf(row[o])
    assert_allclose(fitted.predict_joint_log_proba(holed), expected, rtol=1e-9)
    log_posterior = expected - np.logaddexp.reduce(expected, axis=1, keepdims=True)
    assert_allclose(fitted.predict_log_proba(holed), log_posterior, rtol=1e-9, atol=1e-9)
    between = np.diff(fitted.decision_function(holed), axis=1)
    assert_allclose(between, np.diff(expected, axis=1), rtol=1e-8, atol=1e-8)


def test_a_missing_cell_is_placed_by_its_expectation():
    x, y = random_table()
    model = LinearDiscriminantAnalysis().fit(x, y)
    holed = x[:5].copy()
    holed[0, 2] = holed[1, :4] = holed[2] = np.nan
    found = model.transform(holed)
    assert_array_equal(found[3:], model.transform(x[3:5]))
    assert_allclose(found[2], 0, atol=1e-12)
    shares = model.predict_proba(holed)
    for i in (0, 1):
        o, m = ~np.isnan(holed[i]), np.isnan(holed[i])
        slopes = model.covariance_[np.ix_(m, o)] @ np.linalg.inv(model.covariance_[np.ix_(o, o)])
        of_class = model.means_[:, m] + (holed[i, o] - model.means_[:, o]) @ slopes.T
        whole = holed[i : i + 1].copy()
        whole[0, m] = shares[i] @ of_class
        assert_allclose(found[i], model.transform(whole)[0], rtol=1e-9)


@pytest.mark.parametrize("model", BOTH)
def test_missing_cells_at_fit(model):
    x, y = random_table(n=600)
    assert model().fit(x, y).n_iter_ == 0
    holed = np.where(np.random.default_rng(1).random(x.shape) < 0.05, np.nan, x)
    mine, whole = model().fit(holed, y), model().fit(x, y)
    assert mine.n_iter_ > 1
    assert mine.converged_
    assert (mine.predict(x) == whole.predict(x)).mean() > 0.97


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize(
    ("dtype", "order"),
    [(np.float32, "F"), (np.int64, "C"), (np.uint8, "F"), (np.bool_, "C"), (object, "F")],
)
def test_every_dtype_and_memory_order(model, dtype, order):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    x = (rng.integers(0, 2, (80, 9)) | (y[:, None] & rng.integers(0, 2, (80, 9)))).astype(dtype)
    found = model().fit(np.array(x, order=order), y)
    plain = model().fit(x.astype(float), y)
    rows = np.array(x, order=order)
    probabilities = found.predict_proba(rows)
    expected = plain.predict_proba(x.astype(float)).astype(probabilities.dtype)
    assert_array_equal(probabilities, expected)
    if model is LinearDiscriminantAnalysis:
        axes = found.transform(rows)
        assert_array_equal(axes, plain.transform(x.astype(float)).astype(axes.dtype))
        assert_array_equal(
            found.transform(sparse.csr_matrix(x.astype(float))), plain.transform(x.astype(float))
        )


@pytest.mark.parametrize("method", ["predict", "transform", "decision_function"])
@pytest.mark.parametrize("d", [3, 11])
def test_numbers_without_a_square_are_named(method, d):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(40, d)), np.arange(40) % 3
    model = LinearDiscriminantAnalysis().fit(x, y)
    for value in (np.inf, -np.inf, 1e151):
        bad = x.copy()
        bad[0, 0], bad[6, 1] = np.nan, value
        with pytest.raises(DataError, match="column 'x1', row 6: "):
            getattr(model, method)(bad)
    far = x.copy()
    far[3, 2] = 1e150
    assert np.isfinite(getattr(model, method)(far)).all()


# -- laws


def laws_table(n):
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, 3)) @ rng.normal(size=(3, 3))
    columns = {f"x{j}": x[:, j] + 1e6 * j for j in range(3)}
    return pa.table(columns | {"kind": np.resize(["a", "b"], n)})


@pytest.mark.parametrize(
    ("model", "options"), [(BOTH[0], {"ddof": 1, "shrinkage": "auto"}), (BOTH[1], {})]
)
def test_laws(model, options):
    check_estimator_laws(lambda: model(**options), laws_table(36), "kind")


@pytest.mark.parametrize("seed", range(4))
def test_weighted_rows_with_gaps_are_forgotten_to_the_last_bit(seed):
    """Seen from the mean, a group of one row lies half-way between two doubles, as often as not."""
    rng = np.random.default_rng(1000 + seed)
    x = rng.normal(size=(200, 4)) @ rng.normal(size=(4, 4)) + 1.0
    x[rng.random(x.shape) < 0.1] = np.nan
    y, weight = rng.integers(0, 3, 200), rng.random(200) + 0.1
    kept, gone = slice(0, 100), slice(100, 200)
    model = LinearDiscriminantAnalysis().fit(x, y, weight).forget(x[gone], y[gone], weight[gone])
    expected = LinearDiscriminantAnalysis().fit(x[kept], y[kept], weight[kept])
    assert_array_equal(model.predict_joint_log_proba(x), expected.predict_joint_log_proba(x))


@pytest.mark.parametrize("model", BOTH)
def test_classes_come_in_batches_and_may_be_declared(model):
    x, y = random_table()
    order = np.argsort(y, kind="stable")
    fitted = model().partial_fit(x[y == 0], y[y == 0])
    assert fitted.decision_function(x[:3]).shape == (3,)
    fitted = model().partial_fit(x[y < 2], y[y < 2], classes=[0, 1, 2, 3])
    assert fitted.predict_proba(x)[:, 2:].max() == 0
    decision = fitted.decision_function(x)
    assert (decision[:, 2:] == -np.inf).all()
    assert np.isfinite(decision[:, :2]).all()
    fitted.partial_fit(x[order][(y[order]) >= 2], y[order][y[order] >= 2])
    assert_array_equal(fitted.predict_proba(x), model().fit(x, y).predict_proba(x))
    with pytest.raises(DataError, match="there is one class"):
        model().fit(x[y == 0], y[y == 0])


@pytest.mark.parametrize("model", BOTH)
def test_frames_save_merge_and_explain(model, tmp_path):
    data, y = load_iris(return_X_y=True, as_frame=True)
    frame = data.assign(kind=np.array(["setosa", "versicolor", "virginica"])[y])
    half = model().fit(frame[::2], "kind").merge(model().fit(frame[1::2], "kind"))
    plain = model().fit(data.to_numpy(), y)
    assert_array_equal(half.predict_proba(frame), plain.predict_proba(data.to_numpy()))
    assert half.predict(frame)[0] == "setosa"
    assert half.feature_names_in_.tolist() == list(data)
    half.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert type(loaded) is model
    assert_array_equal(loaded.predict_proba(frame), half.predict_proba(frame))
    evidence = loaded.explain(frame[:20])
    assert_allclose(evidence.probabilities, loaded.predict_proba(frame[:20]), rtol=1e-9, atol=1e-12)


# -- singular data: the right answer, and a sentence that says what was done


@pytest.mark.parametrize("model", BOTH)
def test_a_column_twice_says_nothing_more(model):
    x, y = random_table()
    twice, sentence = said(model, np.c_[x, x[:, 0] * 4 - 1], y)
    assert re.search("column 'x6' is 4 × 'x0' plus a constant, up to .* left out", sentence)
    once = model().fit(x, y)
    rows = np.c_[x, x[:, 0] * 4 - 1]
    assert_allclose(twice.predict_proba(rows), once.predict_proba(x), **CLOSE)
    if model is LinearDiscriminantAnalysis:
        assert_allclose(twice.coef_[:, :6], once.coef_, rtol=1e-10)
        assert (twice.coef_[:, 6] == 0).all()
        assert_allclose(twice.transform(rows), once.transform(x), **CLOSE)
        other = theirs.LinearDiscriminantAnalysis().fit(rows, y)
        assert_allclose(twice.predict_proba(rows), other.predict_proba(rows), **CLOSE)


@pytest.mark.parametrize("model", BOTH)
def test_a_constant_column_says_nothing(model):
    x, y = random_table()
    rows = np.insert(x, 2, 7.25, axis=1)
    found, sentence = said(model, rows, y)
    assert sentence == "column 'x2' has one value only; it is left out"
    assert_allclose(found.predict_proba(rows), model().fit(x, y).predict_proba(x), **CLOSE)


@pytest.mark.parametrize("model", BOTH)
def test_a_column_without_a_cell_says_nothing(model):
    x, y = load_iris(return_X_y=True)
    rows = np.insert(x, 2, np.nan, axis=1)
    found, sentence = said(model, rows, y)
    assert sentence == "column 'x2' has no value; it is left out"
    assert_allclose(found.predict_proba(rows), model().fit(x, y).predict_proba(x), rtol=1e-6)


@pytest.mark.parametrize(
    ("model", "ddof", "named"),
    [
        (LinearDiscriminantAnalysis, 200, "0, 1, 2"),
        (LinearDiscriminantAnalysis, 50, "0, 1, 2"),
        (QuadraticDiscriminantAnalysis, 50, "0, 1, 2"),
        (QuadraticDiscriminantAnalysis, 40, "2"),
    ],
)
def test_a_divisor_that_leaves_no_row_is_said(model, ddof, named):
    x, y = load_iris(return_X_y=True)
    if named == "2":
        x, y = x[:140], y[:140]
    found, sentence = said(lambda: model(ddof=ddof), x, y)
    assert sentence == (
        f"classes {named}: the rows of each weigh no more than ddof, so they have no covariance "
        "of their own; that of all rows is taken"
    )
    last = found.covariance_ if model is LinearDiscriminantAnalysis else found.covariance_[2]
    assert_allclose(last, np.cov(x.T, ddof=0), rtol=1e-12)


@pytest.mark.parametrize("model", BOTH)
def test_more_columns_than_rows(model):
    rng = np.random.default_rng(0)
    y = np.arange(80) % 2
    x = rng.normal(size=(80, 200)) + 3.0 * y[:, None]
    found, sentence = said(model, x, y)
    assert "are combinations of the columns before them" in sentence
    assert "is kept at a small fraction" in sentence
    assert (found.predict(x) == y).all()
    assert np.isfinite(found.predict_proba(x)).all()
    shrunk = model(shrinkage="auto").fit(x, y)
    fresh = rng.normal(size=(80, 200)) + 3.0 * y[:, None]
    assert shrunk.score(fresh, y) > 0.95


def test_a_class_of_one_row():
    x, y = random_table()
    y[:] = np.minimum(y, 1)
    y[0] = 2
    linear = LinearDiscriminantAnalysis().fit(x, y)
    assert_equal_linear(linear, theirs.LinearDiscriminantAnalysis().fit(x, y), x)
    with pytest.raises(DataError, match="y has only 1 sample in class 2; covariance is ill"):
        QuadraticDiscriminantAnalysis().fit(x, y)
    with pytest.raises(DataError, match="only 1 sample"):
        QuadraticDiscriminantAnalysis(shrinkage=0.5).fit(x, y)
    holed = x.copy()
    holed[0, :2] = np.nan
    with pytest.raises(DataError, match="only 1 sample"):
        QuadraticDiscriminantAnalysis().fit(holed, y)


def test_what_a_class_of_one_row_may_do():
    x, y = random_table()
    y[:] = np.minimum(y, 1)
    y[0] = 2
    # a stream may begin with it
    with pytest.warns(SufficeWarning, match="within class 2"):
        streamed = QuadraticDiscriminantAnalysis().partial_fit(x, y)
    assert streamed.predict(x[:1])[0] == 2
    assert (streamed.predict(x[1:]) < 2).all()
    # a row that counts twice is two rows
    with pytest.warns(SufficeWarning, match="within class 2"):
        twice = QuadraticDiscriminantAnalysis().fit(x, y, np.where(y == 2, 2.0, 1.0))
    with pytest.warns(SufficeWarning, match="within class 2"):
        repeated = QuadraticDiscriminantAnalysis().fit(np.vstack([x, x[:1]]), np.append(y, 2))
    assert_array_equal(twice.predict_proba(x), repeated.predict_proba(x))
    # ddof takes the only row away, and the class has the covariance of all rows
    unbiased, sentence = said(lambda: QuadraticDiscriminantAnalysis(ddof=1), x, y)
    assert "the rows of each weigh no more than ddof" in sentence
    assert_allclose(unbiased.covariance_[2], np.cov(x.T, ddof=0), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("shrinkage", [None, "auto"])
def test_one_row_of_each_class(shrinkage):
    x, y = [[0.5, 0.6], [0.6, 0.5]], ["a", "b"]
    for holed in (x, [[0.5, 0.6], [np.nan, 0.5]]):
        with pytest.raises(DataError, match="number of samples must be more than the number of"):
            LinearDiscriminantAnalysis(shrinkage=shrinkage).fit(holed, y)
    alike = [[0.5, 0.6], [0.5, 0.6]]
    same, sentence = said(lambda: LinearDiscriminantAnalysis(shrinkage=shrinkage), alike, y)
    assert "has one value only" in sentence
    assert_allclose(same.predict_proba(alike), 0.5)


def test_coefficients_are_in_the_precision_of_the_rows():
    x, y = random_table(decades=0)
    found = LinearDiscriminantAnalysis().fit(x.astype(np.float32), y)
    exact = LinearDiscriminantAnalysis().fit(x.astype(np.float32).astype(float), y)
    assert found.coef_.dtype == found.intercept_.dtype == np.float32
    assert exact.coef_.dtype == exact.intercept_.dtype == np.float64
    assert_array_equal(found.coef_, exact.coef_.astype(np.float32))
    assert_array_equal(found.predict_joint_log_proba(x), exact.predict_joint_log_proba(x))


@pytest.mark.parametrize("model", BOTH)
def test_scales_change_nothing(model):
    x, y = random_table()
    scale = np.array([1e-8, 1e8, 1.0, 1e-8, 1e8, 1.0])
    plain, scaled = model().fit(x, y), model().fit(x * scale, y)
    assert_allclose(scaled.predict_proba(x * scale), plain.predict_proba(x), **CLOSE)
    shrunk, other = model(shrinkage=0.4).fit(x, y), model(shrinkage=0.4).fit(x * scale, y)
    assert_allclose(other.predict_proba(x * scale), shrunk.predict_proba(x), **CLOSE)
    if model is LinearDiscriminantAnalysis:
        assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-9)
        assert_allclose(scaled.transform(x * scale), plain.transform(x), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("model", BOTH)
def test_a_large_offset_changes_little(model):
    x, y = random_table()
    whole = np.round(x / x.std(axis=0) * 1024) / 1024  # so that adding the offset is exact
    far = model().fit(whole + 2.0**30, y).predict_proba(whole + 2.0**30)
    assert_allclose(far, model().fit(whole, y).predict_proba(whole), rtol=1e-8, atol=1e-10)


def test_a_column_that_gives_the_class_away():
    x, y = random_table(k=2)
    found, sentence = said(LinearDiscriminantAnalysis, np.c_[x, y], y)
    assert "the other columns determine 'x6'" in sentence
    assert (found.predict(np.c_[x, y]) == y).all()


# -- options


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_every_solver_gives_the_same_bits(solver):
    x, y = random_table()
    options = {"shrinkage": 0.2, "tol": 1e-3, "store_covariance": True}
    found = LinearDiscriminantAnalysis(solver, **options).fit(x, y)
    plain = LinearDiscriminantAnalysis(shrinkage=0.2).fit(x, y)
    assert_array_equal(found.predict_proba(x), plain.predict_proba(x))
    if solver != "lsqr":
        quadratic = QuadraticDiscriminantAnalysis(solver=solver).fit(x, y)
        plain = QuadraticDiscriminantAnalysis().fit(x, y)
        assert_array_equal(quadratic.predict_proba(x), plain.predict_proba(x))


@pytest.mark.parametrize("share", [0.0, 0.25, 1.0])
def test_shrinkage_is_towards_the_diagonal(share):
    x, y = random_table()
    whole = LinearDiscriminantAnalysis().fit(x, y).covariance_
    diagonal = np.diag(np.diag(whole))
    found = LinearDiscriminantAnalysis(shrinkage=share).fit(x, y).covariance_
    assert_allclose(found, (1 - share) * whole + share * diagonal, rtol=1e-12)
    of_class = QuadraticDiscriminantAnalysis(shrinkage=share).fit(x, y)
    by_name = QuadraticDiscriminantAnalysis(reg_param=share).fit(x, y)
    assert_array_equal(of_class.covariance_, by_name.covariance_)


def test_covariance_estimators_stand_for_a_shrinkage():
    x, y = random_table()
    pairs = [
        (estimators.EmpiricalCovariance(), None),
        (estimators.ShrunkCovariance(shrinkage=0.3), 0.3),
        (estimators.LedoitWolf(), "auto"),
    ]
    for estimator, shrinkage in pairs:
        for model in BOTH:
            found = model(covariance_estimator=estimator).fit(x, y)
            plain = model(shrinkage=shrinkage).fit(x, y)
            assert_array_equal(found.predict_proba(x), plain.predict_proba(x))


@pytest.mark.parametrize(
    "estimator",
    [
        estimators.EmpiricalCovariance(),
        estimators.ShrunkCovariance(shrinkage=0.3),
        estimators.LedoitWolf(block_size=7),
    ],
    ids=repr,
)
@pytest.mark.parametrize("model", BOTH)
def test_a_model_with_a_covariance_estimator_is_saved(model, estimator, tmp_path):
    x, y = random_table()
    found = model(covariance_estimator=estimator).fit(x, y)
    found.save(tmp_path / "m")
    loaded = suffice.load(tmp_path / "m")
    assert repr(loaded) == repr(found)
    assert_array_equal(loaded.predict_proba(x), found.predict_proba(x))
    found.set_params(covariance_estimator=estimators.MinCovDet())
    with pytest.raises(ParameterError, match=r"covariance_estimator.* cannot be saved"):
        found.save(tmp_path / "m")
    assert repr(suffice.load(tmp_path / "m")) == repr(loaded)


def test_automatic_shrinkage_of_quadratic_discriminants_is_that_of_scikit_learn():
    x, y = load_wine(return_X_y=True)
    expected = theirs.QuadraticDiscriminantAnalysis(
        solver="eigen", shrinkage="auto", store_covariance=True
    ).fit(x, y)
    found = QuadraticDiscriminantAnalysis(shrinkage="auto").fit(x, y)
    # The share is rounded to 2⁻³⁰.
    assert_allclose(found.covariance_, expected.covariance_, rtol=1e-7)
    assert_allclose(found.predict_proba(x), expected.predict_proba(x), atol=1e-7)


@pytest.mark.parametrize("model", BOTH)
def test_priors_are_divided_by_their_sum(model):
    x, y = random_table()
    expected = model(priors=[0.5, 0.25, 0.125, 0.125]).fit(x, y)
    for priors in ([4.0, 2.0, 1.0, 1.0], {0: 4.0, 1: 2.0, 2: 1.0, 3: 1.0}):
        with pytest.warns(SufficeWarning, match="do not sum to 1 but to 8: each is divided"):
            found = model(priors=priors).fit(x, y)
        assert found.priors is priors
        assert (found.predict_proba(x) == expected.predict_proba(x)).all()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"solver": "lu"}, "solver='lu'; solver is one of 'svd',"),
        (
            {"shrinkage": "most"},
            "shrinkage='most'; shrinkage is a number, from 0 to 1, or one of 'auto', None",
        ),
        (
            {"shrinkage": 1.5},
            "shrinkage=1.5; shrinkage is a number, from 0 to 1, or one of 'auto', None.",
        ),
        (
            {"priors": [[0.1, 0.2, 0.3, 0.4]]},
            "priors has the shape (1, 4), not (4,); Number of priors must match number of classes",
        ),
        ({"priors": {0: 1.0}}, "priors has no entry for the class 1"),
        ({"shrinkage": -0.5}, "shrinkage=-0.5; "),
        (
            {"priors": [0.5, 0.6]},
            "priors has 2 numbers; Number of priors must match number of classes, 4",
        ),
        ({"priors": [0.5, 0.6, 0.1, -0.2]}, "priors must be non-negative"),
        ({"priors": [0.0] * 4}, "The sum of the priors should be 1"),
        ({"covariance_estimator": estimators.MinCovDet()}, "understood, without assume_centered"),
        (
            {"covariance_estimator": "LedoitWolf"},
            "covariances follow from exact sums, not from rows",
        ),
        (
            {"covariance_estimator": estimators.LedoitWolf(assume_centered=True)},
            "understood, without assume_centered; use shrinkage",
        ),
        (
            {"covariance_estimator": estimators.LedoitWolf(), "shrinkage": 0.1},
            "shrinkage=0.1 with covariance_estimator; ",
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("model", BOTH)
def test_options_outside_their_rule(model, options, sentence):
    x, y = random_table()
    with pytest.raises(ParameterError, match=re.escape(sentence)):
        model(**options).fit(x, y)


def test_regularisation_is_said_once():
    x, y = random_table()
    with pytest.raises(ParameterError, match=r"tol=-1\.0; "):
        LinearDiscriminantAnalysis(tol=-1.0).fit(x, y)
    with pytest.raises(ParameterError, match="reg_param=2; "):
        QuadraticDiscriminantAnalysis(reg_param=2).fit(x, y)
    with pytest.raises(ParameterError, match=r"reg_param=0.1 with shrinkage"):
        QuadraticDiscriminantAnalysis(reg_param=0.1, shrinkage="auto").fit(x, y)


# -- scikit-learn's contract


def test_names_and_defaults_are_those_of_scikit_learn():
    for model in BOTH:
        other = getattr(theirs, model.__name__)().get_params()
        mine = model().get_params()
        assert {name: mine[name] for name in other} == other


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_the_contract_of_scikit_learn(model):
    with warnings.catch_warnings():
        # some of its tables have fewer rows than columns, or columns without spread in a class
        warnings.simplefilter("ignore", SufficeWarning)
        results = check_estimator(model())
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    assert len(passed) > 40


def test_many_classes_of_few_rows_are_told_in_a_few_sentences() -> None:
    rng = np.random.default_rng(0)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        QuadraticDiscriminantAnalysis().fit(rng.normal(size=(120, 5)), np.repeat(range(40), 3))
    assert len(told) < 10
    assert "more classes" in str(told[-1].message)
