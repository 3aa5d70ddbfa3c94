"""Fourth moments: what Ledoit and Wolf's shrinkage is chosen by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.covariance import ledoit_wolf

from suffice import NaiveBayes
from suffice.errors import DataError
from suffice.families import MultivariateGaussian
from suffice.sums.block import RealBlock
from suffice.sums.comoments import FourthMoments, FourthMomentsAccumulator


def summed(x: np.ndarray, codes: np.ndarray, k: int = 2) -> FourthMoments:
    total = FourthMomentsAccumulator(x.shape[1])
    total.add(RealBlock(x), codes, np.empty(0), k)
    return total.statistic()


@pytest.mark.parametrize(("offset", "error"), [(0.0, 1e-13), (1e3, 1e-12), (1e5, 1e-9)])
def test_the_fourth_moments_are_those_of_the_rows(offset, error):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 4)) * [1.0, 2.0, 3.0, 0.5] + offset
    codes, variance = rng.integers(0, 2, 300), rng.random((2, 4)) + 0.5
    expected = []
    for c in range(2):
        z2 = (x[codes == c] - x[codes == c].mean(axis=0)) ** 2 / variance[c]
        expected.append((z2.sum(axis=1) ** 2).sum())
    assert_allclose(summed(x, codes).fourth(variance), expected, rtol=error)


def correlations_shrunk(z: np.ndarray) -> np.ndarray:
    """What scikit-learn makes of centred rows, shrunk towards their own variances."""
    sd = z.std(axis=0)
    return ledoit_wolf(z / sd, assume_centered=True)[0] * np.outer(sd, sd)


def test_shrinkage_is_that_of_scikit_learn_whatever_the_units():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6)) * 10.0 ** np.arange(-3, 3)
    y = np.repeat([0, 1, 2], 20)
    centred = np.concatenate([x[y == c] - x[y == c].mean(axis=0) for c in range(3)])
    for pooling, rows in ((1, [centred]), (0, np.split(centred, 3))):
        family = MultivariateGaussian(estimation="mle", pooling=pooling, shrinkage="ledoit-wolf")
        found = NaiveBayes.textbook(family).fit(x, y).model_.parameters[0].covariance
        expected = np.stack([correlations_shrunk(z) for z in rows])
        assert_allclose(found, expected, rtol=1e-8)


def test_a_number_whose_fourth_power_overflows_is_named():
    family = MultivariateGaussian(estimation="mle", shrinkage="ledoit-wolf")
    x = np.array([[1.0, 2.0], [3.0, 1e80], [5.0, 6.0], [7.0, 7.0]])
    with pytest.raises(DataError, match=r"column 'x1', row 1: 1e\+80; a number must be below 1e75"):
        NaiveBayes.textbook(family).fit(x, [0, 1, 0, 1])
