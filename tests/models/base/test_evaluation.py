"""An evaluation keeps its digits where nearly every answer is right."""

import numpy as np
import pytest

from suffice.naive_bayes import GaussianNB


def test_the_error_is_the_weight_of_the_errors() -> None:
    model = GaussianNB().fit([[-1.0], [-2.0], [1.0], [2.0]], ["a", "a", "b", "b"])
    found = model.evaluate([[-1.0], [1.0], [2.0]], ["a", "b", "a"], [3e17, 1e18, 1.0])
    assert found.accuracy == 1
    assert found.error == pytest.approx(1 / 1.3e18, rel=1e-15)
    empty = found - found
    assert np.isnan(empty.error)
