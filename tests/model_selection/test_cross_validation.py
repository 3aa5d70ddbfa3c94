"""Cross-validation from one pass, against scikit-learn fitting our estimators fold by fold."""

import warnings
from collections.abc import Iterator
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn import metrics
from sklearn import model_selection as reference
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.linear_model import LogisticRegression as Foreign
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from suffice import (
    AutoClassifier,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    evaluate_folds,
)
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB

RNG = np.random.default_rng(0)
IRIS, SPECIES = load_iris(return_X_y=True)
NOISY = IRIS + np.random.default_rng(3).normal(size=IRIS.shape)  # no classes are separated
CANCER, MALIGNANT = load_breast_cancer(return_X_y=True)
GAPS = np.where(RNG.random(CANCER.shape) < 0.1, np.nan, CANCER)
DIABETES, PROGRESS = load_diabetes(return_X_y=True)
CODES = RNG.integers(0, 4, (300, 6))
CLASSES = (CODES[:, 0] + RNG.integers(0, 3, 300)) % 3
MIXED = pd.DataFrame(
    {
        "letter": RNG.choice(list("xyz"), 300),
        "number": np.where(np.arange(300) % 7 == 0, np.nan, RNG.normal(size=300)),
        "size": RNG.integers(0, 100, 300).astype(float),
        "text": RNG.choice(["hello you there today", "good bye now my friend", "well then"], 300),
    }
)
ANSWERS = np.where((MIXED.letter == "x") | (MIXED["size"] > 60), "yes", "no")
RARE = np.array(["common"] * 270 + ["rare"] * 25 + ["rarest"] * 5)

PROBABLE = ["accuracy", "neg_log_loss", "balanced_accuracy"]
BINARY = ["accuracy", "roc_auc", "average_precision", "neg_brier_score"]
NUMERIC = ["r2", "neg_mean_squared_error", "neg_mean_absolute_error"]
TASKS: dict[str, tuple[Any, Any, Any, Any]] = {
    "gaussian": (GaussianNB(), IRIS, SPECIES, PROBABLE),
    "gaussian with gaps": (GaussianNB(), GAPS, MALIGNANT, BINARY),
    "mixed": (NaiveBayes.textbook(), MIXED, ANSWERS, ["accuracy", "roc_auc", "neg_log_loss"]),
    "rare classes": (NaiveBayes.textbook(), MIXED[["number", "size"]], RARE, "accuracy"),
    "LDA": (LinearDiscriminantAnalysis(), IRIS, SPECIES, PROBABLE),
    "LDA, shrunk": (
        LinearDiscriminantAnalysis(shrinkage="auto", solver="lsqr"),
        IRIS,
        SPECIES,
        None,
    ),
    "QDA": (QuadraticDiscriminantAnalysis(), CANCER[:, :8], MALIGNANT, BINARY),
    "linear": (LinearRegression(), DIABETES, PROGRESS, NUMERIC),
    "two targets": (LinearRegression(), DIABETES, np.c_[PROGRESS, -(PROGRESS**2)], "r2"),
    "ridge": (Ridge(alpha=2.0), DIABETES, PROGRESS, NUMERIC),
    "ridge, GCV": (Ridge(alpha="gcv"), DIABETES, PROGRESS, "r2"),
    "lasso": (Lasso(alpha=0.1), DIABETES, PROGRESS, "r2"),
    "categorical": (CategoricalNB(), CODES, CLASSES, PROBABLE),
    "Bernoulli": (BernoulliNB(), CODES > 1, CLASSES, PROBABLE),
    "complement": (ComplementNB(), CODES, CLASSES, "accuracy"),
    "own score": (NaiveBayes.textbook(), IRIS, SPECIES, None),
}
SPLITTERS = {
    "5": 5,
    "shuffled": reference.ShuffleSplit(4, test_size=0.3, random_state=1),
    "repeated": reference.RepeatedKFold(n_splits=2, n_repeats=2, random_state=0),
}


@pytest.fixture(autouse=True)
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", category=UserWarning)  # rare classes; see the tests below
        yield


def scores(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name.startswith(("test_", "train_"))}


