"""What the iterations of Newton's method and of L-BFGS cost, for the choice between the two."""

from __future__ import annotations

from suffice.models.logistic.objective import Objective
from suffice.models.logistic.warm_start import is_long

__all__ = ["cheaper_iterations"]

TILE = 2_048  # rows of a matrix product
SPARSE_CELLS = 0.1  # of the columns of a sparse row, which no sum tells
PENALISED = 3.5  # iterations of Newton's method whose time L-BFGS may take, of ten or so
UNPENALISED = 1.5  # which may be lost, where the classes are nearly separated
FEW_ITERATIONS = 100  # which L-BFGS needs as a rule; fewer are not begun


def cheaper_iterations(objective: Objective) -> int:
    """Return how many iterations of L-BFGS to try before Newton's method; 0 for none.

    With n rows (their weight), m scores, q = m(m + 1)/2 pairs of them, D columns, and c cells of a
    compressed row, in nanoseconds of one core:

    ::

        Newton    q (20,000 n/2,048 + n (15 + 2D + 0.08D²)) + 50(mD)² + 0.035(mD)³
                  q n c² in place of the first part, for compressed rows
        L-BFGS    400,000 + n m (12 + 0.4D)

    Firth's penalty needs every Hessian, and a long dense table begins with that of a sample
    (`suffice.models.logistic.warm_start`). The number is what a few iterations of Newton's
    method cost, so that a descent which needs more loses little. With a penalty Newton's method
    goes on from where it ended; without one it may begin anew.
    """
    if objective.firth or is_long(objective):
        return 0
    (m, _), width = objective.basis.shape, objective.centred.width
    n = float(objective.seen.weight.value.sum())  # each row is taken to weigh 1
    pairs, side, cells = m * (m + 1) // 2, m * width, _cells(objective)
    if cells < width:
        products = pairs * n * cells**2
    else:
        tiles = max(n / TILE, 1.0)
        products = pairs * (20_000 * tiles + n * (15 + 2 * width + 0.08 * width**2))
    newton = products + 50 * side**2 * (m > 1) + 0.035 * side**3
    lbfgs = 400_000 + n * m * (12 + 0.4 * cells)
    iterations = int((PENALISED if objective.penalised else UNPENALISED) * newton / lbfgs)
    return iterations if iterations >= FEW_ITERATIONS else 0


def _cells(objective: Objective) -> float:
    """Cells of a row that a pass reads."""
    centred = objective.centred
    if centred.is_sparse:
        return 1.0 + SPARSE_CELLS * centred.width
    if centred.design.categories and centred.is_of_few_cells:
        return 1.0 + len(centred.design.numbers) + len(centred.design.categories)
    return float(centred.width)
