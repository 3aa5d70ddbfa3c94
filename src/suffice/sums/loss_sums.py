"""The loss of given coefficients, its gradient and its Hessian, as sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from suffice.numerics.exact import DoubleDouble
from suffice.rules import Shape, rule
from suffice.sums.base import Sums


@dataclass(frozen=True, eq=False)
class LossSums(Sums):
    """Loss of coefficients B (m, D) of a generalised linear model, its gradient and its Hessian.

    ::

        loss Σ w ℓ(t, y)      gradient Σ w ∂ℓ/∂t ⊗ z      Hessian Σ w ∂²ℓ/∂t∂tᵀ ⊗ z zᵀ

    with the scores t = B z of a row z (D,). A term is rounded to double; the terms are then added
    in pairs, so that neither their order nor taking some of them away reaches the rounded sums.

    Parameters
    ----------
    weight : DoubleDouble (k,)
        Σw of the rows of each class.
    checksum : DoubleDouble (k,)
        Σ w cᵀz of the rows of each class, for a fixed vector c: other rows, another sum.
    loss : DoubleDouble ()
    gradient : DoubleDouble (m, D)
    hessian : DoubleDouble (mD, mD), or (0, 0) where only the slope was asked for
        Rows and columns in the order of ``gradient.ravel()``.

    Examples
    --------
    >>> in_double = [1.0, 1.0], [0.0, 0.0], 1.5, [[0.5]], [[0.25]]
    >>> one = LossSums(*map(DoubleDouble.of, in_double))
    >>> (one + one - one) == one, float((one + one).loss.value)
    (True, 3.0)
    """

    weight: Annotated[DoubleDouble, Shape("k")]
    checksum: Annotated[DoubleDouble, Shape("k")]
    loss: Annotated[DoubleDouble, Shape()]
    gradient: Annotated[DoubleDouble, Shape("m", "D")]
    hessian: Annotated[DoubleDouble, Shape("s", "s")]

    @rule("a Hessian has a row for each element of the gradient, or none")
    def _has_hessian(self) -> bool:
        return len(self.hessian.hi) in (0, self.gradient.hi.size)
