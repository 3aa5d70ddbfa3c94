"""Rows with every kind of column, names and values that would break bad quoting, and models."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import (
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminantAnalysis,
    Ridge,
)

JOBS = ["it's", "back\\slash", 'x"; DROP TABLE t; --', "new\nline", "*/ x", "${y}", "é"]
LABELS = ["it's", "no", 'a"); --']
NAMES = {"age": 'a"ge; DROP TABLE t; --', "job": "jo'b */ \\ x"}
TRAINED, SCORED = 400, 10_000


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
    kinds = {"code": "Int64", "bit": "Int64", "flag": "boolean", NAMES["job"]: "string"}
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
    "weights": {"numbers": "adaptive", "calibration": "weights"},
    "histogram": {"numbers": "histogram"},
}
NUMBERS = [NAMES["age"], "far", "hits"]
DISCRIMINANTS = {
    "lda": LinearDiscriminantAnalysis,
    "qda": QuadraticDiscriminantAnalysis,
    "rda": RegularizedDiscriminantAnalysis,
}


@pytest.fixture(scope="session")
def training() -> pd.DataFrame:
    return rows(TRAINED, 1)


@pytest.fixture(scope="session")
def holes() -> pd.DataFrame:
    """10,000 rows with missing cells and unseen values."""
    return with_holes(rows(SCORED, 2, unseen=True), 3)


@pytest.fixture(scope="session")
def naive_bayes(training: pd.DataFrame) -> dict[str, Any]:
    """Naive Bayes of every family but text, under every estimation and rule for the unseen."""
    return {
        name: NaiveBayes.textbook(families=FAMILIES, **options).fit(training, "y")
        for name, options in NAIVE_BAYES.items()
    }


@pytest.fixture(scope="session")
def complete_models(training: pd.DataFrame) -> dict[str, Any]:
    """Models whose terms are those of complete rows."""
    numbers = training[[*NUMBERS, "y"]]
    design = training[[NAMES["age"], NAMES["job"], "hits", "y"]]
    two = design.assign(y=np.where(design["y"] == LABELS[0], "a", "b"))
    targets = training[[NAMES["age"], NAMES["job"], "hits"]]
    return {
        **{name: model().fit(numbers, "y") for name, model in DISCRIMINANTS.items()},
        "logistic": LogisticRegression().fit(design, "y"),
        "logistic of two": LogisticRegression().fit(two, "y"),
        "linear": LinearRegression().fit(targets, "hits"),
        "ridge": Ridge(alpha=2.0).fit(targets, "hits"),
    }


@pytest.fixture(scope="session")
def complete() -> pd.DataFrame:
    """10,000 complete rows, without unseen values."""
    return rows(SCORED, 4).drop(columns="y")
