"""Every estimator that can be exported, by its SQL in DuckDB; and what is refused, by name."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import (
    LinearDiscriminantAnalysis,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import ParameterError
from suffice.export import log_joint
from suffice.naive_bayes import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

N = 500
rng = np.random.default_rng(0)
Y = rng.integers(0, 3, N)


def _columns(values: np.ndarray) -> pd.DataFrame:
    return pd.DataFrame(values, columns=[f"x{j}" for j in range(values.shape[1])])


REAL = _columns(rng.normal(Y[:, None], 1, (N, 4)))
COUNTS = _columns(rng.poisson(1 + Y[:, None], (N, 4)).astype(float))
NEVER = COUNTS.mul(Y > 0, axis=0)  # no event in the first class
CODES = _columns(rng.integers(0, 4, (N, 3)))
SIGNED = REAL.assign(s=np.where(Y > 1, 1, -1), b=Y > 0)
EMPTY = REAL.assign(u=np.nan)
FAR = REAL * 1e-3 + 1e9
POISSON = dict.fromkeys(COUNTS, "poisson")

MODELS = [
    (GaussianNB(), REAL, REAL),
    (GaussianNB(), FAR, FAR),
    (BernoulliNB(binarize=0.5), REAL, REAL),
    (MultinomialNB(), COUNTS, COUNTS),
    (ComplementNB(), COUNTS, COUNTS),
    (CategoricalNB(), CODES, CODES),
    (NaiveBayes.textbook(), SIGNED, SIGNED),
    (NaiveBayes.textbook(class_prior=[0.5, 0.5, 0]), SIGNED, SIGNED),
    (NaiveBayes.textbook(), EMPTY, EMPTY),
    (NaiveBayes.textbook(families=POISSON, estimation="mle", alpha=0.0), NEVER, COUNTS),
    (LogisticRegression(), FAR, FAR),
    (LinearDiscriminantAnalysis(), FAR, FAR),
    (QuadraticDiscriminantAnalysis(), FAR, FAR),
]


@pytest.mark.parametrize(("model", "training", "rows"), MODELS)
def test_probabilities(model: Any, training: pd.DataFrame, rows: pd.DataFrame) -> None:
    pytest.importorskip("sqlglot", reason="sqlglot is not installed")
    from .test_sql import check, in_duckdb

    check(model.fit(training, Y), rows, "duckdb", in_duckdb)


def test_what_cannot_be_written_is_refused_by_name() -> None:
    joined = NaiveBayes.textbook(families={"x0": "multivariate_gaussian"}).fit(REAL, Y)
    with pytest.raises(ParameterError, match="column 'x0' is modelled by MultivariateStudent"):
        log_joint(joined)
    lasting = NaiveBayes.textbook().fit(REAL.assign(d=pd.to_timedelta(rng.random(N), "D")), Y)
    with pytest.raises(ParameterError, match=r"column 'd' holds durations; .*--ignore d"):
        log_joint(lasting)


@pytest.mark.parametrize("unseen", ["ignore", "error", "smooth"])
def test_an_unseen_value_is_read_as_the_model_says(unseen: str) -> None:
    rows = pd.DataFrame({"v": list("pqpq"), "y": list("abbb")})
    model = NaiveBayes.textbook(unseen=unseen).fit(rows, "y")
    choices = log_joint(model).members[0].terms[0].adds.by_output[:, -1]
    if unseen == "error":
        assert np.isnan(choices).all()
        return
    asked = pd.DataFrame({"v": ["new"]})
    (expected,) = model.predict_joint_log_proba(asked) - np.log(model.model_.prior)
    np.testing.assert_allclose(choices, expected, atol=1e-14)
