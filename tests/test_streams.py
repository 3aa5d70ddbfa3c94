"""Streams: batches that fade or leave, against one fit of the rows that count."""

from __future__ import annotations

import pickle
import warnings
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from tests.laws.comparing import frozen

import suffice
from suffice import LinearDiscriminantAnalysis, NaiveBayes, QuadraticDiscriminantAnalysis
from suffice.errors import DataError, ForgetError, ParameterError, SchemaError
from suffice.linear_model import Lasso, LinearRegression, Ridge
from suffice.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

FAMILIES = {"visits": "poisson", "note": "multinomial", "flag": "bernoulli", "color": "categorical"}
WORDS = ("to", "be", "or", "not")


def batch(seed: int, n: int = 11) -> pa.Table:
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)

    def gappy(values: list[Any]) -> list[Any]:
        return [None if gone else v for gone, v in zip(rng.random(n) < 0.2, values, strict=True)]

    return pa.table(
        {
            "size": pa.array(gappy((1e6 + code + rng.normal(size=n)).tolist()), pa.float64()),
            "visits": pa.array(gappy(rng.poisson(2.0 + code).tolist()), pa.int64()),
            "color": pa.array(
                gappy(rng.choice(["red", "blue", f"x{seed}"], n).tolist()), pa.string()
            ),
            "flag": pa.array(gappy((rng.random(n) < 0.4).tolist()), pa.bool_()),
            "note": pa.array(
                gappy([" ".join(rng.choice(WORDS, 4)) for _ in range(n)]), pa.string()
            ),
            "kind": pa.array(gappy([("a", "b", "c")[c] for c in code]), pa.string()),
        }
    )


BATCHES = [batch(seed, n) for seed, n in enumerate((30, 11, 1, 0, 17, 8))]


def weighted(batches: list[pa.Table], weights: list[float]) -> pa.Table:
    """All rows, with the weight of their batch."""
    columns = [
        table.append_column("w", pa.array(np.full(len(table), weight)))
        for table, weight in zip(batches, weights, strict=True)
    ]
    return pa.concat_tables(columns)


def same(model: Any, expected: Any) -> bool:
    """Whether two models have the same statistic, parameters and answers, to the bit."""
    rows = pa.concat_tables(BATCHES).drop(["kind"])
    return bool(
        model.statistic_ == expected.statistic_
        and frozen(model.model_.prior) == frozen(expected.model_.prior)
        and frozen(model.model_.parameters) == frozen(expected.model_.parameters)
        and frozen(model.predict_joint_log_proba(rows))
        == frozen(expected.predict_joint_log_proba(rows))
    )


def learnt(model: Any, batches: list[pa.Table], **options: Any) -> Any:
    for table in batches:
        model.partial_fit(table, "kind", **options)
    return model


# -- decay


@pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])
@pytest.mark.filterwarnings("ignore:.*impossible under every class:suffice.errors.SufficeWarning")
@pytest.mark.parametrize("gamma", [0.5, 0.25])
def test_decay_by_powers_of_two_is_a_weighted_fit_to_the_bit(estimation: str, gamma: float) -> None:
    options: dict[str, Any] = {"families": FAMILIES, "estimation": estimation}
    faded = learnt(NaiveBayes.textbook(**options), BATCHES, decay=gamma)
    table = weighted(BATCHES, [gamma**age for age in range(len(BATCHES))[::-1]])
    assert same(faded, NaiveBayes.textbook(**options).fit(table, "kind", sample_weight="w"))


def test_decay_is_a_weighted_fit_up_to_the_rounding_of_the_weights() -> None:
    faded = learnt(NaiveBayes.textbook(FAMILIES), BATCHES, decay=0.9)
    table = weighted(BATCHES, [0.9**age for age in range(len(BATCHES))[::-1]])
    fitted = NaiveBayes.textbook(FAMILIES).fit(table, "kind", sample_weight="w")
    rows = pa.concat_tables(BATCHES).drop(["kind"])
    np.testing.assert_allclose(
        faded.predict_joint_log_proba(rows), fitted.predict_joint_log_proba(rows), rtol=1e-12
    )


