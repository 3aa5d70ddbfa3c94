"""Counts of codes and of events."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

from .recorded import check
from .tables import codes_of, rows_of, shapes

WHOLE = [np.dtype(f"{kind}{size}") for kind in "iu" for size in (1, 2, 4, 8)]
DATA = [np.dtype(bool), *WHOLE, np.dtype(np.float32), np.dtype(np.float64)]


def labels(random: np.random.Generator) -> Iterator[tuple[str, list[Any]]]:
    for dtype in WHOLE:
        for n, width in ((0, 3), (1, 2), (9, 60), (1_000, 90)):
            low = dtype.type(3 if dtype.kind == "u" else -20)
            values = (low + random.integers(0, width, n)).astype(dtype)
            seen, codes = np.zeros(width, np.bool_), np.zeros(n, np.intp)
            kernels.counts.mark(values, low, seen)
            kernels.counts.look_up(values, low, np.arange(width) * 7, codes)
            yield f"mark {dtype} {n} {width}", [seen, codes]
            name = f"read_codes {dtype} {n} {width}"
            stored, shown = random.integers(0, width, n).astype(dtype), np.zeros(width + 1, bool)
            written = np.zeros(n, np.int32)
            bits = random.integers(0, 256, n // 8 + 2).astype(np.uint8)
            for valid, first in ((bits[:0], 0), (bits, 5)):
                fine = kernels.counts.read_codes(stored, valid, first, written, shown)
                yield f"{name} {first}", [fine, written, shown]
            fine = kernels.counts.read_codes(stored, bits, 3, written, shown[: width // 2])
            yield f"{name} beyond", [fine]
            yield f"{name} below", [kernels.counts.are_below(values, width // 2, 0)]
        wide = np.array([0, 5, 2**33 if dtype.itemsize == 8 else 99]).astype(dtype)
        yield f"are_below {dtype}", [kernels.counts.are_below(wide, 100, 0)]
    for n, k in ((0, 1), (1, 2), (10, 3), (1_001, 5)):
        codes = codes_of(random, n, k)
        for weights in (np.empty(0), random.exponential(size=n)):
            table, rest = random.random((k, 2)), random.random((1, 2))
            fine = kernels.counts.add_rows(codes, weights, table, rest)
            yield f"add_rows {n} {len(weights)}", [fine, table, rest]
        yield f"add_rows beyond {n}", [kernels.counts.add_rows(codes + k, weights, table, rest)]


def cells(random: np.random.Generator) -> Iterator[tuple[str, list[Any]]]:
    for n, d in shapes():
        k = 3
        codes, weights = codes_of(random, n, k), random.exponential(size=n)
        size = random.integers(1, 9, d)
        low, offsets = random.integers(-4, 4, d), np.cumsum(size) - size
        for dtype in (np.int32, np.int64):
            values = (low + random.integers(0, 99, (n, d)) % size).astype(dtype)
            bounds = low, size, offsets
            for name in ("inside", "beyond"):
                tally, table = np.zeros((k, size.sum()), np.int64), np.zeros((k, 2, size.sum()))
                first = kernels.counts.add_codes(values, *bounds, codes, tally)
                second = kernels.counts.add_weighted_codes(values, *bounds, codes, weights, table)
                yield f"add_codes {n} {d} {dtype.__name__} {name}", [first, tally, second, table]
                if n:
                    values[n // 2, d // 2] += 100
        binary, tally = random.integers(-1, 2, (n, d)).astype(np.int8), np.zeros((k, 3 * d), int)
        kernels.counts.add_binary(binary, codes, tally)
        yield f"add_binary {n} {d}", [tally]
        for kind in ("normal", "gaps", "wide", "infinite"):
            x, sums = rows_of(random, kind, n, d), np.zeros((2, k, d))
            for w in (weights[:0], weights):
                kernels.counts.add_events(x, codes, w, *sums)
                yield f"add_events {n} {d} {kind} {len(w)}", [sums]


def events(random: np.random.Generator) -> Iterator[tuple[str, list[Any]]]:
    for n, d in ((0, 3), (1, 1), (9, 40), (300, 1_000)):
        codes, weights = codes_of(random, n, 3), random.exponential(size=n)
        stored = random.integers(0, min(d, 30) + 1, n)
        indptr = np.concatenate([[0], np.cumsum(stored)])
        indices = random.integers(0, d, indptr[-1])
        numbers = 3.0 * random.random(indptr[-1])
        for dtype in DATA:
            data = numbers.astype(dtype)
            for largest in (0.5, 2.0, 1e150):
                yield (
                    f"are_counts {n} {dtype} {largest}",
                    [kernels.counts.are_counts(data, largest)],
                )
            if dtype.kind == "f" and len(data):
                data[0] = np.nan
            for place in (np.int32, np.int64):
                for w in (weights[:0], weights):
                    sums = np.zeros((2, 3, d))
                    csr = data, indices.astype(place), indptr.astype(place)
                    kernels.counts.add_sparse_events(*csr, codes, w, *sums)
                    yield f"events {n} {dtype} {place.__name__} {len(w)}", [sums]


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(2)
    yield from labels(random)
    yield from cells(random)
    yield from events(random)


def test_as_recorded() -> None:
    with np.errstate(all="ignore"):
        check("counts", cases())


def test_what_would_be_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="places in seen"):
        kernels.counts.mark(np.array([1, 9]), 1, np.zeros(8, bool))
    with pytest.raises(ValueError, match="places in table"):
        kernels.counts.look_up(np.array([0]), 1, np.zeros(8, int), np.zeros(1, int))
    codes, tally = np.zeros(2, int), np.zeros((1, 4), int)
    values, low, size, offsets = np.zeros((2, 1), int), np.zeros(1, int), np.array([4]), np.ones(1)
    with pytest.raises(ValueError, match="must have its places"):
        kernels.counts.add_codes(values, low, size, offsets.astype(int), codes, tally)
    with pytest.raises(ValueError, match="codes must be below 1"):
        kernels.counts.add_codes(values, low, size, low, codes + 1, tally)
    csr, sums = (np.ones(2), np.array([0, 5]), np.array([0, 1, 2])), np.zeros((2, 1, 5))
    with pytest.raises(ValueError, match="below the number of columns"):
        kernels.counts.add_sparse_events(*csr, codes, np.empty(0), *sums)
    csr = np.ones(2), np.array([0, 4]), np.array([0, 1, 3])
    with pytest.raises(ValueError, match="must not decrease"):
        kernels.counts.add_sparse_events(*csr, codes, np.empty(0), *sums)
    bits = np.zeros(1, np.uint8)
    with pytest.raises(ValueError, match="fewer bits"):
        kernels.counts.read_codes(codes, bits, 7, np.zeros(2, np.int32), np.zeros(2, bool))
