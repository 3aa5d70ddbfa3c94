"""Sets of labels: what they promise of a new row, whatever the model is worth."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.errors import ParameterError
from suffice.models.base.answers import Doubts, label_sets

probabilities = st.lists(st.floats(0, 1), min_size=2, max_size=60)
fractions = st.floats(0.01, 0.99)


@settings(max_examples=25)
@given(probabilities, fractions)
def test_one_row_of_many_is_covered_as_often_as_is_said(own: list[float], coverage: float) -> None:
    """Each row in turn is the new one; the others are known."""
    p = np.array(own)
    inside = [
        1 - p[i] <= Doubts.of(others, np.ones(len(others))).largest(coverage)
        for i in range(len(p))
        for others in [np.delete(p, i)]
    ]
    assert np.mean(inside) >= coverage - 1e-9


@settings(max_examples=25)
@given(st.integers(20, 300), fractions)
def test_the_largest_doubt_is_the_quantile_of_numpy(n: int, coverage: float) -> None:
    p = np.random.default_rng(n).permutation(np.arange(n)) / n
    level = coverage * (1 + 1 / n)
    found = Doubts.of(p, np.ones(n)).largest(coverage)
    if level > 1:
        assert found == 1
        return
    rounded_up = np.ceil(level * 1000 - 1e-9) / 1000 * (1 - 1e-12)
    assert found == np.quantile(1 - p, rounded_up, method="inverted_cdf")


@settings(max_examples=25)
@given(probabilities, fractions, st.integers(2, 5))
def test_a_weight_is_as_many_rows(own: list[float], coverage: float, times: int) -> None:
    p = np.array(own)
    weighted = Doubts.of(p, np.full(len(p), float(times)))
    repeated = Doubts.of(np.repeat(p, times), np.ones(times * len(p)))
    assert weighted.rows == repeated.rows
    assert weighted.largest(coverage) == repeated.largest(coverage)


def test_a_set_is_empty_only_where_it_may_be() -> None:
    p = np.array([[0.9, 0.1], [0.6, 0.4], [0.5, 0.5]])
    doubts = Doubts(np.full(1001, 0.2), 100.0)
    assert label_sets(p, doubts, 0.9, allow_empty=True).tolist() == [
        [True, False],
        [False, False],
        [False, False],
    ]
    assert label_sets(p, doubts, 0.9, allow_empty=False).tolist() == [
        [True, False],
        [True, False],
        [True, False],
    ]
    assert label_sets(p, Doubts(np.zeros(0), 0.0), 0.9, allow_empty=True).all()
    for wrong in (0.0, 1.0, float("nan"), "0.9", None):
        with pytest.raises(ParameterError, match="coverage is above 0 and below 1"):
            label_sets(p, doubts, wrong, allow_empty=True)