def test_decayed_sums_are_exact_to_100_bits() -> None:
    rng, gamma = np.random.default_rng(5), 0.7
    batches = [1e3 + rng.normal(size=20) for _ in range(9)]
    model = GaussianNB()
    for x in batches:
        model.partial_fit(x[:, None], np.resize([0, 1], 20), decay=gamma)
    (moments,) = model.statistic_.blocks
    for c in range(2):
        weights = [Fraction(gamma) ** age for age in range(9)[::-1]]
        pivot = Fraction(moments.pivot[c, 0])
        rows = [
            (w, Fraction(v) - pivot)
            for w, x in zip(weights, batches, strict=True)
            for v in x[c::2].tolist()
        ]
        weight, total, squares = (sum(w * v**p for w, v in rows) for p in range(3))
        pairs = (moments.weight[c, :2], weight), (moments.sums[c, :2], total)
        for pair, exact in (*pairs, (moments.sums[c, 2:], squares)):
            size = sum(w * abs(v) for w, v in rows) if exact == total else exact
            found = Fraction(pair[0, 0]) + Fraction(pair[1, 0])
            assert abs(found - exact) <= size * Fraction(2) ** -100


@pytest.mark.parametrize(
    "make",
    [
        GaussianNB,
        BernoulliNB,
        MultinomialNB,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    ],
)
def test_decay_is_an_argument_of_every_classifier(make: Any) -> None:
    rng = np.random.default_rng(8)
    x, y = rng.integers(0, 5, (60, 3)).astype(np.float64), np.resize([0, 1, 1], 60)
    faded = make()
    for rows in (slice(0, 20), slice(20, 50), slice(50, 60)):
        faded.partial_fit(x[rows], y[rows], decay=0.5)
    weights = np.repeat([0.25, 0.5, 1.0], [20, 30, 10])
    expected = make().fit(x, y, sample_weight=weights)
    np.testing.assert_array_equal(faded.predict_proba(x), expected.predict_proba(x))


def test_what_has_faded_away_is_gone() -> None:
    old = pa.table({"size": [1e-5, 3.0, 1e7], "color": ["red", "blue", "red"], "kind": list("aab")})
    new = pa.table({"size": [1.0, 2.0], "color": ["blue", "green"], "kind": list("bc")})
    model = NaiveBayes.textbook().fit(old, "kind")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(30):
            model.partial_fit(new, "kind", decay=2.0**-40)
            answers = model.predict_joint_log_proba(old.drop(["kind"]))
            assert np.isfinite(answers).all()
    assert model.classes_.tolist() == ["b", "c"]
    assert model.statistic_.blocks[1].vocabularies[0].values == ("blue", "green")


def test_rows_that_weigh_little_have_the_spread_of_their_values() -> None:
    x, y = np.array([[1.0], [2.0], [4.0], [8.0]]), [0, 0, 1, 1]
    model = GaussianNB(var_smoothing=0.5).fit(x, y, sample_weight=np.full(4, 2.0**-30))
    expected = GaussianNB(var_smoothing=0.5).fit(x, y)
    np.testing.assert_array_equal(model.epsilon_, expected.epsilon_)
    np.testing.assert_array_equal(model.var_, expected.var_)


def test_decay_of_one_changes_nothing() -> None:
    whole = NaiveBayes.textbook(FAMILIES).fit(pa.concat_tables(BATCHES), "kind")
    assert same(learnt(NaiveBayes.textbook(FAMILIES), BATCHES, decay=1.0), whole)


# -- windows


@pytest.mark.parametrize("window", [1, 2, 3, 9])
def test_a_window_is_a_fit_of_its_batches(window: int) -> None:
    model = NaiveBayes.textbook(FAMILIES)
    batches = [t for t in BATCHES if window > 1 or len(t)]
    for i, table in enumerate(batches):
        model.partial_fit(table, "kind", window=window)
        shown = pa.concat_tables(batches[max(0, i - window + 1) : i + 1])
        assert same(model, NaiveBayes.textbook(FAMILIES).partial_fit(shown, "kind"))


