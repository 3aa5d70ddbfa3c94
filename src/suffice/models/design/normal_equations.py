"""Normal equations: all that a linear model needs to know of its rows, from exact co-moments."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field, replace
from typing import Annotated, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError
from suffice.numerics.exact import DoubleDouble
from suffice.numerics.linalg import LEAST_PIVOT
from suffice.rules import NONNEGATIVE, POSITIVE, Shape
from suffice.sums.comoments import LOG_UNIT, Comoments, Tally

ROUNDED = 2.0**-44  # noise of products that were added in double about a pivot near the rows


def no_complete_row() -> DataError:
    """Return the error of a table without a complete row."""
    return DataError(
        "there is no complete row whose weight is not zero",
        "a linear model needs at least one",
        "check the columns and the weights",
    )


@dataclass(frozen=True)
class Weights:
    """Counts and logarithms of the weights of rows."""

    count: int = 0  # number of rows with a weight; 0 if it is not known
    fractional: int = 0  # how many of the weights are no whole numbers
    log: float = 0.0  # Σ log w
    precisions: bool = False  # whether weights are inverse variances, else copies of rows

    def remarks(self, total: float) -> tuple[str, ...]:
        """Say what weights add up to, and what they were taken for, if there are any."""
        if self.precisions:
            return (
                f"Weights are precisions, known up to a factor (weights_are: precisions). Sum of "
                f"weights: {total:g}",
            )
        if not self.count or (self.count == total and not self.fractional):
            return ()
        line = (
            "A weight is so many copies of its row (weights_are: copies). Sum of weights: "
            f"{total:g}"
        )
        if not self.fractional:
            return (line,)
        return (
            line,
            f"{self.fractional:,} of the weights are no whole numbers: if they are inverse "
            "variances, weights_are: precisions gives errors that do not depend on their scale.",
        )

    @classmethod
    def of(cls, tally: Tally) -> Self:
        count, fractional, log = tally.sum(axis=0).tolist()
        known = count > 0 and 0 <= fractional <= count
        return cls(count, fractional, log * LOG_UNIT) if known else cls()


class Weighed:
    """Rows with weights, as sums or as they are."""

    weights: Weights

    @property
    @abstractmethod
    def rows(self) -> float:
        """Weight of the rows, rounded."""

    @property
    def count(self) -> float:
        """Number of rows; their weight, where it is not known."""
        return float(self.weights.count) if self.weights.count > 0 else self.rows

    @property
    def observations(self) -> float:
        """Return n of the errors: the sum of weights that are copies, or the number of rows."""
        return self.count if self.weights.precisions else self.rows


@dataclass(frozen=True, eq=False)
class NormalEquations(Weighed):
    """XᵀX w = Xᵀy for n rows of p columns x and t targets y, about the means or about 0."""

    n: Annotated[DoubleDouble, Shape(), POSITIVE]  # weight of the rows
    x_mean: Annotated[DoubleDouble, Shape("p")]  # x̄; 0 without an intercept
    y_mean: Annotated[DoubleDouble, Shape("t")]  # ȳ; 0 without an intercept
    xx: Annotated[DoubleDouble, Shape("p", "p")]  # Σ(x − x̄)(x − x̄)ᵀ
    xy: Annotated[DoubleDouble, Shape("p", "t")]  # Σ(x − x̄)(y − ȳ)ᵀ
    yy: Annotated[DoubleDouble, Shape("t")]  # the diagonal of Σ(y − ȳ)(y − ȳ)ᵀ
    intercept: bool  # whether the sums are about the means: that eliminates the intercept
    variance: Annotated[NDArray[np.float64], Shape("p"), NONNEGATIVE]  # of columns, divisor n
    noise: Annotated[NDArray[np.float64], Shape("p"), NONNEGATIVE]  # see `factorise`
    weights: Weights = field(default_factory=lambda: Weights())

    @classmethod
    def of(cls, statistic: Comoments, p: int, intercept: bool = True) -> Self:
        """The sums of the complete rows of one class: p columns and, after them, the targets."""
        complete = np.flatnonzero(statistic.patterns[statistic.pattern].all(axis=1))
        if not len(complete):
            raise no_complete_row()
        (group,) = complete.tolist()
        product, mean = int(statistic.product_index[group]), statistic.mean[group]
        scatter = DoubleDouble.zeros(mean.shape * 2) if product < 0 else statistic.scatter[product]
        weight = statistic.group_weight[group]
        found = cls.about(weight, mean, scatter, p, intercept, LEAST_PIVOT)
        return replace(found, weights=Weights.of(statistic.tally[group : group + 1]))

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
        targets = np.arange(p, len(scatter.hi))
        return cls(
            n,
            mean[:p],
            mean[p:],
            scatter[:p, :p],
            scatter[:p, p:],
            scatter[targets, targets],
            intercept,
            variance / float(n.hi),
            noise,
        )

    @property
    def rows(self) -> float:
        return float(self.n.value)

    @property
    def p(self) -> int:
        """Number of columns."""
        return self.xx.shape[0]

    @property
    def t(self) -> int:
        """Number of targets."""
        return self.xy.shape[1]
