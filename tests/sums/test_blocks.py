"""Blocks and batches: cells of every kind, cut, taken, merged and named."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.sparse import csr_matrix

from suffice import LogisticRegression, NaiveBayes
from suffice.errors import DataError
from suffice.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from suffice.sums import batch
from suffice.sums.batch import scored_rows
from suffice.sums.block import BadCell, SparseBlock, require_held, tiles
from suffice.sums.vocabulary import Vocabulary

# -- blocks of some columns, and whole numbers that become doubles


B = 2**53


def laid_out(x: np.ndarray, how: str) -> np.ndarray:
    if how == "swapped":
        return x.astype(x.dtype.newbyteorder())
    return {"rows": x, "columns": np.asfortranarray(x), "steps": np.repeat(x, 2, axis=1)[:, ::2]}[
        how
    ]


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("how", ["rows", "columns", "steps", "swapped"])
class TestWholeNumbers:
    def test_become_doubles_part_by_part(self, dtype: type, how: str) -> None:
        x = np.arange(600_000, dtype=dtype).reshape(-1, 3) * dtype(2**30)
        parts = list(tiles(laid_out(x, how), np.float64))
        assert len(parts) == 3
        for start, part in parts:
            assert part.dtype == np.float64
            assert_array_equal(part, x[start : start + len(part)].astype(np.float64))

    @pytest.mark.parametrize("read", [require_held, lambda x: list(tiles(x, np.float64))])
    def test_are_refused_where_doubles_hold_others(
        self, dtype: type, how: str, read: Callable[[np.ndarray], object]
    ) -> None:
        x = np.zeros((200_000, 3), dtype)
        x[7, 0], x[150_000, 1], x[150_000, 2] = B + 2, B + 1, B + 3
        with pytest.raises(BadCell) as caught:
            read(laid_out(x, how))
        assert (caught.value.row, caught.value.column, caught.value.value) == (150_000, 1, B + 1)


# -- scores of many classes are computed some rows at a time, which changes nothing


def table(n: int) -> pa.Table:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    words = rng.choice(["u", "v"], n)
    return pa.table({"x": rng.normal(size=n) + y, "w": words, "y": [f"c{c}" for c in y]})


@pytest.mark.parametrize("make", [NaiveBayes, LogisticRegression])
def test_parts_of_batches_are_answered_as_whole_ones(
    make: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = table(500)
    model = make().fit(rows, "y")

    def said() -> list[Any]:
        tables = pa.concat_tables(model.predict_batches(rows, proba=True))
        probabilities = model.predict_proba(rows).tobytes()
        evaluation = model.evaluate(rows, "y")
        figures = evaluation.confusion, evaluation.log_loss, evaluation.roc_area
        return [
            model.predict(rows).tolist(),
            probabilities,
            tables.to_pydict(),
            *figures,
            model.score(rows, "y"),
        ]

    whole = said()
    monkeypatch.setattr(batch, "SCORES", 3 * 64)
    assert scored_rows(3) == 64
    assert said() == whole


def test_a_bad_cell_is_named_by_its_row_in_a_later_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(500)
    model = NaiveBayes().fit(rows, "y")
    monkeypatch.setattr(batch, "SCORES", 3 * 64)
    x = rows["x"].to_numpy().copy()
    x[300] = np.inf
    with pytest.raises(DataError, match="column 'x', row 300: inf"):
        model.predict(rows.set_column(0, "x", pa.array(x)))


# -- rows of a sparse matrix whose cells are in parts, or not in order


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


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
@pytest.mark.parametrize("make", [MultinomialNB, BernoulliNB, GaussianNB, LogisticRegression])
def test_a_sum_beyond_64_bits_is_refused(make: Any, dtype: Any) -> None:
    parts = np.array([2**62] * 4 + [1], dtype), [3, 3, 3, 3, 0], [0, 4, 5]
    x = csr_matrix(parts, shape=(2, 5))
    said = "'?x?3'?.*row 0: 18446744073709551616; a sum of whole numbers has at most 64 bits"
    with pytest.raises(DataError, match=said):
        make().fit(x, [0, 1])


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
