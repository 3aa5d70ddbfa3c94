"""Groups of rows, and the sums of training sets made of them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suffice.model_selection.folds import FoldSums, Opened, row_groups
from suffice.naive_bayes import GaussianNB

ROWS = 12
FOLDS = st.lists(
    st.lists(st.integers(0, ROWS - 1), min_size=1, max_size=20), min_size=1, max_size=6
)


@given(FOLDS)
def test_groups_tell_how_often_each_row_is_learnt(folds: list[list[int]]) -> None:
    found = row_groups([np.array(rows) for rows in folds], ROWS)
    assert found is not None
    group, times = found
    assert set(group[group >= 0]) == set(range(times.shape[1]))
    for rows, often in zip(folds, times, strict=True):
        learnt = [0 if g < 0 else int(often[g]) for g in group]
        assert learnt == np.bincount(rows, minlength=ROWS).tolist()
    assert len({tuple(column) for column in times.T}) == times.shape[1]  # none could be joined


@given(FOLDS, st.integers(0, 2**32 - 1))
def test_sums_are_those_of_the_rows(folds: list[list[int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.normal(size=(ROWS, 3)), rng.integers(0, 3, ROWS)
    x[rng.random(x.shape) < 0.2] = np.nan
    estimator = GaussianNB()
    opened = Opened.of(estimator, x, y, None)
    found = FoldSums.of(opened, [np.array(rows) for rows in folds], ROWS)
    for rows, statistic in zip(folds, found.statistics, strict=True):
        alone = Opened.of(estimator, x[rows], y[rows], None)
        expected = alone.learner._summarise(alone.reader, alone.source)
        assert statistic.canonical() == expected.canonical()


def test_many_groups_are_summed_fold_by_fold() -> None:
    rows = np.arange(100)
    assert row_groups([np.delete(rows, i) for i in rows], 100) is None
