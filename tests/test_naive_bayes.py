"""The classes with scikit-learn's names give scikit-learn's numbers wherever these are right."""

from functools import reduce

import numpy as np
import pandas as pd
import pytest
import sklearn.naive_bayes as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.estimator_checks import check_estimator

import suffice
import suffice.naive_bayes as ours
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.bayes import column_weights, form_features
from suffice.errors import DataError, ParameterError
from suffice.linear_model import LinearRegression, LogisticRegression, Ridge

NAMES = [name for name in ours.__all__ if name != "NaiveBayes"]
DISCRETE = [name for name in NAMES if name != "GaussianNB"]
ATTRIBUTES = ["class_count_", "classes_", "n_features_in_"]
MORE = {
    "GaussianNB": ["class_prior_", "theta_", "var_"],
    "BernoulliNB": ["class_log_prior_", "feature_count_", "feature_log_prob_"],
    "MultinomialNB": ["class_log_prior_", "feature_count_", "feature_log_prob_"],
    "ComplementNB": ["class_log_prior_", "feature_count_", "feature_log_prob_", "feature_all_"],
    "CategoricalNB": ["class_log_prior_", "n_categories_"],
}


def random_table(seed=0, n=300, d=7, k=4):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.poisson(1 + y[:, None] * rng.random(d), (n, d)).astype(float), y


def table(name, loader):
    """Rows that the model of this name is meant for."""
    x, y = random_table() if loader is None else loader(return_X_y=True)
    if name == "CategoricalNB":
        x = np.floor(4 * MinMaxScaler().fit_transform(x)).astype(int)
    if name == "BernoulliNB":
        x = x - x.mean(axis=0)
    return x, y


def pair(name, **options):
    """Our model and theirs; theirs without the variance floor that spreads over columns."""
    floor = {"var_smoothing": 0.0} if name == "GaussianNB" else {}
    return getattr(ours, name)(**floor, **options), getattr(theirs, name)(**floor, **options)


def assert_equal_models(mine, other, x):
    # digits have pixels that are constant within a class: without a floor theirs divide by zero
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), rtol=1e-10, atol=1e-10)
    joint = mine.predict_joint_log_proba(x), other.predict_joint_log_proba(x)
    assert_allclose(*joint, rtol=1e-10, atol=1e-10)
    assert (mine.predict(x) == other.predict(x)).all()
    for attribute in ATTRIBUTES + MORE[type(mine).__name__]:
        assert_allclose(getattr(mine, attribute), getattr(other, attribute), rtol=1e-10, atol=1e-12)


def usable(x, y, name):
    """Columns that spread within every class, where theirs need that."""
    if name != "GaussianNB":
        return x
    spread = np.min([x[y == c].var(axis=0) for c in np.unique(y)], axis=0)
    return x[:, spread > 1e-3 * x.var(axis=0)]


@pytest.mark.parametrize("loader", [load_wine, load_digits, None])
@pytest.mark.parametrize("name", NAMES)
def test_equal_to_scikit_learn(name, loader):
    x, y = table(name, loader)
    x = usable(x, y, name)
    mine, other = pair(name)
    assert_equal_models(mine.fit(x, y), other.fit(x, y), x)


@pytest.mark.parametrize("name", NAMES)
def test_weights(name):
    x, y = table(name, None)
    weights = np.random.default_rng(1).random(len(y))
    if name != "CategoricalNB":  # theirs counts the categories of rows without weight
        weights *= np.arange(len(y)) % 5 > 0
    mine, other = pair(name)
    assert_equal_models(mine.fit(x, y, weights), other.fit(x, y, weights), x)


@pytest.mark.parametrize("name", NAMES)
def test_partial_fit_gives_the_bits_of_fit(name):
    x, y = table(name, None)
    batches, whole = pair(name)[0], pair(name)[0].fit(x, y)
    for rows in np.array_split(np.arange(len(y)), 10):
        batches.partial_fit(x[rows], y[rows], classes=np.unique(y))
    assert (batches.predict_joint_log_proba(x) == whole.predict_joint_log_proba(x)).all()
    other = pair(name)[1]
    for rows in np.array_split(np.arange(len(y)), 10):
        if name == "CategoricalNB":
            other.set_params(min_categories=x.max(axis=0) + 1)
        other.partial_fit(x[rows], y[rows], classes=np.unique(y))
    assert_equal_models(batches, other, x)


