"""Integrals against mpmath: smooth functions, kinks, jumps, poles and noise."""

import mpmath
import numpy as np
import pytest

from suffice.numerics.quadrature import MOST_PIECES, integrate


@pytest.mark.parametrize(
    ("f", "same", "edges"),
    [
        (np.sin, mpmath.sin, [0.0, 1.0, 3.0]),
        (lambda x: np.exp(-x * x), lambda x: mpmath.exp(-x * x), [-9.0, -1.0, 9.0]),
        (lambda x: np.abs(x - 0.3), lambda x: abs(x - mpmath.mpf(0.3)), [0.0, 0.3, 1.0]),
        (lambda x: x**-0.5, lambda x: x ** mpmath.mpf(-0.5), [0.0, 1.0]),
    ],
    ids=["sine", "bell", "kink on an edge", "pole on an edge"],
)
def test_against_mpmath(f, same, edges):
    value, error = integrate(f, np.array(edges))
    with mpmath.workdps(40):
        truth = float(mpmath.quad(same, edges))
    assert abs(value - truth) < 1e-13
    assert error < 1e-13


@pytest.mark.parametrize("place", [0.1, 1 / 3, 0.7])
def test_a_jump_or_kink_inside_a_piece_is_found_by_halving(place):
    value, error = integrate(lambda x: np.where(x > place, 1.0, 0.0), np.array([0.0, 1.0]))
    assert abs(value - (1 - place)) < 1e-13
    assert error < 1e-13
    value, error = integrate(lambda x: np.abs(x - place), np.array([0.0, 1.0]))
    assert abs(value - (place**2 + (1 - place) ** 2) / 2) < 1e-14


def test_noise_ends_with_an_error_that_says_so():
    rng = np.random.default_rng(0)
    calls = []

    def noise(x):
        calls.append(len(x))
        return 1.0 + 0.1 * rng.normal(size=len(x))

    value, error = integrate(noise, np.array([0.0, 1.0]))
    assert max(calls) <= 4 * MOST_PIECES * 20
    assert abs(value - 1.0) < error


def test_no_interval_is_nothing():
    assert integrate(np.exp, np.array([1.0])) == (0.0, 0.0)
