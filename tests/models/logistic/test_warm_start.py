"""Where the fit of a long table begins changes how long it takes, not where it ends."""

import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose

from suffice import LogisticRegression
from suffice.models.logistic import minimise

N, LEVELS = 70_000, 60


@pytest.mark.parametrize("k", [2, 3])
def test_many_columns_begin_with_curvature_of_a_sample(
    k: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """295 terms, most of them rare: a sample of 16,384 rows would be a poor start."""
    rng = np.random.default_rng(k)
    codes = (LEVELS * rng.random((N, 5)) ** 2).astype(int)
    effects = rng.normal(size=(5, LEVELS, k))
    scores = sum(effects[j, codes[:, j]] for j in range(5)) + rng.gumbel(size=(N, k))
    y = scores.argmax(axis=1)
    x = pa.table({f"column {j}": [f"{c:02}" for c in codes[:, j]] for j in range(5)})
    found = LogisticRegression().fit(x, y)
    assert len(found.coef_.T) > minimise.SAMPLE_ROWS / minimise.ROWS_OF_TERM
    assert found.n_iter_[0] <= 25
    monkeypatch.setattr(minimise, "_is_long", lambda objective: False)
    plain = LogisticRegression().fit(x, y)
    assert_allclose(found.coef_, plain.coef_, rtol=0, atol=1e-6)
    assert_allclose(found.intercept_, plain.intercept_, rtol=0, atol=1e-6)
