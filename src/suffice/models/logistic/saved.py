"""Content of the file of a logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import BlockLayout
from suffice.models.base.saved import LAYOUT, SavedClassifier, are_same
from suffice.models.design.formula import Formula
from suffice.models.design.matrix import Design
from suffice.models.design.words import Words
from suffice.models.optimise.gradient_descent import GradientDescent
from suffice.numerics.error_free import LARGEST
from suffice.numerics.exact import SQUARABLE, WEIGHT
from suffice.rules import FINITE, NONNEGATIVE, Shape, Within, rule
from suffice.sums.pairs import CutBins
from suffice.sums.vocabulary import Vocabulary
from suffice.tree import named

SAVED = {
    **LAYOUT,
    **named(CutBins, Design, Formula, GradientDescent, Vocabulary, Words),
}
"""The types that the file of a logistic regression may hold."""

STEEPEST = 1e10  # log-odds that a double still knows to six decimals


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedLogistic(SavedClassifier):
    """Content of the file of a logistic regression: see `LogisticModel` and `CentredDesign`."""

    design: Design  # the F terms
    mean: Annotated[NDArray[np.float64], Shape("F"), SQUARABLE]
    scale: Annotated[NDArray[np.float64], Shape("F"), Within(0, LARGEST)]
    complete: bool  # whether a fit leaves out rows with a missing cell
    classes: Annotated[Vocabulary, Shape("k")]  # the k labels
    coefficients: Annotated[NDArray[np.float64], Shape("m", "D"), SQUARABLE]
    has_intercept: bool  # whether b is estimated
    root: Annotated[NDArray[np.float64] | None, Shape("q", "mD"), SQUARABLE] = None
    loss_history: Annotated[NDArray[np.float64] | None, Shape("passes"), FINITE] = None
    likelihood: dict[str, Any] | None
    n_iter: Annotated[NDArray[np.intp], Shape(1), NONNEGATIVE]
    n_passes: Annotated[int, NONNEGATIVE]
    left_out: Annotated[float, WEIGHT]  # weights of rows that were left out
    unlabelled: Annotated[float, WEIGHT] = 0.0  # of those without a label
    rows: Annotated[float, WEIGHT]  # weight of the rows learnt
    remarks: tuple[str, ...]

    @property
    def labels(self) -> tuple[Vocabulary, ...]:
        return (self.classes,)

    @rule("there are two classes or more, and coefficients of each term for every score")
    def _has_coefficients(self) -> bool:
        k, f = len(self.classes), len(self.mean)
        return k > 1 and self.coefficients.shape == (1 if k == 2 else k, 1 + f)

    @rule("no standard deviation changes log-odds by more than 1e10, and constants change none")
    def _has_scores(self) -> bool:
        b, w = self.coefficients[:, 0], self.coefficients[:, 1:]
        steps = np.append(w * self.scale, b)
        return bool((np.abs(steps) <= STEEPEST).all()) and not w[:, self.scale == 0].any()

    @rule("the table is read as the design asks for, or in compressed rows")
    def _has_layout(self) -> bool:
        blocks, design = self.layout.blocks, self.design
        compressed = (BlockLayout("sparse", design.columns),)
        sparse = blocks == compressed and design.is_of_numbers
        same = are_same(self.layout.names, design.columns)
        read = same and (sparse or blocks == design.blocks)
        return read and len(design) == len(self.mean) and not design.targets

    @rule("errors are of these coefficients")
    def _has_errors(self) -> bool:
        return self.root is None or self.root.shape[1] == self.coefficients.size
