"""Integrals in one dimension: Gauss's rule on pieces, halved until halving changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial.legendre import leggauss

from suffice.numerics.arrays import Floats

NODES, WEIGHTS = leggauss(20)
MOST_HALVINGS = 500  # towards a pole at 0; elsewhere a piece has no inside much earlier
MOST_PIECES = 2**14  # at once; only noise asks for more


def integrate(
    f: Callable[[Floats], Floats], edges: Floats, tolerance: float = 1e-15
) -> tuple[float, float]:
    """Return ∫ f from the first edge to the last, and an estimate of its error.

    The error of a piece is the difference between Gauss's rule on the whole of it and on its two
    halves, which is that of the worse of the two answers; the better one is returned. A piece is
    done when its error is below the tolerance, absolutely or as a fraction of its integral.

    The edges (p,) increase; kinks, jumps and poles of f belong there. f takes all nodes of a round
    at once, (m,), and is never evaluated at an edge.

    Source: P. J. Davis and P. Rabinowitz, Methods of Numerical Integration, 2nd ed. (1984),
    section 2.7 and chapter 6.
    """
    a, b = edges[:-1], edges[1:]
    whole = _gauss(f, a, b)
    total, error, halvings = 0.0, 0.0, 0
    while len(a):
        middle = a / 2 + b / 2
        left, right = _gauss(f, a, middle), _gauss(f, middle, b)
        halves = left + right
        off = np.abs(halves - whole)
        done = (off <= tolerance * np.maximum(np.abs(halves), 1.0)) | (middle <= a) | (middle >= b)
        halvings += 1
        done |= (halvings == MOST_HALVINGS) | (len(a) > MOST_PIECES)
        total, error = total + float(halves[done].sum()), error + float(off[done].sum())
        a, middle, b = a[~done], middle[~done], b[~done]
        a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
        whole = np.concatenate([left[~done], right[~done]])
    return total, error


def _gauss(f: Callable[[Floats], Floats], a: Floats, b: Floats) -> Floats:
    """Gauss's rule with 20 nodes on every piece from a to b."""
    centre, half = a / 2 + b / 2, b / 2 - a / 2
    nodes = centre[:, None] + half[:, None] * NODES
    values: Floats = half * (f(nodes.ravel()).reshape(nodes.shape) @ WEIGHTS)
    return values
