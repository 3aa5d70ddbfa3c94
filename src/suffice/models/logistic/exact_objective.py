"""The penalised loss of a reproducible fit: a function of the rows, and of no order of them.

What a solver knows of the rows are exact sums, extremes, and a sample that is chosen by what rows
say. Where it multiplies or factors, loops of this library have one order. So all that it decides is
a function of the rows alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.models.logistic.exact_loss import ROUNDING, ExactLossRequest, exact_loss_sums
from suffice.models.logistic.joint_moments import exact_joint_moments
from suffice.models.logistic.objective import Objective
from suffice.models.logistic.sample import Sample, draw_by_content
from suffice.numerics.logspace import row_sums
from suffice.phrases import Option, Phrase
from suffice.statistics.by_class import ByClass
from suffice.statistics.loss_sums import LossSums

__all__ = ["ExactObjective", "require_exact_weights"]

Array = NDArray[np.float64]
WIDEST = 2.0**50  # Σw over the least weight: sums of weights are exact in pairs below


@dataclass(frozen=True, eq=False)
class ExactObjective(Objective):
    """The function of `Objective`, from sums that no order of the rows changes.

    Parameters
    ----------
    reach : ndarray (F,)
        A bound of |x_j − m_j| of every column.
    heaviest : float
        The largest weight of a row.
    count : int
        Number of rows.
    """

    reach: Array = field(kw_only=True)
    heaviest: float = field(kw_only=True)
    count: int = field(kw_only=True)

    draws_distinct: ClassVar[bool] = True
    joint_moments: ClassVar[Callable[..., ByClass]] = staticmethod(exact_joint_moments)

    def loss_sums(self, x: Array, hessian: bool, root: Array | None = None) -> LossSums:
        """The sums of one pass.

        Raises
        ------
        DataError
            If the rows are not those of the first pass.
        """
        coefficients, reach = self.coefficients(x), self._reach_of_rows
        request = ExactLossRequest(
            *(self.rows, coefficients, self.checksum, hessian, root, reach, self.heaviest)
        )
        return self.checked(self.data.run(exact_loss_sums, request).rounded)

    @cached_property
    def _reach_of_rows(self) -> Array:
        """A bound of every element of z, (D,), in columns that are whitened or not."""
        reach, factor = self.reach, self.centred.whitener
        if factor is not None:
            reach = ROUNDING * row_sums(np.abs(factor.whitening.value) * reach)
        return np.concatenate([[1.0], reach])

    def radius(self) -> float:
        """A bound of the length of the longest row z/s."""
        longest = self._reach_of_rows * self.inverse_scale * self.used
        return float(np.sqrt(ROUNDING * row_sums((longest**2)[None])[0]))

    def draw(self, n: int, total: float = 0.0) -> Sample:
        """The n distinct rows of the smallest hashes, or all if there are fewer."""
        return draw_by_content(self.data, self.rows, n, self.count)

    def of_weights(self, weights: Array) -> dict[str, Any]:
        """What changes of the function besides, if it is of a sample with such weights."""
        return {"heaviest": float(weights.max()), "count": len(weights)}


def require_exact_weights(seen: ByClass, lightest: float) -> None:
    """Refuse weights whose sums would have to be rounded.

    Raises
    ------
    DataError
        If the least weight is too small a fraction of all.
    """
    total = float(seen.weight.value.sum())
    if total > WIDEST * lightest:
        raise DataError(
            Phrase(
                f"weights from {lightest:g} on, of {total:g} in all, with ",
                Option.of("reproducible", True),
            ),
            f"sums of weights are exact if the least is no less than {1 / WIDEST:.2g} of all",
            "leave rows of such small weights out",
        )
