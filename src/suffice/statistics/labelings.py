"""Many labelings of the same rows: the class and the fold that each of them gives every row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.numerics import kernels

__all__ = ["Labelings"]


@dataclass(frozen=True, eq=False)
class Labelings:
    """P labelings of n rows. Each row is judged in one of f folds, and learnt in the others.

    Parameters
    ----------
    codes : ndarray of uint8 (P, n)
        Classes, below k.
    folds : ndarray of uint8 (P, n)
        Below f.
    k, f : int

    Examples
    --------
    >>> codes, folds = np.array([[[0, 1, 1, 0]], [[0, 0, 1, 1]]], np.uint8)
    >>> both = Labelings(codes, folds, 2, 2)
    >>> both.sizes[0].tolist(), both.learnt(both.sums(np.array([[1.0], [2.0], [4.0], [8.0]])))[0]
    ([[1.0, 1.0], [1.0, 1.0]], array([[[8.],
            [4.]],
    <BLANKLINE>
           [[1.],
            [2.]]]))
    """

    codes: NDArray[np.uint8]
    folds: NDArray[np.uint8]
    k: int
    f: int

    def __len__(self) -> int:
        return len(self.codes)

    @cached_property
    def _tally(self) -> NDArray[np.float64]:
        """How many rows of each class every fold has, (P, f, k)."""
        found = np.empty((len(self), self.f * self.k))
        kernels.labelings.tally(self.codes, self.folds, self.k, found)
        return found.reshape(len(self), self.f, self.k)

    @property
    def tested(self) -> NDArray[np.float64]:
        """How many rows are judged in a fold, (P, f)."""
        return np.asarray(self._tally.sum(axis=2))

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """How many rows of each class a fold has learnt, (P, f, k)."""
        return self.learnt(self._tally)[..., 0]

    def sums(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums of rows (n, m) by fold and class, (P, f · k, m), in plain arithmetic."""
        found = np.zeros((len(self), self.f * self.k, x.shape[1]))
        kernels.labelings.add_rows(x, self.codes, self.folds, self.k, found)
        return found

    def learnt(self, sums: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sums over all other folds, (P, f, k, m), from those by fold; nothing is subtracted."""
        by_fold = sums.reshape(len(self), self.f, self.k, -1)
        others = np.zeros_like(by_fold)
        for g in range(1, self.f):
            others[:, g] = others[:, g - 1] + by_fold[:, g - 1]
        after = np.zeros_like(by_fold[:, 0])
        for g in range(self.f - 2, -1, -1):
            after += by_fold[:, g + 1]
            others[:, g] += after
        return others
