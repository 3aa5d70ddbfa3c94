"""Squares of distances from means."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from suffice.numerics import kernels

from .recorded import check
from .rows import KINDS, rows, scores, shapes


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(1)
    for n, d, k in (*shapes(), (0, 5, 3)):
        results: list[Any] = []
        for kind in KINDS if n else KINDS[:1]:
            x, mean = rows(random, n, d, kind), random.standard_normal((k, d))
            root, log_scale = random.uniform(0.0, 2.0, (k, d)), random.standard_normal((k, d))
            out = scores(random, n, k, "CF-"[d % 3])
            stopped = kernels.squares.add_gaussian(x, mean, root, log_scale, out)
            results += stopped, out
        yield f"add_gaussian {n} {d} {k}", results


def test_as_recorded() -> None:
    check("squares", cases())


def test_wrong_arrays_are_refused() -> None:
    x, table, out = np.ones((4, 3)), np.ones((2, 3)), np.zeros((4, 2))
    add = kernels.squares.add_gaussian
    with pytest.raises(ValueError, match=r"mean has shape \(2, 3\); it must be \(2, 4\)"):
        add(np.ones((4, 4)), table, table, table, out)
    with pytest.raises(ValueError, match="log_scale"):
        add(x, table, table, table[:1], out)
    with pytest.raises(ValueError, match="out"):
        add(x, table, table, table, out[:3])
    for wrong in (x.astype(np.float32), x[0], x[None], [[1.0] * 3] * 4, None):
        with pytest.raises(TypeError):
            add(wrong, table, table, table, out)
    out.setflags(write=False)
    with pytest.raises(TypeError):
        add(x, table, table, table, out)


def test_rows_are_read_in_any_order() -> None:
    random = np.random.default_rng(2)
    x, table = random.standard_normal((40, 9)), random.standard_normal((2, 9))
    out, again = np.zeros((40, 2)), np.zeros((40, 2))
    kernels.squares.add_gaussian(x, table, table, table, out)
    kernels.squares.add_gaussian(np.asfortranarray(x), table, table, table, again)
    np.testing.assert_array_equal(again, out)
