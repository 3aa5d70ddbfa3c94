"""Log-likelihoods of blocks, and best classes."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.sparse import random_array

from suffice.numerics import kernels

from .recorded import check
from .rows import KINDS, rows, scores, shapes

SCORED = tuple(shapes((1, 3, 5, 8, 9, 17)))


def by_event(terms: Any) -> Any:
    """A table (k, m) as it is read: (m, k), k rounded up to whole class tiles."""
    k, m = terms.shape
    table = np.zeros((m, -(-k // 8) * 8))
    table[:, :k] = terms.T
    return table


def of_numbers() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(3)
    for n, d, k in (*SCORED, (0, 5, 3)):
        students: list[Any] = []
        counts: list[Any] = []
        for kind in KINDS if n else KINDS[:1]:
            x, out = rows(random, n, d, kind), scores(random, n, k, "CF-"[d % 3])
            if d % 2:
                x = np.asfortranarray(x)
            tables = random.standard_normal((3, k, d))
            student = tables[0], abs(tables[1]), 1.0 + abs(tables[2]), tables[0] - tables[1]
            stopped = kernels.scores.add_student(x, *student, out)
            students += stopped, out.copy()
            slope = np.where(random.random((k, d)) < 0.05, -np.inf, tables[0])
            kernels.scores.add_linear(x, slope, out)
            counts.append(out)
        yield f"add_student {n} {d} {k}", students
        yield f"add_linear {n} {d} {k}", counts
        values = random.integers(-1, 2, (n, d)).astype(np.int8)
        out = scores(random, n, k, "FC-"[d % 3])
        kernels.scores.add_binary(values, tables[1], tables[2], out)
        yield f"add_binary {n} {d} {k}", [out]


def of_categories() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(4)
    for n, d, k in (*SCORED, (0, 5, 3)):
        low, size = random.integers(-3, 3, d), random.integers(0, 6, d)
        offsets = np.concatenate([[0], np.cumsum(size + 1)])
        values = random.integers(-5, 9, (n, d))
        values[random.random((n, d)) < 0.02] = random.choice([-(2**63), 2**63 - 1])
        table = by_event(random.standard_normal((k, offsets[-1])))
        out = scores(random, n, k, "FC-"[d % 3])
        kernels.scores.add_table(values, low, size, offsets, table, out)
        yield f"add_table {n} {d} {k}", [out]


def of_sparse() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(5)
    dtypes = np.float64, np.float32, np.int64, np.int32, np.uint8, bool
    for (n, d, k), dtype, index in product(SCORED[::9], dtypes, (np.int32, np.int64)):
        counts = random_array((n, d + 2), density=0.2, format="csr", rng=random)
        data = (counts.data * 9 - 1).astype(dtype)
        cells = data, counts.indices.astype(index), counts.indptr.astype(index)
        slope = by_event(random.standard_normal((k, d)))
        out = scores(random, n, k, "FC-"[d % 3])
        kernels.scores.add_sparse_linear(*cells, slope, out)
        yield f"add_sparse_linear {n} {d} {k} {np.dtype(dtype)} {np.dtype(index)}", [out]


def of_best() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(6)
    for n, k in product((0, 1, 7, 8, 9, 511, 512, 513, 1_100), (1, 2, 5, 17)):
        given = np.empty((k, n + 1)).T[:n]
        given[:] = random.integers(-2, 3, (n, k))
        given[random.random((n, k)) < 0.4] = -np.inf
        given[random.random((n, k)) < 0.1] = np.nan
        best = np.zeros(n, np.intp)
        yield f"best_class {n} {k}", [kernels.scores.best_class(given, best), best]


def test_as_recorded() -> None:
    check("scores", (*of_numbers(), *of_categories(), *of_sparse(), *of_best()))


def test_a_table_has_a_row_for_every_value() -> None:
    values, low, size, offsets = np.ones((4, 2), np.int64), *np.array([[0, 0], [2, 1], [0, 3]])
    table, out = np.ones((5, 8)), np.zeros((4, 2))
    kernels.scores.add_table(values, low, size, offsets, table, out)
    assert out.all()
    for wrong in (
        (low, size, offsets, table[:4]),
        (low, size, offsets, table[:, :7].copy()),
        (low, -size, offsets, table),
        (low, size, offsets - 1, table),
        (low, size, offsets[:1], table),
        (low, size + 2**62, offsets, table),
    ):
        with pytest.raises(ValueError, match=r"row of the table|whole class tiles"):
            kernels.scores.add_table(values, *wrong, out)


def test_rows_that_are_no_compressed_rows_are_refused() -> None:
    data, indices, slope, out = np.ones(3), np.zeros(3, np.int32), np.ones((2, 8)), np.zeros((2, 1))
    for indptr in ([0, 1], [0, 1, 4], [-1, 1, 3], [0, 2, 1], []):
        with pytest.raises(ValueError, match="indptr"):
            kernels.scores.add_sparse_linear(data, indices, np.array(indptr, np.int32), slope, out)
    starts = np.array([0, 1, 3])
    with pytest.raises(ValueError, match="indices"):
        kernels.scores.add_sparse_linear(data, indices[:2], starts, slope, out)
    for dtype, largest in ((np.int32, 2**31 - 1), (np.int64, 2**62)):
        far, found = np.array([-1, largest, 1], dtype), np.zeros((2, 1))
        kernels.scores.add_sparse_linear(data, far, starts, slope, found)
        np.testing.assert_array_equal(found, [[0.0], [1.0]])


def test_terms_of_student_add_up_to_its_sums() -> None:
    random = np.random.default_rng(4)
    for n, d, k in ((1, 1, 1), (9, 3, 2), (70, 5, 4)):
        x, parameters = random.normal(size=(n, d)), random.random((4, k, d)) + 0.1
        x[random.random((n, d)) < 0.2] = np.nan
        sums, terms = np.zeros((n, k)), np.full((d, k, n), 7.0)
        kernels.scores.add_student(x, *parameters, sums)
        kernels.scores.student_terms(x, *parameters, terms)
        np.testing.assert_allclose(terms.sum(axis=0).T, sums, rtol=1e-12, atol=1e-12)
        assert (terms.transpose(2, 0, 1)[np.isnan(x)] == 0).all()
