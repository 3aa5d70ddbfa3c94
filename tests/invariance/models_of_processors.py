"""Print digests of the files and the predictions of models, and the level they ran at, as JSON."""

import json
import sys
import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from suffice import (
    AODE,
    AutoClassifier,
    Lasso,
    LinearDiscriminantAnalysis,
    LinearRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
)
from suffice.families import MultivariateGaussian
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB
from suffice.numerics import kernels

ROWS, COLUMNS = 300, 6
CLOSED_FORMS = ["naive-bayes", "aode"]
JOINT = tuple(f"x{j}" for j in range(COLUMNS))


def models() -> dict[str, tuple[Any, str]]:
    """Return the models by name, and the kind of rows that each takes."""
    return {
        "gaussian": (GaussianNB(), "numbers"),
        "weighted": (NaiveBayes(), "numbers"),
        "weighted, categories": (NaiveBayes(), "categories"),
        "one dependence, incomplete": (AODE(), "incomplete"),
        "student": (NaiveBayes.textbook(estimation="bayes"), "numbers"),
        "bernoulli": (BernoulliNB(), "counts"),
        "multinomial": (MultinomialNB(), "counts"),
        "complement": (ComplementNB(), "counts"),
        "categorical": (CategoricalNB(), "counts"),
        "poisson": (
            NaiveBayes.textbook(families={f"x{j}": "poisson" for j in range(COLUMNS)}),
            "counts",
        ),
        "linear discriminant": (LinearDiscriminantAnalysis(), "numbers"),
        "quadratic discriminant": (QuadraticDiscriminantAnalysis(), "numbers"),
        "linear discriminant, shrunk": (LinearDiscriminantAnalysis(shrinkage="auto"), "numbers"),
        "quadratic discriminant, floored": (QuadraticDiscriminantAnalysis(), "one plane"),
        "linear discriminant, incomplete": (LinearDiscriminantAnalysis(), "incomplete"),
        "quadratic discriminant, incomplete": (QuadraticDiscriminantAnalysis(), "incomplete"),
        "multivariate, incomplete": (
            NaiveBayes.textbook(families={JOINT: MultivariateGaussian()}),
            "incomplete",
        ),
        "linear regression": (LinearRegression(), "numbers"),
        "linear regression, incomplete": (LinearRegression(incomplete="gaussian"), "incomplete"),
        "ridge": (Ridge(alpha=1.0), "numbers"),
        "lasso": (Lasso(alpha=0.1), "numbers"),
    }


def slow_models() -> dict[str, tuple[Any, str]]:
    """Return models whose fit takes longer than all others together."""
    # Logistic regression is none of the candidates: its iterations call LAPACK.
    return {
        "the best": (AutoClassifier(candidates=CLOSED_FORMS, best=2), "categories"),
        "weighted, incomplete": (NaiveBayes(), "incomplete"),
        "weighted, counts": (NaiveBayes(), "counts"),
        "one dependence": (AODE(), "categories"),
    }


def digests(models: dict[str, tuple[Any, str]]) -> dict[str, list[str]]:
    """Return the digests of the file and of the predictions of every model."""
    random = np.random.RandomState(7)  # with numbers that no version of NumPy changes
    y = random.randint(3, size=ROWS, dtype=np.int64)
    whole = random.randint(-3_000, 3_000, size=(ROWS, COLUMNS), dtype=np.int64)
    rows: dict[str, Any] = {
        "numbers": whole / 7.0 + y[:, None] * np.arange(COLUMNS) * 50.0,
        "one plane": whole / 7.0 + y[:, None] * np.arange(COLUMNS) * 50.0,
        "incomplete": np.where(random.random_sample(whole.shape) < 0.2, np.nan, whole / 7.0),
        "counts": np.minimum(np.abs(whole) // 1_000, 2) + (y[:, None] > np.arange(COLUMNS)),
    }
    rows["categories"] = pa.table(
        {
            "bins": rows["numbers"][:, 0] * 0.01,
            "few": pa.array(whole[:, 1] // 1_000).cast(pa.string()),
            "some": [None if row % 7 == 0 else f"v{row % 5}" for row in whole[:, 2].tolist()],
            "count": np.abs(whole[:, 3]) // 500,
        }
    )
    plane = rows["one plane"][y == 1]
    plane[:, 3] = plane[:, 0] - 2.0 * plane[:, 1]  # in one class only
    rows["one plane"][y == 1] = plane
    found = {}
    for name, (model, kind) in models.items():
        model.fit(rows[kind], y)
        probabilistic = hasattr(model, "predict_proba")
        answers = (
            [model.predict_proba, model.predict_log_proba] if probabilistic else [model.predict]
        )
        total = sha256()
        for answer in answers:
            total.update(np.ascontiguousarray(answer(rows[kind])).tobytes())
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            model.save(file)
            found[name] = [sha256(file.read_bytes()).hexdigest(), total.hexdigest()]
    return found


if __name__ == "__main__":
    chosen = slow_models() if "slow" in sys.argv else models()
    print(json.dumps({"level": kernels.level(), "digests": digests(chosen)}))
