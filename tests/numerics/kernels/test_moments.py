"""Class-wise moments."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

from .recorded import check
from .tables import KINDS, codes_of, rows_of, shapes


def empty(k: int, d: int) -> list[Any]:
    return [np.zeros((k, 2, d)), np.zeros((k, d)), np.zeros((k, 4, d))]


def summary(state: list[Any]) -> list[Any]:
    out = [np.empty_like(state[1]) for _ in range(3)]
    kernels.moments.mean_and_scatter(*state, *out)
    return out


def cases() -> Iterator[tuple[str, list[Any]]]:
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


def test_as_recorded() -> None:
    with np.errstate(all="ignore"):
        check("moments", cases())


def test_rows_that_lie_otherwise_give_the_same() -> None:
    x, codes = np.random.default_rng(0).standard_normal((40, 3)), np.arange(40) % 2
    expected, found = empty(2, 3), empty(2, 3)
    kernels.moments.add_rows(x, codes, *expected)
    apart = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(x.shape)
    apart[:] = x
    kernels.moments.add_rows(apart, np.repeat(codes, 2)[::2], *found)
    for a, b in zip(expected, found, strict=True):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("order", ["C", "F", "every second", "wider"])
@pytest.mark.parametrize("kind", ["f8", "f4", "i1", "i2", "i4", "u1", "u2", "u4", "?"])
@pytest.mark.parametrize("shape", [(700, 3), (700, 19), (9, 1), (300, 8)])
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
