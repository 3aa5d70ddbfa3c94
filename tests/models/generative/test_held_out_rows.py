"""Which rows of the sample are taken out of the sums together, to learn weights from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from suffice.models.generative.weights import _share
from suffice.sums.batch import Batch
from suffice.sums.block import RealBlock
from suffice.sums.row_sample import SampledRows


@pytest.mark.parametrize("dealt", [False, True])
def test_every_copy_of_a_row_is_in_one_fold(dealt: bool) -> None:
    rng = np.random.default_rng(0)
    weights = np.concatenate([np.ones(20), rng.integers(1, 60, 20), rng.integers(1, 60, 20) / 4])
    block = RealBlock(np.arange(60.0)[:, None])
    batch = Batch(60, (block,), np.zeros(60, np.intp), weights=weights)
    piece = SampledRows(batch, rng.integers(0, 2**63, 60, dtype=np.uint64))
    total, folds = np.zeros(60), np.zeros(60)
    for fold in range(10):
        rows, hashes = _share(piece, fold, 10, 1.0 if dealt else None)
        at = rows.blocks[0].values[:, 0].astype(int)
        assert_array_equal(hashes, piece.hashes[at])
        total[at] += rows.weights
        folds[at] += 1
        assert (rows.weights <= (np.ceil(weights[at] / 10) if dealt else weights[at])).all()
    assert_allclose(total, weights, rtol=1e-12)
    assert_array_equal(folds, np.minimum(np.ceil(weights), 10) if dealt else 1)
