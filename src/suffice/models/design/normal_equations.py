"""Normal equations: all that a linear model needs to know of its rows, from exact co-moments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import LEAST_PIVOT
from suffice.rules import NONNEGATIVE, POSITIVE, Shape
from suffice.statistics.grouped_rows import GroupedRows

__all__ = ["ROUNDED", "NormalEquations"]

ROUNDED = 2.0**-44  # noise of products that were added in double about a pivot near the rows


@dataclass(frozen=True, eq=False)
class NormalEquations:
    """XᵀX w = Xᵀy for n rows of p columns x and t targets y, about the means or about 0.

    Parameters
    ----------
    n : DoubleDouble ()
        Weight of the rows.
    x_mean, y_mean : DoubleDouble (p,) and (t,)
        x̄ and ȳ; 0 without an intercept.
    xx, xy, yy : DoubleDouble (p, p), (p, t) and (t,)
        Σ(x − x̄)(x − x̄)ᵀ, Σ(x − x̄)(y − ȳ)ᵀ and the diagonal of Σ(y − ȳ)(y − ȳ)ᵀ.
    intercept : bool
        Whether the sums are about the means: that eliminates the intercept.
    variance : ndarray (p,)
        Variance of every column, with divisor n.
    noise : ndarray (p,)
        The fraction of every diagonal element of XᵀX that means nothing (`factorise`).
    """

    n: Annotated[DoubleDouble, Shape(), POSITIVE]
    x_mean: Annotated[DoubleDouble, Shape("p")]
    y_mean: Annotated[DoubleDouble, Shape("t")]
    xx: Annotated[DoubleDouble, Shape("p", "p")]
    xy: Annotated[DoubleDouble, Shape("p", "t")]
    yy: Annotated[DoubleDouble, Shape("t")]
    intercept: bool
    variance: Annotated[NDArray[np.float64], Shape("p"), NONNEGATIVE]
    noise: Annotated[NDArray[np.float64], Shape("p"), NONNEGATIVE]

    @classmethod
    def of(
        cls,
        statistic: GroupedRows,
        p: int,
        intercept: bool = True,
        tolerance: float = LEAST_PIVOT,
    ) -> Self:
        """The sums of the complete rows of one class: p columns and, after them, the targets.

        Raises
        ------
        DataError
            If no row is complete.
        """
        complete = np.flatnonzero(statistic.patterns[statistic.pattern].all(axis=1))
        if not len(complete):
            raise DataError(
                "there is no complete row whose weight is not zero",
                "a linear model needs at least one",
                "check the columns and the weights",
            )
        (group,) = complete.tolist()
        product, d = int(statistic.product_index[group]), statistic.d
        scatter = DoubleDouble.zeros((d, d)) if product < 0 else statistic.scatter[product]
        weight = statistic.group_weight[group]
        return cls.about(weight, statistic.mean[group], scatter, p, intercept, tolerance)

    @classmethod
    def about(
        cls,
        n: DoubleDouble,
        mean: DoubleDouble,
        scatter: DoubleDouble,
        p: int,
        intercept: bool,
        tolerance: float,
    ) -> Self:
        """From weight, mean (p + t,) and scatter (p + t, p + t)."""
        variance = np.maximum(np.diagonal(scatter.hi)[:p], 0.0)
        noise = np.full(p, tolerance)
        if intercept:
            # A sum of columns was rounded to double where these are: see `factorise`.
            far = float(n.hi) * mean.hi[:p] ** 2
            relative = np.divide(far, variance, out=np.zeros(p), where=variance > 0)
            noise = np.maximum(noise, 2.0**-104 * relative)
        else:
            scatter = scatter + mean[:, None] * mean[None, :] * n
            mean = DoubleDouble.zeros(mean.shape)
        diagonal = np.arange(p, scatter.shape[0])
        return cls(
            n,
            mean[:p],
            mean[p:],
            scatter[:p, :p],
            scatter[:p, p:],
            scatter[diagonal, diagonal],
            intercept,
            variance / float(n.hi),
            noise,
        )

    @property
    def rows(self) -> float:
        """Weight of the rows, rounded."""
        return float(self.n.value)

    @property
    def p(self) -> int:
        """Number of columns."""
        return self.xx.shape[0]

    @property
    def t(self) -> int:
        """Number of targets."""
        return self.xy.shape[1]
