"""Differences of scores against the formula in exact steps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from suffice.errors import ParameterError
from suffice.model_selection import compare_scores

scores = st.lists(st.floats(-5, 5), min_size=2, max_size=20)


@settings(max_examples=20)
@given(scores, st.integers(0, 2**32 - 1), st.floats(0.01, 1))
def test_the_interval_is_that_of_the_formula(one, seed, share):
    other = np.array(one) + np.random.default_rng(seed).normal(size=len(one))
    found = compare_scores(one, other, share, level=0.9)
    d = np.array(one) - other
    error = math.sqrt((1 / len(d) + share) * d.var(ddof=1))
    t = stats.t(len(d) - 1)
    assert found.mean == pytest.approx(d.mean())
    assert found.low == pytest.approx(d.mean() - t.ppf(0.95) * error)
    assert found.high == pytest.approx(d.mean() + t.ppf(0.95) * error)
    assert found.p_value == pytest.approx(2 * t.sf(abs(d.mean()) / error))


def test_infinite_scores_tell_nothing():
    found = compare_scores([1.0, math.inf], [1.0, 2.0], 0.1)
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert not found.is_plain
    assert compare_scores([1.0, math.inf], [1.0, math.inf], 0.1).mean == 0.0


@settings(max_examples=20)
@given(scores, st.integers(0, 2**32 - 1))
def test_the_sign_test_is_that_of_scipy(one, seed):
    other = np.array(one) + np.random.default_rng(seed).integers(-1, 2, len(one))
    d = np.array(one) - other
    more, all_ = int((d > 0).sum()), int((d != 0).sum())
    expected = stats.binomtest(more, all_).pvalue if all_ else 1.0
    assert compare_scores(one, other, 0.1).sign_p_value == pytest.approx(expected)


def test_one_large_difference_does_not_hide_that_all_are_of_one_sign():
    found = compare_scores(
        [30.0, 31.0, 29.0, 5e8, 30.0, 32.0, 4e8, 31.0, 30.0, 33.0], [0.3] * 10, 1 / 9
    )
    assert not found.is_plain
    assert found.sign_p_value == pytest.approx(2 / 2**10)


@pytest.mark.parametrize(("one", "other"), [([1.0], [2.0]), ([1.0, 2.0], [1.0, 2.0, 3.0])])
def test_both_have_the_same_folds(one, other):
    with pytest.raises(ParameterError, match="the same folds"):
        compare_scores(one, other, 0.1)
