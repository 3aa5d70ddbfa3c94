"""Answers of models that have not all learnt the same classes, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["over_all_classes"]

IMPOSSIBLE = {"predict_proba": 0.0, "predict_log_proba": -np.inf}


def over_all_classes(
    every: NDArray[Any], known: NDArray[Any], answer: NDArray[Any], method: str
) -> NDArray[Any]:
    """An answer (n, k) with a column for every class; what a model has not learnt is impossible.

    Parameters
    ----------
    every, known : ndarray
        Sorted labels: all, and those that the model has learnt.
    answer : ndarray (n, k) or (n,)
        Labels, (n,), stay as they are.
    method : str
        What was asked.

    Examples
    --------
    >>> every, known = np.array([1, 2, 3]), np.array([1, 3])
    >>> over_all_classes(every, known, np.array([[0.5, 0.5]]), "predict_proba")
    array([[0.5, 0. , 0.5]])
    """
    if len(known) == len(every) or answer.ndim == 1:
        return answer
    least = np.finfo(answer.dtype).min
    whole = np.full((len(answer), len(every)), IMPOSSIBLE.get(method, least))
    whole[:, np.searchsorted(every, known)] = answer
    return whole