@pytest.mark.parametrize(("task", "splitter"), list(zip(TASKS, cycle(SPLITTERS), strict=False)))
def test_scores_are_those_of_fits_to_the_rows_of_each_fold(task: str, splitter: str) -> None:
    estimator, x, y, scoring = TASKS[task]
    options: dict[str, Any] = {"cv": SPLITTERS[splitter], "scoring": scoring}
    found = cross_validate(estimator, x, y, return_train_score=True, **options)
    expected = reference.cross_validate(estimator, x, y, return_train_score=True, **options)
    assert found.keys() == expected.keys()
    for name, value in scores(expected).items():
        np.testing.assert_allclose(found[name], value, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba"])
def test_answers_of_the_model_that_has_not_learnt_the_row(method: str) -> None:
    found = cross_val_predict(GaussianNB(), IRIS, SPECIES, cv=4, method=method)
    expected = reference.cross_val_predict(GaussianNB(), IRIS, SPECIES, cv=4, method=method)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_answers_of_a_regression() -> None:
    folds = reference.KFold(7, shuffle=True, random_state=3)
    found = cross_val_predict(Ridge(), DIABETES, PROGRESS, cv=folds)
    expected = reference.cross_val_predict(Ridge(), DIABETES, PROGRESS, cv=folds)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_a_class_that_a_fold_has_not_learnt_is_impossible_to_it() -> None:
    folds = reference.KFold(3)  # iris is sorted by class
    found = cross_val_predict(GaussianNB(), IRIS, SPECIES, cv=folds, method="predict_proba")
    np.testing.assert_array_equal(found[np.arange(150), SPECIES], 0.0)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "estimator", [GaussianNB(), LinearDiscriminantAnalysis(), NaiveBayes.textbook()]
)
def test_weights(estimator: Any) -> None:
    weight = {"sample_weight": np.random.default_rng(1).integers(1, 5, 150).astype(float)}
    found = cross_val_score(estimator, IRIS, SPECIES, params=weight)
    expected = reference.cross_val_score(estimator, IRIS, SPECIES, params=weight)
    np.testing.assert_array_equal(found, expected)


def test_groups() -> None:
    groups = np.random.default_rng(2).integers(0, 8, 300)
    folds = reference.GroupKFold(4)
    estimator = NaiveBayes.textbook()
    table = MIXED.assign(patient=groups)
    expected = reference.cross_val_score(
        NaiveBayes.textbook(), MIXED, ANSWERS, groups=groups, cv=folds
    )
    given = cross_val_score(NaiveBayes.textbook(), MIXED, ANSWERS, groups=groups, cv=folds)
    by_name = cross_val_score(estimator, table, ANSWERS, groups="patient", cv=folds)
    np.testing.assert_array_equal(given, expected)
    np.testing.assert_array_equal(by_name, expected)
    search = GridSearchCV(estimator, {"alpha": [1.0]}, cv=folds)
    best = search.fit(table, ANSWERS, groups="patient").best_estimator_
    assert best.feature_names_in_.tolist() == MIXED.columns.tolist()


@pytest.mark.parametrize(
    "folds",
    [
        reference.KFold(70),  # more groups than are summed at a time
        [(np.r_[0:40, 60:90, 110:140], np.r_[40:60]), (np.r_[0:150:2], np.r_[1:150:2])],
        [(np.arange(150) % 3 > 0, np.arange(150) % 3 == 0)],  # masks
        [(np.r_[0:150:2, 0:150:6, 4, 4, 4], np.r_[1:150:2])],  # rows named again: a bootstrap
        reference.ShuffleSplit(4, random_state=0),  # rows scored by several models
        reference.PredefinedSplit(np.arange(150) % 4 - 1),
    ],
)
def test_any_splitter(folds: Any) -> None:
    options: dict[str, Any] = {"cv": folds, "scoring": ["accuracy"], "return_indices": True}
    found = cross_validate(GaussianNB(), IRIS, SPECIES, **options)
    expected = reference.cross_validate(GaussianNB(), IRIS, SPECIES, **options)
    np.testing.assert_allclose(found["test_accuracy"], expected["test_accuracy"], rtol=1e-12)
    assert len(found["indices"]["train"]) == len(expected["indices"]["train"])


