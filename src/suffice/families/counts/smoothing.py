"""Pseudo-counts that are given, or chosen by their evidence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.families.options import Alpha, Smoothing
from suffice.numerics.dirichlet_evidence import AlphaEvidence, alpha_by_evidence

__all__ = ["evidence_for", "settled_alpha"]


def evidence_for(
    alpha: Smoothing,
    tables: Iterable[NDArray[np.float64]],
    sizes: Sequence[int],
    alike: bool = False,
) -> AlphaEvidence | None:
    """What α of tables of counts is to be chosen from; None where it is given.

    Parameters
    ----------
    alpha : Smoothing
    tables : iterable of ndarray (k, v)
    sizes : sequence of int
        How many values share the probability in each table.
    alike : bool
        Whether it is one for all tables.
    """
    if not isinstance(alpha, str):
        return None
    return alpha_by_evidence(list(tables), sizes, alike)


def settled_alpha(alpha: Smoothing, found: AlphaEvidence | None) -> Alpha:
    """α as it was chosen, one number or one for each table; else as it was given."""
    if isinstance(alpha, str):
        assert found is not None
        return float(found.alpha[0]) if len(found.alpha) == 1 else tuple(found.alpha.tolist())
    return alpha
