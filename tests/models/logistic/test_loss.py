"""The loss of a logistic regression, its derivatives, its minimum, and when there is none."""

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.sparse import csr_array
from sklearn.base import clone

from suffice.data.array_source import ArraySource, Labels
from suffice.data.schema import BlockLayout, Layout, Numbered, UniformColumns
from suffice.engines.local import LocalEngine
from suffice.errors import DataError
from suffice.linear_model import LogisticRegression
from suffice.models.design.matrix import Design
from suffice.models.logistic.first_pass import SparseMomentsAccumulator, first_pass
from suffice.models.logistic.loss import loss_derivatives
from suffice.models.logistic.minimise import Solver, minimise
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.rows import CentredDesign, DataLoop
from suffice.models.logistic.separation import find_separation
from suffice.models.optimise.newton import Point, newton, quasi_newton
from suffice.sums.block import RealBlock
from suffice.sums.moments import MomentsAccumulator


def rows(seed=0, n=60, d=3, k=2):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) * 10.0 ** np.arange(d) + 5
    y = rng.integers(0, k, n)
    x[:, 0] += y
    return x, y, rng.integers(1, 4, n) / 2


def problem(x, y, weights=None, penalty=0.0, class_weights=None, firth=False):
    """The function to be minimised over an array."""
    names = Numbered(x.shape[1])
    encoding = "real" if isinstance(x, np.ndarray) else "sparse"
    layout = Layout(
        (BlockLayout(encoding, names),), UniformColumns(names, "number", "real", "numbers")
    )
    engine = LocalEngine(1)
    parts = ArraySource(x, names, Labels.of(y), weights).parts(layout, 1)
    seen = engine.run(first_pass, (layout, False), parts)
    centred = CentredDesign.of(Design(names, ()), layout, seen, True, False)
    data = DataLoop(engine, parts)
    used = np.concatenate([[True], centred.scale > 0])
    cost = np.concatenate([[0.0], np.full(x.shape[1], penalty)])
    if class_weights is None:
        class_weights = np.ones(len(seen.classes))
    return Objective(data, centred, seen, class_weights, cost, used, firth)


# -- one row


@pytest.mark.parametrize("t", [-750.0, -40.0, -1e-9, 0.0, 0.3, 36.0, 800.0])
@pytest.mark.parametrize("code", [0, 1])
def test_two_classes_to_the_last_digit(t, code):
    found = loss_derivatives(np.array([[t]]), np.array([code]))
    with mpmath.workdps(400):
        p = 1 / (1 + mpmath.exp(-mpmath.mpf(t)))
        right = p if code else 1 - p
        exact = (-mpmath.log(right), p - code, p * (1 - p))
    variance = found.probability * found.other
    values = found.loss[0], found.residual[0, 0], variance[0, 0]
    assert values == pytest.approx([float(e) for e in exact], rel=4e-16, abs=5e-324)


def test_many_classes_to_the_last_digit():
    t = np.array([[1000.0, 999.0, -3.0], [0.1, 0.2, 0.3], [-40.0, 0.0, -80.0]])
    codes = np.array([1, 2, 1])
    found = loss_derivatives(t, codes)
    with mpmath.workdps(100):
        for i, row in enumerate(t.tolist()):
            powers = [mpmath.exp(mpmath.mpf(v)) for v in row]
            p = [power / sum(powers) for power in powers]
            assert found.loss[i] == pytest.approx(float(-mpmath.log(p[codes[i]])), rel=1e-15)
            residual = [float(q - (c == codes[i])) for c, q in enumerate(p)]
            assert found.residual[i] == pytest.approx(residual, rel=1e-15)


# -- derivatives


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("d", [1, 3, 8, 19])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_pass_without_a_hessian_sums_what_one_with_it_does(k, d, weighted):
    x, y, weights = rows(k, n=203, d=d, k=k)
    weights[::7] = 0
    for table in (x, csr_array(x)):
        objective = problem(table, y, weights if weighted else None)
        at = np.random.default_rng(d).normal(size=len(objective.free)) / d
        alone, full = objective.loss_sums(at, False), objective.loss_sums(at, True)
        for name in ("weight", "checksum", "loss", "gradient"):
            one, other = getattr(alone, name).value, getattr(full, name).value
            assert_allclose(one, other, rtol=1e-13, atol=1e-12 * np.abs(other).max())


