"""Leave-one-out of categories: counts less one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.families.counts.dirichlet import prior_counts
from suffice.families.counts.identifiers import FEW
from suffice.families.left_out.rows import LearntRows
from suffice.numerics.elementary import log
from suffice.statistics.block import BadCell, CodedBlock, IntegerBlock
from suffice.statistics.counts import Counts

__all__ = ["CategoriesLeftOut"]


@dataclass(frozen=True)
class CategoriesLeftOut:
    """θ of every cell from the counts without its row.

    ::

        θ_cv = (N_cv − w[c is its class] + a) / (N_c − w[c is its class] + m a)

    with a = α, α − 1 or 0. A value that the row alone shows is unseen without it, and is no longer
    among the m.

    Parameters
    ----------
    counts : Counts
        Of all rows, over all places of codes that count from 0.
    least : sequence of int
        How many values each column has at least.
    from_zero : bool
        Whether m is one more than the largest value.
    alpha : ndarray (d,)
    estimation : {"mle", "map", "bayes"}
    unseen : {"ignore", "error", "smooth", "known"}
        With "known", as of two outcomes, no row has to show a value.
    ignores : bool
        Whether a column with another value in every row says nothing of the class.
    alike : sequence of int
        The columns that do so.
    """

    counts: Counts
    least: Sequence[int]
    from_zero: bool
    alpha: NDArray[np.float64]
    estimation: str
    unseen: str
    ignores: bool
    alike: Sequence[int] = ()

    def add_log_likelihood(
        self, block: CodedBlock | IntegerBlock, rows: LearntRows, out: NDArray[np.float64]
    ) -> None:
        """Add Σⱼ log θ by the counts without the row.

        Raises
        ------
        BadCell
            If a row alone shows a value, and ``unseen="error"``.
        """
        codes = block.coded().recode(self.counts.vocabularies)
        own = rows.by_class(out.shape[1])
        for j in range(codes.shape[1]):
            self._add_column(j, codes[:, j], own, out)

    def _add_column(
        self, j: int, codes: NDArray[np.intp], own: NDArray[np.float64], out: NDArray[np.float64]
    ) -> None:
        count = np.pad(self.counts.column(j), ((0, 0), (0, 1)))  # the last: values not learnt
        shown = np.flatnonzero(codes >= 0)
        codes, w = codes[shown], own[shown]
        of_row, together = w.sum(axis=1), count.sum(axis=0)
        alone = (of_row > 0) & (together[codes] <= of_row)
        m, unknown = self._sizes(j, together[:-1], codes, alone)
        pseudo = float(prior_counts(float(self.alpha[j]), self.estimation))
        value, total = count.T[codes] - w, count.sum(axis=1) - w
        pooled = (together[codes] - of_row)[:, None], (together.sum() - of_row)[:, None]
        empty = (total <= 0) | (j in self.alike)
        value, total = np.where(empty, pooled[0], value), np.where(empty, pooled[1], total)
        with np.errstate(invalid="ignore", divide="ignore"):
            theta = (value + pseudo) / (total + m[:, None] * pseudo)
        theta = np.where(np.isnan(theta), 1.0 / m[:, None], theta)
        terms = log(np.maximum(theta, 0.0))
        if self.unseen == "error" and unknown.any():
            raise BadCell(int(shown[unknown.argmax()]), j, None, "no other row shows this value")
        if self.unseen == "ignore":
            terms[unknown] = 0.0
        out[shown] += terms
        self._mark(together[:-1], codes, of_row, shown, out)

    def _sizes(
        self,
        j: int,
        together: NDArray[np.float64],
        codes: NDArray[np.intp],
        alone: NDArray[np.bool_],
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """How many values share the probability without each row, and whether its own is unseen."""
        values = np.full(len(codes), len(together))
        if self.from_zero and self.counts.vocabularies[j].counts_from_zero:
            known = np.flatnonzero(together > 0)
            second = int(known[-2]) + 1 if len(known) > 1 else 0
            last = alone & (codes == known[-1])
            values[last] = max(second, self.least[j])
            unknown = codes >= values
        else:
            values[alone] -= 1
            unknown = alone | (codes == len(together))
        m = np.maximum(values, self.least[j]) + (self.unseen == "smooth")
        return np.maximum(m, 1).astype(np.float64), unknown

    def _mark(
        self,
        together: NDArray[np.float64],
        codes: NDArray[np.intp],
        of_row: NDArray[np.float64],
        shown: NDArray[np.intp],
        out: NDArray[np.float64],
    ) -> None:
        """Leave rows to a fit that would decide anew whether the column is an identifier."""
        if not self.ignores or len(together) < FEW:
            return
        often = np.flatnonzero((together != 0) & (together != 1))
        if len(often) > 1 or together.sum() < FEW:
            return
        if len(often) == 1:
            left = together[often[0]] - of_row
            changed = (codes == often[0]) & ((left == 0) | (left == 1))
            out[shown[changed]] = np.nan
        elif min(len(together), together.sum()) - 1 < FEW:
            out[shown] = np.nan
