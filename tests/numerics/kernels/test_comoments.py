"""Co-moments of groups."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

from .recorded import check
from .tables import codes_of, rows_of

SHAPES = (
    [(n, d, 0) for n in (0, 1, 7, 9, 265, 1_111) for d in (1, 3, 8, 9, 17, 33)]
    + [(n, d, t) for n in (1, 9, 300) for d, t in ((4, 1), (8, 2), (7, 3), (0, 2))]
    + [(300, 70, 0), (70_000, 2, 0), (3_000, 50, 1)]
)
KINDS = ("normal", "far", "whole", "wide", "constant", "float32", "gaps", "large", "infinite")


def empty(product_index: Any, d: int) -> list[Any]:
    g, matrices = len(product_index), max([*product_index, -1]) + 1
    sums = [np.zeros((g, 2)), np.zeros((g, d)), np.zeros((g, 2, d))]
    return [*sums, np.array(product_index, np.intp), np.zeros((matrices, 2, d, d))]


def copied(state: list[Any]) -> list[Any]:
    return [array.copy() for array in state]


def summary(state: list[Any]) -> list[Any]:
    out = np.zeros_like(state[4])
    kernels.comoments.scatter(state[0], *state[2:], out)
    return [*state, out]


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(4)
    for q, (n, d, t) in enumerate(SHAPES):
        for kind in KINDS if n < 50_000 else KINDS[:2]:
            product_index = ([0], [0, 0, 0], [0, 1, 2], [-1, 0, 0, 1])[(q + len(kind)) % 4]
            codes = codes_of(random, n, len(product_index))
            rows = rows_of(random, kind, n, d + t)
            x, y = (np.ascontiguousarray(part) for part in (rows[:, :d], rows[:, d:]))
            name = f"{n} {d} {t} {kind}"
            for weights in (np.empty(0), random.exponential(size=n)):
                more = empty(product_index, d + t)
                stopped = kernels.comoments.add_rows(x, y, codes, weights, *more)
                yield f"add_rows {name} {len(weights)}", [stopped, *more]
                stopped = kernels.comoments.add_rows(x, y, codes, weights, *more)
                yield f"more {name} {len(weights)}", [stopped, *more]
            if n < 300 and kind != "large":
                yield from changed(random, name, more, x, rows)


def changed(
    random: np.random.Generator, name: str, state: list[Any], x: Any, rows: Any
) -> Iterator[tuple[str, list[Any]]]:
    """Groups that were merged, parted and centred anew, and groups of single rows."""
    n, d = rows.shape
    yield f"scatter {name}", summary(state)
    product_index = [-1] * (n // 2) + [0] * (n - n // 2)
    single = empty(product_index, d)
    kernels.comoments.add_scattered_rows(rows, random.permutation(n), np.empty(0), *single)
    yield f"scattered {name}", single
    weighted = empty(product_index, d)
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
        yield f"recentre {name} {groups is state}", summary(groups)


def test_as_recorded() -> None:
    with np.errstate(all="ignore"):
        check("comoments", cases())


def test_wrong_arrays_are_refused() -> None:
    state, codes, weights = empty([0, 1], 3), np.zeros(4, np.intp), np.empty(0)
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