def test_a_far_offset_costs_no_digits():
    x, y, _ = rows(4)
    offset = 2.0**30
    x = (x + offset) - offset  # what a sum with the offset can hold
    points = []
    for moved in (0.0, offset):
        objective = problem(x + moved, y)
        w = np.array([0.5, -0.04, 0.001])
        intercept = 0.2 + w @ (objective.centred.mean - moved)
        at = objective.parameters(np.array([[intercept, *w]]))
        points.append(objective(at, True))
    near, far = points
    assert near.loss == pytest.approx(far.loss, rel=1e-14)
    assert near.gradient[0] == pytest.approx(far.gradient[0], rel=1e-14)


def test_the_slope_at_zero_is_known_from_the_first_pass():
    for k in (2, 3):
        x, y, weights = rows(5, k=k)
        objective = problem(x, y, weights, class_weights=np.arange(1.0, k + 1))
        slope = np.abs(objective(np.zeros(len(objective.free)), True).gradient).max()
        assert objective.gradient_norm_at_zero() == pytest.approx(slope, rel=1e-12)
        assert objective.null() == pytest.approx(
            objective.parameters(objective.coefficients(objective.null())), abs=1e-15
        )


# -- data


def test_rows_that_change_between_passes_are_noticed():
    x, y, weights = rows(6)
    for changed in (x, weights):
        objective = problem(x, y, weights)
        objective(np.zeros(4), True)
        before = changed[7].copy()
        changed[7] = changed[7] * 1.5 + 0.5
        with pytest.raises(DataError, match="not those of the first"):
            objective(np.zeros(4), True)
        changed[7] = before
    objective(np.zeros(4), True)


@settings(max_examples=30)
@given(seed=st.integers(0, 99), gaps=st.sampled_from([0.0, 0.3]), weighted=st.booleans())
def test_moments_of_sparse_rows_are_those_of_dense_ones(seed, gaps, weighted):
    rng = np.random.default_rng(seed)
    x = rng.poisson(0.5, (30, 4)) * rng.normal(size=(30, 4))
    table = csr_array(x)
    if gaps:
        table.data[rng.random(len(table.data)) < gaps] = np.nan
    dense = table.toarray()
    codes, weights = rng.integers(-1, 3, 30), rng.random(30) if weighted else np.empty(0)
    sparse, full = SparseMomentsAccumulator(4), MomentsAccumulator(4)
    names = Numbered(4)
    layout = Layout(
        (BlockLayout("sparse", names),), UniformColumns(names, "number", "real", "numbers")
    )
    (part,) = ArraySource(table, names).parts(layout, 1)
    for batch in part.batches():
        sparse.add(batch.blocks[0], codes, weights, 3)
    full.add(RealBlock(dense), codes, weights, 3)
    mine, other = sparse.statistic(), full.statistic()
    for name in ("total", "mean", "scatter"):
        assert_allclose(getattr(mine, name), getattr(other, name), rtol=1e-13, atol=1e-13)


# -- descent


def steep(x, hessian):
    """A smooth convex function, badly scaled."""
    scale = 10.0 ** np.arange(len(x))
    value = np.logaddexp(x * scale, -x * scale).sum() - x.sum() / 2
    slope = np.tanh(x * scale) * scale - 0.5
    return Point(x, float(value), slope, np.diag(scale**2 * (1 - np.tanh(x * scale) ** 2)))


def test_both_methods_find_the_same_minimum():
    start = steep(np.full(4, 0.2), True)
    exact = np.arctanh(0.5 / 10.0 ** np.arange(4)) / 10.0 ** np.arange(4)
    *_, by_newton = newton(steep, start)
    *_, by_slopes = quasi_newton(steep, start, lambda g: g)
    assert_allclose(by_newton.x, exact, rtol=1e-12)
    assert_allclose(by_slopes.x, exact, rtol=1e-7)


# -- Firth


def penalised(x, y, beta):
    """Firth's log-likelihood, straight from its definition."""
    z = np.column_stack([np.ones(len(x)), x])
    t = z @ beta
    p = 1 / (1 + np.exp(-t))
    information = (z * (p * (1 - p))[:, None]).T @ z
    likelihood = (y * t - np.logaddexp(0, t)).sum()
    return likelihood + 0.5 * np.linalg.slogdet(information)[1]


