"""Gradient and Hessian of every objective, against 40 digits and against finite differences.

The truth is the loss alone, written as in the books, in mpmath, and differentiated there.
"""

from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.sparse import csr_array

from suffice.data.schema import BlockLayout, Layout, Numbered, UniformColumns
from suffice.data.source import ArraySource, Labels
from suffice.engines.engine import set_engine
from suffice.errors import DataError
from suffice.linear_model import GradientDescent, Ridge
from suffice.models.design.normal_equations import NormalEquations
from suffice.models.linear.least_squares import LeastSquares
from suffice.models.linear.posterior import Posterior
from suffice.models.logistic.first_pass import LogisticReader, read_once
from suffice.models.logistic.objective import Objective
from suffice.sums.block import RealBlock
from suffice.sums.comoments import ComomentsAccumulator

Loss = Callable[..., Any]

N, P = 12, 2


def table(k: int = 0, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns in different units, far from 0; a target, or k classes; and weights."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(N, P)) * [1.0, 50.0] + [3.0, 400.0], 2)
    y = rng.permutation(np.arange(N) % k) if k else np.round(rng.normal(size=N) * 9, 2)
    return x, y, rng.integers(1, 5, N) / 2


def differentiated(loss: Loss, at: Sequence[float]) -> tuple[float, np.ndarray, np.ndarray]:
    """Value, gradient and Hessian of a loss, from its values in 40 digits."""
    with mpmath.workdps(40):
        point, d = tuple(mpmath.mpf(float(v)) for v in at), len(at)

        def slope(*orders: int) -> float:
            count = np.bincount(orders, minlength=d).tolist()
            return float(mpmath.diff(loss, point, tuple(count)))

        hessian = np.empty((d, d))
        for i in range(d):
            for j in range(i + 1):
                hessian[i, j] = hessian[j, i] = slope(i, j)
        return float(loss(*point)), np.array([slope(i) for i in range(d)]), hessian


# -- least squares and ridge


def squares(x: np.ndarray, y: np.ndarray, w: np.ndarray, penalty: np.ndarray) -> Loss:
    """Σ ω(y − b − xᵀw)² + Σ λw²."""

    def loss(b: Any, *beta: Any) -> Any:
        total = sum(mpmath.mpf(c) * v**2 for c, v in zip(penalty.tolist(), beta, strict=True))
        for row, target, weight in zip(x.tolist(), y.tolist(), w.tolist(), strict=True):
            total += weight * (mpmath.mpf(target) - b - mpmath.fdot(beta, row)) ** 2
        return total

    return loss


@pytest.mark.parametrize("alpha", [0.0, 0.7, 1e4])
def test_normal_equations_are_where_the_gradient_is_zero(alpha):
    x, y, w = table()
    total = ComomentsAccumulator(P + 1)
    total.add(RealBlock(np.column_stack([x, y])), np.zeros(N, np.intp), w, 1)
    penalty = np.full(P, alpha)
    fit = LeastSquares(NormalEquations.of(total.statistic(), P), penalty)
    at = np.concatenate([fit.intercept, fit.coefficients[:, 0]])
    value, gradient, hessian = differentiated(squares(x, y, w, penalty), at)
    assert fit.rss[0] + fit.penalty_paid[0] == pytest.approx(value, rel=1e-15)
    # one rounding of a coefficient moves the gradient by the Hessian times it
    assert (np.abs(gradient) <= 2.0**-51 * np.abs(hessian) @ np.abs(at)).all()
    prior = Posterior.of(fit, ["b", "u", "v"], ["y"])
    assert_allclose(np.linalg.inv(prior.covariance), hessian / 2, rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_epoch_of_descent_is_a_step_along_the_gradient(alpha):
    x, y, w = table(seed=1)
    eta, n = 0.25, w.sum()

    def after(epochs: int) -> np.ndarray:
        how = GradientDescent(eta, passes=epochs, tol=0.0)
        model = Ridge(alpha, solver="gradient", descent=how).fit(x, y, w)
        return np.concatenate([[model.intercept_], model.coef_])

    center, r = np.average(x, axis=0, weights=w), np.sqrt(np.cov(y, aweights=w, ddof=0))
    spread = np.average((x - center) ** 2, axis=0, weights=w) + alpha / n
    # from coefficients of standardised columns to those of the columns
    to_w = np.diag(r / np.sqrt(spread))
    j = np.block([[np.full((1, 1), r), -center @ to_w], [np.zeros((P, 1)), to_w]])
    first = after(1)
    _, gradient, _ = differentiated(squares(x, y, w, np.full(P, alpha)), first)
    assert_allclose(after(2), first - eta * j @ j.T @ gradient / (2 * n * r**2), rtol=1e-12)


# -- logistic


def negative_log_likelihood(
    x: np.ndarray, codes: np.ndarray, w: np.ndarray, k: int, penalty: float
) -> Loss:
    """−Σ ω log P(y | x) + ½λ Σ w² of coefficients (1 + p,), or k times as many, row after row."""
    rows = [[mpmath.mpf(1), *map(mpmath.mpf, row)] for row in x.tolist()]

    def loss(*beta: Any) -> Any:
        b = [beta[i : i + 1 + P] for i in range(0, len(beta), 1 + P)]
        total = mpmath.mpf(penalty) / 2 * sum(v**2 for of_class in b for v in of_class[1:])
        for row, code, weight in zip(rows, codes.tolist(), w.tolist(), strict=True):
            t = [mpmath.fdot(of_class, row) for of_class in b]
            t = [mpmath.mpf(0), *t] if k == 2 else t
            total += weight * (mpmath.log(sum(map(mpmath.exp, t))) - t[code])
        return total

    return loss


def firth_loss(x: np.ndarray, codes: np.ndarray, w: np.ndarray) -> Loss:
    """−log L − ½ log |I|, I = Σ ω p(1 − p) z zᵀ."""
    plain, rows = negative_log_likelihood(x, codes, w, 2, 0.0), x.tolist()

    def loss(*beta: Any) -> Any:
        information = mpmath.zeros(1 + P)
        for row, weight in zip(rows, w.tolist(), strict=True):
            z = mpmath.matrix([1, *row])
            p = 1 / (1 + mpmath.exp(-mpmath.fdot(beta, list(z))))
            information += weight * p * (1 - p) * z * z.T
        return plain(*beta) - mpmath.log(mpmath.det(information)) / 2

    return loss


def objective(x, y, w, k, penalty=0.0, factors=None, firth=False) -> Objective:
    names, encoding = Numbered(x.shape[1]), "real" if isinstance(x, np.ndarray) else "sparse"
    columns = UniformColumns(names, "number", "real", "numbers")
    reader = LogisticReader(Layout((BlockLayout(encoding, names),), columns), None)
    with set_engine("local", threads=2):
        rows = ArraySource(x, names, Labels.of(y), w)
        first = read_once(rows, reader, None, True, "error")
    weights, variance = dict(enumerate(factors or np.ones(k))), 1 / penalty if penalty else np.inf
    return Objective.of(first, class_weight=weights, variance=variance, firth=firth)


def jacobian(of: Objective, d: int) -> np.ndarray:
    """From the d free parameters to the coefficients (b, w) of rows as they are."""

    def coefficients(free: np.ndarray) -> np.ndarray:
        of_z = of.coefficients(free)
        return np.column_stack([of_z[:, 0] - of_z[:, 1:] @ of.centred.mean, of_z[:, 1:]]).ravel()

    return np.stack([coefficients(unit) for unit in np.eye(d)], axis=1)


def compare(of: Objective, loss: Loss, exact_hessian: bool = True) -> None:
    """All derivatives at a random point, and along the free parameters by differences."""
    d = len(of.free)
    at = np.random.default_rng(2).normal(size=d) / 3
    j, here = jacobian(of, d), of(at, True)
    value, gradient, hessian = differentiated(loss, j @ at)
    assert here.loss == pytest.approx(value, rel=1e-13)
    size = np.abs(j.T) @ np.abs(gradient)
    assert_allclose(here.gradient, j.T @ gradient, rtol=1e-11, atol=1e-13 * size.max())
    bend = j.T @ hessian @ j
    if exact_hessian:
        assert_allclose(here.hessian, bend, rtol=1e-9, atol=1e-10 * np.abs(bend).max())
    step = 1e-5
    for i, direction in enumerate(np.eye(d)):
        up, down = (of(at + sign * step * direction, True) for sign in (1, -1))
        near = {"rtol": 1e-6, "atol": 1e-6 * np.abs(bend).max()}
        assert_allclose(here.gradient[i], (up.loss - down.loss) / (2 * step), **near)
        assert_allclose(bend[:, i], (up.gradient - down.gradient) / (2 * step), **near)


@pytest.mark.parametrize(
    ("k", "penalty", "kind"),
    [
        (2, 0.0, csr_array),
        (2, 0.7, np.asarray),
        (3, 0.7, csr_array),
        (3, 0.0, np.asarray),
        pytest.param(4, 0.7, csr_array, marks=pytest.mark.exhaustive),
    ],
)
def test_logistic(k, penalty, kind):
    x, y, w = table(k)
    compare(objective(kind(x), y, w, k, penalty), negative_log_likelihood(x, y, w, k, penalty))


def test_logistic_with_weights_of_classes():
    x, y, w = table(3, seed=3)
    factors = [1.0, 2.0, 3.0]
    loss = negative_log_likelihood(x, y, w * np.array(factors)[y], 3, 0.3)
    compare(objective(x, y, w, 3, 0.3, factors), loss)


def test_firth():
    x, y, w = table(2, seed=4)
    of, plain = objective(x, y, w, 2, firth=True), negative_log_likelihood(x, y, w, 2, 0.0)
    # |I| is in units of the columns: its logarithm differs by a constant
    constant = float(np.log(of.centred.scale).sum())
    loss = firth_loss(x, y, w)
    compare(of, lambda *beta: loss(*beta) + constant, exact_hessian=False)
    # the steps are those of Fisher's scoring, with the information of the likelihood alone
    at = np.random.default_rng(5).normal(size=1 + P) / 3
    j = jacobian(of, 1 + P)
    information = j.T @ differentiated(plain, j @ at)[2] @ j
    assert_allclose(of(at, True).hessian, information, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_a_pass_without_a_hessian_sums_what_one_with_it_does(k, kind):
    rng = np.random.default_rng(k)
    x, y, w = rng.normal(size=(203, 19)), rng.permutation(203) % k, rng.integers(0, 4, 203) / 2
    of = objective(kind(x), y, w, k)
    at = rng.normal(size=len(of.free)) / 19
    alone, full = of.loss_sums(at, False), of.loss_sums(at, True)
    for name in ("weight", "checksum", "loss", "gradient"):
        one, other = getattr(alone, name).value, getattr(full, name).value
        assert_allclose(one, other, rtol=1e-13, atol=1e-12 * np.abs(other).max())


def test_rows_that_change_between_passes_are_noticed():
    x, y, w = table(2)
    of = objective(x, y, w, 2)
    for changed in (x, w):
        before = changed[7].copy()
        changed[7] = changed[7] * 1.5 + 0.5
        with pytest.raises(DataError, match="not those of the first"):
            of(np.zeros(1 + P), True)
        changed[7] = before
    of(np.zeros(1 + P), True)
