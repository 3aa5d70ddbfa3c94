"""Parameters whose columns count more or less than once: w_j log p(x_j | c)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.families import Parameters
from suffice.models.base.answers import Doubts
from suffice.models.generative.part import FamilyColumns
from suffice.numerics.in_print import listed
from suffice.numerics.logspace import cell_scores, scores
from suffice.rules import FINITE, NONNEGATIVE, Shape
from suffice.sums.block import among

FEW_CELLS = 4096  # whose terms are found at once, not column by column


class Weighted:
    """Parameters whose columns have weights w_j; a column of weight 0 has no effect.

    Parameters
    ----------
    parameters : Parameters
    weights : ndarray (d,), or (1,) for all columns together
    """

    def __init__(self, parameters: Parameters, weights: NDArray[np.float64]) -> None:
        self._parameters, self._weights = parameters, weights
        self._is_one = bool((weights == weights[0]).all())

    def add_log_likelihood(self, block: Any, out: NDArray[np.float64]) -> None:
        """Add Σⱼ w_j log p(x_j | c) of every row to ``out`` (n, k)."""
        if self._is_one:
            self._add(self._parameters, block, self._weights[0], out)
            return
        if self._weighed is not None:
            self._weighed.add_log_likelihood(block, out)
        elif block.rows * len(self._weights) <= FEW_CELLS:
            out[:] = self._added(block, out)
        else:
            for j, weight in enumerate(self._weights.tolist()):
                with among(np.array([j])):
                    self._add(self._parameters.column(j), block.column(j), weight, out)

    @cached_property
    def _weighed(self) -> Parameters | None:
        return self._parameters.weighed(self._weights)

    def _added(self, block: Any, out: NDArray[np.float64]) -> NDArray[np.float64]:
        """The sums of few rows and their terms, which all columns give at once; in their order."""
        cells = cell_scores(len(out), len(self._weights), out.shape[1])
        self._parameters.add_contributions(block, cells)
        used = np.flatnonzero(self._weights)
        terms = self._weights[used, None, None] * cells.transpose(1, 0, 2)[used]
        return np.asarray(np.add.accumulate(np.concatenate([out[None], terms]))[-1])

    add_discriminants = add_log_likelihood

    def add_contributions(self, block: Any, out: NDArray[np.float64]) -> None:
        """Add w_j log p(x_j | c) of every cell to ``out`` (n, d, k)."""
        cells = cell_scores(*out.shape)
        self._parameters.add_contributions(block, cells)
        weights = np.broadcast_to(self._weights, out.shape[1])[None, :, None]
        out += np.multiply(weights, cells, out=np.zeros_like(cells), where=weights != 0)

    def _add(
        self, parameters: Parameters, block: Any, weight: float, out: NDArray[np.float64]
    ) -> None:
        term = scores(len(out), out.shape[1], 0.0)
        parameters.add_log_likelihood(block, term)  # which refuses cells, whatever the weight
        if weight:
            out += weight * term


CalibrationName = Literal["none", "temperature", "weights"]


@dataclass(frozen=True, eq=False)
class Calibration:
    """Weights, and what they are worth.

    Parameters
    ----------
    weights : ndarray (g,)
        One for every column, in the order of the parts; one for a text, and for columns that are
        modelled together. A last one is that of pairs of columns, where these are counted.
    rows : float
        Σw of the rows that they were fitted to.
    before, after : float
        Log loss of these rows, in nats a row, each taken out of the sums: with weights of 1, and
        with these. The weights know the labels of these rows.
    doubts : ndarray (q + 1,)
        The quantiles of `Doubts` of these rows.
    stale : bool
        Whether rows that they do not know were added, or others forgotten, since.
    """

    weights: Annotated[NDArray[np.float64], Shape("g"), FINITE]
    rows: Annotated[float, NONNEGATIVE]
    before: Annotated[float, FINITE]
    after: Annotated[float, FINITE]
    doubts: Annotated[NDArray[np.float64], Shape("q"), NONNEGATIVE]
    stale: bool = False

    def __repr__(self) -> str:
        weights = listed([f"{weight:.2f}" for weight in self.weights.tolist()])
        return (
            f"weights of columns: {weights}{' (of earlier rows)' if self.stale else ''}\n"
            f"log loss: {self.before:.4f} nats a row with weights of 1, {self.after:.4f} with "
            f"these, of {self.rows:g} rows"
        )

    @classmethod
    def none(cls, usual: NDArray[np.float64]) -> Calibration:
        """Return the weights of a model without a row to fit others to."""
        return cls(usual, 0.0, 0.0, 0.0, np.zeros(0))

    def with_more(self, found: Calibration, share: float) -> Calibration:
        """Return the weights of more rows, and what is known of all: they are a share of these."""
        old, new = 1 - share, share
        doubts = found.doubts
        if len(self.doubts) and len(doubts):
            at = np.repeat([old, new], [len(self.doubts), len(doubts)])
            doubts = Doubts.of(1 - np.append(self.doubts, doubts), at).quantiles
        return replace(
            found,
            rows=self.rows + found.rows,
            before=old * self.before + new * found.before,
            after=old * self.after + new * found.after,
            doubts=doubts,
            stale=self.stale,
        )

    def of_parts(self, parts: tuple[FamilyColumns, ...]) -> list[NDArray[np.float64]]:
        """The weights of every part."""
        ends = np.cumsum([0, *(part.groups for part in parts)])
        return [self.weights[a:b] for a, b in pairwise(ends.tolist())]

    @property
    def label_doubts(self) -> Doubts:
        """Return the nonconformity scores of the rows."""
        return Doubts(self.doubts, self.rows)
