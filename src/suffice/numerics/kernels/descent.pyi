"""
Gradient descent on sums over rows: gradients, and steps after every few rows.

Conventions: of a table (n, ≥ p) the first p columns are read. With centres and inverse
units (p,) a row is standardised as it is read,

    z = (constant, (x − m)/s)      t = V z

with coefficients v (m, 1 + p) and ``constant`` 1 or 0. Rows are taken in a given order,
by one thread. What the loss is follows from the targets: numbers (n, m) have squared
errors, class codes (n,) the logistic loss.
"""

import numpy
import numpy.typing


def add_gradient(table: numpy.typing.NDArray[numpy.float64], targets: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], order: numpy.typing.NDArray[numpy.int64 | numpy.intp], center: numpy.typing.NDArray[numpy.float64], inverse: numpy.typing.NDArray[numpy.float64], v: numpy.typing.NDArray[numpy.float64], z: numpy.typing.NDArray[numpy.float64], t: numpy.typing.NDArray[numpy.float64], g: numpy.typing.NDArray[numpy.float64], loss: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add Σ ω ℓ to ``loss`` and Σ ω ∂ℓ/∂t zᵀ to ``g`` (m, 1 + p), over the rows in
    ``order``.

    ``z`` (1 + p,) is a buffer for a row, whose first element is the constant, ``t`` (m,) for
    scores.
    """

def descend(table: numpy.typing.NDArray[numpy.float64], targets: numpy.typing.NDArray[numpy.float64] | numpy.typing.NDArray[numpy.int64 | numpy.intp], weights: numpy.typing.NDArray[numpy.float64], order: numpy.typing.NDArray[numpy.int64 | numpy.intp], size: int, center: numpy.typing.NDArray[numpy.float64], inverse: numpy.typing.NDArray[numpy.float64], penalty: numpy.typing.NDArray[numpy.float64], rate: float, momentum: float, nesterov: bool, z: numpy.typing.NDArray[numpy.float64], t: numpy.typing.NDArray[numpy.float64], v: numpy.typing.NDArray[numpy.float64], velocity: numpy.typing.NDArray[numpy.float64], loss: numpy.typing.NDArray[numpy.float64], path: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Step after every ``size`` rows of ``order``: v ← v + d with d ← βd − ηg, in place.

    Nesterov's step is βd − ηg with that d. The ``loss`` added is that of each row before
    its step; v after every step is added to ``path``.
    """
