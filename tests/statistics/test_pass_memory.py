"""What accumulators tell of their sums is what these take."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from suffice.models.base.evaluated_rows import evaluation_memory
from suffice.models.base.predictions import answer_memory
from suffice.statistics.batch import Batch
from suffice.statistics.binned_count_accumulator import BinnedCountAccumulator
from suffice.statistics.block import RealBlock
from suffice.statistics.by_class import ByClassAccumulator
from suffice.statistics.comoments_accumulator import ComomentsAccumulator
from suffice.statistics.fourth_moments import FourthMomentsAccumulator
from suffice.statistics.moments import MomentsAccumulator
from suffice.statistics.moments_and_bins import MomentsAndBinsAccumulator
from suffice.statistics.pass_memory import PassMemory, PassRows, sum_memory
from suffice.statistics.ranking import Ranking
from suffice.statistics.ranking_accumulator import ranking_memory
from suffice.statistics.row_sample import SampledAccumulator
from suffice.statistics.vocabulary import Vocabulary

N, D = 12_000, 20


def size_of(record: Any) -> int:
    """Bytes of the arrays of a record."""
    if isinstance(record, np.ndarray):
        return record.nbytes
    if isinstance(record, tuple):
        return sum(map(size_of, record))
    if is_dataclass(record):
        return sum(size_of(getattr(record, field.name)) for field in fields(record))
    return 0


@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize(
    "make",
    [
        MomentsAccumulator,
        lambda d: BinnedCountAccumulator(np.zeros(d)),
        MomentsAndBinsAccumulator,
        ComomentsAccumulator,
        lambda d: ComomentsAccumulator(d, pooled=True),
        FourthMomentsAccumulator,
    ],
)
def test_a_result_takes_what_was_told(make: Any, k: int) -> None:
    x, codes = np.random.default_rng(0).normal(size=(N, D)), np.arange(N) % k
    told = sum_memory(ByClassAccumulator([make(D)]), k, PassRows(N, N, N))
    total = make(D)
    total.add(RealBlock(x), codes, np.empty(0), k)
    assert 0.6 * size_of(total.statistic()) <= told.result <= 2 * size_of(total.statistic())
    assert told.worker > 0


def test_a_sample_comes_on_top() -> None:
    x, codes = np.random.default_rng(0).normal(size=(N, D)), np.arange(N) % 2
    chosen = SampledAccumulator(ByClassAccumulator([MomentsAccumulator(D)]), [range(D)], 1_000)
    told = sum_memory(chosen, 2, PassRows(N, N, N))
    chosen.add(Batch(N, (RealBlock(x),), codes, Vocabulary((0, 1))))
    assert 0.8 * size_of(chosen.statistic()) <= told.result <= 1.2 * size_of(chosen.statistic())


def test_few_rows_and_those_with_weights_are_counted_otherwise() -> None:
    bins = BinnedCountAccumulator(np.zeros(100))
    table = bins.pass_memory(2, PassRows(65_536, 10**6)).worker
    assert bins.pass_memory(2, PassRows(1_024, 10**6)).worker > table > 3 * 2 * 100 * 41_000
    assert bins.pass_memory(2, PassRows(65_536, 10**6, weighted=True)).worker * 3 == 16 * table
    assert bins.pass_memory(200, PassRows(1_024, 10**4)).worker < table


def test_a_ranking_takes_what_was_told() -> None:
    scores, truth = np.random.default_rng(0).normal(size=N), np.arange(N) % 3 == 0
    for weights, weighted in ((np.ones(N), False), (np.full(N, 0.1), True)):
        part = Ranking.of(scores, truth, weights).parts[0]
        taken = size_of((part.scores, part.high, part.low))
        told = ranking_memory(PassRows(N, N, N, weighted=weighted)).result
        assert taken <= told <= 1.7 * taken


def test_answers_and_evaluations_grow_with_classes_and_not_with_all_rows() -> None:
    assert answer_memory(3, 1, PassRows(1_000, 5_000)) == PassMemory(48_000, 160_000)
    assert answer_memory(3, 1, PassRows(1_000)).result == 0
    known = evaluation_memory(30, True, PassRows(65_536, 10**6, 10**9))
    assert known == evaluation_memory(30, False, PassRows(65_536, 10**6))
    ranked, long = (evaluation_memory(2, True, PassRows(65_536, 10**6, n)) for n in (10**7, 10**9))
    assert ranked == long
    assert ranked.once > 10**7 > known.once