def test_what_is_not_ours_is_handed_over() -> None:
    estimator = make_pipeline(StandardScaler(), Foreign())
    with pytest.warns(SufficeWarning, match="is not an estimator of suffice; cross_validate of"):
        found = cross_val_score(estimator, DIABETES, PROGRESS, cv=3)
    expected = reference.cross_val_score(estimator, DIABETES, PROGRESS, cv=3)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    with pytest.warns(SufficeWarning, match="cross_val_predict of scikit-learn"):
        assert len(cross_val_predict(estimator, DIABETES, PROGRESS, cv=3)) == len(PROGRESS)


@pytest.mark.filterwarnings("ignore:after 1000 epochs")
@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LogisticRegression(C=0.01, warm_start=True),
        LogisticRegression(solver="lbfgs"),
        LinearRegression(solver="gradient"),
    ],
)
def test_what_is_no_function_of_sums_is_fitted_to_every_fold(estimator: Any) -> None:
    classifies = hasattr(estimator, "predict_proba")
    x, y = (NOISY, SPECIES) if classifies else (DIABETES, PROGRESS)
    scoring = "neg_log_loss" if classifies else None
    found = cross_validate(estimator, x, y, cv=4, scoring=scoring, return_estimator=True)
    expected = reference.cross_val_score(estimator, x, y, cv=4, scoring=scoring)
    np.testing.assert_allclose(found["test_score"], expected, rtol=1e-8)
    for model in found["estimator"]:
        assert model.get_params() == estimator.get_params()
    answers = cross_val_predict(estimator, x, y, cv=4)
    theirs = reference.cross_val_predict(estimator, x, y, cv=4)
    if classifies:
        assert answers.tolist() == theirs.tolist()
    else:
        np.testing.assert_allclose(answers, theirs, rtol=1e-8)


# -- what is refused


def test_folds_that_cannot_be_fitted() -> None:
    folds = [(np.r_[0:50], np.r_[50:60]), (np.r_[0:100], np.r_[100:110])]
    with pytest.warns(
        SufficeWarning, match="a fold was not fitted, and its score is nan: fold 0: all"
    ):
        found = cross_val_score(NaiveBayes.textbook(), IRIS, SPECIES, cv=folds, scoring="accuracy")
    assert np.isnan(found[0])
    assert found[1] == 0.0
    with pytest.raises(DataError, match="fold 0: all its training rows"):
        cross_val_score(NaiveBayes.textbook(), IRIS, SPECIES, cv=folds, error_score="raise")
    with pytest.raises(DataError, match="fold 0: all its training rows"):
        cross_val_score(NaiveBayes.textbook(), IRIS, SPECIES, cv=folds[:1])


def test_scores_that_cannot_be_had() -> None:
    with (
        pytest.warns(SufficeWarning, match="a fold has no score: "),
        pytest.raises(
            DataError, match="no fold has a score; LinearRegression has none of the following"
        ),
    ):
        cross_val_score(LinearRegression(), DIABETES, PROGRESS, scoring="neg_log_loss")
    with pytest.raises(AttributeError, match="predict_proba"):
        cross_val_score(
            LinearRegression(), DIABETES, PROGRESS, scoring="neg_log_loss", error_score="raise"
        )