def test_declared_classes_are_classes_before_their_first_row():
    x, y = table("GaussianNB", None)
    model = ours.GaussianNB().partial_fit(x[y < 2], y[y < 2], classes=[0, 1, 2, 3])
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert model.class_count_.tolist() == [(y == 0).sum(), (y == 1).sum(), 0, 0]
    assert model.predict_proba(x)[:, 2:].max() == 0
    model.partial_fit(x[y >= 2], y[y >= 2])
    whole = ours.GaussianNB().fit(x, y)
    assert (model.predict_proba(x) == whole.predict_proba(x)).all()


EVENTS = [{"fit_prior": False}, {"alpha": 1e-3}, {"alpha": 3.0}]
OPTIONS = {
    "GaussianNB": [{"priors": [0.1, 0.2, 0.3, 0.4]}],
    **{name: [{"class_prior": [0.1, 0.2, 0.3, 0.4]}, *EVENTS] for name in DISCRETE},
}
OPTIONS["ComplementNB"].append({"norm": True})
OPTIONS["BernoulliNB"] += [{"binarize": 0.5}, {"binarize": 2.0}]


@pytest.mark.parametrize("name", NAMES)
def test_options(name):
    x, y = table(name, None)
    for options in OPTIONS[name]:
        mine, other = (model.fit(x, y) for model in pair(name, **options))
        if "alpha" in options or options in ({"norm": True}, {"binarize": 2.0}):
            assert_equal_models(mine, other, x)
        assert_allclose(mine.predict_proba(x), other.predict_proba(x), rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"fit_prior": False}, {"class_prior": [0.2, 0.3, 0.5]}])
def test_complement_states_the_prior_of_its_options_and_does_not_use_it(options, tmp_path):
    x, y = load_iris(return_X_y=True)
    x, y = x[:120], y[:120]  # 50, 50 and 20 rows
    mine, other = ours.ComplementNB(**options).fit(x, y), theirs.ComplementNB(**options).fit(x, y)
    plain = theirs.MultinomialNB(**options).fit(x, y).class_log_prior_
    mine.save(tmp_path / "m")
    for model in (mine, suffice.load(tmp_path / "m")):
        assert_allclose(model.class_log_prior_, plain, rtol=1e-15)
        assert_allclose(model.class_prior_, np.exp(plain), rtol=1e-14)
        assert_allclose(model.predict_proba(x), other.predict_proba(x), rtol=1e-10)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB"])
def test_one_alpha_per_column(name):
    x, y = table(name, None)
    alpha = np.linspace(0.1, 2, x.shape[1])
    mine, other = pair(name, alpha=alpha)
    mine.fit(x, y)
    if name == "BernoulliNB":  # theirs takes one alpha per column only where k = d
        ones = np.stack([(x[y == c] > 0).sum(axis=0) for c in range(4)])
        share = (ones + alpha) / (np.bincount(y)[:, None] + 2 * alpha)
        assert_allclose(np.exp(mine.feature_log_prob_), share, rtol=1e-14)
    else:
        assert_equal_models(mine, other.fit(x, y), x)
    with pytest.raises(ValueError, match="alpha has 2 numbers for 7 columns"):
        getattr(ours, name)(alpha=[1.0, 2.0]).fit(x, y)


def test_bernoulli_without_threshold_takes_two_outcomes_only():
    x, y = table("BernoulliNB", None)
    mine, other = pair("BernoulliNB", binarize=None)
    assert_equal_models(mine.fit(x > 0, y), other.fit(x > 0, y), x > 0)
    with pytest.raises(ValueError, match="a binary column holds 0 and 1, or -1 and 1"):
        mine.fit(x, y)


