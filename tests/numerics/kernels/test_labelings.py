"""Folds, sums and scores of many labelings, beside NumPy and scikit-learn."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from suffice.numerics import kernels

from .recorded import check

labelings = kernels.labelings
SHAPES = (
    (1, 1, 1, 2, 2),
    (3, 37, 2, 2, 5),
    (5, 200, 3, 9, 3),
    (2, 300, 20, 3, 12),
    (2, 150, 4, 2, 40),
)


def labels(random: np.random.Generator, p: int, n: int, k: int, f: int) -> Any:
    return (random.integers(0, bound, (p, n)).astype(np.uint8) for bound in (k, f))


def tables(random: np.random.Generator, p: int, d: int, k: int, f: int) -> Any:
    return random.standard_normal((3, k, p * f * d))


def cases() -> Iterator[tuple[str, list[Any]]]:
    random, labelings = np.random.default_rng(7), kernels.labelings
    for p, n, d, k, f in SHAPES:
        codes, folds = labels(random, p, n, k, f)
        x, sums = random.standard_normal((n, d)), np.zeros((p, f * k, d))
        labelings.add_rows(x, codes, folds, k, sums)
        sizes = np.zeros((p, f * k))
        labelings.tally(codes, folds, k, sizes)
        first = n // 3
        out = np.empty((p, k, n - first))
        labelings.start(random.standard_normal((p * f, k)), first, folds, out)
        across = np.ascontiguousarray(x.T)
        labelings.add_squares(across, first, folds, *tables(random, p, d, k, f), out)
        table = random.standard_normal((p * f, 7, -(-k // 8) * 8))
        places = random.integers(0, 7, (n, d)).astype(np.int32)
        labelings.add_table(places, first, folds, table, out)
        out[:, :, ::5] = -np.inf
        hits, otherwise = np.zeros((p, f)), random.integers(0, k, (p, f)).astype(np.uint8)
        labelings.hits(out, first, codes, folds, otherwise, hits)
        divided, whole = np.empty_like(folds), np.empty((p, n), np.intp)
        labelings.stratify_bytes(codes, k, f, divided)
        labelings.stratify(codes.astype(np.intp), k, f, whole)
        results = [sums, sizes, out, hits, divided, whole]
        yield f"labelings {p} {n} {d} {k} {f}", results


def test_as_recorded() -> None:
    check("labelings", cases())


@pytest.mark.parametrize("k", [2, 5, 30])
@pytest.mark.parametrize("f", [2, 5, 11])
def test_folds_are_those_of_scikit_learn(k: int, f: int) -> None:
    random = np.random.default_rng(k)
    codes = random.permuted(np.tile(np.repeat(np.arange(k), np.arange(k) + f), (3, 1)), axis=1)
    found, of_bytes = np.empty_like(codes), np.empty(codes.shape, np.uint8)
    labelings.stratify(codes, k, f, found)
    labelings.stratify_bytes(codes.astype(np.uint8), k, f, of_bytes)
    np.testing.assert_array_equal(found, of_bytes)
    for row, fold in zip(codes, found, strict=True):
        for g, (_, test) in enumerate(StratifiedKFold(f).split(row, row)):
            np.testing.assert_array_equal(np.flatnonzero(fold == g), test)


@pytest.mark.parametrize(("p", "n", "d", "k", "f"), SHAPES)
def test_sums_are_those_of_the_rows(p: int, n: int, d: int, k: int, f: int) -> None:
    random = np.random.default_rng(n)
    codes, folds = labels(random, p, n, k, f)
    x = random.integers(-9, 9, (n, d)).astype(np.float64)
    sums, sizes = np.zeros((p, f * k, d)), np.empty((p, f * k))
    labelings.add_rows(x, codes, folds, k, sums)
    labelings.tally(codes, folds, k, sizes)
    for one in range(p):
        for g in range(f):
            for c in range(k):
                rows = (codes[one] == c) & (folds[one] == g)
                assert sizes[one, g * k + c] == rows.sum()
                np.testing.assert_array_equal(sums[one, g * k + c], x[rows].sum(axis=0))


@pytest.mark.parametrize(("p", "n", "d", "k", "f"), SHAPES)
def test_scores_are_those_of_each_fold(p: int, n: int, d: int, k: int, f: int) -> None:
    random = np.random.default_rng(n + 1)
    codes, folds = labels(random, p, n, k, f)
    x, first = random.standard_normal((n, d)), n // 4
    mean, root, log_scale = tables(random, p, d, k, f)
    table = random.standard_normal((p * f, 7, -(-k // 8) * 8))
    places = random.integers(0, 7, (n, d)).astype(np.int32)
    prior, out = random.standard_normal((p * f, k)), np.empty((p, k, n - first))
    labelings.start(prior, first, folds, out)
    labelings.add_squares(np.ascontiguousarray(x.T), first, folds, mean, root, log_scale, out)
    squares = out.copy()
    labelings.add_table(places, first, folds, table, out)
    hits, otherwise = np.zeros((p, f)), np.zeros((p, f), np.uint8)
    labelings.hits(out, first, codes, folds, otherwise, hits)
    expected_hits = np.zeros((p, f))
    for one in range(p):
        model = one * f + folds[one].astype(np.intp)
        for g in range(f):
            rows = np.flatnonzero(folds[one] == g)
            rows, own = rows[rows >= first], one * f + g
            alone = np.empty((len(rows), k), order="F")
            alone[:] = prior[own]
            of_model = slice(own * d, (own + 1) * d)
            terms = (part[:, of_model].copy() for part in (mean, root, log_scale))
            kernels.squares.add_gaussian(x[rows], *terms, alone)
            assert squares[one][:, rows - first].T.tobytes() == alone.tobytes()  # to the last bit
        rows = np.arange(first, n)
        expected = squares[one] + table[model[rows, None], places[rows]].sum(axis=1)[:, :k].T
        np.testing.assert_allclose(out[one], expected, atol=1e-11)
        right = out[one].argmax(axis=0) == codes[one, first:]
        expected_hits[one] = np.bincount(folds[one, first:], right, minlength=f)
    np.testing.assert_array_equal(hits, expected_hits)


def test_wrong_arrays_are_refused() -> None:
    codes, folds = np.zeros((2, 4), np.uint8), np.ones((2, 4), np.uint8)
    with pytest.raises(ValueError, match="codes must be below the number of classes"):
        labelings.tally(folds, codes, 1, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="folds must be below their number"):
        labelings.tally(codes, folds, 2, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="scores must be of rows of the labelings"):
        labelings.start(np.zeros((4, 3)), 2, folds, np.zeros((2, 3, 3)))
    with pytest.raises(ValueError, match="every labeling must have a model"):
        labelings.start(np.zeros((3, 3)), 0, folds, np.zeros((2, 3, 3)))
    table, places = np.zeros((4, 3, 2)), np.zeros((4, 1), np.int32)
    with pytest.raises(ValueError, match="rounded up to eights"):
        labelings.add_table(places, 0, folds, table, np.zeros((2, 2, 4)))
    with pytest.raises(ValueError, match="there must be folds, and not more"):
        labelings.stratify_bytes(codes, 1, 0, folds)
