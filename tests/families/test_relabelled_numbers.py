"""Moments of many labelings are those that rows are fitted with."""

from typing import Any

import numpy as np
import pytest

from suffice.families.univariate.relabelled import RelabelledNumbers
from suffice.statistics.block import RealBlock
from suffice.statistics.labelings import Labelings
from suffice.statistics.moments import Moments, MomentsAccumulator


def of_rows(x: Any, codes: Any, k: int) -> Moments:
    total = MomentsAccumulator(x.shape[1])
    total.add(RealBlock(x), codes, np.empty(0), k)
    return total.statistic()


@pytest.mark.parametrize("seed", range(5))
def test_moments_are_those_of_the_rows(seed: int) -> None:
    random = np.random.default_rng(seed)
    n, k, f, p = 400, 3, 4, 3
    x = random.normal(size=(n, 5)) * [1.0, 1e-8, 1e9, 1.0, 1e140] + [0.0, 1.0, 1e12, 1e6, 0.0]
    codes = random.integers(0, k, (p, n)).astype(np.uint8)
    codes[0] = random.integers(0, 2, n)
    codes[0, :8] = 2  # few rows, and nearly alike
    x[:8] = x[8] * (1 + 1e-7 * random.normal(size=(8, 5)))
    folds = random.integers(0, f, (p, n)).astype(np.uint8)
    folds[0, :8] = [0, 0, 1, 1, 2, 2, 3, 3]
    rows = RelabelledNumbers.of(lambda moments: moments, [RealBlock(x[:150]), RealBlock(x[150:])])
    assert rows is not None
    found = rows.moments(Labelings(codes, folds, k, f))
    for one in range(p):
        for g in range(f):
            learnt = folds[one] != g
            expected = of_rows(x[learnt], codes[one, learnt].astype(np.intp), k)
            columns = slice((one * f + g) * 5, (one * f + g + 1) * 5)
            np.testing.assert_array_equal(found.total[:, columns], expected.total)
            np.testing.assert_allclose(found.mean[:, columns], expected.mean, rtol=1e-15)
            np.testing.assert_allclose(found.scatter[:, columns], expected.scatter, rtol=1e-12)


def test_numbers_that_are_not_complete_are_left_to_fits() -> None:
    for cell in (np.nan, np.inf, 1e200):
        block = RealBlock(np.array([[1.0], [cell]]))
        assert RelabelledNumbers.of(lambda moments: moments, [block]) is None
    whole = RealBlock(np.array([[1], [2**60]]))
    assert RelabelledNumbers.of(lambda moments: moments, [whole]) is None