@pytest.mark.parametrize("least", [9, np.arange(7) + 4])
def test_min_categories(least):
    x, y = table("CategoricalNB", None)
    mine, other = pair("CategoricalNB", min_categories=least)
    mine.fit(x, y)
    other.fit(x, y)
    assert_allclose(mine.predict_proba(x), other.predict_proba(x), rtol=1e-10)
    for a, b in zip(mine.category_count_, other.category_count_, strict=True):
        assert_allclose(a, b)
    for a, b in zip(mine.feature_log_prob_, other.feature_log_prob_, strict=True):
        assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "ComplementNB"])
def test_sparse_rows(name):
    rng = np.random.default_rng(0)
    x = sparse.random(500, 300, 0.05, format="csr", random_state=0)
    x.data = rng.integers(1, 5, x.nnz).astype(float)
    y = rng.integers(0, 3, 500)
    mine, other = pair(name)
    assert_equal_models(mine.fit(x, y), other.fit(x, y), x)
    dense = clone(mine).fit(x.toarray(), y)
    assert_allclose(mine.predict_proba(x), dense.predict_proba(x.toarray()), rtol=1e-9)
    assert_allclose(mine.predict_proba(x.toarray()), mine.predict_proba(x), rtol=1e-12)


def test_sparse_counts_of_any_type():
    for dtype in (np.bool_, np.int8, np.uint16, np.int64, np.float32):
        x = np.random.default_rng(1).poisson(0.6, (60, 20)).astype(dtype)
        y = np.arange(60) % 11
        mine, other = pair("MultinomialNB")
        mine, other = mine.fit(sparse.csr_matrix(x), y), other.fit(x.astype(float), y)
        assert (mine.feature_count_ == other.feature_count_).all()
        scores = mine.predict_joint_log_proba(sparse.csr_matrix(x))
        assert_allclose(scores, other.predict_joint_log_proba(x.astype(float)), rtol=1e-12)


@pytest.mark.parametrize("binarize", [0.0, 0.5, -0.5, None])
def test_a_missing_cell_of_sparse_rows_is_left_out_as_of_dense_rows(binarize):
    rng = np.random.default_rng(3)
    x = rng.integers(0, 2, (90, 8)).astype(float)
    x[rng.random(x.shape) < 0.3] = np.nan
    y, w, rows = rng.integers(0, 3, 90), rng.integers(0, 4, 90) / 2, sparse.csr_matrix(x)
    parts = [slice(0, 40), slice(40, 70), slice(70, 90)]
    dense, mixed, merged = (ours.BernoulliNB(binarize=binarize) for _ in range(3))
    dense.fit(x[:70], y[:70], sample_weight=w[:70])
    for cells, part in zip((rows, x, rows), parts, strict=True):
        mixed.partial_fit(cells[part], y[part], sample_weight=w[part])
    mixed.forget(rows[parts[2]], y[parts[2]], sample_weight=w[parts[2]])
    merged.fit(rows[parts[0]], y[parts[0]], sample_weight=w[parts[0]])
    other = clone(merged).fit(rows[parts[1]], y[parts[1]], sample_weight=w[parts[1]])
    for model in (mixed, merged.merge(other)):
        assert (model.feature_count_ == dense.feature_count_).all()
        assert_allclose(model.feature_log_prob_, dense.feature_log_prob_, rtol=1e-14)
        for cells in (rows, x):
            assert_allclose(model.predict_proba(cells), dense.predict_proba(x), rtol=1e-12)
    assert_allclose(dense.predict_proba(rows), dense.predict_proba(x), rtol=1e-12)
    # Manning, Raghavan and Schütze (2008), section 13.3, over the cells that are there
    for c, j in np.ndindex(3, 8):
        shown = (y[:70] == c) & ~np.isnan(x[:70, j])
        ones = w[:70][shown] @ (x[:70, j][shown] > (binarize or 0.0))
        theta = (ones + 1) / (w[:70][shown].sum() + 2)
        assert_allclose(np.exp(mixed.feature_log_prob_[c, j]), theta, rtol=1e-14)


