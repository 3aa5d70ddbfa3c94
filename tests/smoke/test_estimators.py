"""The life of every estimator: fit, predict, explain, save, merge, forget, validate, compare."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.smoke.cases import (
    CLASSIFIERS,
    ESTIMATORS,
    OF_SUMS,
    REGRESSORS,
    answers,
    fitted,
    make,
    rows_of,
    whole,
)

every = pytest.mark.parametrize("name", ESTIMATORS)
of_sums = pytest.mark.parametrize("name", OF_SUMS)
FIRST, REST = slice(0, 36), slice(36, 60)


@every
def test_answers_are_probabilities_or_numbers_that_fit_the_rows(name: str) -> None:
    X, y = rows_of(name)
    model = whole(name)
    found = answers(model, X)
    if name in REGRESSORS:
        assert model.score(X, y) == pytest.approx(1 - ((y - found) ** 2).sum() / y.var() / 60)
        assert model.score(X, y) > 0.8
    else:
        assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
        assert_array_equal(model.predict(X), model.classes_[found.argmax(axis=1)])
        assert model.score(X, y) == np.mean(model.predict(X) == y)
        assert model.score(X, y) > 0.45


@every
def test_a_saved_model_answers_to_the_bit(name: str, tmp_path: Any) -> None:
    import suffice

    X, _ = rows_of(name)
    model = whole(name)
    model.save(tmp_path / "model.suffice")
    loaded = suffice.load(tmp_path / "model.suffice")
    assert type(loaded) is type(model)
    assert answers(loaded, X).tobytes() == answers(model, X).tobytes()


@every
def test_a_clone_has_the_same_options_and_fits_the_same(name: str) -> None:
    from sklearn.base import clone

    X, _ = rows_of(name)
    again = clone(whole(name))
    assert again.get_params() == whole(name).get_params()
    assert answers(again.fit(*rows_of(name)), X).tobytes() == answers(whole(name), X).tobytes()


def test_nothing_is_answered_before_fit() -> None:
    from sklearn.exceptions import NotFittedError

    for name in ESTIMATORS:
        with pytest.raises(NotFittedError):
            make(name).predict(rows_of(name)[0])


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(ValueError, match="no_option"):
        make("NaiveBayes").set_params(no_option=1)


@every
def test_a_frame_answers_as_the_array_does(name: str) -> None:
    import pandas as pd

    X, y = rows_of(name)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(4)])
    model = make(name).fit(frame, y)
    assert list(model.feature_names_in_) == ["x0", "x1", "x2", "x3"]
    assert_allclose(answers(model, frame), answers(whole(name), X), rtol=1e-12)


@pytest.mark.parametrize(
    "name", [n for n in ESTIMATORS if n not in ("NaiveBayes", "AutoClassifier")]
)
def test_a_weight_of_two_is_a_row_twice(name: str) -> None:
    X, y = rows_of(name)
    weight = 1 + (np.arange(60) % 5 == 0)
    options = {"calibration": "none"} if name == "AODE" else {}  # weights of columns ask rows
    weighted = make(name, **options).fit(X, y, sample_weight=weight)
    repeated = fitted(name, np.repeat(np.arange(60), weight), **options)
    assert_allclose(answers(weighted, X), answers(repeated, X), rtol=1e-7, atol=1e-9)


@of_sums
def test_the_order_of_rows_changes_no_bit(name: str) -> None:
    X, _ = rows_of(name)
    order = np.random.default_rng(3).permutation(60)
    assert answers(fitted(name, order), X).tobytes() == answers(whole(name), X).tobytes()


@of_sums
def test_partial_fit_of_batches_is_a_fit_of_all_rows(name: str) -> None:
    X, y = rows_of(name)
    model = make(name)
    for rows in (FIRST, REST):
        model.partial_fit(X[rows], y[rows])
    assert answers(model, X).tobytes() == answers(whole(name), X).tobytes()


@of_sums
def test_merged_models_are_a_fit_of_all_rows(name: str) -> None:
    X, _ = rows_of(name)
    merged = fitted(name, FIRST).merge(fitted(name, REST))
    assert answers(merged, X).tobytes() == answers(whole(name), X).tobytes()


@of_sums
def test_forgotten_rows_leave_nothing(name: str) -> None:
    X, y = rows_of(name)
    model = fitted(name)
    model.forget(X[REST], y[REST])
    assert answers(model, X).tobytes() == answers(fitted(name, FIRST), X).tobytes()


@pytest.mark.parametrize(
    "name", ["NaiveBayes", "MultinomialNB", "QuadraticDiscriminantAnalysis", "Ridge"]
)
def test_drift_is_zero_against_itself_and_not_against_other_rows(name: str) -> None:
    same, other = (whole(name).compare(m) for m in (whole(name), fitted(name, FIRST)))
    assert max(column.overall.hellinger for column in same.columns) < 1e-9
    assert max(column.overall.hellinger for column in other.columns) > 0.001


@pytest.mark.parametrize("name", [n for n in ESTIMATORS if n != "AutoClassifier"])
def test_folds_are_fits_without_the_fold(name: str) -> None:
    from sklearn.model_selection import KFold

    from suffice.model_selection import cross_val_predict

    X, y = rows_of(name)
    folds = KFold(2)
    found = cross_val_predict(make(name), X, y, cv=folds)
    for train, test in folds.split(X):
        expected = make(name).fit(X[train], y[train]).predict(X[test])
        if name in REGRESSORS:
            assert_allclose(found[test], expected, rtol=1e-9)
        else:
            assert_array_equal(found[test], expected)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_evaluation_of_a_classifier(name: str) -> None:
    from sklearn.metrics import log_loss, recall_score

    X, y = rows_of(name)
    model = whole(name)
    found = model.evaluate(X, y)
    assert found.accuracy == np.mean(model.predict(X) == y)
    assert found.error == pytest.approx(1 - found.accuracy)
    assert found.log_loss == pytest.approx(log_loss(y, model.predict_proba(X)))
    assert_allclose(found.recall, recall_score(y, model.predict(X), average=None))


@pytest.mark.parametrize("name", REGRESSORS)
def test_evaluation_of_a_regressor(name: str) -> None:
    X, y = rows_of(name)
    model = whole(name)
    found = model.evaluate(X, y)
    assert found.r_squared == pytest.approx(model.score(X, y))
    assert found.mean_squared_error == pytest.approx(np.mean((y - model.predict(X)) ** 2))


@pytest.mark.parametrize("name", [n for n in CLASSIFIERS if n not in ("AODE", "AutoClassifier")])
def test_evidence_adds_up_to_the_log_odds(name: str) -> None:
    X, y = rows_of(name)
    first = np.flatnonzero(y == np.unique(y)[0])
    model = fitted(name, np.r_[0:60, first])  # a class twice as frequent as the others
    prior, columns = model.explain(X[:3]).log_odds(0, against=1)
    log = model.predict_log_proba(X[:3])
    assert columns.shape == (3, 4)
    if name not in ("LogisticRegression", "ComplementNB"):  # these start from no class prior
        assert prior == pytest.approx(np.log(2))
    assert_allclose(prior + columns.sum(axis=1), log[:, 0] - log[:, 1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", REGRESSORS)
def test_effects_add_up_to_the_prediction(name: str) -> None:
    X, _ = rows_of(name)
    effects = whole(name).explain(X[:3])
    total = effects.average + effects.contributions.sum(axis=1)
    assert_allclose(total.ravel(), whole(name).predict(X[:3]), rtol=1e-9)