def test_a_score_that_one_fold_has_not() -> None:
    def large(model: Any, x: Any, y: Any) -> float:
        if len(y) < 80:
            raise ArithmeticError("too few rows")
        return 1.0

    folds = [(np.r_[0:60], np.r_[60:150]), (np.r_[60:150], np.r_[0:60])]
    with pytest.warns(SufficeWarning, match="a fold has no score: too few rows"):
        found = cross_val_score(
            GaussianNB(), IRIS, SPECIES, scoring=large, cv=folds, error_score=-1
        )
    assert found.tolist() == [1.0, -1.0]
    both = {"large": large, "accuracy": "accuracy"}
    with pytest.warns(SufficeWarning, match="a fold has no large: ArithmeticError: too few rows"):
        scores = cross_validate(GaussianNB(), IRIS, SPECIES, scoring=both, cv=folds)
    assert np.isnan(scores["test_large"]).tolist() == [False, True]
    assert not np.isnan(scores["test_accuracy"]).any()


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"cv": 1_000}, ParameterError, "1000 folds"),
        (
            {"cv": [(np.r_[0:9], np.r_[150:151])]},
            ParameterError,
            "names row 150; the table has 150",
        ),
        ({"cv": [(np.r_[0:9], [-151, 20])]}, ParameterError, "names row -151; the table has 150"),
        ({"cv": [(np.r_[0:0], np.r_[0:9])]}, ParameterError, "fold 0 has no row to learn from"),
        ({"cv": [(np.r_[0:9], np.r_[0:0])]}, ParameterError, "fold 0 has no row to score on"),
        ({"scoring": "acuracy"}, ValueError, "acuracy"),
        ({"scoring": ["accuracy"]}, ParameterError, "this function returns one score"),
        ({"params": {"colour": 1}}, ParameterError, "params has 'colour'; a fit takes"),
        ({"groups": "patient"}, ParameterError, "there is no column 'patient'"),
    ],
)
def test_bad_options(options: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        cross_val_score(GaussianNB(), IRIS, SPECIES, **options)


def test_pairs_may_be_asked_for_only_once() -> None:
    pairs = list(reference.StratifiedKFold(3).split(IRIS, SPECIES))
    once, folds = (cross_val_score(GaussianNB(), IRIS, SPECIES, cv=c) for c in (iter(pairs), 3))
    assert once.tolist() == folds.tolist()
    with pytest.raises(ParameterError, match="cv has no fold"):
        cross_val_score(GaussianNB(), IRIS, SPECIES, cv=iter(()))


def test_a_scorer_of_ones_own() -> None:
    def within_two(model: Any, x: Any, y: Any) -> dict[str, float]:
        return {"near": float((abs(model.predict(x) - y) < 50).mean()), "rows": float(len(y))}

    found = cross_validate(LinearRegression(), DIABETES, PROGRESS, cv=4, scoring=within_two)
    expected = reference.cross_validate(
        LinearRegression(), DIABETES, PROGRESS, cv=4, scoring=within_two
    )
    np.testing.assert_array_equal(found["test_near"], expected["test_near"])
    np.testing.assert_array_equal(found["test_rows"], expected["test_rows"])


def test_groups_are_complete() -> None:
    table = MIXED.assign(patient=[None, *"abc" * 99, "d", "e"])
    with pytest.raises(DataError, match="row 0: missing"):
        cross_val_score(
            NaiveBayes.textbook(), table, ANSWERS, groups="patient", cv=reference.GroupKFold(2)
        )


def test_no_fold_scores_a_row_that_it_learns() -> None:
    overlapping = [(np.r_[50:150], np.r_[0:50]), (np.r_[0:100], np.r_[140:150, 60, 40])]
    for ask in (cross_validate, cross_val_predict):
        with pytest.raises(ParameterError, match="fold 1 learns row 60, and scores it too"):
            ask(GaussianNB(), IRIS, SPECIES, cv=overlapping)


def test_predictions_of_folds_need_rows_in_memory() -> None:
    with pytest.raises(ParameterError, match="folds are made of rows in memory"):
        cross_val_predict(GaussianNB(), "rows.csv", "y")


@pytest.mark.parametrize(
    "estimator", [NaiveBayes.textbook(), LinearDiscriminantAnalysis(), LogisticRegression()]
)
def test_a_label_that_a_fold_has_not_seen_is_an_error(estimator: Any) -> None:
    folds = reference.GroupKFold(3)  # a species in each fold, which no model of it has learnt
    with pytest.warns(SufficeWarning, match="50 rows of class ., which the model"):
        found = cross_val_score(estimator, IRIS, SPECIES, groups=SPECIES, cv=folds)
    assert found.tolist() == [0.0, 0.0, 0.0]
    learnt, asked = np.r_[0:40, 50:90], np.r_[40:50, 90:120]
    with pytest.warns(SufficeWarning, match="20 rows of class 2, .*: counted as errors"):
        found = cross_val_score(estimator, IRIS, SPECIES, cv=[(learnt, asked)])
    model = estimator.fit(IRIS[learnt], SPECIES[learnt])
    expected = metrics.accuracy_score(SPECIES[asked], model.predict(IRIS[asked]))
    assert found.tolist() == [expected]


def test_test_sets_divide_the_rows() -> None:
    folds = [(np.r_[50:150], np.r_[0:50]), (np.r_[0:40], np.r_[40:150])]
    with pytest.raises(
        ParameterError, match="row 40 is in 2 test sets; every row is answered once"
    ):
        cross_val_predict(GaussianNB(), IRIS, SPECIES, cv=folds)
    with pytest.raises(ParameterError, match="LinearRegression has no predict_proba"):
        cross_val_predict(LinearRegression(), DIABETES, PROGRESS, method="predict_proba")


@pytest.mark.parametrize(
    ("cv", "missing"), [(None, None), (3, np.nan), (reference.KFold(3), pd.NA), ("loo", None)]
)
def test_a_row_without_a_label_is_named(cv: Any, missing: Any) -> None:
    x, y = np.arange(12.0)[:, None], np.array(["a", "b"] * 6, object)
    y[3] = missing
    with pytest.raises(DataError, match="label, row 3: "):
        cross_validate(GaussianNB(), x, y, cv=cv)


# -- folds whose training rows lack a class, and groups


def test_a_class_that_a_fold_has_not_learnt_is_named() -> None:
    y = SPECIES.copy()
    y[100:] = 1
    y[0] = 2  # learnt by one of two folds
    folds = reference.StratifiedKFold(2, shuffle=True, random_state=1)
    with warnings.catch_warnings(action="ignore"):
        (f,) = (f for f, (train, _) in enumerate(folds.split(IRIS, y)) if 0 not in train)
    with (
        warnings.catch_warnings(action="ignore", category=UserWarning),
        pytest.raises(DataError, match=rf"fold {f} has learnt 2 of 3 classes, not 2"),
    ):
        cross_val_predict(
            LinearDiscriminantAnalysis(), IRIS, y, cv=folds, method="decision_function"
        )
    with pytest.warns(SufficeWarning, match=rf"fold {f} has learnt 2 of 3 classes, not 2"):
        found = cross_val_predict(GaussianNB(), IRIS, y, cv=folds, method="predict_proba")
    with warnings.catch_warnings(action="ignore"):
        expected = reference.cross_val_predict(
            GaussianNB(), IRIS, y, cv=folds, method="predict_proba"
        )
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("estimator", [LinearDiscriminantAnalysis(), LogisticRegression()])
def test_training_rows_of_one_class_name_the_fold(estimator: Any) -> None:
    two = SPECIES < 2
    for ask in (
        lambda: cross_val_predict(estimator, IRIS[two], SPECIES[two], cv=reference.KFold(2)),
        lambda: evaluate_folds(estimator, IRIS[two], SPECIES[two], cv=reference.KFold(2)),
    ):
        with pytest.raises(DataError, match=r"fold 0: all its training rows.* are of one class"):
            ask()


def test_groups_that_folds_divide_are_told() -> None:
    groups = np.arange(150) // 3
    scores = cross_val_score(GaussianNB(), IRIS, SPECIES, cv=4)
    with pytest.warns(SufficeWarning, match=r"4 folds do not keep them together; cv=GroupKFold"):
        found = cross_val_score(GaussianNB(), IRIS, SPECIES, groups=groups, cv=4)
    assert found.tolist() == scores.tolist()  # scikit-learn's, which ignore groups
    pairs = list(reference.KFold(4).split(IRIS))
    with pytest.warns(SufficeWarning, match="group 12 is in the training set and the test set"):
        evaluate_folds(GaussianNB(), IRIS, SPECIES, groups=groups, cv=pairs)


@pytest.mark.parametrize("kind", [pa.string_view(), pa.string()])
def test_text_of_any_arrow_type(kind: pa.DataType) -> None:
    cells, labels = pa.array(["a", "b", "c", "a"] * 9, kind), pa.array(["u", "v", "v"] * 12, kind)
    scores = cross_val_score(NaiveBayes(), pa.table({"cell": cells}), labels, cv=3)
    frame = pd.DataFrame({"cell": ["a", "b", "c", "a"] * 9})
    expected = cross_val_score(NaiveBayes(), frame, ["u", "v", "v"] * 12, cv=3)
    np.testing.assert_array_equal(scores, expected)
    table = pa.table({"cell": cells, "label": labels})
    assert AutoClassifier().fit(table, "label").predict(table)[0] in ("u", "v")