def test_sparse_gaussian():
    x, y = random_table()
    mine = ours.GaussianNB().fit(sparse.csr_matrix(x), y)
    assert (mine.theta_ == ours.GaussianNB().fit(x, y).theta_).all()
    assert (mine.predict(sparse.csr_matrix(x)) == mine.predict(x)).all()


@pytest.mark.parametrize("name", NAMES)
def test_every_dtype_and_memory_order(name):
    rows, y = table(name, None)
    types = (np.float32, "F"), (np.int64, "C"), (np.int32, "F"), (np.bool_, "C"), (object, "F")
    for dtype, order in types:
        x = np.abs(np.round(rows)).astype(dtype)
        mine = getattr(ours, name)().fit(np.array(x, order=order), y)
        plain = np.array(x, int if name == "CategoricalNB" else float)
        other = getattr(ours, name)().fit(plain, y)
        found, expected = mine.predict_proba(np.array(x, order=order)), other.predict_proba(plain)
        assert (found == expected.astype(found.dtype)).all(), dtype


def test_the_variance_floor_belongs_to_its_column():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    x = np.c_[rng.normal(0, 1e6, 100), y + rng.normal(0, 0.01, 100)]
    assert ours.GaussianNB().fit(x, y).score(x, y) == 1
    assert theirs.GaussianNB().fit(x, y).score(x, y) < 0.7  # scikit-learn 1.9: 0.55
    model = ours.GaussianNB(var_smoothing=0.5).fit(x, y)
    assert_allclose(model.epsilon_, 0.5 * x.var(axis=0))
    assert_allclose(model.var_[:, 1], model.epsilon_[1])


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_without_smoothing_a_class_of_one_value_keeps_to_it_in_any_unit(unit):
    x, y = np.array([[1.0], [1.0], [2.0], [3.0]]) * unit, [0, 0, 1, 1]
    rows = np.array([[1.0], [2.0], [2.5], [3.0]]) * unit
    plain = ours.NaiveBayes.textbook(suffice.families.Gaussian("mle", variance_floor=0))
    for model in (ours.GaussianNB(var_smoothing=0), plain):
        assert model.fit(x, y).predict(rows).tolist() == [0, 1, 1, 1]
    model = ours.GaussianNB(var_smoothing=0).fit(x, y)
    assert_allclose(model.var_[0], model.epsilon_)
    assert_allclose(model.epsilon_, 2.0**-100 * x.var(axis=0))


@pytest.mark.parametrize("name", ["BernoulliNB", "MultinomialNB", "CategoricalNB"])
def test_alpha_zero_has_no_nan(name):
    x, y = table(name, None)
    probabilities = getattr(ours, name)(alpha=0.0).fit(x, y).predict_proba(x)
    assert np.isfinite(probabilities).all()
    assert_allclose(probabilities.sum(axis=1), 1)


def test_missing_cells_are_left_out_by_every_class():
    for name in NAMES:
        x, y = table(name, None)
        x = x.astype(float)
        holed = np.where(np.random.default_rng(0).random(x.shape) < 0.2, np.nan, x)
        holed[0] = np.nan
        model = getattr(ours, name)().fit(holed, y)
        answer = model.predict_proba(holed)
        assert np.isfinite(answer).all()
        assert_allclose(answer[0], np.exp(model.model_.log_prior), rtol=1e-12)


def test_the_rule_for_unseen_values_is_checked_where_no_column_is_a_category():
    with pytest.raises(ParameterError, match="unseen='nonsense'"):
        ours.NaiveBayes.textbook(unseen="nonsense").fit([[1.0], [2.0]], [0, 1])


def test_strings_and_unseen_values():
    model = ours.CategoricalNB().fit([["red"], ["blue"], ["red"]], ["a", "b", "a"])
    assert model.categories_ == [("blue", "red")]
    assert_allclose(model.predict_proba([["green"]]), [[2 / 3, 1 / 3]])
    with pytest.raises(ValueError, match="'green'"):
        model.set_params(unseen="error").fit([["red"], ["blue"]], ["a", "b"]).predict([["green"]])


