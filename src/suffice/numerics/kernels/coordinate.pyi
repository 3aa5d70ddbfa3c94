"""Coordinate descent on a quadratic with a penalty of absolute values."""

import numpy
import numpy.typing


def sweep(hessian: numpy.typing.NDArray[numpy.float64], cost: numpy.typing.NDArray[numpy.float64], nonnegative: bool, x: numpy.typing.NDArray[numpy.float64], gradient: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Move each coordinate of x (p,) in turn to its minimum of gᵀx + ½ xᵀHx + Σⱼ cⱼ|xⱼ|.

    ``x`` and the ``gradient`` g + Hx (p,) change in place. A coordinate without curvature
    stays. With ``nonnegative``, x ≥ 0 only.
    """
