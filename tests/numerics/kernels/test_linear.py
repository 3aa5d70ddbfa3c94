"""Linear functions of rows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.numerics import kernels

from .recorded import check
from .rows import KINDS, rows, scores, shapes


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(2)
    for n, d, k in (*shapes(), (0, 5, 3)):
        results: list[Any] = []
        for kind in KINDS if n else KINDS[:1]:
            x, slope = rows(random, n, d, kind), random.standard_normal((k, d))
            origin = random.standard_normal(d) * (1e3 if kind == "far" else 1.0)
            constant = random.standard_normal(k)
            out, done = scores(random, n, k, "CF-"[d % 3]), np.zeros(n, bool)
            terms = origin, slope, constant
            stopped = kernels.linear.add_complete(x, *terms, done, out)
            results += stopped, done, out.copy()
            kernels.linear.write(x, *terms, out)
            results.append(out)
        yield f"{n} {d} {k}", results


def test_as_recorded() -> None:
    check("linear", cases())