@pytest.mark.parametrize("name", NAMES)
def test_forget_merge_save_and_explain(name, tmp_path):
    x, y = table(name, None)
    half = len(y) // 2
    first = getattr(ours, name)().fit(x[:half], y[:half])
    both = getattr(ours, name)().fit(x, y)
    assert both.forget(x[half:], y[half:]).statistic_ == first.statistic_
    first.merge(getattr(ours, name)().fit(x[half:], y[half:]))
    first.save(tmp_path / "model")
    loaded = suffice.load(tmp_path / "model")
    assert type(loaded) is type(first)
    assert (loaded.predict_proba(x) == first.predict_proba(x)).all()
    evidence = loaded.explain(x[:20])
    assert_allclose(evidence.probabilities, loaded.predict_proba(x[:20]), rtol=1e-9)


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    x, y = table("GaussianNB", None)
    model = ours.GaussianNB().fit(x, y)
    answers = model.predict_proba(x)
    bad = np.c_[x, np.full(len(x), np.inf)]
    with pytest.raises(ValueError, match="a number must be finite"):
        model.fit(bad, y)
    assert (model.predict_proba(x) == answers).all()
    with pytest.raises(ValueError, match="expecting 7 features"):
        model.partial_fit(bad, y)
    assert (model.predict_proba(x) == answers).all()
    fresh = ours.GaussianNB()
    with pytest.raises(ValueError, match="a number must be finite"):
        fresh.partial_fit(bad, y)
    assert vars(fresh) == vars(ours.GaussianNB())


def test_grids_and_pipelines():
    x, y = load_wine(return_X_y=True)
    search = GridSearchCV(ours.GaussianNB(), {"var_smoothing": [1e-9, 0.1, 10.0]}, cv=3).fit(x, y)
    assert search.best_params_ == {"var_smoothing": 1e-9}
    pipeline = make_pipeline(MinMaxScaler(clip=True), ours.MultinomialNB())
    reference = make_pipeline(MinMaxScaler(clip=True), theirs.MultinomialNB())
    assert_allclose(cross_val_score(pipeline, x, y), cross_val_score(reference, x, y))


EXPECTED = {
    "check_class_weight_classifiers": "it fits negative numbers, which are no counts or codes"
}


