"""Rows with every kind of column, names and values that would break bad quoting, and models."""

from contextlib import suppress
from datetime import date, datetime, time
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from suffice import (
    AutoClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from suffice.errors import DataError

JOBS = ["it's", "back\\slash", 'x"; DROP TABLE t; --', "new\nline", "*/ x", "${y}", "é"]
LABELS = ["it's", "no", 'a"); --']
NAMES = {"age": 'a"ge; DROP TABLE t; --', "job": "jo'b */ \\ x"}
TRAINED, SCORED = 400, 1_000


def rows(n: int, seed: int, unseen: bool = False) -> pd.DataFrame:
    """Complete rows of three classes; on request with values that training rows never showed."""
    rng = np.random.default_rng(seed)
    k = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    table = pd.DataFrame(
        {
            "age": rng.normal(40 + 5 * k, 10),
            "far": 1e6 + rng.normal(k, 1),
            "job": np.array([*JOBS, "new"])[rng.integers(0, len(JOBS) + unseen, n)],
            "code": rng.integers(0, 3 + unseen, n),
            "years": rng.integers(0, 60 + 40 * unseen, n) + 5 * k,
            "flag": rng.random(n) < 0.2 + 0.2 * k,
            "bit": rng.integers(0, 2 + unseen, n),
            "hits": rng.poisson(2 + k).astype(float),
            "word": rng.poisson(2 + k).astype(float),
            "other": rng.poisson(1, n).astype(float),
            "y": np.array(LABELS)[k],
        }
    )
    return table.rename(columns=NAMES)


def with_holes(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """The same rows without the label; a cell in seven is missing, and one row shows nothing."""
    rng = np.random.default_rng(seed)
    whole = dict.fromkeys(["code", "years", "bit"], "Int64")
    kinds = whole | {"flag": "boolean", NAMES["job"]: "string"}
    table = table.drop(columns="y").astype(kinds)
    for name in table:
        missing = rng.random(len(table)) < 1 / 7
        missing[0] = True
        table.loc[missing, name] = np.nan if table[name].dtype == float else pd.NA
    return table


FAMILIES = {"hits": "poisson", "word": "multinomial", "other": "multinomial"}
NAIVE_BAYES = {
    "bayes": {"estimation": "bayes"},
    "map": {"estimation": "map"},
    "mle": {"estimation": "mle", "alpha": 0.0},
    "smooth": {"unseen": "smooth"},
    "uniform": {"class_prior": "uniform"},
    "weights": {"numbers": "density", "calibration": "weights"},
}
AS_IT_COMES = "as it comes"
ALL_NAIVE_BAYES = [*NAIVE_BAYES, AS_IT_COMES]
NUMBERS = [NAMES["age"], "far", "hits"]
DISCRIMINANTS = {"lda": LinearDiscriminantAnalysis, "qda": QuadraticDiscriminantAnalysis}


@pytest.fixture(scope="session")
def training() -> pd.DataFrame:
    return rows(TRAINED, 1)


@pytest.fixture(scope="session")
def holes() -> pd.DataFrame:
    """10,000 rows with missing cells and unseen values."""
    return with_holes(rows(SCORED, 2, unseen=True), 3)


@pytest.fixture(scope="session")
def naive_bayes(training: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Naive Bayes of every family but text, under every estimation and rule for the unseen.

    And as it comes, fitted to a file of text with missing cells.
    """
    file = tmp_path_factory.mktemp("naive_bayes") / "training.csv"
    with_holes(training, 5).assign(y=training["y"]).to_csv(file, index=False)
    models = {
        name: NaiveBayes.textbook(families=FAMILIES, **options).fit(training, "y")
        for name, options in NAIVE_BAYES.items()
    }
    return models | {AS_IT_COMES: NaiveBayes().fit(file, "y")}


@pytest.fixture(scope="session")
def complete_models(training: pd.DataFrame) -> dict[str, Any]:
    """Models whose terms are those of complete rows."""
    numbers = training[[*NUMBERS, "y"]]
    design = training[[NAMES["age"], NAMES["job"], "hits", "y"]]
    two = design.assign(y=np.where(design["y"] == LABELS[0], "a", "b"))
    targets = training[[NAMES["age"], NAMES["job"], "hits"]]
    return {
        **{name: model().fit(numbers, "y") for name, model in DISCRIMINANTS.items()},
        "joined": NaiveBayes.textbook(
            {(NAMES["age"], "far"): "multivariate_gaussian"},
            estimation="mle",
            calibration="weights",
        ).fit(numbers, "y"),
        "logistic": LogisticRegression().fit(design, "y"),
        "logistic of two": LogisticRegression().fit(two, "y"),
        "logistic of bins": LogisticRegression(numbers="bins").fit(two, "y"),
        "linear": LinearRegression().fit(targets, "hits"),
        "ridge": Ridge(alpha=2.0).fit(targets, "hits"),
    }


MEMBERS = ["aode", "logistic-bins", "lda", "qda-light"]


@pytest.fixture(scope="session")
def averages(training: pd.DataFrame) -> dict[str, Any]:
    """Averages with members of every kind, fitted to whole rows, and to rows with missing cells."""
    columns = [*NUMBERS, NAMES["job"], "code", "flag"]
    labels, gaps = training["y"], with_holes(training, 5)
    gaps[NAMES["age"]] = training[NAMES["age"]]
    few = [NAMES["age"], "far", NAMES["job"], "flag"]
    return {
        "whole": AutoClassifier(MEMBERS, best=4).fit(training[columns], labels),
        "gaps": AutoClassifier(MEMBERS, best=4).fit(gaps[few], labels),
        "pairs": AutoClassifier(["aode", "logistic"]).fit(gaps[few], labels),
    }


@pytest.fixture(scope="session")
def of_bins(training: pd.DataFrame) -> LogisticRegression:
    """A logistic regression of bins, which also answers rows with missing cells."""
    learnt = with_holes(training, 5)[[*NUMBERS, NAMES["job"], "years"]]
    model = LogisticRegression(numbers="bins", incomplete="indicator")
    return model.fit(learnt.assign(y=training["y"]), "y")


@pytest.fixture(scope="session")
def complete() -> pd.DataFrame:
    """10,000 complete rows, without unseen values."""
    return rows(SCORED, 4).drop(columns="y")


KINDS_OF_TIME = {"day": pa.date32(), "seen": pa.timestamp("us"), "at": pa.time64("us")}


def dates(n: int, seed: int, gaps: bool) -> pd.DataFrame:
    """Rows of dates, points in time and times of day, before and after 1970."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    days = np.datetime64("1962-03-01") + rng.integers(0, 5000, n) + 2000 * k
    seen = np.datetime64("1969-06-01T08:00:00.000") + rng.integers(0, 3 * 10**10, n) + 10**10 * k
    at = pa.array(rng.integers(0, 4 * 10**7, n) * 1000 + 4 * 10**10 * k, pa.time64("us"))
    cells = {"day": pa.array(days), "seen": pa.array(seen), "at": at}
    made = {
        name: pd.Series(cells[name].cast(kind), dtype=pd.ArrowDtype(kind))
        for name, kind in KINDS_OF_TIME.items()
    }
    rows = pd.DataFrame(made)
    if gaps:
        rows = rows.mask(rng.random(rows.shape) < 1 / 7)
    return rows.assign(x=rng.normal(k), y=np.array(["no", "yes"])[k])


def in_seconds(rows: pd.DataFrame) -> pd.DataFrame:
    """Rows whose dates count from 1970-01-01, and times of day from midnight."""

    def seconds(cell: Any) -> float:
        if pd.isna(cell):
            return np.nan
        moment = datetime.combine(date(1970, 1, 1), cell) if isinstance(cell, time) else cell
        return (pd.Timestamp(moment) - pd.Timestamp(0)).total_seconds()

    return rows.assign(**{name: rows[name].map(seconds) for name in KINDS_OF_TIME})


DATED = ["naive bayes", "gaussians", "lda", "logistic", "logistic of bins", "linear"]


@pytest.fixture(scope="session")
def dated() -> dict[str, tuple[Any, pd.DataFrame]]:
    """Models of dates, and rows; where a model leaves missing cells out, they have some."""
    whole, gaps = dates(TRAINED, 1, gaps=False), dates(TRAINED, 1, gaps=True)
    bins = LogisticRegression(numbers="bins", incomplete="indicator")
    few, asked = (dates(300, 2, gaps=gap).drop(columns="y") for gap in (False, True))
    return {
        "naive bayes": (NaiveBayes().fit(gaps, "y"), asked),
        "gaussians": (NaiveBayes.textbook().fit(gaps, "y"), asked),
        "lda": (LinearDiscriminantAnalysis().fit(whole, "y"), asked),
        "logistic": (LogisticRegression().fit(whole, "y"), few),
        "logistic of bins": (bins.fit(gaps, "y"), asked),
        "linear": (LinearRegression().fit(whole.drop(columns="y"), "x"), few.drop(columns="x")),
    }


@pytest.fixture(scope="session", params=["ignore", "smooth", "error"])
def stored_as_numbers(request: pytest.FixtureRequest) -> tuple[Any, pd.DataFrame, np.ndarray]:
    """A model of 0 and 1; rows where they are doubles; Python's answers.

    Where Python refuses a row, its answer is NaN.
    """
    rng = np.random.default_rng(6)
    code, y = rng.integers(0, 2, 400), np.array(["a", "b"])[rng.integers(0, 2, 400)]
    model = NaiveBayes.textbook(unseen=request.param).fit(pd.DataFrame({"code": code, "y": y}), "y")
    asked = pd.DataFrame({"code": [1.0, np.nan, 2.5, 99.0, 1e200, -0.0, np.inf]})
    answers = np.full((len(asked), 2), np.nan)
    for i in range(len(asked)):
        with suppress(DataError):
            answers[i] = model.predict_proba(asked.iloc[[i]])[0]
    assert np.isnan(answers).any(axis=1).sum() == (4 if request.param == "error" else 1)
    return model, asked, answers


@pytest.fixture(scope="session", params=["mle", "map"])
def eventless(request: pytest.FixtureRequest) -> tuple[Any, pd.DataFrame]:
    """A model of counts whose first class shows none, and rows with and without some."""
    rows = pd.DataFrame({"n": [0.0, 0, 2, 3, 1, 4], "m": [1.0, 2, 0, 1, 0, 3]})
    counts = dict.fromkeys(rows, "poisson")
    alpha = {"mle": 0.0, "map": 1.0}[request.param]
    model = NaiveBayes.textbook(families=counts, estimation=request.param, alpha=alpha)
    return model.fit(rows, list("aabbcc")), rows
