"""LDLᵀ and products of pairs."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from suffice.numerics import kernels

from .recorded import check


def cases() -> Iterator[tuple[str, list[Any]]]:
    random = np.random.default_rng(5)
    for d in (1, 2, 3, 7, 8, 9, 16, 17, 40):
        for t in (1, 3, 8, 21):
            a, b = random.standard_normal((2, t, d)), random.standard_normal((2, d, t))
            a[1] *= 1e-17
            b[1] *= 1e-17
            a[0, 0] = 0.0
            yield f"product {d} {t}", list(kernels.factor.product(*a, *b))
            for rank in (d, max(1, d // 2)):
                root = np.floor(8.0 * random.standard_normal((d, rank)))
                upper = np.array([root @ root.T, 1e-18 * random.standard_normal((d, d))])
                noise = 1e-25 * np.abs(random.standard_normal(d)) * upper[0].diagonal()
                if rank < d:
                    upper[1] = 0.0
                found = kernels.factor.factorise(*upper, noise)
                yield f"factorise {d} {t} {rank}", [*upper, *found]
                x = random.standard_normal((2, d, t))
                x[1] *= 1e-17
                kernels.factor.solve(*upper, *found[1:3], *x)
                yield f"solve {d} {t} {rank}", [x]
        upper = np.array([-np.eye(d), np.zeros((d, d))])
        yield f"negative {d}", [*kernels.factor.factorise(*upper, np.zeros(d))]


def test_as_recorded() -> None:
    check("factor", cases())
