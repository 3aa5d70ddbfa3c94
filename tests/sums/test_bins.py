"""Binned counts: where numbers lie on a grid that depends on no data."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from suffice.errors import ForgetError, ParameterError
from suffice.numerics import kernels
from suffice.persist import read_model, write_model
from suffice.sums import bins
from suffice.sums.bins import (
    CELLS,
    BinnedCountAccumulator,
    BinnedCounts,
    cells_of,
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


def counted(
    x: np.ndarray, codes: np.ndarray | None = None, origin: float = 0.0, k: int = 1
) -> BinnedCounts:
    total = BinnedCountAccumulator(np.full(x.shape[1], origin))
    place = np.zeros(len(x), np.intp) if codes is None else codes
    total.add(RealBlock(x), place, np.empty(0), k)
    return total.statistic()


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("width", [1, 8, 11])
def test_many_rows_are_counted_as_few_are(order: Any, width: int) -> None:
    rng = np.random.default_rng(width)
    x = np.exp(rng.normal(size=(70_001, width)) * 20) * rng.choice([-1, 1], (70_001, width))
    x[rng.random(x.shape) < 0.1] = np.nan
    codes = rng.integers(-1, 4, len(x))
    low = np.zeros((4, width * (CELLS + 1)), np.uint8)
    carried = np.zeros(low.shape, np.uint16)
    rows = np.asarray(x, order=order), np.zeros(width), codes
    assert kernels.bins.count(*rows, low, carried)
    tally = low + 256 * carried.astype(np.uint32)
    cells, shown = cells_of(x), codes >= 0
    for j in range(width):
        expected = np.zeros((4, CELLS + 1), np.uint32)
        np.add.at(expected, (codes[shown], cells[shown, j] + 1), 1)
        assert (tally[:, j * (CELLS + 1) : (j + 1) * (CELLS + 1)] == expected).all()


def test_more_rows_than_a_place_can_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bins, "MOST_COUNTED", 150_000)
    x = np.arange(70_000.0)[:, None] % 9
    total = BinnedCountAccumulator(np.zeros(1))
    for k in (1, 2, 3):
        total.add(RealBlock(x), np.full(len(x), k - 1, np.intp), np.empty(0), k)
    codes = np.repeat(np.arange(3), len(x))
    together = counted(np.concatenate([x] * 3), codes, k=3)
    assert total.statistic() == together
    assert total.statistic() == total.statistic()
    assert together.high.sum() == 3 * len(x)


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
    assert found.cell.tolist() == plain.cell.tolist()
    assert found != plain
    mixed = plain.with_columns(np.array([1]), found, np.array([2]))
    assert mixed.unit.tolist() == [1.0, 7.0, 1.0]
    assert mixed.origin.tolist() == [0.0, 4.9, 0.0]
    assert found.columns(np.array([2, 0])).unit.tolist() == [7.0, 0.3]
    assert found.take(np.array([1])).unit.tolist() == unit.tolist()
    assert found.only(np.array([1])).unit.tolist() == unit.tolist()
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


def test_rows_with_weights_are_sorted_or_counted_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    x, codes = rng.normal(size=(5_000, 30)), rng.integers(-1, 3, 5_000)
    x[rng.random(x.shape) < 0.1] = np.nan
    weights = rng.exponential(size=len(x))
    found = []
    for few in (10**6, 0):
        monkeypatch.setattr(bins, "FEW_ROWS", few)
        total = BinnedCountAccumulator(np.zeros(30))
        for rows in (slice(2_000), slice(2_000, None)):
            total.add(RealBlock(x[rows]), codes[rows], weights[rows], 3)
        found.append(total.statistic())
        assert total.statistic() == found[-1]
    assert found[0] == found[1]
    assert found[0].low.tobytes() == found[1].low.tobytes()