@pytest.mark.parametrize(
    "model",
    [
        *(getattr(ours, name)() for name in NAMES),
        ours.NaiveBayes.textbook(),
        pytest.param(ours.NaiveBayes(), marks=pytest.mark.exhaustive),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_the_contract_of_scikit_learn(model):
    expected = EXPECTED if type(model).__name__ in ("MultinomialNB", "CategoricalNB") else {}
    results = check_estimator(model, expected_failed_checks=expected)
    passed = {result["check_name"] for result in results if result["status"] == "passed"}
    assert len(passed) > 40


def test_a_sparse_cell_stored_in_parts_is_one_outcome():
    parts = np.ones(5), np.array([0, 0, 1, 1, 0]), np.array([0, 2, 3, 4, 5])
    x, y = sparse.csr_matrix(parts, shape=(4, 2)), [0, 0, 1, 1]
    for binarize, cells in ((0.0, x.toarray()), (None, x.toarray() > 0)):
        model = ours.BernoulliNB(alpha=0, binarize=binarize).fit(x, y)
        dense = ours.BernoulliNB(alpha=0, binarize=binarize).fit(cells, y)
        np.testing.assert_array_equal(model.feature_count_, dense.feature_count_)
        np.testing.assert_array_equal(model.predict_proba(x), dense.predict_proba(cells))
    assert x.nnz == 5


def test_a_merge_that_fails_leaves_the_model_as_it_was():
    x = np.array([[0.0], [1.0], [4.0], [5.0]])
    model = ours.GaussianNB(priors=[0.5, 0.5]).fit(x, [0, 0, 1, 1])
    other = ours.GaussianNB().fit(x + 9, [1, 1, 2, 2])
    before = model.predict_proba(x)
    with pytest.raises(suffice.errors.ParameterError):
        model.merge(other)
    np.testing.assert_array_equal(model.predict_proba(x), before)
    assert model.class_count_.tolist() == [2, 2]
    assert model.partial_fit(x, [0, 0, 1, 1]).class_count_.tolist() == [4, 4]


CLASSIFIERS = [
    *(getattr(ours, name) for name in ours.__all__),
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    LogisticRegression,
]


@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_labels_keep_their_dtype(kind, tmp_path):
    x, y = load_iris(return_X_y=True)
    for dtype in ("bool", "uint8", "float32"):
        labels = (y > 0).astype(dtype)
        model = kind().fit(x[::3], labels[::3])
        model.save(tmp_path / "m")
        loaded = suffice.load(tmp_path / "m")
        dtypes = {model.classes_.dtype, model.predict(x[:3]).dtype, loaded.predict(x[:3]).dtype}
        assert dtypes == {labels.dtype}


@settings(max_examples=15)
@given(
    st.lists(st.sampled_from(["int8", "uint16", "int32", "float32"]), min_size=1)
    | st.lists(st.just("bool"), min_size=1)
)
def test_labels_of_several_dtypes_are_promoted_as_numpy_does(dtypes):
    batches = [np.array([0, 1], dtype) for dtype in dtypes]
    model, other = ours.GaussianNB(), ours.GaussianNB().fit([[0.0], [1.0]], batches[-1])
    for y in batches:
        model.partial_fit([[0.0], [1.0]], y)
    expected = reduce(np.promote_types, dtypes)
    assert model.classes_.dtype == expected
    assert model.merge(other).classes_.dtype == np.promote_types(expected, dtypes[-1])


def test_declared_classes_and_lists_take_part_in_the_dtype():
    y = np.array([0, 1], np.int8)
    declared = np.array([0, 1, 2], np.int16)
    model = ours.GaussianNB().partial_fit([[0.0], [1.0]], y, classes=declared)
    assert model.classes_.dtype == np.int16
    assert model.partial_fit([[0.0]], [1]).classes_.dtype == np.array([1]).dtype


COUNTS, CODE = random_table()[0].astype(int), random_table()[1]
DRAWN = {
    **{kind.__name__: (kind, COUNTS) for kind in CLASSIFIERS[:-1] if kind is not ours.ComplementNB},
    "BernoulliNB": (ours.BernoulliNB, COUNTS.clip(0, 1)),
    "counts of a sparse matrix": (ours.MultinomialNB, sparse.csr_matrix(COUNTS)),
    "outcomes of a sparse matrix": (ours.BernoulliNB, sparse.csr_matrix(COUNTS)),
    "strings": (ours.CategoricalNB, np.char.add("n", COUNTS.astype(str))),
}


@pytest.mark.parametrize("case", DRAWN)
def test_a_model_reads_what_it_draws(case):
    kind, rows = DRAWN[case]
    model = kind().fit(rows, CODE)
    rows, labels = model.sample(400, random_state=0)
    array = np.column_stack(list(rows.values()))
    assert_allclose(model.predict_proba(rows), model.predict_proba(array), rtol=1e-12)
    assert (model.predict(rows) == model.predict(array)).all()
    again = clone(model).fit(rows, labels)
    assert again.class_count_.sum() == 400
    assert again.schema_[0].name == "x0"


ESTIMATORS = [*CLASSIFIERS, LinearRegression, Ridge]


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.filterwarnings("error")
def test_columns_called_by_numbers_have_no_names(kind, tmp_path):
    x, y = random_table()
    x = x.astype(int)
    frame = pd.DataFrame(x)
    model = kind().fit(frame.set_axis(list("abcdefg"), axis=1), y)
    assert model.feature_names_in_.tolist() == list("abcdefg")
    model.fit(frame, y)
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 7
    model.save(tmp_path / "m")
    loaded = suffice.load(tmp_path / "m")
    assert not hasattr(loaded, "feature_names_in_")
    for other in (model, loaded):
        assert [column.name for column in other.schema_] == list("0123456")
        assert_allclose(other.predict(x), model.predict(frame), rtol=1e-12)


@pytest.mark.parametrize("kind", ESTIMATORS)
@pytest.mark.filterwarnings("error")
def test_frames_of_sparse_columns(kind):
    x, y = random_table()
    names = list("abcdefg")
    rows = sparse.csr_matrix(x.astype(int))
    frame = pd.DataFrame.sparse.from_spmatrix(rows, columns=names)
    model, plain = kind().fit(frame, y), kind().fit(rows, y)
    assert model.feature_names_in_.tolist() == names
    assert [column.name for column in model.schema_] == names
    dense = frame.sparse.to_dense()
    for table in (frame, dense):
        assert_allclose(model.predict(table), plain.predict(rows), rtol=1e-9, atol=1e-12)
    assert_allclose(kind().fit(dense, y).predict(frame), kind().fit(dense, y).predict(dense))


def test_frames_of_which_some_columns_are_sparse_or_the_label_is():
    x, y = random_table()
    frame = pd.DataFrame(x, columns=list("abcdefg"))
    some = frame.astype({"b": pd.SparseDtype(float, 0.0), "c": pd.SparseDtype(float, np.nan)})
    expected = ours.GaussianNB().fit(frame, y)
    assert ours.GaussianNB().fit(some, y).statistic_ == expected.statistic_
    whole = frame.astype(pd.SparseDtype(float, 0.0)).assign(y=pd.arrays.SparseArray(y))
    assert ours.GaussianNB().fit(whole, "y").statistic_ == expected.statistic_


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 1] * 3, ">i4"),
        np.array([2**64 - 1, 2**64 - 2] * 3, np.uint64),
        np.array([2**63 - 1, 2**63] * 3, np.uint64),
        np.array([-128, 127] * 3, np.int8),
        np.array([-128, -28] * 3, np.int8),
        np.array([-(2**63), 2**63 - 1] * 3, np.int64),
        np.array([2**32 - 101, 2**32 - 1] * 3, np.uint32),
    ],
)
def test_labels_may_be_any_whole_numbers(labels: np.ndarray) -> None:
    x = np.arange(6.0)[:, None] + 10 * (np.arange(6)[:, None] % 2)
    model = ours.GaussianNB().fit(x, labels)
    assert model.classes_.tolist() == sorted(set(labels.tolist()))
    assert model.predict(x).tolist() == labels.tolist()
    assert model.score(x, labels) == 1.0


