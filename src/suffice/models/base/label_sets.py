"""Sets of labels that hold the true one as often as they say: conformal prediction.

::

    {c : 1 − P(c | x) ≤ q}

with q the quantile of level coverage · (1 + 1/n) of 1 − P(c_i | x_i), over n rows i that the model
had not learnt: the new row may stand anywhere among them.

Source: M. Sadinle, J. Lei, L. Wasserman, Least ambiguous set-valued classifiers with bounded error
levels (JASA 114, 2019); V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random World
(2005), section 2.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.options import check_boolean, is_finite
from suffice.rules import NONNEGATIVE, Shape

__all__ = ["Doubts", "label_sets"]

LEVELS = 1000  # of the quantiles that are kept


@dataclass(frozen=True, eq=False)
class Doubts:
    """How doubtful the classes of rows were that a model had not learnt.

    Parameters
    ----------
    quantiles : ndarray (q + 1,)
        Of 1 − P(c_i | x_i), at the levels 0, 1/q, …, 1; none without rows.
    rows : float
        Σw of the rows.
    """

    quantiles: Annotated[NDArray[np.float64], Shape("q"), NONNEGATIVE]
    rows: Annotated[float, NONNEGATIVE]

    @classmethod
    def of(cls, p: NDArray[np.float64], weights: NDArray[np.float64]) -> Self:
        """Those of rows with these probabilities of their own classes, (n,), n > 0.

        Examples
        --------
        >>> Doubts.of(np.array([0.9, 0.5, 0.8, 0.7]), np.ones(4)).largest(0.75).__round__(2)
        0.5
        """
        doubts = np.maximum(1 - p, 0.0)
        order = np.argsort(doubts, kind="stable")
        upto = np.cumsum(weights[order])
        levels = np.linspace(0, 1, LEVELS + 1) * upto[-1] * (1 - 1e-12)
        quantiles = doubts[order][np.searchsorted(upto, levels)]
        return cls(np.asarray(quantiles), float(weights.sum()))

    def largest(self, coverage: float) -> float:
        """What 1 − P(c | x) of a new row's class exceeds with probability 1 − coverage at most.

        It is 1, no class is left out, where so few rows cannot say so.
        """
        level = coverage * (1 + 1 / self.rows) if self.rows else 1.0
        if not len(self.quantiles) or level > 1:
            return 1.0
        return float(self.quantiles[ceil(level * (len(self.quantiles) - 1) - 1e-9)])


def label_sets(
    p: NDArray[np.float64], doubts: Doubts, coverage: Any, allow_empty: bool
) -> NDArray[np.bool_]:
    """Which classes are in the sets of rows with these probabilities, (n, k).

    Raises
    ------
    ParameterError
        If coverage is no fraction, or ``allow_empty`` neither True nor False.
    """
    check_boolean(allow_empty=allow_empty)
    if not (is_finite(coverage) and 0 < coverage < 1):
        raise ParameterError(f"coverage={coverage!r}", "coverage is above 0 and below 1")
    inside = np.asarray(1 - p <= doubts.largest(coverage))
    if not allow_empty:
        inside[np.arange(len(p)), p.argmax(axis=1)] = True
    return inside
