"""Centres and scales of columns and targets, in which a descent goes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Annotated, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import SQUARABLE, WEIGHT
from suffice.rules import POSITIVE, Shape, Within, check_form, rule
from suffice.statistics.moments import Moments

__all__ = ["Columns", "Standard"]


@dataclass(frozen=True, eq=False)
class Overview:
    """What the first pass finds: exact moments of columns and targets, and the number of rows."""

    moments: Moments
    rows: int

    def __add__(self, other: Overview) -> Overview:
        return Overview(self.moments + other.moments, self.rows + other.rows)


class Columns(Protocol):
    """What a penalty may depend on."""

    @property
    def p(self) -> int:
        """Number of columns."""

    @property
    def variance(self) -> NDArray[np.float64]:
        """Variance of every column, with divisor n, (p,)."""


@dataclass(frozen=True, eq=False)
class Standard:
    """Centres and scales of p columns and t targets: means and standard deviations.

    Without an intercept, 0 and root mean squares. A constant column has an inverse scale of 0, so
    that its coefficient stays at 0.

    Parameters
    ----------
    weight : float
        N, the weight of the rows.
    rows : int
        Number of rows.
    center, scale : ndarray (p + t,)
    variance : ndarray (p,)
        Variance of every column, with divisor N.
    intercept : bool
    """

    weight: Annotated[float, POSITIVE, WEIGHT]
    rows: Annotated[int, Within(1, 2**63)]
    center: Annotated[NDArray[np.float64], Shape("both"), SQUARABLE]
    scale: Annotated[NDArray[np.float64], Shape("both"), Within(0, LARGEST)]
    variance: Annotated[NDArray[np.float64], Shape("p"), Within(0, LARGEST**2)]
    intercept: bool

    def __post_init__(self) -> None:
        check_form(self)

    @rule("there is a target")
    def _has_targets(self) -> bool:
        return len(self.scale) > len(self.variance)

    @classmethod
    def of(cls, seen: Overview, p: int, intercept: bool) -> Standard:
        """Centres and scales, from the first pass.

        Raises
        ------
        DataError
            If there is no row.
        """
        moments = seen.moments
        if not seen.rows:
            raise DataError(
                "there is no complete row whose weight is not zero",
                "a linear model needs at least one",
                "check the columns and the weights",
            )
        weight, mean = float(moments.total[0, 0]), moments.mean[0]
        variance = moments.scatter[0] / weight
        square = variance if intercept else variance + mean**2
        center = mean if intercept else np.zeros_like(mean)
        return cls(weight, seen.rows, center, np.sqrt(square), variance[:p], intercept)

    @property
    def p(self) -> int:
        """Number of columns."""
        return len(self.variance)

    @cached_property
    def inverse(self) -> NDArray[np.float64]:
        """1/scale, or 0, (p + t,)."""
        return np.divide(1.0, self.scale, out=np.zeros_like(self.scale), where=self.scale > 0)

    def joined(self, other: Standard) -> Standard:
        """The same centres and scales for the rows of both."""
        return replace(self, weight=self.weight + other.weight, rows=self.rows + other.rows)

    def penalised(self, costs: NDArray[np.float64]) -> Standard:
        """The scales √(s² + λ/N), in which every second derivative of the loss is 1."""
        scale = self.scale.copy()
        scale[: self.p] = np.sqrt(scale[: self.p] ** 2 + costs / self.weight)
        return replace(self, scale=scale)

    def penalty(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """λ/(N · scale²) of standardised coefficients, the intercept first, (1 + p,)."""
        return np.concatenate([[0.0], costs * self.inverse[: self.p] ** 2 / self.weight])
