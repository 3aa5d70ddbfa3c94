"""Shrinkage of linear and quadratic discriminants by leave-one-out, against refits."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris, load_wine

import suffice
from suffice import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.errors import DataError, ParameterError, SufficeWarning
from suffice.models.generative.shrinkage_choice import SHRINKAGE

Array = NDArray[np.float64]
WINE, CULTIVAR = load_wine(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)
MODELS = [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]


def covariances(x: Array, y: Any, k: int, shared: bool, ddof: int) -> Array:
    """Σ_c, (k, d, d)."""
    means = np.array([x[y == c].mean(axis=0) for c in range(k)])
    scatters = [(x[y == c] - means[c]).T @ (x[y == c] - means[c]) for c in range(k)]
    n = np.bincount(y, minlength=k) - ddof
    if shared:
        return np.repeat(np.sum(scatters, axis=0)[None] / n.sum(), k, axis=0)
    return np.array([s / m for s, m in zip(scatters, n, strict=True)])


def loss_by_hand(x: Array, y: Any, s: float, shared: bool, ddof: int, prior: Any = None) -> float:
    """−log p(c_i | x_i) of refits without row i, with the diagonal of all rows."""
    k, total = int(y.max()) + 1, 0.0
    diagonal = np.diagonal(covariances(x, y, k, shared, ddof), axis1=1, axis2=2)
    for i in range(len(x)):
        rest, labels = np.delete(x, i, axis=0), np.delete(y, i)
        sigma = covariances(rest, labels, k, shared, ddof)
        count = np.bincount(labels, minlength=k) if prior is None else np.asarray(prior)
        joint = [
            np.log(count[c])
            + multivariate_normal.logpdf(
                x[i], rest[labels == c].mean(axis=0), (1 - s) * sigma[c] + s * np.diag(diagonal[c])
            )
            for c in range(k)
        ]
        total += float(logsumexp(joint) - joint[y[i]])
    return total / len(x)


@pytest.mark.parametrize("options", [{}, {"ddof": 1}, {"priors": [0.5, 0.3, 0.2]}])
@pytest.mark.parametrize("kind", MODELS)
def test_the_curve_is_that_of_refits(kind: Any, options: dict[str, Any]) -> None:
    x, y = WINE[::3, :4], CULTIVAR[::3]
    model = kind(shrinkage="loo", **options).fit(x, y)
    found = model.regularization_
    assert (found.shrinkage.tolist(), found.rows) == (list(SHRINKAGE), len(x))
    shared, ddof = kind is LinearDiscriminantAnalysis, options.get("ddof", 0)
    for place in (0, 5, 11, 14):
        s = float(found.shrinkage[place])
        expected = loss_by_hand(x, y, s, shared, ddof, options.get("priors"))
        assert found.log_loss[0, place] == pytest.approx(expected, rel=1e-9)
    assert model.shrinkage_ == SHRINKAGE[int(found.log_loss[0].argmin())]
    given = kind(shrinkage=model.shrinkage_, **options).fit(x, y)
    assert given.predict_proba(x).tolist() == model.predict_proba(x).tolist()
    assert given.regularization_ is None


@pytest.mark.parametrize("kind", MODELS)
def test_the_curve_of_a_mixed_table_is_that_of_its_terms(kind: Any) -> None:
    rng, y = np.random.default_rng(0), CULTIVAR[::3]
    colour = (rng.integers(0, 3, len(y)) + y) % 3
    table = pa.table(
        {
            "alcohol": WINE[::3, 0],
            "colour": np.array(["blue", "green", "red"])[colour],
            "ash": WINE[::3, 2],
            "kind": y,
        }
    )
    terms = np.column_stack([WINE[::3, 0], WINE[::3, 2], colour == 1, colour == 2])
    model = kind(shrinkage="loo", ddof=1).fit(table, "kind")
    shared, found = kind is LinearDiscriminantAnalysis, model.regularization_
    for place in (0, 5, 11):
        expected = loss_by_hand(terms, y, float(found.shrinkage[place]), shared, 1)
        assert found.log_loss[0, place] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("kind", MODELS)
def test_any_order_parts_files_and_forgetting(kind: Any, tmp_path: Any) -> None:
    order = np.random.default_rng(0).permutation(len(IRIS))
    whole = kind(shrinkage="loo").fit(IRIS, SPECIES)
    curve = whole.regularization_.log_loss.tolist()
    halves = [kind(shrinkage="loo").fit(IRIS[rows], SPECIES[rows]) for rows in np.split(order, 2)]
    assert halves[0].merge(halves[1]).regularization_.log_loss.tolist() == curve
    more = kind(shrinkage="loo").fit(np.r_[IRIS, IRIS[:9] * 2], np.r_[SPECIES, SPECIES[:9]])
    assert more.forget(IRIS[:9] * 2, SPECIES[:9]).regularization_.log_loss.tolist() == curve
    whole.save(tmp_path / "m.suffice")
    loaded = suffice.load(tmp_path / "m.suffice")
    assert loaded.regularization_.log_loss.tolist() == curve
    assert loaded.shrinkage_ == whole.shrinkage_
    assert loaded.predict_proba(IRIS).tolist() == whole.predict_proba(IRIS).tolist()
    assert repr(loaded.regularization_).count("*") == 1
    with pytest.warns(SufficeWarning, match="chosen by earlier rows"):
        loaded.partial_fit(IRIS[:5], SPECIES[:5])
    assert loaded.regularization_.stale


@pytest.mark.parametrize("kind", MODELS)
def test_missing_cells_leave_in_folds(kind: Any) -> None:
    x = np.where(np.random.default_rng(1).random(IRIS.shape) < 0.05, np.nan, IRIS)
    model = kind(shrinkage="loo").fit(x, SPECIES)
    found = model.regularization_
    assert found.rows == len(x)
    assert 0.02 < found.log_loss.min() < 0.3
    assert model.shrinkage_ in SHRINKAGE


def test_singular_covariances_are_shrunk() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 10)
    x = rng.normal(size=(20, 30)) + y[:, None]
    linear = LinearDiscriminantAnalysis(shrinkage="loo").fit(x, y)
    quadratic = QuadraticDiscriminantAnalysis(shrinkage="loo").fit(x, y)
    for model in (linear, quadratic):
        assert model.shrinkage_ > 0
        assert model.regularization_.log_loss[0, -1] == pytest.approx(-np.log(1e-15))
        assert model.score(x, y) == 1


def test_a_class_of_one_row_is_not_asked_about() -> None:
    x, y = np.r_[IRIS, [[9.0, 9, 9, 9]]], np.r_[SPECIES, 3]
    model = LinearDiscriminantAnalysis(shrinkage="loo").fit(x, y)
    assert model.regularization_.rows == len(IRIS)
    assert np.isfinite(model.regularization_.log_loss).all()
    with pytest.raises(DataError, match="y has only 1 sample in class 3"):
        QuadraticDiscriminantAnalysis(shrinkage="loo").fit(x, y)
    with pytest.warns(SufficeWarning, match="within class 3"):
        streamed = QuadraticDiscriminantAnalysis(shrinkage="loo").partial_fit(x, y)
    assert streamed.regularization_.rows == len(IRIS)
    assert np.isfinite(streamed.regularization_.log_loss).all()


def test_other_words_are_refused() -> None:
    with pytest.raises(ParameterError, match="'auto' or 'loo'"):
        LinearDiscriminantAnalysis(shrinkage="cv").fit(IRIS, SPECIES)
