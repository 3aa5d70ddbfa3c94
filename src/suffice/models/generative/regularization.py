"""How far covariances of classes are regularised: what was chosen, and how good each choice is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.families import MultivariateGaussian, RegularizedGaussian
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.numerics.in_print import Printed, Table
from suffice.rules import FINITE, NONNEGATIVE, Shape, rule

__all__ = ["Regularization", "RegularizedModel"]


@dataclass(frozen=True, eq=False, repr=False)
class Regularization(Printed):
    """What λ and γ were tried, and the log loss of each pair, of rows taken out of the sums.

    Parameters
    ----------
    pooling : ndarray (l,)
        λ.
    shrinkage : ndarray (g,)
        γ.
    log_loss : ndarray (l, g)
        In nats a row, at the temperature that is best for each pair; a pair that has no
        density counts −log 1e-15.
    rows : float
        Σw of the rows.
    stale : bool
        Whether rows were learnt or forgotten since.
    """

    pooling: Annotated[NDArray[np.float64], Shape("l"), NONNEGATIVE]
    shrinkage: Annotated[NDArray[np.float64], Shape("g"), NONNEGATIVE]
    log_loss: Annotated[NDArray[np.float64], Shape("l", "g"), FINITE]
    rows: Annotated[float, NONNEGATIVE]
    stale: bool = False

    @rule("something was tried, and no part is more than 1")
    def _is_of_parts(self) -> bool:
        tried = np.concatenate([self.pooling, self.shrinkage])
        return self.log_loss.size > 0 and bool((tried <= 1).all())

    @property
    def best(self) -> tuple[float, float]:
        """λ and γ of the least log loss; of equal ones, the first."""
        place, column = np.unravel_index(int(self.log_loss.argmin()), self.log_loss.shape)
        return float(self.pooling[place]), float(self.shrinkage[column])

    def parts(self, parts: tuple[FamilyColumns, ...]) -> tuple[FamilyColumns, ...]:
        """Families with the λ and γ that were chosen."""
        pooling, shrinkage = self.best
        return tuple(
            FamilyColumns(replace(part.family, pooling=pooling, shrinkage=shrinkage), part.layout)
            for part in parts
            if isinstance(part.family, RegularizedGaussian | MultivariateGaussian)
        )

    def table(self) -> Table:
        """Return the log losses of what was tried as a table, the best with a star."""
        best = self.best
        rows = [
            [
                f"pooling {lam:g}",
                *(
                    f"{loss:.4f}{' *' if (lam, gamma) == best else ''}"
                    for gamma, loss in zip(self.shrinkage.tolist(), losses, strict=True)
                ),
            ]
            for lam, losses in zip(self.pooling.tolist(), self.log_loss.tolist(), strict=True)
        ]
        header = ["log loss", *(f"shrinkage {gamma:g}" for gamma in self.shrinkage)]
        return Table("", header, rows, bars=self.log_loss.min(axis=1).tolist())


@dataclass(frozen=True)
class RegularizedModel(GenerativeModel):
    """A model of one regularised Gaussian.

    Parameters
    ----------
    regularization : Regularization, optional
        What λ and γ were chosen from.
    """

    regularization: Regularization | None = None

    @classmethod
    def of(cls, model: GenerativeModel, found: Regularization | None) -> RegularizedModel:
        """The same model, of the λ and γ that were chosen."""
        parts = model.parts if found is None else found.parts(model.parts)
        fields = (model.layout, model.classes, model.prior, model.statistic, model.calibration)
        return cls(parts, *fields, regularization=found)
