"""How unlike the training rows a row is: exact where there is a closed form, counted elsewhere."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import chi2, kstest, multivariate_normal

import suffice
from suffice import LogisticRegression, NaiveBayes
from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.errors import ParameterError
from suffice.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB

RNG = np.random.default_rng(7)
Y = np.repeat([0, 1, 2], [300, 200, 100])
X = RNG.normal(size=(600, 3)) * [1.0, 20.0, 0.1] + Y[:, None]
X[:, 1] += 10 * X[:, 0]
GAUSSIANS = [GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]


def moments(model: Any, c: int) -> tuple[Any, Any]:
    if isinstance(model, GaussianNB):
        return model.theta_[c], np.diag(model.var_[c])
    shared = isinstance(model, LinearDiscriminantAnalysis)
    covariance = model.set_params(store_covariance=True).covariance_
    return model.means_[c], covariance if shared else covariance[c]


@pytest.mark.parametrize("model", GAUSSIANS)
@given(st.integers(0, 2**32 - 1))
def test_gaussian_tails_are_those_of_scipy_also_with_missing_cells(model: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    fitted = model().fit(X, Y)
    rows = X[rng.integers(0, len(X), 6)] * rng.choice([1.0, 3.0], (6, 3))
    rows[rng.random(rows.shape) < 0.3] = np.nan
    found = fitted.typicality(rows)
    for i, x in enumerate(rows):
        seen = ~np.isnan(x)
        if not seen.any():
            assert found.probability[i] == pytest.approx(1.0, abs=1e-12)
            continue
        tails, densities = [], []
        for c in range(3):
            mean, covariance = moments(fitted, c)
            offset, part = (x - mean)[seen], covariance[np.ix_(seen, seen)]
            tails.append(chi2.sf(offset @ np.linalg.solve(part, offset), seen.sum()))
            densities.append(multivariate_normal(mean[seen], part).logpdf(x[seen]))
        weights = np.array(densities) + np.log(fitted.class_prior_)
        weights = np.exp(weights - weights.max())
        expected = weights @ tails / weights.sum()
        assert_allclose(found.probability[i], expected, rtol=1e-7, atol=1e-12)
    assert (found.error == 0).all()
    assert found.missing.tolist() == np.isnan(rows).sum(axis=1).tolist()
    assert (found.unseen == 0).all()


@pytest.mark.parametrize("model", GAUSSIANS)
def test_rows_of_the_model_are_uniformly_typical(model: Any) -> None:
    one = model(priors=[0.0, 1.0]).fit(X[:, :2], Y > 0)
    drawn, _ = one.sample(4000, random_state=1)
    found = one.typicality(np.c_[tuple(drawn.values())])
    assert kstest(found.probability, "uniform").pvalue > 1e-3


def categories(seed: int = 3) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 500)
    hue = np.where(rng.random(500) < 0.7, np.array(["red", "blue"])[y], "green")
    return pd.DataFrame({"hue": hue, "round": rng.random(500) < 0.2 + 0.5 * y}), y


def test_counts_of_few_outcomes_agree_with_their_exact_sum() -> None:
    x, y = categories()
    model = NaiveBayes.textbook().fit(x, y)
    hues, truths = ["red", "blue", "green"], [True, False]
    cells = pd.DataFrame(product(hues, truths), columns=["hue", "round"])
    logs = model.predict_joint_log_proba(cells) - np.log(model.class_prior_)
    atoms = np.exp(logs)
    as_rare = logs[None] <= logs[:, None] + 1e-12  # (6, 6, 2): the second is no more probable
    exact = (as_rare * atoms[None]).sum(axis=1)
    expected = (model.predict_proba(cells) * exact).sum(axis=1)
    found = model.typicality(cells, n_samples=40_000)
    assert (abs(found.probability - expected) <= 5 * found.error + 1e-4).all()
    assert (found.error <= 0.5 / np.sqrt(40_000)).all()
    again = model.typicality(cells, n_samples=40_000)
    assert (again.probability == found.probability).all()


def test_missing_and_unseen_cells_are_counted_and_left_out() -> None:
    x, y = categories()
    model = NaiveBayes.textbook().fit(x.assign(size=RNG.normal(size=500)), y)
    rows = pd.DataFrame(
        {
            "hue": ["red", "violet", None, "red"],
            "round": [True, None, True, True],
            "size": [0.0, 0.1, None, 90.0],
        }
    )
    found = model.typicality(rows)
    assert found.missing.tolist() == [0, 1, 2, 0]
    assert found.unseen.tolist() == [0, 1, 0, 0]
    assert found.probability[3] < 0.01 < found.probability[0]
    alone = model.typicality(rows.iloc[[1]].assign(hue=None))
    assert alone.probability[0] == found.probability[1]


def test_student_tails_of_one_column_are_those_of_scipy() -> None:
    from scipy.stats import t

    x = X[:300, :1]
    model = NaiveBayes.textbook(class_prior=[1.0, 0.0]).fit(x, np.arange(300) % 2)
    described = model.model_.parameters[0].describe(0)
    law = t(described["dof"][0], described["mean"][0], described["scale"][0])
    rows = np.array([[-2.0], [0.0], [1.0], [3.0]])
    exact = 2 * law.sf(abs(rows[:, 0] - described["mean"][0]) + described["mean"][0])
    found = model.typicality(rows)
    assert (abs(found.probability - exact) <= 5 * found.error + 1e-4).all()


def test_a_row_does_not_depend_on_its_neighbours_and_comes_in_batches_too(tmp_path: Any) -> None:
    x, y = categories()
    model = NaiveBayes.textbook().fit(x, y)
    whole = model.typicality(x).probability
    places = np.array_split(np.arange(500), 7)
    parts = [model.typicality(x.iloc[rows]).probability for rows in places]
    assert (np.concatenate(parts) == whole).all()
    (table,) = model.predict_batches(x, typicality=True)
    assert table.column_names == ["prediction", "typicality", "missing", "unseen"]
    assert (table["typicality"].to_numpy() == whole).all()
    model.save(tmp_path / "m")
    assert (suffice.load(tmp_path / "m").typicality(x).probability == whole).all()


def test_what_is_printed() -> None:
    found = GaussianNB().fit(X, Y).typicality(X)
    first = repr(found).splitlines()[0]
    assert first.split() == ["row", "typicality", "error", "missing", "unseen"]
    assert repr(found).splitlines()[-1] == "and 590 more"


def test_models_that_do_not_describe_rows_say_so() -> None:
    counts = np.abs(X).round()
    with pytest.raises(ParameterError, match="it scores events one by one"):
        MultinomialNB().fit(counts, Y).typicality(counts)
    with pytest.raises(ParameterError, match="LogisticRegression models labels, not the rows"):
        LogisticRegression().fit(X, Y).predict_batches(X, typicality=True)
    with pytest.raises(ParameterError, match="n_samples=0; it is a whole number, 1 or more"):
        BernoulliNB().fit(X, Y).typicality(X, n_samples=0)


@pytest.mark.parametrize("numbers", ["histogram", "kernel_density", "adaptive"])
def test_a_number_beyond_all_rows_is_unlike_them(numbers: str) -> None:
    model = NaiveBayes(numbers=numbers).fit(X, Y)
    usual = [1.0, 11.0, 1.0]
    asked = [[usual[0], 1e4, usual[2]], usual]
    found = model.typicality(asked, n_samples=2000, random_state=0).probability
    assert found[0] < 0.01 < 0.05 < found[1]
    nearer = model.typicality([[1.0, v, 1.0] for v in (300.0, 1e3, 1e5)], random_state=0)
    assert (np.diff(nearer.probability) <= 1e-16).all()  # posteriors add up to 1 but for rounding


def test_without_any_cell_no_row_is_unlike_another() -> None:
    rows = pd.DataFrame({"x": pd.Series([None, None, None], dtype="float64"), "y": list("aab")})
    model = NaiveBayes().fit(rows, "y")
    assert model.typicality(rows[["x"]]).probability.tolist() == [1.0, 1.0, 1.0]
