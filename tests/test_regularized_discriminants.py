"""Regularised discriminants: closed forms against refits, corners against scikit-learn."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn import discriminant_analysis as judge
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

import suffice
from suffice import RegularizedDiscriminantAnalysis
from suffice.errors import ParameterError, SufficeWarning
from suffice.families import RegularizedGaussian
from suffice.families.left_out.rows import LearntRows

Array = NDArray[np.float64]
X, Y = load_wine(return_X_y=True)
IRIS, SPECIES = load_iris(return_X_y=True)


def sums_by_hand(x: Array, codes: Any, w: Array, k: int) -> tuple[Array, Array, Array]:
    """Weights (k,), means (k, d) and scatters (k, d, d)."""
    n = np.array([w[codes == c].sum() for c in range(k)])
    mean = np.array([w[codes == c] @ x[codes == c] / n[c] for c in range(k)])
    apart = [x[codes == c] - mean[c] for c in range(k)]
    return n, mean, np.array([(a.T * w[codes == c]) @ a for c, a in enumerate(apart)])


def covariances_by_hand(
    n: Array, scatter: Array, unit: Array, pooling: float, shrinkage: float, prior_rows: float
) -> Array:
    """Σ_c of every class, as the docstring has it."""
    own, pooled = 1 - pooling, scatter.sum(axis=0)
    divisor = own * n + pooling * n.sum() + prior_rows
    m = own * scatter + pooling * pooled + prior_rows * np.diag(unit)
    m = m / divisor[:, None, None]
    width = (np.diagonal(m, axis1=1, axis2=2) / unit).mean(axis=1)
    found: Array = (1 - shrinkage) * m + shrinkage * width[:, None, None] * np.diag(unit)
    return found


def left_out_by_hand(
    x: Array, codes: Any, w: Array, k: int, pooling: float, shrinkage: float, prior_rows: float
) -> Array:
    """log p(x | c) by sums without the row, (n, k), in the units of all rows."""
    n, _, scatter = sums_by_hand(x, codes, w, k)
    unit = np.diagonal(scatter.sum(axis=0)) / n.sum()
    found = np.empty((len(x), k))
    for i in range(len(x)):
        others = np.arange(len(x)) != i
        n, mean, scatter = sums_by_hand(x[others], codes[others], w[others], k)
        sigma = covariances_by_hand(n, scatter, unit, pooling, shrinkage, prior_rows)
        found[i] = [multivariate_normal.logpdf(x[i], mean[c], sigma[c]) for c in range(k)]
    return found


@settings(max_examples=15)
@given(
    seed=st.integers(0, 2**32 - 1),
    pooling=st.sampled_from([0.0, 0.1, 0.7, 1.0]),
    shrinkage=st.sampled_from([0.0, 0.02, 0.5, 1.0]),
    prior_rows=st.sampled_from([0.5, 1.0, 3.0]),
)
def test_a_row_is_left_out_as_by_refitting(
    seed: int, pooling: float, shrinkage: float, prior_rows: float
) -> None:
    rng = np.random.default_rng(seed)
    k, d = int(rng.integers(2, 4)), int(rng.integers(1, 4))
    codes = np.concatenate([np.repeat(np.arange(k), 2), rng.integers(0, k, 8)])
    x = rng.normal(size=(len(codes), d)) @ rng.normal(size=(d, d)) + codes[:, None]
    w = rng.choice([0.5, 1.0, 2.0], len(codes))
    statistic = RegularizedDiscriminantAnalysis(0, 0, calibration="none").fit(x, codes, w)
    sums = RegularizedGaussian(prior_rows=prior_rows).regularized(statistic.statistic_.blocks[0])
    rows = LearntRows(codes, w)
    found = sums.left_out(pooling).log_likelihoods(x, rows, [0.3, shrinkage])[1]
    expected = left_out_by_hand(x, codes, w, k, pooling, shrinkage, prior_rows)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_the_curve_is_the_log_loss_at_the_best_temperature() -> None:
    x, y = X[::4, :4], Y[::4]
    model = RegularizedDiscriminantAnalysis().fit(x, y)
    found = model.regularization_
    assert found is not None
    assert found.rows == len(x)
    prior = np.log(np.bincount(y) / len(y))
    for place, column in ((0, 0), (2, 2), (5, 4)):
        degree = float(found.pooling[place]), float(found.shrinkage[column])
        logs = left_out_by_hand(x, y, np.ones(len(x)), 3, *degree, prior_rows=1.0)

        def loss(t: float, logs: Array = logs) -> float:
            joint = prior + t * logs
            own = joint[np.arange(len(y)), y] - logsumexp(joint, axis=1)
            return float(-own.sum())

        best = minimize_scalar(
            lambda t: loss(t) + (t - 1) ** 2 / 2,
            bounds=(0, 5),
            method="bounded",
            options={"xatol": 1e-10},
        )
        assert found.log_loss[place, column] == pytest.approx(loss(best.x) / len(y), abs=1e-6)
    assert (model.pooling_, model.shrinkage_) == found.best
    least = np.unravel_index(found.log_loss.argmin(), found.log_loss.shape)
    assert found.best == (found.pooling[least[0]], found.shrinkage[least[1]])


@pytest.mark.parametrize(("x", "y"), [(X, Y), (IRIS, SPECIES)])
def test_corners_are_those_of_scikit_learn(x: Array, y: Any) -> None:
    linear = judge.LinearDiscriminantAnalysis(solver="lsqr").fit(x, y)
    ours = RegularizedDiscriminantAnalysis(1, 0, prior_rows=0, calibration="none").fit(x, y)
    np.testing.assert_allclose(ours.predict_proba(x), linear.predict_proba(x), atol=1e-8)
    quadratic = judge.QuadraticDiscriminantAnalysis(store_covariance=True).fit(x, y)
    ours = RegularizedDiscriminantAnalysis(0, 0, prior_rows=0, calibration="none").fit(x, y)
    np.testing.assert_allclose(ours.covariance_, quadratic.covariance_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.predict_proba(x), quadratic.predict_proba(x), atol=1e-8)


def test_covariances_between_the_corners() -> None:
    model = RegularizedDiscriminantAnalysis(0.3, 0.2, prior_rows=2).fit(X, Y)
    n, _, scatter = sums_by_hand(X, Y, np.ones(len(X)), 3)
    unit = np.diagonal(scatter.sum(axis=0)) / len(X)
    expected = covariances_by_hand(n, scatter, unit, 0.3, 0.2, 2)
    np.testing.assert_allclose(model.covariance_, expected, rtol=1e-9)
    assert model.regularization_ is None
    assert (model.pooling_, model.shrinkage_) == (0.3, 0.2)


def test_order_parts_and_forgetting_change_no_bit() -> None:
    order = np.random.default_rng(0).permutation(len(X))
    whole = RegularizedDiscriminantAnalysis().fit(X, Y)
    shuffled = RegularizedDiscriminantAnalysis().fit(X[order], Y[order])
    parts = [RegularizedDiscriminantAnalysis().fit(X[rows], Y[rows]) for rows in np.split(order, 2)]
    merged = parts[0].merge(parts[1])
    extra = RegularizedDiscriminantAnalysis().fit(np.r_[X, X[:9] * 2], np.r_[Y, Y[:9]])
    forgotten = extra.forget(X[:9] * 2, Y[:9])
    for other in (shuffled, merged, forgotten):
        assert whole.regularization_ is not None
        assert other.regularization_ is not None
        np.testing.assert_array_equal(
            whole.regularization_.log_loss, other.regularization_.log_loss
        )
        np.testing.assert_array_equal(whole.predict_proba(X), other.predict_proba(X))


def test_units_change_nothing() -> None:
    unit = 2.0 ** np.arange(-6, 7)
    made = RegularizedDiscriminantAnalysis(calibration="none")
    one, other = (clone(made).fit(X * u, Y) for u in (1.0, unit))
    assert one.regularization_ is not None
    assert other.regularization_ is not None
    np.testing.assert_allclose(one.regularization_.log_loss, other.regularization_.log_loss)
    assert (one.pooling_, one.shrinkage_) == (other.pooling_, other.shrinkage_)
    np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X * unit), atol=1e-12)


def test_a_file_has_the_choice_and_no_rows(tmp_path: Path) -> None:
    model = RegularizedDiscriminantAnalysis().fit(X, Y)
    path = tmp_path / "model.suffice"
    model.save(path)
    loaded = suffice.load(path)
    assert isinstance(loaded, RegularizedDiscriminantAnalysis)
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert repr(loaded.regularization_) == repr(model.regularization_)
    with (
        pytest.warns(SufficeWarning, match="chosen by earlier rows"),
        pytest.warns(SufficeWarning, match="calibrate learns them anew"),
    ):
        loaded.partial_fit(X[:5], Y[:5])
    assert loaded.regularization_ is not None
    assert loaded.regularization_.stale
    assert (loaded.pooling_, loaded.shrinkage_) == (model.pooling_, model.shrinkage_)


def test_few_rows_and_columns_that_others_determine() -> None:
    x = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    rows = np.r_[0:40, 59:61, 130]  # of one class two rows, of another a single one
    with pytest.warns(SufficeWarning, match="has one value only"):
        model = RegularizedDiscriminantAnalysis().fit(x[rows], Y[rows])
    p = model.predict_proba(x)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-12)
    assert (model.predict(x[rows][:40]) == 0).all()


def test_missing_cells_are_chosen_by_folds() -> None:
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.05, np.nan, X)
    model = RegularizedDiscriminantAnalysis().fit(holes, Y)
    assert model.regularization_ is not None
    assert model.regularization_.rows == len(X)
    assert model.score(X, Y) > 0.95
    nothing = np.full((1, X.shape[1]), np.nan)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.priors_, rtol=1e-12)


def test_the_curve_is_printed() -> None:
    model = RegularizedDiscriminantAnalysis("loo", 0.0).fit(IRIS, SPECIES)
    lines = repr(model.regularization_).splitlines()
    assert lines[0].split() == ["log", "loss", "shrinkage", "0"]
    assert len(lines) == 7
    (best,) = [line for line in lines if line.endswith("*")]
    assert best.startswith(f"pooling {model.pooling_:g} ")


@pytest.mark.parametrize(
    "options",
    [{"pooling": 2}, {"shrinkage": "auto"}, {"prior_rows": -1}, {"calibration": "weights"}],
)
def test_options_outside_their_rule(options: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match=next(iter(options))):
        RegularizedDiscriminantAnalysis(**options).fit(X, Y)
