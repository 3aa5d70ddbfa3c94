"""Which candidates are averaged, and with what shares."""

from itertools import combinations

import numpy as np
import pytest

from suffice.ensemble.auto import members, shares


def answers(seed: int, n: int = 400) -> np.ndarray:
    """Probabilities of labels: three good candidates that agree, and one that knows other rows."""
    rng = np.random.default_rng(seed)
    easy = np.arange(n) < 0.7 * n
    good = np.where(easy, 0.9, 0.1)[:, None] * rng.uniform(0.999, 1.0, (n, 3))
    return np.log(np.column_stack([good, np.where(easy, 0.35, 0.6)]))


def of_set(log_p: np.ndarray, places: np.ndarray) -> float:
    v = shares(log_p[:, places], np.ones(len(log_p)))
    return np.log(np.exp(log_p[:, places]) @ v).mean()


@pytest.mark.parametrize("seed", range(4))
def test_a_candidate_that_knows_other_rows_stays(seed: int) -> None:
    log_p = answers(seed)
    places, v = members(log_p, np.ones(400), 2)
    assert log_p.mean(axis=0).argmin() == 3  # by itself it is the worst
    assert 3 in places
    found, best = of_set(log_p, places), max(of_set(log_p, np.array(s)) for s in PAIRS)
    assert found == pytest.approx(best, abs=2e-3)
    assert found > of_set(log_p, np.argsort(-log_p.mean(axis=0))[:2]) + 0.02
    np.testing.assert_allclose(v, shares(log_p[:, places], np.ones(400)), rtol=1e-12)


PAIRS = [list(pair) for pair in combinations(range(4), 2)]


def test_few_candidates_all_stay() -> None:
    log_p = answers(0)
    places, v = members(log_p, np.ones(400), 5)
    assert places.tolist() == [0, 1, 2, 3]
    np.testing.assert_allclose(v, shares(log_p, np.ones(400)), rtol=1e-12)
    assert members(log_p, np.ones(400), 1)[1].tolist() == [1.0]
