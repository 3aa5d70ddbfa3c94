"""How far covariances of classes are regularised: what was chosen, and how good each choice is."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.families import MultivariateGaussian, RegularizedGaussian
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.numerics.in_html import html_table
from suffice.numerics.in_print import aligned
from suffice.rules import FINITE, NONNEGATIVE, Shape, rule

__all__ = ["Regularization", "RegularizedModel"]


@dataclass(frozen=True, eq=False, repr=False)
class Regularization:
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
            replace(part, family=replace(part.family, pooling=pooling, shrinkage=shrinkage))
            for part in parts
            if isinstance(part.family, RegularizedGaussian | MultivariateGaussian)
        )

    def __repr__(self) -> str:
        return "\n".join(aligned(self._lines()))

    def _lines(self) -> list[list[str]]:
        header = ["log loss", *(f"shrinkage {gamma:g}" for gamma in self.shrinkage)]
        best = self.best
        return [header] + [
            [
                f"pooling {lam:g}",
                *(
                    f"{loss:.4f}{' *' if (lam, gamma) == best else ''}"
                    for gamma, loss in zip(self.shrinkage.tolist(), losses, strict=True)
                ),
            ]
            for lam, losses in zip(self.pooling.tolist(), self.log_loss.tolist(), strict=True)
        ]

    def _repr_html_(self) -> str:
        header, *rows = self._lines()
        return html_table("Regularisation", header, rows, self.log_loss.min(axis=1).tolist())


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
