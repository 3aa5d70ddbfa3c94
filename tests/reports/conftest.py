"""Rows of every kind of column, and models of every kind that a page shows."""

from datetime import date, time
from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import (
    AODE,
    AutoClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, MultinomialNB

HOSTILE = "</script><script>alert(1)</script>"
JOBS = [HOSTILE, 'it\'s "x"', "مرحبا", "😀", "=1+1"]
LONG = "n" * 10_000


def rows(n: int, seed: int) -> pd.DataFrame:
    """Rows of three classes; those of other seeds than 1 also show values never seen there."""
    rng = np.random.default_rng(seed)
    k = rng.choice(3, n, p=[0.5, 0.3, 0.2])
    new = int(seed != 1)
    return pd.DataFrame(
        {
            "<img src=x onerror=alert(1)>": rng.normal(40 + 5 * k, 10),
            "far": 1e6 + rng.normal(k, 1),
            LONG: np.array([*JOBS, "new"])[rng.integers(0, len(JOBS) + new, n)],
            "code": rng.integers(0, 3 + new, n),
            "flag": rng.random(n) < 0.2 + 0.2 * k,
            "hits": rng.poisson(2 + k).astype(float),
            "word": rng.poisson(2 + k).astype(float),
            "other": rng.poisson(1, n).astype(float),
            "y": np.array([HOSTILE, "no", "😀"])[k],
        }
    )


WORDS = ["free", "Prize", "the", "a", "AND", "Straße", "ΟΔΟΣ", "__init__", "4u", "İ", "don't"]


def messages(n: int, seed: int) -> pd.DataFrame:
    """Texts of two classes; those of other seeds than 1 hold words never seen there."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    words = np.array([*WORDS, *(["unseen"] if seed != 1 else [])])
    texts = []
    for c in k.tolist():
        share = np.arange(1, len(words) + 1.0) ** (1 - 2 * c)
        texts.append(" ".join(rng.choice(words, rng.integers(0, 12), p=share / share.sum())))
    return pd.DataFrame({"text": texts, "length": [float(len(t)) for t in texts], "y": k})


def ten_tables() -> dict[str, tuple[pd.DataFrame, dict[str, Any]]]:
    """Tables of many kinds of columns with the label ``y``, and some cells of a row of each."""
    rng = np.random.default_rng(7)
    n = 400
    k = rng.integers(0, 2, n)
    spike = np.where(rng.random(n) < 0.05 + 0.25 * k, rng.choice([7_298, 15_024], n), 0)
    number, hue = (
        rng.normal(k, 1.0),
        np.array(["red", "green", "blue"])[(k + rng.integers(0, 2, n))],
    )
    many = rng.integers(0, 12, n)
    gaps = np.where(rng.random(n) < 0.3, np.nan, number)
    days = np.datetime64("1969-03-01") + 200 * k + rng.integers(0, 300, n)
    at = [time(h, m) for h, m in zip(6 * k + rng.integers(0, 18, n), many, strict=True)]
    known = {"day": date(1969, 11, 3), "at": time(14, 30)}
    texts = messages(n, 1)
    tables: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "numbers": (
            {"a": number, "b": rng.exponential(1.0 + k), "c": rng.normal(size=n)},
            {"a": 0.3},
        ),
        "spiky numbers": ({"gain": spike, "loss": np.where(k > 0, 0, spike), "age": number}, {}),
        "categories": ({"hue": hue, "size": rng.choice([*"sml"], n), "z": hue}, {"hue": "red"}),
        "mixed": ({"a": number, "hue": hue, "hits": rng.poisson(2 + k)}, {"hue": "blue"}),
        "missing cells": (
            {"a": gaps, "b": number, "hue": np.where(gaps > 1, None, hue)},
            {"b": 1.5},
        ),
        "many classes": ({"a": many + number, "hue": hue, "b": many % 3 + number, "y": many}, {}),
        "text": ({"note": texts["text"], "length": texts["length"], "y": texts["y"]}, {}),
        "0/1": ({"a": rng.random(n) < 0.2 + 0.4 * k, "b": (number > 0) * 1, "c": k}, {"b": 1}),
        "dates": ({"day": days.tolist(), "at": at, "a": number}, known),
        "constant columns": ({"one": np.ones(n), "same": "x", "a": number}, {"one": 1.0}),
    }
    label = np.array(["no", "yes"])[k]
    return {name: (pd.DataFrame({"y": label} | of), row) for name, (of, row) in tables.items()}


def dated(n: int, seed: int) -> pd.DataFrame:
    """Rows of dates and points in time, before and after 1970."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    seconds = rng.integers(-(10**8), 10**8, n) + 10**8 * k
    return pd.DataFrame(
        {
            "day": np.datetime64("1965-01-01", "s") + 86_400 * (rng.integers(0, 3000, n) + 900 * k),
            "seen": np.datetime64("1970-01-01", "ms") + 1000 * seconds + 250,
            "far": rng.normal(k),
            "y": np.array(["no", "yes"])[k],
        }
    )


def with_holes(table: pd.DataFrame) -> pd.DataFrame:
    """A cell in seven is missing, and one row shows nothing."""
    holes = np.random.default_rng(3).random(table.shape) < 1 / 7
    holes[0] = True
    return table.astype(object).mask(holes).where(lambda cells: cells.notna(), None)


BINS: dict[str, Any] = {"numbers": "bins", "incomplete": "indicator"}
MIXED = ["hits", LONG, "far"]
NUMBERS = ["<img src=x onerror=alert(1)>", "far", "hits"]
JOINED = {tuple(NUMBERS): "multivariate_gaussian"}
FAMILIES = {"hits": "poisson", "word": "multinomial", "other": "multinomial"}


@pytest.fixture(scope="session")
def models() -> dict[str, tuple[Any, pd.DataFrame]]:
    """Models, and the columns of the rows that each is asked."""
    table, asked = rows(400, 1), rows(300, 2).drop(columns="y")
    events, codes = table[["hits", "word", "other"]], table[["code"]]
    numbers = table[NUMBERS]
    design = table[[*NUMBERS, LONG]]
    two = table[table["y"] != "😀"].reset_index(drop=True)
    known = rows(300, 1).drop(columns="y")[[*NUMBERS, LONG]]  # such models refuse unseen values

    def whole(rows: pd.DataFrame) -> pd.DataFrame:
        return rows.assign(hits=rows["hits"].astype(int), far=(10 * rows["far"]).astype(int))

    texts, asked_texts = messages(200, 1), messages(300, 2).drop(columns="y")

    days, asked_days = dated(400, 1), dated(300, 2).drop(columns="y")

    def bayes(**options: Any) -> Any:
        return NaiveBayes.textbook(**options).fit(table, "y")

    kinds = ["aode", "logistic-bins", "lda", "qda-light"]
    plain = table.drop(columns=["word", "other"])
    return {
        "aode": (AODE().fit(table, "y"), asked),
        "auto": (AutoClassifier(kinds, best=4).fit(plain, "y"), asked[[*plain.columns[:-1]]]),
        "bayes": (bayes(families=FAMILIES), asked),
        "map": (bayes(families=FAMILIES, estimation="map"), asked),
        "mle": (bayes(families=FAMILIES, estimation="mle", alpha=0.0), asked),
        "smooth": (bayes(unseen="smooth"), asked),
        "weights": (bayes(numbers="density", calibration="weights"), asked),
        "default": (NaiveBayes().fit(whole(table), "y"), whole(asked)),
        "joined": (bayes(families=JOINED, estimation="mle", calibration="weights"), asked),
        "text": (NaiveBayes({"text": "multinomial"}).fit(texts, "y"), asked_texts),
        "bernoulli": (BernoulliNB(binarize=1.5).fit(events, table["y"]), asked[list(events)]),
        "multinomial": (MultinomialNB().fit(events, table["y"]), asked[list(events)]),
        "complement": (ComplementNB().fit(events, table["y"]), asked[list(events)]),
        "categorical": (CategoricalNB().fit(codes, table["y"]), asked[list(codes)]),
        "dated": (NaiveBayes().fit(days, "y"), asked_days),
        "dated lda": (LinearDiscriminantAnalysis().fit(days, "y"), asked_days),
        "dated bins": (
            LogisticRegression(**BINS).fit(
                with_holes(days[[*asked_days]]).infer_objects(), days["y"]
            ),
            asked_days,
        ),
        "dated logistic": (LogisticRegression().fit(days, "y"), asked_days),
        "lda": (LinearDiscriminantAnalysis().fit(numbers, table["y"]), asked[NUMBERS]),
        "qda": (QuadraticDiscriminantAnalysis().fit(numbers, table["y"]), asked[NUMBERS]),
        "mixed": (LinearDiscriminantAnalysis().fit(table[[*MIXED, "y"]], "y"), asked[MIXED]),
        "mixed qda": (
            QuadraticDiscriminantAnalysis(shrinkage=0.1).fit(table[[*MIXED, "y"]], "y"),
            asked[MIXED],
        ),
        "logistic": (LogisticRegression().fit(design, table["y"]), known),
        "unpenalised": (LogisticRegression(C=np.inf).fit(design, table["y"]), known),
        "bins": (
            LogisticRegression(**BINS).fit(with_holes(design).infer_objects(), table["y"]),
            asked[list(design)],
        ),
        "two of bins": (
            LogisticRegression(penalty="firth", **BINS).fit(
                with_holes(two[[LONG, "hits"]]).infer_objects(), two["y"]
            ),
            asked[[LONG, "hits"]],
        ),
        "two": (
            LogisticRegression(penalty="firth", ordered={LONG: JOBS[::-1]}).fit(
                two[[LONG, "hits"]], two["y"]
            ),
            known[[LONG, "hits"]],
        ),
        "linear": (LinearRegression().fit(design, table["other"]), known),
    }
