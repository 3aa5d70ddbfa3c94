"""Accuracies of folds under many orders of the labels, from sums of all of them together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, SchemaError
from suffice.model_selection.folds import Opened, Partition, is_of_sums
from suffice.model_selection.rows import Rows
from suffice.model_selection.scikit_learn import folds_of, numbered_folds
from suffice.numerics import kernels
from suffice.statistics.labelings import Labelings

__all__ = ["PermutedLabels"]

MOST_FOLDS = 64
LABELS, MOST_ORDERS = 2_097_152, 256  # labels, and orders of them, that are looked at together


@dataclass(frozen=True, eq=False)
class PermutedLabels:
    """Rows whose labels change places, for a classifier whose models are functions of sums.

    Parameters
    ----------
    rows : RelabelledRows
    fold : ndarray of int (n,)
        Of the labels as they are given.
    folds : int
    stratified : bool
        Whether folds follow the labels.
    """

    rows: Any
    fold: NDArray[np.intp]
    folds: int
    stratified: bool

    @classmethod
    def of(
        cls, estimator: Any, table: Rows, cv: Any, scoring: Any, params: Mapping[str, Any] | None
    ) -> Self | None:
        """Open a table; None where the models of every order have to be fitted."""
        relabelled = getattr(estimator, "_relabelled", None)
        if relabelled is None or params or scoring not in (None, "accuracy"):
            return None
        numbered = numbered_folds(estimator, table.truth, cv)
        folds = folds_of(estimator, table.X, table.truth, table.groups, cv, table.n)
        if numbered is None or not isinstance(folds, Partition) or len(folds) > MOST_FOLDS:
            return None
        if not is_of_sums(estimator):
            return None
        try:
            opened = Opened.of(estimator, table.X, table.y, None)
            rows = opened.learner._relabelled(opened.reader, opened.source)
        except (DataError, ParameterError, SchemaError):  # which a fit tells of
            return None
        return None if rows is None else cls(rows, folds.fold, len(folds), numbered[1])

    def scores(
        self,
        orders: Iterable[NDArray[np.intp]],
        fitted: Callable[[NDArray[np.intp]], float],
    ) -> Iterator[float]:
        """Yield the mean accuracy of every order of the labels.

        Parameters
        ----------
        orders : iterable of ndarray of int (n,)
        fitted : callable
            Scores an order by fits, where sums do not tell.
        """
        rest, n = iter(orders), len(self.fold)
        together = min(MOST_ORDERS, max(1, LABELS // n))
        while chunk := [self.rows.codes[order] for order in islice(rest, together)]:
            codes = np.stack(chunk)
            labelings = Labelings(codes, self._folds(codes), self.rows.k, self.folds)
            hits = self.rows.hits(labelings)
            if hits is None:
                first = np.unique(self.rows.codes, return_index=True)[1]
                yield from (fitted(first[one]) for one in codes)  # rows with the same labels
                continue
            for accuracies in hits / labelings.tested:
                yield float(accuracies.mean())

    def _folds(self, codes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """The folds of labels, (P, n)."""
        if not self.stratified:
            return np.tile(self.fold.astype(np.uint8), (len(codes), 1))
        found = np.empty_like(codes)
        kernels.labelings.stratify_bytes(codes, self.rows.k, self.folds, found)
        return found
