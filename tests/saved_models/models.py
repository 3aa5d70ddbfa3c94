"""Fitted models of every kind, and files of them with their predictions.

``python tests/saved_models/models.py FOLDER`` writes the files of all groups.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.csv
from scipy.sparse import csr_array
from sklearn.covariance import LedoitWolf
from tests.running import on

import suffice
from suffice import AODE, AutoClassifier, NaiveBayes
from suffice import naive_bayes as nb
from suffice.families import Density, Gaussian, JointTable, MultivariateGaussian, Poisson
from suffice.linear_model import ElasticNet, Lasso, LinearRegression, LogisticRegression, Ridge
from suffice.models.optimise.gradient_descent import GradientDescent

LDA, QDA = suffice.LinearDiscriminantAnalysis, suffice.QuadraticDiscriminantAnalysis
N = 48
NUMBERS = ["a", "b", "c"]


def mixed() -> pa.Table:
    """Every kind of column, with empty cells; labels and a target."""
    rng = np.random.default_rng(5)
    code = np.arange(N) % 3
    words = np.array(["to", "be", "or", "not", "that", "is", "the", "question"])
    numbers = np.round(rng.normal(size=(N, 3)) * [1, 30, 0.01] + np.outer(code, [1, 20, 0.01]), 4)
    empty = rng.random((N, 4)) < 0.12
    texts = [" ".join(rng.choice(words[c : c + 6], 5)) for c in code]
    days = [date(2020, 1, 1) + timedelta(days=int(x)) for x in rng.integers(0, 400, N)]
    return pa.table(
        {
            "a": numbers[:, 0],
            "b": numbers[:, 1],
            "c": numbers[:, 2],
            "size": pa.array(numbers[:, 1] + 1e6, mask=empty[:, 0]),
            "visits": rng.poisson(2 + 3 * code),
            "color": pa.array(rng.choice(["red", "green", "blue", "grün"], N), mask=empty[:, 1]),
            "shape": rng.choice(["round", "long"], N),
            "old": pa.array(rng.random(N) < 0.3 + 0.2 * code, mask=empty[:, 2]),
            "day": pa.array(days, mask=empty[:, 3]),
            "note": texts,
            "weight": np.round(rng.random(N) * 3, 1),
            "kind": [["apple", "pear", None, "plum"][c if i % 16 else 2] for i, c in
                     enumerate(np.array([0, 1, 3])[code])],
            "number": code,
            "answer": rng.random(N) < 0.2 + 0.3 * code,
            "target": numbers @ [2.0, 0.1, -3.0] + np.round(rng.normal(size=N), 3),
        }
    )  # fmt: skip


TABLE = mixed()
X = np.stack([TABLE[name].to_numpy() for name in NUMBERS], axis=1)
GAPS = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
COUNTS = np.floor(np.abs(X) * 3)
CODES = np.floor(np.abs(X) % 4).astype(int)
NUMBER, KIND, TARGET = (TABLE[name].to_pylist() for name in ("number", "kind", "target"))
ANSWER, WEIGHT = TABLE["answer"].to_numpy(), TABLE["weight"].to_numpy()
COLUMNS = ["size", "visits", "color", "shape", "old", "day", "note"]
RAW = TABLE.select([*COLUMNS, "kind"])

Fitted = Callable[[], Any]
T = TypeVar("T")
WIDE = np.random.default_rng(2).normal(size=(N, 400)).round(3)
ARRAYS: dict[str, Any] = {
    "numbers": X,
    "gaps": GAPS,
    "counts": COUNTS,
    "codes": CODES,
    "wide": WIDE,
}


def naive_bayes() -> Iterator[tuple[str, Any, str]]:
    """Models of `NaiveBayes`, with a name and the rows that they predict."""
    yield "default", NaiveBayes.textbook().fit(RAW, "kind"), "table"
    for estimation in ("mle", "map"):
        options = {"estimation": estimation, "alpha": 1.5}
        yield estimation, NaiveBayes.textbook(**options).fit(RAW, "kind"), "table"
    options = {"class_prior": "smoothed", "unseen": "smooth"}
    yield "smoothed", NaiveBayes.textbook(**options).fit(RAW, "kind"), "table"
    options = {"class_prior": "uniform", "unseen": "error"}
    yield "uniform", NaiveBayes.textbook(**options).fit(RAW, "kind"), "table"
    prior = {"apple": 0.5, "pear": 0.25, "plum": 0.25}
    yield "prior", NaiveBayes.textbook(class_prior=prior).fit(RAW, "kind"), "table"
    families = {
        "visits": Poisson(alpha=2.0),
        "size": Gaussian(estimation="mle"),
        ("shape", "color"): "joint_table",
        "note": "complement",
    }
    yield "families", NaiveBayes.textbook(families).fit(RAW, "kind"), "table"
    joint = {("shape", "old"): JointTable(alpha=0.5), "note": "bernoulli"}
    threads = suffice.engine("local", threads=2)
    yield "joint", on(threads, NaiveBayes.textbook(joint)).fit(RAW, "kind"), "table"
    reading = {"missing": ("long",), "label_suffix": "um", "label_map": {"pear": "pyrus"}}
    yield "reading", NaiveBayes.textbook().fit(suffice.read_table(RAW, **reading), "kind"), "table"
    weighted = TABLE.select([*COLUMNS, "kind", "weight"])
    yield "weights", NaiveBayes.textbook().fit(weighted, "kind", "weight"), "table"
    for label in ("number", "answer", "day"):
        rows = TABLE.select([*(name for name in COLUMNS if name != label), label])
        yield f"label_{label}", NaiveBayes.textbook().fit(rows, label), "table"
    batches = [RAW[:16], RAW[16:32], RAW[32:]]
    for name, stream in (("decay", {"decay": 0.7}), ("window", {"window": 2})):
        model = NaiveBayes.textbook()
        for batch in batches:
            model.partial_fit(batch, "kind", **stream)
        yield name, model, "table"
    merged = (
        NaiveBayes.textbook()
        .fit(RAW[:24], "kind")
        .merge(NaiveBayes.textbook().fit(RAW[24:], "kind"))
    )
    yield "merged", merged, "table"
    yield "forgot", NaiveBayes.textbook().fit(RAW, "kind").forget(RAW[20:30], "kind"), "table"
    declared = NaiveBayes.textbook(class_prior="smoothed").partial_fit(
        X, NUMBER, classes=[0, 1, 2, 7]
    )
    yield "declared", declared, "numbers"
    yield "gaps", NaiveBayes.textbook().fit(GAPS, NUMBER, WEIGHT), "gaps"
    narrow = X.astype(np.float32), np.array(NUMBER, np.int8)
    yield "narrow", NaiveBayes.textbook().fit(*narrow), "numbers"
    yield "one_family", NaiveBayes.textbook("multivariate_gaussian").fit(GAPS, NUMBER), "gaps"
    pooled = MultivariateGaussian(pooling=1, shrinkage=0.1, estimation="mle")
    yield "pooled", NaiveBayes.textbook(pooled).fit(X, NUMBER), "numbers"
    wolf = MultivariateGaussian(shrinkage="ledoit-wolf", estimation="mle")
    yield "ledoit_wolf", NaiveBayes.textbook(wolf).fit(X, NUMBER), "numbers"
    with TemporaryDirectory() as folder:
        path = f"{folder}/rows.csv"
        options = pyarrow.csv.WriteOptions(delimiter=";", quoting_style="needed")
        pyarrow.csv.write_csv(RAW.drop(["day"]), path, options)
        rows = suffice.read_csv(path, separator=";")
        yield "csv", NaiveBayes.textbook().fit(rows, "kind"), "table"
    options = {"numbers": "density", "calibration": "weights"}
    yield "density", NaiveBayes.textbook(**options).fit(RAW, "kind"), "table"
    shapes = {"size": Density("histogram"), "visits": Density("kernel_density")}
    yield "shapes", NaiveBayes.textbook(shapes, calibration="temperature").fit(RAW, "kind"), "table"


def scikit_learn_names() -> Iterator[tuple[str, Any, str]]:
    """Models of `suffice.naive_bayes`."""
    yield "default", nb.GaussianNB().fit(X, NUMBER), "numbers"
    options = {"priors": [0.2, 0.3, 0.5], "var_smoothing": 1e-3}
    yield "options", nb.GaussianNB(**options).fit(GAPS, NUMBER, WEIGHT), "gaps"
    yield "frame", nb.GaussianNB().fit(TABLE.select([*NUMBERS, "answer"]), "answer"), "table"
    yield "default", nb.BernoulliNB().fit(X, ANSWER), "numbers"
    options = {"alpha": [0.5, 1.0, 2.0], "binarize": 0.5, "class_prior": [0.5, 0.5]}
    yield "options", nb.BernoulliNB(**options).fit(X, ANSWER), "numbers"
    yield "sparse", nb.BernoulliNB(fit_prior=False).fit(csr_array(COUNTS), ANSWER), "counts"
    yield "default", nb.MultinomialNB().fit(COUNTS, NUMBER), "counts"
    yield "options", nb.MultinomialNB(alpha=0, force_alpha=False).fit(COUNTS, NUMBER), "counts"
    yield "sparse", nb.MultinomialNB().fit(csr_array(COUNTS), NUMBER, WEIGHT), "counts"
    yield "default", nb.ComplementNB().fit(COUNTS, NUMBER), "counts"
    yield "norm", nb.ComplementNB(norm=True, alpha=0.3).fit(csr_array(COUNTS), NUMBER), "counts"
    yield "default", nb.CategoricalNB().fit(CODES, NUMBER), "codes"
    options = {"min_categories": 6, "unseen": "smooth", "alpha": 0.1}
    yield "options", nb.CategoricalNB(**options).fit(CODES, NUMBER), "codes"


def discriminant_analysis() -> Iterator[tuple[str, Any, str]]:
    """Models of `suffice.discriminant_analysis`."""
    yield "default", LDA().fit(X, NUMBER), "numbers"
    yield "lsqr", LDA(solver="lsqr", shrinkage="auto", ddof=1).fit(X, NUMBER), "numbers"
    eigen = {"solver": "eigen", "shrinkage": 0.2, "priors": [0.2, 0.3, 0.5], "n_components": 1}
    yield "eigen", LDA(**eigen).fit(X, NUMBER), "numbers"
    estimator = {"solver": "lsqr", "covariance_estimator": LedoitWolf(assume_centered=False)}
    yield "estimator", LDA(**estimator).fit(X, NUMBER), "numbers"
    yield "gaps", LDA().fit(GAPS, NUMBER, sample_weight=WEIGHT), "gaps"
    yield "frame", LDA().fit(TABLE.select([*NUMBERS, "kind"]), "kind"), "table"
    yield "forgot", LDA().fit(GAPS, NUMBER).forget(GAPS[:9], NUMBER[:9]), "gaps"
    yield "default", QDA().fit(X, NUMBER), "numbers"
    options = {"reg_param": 0.1, "priors": {0: 0.5, 1: 0.25, 2: 0.25}}
    yield "options", QDA(**options).fit(X, NUMBER), "numbers"
    yield "gaps", QDA().fit(GAPS, NUMBER), "gaps"
    yield "ddof", QDA(ddof=1).fit(X, NUMBER), "numbers"
    yield "shrunk", QDA(solver="eigen", shrinkage="auto").fit(X, NUMBER), "numbers"


def linear_models() -> Iterator[tuple[str, Any, str]]:
    """Models of numbers."""
    rows = TABLE.select([*NUMBERS, "color", "old", "target"])
    descent = GradientDescent(passes=200)
    yield "default", LinearRegression().fit(X, TARGET), "numbers"
    yield "origin", LinearRegression(fit_intercept=False).fit(X, TARGET, WEIGHT), "numbers"
    yield "positive", LinearRegression(positive=True).fit(X, TARGET), "numbers"
    yield "table", LinearRegression(incomplete="drop").fit(rows, "target"), "table"
    yield "gaussian", LinearRegression(incomplete="gaussian").fit(GAPS, TARGET), "gaps"
    two = np.stack([TARGET, TARGET[::-1]], axis=1)
    yield "targets", LinearRegression().fit(X, two), "numbers"
    twice = np.hstack([X, X[:, :1]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield "dependent", LinearRegression().fit(twice, TARGET), "twice"
        for solver in ("gradient", "sgd", "minibatch"):
            model = LinearRegression(solver=solver, descent=descent).fit(X, TARGET)
            yield solver, model, "numbers"
    categorical = TABLE.select(["a", "visits", "target"])
    model = LinearRegression(categorical=["visits"]).fit(categorical, "target")
    yield "categorical", model, "table"
    yield "forgot", LinearRegression().fit(X, TARGET).forget(X[:9], TARGET[:9]), "numbers"
    window = LinearRegression()
    for start in range(0, N, 16):
        part = slice(start, start + 16)
        window.partial_fit(X[part], TARGET[part], window=2)
    yield "window", window, "numbers"
    yield "default", Ridge().fit(X, TARGET), "numbers"
    yield "standardize", Ridge(0.3, standardize=True).fit(X, TARGET, WEIGHT), "numbers"
    yield "gcv", Ridge("gcv", alphas=[0.1, 1.0, 10.0]).fit(X, TARGET), "numbers"
    yield "chosen", Ridge("gcv", fit_intercept=False).fit(X, TARGET), "numbers"
    yield "positive", Ridge(positive=True).fit(X, TARGET), "numbers"
    yield "gaussian", Ridge(incomplete="gaussian").fit(GAPS, TARGET), "gaps"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for solver in ("gradient", "sgd", "minibatch"):
            model = Ridge(solver=solver, descent=descent, random_state=0)
            yield solver, model.fit(X, TARGET), "numbers"


def sparse_models() -> Iterator[tuple[str, Any, str]]:
    """Models with a penalty of absolute values."""
    yield "default", Lasso(0.1).fit(X, TARGET), "numbers"
    yield "default", ElasticNet(0.2, l1_ratio=0.3).fit(X, TARGET, WEIGHT), "numbers"
    yield "l1", LogisticRegression("l1", C=0.5).fit(X, NUMBER), "numbers"


def models_of_terms() -> Iterator[tuple[str, Any, str]]:
    """Linear models whose columns become more than numbers and indicators."""
    rows = TABLE.select(["a", "b", "shape", "note", "visits", "kind", "target"])
    order = {"shape": ["round", "long"]}
    texts = rows.drop(["visits", "kind"])
    for words in (5, "counted"):
        model = Ridge(words=words, ordered=order).fit(texts, "target")
        yield f"words_{words}", model, "table"
    formula = "a * shape + C(visits) + I(b**2)"
    model = LinearRegression(formula=formula).fit(rows.drop(["note", "kind"]), "target")
    yield "formula", model, "table"
    classes = rows.drop(["target", "visits"])
    model = LogisticRegression(formula="a:shape + note", words=4, ordered=order)
    yield "formula", model.fit(classes, "kind"), "table"


def logistic_models() -> Iterator[tuple[str, Any, str]]:
    """Models of `LogisticRegression`."""
    rows = TABLE.select([*NUMBERS, "color", "old", "kind"])
    yield "default", LogisticRegression().fit(X, NUMBER), "numbers"
    yield "two_classes", LogisticRegression(C=0.1).fit(X, ANSWER, WEIGHT), "numbers"
    yield "likelihood", LogisticRegression(None).fit(X, ANSWER), "numbers"
    yield "firth", LogisticRegression("firth").fit(X, ANSWER), "numbers"
    yield "table", LogisticRegression(incomplete="drop").fit(rows, "kind"), "table"
    yield "sparse", LogisticRegression().fit(csr_array(COUNTS), NUMBER), "counts"
    options = {"class_weight": "balanced", "standardize": True, "fit_intercept": False}
    yield "balanced", LogisticRegression(**options).fit(X, NUMBER), "numbers"
    weights = {0: 1.0, 1: 2.0, 2: 0.5}
    yield "class_weight", LogisticRegression(class_weight=weights).fit(X, NUMBER), "numbers"
    yield "lbfgs", LogisticRegression(solver="lbfgs").fit(X, NUMBER), "numbers"
    descent = GradientDescent(passes=200)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for solver in ("gradient", "sgd", "minibatch"):
            model = LogisticRegression(solver=solver, descent=descent, random_state=0)
            yield solver, model.fit(X, NUMBER), "numbers"


def averages() -> Iterator[tuple[str, Any, str]]:
    """Averages of models of several kinds."""
    yield "numbers", AutoClassifier(["lda", "qda"]).fit(X, NUMBER), "numbers"
    yield "mixed", AutoClassifier(["naive-bayes"]).fit(RAW, "kind"), "table"


def pairs() -> Iterator[tuple[str, Any, str]]:
    """Models that count pairs of columns."""
    yield "mixed", AODE().fit(RAW, "kind"), "table"
    yield "alone", AODE(calibration="none").fit(GAPS, NUMBER, WEIGHT), "gaps"
    bins = {"size": [0.0, 0.5], "shape": ("box", "round")}
    model = AODE(bins=bins, calibration="temperature")
    for batch in (RAW[:16], RAW[16:32], RAW[32:]):
        model.partial_fit(batch, "kind")
    yield "bins", model, "table"


def columns_far_from_zero() -> Iterator[tuple[str, Any, str]]:
    """Models with counts of rows of a sample: the sizes are about a million."""
    yield "far", NaiveBayes().fit(RAW, "kind"), "table"
    yield "far", AODE().fit(RAW, "kind"), "table"


def whole_numbers() -> Iterator[tuple[str, Any, str]]:
    """Models of integers, of which some are categories by what all rows show."""
    rows = TABLE.select(["a", "visits", "number", "kind"])
    yield "whole", NaiveBayes().fit(rows, "kind"), "table"
    model = NaiveBayes(estimation="mle", calibration="none", unseen="smooth")
    for batch in (rows[:16], rows[16:32], rows[32:]):
        model.partial_fit(batch, "kind")
    yield "whole_window", model, "table"


def chosen() -> Iterator[tuple[str, Any, str]]:
    """Models with options that were chosen from the sums."""
    yield "evidence", NaiveBayes(alpha="evidence").fit(RAW, "kind"), "table"
    yield "evidence", nb.CategoricalNB(alpha="evidence").fit(CODES, NUMBER), "codes"


def discriminants_of_categories() -> Iterator[tuple[str, Any, str]]:
    """Discriminants of numbers and categories in one table, with empty cells."""
    rows = TABLE.select(["a", "size", "color", "old", "kind"])
    yield "mixed", LDA().fit(rows, "kind"), "table"
    quadratic = QDA(reg_param=0.1)
    yield "mixed", quadratic.fit(rows.drop(["color"]), "kind"), "table"


def calibrated() -> Iterator[tuple[str, Any, str]]:
    """Regressions that know the errors of rows."""
    yield "calibrated", LinearRegression().fit(X, TARGET).calibrate(X, TARGET), "numbers"
    yield "calibrated", Ridge(0.3).fit(X, TARGET, WEIGHT).calibrate(X, TARGET, WEIGHT), "numbers"


def wide() -> Iterator[tuple[str, Any, str]]:
    """Models of more columns than rows, whose files hold no sums of products."""
    yield "wide", LDA().fit(WIDE, NUMBER), "wide"
    yield "wide", Ridge().fit(WIDE, TARGET), "wide"


def choices() -> Iterator[tuple[str, Any, str]]:
    """Models whose files hold which family was chosen for each column of numbers."""
    yield "choices", NaiveBayes().fit(RAW, "kind"), "table"
    yield "choices", AODE().fit(GAPS, NUMBER), "gaps"


def of_bins() -> Iterator[tuple[str, Any, str]]:
    """Models of numbers that are cut into bins, with terms of missing cells."""
    options: dict[str, Any] = {"numbers": "bins", "incomplete": "indicator"}
    yield "bins", LogisticRegression(**options).fit(RAW.drop(["note"]), "kind"), "table"
    yield "bins_of_gaps", LogisticRegression(**options).fit(GAPS, NUMBER), "gaps"


def of_grids() -> Iterator[tuple[str, Any, str]]:
    """Models of few rows, whose numbers are counted on grids that move with the columns."""
    rows = TABLE.select(["a", "size", "visits", "day", "kind"])
    yield "grids", NaiveBayes().fit(rows, "kind"), "table"
    yield "grids", AODE().fit(rows, "kind"), "table"


def predictions(model: Any, rows: Any) -> list[Any]:
    """Log probabilities, or numbers."""
    answer = getattr(model, "predict_log_proba", model.predict)(rows)
    return np.asarray(answer).tolist()


GROUPS = {
    group.__name__: group
    for group in (
        naive_bayes,
        scikit_learn_names,
        discriminant_analysis,
        linear_models,
        sparse_models,
        models_of_terms,
        logistic_models,
        averages,
        pairs,
        columns_far_from_zero,
        whole_numbers,
        chosen,
        discriminants_of_categories,
        calibrated,
        wide,
        choices,
        of_bins,
        of_grids,
    )
}


def quiet(group: Callable[[], Iterator[T]]) -> list[T]:
    """Return the models of a group, without warnings of their fits."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(group())


def write(folder: Path, *names: str) -> None:
    """Write the files of some groups, the rows that are predicted, and the predictions."""
    arrays = ARRAYS | {"twice": np.hstack([X, X[:, :1]])}
    rows: dict[str, Any] = {name: x[:7].tolist() for name, x in arrays.items()}
    with pa.ipc.new_file(folder / "table.arrow", TABLE.schema) as file:
        file.write_table(TABLE[:7])
    expected = {}
    for group in names:
        for name, model, given in quiet(GROUPS[group]):
            file = f"{type(model).__name__}-{name}.suffice"
            model.save(folder / file)
            columns = model.feature_names_in_.tolist() if given == "table" else []
            new = TABLE[:7].select(columns) if columns else np.array(rows[given])
            expected[file] = {
                "rows": given,
                "columns": columns,
                "classes": [str(label) for label in getattr(model, "classes_", [])],
                "predictions": predictions(model, new),
            }
    text = json.dumps({"rows": rows, "models": expected}, indent=1)
    (folder / "predictions.json").write_text(text, "utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), *GROUPS)
