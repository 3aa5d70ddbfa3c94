"""What was chosen for columns, as a model file holds it: choosing anew takes most of a loading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from suffice.families.kinds.divided import Choice, DividedParameters
from suffice.rules import Shape, Within, rule

__all__ = ["Chosen", "fits"]

RIVALS = ("gaussian", "histogram", "kernel_density")


@dataclass(frozen=True, eq=False)
class Chosen:
    """The choices of d columns. They follow from the sums, as the same comparison finds them.

    Parameters
    ----------
    family : ndarray of int (d,)
        0 Gaussian, 1 histogram, 2 kernel density.
    bandwidth : ndarray (d,)
        Of kernel densities.
    compared : ndarray of bool (d,)
        Whether there was a choice.
    losses : ndarray (3, d)
        Of each rival, where there was.
    """

    family: Annotated[NDArray[np.int8], Shape("d"), Within(0, len(RIVALS) - 1)]
    bandwidth: Annotated[NDArray[np.float64], Shape("d"), Within(0, 100)]
    compared: Annotated[NDArray[np.bool_], Shape("d")]
    losses: Annotated[NDArray[np.float64], Shape("r", "d")]

    @rule("there was a choice for some column")
    def _has_choice(self) -> bool:
        return bool(self.compared.any())

    @rule("every rival has a loss, which may be infinite")
    def _has_losses(self) -> bool:
        return len(self.losses) == len(RIVALS) and not np.isnan(self.losses).any()

    @classmethod
    def of(cls, parameters: object) -> Chosen | None:
        """The choices of parameters; None where no families were compared."""
        if not isinstance(parameters, DividedParameters):
            return None
        choices = parameters.choices
        compared = np.array([bool(choice.losses) for choice in choices], np.bool_)
        if not compared.any():
            return None
        losses = [[choice.losses.get(name, 0.0) for choice in choices] for name in RIVALS]
        family = [RIVALS.index(choice.family) for choice in choices]
        bandwidth = [choice.bandwidth for choice in choices]
        return cls(np.array(family, np.int8), np.array(bandwidth), compared, np.array(losses))

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choices, column by column."""
        columns = zip(
            self.family.tolist(),
            self.bandwidth.tolist(),
            self.compared.tolist(),
            self.losses.T.tolist(),
            strict=True,
        )
        return tuple(
            Choice(RIVALS[family], h, dict(zip(RIVALS, losses, strict=True)) if some else {})
            for family, h, some, losses in columns
        )


def fits(chosen: Sequence[Chosen | None], widths: Sequence[int]) -> bool:
    """Whether there are choices of every column of every part, or none of a part."""
    return not chosen or (
        len(chosen) == len(widths)
        and all(c is None or len(c.family) == d for c, d in zip(chosen, widths, strict=True))
    )
