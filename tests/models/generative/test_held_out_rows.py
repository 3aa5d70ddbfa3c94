"""Which rows of the sample are taken out of the sums together, to learn weights from them."""

import itertools

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.models.generative.weights import _folds


@pytest.mark.parametrize("by_chance", [False, True])
def test_every_copy_of_a_row_is_in_one_fold(by_chance: bool) -> None:
    """Copies stay together; rows that are equal by chance are dealt to one fold after the other."""
    rng = np.random.default_rng(0)
    times, values = rng.integers(1, 60, 24), np.arange(24)
    x = np.c_[values // 2 % 4, values // 8] if by_chance else rng.random((24, 4))
    model = NaiveBayes(families="categorical" if by_chance else None)
    model.fit(x, values % 2, sample_weight=times)
    sample = model.statistic_.sample
    assert sample.tells_apart != by_chance
    folds = [batch.weights.tolist() for batch in _folds(model.model_, sample, 1 / sample.unit)]
    assert 1 < len(folds) <= 10
    assert all(folds)
    if by_chance:
        assert max(map(max, folds)) == np.ceil(times.max() / 10)
        assert sum(map(len, folds)) == np.minimum(times, 10).sum()
        assert sum(map(sum, folds)) == times.sum()
    else:
        assert sorted(itertools.chain(*folds)) == sorted(times)
