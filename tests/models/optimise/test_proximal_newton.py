"""Quadratics with a penalty of absolute values: the conditions of a minimum hold."""

from fractions import Fraction
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.models.optimise.proximal_newton import L1Quadratic, violation

FEW = settings(max_examples=25)


@st.composite
def quadratics(draw: st.DrawFn) -> L1Quadratic:
    """Of any rank and scale, some columns nearly or fully dependent, some without curvature."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    p, n = draw(st.integers(1, 12)), draw(st.integers(1, 16))
    z = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p)
    if p > 1 and draw(st.booleans()):
        z[:, -1] = z[:, 0] + draw(st.sampled_from([0.0, 1e-6])) * rng.standard_normal(n)
    if draw(st.booleans()):
        z[:, 0] = 0.0
    linear = -z.T @ rng.standard_normal(n)
    largest = np.abs(linear)
    cost = largest * draw(st.sampled_from([1e-3, 0.1, 0.5, 1.1])) * rng.random(p)
    return L1Quadratic(z.T @ z, linear, cost, draw(st.booleans()))


@FEW
@given(quadratics())
def test_the_conditions_of_a_minimum_hold(f: L1Quadratic) -> None:
    found = f.minimum(np.zeros(len(f.linear)), 1e-10, 2_000)
    assert found.converged
    unit = np.sqrt(np.diagonal(f.hessian))
    inverse = np.divide(1.0, unit, out=np.zeros_like(unit), where=unit > 0)
    far = violation(found.x, f.gradient(found.x), f.cost, f.nonnegative) * inverse
    assert far.max() <= 1e-10 * np.abs(f.linear * inverse).max()
    assert not (f.nonnegative and (found.x < 0).any())


@FEW
@given(quadratics())
def test_no_iterate_is_higher_than_the_one_before(f: L1Quadratic) -> None:
    def terms(x: np.ndarray) -> np.ndarray:
        return np.array([f.linear @ x, x @ f.hessian @ x / 2, f.cost @ np.abs(x)])

    points = [f.minimum(np.zeros(len(f.linear)), 0.0, sweeps).x for sweeps in range(40)]
    values = [terms(x).sum() for x in points]
    rounding = 1e-14 * max(
        np.abs(f.linear) @ np.abs(x) + np.abs(x) @ np.abs(f.hessian) @ np.abs(x) for x in points
    )
    assert all(b <= a + rounding for a, b in pairwise(values))


def test_a_minimum_in_exact_fractions() -> None:
    """Every choice of signs is solved exactly; the one whose conditions hold is the minimum."""
    h, g, c = [[4, 1, 2], [1, 3, 1], [2, 1, 5]], [-7, 2, -1], [1, 1, 2]
    (exact,) = [x for signs in product((-1, 0, 1), repeat=3) if (x := solved(h, g, c, signs))]
    f = L1Quadratic(np.array(h, float), np.array(g, float), np.array(c, float))
    assert f.minimum(np.zeros(3), 1e-15, 100).x == pytest.approx([float(x) for x in exact])


def solved(h: list, g: list, c: list, signs: tuple) -> list[Fraction] | None:
    """The point with these signs where H x + g + c s is 0 for x ≠ 0, if it is the minimum."""
    used = [j for j in range(3) if signs[j]]
    x = [Fraction(0)] * 3
    rows = [[Fraction(h[i][j]) for j in used] + [Fraction(-g[i] - c[i] * signs[i])] for i in used]
    for i in range(len(used)):
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(len(used)):
            if k != i:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    for place, row in zip(used, rows, strict=True):
        x[place] = row[-1]
    slope = [g[i] + sum(h[i][j] * x[j] for j in range(3)) for i in range(3)]
    same = all(x[j] * signs[j] > 0 for j in used)
    return x if same and all(abs(slope[j]) <= c[j] for j in range(3) if not signs[j]) else None