def test_firth_is_at_a_maximum_of_its_likelihood():
    x, y, _ = rows(8, 30, 2)
    objective = problem(x, y, firth=True)
    found = minimise(objective, None, Solver("newton", 1e-12, 200, "minimum_norm"))
    assert found.converged
    beta = np.concatenate(
        [
            found.coefficients[0, :1] - found.coefficients[0, 1:] @ x.mean(axis=0),
            found.coefficients[0, 1:],
        ]
    )
    best = penalised(x, y, beta)
    assert -found.loss == pytest.approx(best, rel=1e-13)
    unit = np.concatenate([[1.0], 1 / x.std(axis=0)])
    for direction in np.eye(3):
        step = 1e-4 * direction * unit
        up, down = penalised(x, y, beta + step), penalised(x, y, beta - step)
        assert up < best
        assert down < best
        assert abs(up - down) < 1e-9


# -- separation


def separated(x, y):
    objective = problem(np.asarray(x, float), np.asarray(y))
    return find_separation(objective, objective.coefficients(objective.null()))[0]


def test_separation_by_one_column():
    rng = np.random.default_rng(0)
    noise = rng.normal(size=12)
    step = np.repeat([0, 1], 6)
    found = separated(np.column_stack([noise, np.arange(12.0)]), step)
    assert (found.complete, found.terms) == (True, (1,))
    found = separated(np.column_stack([noise, step]), [0] * 6 + [1] * 5 + [0])
    assert (found.complete, found.terms) == (False, (1,))
    assert separated(np.column_stack([noise, step]), [1] + [0] * 5 + [1] * 5 + [0]) is None


def test_quasi_complete_separation():
    found = separated([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1])
    assert (found.complete, found.terms) == (False, (0,))
    found = separated([[0.0], [1.0], [1.0 - 1e-3], [2.0]], [0, 0, 1, 1])
    assert found is None


def test_separation_of_one_class_among_three():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 30)
    x = np.column_stack([rng.normal(size=90), np.where(y == 1, 9.0, 0.0) + rng.random(90)])
    found = separated(x, y)
    assert (found.complete, found.terms) == (False, (1,))


def is_separated(x, y):
    """Try every hyperplane through two points of a plane: none has a class on each side."""
    z, s = np.column_stack([np.ones(len(x)), x]), 2 * y - 1
    for i in range(len(x)):
        for j in range(i):
            h = np.cross(z[i], z[j])
            for sign in (-1, 1):
                margins = sign * s * np.rint(z @ h)
                if (margins >= 0).all() and margins.any():
                    return True
    return False


@settings(max_examples=60)
@given(seed=st.integers(0, 10_000))
def test_separation_in_the_plane_is_what_every_line_says(seed):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 4, (7, 2)).astype(float)
    y = np.array([0, 1, *rng.integers(0, 2, 5)])
    if (x == x[0]).all(axis=0).any() or np.linalg.matrix_rank(x - x.mean(axis=0)) < 2:
        return
    assert (separated(x, y) is not None) == is_separated(x, y)


def test_rows_that_a_sample_misses_are_found():
    rng = np.random.default_rng(2)
    x = np.sort(rng.normal(size=(40_000, 1)), axis=0)
    y = (x[:, 0] > 0).astype(int)
    assert separated(x, y).complete
    y[0], y[-1] = 1, 0  # two rows of 40,000 overlap
    assert separated(x, y) is None


# -- rows of few cells


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize(
    "options", [{}, {"fit_intercept": False}, {"class_weight": "balanced", "solver": "lbfgs"}]
)
def test_rows_of_few_cells_say_the_same(k, options, monkeypatch):
    rng, n = np.random.default_rng(k), 300
    table = {f"hue {j}": rng.choice(list("abcdefgh"), n) for j in range(5)}
    table |= {"size": 1e6 + rng.normal(size=n), "same": np.full(n, "a")}
    table["label"] = (rng.integers(0, k, n) + (table["hue 0"] == "b")) % k
    frame = pd.DataFrame(table)
    frame.loc[::50, "size"] = np.nan
    weights = rng.integers(0, 3, n) / 2
    model = LogisticRegression(incomplete="drop", **options)
    few = clone(model).fit(frame, "label", weights)
    assert few.model_.centred.is_of_few_cells
    monkeypatch.setattr(CentredDesign, "is_of_few_cells", False)
    dense = clone(model).fit(frame, "label", weights)
    assert few.n_iter_ == dense.n_iter_
    assert_allclose(few.coef_, dense.coef_, rtol=0, atol=1e-11)
    assert_allclose(few.intercept_, dense.intercept_, rtol=1e-9)
