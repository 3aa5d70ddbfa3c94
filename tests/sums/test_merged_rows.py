"""Rows of a sparse matrix whose cells are in parts, or not in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from suffice.errors import DataError
from suffice.linear_model import LogisticRegression
from suffice.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from suffice.numerics import kernels
from suffice.sums.block import SparseBlock
from suffice.sums.vocabulary import Vocabulary

WIDTHS = [1, 63, 64, 65, 130, 4096, 5000]
FEW = settings(max_examples=30)


def matrix(
    seed: int, d: int, dtype: Any = np.float64, rows: int = 40, longest: int = 8
) -> csr_matrix:
    """Rows of small counts in parts, in any order; some without a cell."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, longest + 1, rows)
    indices = rng.integers(0, d, sizes.sum()).astype(np.int32)
    data = rng.integers(0, 4, len(indices)).astype(dtype)
    return csr_matrix((data, indices, np.append(0, np.cumsum(sizes))), shape=(rows, d))


def block_of(x: csr_matrix) -> SparseBlock:
    words = Vocabulary(tuple(range(x.shape[1])), closed=True)
    present = np.ones(x.shape[0], np.bool_)
    return SparseBlock(x.data, x.indices, x.indptr, words, present, whole=False)


@FEW
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(WIDTHS),
    st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.int8, np.uint64]),
    st.sampled_from([0, 1, 8, 100, 256, 300]),
)
def test_merged_rows_are_those_of_scipy(seed: int, d: int, dtype: Any, longest: int) -> None:
    x = matrix(seed, d, dtype, longest=longest)
    found = block_of(x).merged()
    x = x.astype(np.float64)  # SciPy adds whole numbers of few bits modulo these
    x.sum_duplicates()
    assert found.whole
    assert found.indptr.tolist() == x.indptr.tolist()
    assert found.indices.tolist() == x.indices.tolist()
    assert found.data.tolist() == x.data.tolist()


def test_pieces_are_the_rows_merged() -> None:
    block = block_of(matrix(7, 5000, rows=2500, longest=100))
    pieces, whole = list(block.in_pieces()), block.merged()
    assert len(pieces) > 1
    assert np.concatenate([part.data for _, part in pieces]).tolist() == whole.data.tolist()
    assert np.concatenate([part.indices for _, part in pieces]).tolist() == whole.indices.tolist()
    assert [rows.start for rows, _ in pieces[1:]] == [rows.stop for rows, _ in pieces[:-1]]
    assert list(whole.in_pieces()) == [(slice(0, 2500), whole)]


@pytest.mark.parametrize("columns", [5, 2**24])  # rows side by side, and one after the other
def test_a_sum_beyond_64_bits_is_not_held(columns: int) -> None:
    parts = np.array([2**62] * 4, np.int64), np.full(4, 3, np.int32), np.array([0, 4])
    room = np.empty(4, np.int32), np.empty(4), np.empty(2, np.int64)
    assert kernels.merging.merge(*parts, columns, *room) == -1  # it would be 0 modulo 2^64


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, GaussianNB, LogisticRegression])
def test_a_sum_beyond_64_bits_is_refused(make: Any, dtype: Any) -> None:
    parts = np.array([2**62] * 4 + [1], dtype), [3, 3, 3, 3, 0], [0, 4, 5]
    x = csr_matrix(parts, shape=(2, 5))
    said = "'?x?3'?.*row 0: 18446744073709551616; a sum of whole numbers has at most 64 bits"
    with pytest.raises(DataError, match=said):
        make().fit(x, [0, 1])


@pytest.mark.parametrize("dtype", [np.int8, np.uint32])
@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, GaussianNB, LogisticRegression])
def test_parts_of_few_bits_add_up(make: Any, dtype: Any) -> None:
    most = np.iinfo(dtype).max
    x = csr_matrix(([most, most, 1, 2], [3, 3, 0, 2], [0, 2, 3, 4]), shape=(3, 5), dtype=dtype)
    whole = csr_matrix(([2.0 * most, 1.0, 2.0], [3, 0, 2], [0, 1, 2, 3]), shape=(3, 5))
    found, expected = (make().fit(one, [0, 1, 1]) for one in (x, whole))
    assert found.predict_proba(x).tolist() == expected.predict_proba(whole).tolist()


def test_missing_parts_make_a_missing_cell() -> None:
    x = csr_matrix((np.array([2.0, np.nan, 1.0]), [3, 3, 1], [0, 3]), shape=(1, 5))
    found = block_of(x).merged()
    assert found.indices.tolist() == [1, 3]
    assert found.data[0] == 1.0
    assert np.isnan(found.data[1])


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from([MultinomialNB, ComplementNB, BernoulliNB]))
def test_a_model_and_its_answers_do_not_depend_on_how_cells_are_stored(
    seed: int, estimator: Any
) -> None:
    x = matrix(seed, 40, rows=30)
    y = np.arange(30) % 3
    whole = x.copy()
    whole.sum_duplicates()
    mine, theirs = estimator().fit(x, y), estimator().fit(whole, y)
    assert mine.statistic_ == theirs.statistic_
    assert mine.predict_log_proba(x).tolist() == theirs.predict_log_proba(whole).tolist()


@pytest.mark.parametrize("estimator", [MultinomialNB, BernoulliNB])
def test_parts_may_be_missing_or_negative_where_their_sum_is_a_count(estimator: Any) -> None:
    parts = np.array([3.0, -1.0, 2.0, np.nan, 1.0]), [2, 2, 0, 1, 1], [0, 3, 5]
    x = csr_matrix(parts, shape=(2, 3))
    whole = csr_matrix(([2.0, 2.0, np.nan], [0, 2, 1], [0, 2, 3]), shape=(2, 3))
    assert estimator().fit(x, [0, 1]).statistic_ == estimator().fit(whole, [0, 1]).statistic_
