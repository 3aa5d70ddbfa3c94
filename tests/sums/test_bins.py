"""Binned counts: where numbers lie on a grid that depends on no data."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suffice.errors import ForgetError, ModelFileError, ParameterError
from suffice.numerics import kernels
from suffice.persist import read_model, write_model
from suffice.sums.bins import (
    CELLS,
    BinnedCountAccumulator,
    BinnedCounts,
    cell_bounds,
    room_for,
    tables,
)
from suffice.sums.block import BadCell, RealBlock
from suffice.tree import named

NUMBERS = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-300, 300).map(float),
    st.floats(-300, 300),
    st.sampled_from([2.0**-40, 2.0**40, np.nextafter(2.0**40, 0), np.nextafter(2.0**-40, 0)]),
)
FEW = settings(max_examples=30)


def cells_of(x: np.ndarray) -> np.ndarray:
    """The cell of every number, −1 for NaN: counted as if each were a column."""
    cells, start = np.full(x.size, -1), np.zeros(x.size + 1, np.int64)
    packed, zeros = room_for(4 * x.size), np.zeros(x.size)
    row = x.reshape(1, -1), zeros, np.zeros(1, np.intp), zeros[:0], 1
    kernels.bins.count(*row, *tables(1), start, packed)
    for j in np.flatnonzero(np.diff(start)).tolist():
        found, every = np.zeros(CELLS, np.uint16), np.zeros(CELLS)
        assert kernels.bins.cells_of(start, packed, 1, j, found, every) == 1
        cells[j] = found[0]
    return cells.reshape(x.shape)


def counted(
    x: np.ndarray, codes: np.ndarray | None = None, origin: float = 0.0, k: int = 1
) -> BinnedCounts:
    total = BinnedCountAccumulator(np.full(x.shape[1], origin))
    place = np.zeros(len(x), np.intp) if codes is None else codes
    total.add(RealBlock(x), place, np.empty(0), k)
    return total.statistic()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("width", [1, 8, 11, 70])
@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_those_of_a_table(order: Any, width: int, weighted: bool) -> None:
    rng = np.random.default_rng(width)
    x = np.exp(rng.normal(size=(70_001, width)) * 20) * rng.choice([-1, 1], (70_001, width))
    x[rng.random(x.shape) < 0.1] = np.nan
    x[:, 0] = 1.501
    codes, k = rng.integers(-1, 4, len(x)), 4
    w = rng.integers(0, 9, len(x)) / 8 if weighted else np.empty(0)
    total = BinnedCountAccumulator(np.zeros(width))
    total.add(RealBlock(np.asarray(x, order=order)), codes, w, k)
    high = cell_bounds(np.arange(CELLS))[1]
    found, shown = total.statistic(), codes >= 0
    cells = np.searchsorted(high, x, side="left")  # the first cell that does not end before
    for j in range(width):
        expected = np.zeros((k, CELLS + 1))
        np.add.at(expected, (codes[shown], cells[shown, j]), w[shown] if weighted else 1.0)
        at, counts = found.column(j)
        assert at.tolist() == np.flatnonzero(expected[:, :-1].any(axis=0)).tolist()
        assert (counts == expected[:, at]).all()


def test_classes_that_come_later() -> None:
    x = np.arange(70_000.0)[:, None] % 9
    total = BinnedCountAccumulator(np.zeros(1))
    for k in (1, 2, 3):
        total.add(RealBlock(x), np.full(len(x), k - 1, np.intp), np.empty(0), k)
    codes = np.repeat(np.arange(3), len(x))
    together = counted(np.concatenate([x] * 3), codes, k=3)
    assert total.statistic() == together
    assert total.statistic() == total.statistic()
    assert together.total.sum() == 3 * len(x)


def test_numbers_of_every_type_are_counted_alike() -> None:
    x = np.random.default_rng(0).integers(0, 200, (500, 70))
    kinds = (np.int64, np.uint8, np.float32)
    found = [counted(x.astype(kind)) for kind in kinds]
    assert all(one == counted(x.astype(float)) for one in found)


def cell_by_rule(x: float) -> tuple[int, int, int]:
    """Sign, what sort of cell, and its number, from exact fractions."""
    sign, size = int(math.copysign(1, x)), abs(Fraction(x)) if math.isfinite(x) else None
    if size is None or size >= 2**40:
        return sign, 3, 0
    if size == 0:
        return 0, 0, 0
    if size < Fraction(1, 2**40):
        return sign, 1, 0
    if size.denominator == 1 and size <= 256:
        return sign, 2, -int(size)
    exponent = math.frexp(x)[1] - 1
    part = size / Fraction(2) ** exponent - 1
    return sign, 2, 256 * (exponent + 41) + math.floor(256 * part)


@FEW
@given(NUMBERS, NUMBERS)
def test_numbers_share_a_cell_where_the_rule_says_so(x: float, y: float) -> None:
    a, b = cells_of(np.array([x, y])).tolist()
    assert (a == b) == (cell_by_rule(x) == cell_by_rule(y))


@FEW
@given(NUMBERS, NUMBERS)
def test_cells_have_the_order_of_numbers(x: float, y: float) -> None:
    a, b = cells_of(np.array([min(x, y), max(x, y)])).tolist()
    assert a <= b


def test_counts_are_those_of_a_histogram_by_hand() -> None:
    x = np.array([[1.0, -0.5], [1.0, np.nan], [3.0, 0.0], [1.0, 700.0], [np.nan, 701.0]])
    found = counted(x, np.array([0, 0, 1, 1, 0]), k=2)
    cells, counts = found.column(0)
    assert cells.tolist() == cells_of(np.array([1.0, 3.0])).tolist()
    assert counts.tolist() == [[2.0, 0.0], [1.0, 1.0]]
    _, counts = found.column(1)  # 700 and 701 share a cell that is 2 wide
    assert counts.tolist() == [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]
    assert found.total.tolist() == [[2.0, 2.0], [2.0, 2.0]]


@FEW
@given(st.integers(0, 2**32 - 1), st.sampled_from([10, 3_000]))
@example(36303, 3_000)  # a number of the second column is near 0
def test_numbers_are_counted_in_units(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    x, codes = rng.normal(size=(n, 3)) * [1, 9, 0.1] + 5, rng.integers(0, 2, n)
    x[rng.random(x.shape) < 0.1] = np.nan
    origin, unit = np.array([5.0, 0.0, 4.9]), np.array([0.3, 1.0, 7.0])
    total = BinnedCountAccumulator(origin, unit)
    for rows in (slice(n // 3), slice(n // 3, n)):
        total.add(RealBlock(x[rows]), codes[rows], np.empty(0), 2)
    z = (x - origin) / unit
    own = [True, False, True]  # a grid without units takes numbers as they are
    z = np.where(own & (np.abs(z - np.rint(z)) <= 1e-6), np.rint(z), z)
    found, plain = total.statistic(), counted(z, codes, k=2)
    assert (found.origin.tolist(), found.unit.tolist()) == (origin.tolist(), unit.tolist())
    assert found.start.tolist() == plain.start.tolist()
    assert found.packed.tolist() == plain.packed.tolist()
    assert found != plain
    mixed = plain.with_columns(np.array([1]), found, np.array([2]))
    assert mixed.unit.tolist() == [1.0, 7.0, 1.0]
    assert mixed.origin.tolist() == [0.0, 4.9, 0.0]
    assert found.columns(np.array([2, 0])).unit.tolist() == [7.0, 0.3]
    assert found.take(np.array([1])).unit.tolist() == unit.tolist()
    assert (found + found).scaled(0.5) == found
    assert (found + found) - found == found
    for other in (plain, plain.columns(np.arange(3))):
        with pytest.raises(ParameterError, match="units"):
            _ = found + other


def test_any_order_gives_the_same_file(tmp_path) -> None:  # type: ignore[no-untyped-def]
    rng = np.random.default_rng(3)
    x, codes = rng.normal(size=(500, 3)) * 50, rng.integers(0, 3, 500)
    order = rng.permutation(500)
    parts = [counted(x[rows], codes[rows], k=3) for rows in np.array_split(order, 7)]
    more = counted(x[:40] + 1e6, codes[:40], k=3)
    total = sum(parts[1:], parts[0] + more) - more
    files = []
    for name, statistic in (("a", counted(x, codes, k=3)), ("b", total)):
        write_model(tmp_path / name, "statistic", statistic, types=named(BinnedCounts))
        files.append((tmp_path / name).read_bytes())
    assert files[0] == files[1]
    assert read_model(tmp_path / "b", types=named(BinnedCounts))[1] == total


def test_what_is_refused() -> None:
    with pytest.raises(BadCell) as bad:
        counted(np.array([[1.0, 2.0], [3.0, -np.inf]]))
    assert (bad.value.row, bad.value.column) == (1, 1)
    with pytest.raises(ForgetError) as forgotten:
        counted(np.array([[1.0, 2.0]])) - counted(np.array([[1.0, 4.0]]))
    assert forgotten.value.column == 1
    with pytest.raises(ParameterError, match="origins"):
        counted(np.zeros((1, 1))) + counted(np.zeros((1, 1)), origin=1.0)


@FEW
@given(st.integers(0, 2**32 - 1), st.floats(0.01, 100))
def test_weights_are_added_taken_away_and_scaled(seed: int, factor: float) -> None:
    rng = np.random.default_rng(seed)
    x, codes = rng.normal(size=(300, 2)).round(1), rng.integers(0, 3, 300)
    weights, parts = rng.exponential(size=300), []
    for rows in (slice(300), slice(100), slice(100, 300)):
        total = BinnedCountAccumulator(np.zeros(2))
        total.add(RealBlock(x[rows]), codes[rows], weights[rows], 3)
        parts.append(total.statistic())
    every, one, other = parts
    assert one + other == every == other + one
    assert every - one == other
    assert every - every == BinnedCounts.empty(3, np.zeros(2))
    for j in range(2):
        (cells, counts), (scaled, more) = every.column(j), every.scaled(factor).column(j)
        assert scaled.tolist() == cells.tolist()
        assert np.allclose(more, factor * counts, rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    "packed",
    [
        [0, 0, 128, 0],  # a number with a byte too many
        [0, 0, 3, 2],  # 2 written as a large count
        [0, 0, 3, 0],  # a pair that is not there
        [0, 0, 255, 255, 255, 127],  # a cell outside the grid
        [0, 0, 3],
        [0, 0, 3, 0, *np.array([np.nan, 0.0]).tobytes()],
        [0, 0, 3, 0, *np.array([np.inf, 0.0]).tobytes()],
        [0, 0, 3, 0, *np.array([-1.5, 0.0]).tobytes()],
        [0, 0, 3, 1, *np.array([0.5, 1.0]).tobytes()],
        [0, 0, 3, 1, *np.array([0.5, 0.0]).tobytes()],
        [0, 0, 3, 0, *np.array([2.0, 0.0]).tobytes()],
    ],
)
def test_counts_that_nothing_writes_are_refused(packed: list[int], tmp_path: Path) -> None:
    bytes_ = np.array(packed, np.uint8)
    forged = BinnedCounts(1, np.zeros(1), np.array([0, len(packed)]), bytes_)
    write_model(tmp_path / "forged", "statistic", forged, types=named(BinnedCounts))
    with pytest.raises(ModelFileError):
        read_model(tmp_path / "forged", types=named(BinnedCounts))
