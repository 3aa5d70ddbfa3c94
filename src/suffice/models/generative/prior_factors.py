"""Class weights of a generative model: they change how often classes occur, and nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.models.base.class_weights import ClassWeight, check_class_weight, class_weights
from suffice.sums.by_class import ByClass

__all__ = ["prior_factors"]


def prior_factors(
    given: ClassWeight, statistic: ByClass, prior: Any, option: str
) -> NDArray[np.float64] | None:
    """What the rows of each class are multiplied by where P(c) is estimated, (k,).

    ::

        P(c) ∝ f_c N_c

    What the rows of a class tell of its columns stays as it is: rows that are counted f_c times
    would have pseudo-counts, and a covariance that classes share, of rows that are not there.

    Returns
    -------
    ndarray or None
        None where no weights are given.

    Raises
    ------
    ParameterError
        If P(c) is not estimated from rows.
    """
    if given is None:
        return None
    check_class_weight(given)
    if not (isinstance(prior, str) and prior in ("empirical", "smoothed")):
        raise ParameterError(
            f"class_weight={given!r}",
            f"it weighs the classes' numbers of rows, and {option} is given",
            "leave one of them out",
        )
    return class_weights(given, statistic.weight.value, statistic.classes.values)
