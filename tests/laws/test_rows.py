"""What a model says of a row depends on that row alone, to the bit, whatever stands around it."""

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from tests.laws.row_laws import check_rows

from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.bayes import quadratic_form
from suffice.families import MultivariateGaussian, Poisson
from suffice.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge
from suffice.naive_bayes import (
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
)

FEW = settings(max_examples=3)

CLASSIFIERS = {
    "GaussianNB": lambda: GaussianNB(),
    "NaiveBayes": lambda: NaiveBayes.textbook(),
    "MultivariateGaussian": lambda: NaiveBayes.textbook(MultivariateGaussian()),
    "LDA": lambda: LinearDiscriminantAnalysis(),
    "QDA": lambda: QuadraticDiscriminantAnalysis(),
    "logistic": lambda: LogisticRegression(),
}
REGRESSORS = {
    "linear": lambda: LinearRegression(),
    "ridge": lambda: Ridge(),
    "lasso": lambda: Lasso(0.1),
    "no intercept": lambda: LinearRegression(fit_intercept=False),
    "descent": lambda: LinearRegression(solver="gradient"),
}
GAPS = {
    **{name: CLASSIFIERS[name] for name in ("GaussianNB", "NaiveBayes", "LDA", "QDA")},
    "logistic": lambda: LogisticRegression(numbers="bins", incomplete="indicator"),
}
COUNTS = {
    "BernoulliNB": lambda: BernoulliNB(),
    "MultinomialNB": lambda: MultinomialNB(),
    "ComplementNB": lambda: ComplementNB(),
    "CategoricalNB": lambda: CategoricalNB(),
    "Poisson": lambda: NaiveBayes.textbook(Poisson()),
}


@dataclass(frozen=True)
class Rows:
    """Random rows, of some width, in some classes."""

    n: int
    d: int
    k: int
    offset: float
    dtype: str
    seed: int

    def draw(self, gaps: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.seed)
        y = np.arange(self.n) % self.k
        x = rng.normal(size=(self.n, self.d)) + self.offset + 0.5 * y[:, None]
        x[rng.random(x.shape) < gaps] = np.nan
        return x.astype(self.dtype), y

    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        rng = np.random.default_rng(self.seed)
        y = np.arange(self.n) % self.k
        return rng.poisson(1.0 + y[:, None] / self.k, (self.n, self.d)).astype(self.dtype), y


rows = st.builds(
    Rows,
    n=st.integers(60, 75),
    d=st.sampled_from([1, 3, 8, 11, 50]),
    k=st.sampled_from([2, 3, 9, 20]),
    offset=st.sampled_from([0.0, 1e4]),
    dtype=st.sampled_from(["float64", "float32"]),
    seed=st.integers(0, 2**32 - 1),
)


def fitted(model: Any, x: Any, y: Any) -> Any:
    """A model of the rows, whose columns may depend on each other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(x, y)


@pytest.mark.parametrize("name", CLASSIFIERS)
@FEW
@given(rows=rows)
def test_classifiers(name: str, rows: Rows) -> None:
    x, y = rows.draw()
    check_rows(fitted(CLASSIFIERS[name](), x, y), x)


@pytest.mark.parametrize(
    ("name", "t"), [*((name, 1) for name in REGRESSORS), ("linear", 9), ("descent", 9)]
)
@FEW
@given(rows=rows)
def test_regressions(name: str, t: int, rows: Rows) -> None:
    x, _ = rows.draw()
    noise = np.random.default_rng(rows.seed + 1).normal(size=(rows.n, t))
    y = x[:, :1] + noise
    check_rows(fitted(REGRESSORS[name](), x, y if t > 1 else y[:, 0]), x)


@pytest.mark.parametrize("name", GAPS)
@FEW
@given(rows=rows)
def test_missing_cells_of_other_rows(name: str, rows: Rows) -> None:
    # Expectation-maximisation takes long for many columns.
    d = {"LDA": 8, "QDA": 8, "logistic": 3}.get(name, rows.d)
    rows = replace(rows, d=min(rows.d, d), k=min(rows.k, 9 if d > 3 else 3))
    x, y = rows.draw(gaps=0.1)
    check_rows(fitted(GAPS[name](), x, y), x)


@FEW
@given(rows=rows)
def test_expected_cells_of_a_regression(rows: Rows) -> None:
    rows = replace(rows, d=min(rows.d, 8))
    x, _ = rows.draw(gaps=0.1)
    y = np.random.default_rng(rows.seed + 1).normal(size=rows.n)
    check_rows(fitted(LinearRegression(incomplete="gaussian"), x, y), x)


@pytest.mark.parametrize("name", COUNTS)
@FEW
@given(rows=rows)
def test_counts(name: str, rows: Rows) -> None:
    x, y = rows.counts()
    x = np.minimum(x, 1.0) if name == "BernoulliNB" else x
    check_rows(fitted(COUNTS[name](), x, y), x)


@pytest.mark.parametrize("name", ["MultinomialNB", "ComplementNB", "logistic"])
@FEW
@given(rows=rows)
def test_sparse_rows(name: str, rows: Rows) -> None:
    x, y = rows.counts()
    sparse = csr_array(x)
    model = fitted({**COUNTS, **CLASSIFIERS}[name](), sparse, y)
    among = model.predict_proba(sparse)
    for i in range(rows.n):
        np.testing.assert_array_equal(model.predict_proba(sparse[[i]])[0], among[i])


@FEW
@given(rows=rows)
def test_forms(rows: Rows) -> None:
    x, y = replace(rows, offset=0.0, dtype="float64").draw()
    for model in (GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        form = quadratic_form(fitted(model, x, y))
        among = form.values(x)
        for i in range(rows.n):
            np.testing.assert_array_equal(form.values(x[i : i + 1])[0], among[i])


@FEW
@given(rows=rows)
def test_evidence(rows: Rows) -> None:
    x, y = rows.draw(gaps=0.1)
    model = fitted(GaussianNB(), x, y)
    among = model.explain(x)
    for i in range(rows.n):
        alone = model.explain(x[i : i + 1])
        np.testing.assert_array_equal(alone.contributions[0], among.contributions[i])
        np.testing.assert_array_equal(alone.probabilities[0], among.probabilities[i])


@FEW
@given(rows=rows)
def test_a_table_of_many_kinds(rows: Rows) -> None:
    x, y = rows.draw()
    colors = np.random.default_rng(rows.seed).choice(["red", "blue", "green"], rows.n)
    table = pa.table({f"x{j}": x[:, j] for j in range(min(rows.d, 8))} | {"color": colors})
    for model in (NaiveBayes.textbook(), LogisticRegression()):
        check_rows(fitted(model, table, y), table)
    check_rows(fitted(Ridge(), table, x[:, 0] + y), table)


@pytest.mark.parametrize("name", [*CLASSIFIERS, *REGRESSORS])
def test_a_table_longer_than_a_batch(name: str) -> None:
    x, y = Rows(50, 11, 3, 0.0, "float64", 7).draw()
    model = fitted({**CLASSIFIERS, **REGRESSORS}[name](), x, y)
    answer = getattr(model, "predict_proba", model.predict)
    places = np.arange(65_537) % 50
    np.testing.assert_array_equal(answer(x[places]), answer(x)[places])