@pytest.mark.parametrize("make", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_a_window_over_covariances(make: Any) -> None:
    rng = np.random.default_rng(2)
    x, y = 1e4 + rng.normal(size=(90, 3)), np.resize([0, 1, 1], 90)
    model = make()
    for start in range(0, 90, 15):
        rows = slice(start, start + 15)
        model.partial_fit(x[rows] * 10.0 ** (start // 15), y[rows], window=2)
    assert len(model.batches_) == 2
    late = np.concatenate([x[60:75] * 1e4, x[75:] * 1e5])
    expected = make().fit(late, y[60:])
    assert frozen(model.model_.parameters) == frozen(expected.model_.parameters)


def test_a_window_may_fade_too() -> None:
    model = learnt(NaiveBayes.textbook(FAMILIES), BATCHES, window=3, decay=0.5)
    table = weighted(BATCHES[-3:], [0.25, 0.5, 1.0])
    assert same(model, NaiveBayes.textbook(FAMILIES).fit(table, "kind", sample_weight="w"))


def test_what_came_before_the_window_is_one_batch() -> None:
    model = NaiveBayes.textbook(FAMILIES).fit(BATCHES[0], "kind").partial_fit(BATCHES[1], "kind")
    model.partial_fit(BATCHES[4], "kind", window=2)
    shown = pa.concat_tables([*BATCHES[:2], BATCHES[4]])
    assert same(model, NaiveBayes.textbook(FAMILIES).fit(shown, "kind"))
    model.partial_fit(BATCHES[5], "kind", window=2)
    assert same(model, NaiveBayes.textbook(FAMILIES).fit(pa.concat_tables(BATCHES[4:]), "kind"))


def test_a_window_without_rows_leaves_the_model_as_it_was() -> None:
    model = NaiveBayes.textbook(FAMILIES).fit(BATCHES[0], "kind")
    with pytest.raises(DataError, match="there is no labelled row whose weight is not zero"):
        model.partial_fit(BATCHES[3], "kind", window=1)
    assert same(model, NaiveBayes.textbook(FAMILIES).fit(BATCHES[0], "kind"))


# -- options


OPTIONS = [
    *(("decay", one) for one in (0, -0.5, 1.5, float("nan"), "half", True)),
    *(("window", one) for one in (0, -1, 2.5, "all", True)),
]


@pytest.mark.parametrize(("name", "given"), OPTIONS)
def test_options_have_rules(name: str, given: Any) -> None:
    rule = {"decay": "a number above 0, and 1 at most", "window": "a number of batches, 1 or more"}
    options = {name: given}
    with pytest.raises(ParameterError, match=rf"{name}=.* is {rule[name]}"):
        NaiveBayes.textbook().partial_fit(BATCHES[0], "kind", **options)
    with pytest.raises(ParameterError, match=rf"{name}=.* is {rule[name]}"):
        LinearRegression().partial_fit(*numbers(0, 9), **options)


# -- regressions

REGRESSIONS = [
    LinearRegression(),
    LinearRegression(incomplete="gaussian"),
    Ridge(0.5, incomplete="drop"),
    Ridge("gcv", standardize=True, incomplete="drop"),
]


def numbers(seed: int, n: int, gaps: bool = False) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, 3))
    y = z @ [1.0, -2.0, 0.5] + rng.normal(size=n)
    x = z * [1.0, 1e3, 1e-3] + [1e4, 0.0, 1.0]
    x[rng.random((n, 3)) < 0.1 * gaps] = np.nan
    return x, y


def parts_of(model: Any, sizes: list[int]) -> list[tuple[np.ndarray, np.ndarray]]:
    gaps = model.incomplete != "error"
    return [numbers(seed, n, gaps) for seed, n in enumerate(sizes)]


def joined(parts: list[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    x, y = zip(*parts, strict=True)
    return np.concatenate(x), np.concatenate(y)


def streamed(model: Any, parts: list[tuple[np.ndarray, np.ndarray]], **options: Any) -> Any:
    model = clone(model)
    for x, y in parts:
        model.partial_fit(x, y, **options)
    return model


def said(model: Any) -> Any:
    """What a linear model says, to the bit."""
    return frozen((model.coef_, model.intercept_, model.predict(numbers(99, 7)[0])))


@pytest.mark.parametrize("model", REGRESSIONS, ids=str)
@settings(max_examples=8)
@given(st.lists(st.integers(8, 30), min_size=2, max_size=4), st.sampled_from([0.5, 0.25, 1.0]))
def test_a_faded_regression_is_a_weighted_fit_to_the_bit(
    model: Any, sizes: list[int], gamma: float
) -> None:
    parts = parts_of(model, sizes)
    weights = np.repeat([gamma**age for age in range(len(sizes))[::-1]], sizes)
    expected = clone(model).fit(*joined(parts), sample_weight=weights)
    faded = streamed(model, parts, decay=gamma)
    assert faded.statistic_ == expected.statistic_
    assert faded.batches_ == (faded.statistic_,)
    assert said(faded) == said(expected)


@pytest.mark.parametrize("model", REGRESSIONS, ids=str)
def test_a_faded_regression_is_a_weighted_fit_up_to_rounding(model: Any) -> None:
    parts = parts_of(model, [20, 12, 30])
    weights = np.repeat([0.81, 0.9, 1.0], [20, 12, 30])
    expected = clone(model).fit(*joined(parts), sample_weight=weights)
    faded = streamed(model, parts, decay=0.9)
    np.testing.assert_allclose(faded.coef_, expected.coef_, rtol=1e-12)
    np.testing.assert_allclose(faded.intercept_, expected.intercept_, rtol=1e-12)


@pytest.mark.parametrize("model", REGRESSIONS, ids=str)
@settings(max_examples=8)
@given(
    st.lists(st.integers(8, 30), min_size=2, max_size=5),
    st.integers(1, 4),
    st.sampled_from([1.0, 0.5]),
)
def test_a_window_of_regressions_is_a_fit_of_its_batches(
    model: Any, sizes: list[int], window: int, gamma: float
) -> None:
    parts = parts_of(model, sizes)
    ages = range(min(window, len(sizes)))[::-1]
    weights = np.repeat([gamma**age for age in ages], sizes[-window:])
    expected = clone(model).fit(*joined(parts[-window:]), sample_weight=weights)
    moved = streamed(model, parts, window=window, decay=gamma)
    assert len(moved.batches_) == len(ages)
    assert moved.statistic_ == expected.statistic_
    assert said(moved) == said(expected)


# -- windows of classifiers and of regressions

STREAMS = {
    "classifier": (
        NaiveBayes.textbook(FAMILIES),
        [(table, "kind") for table in (*BATCHES, batch(20))],
    ),
    "regression": (Ridge("gcv"), [numbers(seed, 15) for seed in range(7)]),
}
every_stream = pytest.mark.parametrize(("model", "parts"), STREAMS.values(), ids=list(STREAMS))


def fitted(model: Any, parts: list[Any]) -> Any:
    """Return a fit to all rows of some batches."""
    if isinstance(parts[0][1], str):
        return clone(model).fit(pa.concat_tables([table for table, _ in parts]), parts[0][1])
    return clone(model).fit(*joined(parts))


def assert_same(model: Any, expected: Any) -> None:
    if hasattr(expected, "coef_"):
        assert model.statistic_ == expected.statistic_
        assert said(model) == said(expected)
    else:
        assert same(model, expected)


@every_stream
def test_a_window_that_is_kept_goes_on(model: Any, parts: list[Any], tmp_path: Path) -> None:
    first = streamed(model, parts[:4], window=3, decay=0.5)
    first.save(tmp_path / "m")
    others = [suffice.load(tmp_path / "m"), pickle.loads(pickle.dumps(first))]
    expected = streamed(model, parts, window=3, decay=0.5)
    for other in others:
        assert other.get_params() == first.get_params()
        assert frozen(other.batches_) == frozen(first.batches_)
        assert_same(other, first)
    for other in (first, *others):
        for rows in parts[4:]:
            other.partial_fit(*rows, window=3, decay=0.5)
        assert_same(other, expected)
    assert not hasattr(clone(first), "batches_")


@every_stream
def test_windows_merge_batch_by_batch(model: Any, parts: list[Any]) -> None:
    mine = streamed(model, parts[:2], window=2)
    theirs = streamed(model, parts[4:], window=2)
    assert_same(mine.merge(theirs), fitted(model, [*parts[:2], *parts[5:]]))
    mine.partial_fit(*parts[4], window=2)
    assert_same(mine, fitted(model, [parts[1], parts[6], parts[4]]))


@every_stream
def test_rows_cannot_be_taken_out_of_a_window(model: Any, parts: list[Any]) -> None:
    window = streamed(model, parts[:2], window=2)
    before = clone(model).fit(*parts[0]).partial_fit(*parts[1])
    with pytest.raises(ForgetError) as caught:
        window.forget(*parts[1])
    assert str(caught.value) == (
        "the model holds a window of 2 batches; rows leave a window with their batch; "
        "learn the batches again, without the rows."
    )
    assert len(window.batches_) == 2
    assert_same(window, before)
    window.partial_fit(*parts[4]).forget(*parts[1])  # one batch again
    assert_same(window, fitted(model, [parts[0], parts[4]]))


def shops(seed: int, values: str, n: int = 40) -> pa.Table:
    rng = np.random.default_rng(seed)
    color, size = rng.choice(list(values), n), rng.normal(size=n)
    columns = {
        "color": color,
        "town": rng.choice(["Bonn", f"Ulm{seed % 2}"], n),
        "size": size,
        "note": [" ".join(rng.choice(["cat", "dog", f"w{seed}"], 3)) for _ in range(n)],
        "y": size + (color == "c") + rng.normal(size=n),
        "kind": rng.choice(["p", "q"], n),
    }
    return pa.table(columns)


LEVELS = ["d", "c", "b", "a"]
OF_CATEGORIES = {
    "least squares": LinearRegression(),
    "no intercept": LinearRegression(fit_intercept=False),
    "penalties": Lasso(alpha=0.01),
    "a reference": Ridge(reference={"color": "b"}),
    "levels": LinearRegression(ordered={"color": LEVELS}),
    "a formula": LinearRegression(formula="y ~ size * color", reference={"color": "b"}),
    "words": LinearRegression(text=["note"], words="counted"),
    "lda": LinearDiscriminantAnalysis(),
    "lda, fourth moments": LinearDiscriminantAnalysis("lsqr", shrinkage="auto"),
    "qda": QuadraticDiscriminantAnalysis(),
}


@pytest.mark.parametrize(("one", "other"), [("ab", "abc"), ("bc", "ab"), ("b", "bd")])
@pytest.mark.parametrize("name", OF_CATEGORIES)
@pytest.mark.filterwarnings("ignore:column:suffice.errors.SufficeWarning")
def test_sums_of_other_categories_add_up(name: str, one: str, other: str) -> None:
    model, y = OF_CATEGORIES[name], "kind" if "da" in name else "y"
    left = ["kind" if y == "y" else "y", *(["note"] if name != "words" else [])]
    mine, theirs = (shops(s, v).drop_columns(left) for s, v in ((0, one), (1, other)))
    both = clone(model).fit(pa.concat_tables([mine, theirs]), y)
    first, second = clone(model).fit(mine, y), clone(model).fit(theirs, y)
    pooled = first.sums_ + second.sums_
    merged = clone(model).fit(mine, y).merge(second)
    updated = clone(model).fit(mine, y).partial_fit(theirs, y)
    for found in (merged, updated, clone(model).fit(pooled)):
        assert found.terms_ == both.terms_
        assert found.statistic_ == both.statistic_
        if y == "y":
            np.testing.assert_array_equal(found.coef_, both.coef_)
    groups = [clone(model).sums(rows, y, by="town") for rows in (mine, theirs)]
    assert groups[0] + groups[1] == clone(model).sums(
        pa.concat_tables([mine, theirs]), y, by="town"
    )
    left_over = updated.forget(theirs, y)
    assert left_over.terms_ == first.terms_
    assert left_over.statistic_ == first.statistic_


def test_rows_that_are_kept_themselves_align_their_categories() -> None:
    rng = np.random.default_rng(0)
    names = [[f"k{i}" for i in range(a, b)] for a, b in ((200, 650), (0, 500))]
    tables = [
        pa.table({"key": own, "x": rng.normal(size=len(own)), "y": rng.normal(size=len(own))})
        for own in names
    ]
    merged = Ridge().fit(tables[0], "y").merge(Ridge().fit(tables[1], "y"))
    both = Ridge().fit(pa.concat_tables(tables), "y")
    assert merged.terms_ == both.terms_
    np.testing.assert_allclose(merged.coef_, both.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("model", "y", "values"),
    [
        (LinearRegression(formula="y ~ size * color"), "y", "bc"),  # of another reference
        (LinearRegression(ordered={"color": list("bc")}), "y", "bc"),  # a is no level
        (LinearRegression(text=["note"], words="tf-idf"), "y", "ab"),
    ],
)
@pytest.mark.filterwarnings("ignore:column:suffice.errors.SufficeWarning")
def test_sums_that_do_not_tell_those_of_more_categories(model: Any, y: str, values: str) -> None:
    left = ["kind" if y == "y" else "y", *(["note"] if "tf-idf" not in repr(model) else [])]
    mine, theirs = (shops(s, v).drop_columns(left) for s, v in ((0, values), (1, "ab")))
    fitted = clone(model).fit(mine, y)
    before = fitted.statistic_
    if "ordered" not in repr(model):
        with pytest.raises(SchemaError):
            fitted.merge(clone(model).fit(theirs, y))
    if "tf-idf" not in repr(model):
        with pytest.raises(SchemaError):
            fitted.partial_fit(theirs, y)
    assert fitted.statistic_ == before