NEGATIVE = "Negative values in data passed to CategoricalNB (input X): numbers are codes from 0 on"


@pytest.mark.parametrize("codes", [np.asarray, pd.DataFrame, lambda x: np.asarray(x, float)])
def test_codes_below_0_are_refused_as_in_scikit_learn(codes):
    good = codes([[0, 1], [1, 0], [2, 2], [0, 1]])
    bad = codes([[0, 1], [1, -1], [2, 2], [0, 1]])
    y, model = [0, 0, 1, 1], ours.CategoricalNB()
    cell = r"row 1: -1"
    reads = [
        lambda: model.fit(bad, y),
        lambda: model.fit(good, y).predict(bad),
        lambda: model.explain(bad),
        lambda: form_features(model, bad),
        lambda: model.partial_fit(bad, y),
        lambda: ours.CategoricalNB(unseen="smooth").fit(good, y).predict_proba(bad),
    ]
    for read in reads:
        with pytest.raises(DataError, match=cell) as caught:
            read()
        assert NEGATIVE in str(caught.value)


def test_pseudo_counts_of_columns_are_refused_in_words_that_scikit_learn_has_too():
    x, y = [[1, 0], [1, 1]], [0, 1]
    with pytest.raises(ParameterError, match="All values in alpha must be greater than 0"):
        ours.MultinomialNB(alpha=[1.0, -0.1]).fit(x, y)
    with pytest.raises(ParameterError, match="alpha has 3 numbers for 2 columns; When alpha is an"):
        ours.BernoulliNB(alpha=[1.0, 2.0, 3.0]).fit(x, y)


