"""Telling SciPy's sparse arrays and matrices, without importing what makes them."""

from __future__ import annotations

import sys
from typing import Any

__all__ = ["is_sparse"]


def is_sparse(x: Any) -> bool:
    """Tell sparse arrays and matrices: there are none where `scipy.sparse` was not imported.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse([[0.0]]), is_sparse(csr_array([[0.0]]))
    (False, True)
    """
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))
