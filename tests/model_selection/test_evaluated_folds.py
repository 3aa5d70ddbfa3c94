"""Folds of files and of tables in memory: the models and the scores are those of fits by hand."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GroupKFold, KFold, ShuffleSplit, StratifiedKFold
from sklearn.model_selection import cross_val_score as reference_score

import suffice
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.model_selection import evaluate_folds, evaluate_models
from suffice.naive_bayes import GaussianNB, NaiveBayes

N = 230


def mixed_table() -> pa.Table:
    """Numbers with gaps, words, labels one of which is rare and one missing, groups, weights."""
    rng = np.random.default_rng(5)
    label = rng.choice(["a", "b", "c"], N, p=[0.6, 0.35, 0.05])
    size = rng.normal(size=N) + (label == "b")
    return pa.table(
        {
            "size": pa.array(size, mask=rng.random(N) < 0.1),
            "colour": rng.choice(["red", "green", "blue"], N),
            "full": rng.normal(size=N) - 2.0 * (label == "c"),
            "target": size * 3.0 + rng.normal(size=N),
            "patient": rng.integers(0, 12, N),
            "weight": rng.integers(1, 4, N).astype(float),
            "label": pa.array(label, mask=np.arange(N) == 17),
        }
    )


def written(folder, table, form):
    """The path of a table in a file, of several parts where the format has parts."""
    path = folder / f"table.{form}"
    if form == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=50)
    else:
        pyarrow.csv.write_csv(table, path)
    return path


CLASSIFIERS = {
    "naive Bayes": (lambda: suffice.NaiveBayes.textbook(), ["size", "colour", "full", "label"]),
    "lda": (lambda: suffice.LinearDiscriminantAnalysis(), ["full", "target", "label"]),
    "qda": (lambda: suffice.QuadraticDiscriminantAnalysis(), ["size", "full", "label"]),
    "logistic": (lambda: suffice.LogisticRegression(), ["colour", "full", "target", "label"]),
}
REGRESSIONS = {"linear": suffice.LinearRegression, "ridge": suffice.Ridge, "lasso": suffice.Lasso}


def by_hand(estimator, table, y, weight, folds):
    """Fits and evaluations fold by fold, of tables cut by Arrow."""
    found = []
    for train, test in folds:
        fitted = estimator().fit(table.take(train), y, weight)
        found.append(fitted.evaluate(table.take(test), y, weight))
    return found


def labelled_folds(table, splitter):
    """Pairs of places of rows with a label."""
    known = np.flatnonzero(table["label"].is_valid().to_numpy())
    labels = np.array(table["label"].to_pylist(), object)[known]
    groups = table["patient"].to_numpy()[known] if "patient" in table.column_names else None
    pairs = splitter.split(np.zeros((len(known), 1)), labels, groups)
    return [(known[a], known[b]) for a, b in pairs]


def assert_same_folds(found, expected):
    for one, other in zip(found.folds, expected, strict=True):
        assert one.confusion.value.tolist() == other.confusion.value.tolist()
        assert one.log_loss == pytest.approx(other.log_loss, rel=1e-9)
        assert one.brier == pytest.approx(other.brier, rel=1e-9)
        np.testing.assert_allclose(one.roc_area, other.roc_area, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:the rarest class")
@pytest.mark.parametrize(
    ("name", "form", "weight"),
    [
        ("naive Bayes", "csv", None),
        ("naive Bayes", "parquet", "weight"),
        ("lda", "csv", "weight"),
        ("qda", "parquet", None),
        ("logistic", "csv", "weight"),
    ],
)
def test_classifiers_on_files_are_those_of_fits_by_hand(tmp_path, name, form, weight):
    estimator, columns = CLASSIFIERS[name]
    table = mixed_table().select([*columns, *([weight] if weight else [])])
    found = evaluate_folds(estimator(), written(tmp_path, table, form), "label", weight, cv=4)
    expected = by_hand(estimator, table, "label", weight, labelled_folds(table, StratifiedKFold(4)))
    assert_same_folds(found, expected)


@pytest.mark.parametrize(
    ("name", "form"), [("linear", "csv"), ("ridge", "parquet"), ("lasso", "csv")]
)
def test_regressions_on_files_are_those_of_fits_by_hand(tmp_path, name, form):
    table = mixed_table().select(["full", "target", "colour"])
    path = written(tmp_path, table, form)
    found = evaluate_folds(REGRESSIONS[name](), path, "target", cv=3)
    folds = KFold(3).split(np.zeros((N, 1)))
    expected = by_hand(REGRESSIONS[name], table, "target", None, folds)
    for one, other in zip(found.folds, expected, strict=True):
        np.testing.assert_allclose(one.mean_squared_error, other.mean_squared_error, rtol=1e-9)
        np.testing.assert_allclose(one.r_squared, other.r_squared, rtol=1e-9)


@pytest.mark.filterwarnings("ignore:the rarest class")
def test_memory_and_file_agree(tmp_path):
    table = mixed_table().select(["size", "colour", "full", "label"])
    estimator = suffice.NaiveBayes.textbook()
    of_file = evaluate_folds(estimator, written(tmp_path, table, "parquet"), "label", cv=5)
    labels = np.array(table["label"].to_pylist(), object)
    for X, y in [
        (table, "label"),
        (table.drop_columns("label"), labels),
        (table.to_pandas().drop(columns="label"), labels),
    ]:
        here = evaluate_folds(estimator, X, y, cv=5)
        assert_same_folds(here, of_file.folds)


def test_any_splitter_divides_a_file(tmp_path):
    estimator, columns = CLASSIFIERS["lda"]
    splitter = ShuffleSplit(3, random_state=3)
    table = mixed_table().select(columns)
    found = evaluate_folds(estimator(), written(tmp_path, table, "csv"), "label", cv=splitter)
    expected = by_hand(estimator, table, "label", None, labelled_folds(table, splitter))
    assert_same_folds(found, expected)


def test_groups_stay_together_and_are_no_feature(tmp_path):
    estimator, columns = CLASSIFIERS["naive Bayes"]
    table = mixed_table().select([*columns, "patient"])
    path = written(tmp_path, table, "csv")
    found = evaluate_folds(estimator(), path, "label", cv=4, groups="patient")
    folds = labelled_folds(table, GroupKFold(4))
    expected = by_hand(estimator, table.drop_columns("patient"), "label", None, folds)
    assert_same_folds(found, expected)
    for here in (table, table.to_pandas(), table.to_pydict()):
        same = evaluate_folds(estimator(), here, "label", cv=4, groups="patient")
        assert_same_folds(same, expected)
    assert len(evaluate_folds(estimator(), path, "label", cv=40, groups="patient").folds) == 12


def test_a_class_that_a_fold_did_not_learn_is_impossible_to_it(tmp_path):
    table = pa.table({"x": [0.0, 1.0, 5.0, 6.0, 9.0, 0.5], "label": list("aabbca")})
    folds = [(np.array([0, 1, 2, 3]), np.array([4, 5])), (np.array([2, 3, 4, 5]), np.array([0, 1]))]
    found = evaluate_folds(suffice.NaiveBayes.textbook(), table, "label", cv=folds)
    assert found.folds[0].classes == ("a", "b", "c")
    assert found.folds[0].confusion.value[2, 2] == 0.0
    assert found.mean("log loss") == float("inf")


def test_models_that_cannot_learn_a_table_leave_the_others_alone(tmp_path):
    table = mixed_table().select(["size", "colour", "full", "label"])
    models = {"logistic": suffice.LogisticRegression(), "nb": suffice.NaiveBayes.textbook()}
    with warnings.catch_warnings(action="ignore"):
        found = evaluate_models(models, written(tmp_path, table, "csv"), "label")
    assert isinstance(found["logistic"], DataError)
    assert found["nb"].mean("error rate") < 0.5
    with pytest.raises(DataError, match="size"):
        evaluate_folds(models["logistic"], table, "label")


def test_scores_are_means_over_folds_with_their_errors():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + rng.normal(size=60) > 0).astype(int)
    found = evaluate_folds(GaussianNB(), X, y, cv=6)
    errors = [fold.error for fold in found.folds]
    assert found.mean("error rate") == pytest.approx(np.mean(errors))
    assert found.standard_error("error rate") == pytest.approx(np.std(errors, ddof=1) / 6**0.5)
    assert found.pooled.weight == 60.0
    assert found.test_share == pytest.approx(0.2)
    with pytest.raises(ParameterError, match="log loss"):
        found.scores("beauty")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"cv": 1}, "1 folds"),
        ({"cv": 60}, "no class has more than"),
        ({"groups": "nobody"}, "nobody"),
        ({"groups": "size"}, "every row belongs to a group"),
        ({"groups": "same"}, "there is one group"),
    ],
)
def test_what_breaks_a_rule_is_said(tmp_path, given, said):
    table = mixed_table().slice(0, 60).select(["size", "full", "label"])
    table = table.append_column("same", pa.array(np.ones(60)))
    with pytest.raises((ParameterError, DataError), match=said):
        evaluate_folds(
            suffice.NaiveBayes.textbook(), written(tmp_path, table, "csv"), "label", **given
        )


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"cv": "loo", "groups": "g"}, "groups and cv='loo'"),
        ({"cv": KFold(3), "shuffle": True}, "shuffle=True and cv=KFold"),
        ({"cv": "loo", "shuffle": True}, "shuffle=True and cv='loo'"),
    ],
)
def test_folds_are_made_in_one_way(how: dict[str, Any], said: str) -> None:
    table = pa.table({"x": np.arange(30.0), "g": np.arange(30) // 3, "y": ["a", "b"] * 15})
    with pytest.raises(ParameterError, match=re.escape(said)):
        evaluate_folds(GaussianNB(), table, "y", **how)


@pytest.mark.parametrize(
    ("models", "y", "how", "said"),
    [
        ([LogisticRegression()], "y", {}, "the estimator is LogisticRegression; models of suffice"),
        ([GaussianNB(), suffice.LinearRegression()], "y", {}, "classifiers and regressions"),
        ([GaussianNB()], "none", {}, "no row has a label"),
        ([GaussianNB()], "lone", {"cv": "loo"}, "fewer than two rows with a label"),
        ([GaussianNB()], "y", {"cv": "five"}, "a number of folds, a splitter, or pairs"),
        ([GaussianNB()], "y", {"cv": KFold(40)}, "n_splits=40"),
        ([GaussianNB()], "y", {"cv": 3, "groups": "one"}, "there is one group"),
    ],
)
def test_what_no_folds_are_made_of(models: Any, y: str, how: dict[str, Any], said: str) -> None:
    columns = {"x": np.arange(30.0), "one": ["a"] * 30, "y": ["a", "b"] * 15}
    table = pa.table(columns | {"none": pa.nulls(30, "string"), "lone": ["a"] + [None] * 29})
    with pytest.raises(ValueError, match=re.escape(said)):
        evaluate_models({str(i or ""): one for i, one in enumerate(models)}, table, y, **how)


def test_labels_of_a_file_are_a_column(tmp_path):
    path = written(tmp_path, mixed_table(), "csv")
    with pytest.raises(ParameterError, match="name of the column"):
        evaluate_folds(suffice.NaiveBayes.textbook(), path, np.zeros(N))


# -- one way to make folds


def test_folds_in_order_are_those_of_kfold(tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    kinds = np.where((np.arange(203) > 70) ^ (rng.random(203) < 0.3), "b", "a").astype(object)
    kinds[[3, 90]] = None
    table = pa.table({"x": rng.normal(size=203), "y": kinds.tolist()})
    files = [tmp_path / "one.parquet", tmp_path / "two.parquet"]
    pyarrow.parquet.write_table(table[:80], files[0], row_group_size=30)
    pyarrow.parquet.write_table(table[80:], files[1], row_group_size=50)
    known, model = table.filter(pc.is_valid(table["y"])).to_pandas(), NaiveBayes.textbook()
    truth = 1 - reference_score(model, known[["x"]], known["y"], cv=KFold(4))
    for rows in (files, table):
        found = evaluate_folds(model, rows, "y", cv=KFold(4))
        np.testing.assert_allclose(found.scores("error rate"), truth, rtol=1e-12)


def test_infinite_losses_name_their_class() -> None:
    y = np.array(["a", "b"] * 20, object)
    y[4] = "typo"
    x = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.warns(SufficeWarning, match="the rarest class has 1 rows"):
        found = evaluate_folds(GaussianNB(), x, y.tolist(), cv=4)
    assert found.infinite_rows == {"typo": 1.0}
    assert "∞" in repr(found)
    assert "1 row of class 'typo'" in repr(found)
    assert "nan" not in repr(found)