@pytest.mark.parametrize("norm", [False, True])
def test_the_complement_of_a_single_event_tells_no_classes_apart(norm):
    model = ours.ComplementNB(norm=norm).fit([[1], [2], [3]], [0, 1, 1])
    np.testing.assert_array_equal(model.predict_proba([[2], [0]]), np.full((2, 2), 0.5))


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_negative_count_is_named_in_words_that_scikit_learn_has_too(name, form):
    x, y = np.array([[1.0, 0.0], [2.0, -3.0]]), [0, 1]
    said = (
        f"column 'x1', row 1: -3.0; Negative values in data passed to {name} (input X): a count is "
        "0 or more."
    )
    with pytest.raises(DataError) as caught:
        getattr(ours, name)().fit(form(x), y)
    assert str(caught.value) == said
    with pytest.raises(DataError) as caught:
        getattr(ours, name)().partial_fit(form(x), y)
    assert str(caught.value) == said


def test_least_categories_of_a_wrong_shape_are_refused():
    model = ours.CategoricalNB(min_categories=[[3, 2], [2, 4]])
    with pytest.raises(ParameterError, match=r"shape \(2, 2\); 'min_categories' should have shape"):
        model.fit([[0, 0], [1, 1]], [0, 1])


@pytest.mark.parametrize("kind", [ours.NaiveBayes, suffice.AODE])
def test_a_sparse_matrix_gives_the_model_of_the_dense_one(kind):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    codes = np.eye(6)[rng.integers(0, 6, 120)]
    counts = rng.poisson(0.5 + y[:, None], (120, 5))
    matrices = {
        "codes and numbers": np.hstack([codes, rng.normal(size=(120, 1)) + y[:, None]]),
        "codes and positive numbers": np.hstack([codes, rng.exponential(size=(120, 1))]),
        "shares": counts / np.maximum(counts.sum(axis=1, keepdims=True), 1),
        "counts": counts,
        "truth values": codes > 0,
    }
    for x in matrices.values():
        expected = kind().fit(x, y).predict_proba(x)
        found = kind().fit(sparse.csc_array(x), y)
        assert_allclose(found.predict_proba(sparse.csc_array(x)), expected, rtol=1e-9)
        assert_allclose(found.predict_proba(x), expected, rtol=1e-9)


def test_many_counts_are_one_multinomial_however_they_are_stored():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    x = rng.poisson(0.02 + 0.03 * y[:, None], (80, 300))
    for form in (np.asarray, np.float64, sparse.csr_array, sparse.csc_matrix):
        model = ours.NaiveBayes().fit(form(x), y)
        assert set(model.model_.family_names.values()) == {"multinomial"}
    first, rest = slice(0, 40), slice(40, 80)
    plain = ours.NaiveBayes.textbook().fit(x, y)
    stream = ours.NaiveBayes.textbook().partial_fit(x[first], y[first])
    stream.partial_fit(sparse.csr_array(x[rest]), y[rest])
    assert_allclose(stream.predict_proba(x), plain.predict_proba(x), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:column 'hue'")
@pytest.mark.parametrize("learnt", [True, False])
def test_calibration_refuses_unknown_labels_and_rows_that_say_nothing(learnt):
    y = np.repeat(["a", "b"], 40)
    rows = pd.DataFrame({"hue": np.where(np.arange(80) % 3, y, "other"), "y": y})
    model = ours.NaiveBayes().fit(rows, "y")
    before = column_weights(model)
    for other, fact in (
        (rows.assign(y="c"), "'c' was never seen"),
        (rows.assign(y=np.where(y == "a", "a", "c")), "'c' was never seen"),
        (rows.assign(hue="new"), "no row shows a value"),
        (rows.assign(hue=None), "no row shows a value"),
    ):
        with pytest.raises(DataError, match=fact):
            model.calibrate(other, "y", learnt=learnt)
    assert column_weights(model) == before
