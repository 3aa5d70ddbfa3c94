"""Areas below ROC and precision-recall, and the sums they are made of."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

import suffice.sums.ranking as module
from suffice.sums.ranking import Ranking, RankingAccumulator

FEW = settings(max_examples=20)
ROWS = st.lists(
    st.tuples(
        st.sampled_from([-np.inf, -2.0, -0.5, 0.0, 0.25, 3.0, np.inf]),
        st.booleans(),
        st.sampled_from([1.0, 2.0, 0.1, 1e-3]),
    ),
    max_size=30,
)


def ranking(rows) -> Ranking:
    scores, truth, weights = zip(*rows, strict=True) if rows else ((), (), ())
    return Ranking.of(np.array(scores, float), np.array(truth, bool), np.array(weights, float))


@FEW
@given(ROWS, ROWS)
def test_parts_add_up_and_come_off_again(a, b):
    assert ranking(a) + ranking(b) == ranking(a + b) == ranking((a + b)[::-1])
    assert ranking(a + b) - ranking(b) == ranking(a)
    assert ranking(a) + Ranking.empty() == ranking(a)


@FEW
@given(ROWS)
def test_the_roc_area_is_the_share_of_pairs_in_order(rows):
    positive = [(s, Fraction(w)) for s, y, w in rows if y]
    negative = [(s, Fraction(w)) for s, y, w in rows if not y]
    area = ranking(rows).roc_area
    if not (positive and negative):
        assert np.isnan(area.value)
        return
    won = sum(
        v * w * (Fraction(s > t) + Fraction(s == t, 2)) for s, v in positive for t, w in negative
    )
    pairs = sum(v * w for _, v in positive for _, w in negative)
    assert area.value == pytest.approx(float(won / pairs), rel=1e-13)
    assert area.lower == area.value == area.upper


def test_areas_are_those_of_scikit_learn():
    random = np.random.default_rng(0)
    truth = random.random(500) < 0.3
    scores = np.round(random.normal(size=500) + truth, 1)
    weights = random.integers(1, 5, 500).astype(float)
    found = ranking(list(zip(scores, truth, weights, strict=True)))
    assert found.roc_area.value == pytest.approx(
        roc_auc_score(truth, scores, sample_weight=weights), rel=1e-14
    )
    assert found.average_precision.value == pytest.approx(
        average_precision_score(truth, scores, sample_weight=weights), rel=1e-14
    )


def test_rounded_scores_give_bounds(monkeypatch):
    random = np.random.default_rng(1)
    truth = random.random(4000) < 0.2
    scores = random.normal(size=4000) + truth
    ones = np.ones(4000)
    exact = Ranking.of(scores, truth, ones)
    monkeypatch.setattr(module, "EXACT_SCORES", 1000)
    rough = Ranking.of(scores, truth, ones)
    assert rough.rounded
    assert len(rough.scores) < 4000
    for known, found in (
        (exact.roc_area, rough.roc_area),
        (exact.average_precision, rough.average_precision),
    ):
        assert found.lower < known.value < found.upper
        assert found.upper - found.lower < 0.02
    halves = [
        Ranking.of(scores[part], truth[part], ones[part]) for part in np.split(np.arange(4000), 8)
    ]
    assert not halves[0].rounded
    total = halves[0]
    for half in halves[1:]:
        total = total + half
    assert total == rough


@FEW
@given(st.lists(ROWS, max_size=8))
def test_batches_add_up_to_all_rows(batches):
    gathered = RankingAccumulator()
    for rows in batches:
        scores, truth, weights = zip(*rows, strict=True) if rows else ((), (), ())
        gathered.add(np.array(scores, float), np.array(truth, bool), np.array(weights, float))
    assert gathered.ranking() == ranking([row for rows in batches for row in rows])


@pytest.mark.parametrize("most", [100, 700, 5000])
def test_when_scores_are_rounded_does_not_depend_on_batches(monkeypatch, most):
    monkeypatch.setattr(module, "EXACT_SCORES", most)
    random = np.random.default_rng(2)
    scores, truth = np.round(random.normal(size=3000), 3), random.random(3000) < 0.4
    ones = np.ones(3000)
    whole = Ranking.of(scores, truth, ones)
    assert whole.rounded == (len(np.unique(scores)) > most)
    for size in (7, 250, 1500):
        gathered = RankingAccumulator()
        for start in range(0, 3000, size):
            rows = slice(start, start + size)
            gathered.add(scores[rows], truth[rows], ones[rows])
        assert gathered.ranking() == whole
