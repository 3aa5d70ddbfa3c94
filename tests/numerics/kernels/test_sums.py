"""Sums over rows: pairs, counts, moments, co-moments, columns and bins."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from suffice.numerics import kernels
from suffice.sums.bins import CELLS

from .inputs import powers_of_ten
from .recorded import check
from .tables import KINDS, codes_of, rows_of, shapes

# -- arrays of pairs


SIZES = (0, 1, 2, 7, 8, 9, 15, 64, 1_000)


def some(random: np.random.Generator, *shape: int) -> Any:
    """Numbers of many magnitudes, with zeros, infinities and no numbers."""
    values = random.standard_normal(shape) * powers_of_ten(random.integers(-9, 9, shape))
    values[random.random(shape) < 0.05] = 0.0
    strange = random.random(shape) < 0.01
    values[strange] = random.choice([np.inf, -np.inf, np.nan, -0.0, 1e300], strange.sum())
    return values


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(0)
    for n in SIZES:
        a, b = some(random, 2, n), some(random, 2, n)
        for lo in (a[1], b[1]):
            lo *= 1e-17
        for sign in (1.0, -1.0):
            out = np.zeros((2, n))
            kernels.sums.add_pairs(*a, *b, sign, *out)
            yield f"add_pairs {n} {sign}", [out]
        alone = np.zeros((2, n))
        for row in ((*a, 1.0), (*b, 1.0), (*b, -1.0)):
            kernels.sums.add_pairs(alone[0].copy(), alone[1].copy(), *row, *alone)
        parts = np.stack([np.stack([a, b, -b])[:, i] for i in range(2)])
        together = np.zeros((2, n))
        kernels.sums.sum_pairs(*parts, *together)
        np.testing.assert_array_equal(together, alone)
        pairs = some(random, 3, 2, n)
        for factor in (3.0, 0.1, np.inf):
            out = np.zeros_like(pairs)
            kernels.sums.scale(pairs, factor, out)
            yield f"scale {n} {factor}", [out]
        hi, lo = some(random, 4, n), some(random, 4, n)
        lo[1] = 0.0
        kernels.sums.normalise(hi, lo)
        yield f"normalise {n}", [hi, lo]


def test_as_recorded() -> None:
    check("sums", cases())


# -- counts of codes and of events


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


def cases_of_counts() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(2)
    yield from labels(random)
    yield from cells(random)
    yield from events(random)


def test_as_recorded_counts() -> None:
    with np.errstate(all="ignore"):
        check("counts", cases_of_counts())


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


# -- class-wise moments


def empty(k: int, d: int) -> list[Any]:
    return [np.zeros((k, 2, d)), np.zeros((k, d)), np.zeros((k, 4, d))]


def summary(state: list[Any]) -> list[Any]:
    out = [np.empty_like(state[1]) for _ in range(3)]
    kernels.moments.mean_and_scatter(*state, *out)
    return out


def cases_of_moments() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(1)
    for n, d in shapes():
        for kind in KINDS:
            k = (1, 3, 9)[(n + d) % 3]
            x, codes = rows_of(random, kind, n, d), codes_of(random, n, k)
            state = empty(k, d)
            stopped = kernels.moments.add_rows(x, codes, *state)
            yield f"add_rows {n} {d} {kind}", [stopped, *state]
            weighted = empty(k, d)
            weights = random.exponential(size=n)
            stopped = kernels.moments.add_weighted_rows(x, codes, weights, *weighted)
            yield f"add_weighted_rows {n} {d} {kind}", [stopped, *weighted]
            yield from changed(f"{n} {d} {kind}", state, weighted)
            more = rows_of(random, kind, n, d)[: n // 2]
            stopped = kernels.moments.add_rows(more, codes[: n // 2], *state)
            yield f"more {n} {d} {kind}", [stopped, *state]
    for n, d, k in ((13_000, 1, 2), (30_000, 3, 4), (6_000, 50, 5)):
        x, codes, state = rows_of(random, "normal", n, d), codes_of(random, n, k), empty(k, d)
        x[n // 2 :] *= 1e3  # the bias is too small from here on
        stopped = kernels.moments.add_rows(x, codes, *state)
        yield f"many {n} {d}", [stopped, *state, *summary(state)]


def changed(name: str, state: list[Any], other: list[Any]) -> Iterator[tuple[str, list[Any]]]:
    """Means, and states that were merged, parted and centred anew."""
    yield f"mean {name}", summary(state)
    both = [array.copy() for array in state]
    yield f"merge {name}", [kernels.moments.merge(*both, *other, 1.0), *both]
    yield f"forget {name}", [kernels.moments.merge(*both, *other, -1.0), *both]
    yield f"forget all {name}", [kernels.moments.merge(*both, *state, -1.0), *both]
    first = [array[:1].copy() for array in state]
    kernels.moments.merge_classes(*first, *state)
    yield f"merge_classes {name}", first
    kernels.moments.recentre(*other)
    yield f"recentre {name}", [*other, *summary(other)]


def test_as_recorded_moments() -> None:
    with np.errstate(all="ignore"):
        check("moments", cases_of_moments())


def test_rows_that_lie_otherwise_give_the_same() -> None:
    x, codes = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    expected, found = empty(2, 3), empty(2, 3)
    kernels.moments.add_rows(x, codes, *expected)
    apart = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    apart[:] = x
    kernels.moments.add_rows(apart, np.repeat(codes, 2)[::2], *found)
    for a, b in zip(expected, found, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "i2", "i4", "u1", "u2", "u4", "?"])
@pytest.mark.parametrize(
    ("shape", "order"),
    [((700, 3), "C"), ((700, 19), "F"), ((9, 1), "every second"), ((300, 8), "wider")],
)
def test_numbers_of_every_type_and_order_give_the_same(
    shape: tuple[int, int], kind: str, order: str
) -> None:
    rng = np.random.default_rng(7)
    numbers = rng.integers(0, 2 if kind == "?" else 100, shape).astype(kind)
    codes = rng.integers(-1, 3, len(numbers))
    lying = {
        "C": numbers,
        "F": np.asfortranarray(numbers),
        "every second": np.repeat(numbers, 2, axis=1)[:, ::2],
        "wider": np.hstack([numbers, numbers])[:, : shape[1]],
    }[order]
    expected, found = empty(3, shape[1]), empty(3, shape[1])
    assert kernels.moments.add_rows(numbers.astype(np.float64), codes, *expected) == -1
    assert kernels.moments.add_rows(lying, codes, *found) == -1
    for a, b in zip(expected, found, strict=True):
        assert a.tobytes() == b.tobytes()


# -- co-moments of groups


SHAPES = (
    [(n, d, 0) for n in (0, 1, 7, 9, 265, 1_111) for d in (1, 3, 8, 9, 17, 33)]
    + [(n, d, t) for n in (1, 9, 300) for d, t in ((4, 1), (8, 2), (7, 3), (0, 2))]
    + [(300, 70, 0), (70_000, 2, 0), (3_000, 50, 1)]
)
OF_ROWS = (
    "normal",
    "far",
    "whole",
    "wide",
    "constant",
    "float32",
    "gaps",
    "large",
    "infinite",
)


def empty_of_comoments(product_index: Any, d: int) -> list[Any]:
    g, matrices = len(product_index), max([*product_index, -1]) + 1
    sums = [np.zeros((g, 2)), np.zeros((g, d)), np.zeros((g, 2, d))]
    return [*sums, np.array(product_index, np.intp), np.zeros((matrices, 2, d, d))]


def copied(state: list[Any]) -> list[Any]:
    return [array.copy() for array in state]


def summary_of_comoments(state: list[Any]) -> list[Any]:
    out = np.zeros_like(state[4])
    kernels.comoments.scatter(state[0], *state[2:], out)
    return [*state, out]


def cases_of_comoments() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(4)
    for q, (n, d, t) in enumerate(SHAPES):
        for kind in OF_ROWS if n < 50_000 else OF_ROWS[:2]:
            product_index = ([0], [0, 0, 0], [0, 1, 2], [-1, 0, 0, 1])[(q + len(kind)) % 4]
            codes = codes_of(random, n, len(product_index))
            rows = rows_of(random, kind, n, d + t)
            x, y = (np.ascontiguousarray(part) for part in (rows[:, :d], rows[:, d:]))
            name = f"{n} {d} {t} {kind}"
            for weights in (np.empty(0), random.exponential(size=n)):
                more = empty_of_comoments(product_index, d + t)
                stopped = kernels.comoments.add_rows(x, y, codes, weights, *more)
                yield f"add_rows {name} {len(weights)}", [stopped, *more]
                stopped = kernels.comoments.add_rows(x, y, codes, weights, *more)
                yield f"more {name} {len(weights)}", [stopped, *more]
            if n < 300 and kind != "large":
                yield from changed_of_comoments(random, name, more, x, rows)


def changed_of_comoments(
    random: np.random.Generator, name: str, state: list[Any], x: Any, rows: Any
) -> Iterator[tuple[str, list[Any]]]:
    """Groups that were merged, parted and centred anew, and groups of single rows."""
    n, d = rows.shape
    yield f"scatter {name}", summary_of_comoments(state)
    product_index = [-1] * (n // 2) + [0] * (n - n // 2)
    single = empty_of_comoments(product_index, d)
    kernels.comoments.add_scattered_rows(rows, random.permutation(n), np.empty(0), *single)
    yield f"scattered {name}", single
    weighted = empty_of_comoments(product_index, d)
    weights = random.exponential(size=n)
    kernels.comoments.add_scattered_rows(rows, np.arange(n), weights, *weighted)
    yield f"scattered, weighted {name}", weighted
    if not single[4].size:
        return
    both, place = copied(weighted), random.permutation(n)
    for sign in (1.0, -1.0):
        both[4] += 0.0
        stopped = kernels.comoments.merge(*both, *single[:3], place, sign)
        yield f"merge {name} {sign}", [stopped, *both]
    before = np.abs(random.standard_normal((len(state[4]), d)))
    yield f"settle {name}", [kernels.comoments.settle(*state, before), *state]
    yield f"settle, level {name}", [kernels.comoments.settle(*state, before * 1e40), *state]
    for groups in (state, weighted):
        kernels.comoments.recentre(*groups)
        groups[1][groups[0][:, 0] == 0.0] = 0.0  # a group without rows has no pivot
        yield f"recentre {name} {groups is state}", summary_of_comoments(groups)


def test_as_recorded_comoments() -> None:
    with np.errstate(all="ignore"):
        check("comoments", cases_of_comoments())


def test_wrong_arrays_are_refused() -> None:
    state, codes, weights = empty_of_comoments([0, 1], 3), np.zeros(4, np.intp), np.empty(0)
    x, y = np.zeros((4, 2)), np.zeros((4, 1))
    kernels.comoments.add_rows(x, y, codes, weights, *state)
    with pytest.raises(ValueError, match="the columns of pivot"):
        kernels.comoments.add_rows(x, x, codes, weights, *state)
    with pytest.raises(ValueError, match="codes must be below 2"):
        kernels.comoments.add_rows(x, y, codes + 2, weights, *state)
    with pytest.raises(ValueError, match="product_index must be below 1"):
        kernels.comoments.add_rows(x, y, codes, weights, *state[:4], state[4][:1].copy())
    product_index = np.array([1, 0])
    with pytest.raises(ValueError, match="side by side"):
        kernels.comoments.add_rows(x, y, codes, weights, *state[:3], product_index, state[4])
    with pytest.raises(ValueError, match="groups must be from 0"):
        kernels.comoments.add_scattered_rows(np.zeros((4, 3)), codes - 1, weights, *state)


# -- numbers of any column into doubles, and columns into rows


def cases_of_columns() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(3)
    for n, d in shapes():
        x = np.asfortranarray(random.standard_normal((n, d)))
        rows = np.zeros((n, d))
        kernels.columns.to_rows(x, rows)
        yield f"to_rows {n} {d}", [rows]
        kernels.columns.to_rows(np.asfortranarray(np.vstack([x, x]))[: x.shape[0]], rows)
        yield f"to_rows, apart {n} {d}", [rows]
        bits = random.integers(0, 256, n // 8 + 2).astype(np.uint8)
        for dtype in (np.float64, np.int64):
            values = (100.0 * x[:, 0]).astype(dtype)
            column = np.zeros(n)
            for j, valid, first in ((d - 1, bits[:0], 0), (d // 2, bits, 7)):
                kernels.columns.read(values, valid, first, column)
                rows[:, j] = column
            yield f"place {n} {d} {dtype.__name__}", [rows]
    for dtype in (np.int64, np.uint64):
        values = np.array([[1, 2, 2**53 + 1], [2**62, 5, 6]], dtype)
        for highest in (2**62, 2**62 - 1):
            numbers = np.zeros((2, 3))
            fine = kernels.columns.to_doubles(values, dtype(0), dtype(highest), numbers)
            yield f"to_doubles {dtype.__name__} {highest}", [fine, numbers]


def test_as_recorded_columns() -> None:
    check("columns", cases_of_columns())


def test_columns_are_written_among_others() -> None:
    x, rows = np.arange(170.0).reshape(17, 10, order="F"), np.zeros((17, 12))
    kernels.columns.to_rows(x, rows[:, 1:11])
    assert (rows == np.pad(x, ((0, 0), (1, 1)))).all()


# -- counts of cells are added, taken away and read from a tally, against dictionaries


Arrays = tuple[NDArray[Any], ...]


def arrays_of(columns: list[Counter[int]]) -> Arrays:
    """Start, cells and counts."""
    start = np.cumsum([0, *map(len, columns)])
    cells = [cell for column in columns for cell in sorted(column)]
    counts = [column[cell] for column in columns for cell in sorted(column)]
    return start, np.array(cells, np.uint16), np.array(counts, np.float64)


def combined(a: Arrays, b: Arrays, sign: float) -> tuple[int, Arrays]:
    size = len(a[1]) + len(b[1])
    found = np.empty_like(a[0]), np.empty(size, np.uint16), np.empty(size)
    many = kernels.bins.add(*a, *b, sign, *found)
    return many, (found[0], found[1][:many], found[2][:many])


def drawn(rng: np.random.Generator, columns: int) -> list[Counter[int]]:
    return [Counter(rng.integers(0, 9, rng.integers(0, 12)).tolist()) for _ in range(columns)]


@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_counts_are_added_and_taken_away(seed: int, columns: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = drawn(rng, columns), drawn(rng, columns)
    both = [x + y for x, y in zip(a, b, strict=True)]
    many, found = combined(arrays_of(a), arrays_of(b), 1.0)
    assert many == sum(map(len, both))
    for x, y in zip(found, arrays_of(both), strict=True):
        assert x.tolist() == y.tolist()
    many, rest = combined(found, arrays_of(b), -1.0)
    assert many == sum(map(len, a))
    for x, y in zip(rest, arrays_of(a), strict=True):
        assert x.tolist() == y.tolist()


def test_sums_that_are_no_double_and_negative_ones_are_left_to_others() -> None:
    one, tiny = (np.array([0, 1]), np.array([3], np.uint16), np.ones(1)), 2.0**-60
    assert combined(one, (*one[:2], np.array([tiny])), 1.0)[0] == -1
    assert combined(one, (*one[:2], np.array([2.0])), -1.0)[0] == -1
    assert combined(one, (one[0], np.array([4], np.uint16), np.ones(1)), -1.0)[0] == -1


def test_cells_of_a_tally() -> None:
    rng = np.random.default_rng(0)
    tally = np.zeros((2, 3 * (CELLS + 1)), np.uint32)
    at = rng.choice(tally.size, 400, replace=False)
    tally.reshape(-1)[at] = rng.integers(1, 2**24, 400)
    tally.reshape(-1)[at[:9]] <<= np.uint32(8)  # nothing is left in the byte
    tally &= np.uint32(2**24 - 1)
    parts = tally.astype(np.uint8), (tally >> np.uint32(8)).astype(np.uint16)
    found = np.empty(7, np.int64), np.empty(400, np.uint16), np.empty(400)
    many = kernels.bins.shown(*parts, *found)
    columns = tally.reshape(6, CELLS + 1)[:, 1:]
    place, cell = np.nonzero(columns)
    assert many == len(cell)
    assert found[0].tolist() == np.searchsorted(place, np.arange(7)).tolist()
    assert found[1][:many].tolist() == cell.tolist()
    assert found[2][:many].tolist() == columns[place, cell].tolist()
    assert kernels.bins.shown(*parts, found[0], found[1][: many - 1], found[2][: many - 1]) == -1


def test_cells_outside_the_grid_are_refused() -> None:
    start, cell, count = np.array([0, 1]), np.array([3], np.uint16), np.ones(1)
    outside = np.array([CELLS], np.uint16)
    with pytest.raises(ValueError, match="none of the grid"):
        kernels.bins.counts_of(start, cell, count, 1, 0, outside, np.zeros((1, 1)))
    with pytest.raises(ValueError, match="none of the grid"):
        kernels.bins.cells_of(start, outside, count, 1, 0, np.zeros(CELLS, np.uint16))


def test_columns_that_do_not_follow_each_other_are_refused() -> None:
    start, cell, count = arrays_of([Counter([1]), Counter([2])])
    with pytest.raises(ValueError, match="the cells of columns follow each other"):
        combined((start[::-1].copy(), cell, count), (start, cell, count), 1.0)
