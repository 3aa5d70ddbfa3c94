"""Logarithms of sums against mpmath with 60 digits."""

import mpmath
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.numerics.logspace import log_normalise, log_sum_exp, safe_log

LOGS = st.one_of(st.just(-np.inf), st.floats(-1e5, 1e5), st.floats(-5, 5))
ROWS = st.integers(1, 5).flatmap(lambda k: st.lists(LOGS, min_size=k, max_size=k))


def reference(row: list[float]) -> mpmath.mpf:
    with mpmath.workdps(60):
        return mpmath.log(mpmath.fsum(mpmath.exp(mpmath.mpf(x)) for x in row))


@settings(max_examples=150)
@given(ROWS)
def test_log_sum_exp_and_posterior(row: list[float]) -> None:
    prior = np.log(np.full(len(row), 1 / len(row)))
    found = log_sum_exp(np.array([row]))[0]
    posterior, impossible = log_normalise(np.array([row]), prior)
    if max(row) == -np.inf:
        assert found == -np.inf
        assert impossible == 1
        np.testing.assert_array_equal(posterior[0], prior)
        return
    truth = reference(row)
    scale = max(1.0, abs(float(truth)))
    assert abs(found - float(truth)) <= 2 * np.spacing(scale)
    assert impossible == 0
    for x, log_p in zip(row, posterior[0], strict=True):
        if x == -np.inf:
            assert log_p == -np.inf
        else:
            assert abs(log_p - float(mpmath.mpf(x) - truth)) <= 1e-15 * max(scale, abs(x))


def test_very_unlikely_rows_keep_their_odds() -> None:
    joint = np.array([[-1e6, -1e6 + np.log(3)], [-1e-300, -1e6]])
    posterior, impossible = log_normalise(joint, np.log([0.5, 0.5]))
    np.testing.assert_allclose(np.exp(posterior[0]), [0.25, 0.75], rtol=2e-10)
    np.testing.assert_allclose(posterior[1], [0.0, -1e6])
    assert impossible == 0


def test_a_row_does_not_depend_on_its_neighbours() -> None:
    rng = np.random.default_rng(0)
    joint = rng.normal(size=(999, 11)) * 50
    prior = np.log(np.full(11, 1 / 11))
    whole = log_normalise(joint, prior)[0]
    alone = np.concatenate([log_normalise(joint[i : i + 1], prior)[0] for i in range(999)])
    np.testing.assert_array_equal(alone, whole)


def test_the_logarithm_of_nothing_is_minus_infinity() -> None:
    np.testing.assert_array_equal(safe_log(np.array([0.0, 1.0])), [-np.inf, 0.0])
    assert log_sum_exp(np.empty((0, 3))).shape == (0,)
    np.testing.assert_array_equal(log_sum_exp(np.empty((2, 0))), [-np.inf, -np.inf])
