"""The content of the file of a linear model with numeric targets."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

from suffice.models.base.forgotten import ARE_DIGESTS, Forgotten, are_digests
from suffice.models.base.saved import LAYOUT, Saved, are_same
from suffice.models.design.formula import Formula
from suffice.models.design.matrix import Design
from suffice.models.design.words import Words
from suffice.models.linear.conformal import ErrorSizes
from suffice.models.linear.descent import Coefficients
from suffice.models.optimise.gradient_descent import GradientDescent
from suffice.numerics.exact import DoubleDouble
from suffice.rules import NONNEGATIVE, rule
from suffice.sums.bins import BinnedCounts
from suffice.sums.block import Encoding
from suffice.sums.comoments import Comoments
from suffice.sums.vocabulary import Vocabulary
from suffice.tree import named

DENSE: dict[Encoding, Encoding] = {"sparse": "real"}  # numbers that may be stored as few cells

SAVED = {
    **LAYOUT,
    **named(Comoments, Design, DoubleDouble, Formula, GradientDescent),
    **named(BinnedCounts, ErrorSizes, Vocabulary, Words),
    **named(Coefficients),
}
"""The types that the file of such a model may hold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedRegressor(Saved):
    """The content of the file of a linear model with numeric targets: sums, or coefficients."""

    design: Design  # terms and targets
    batches: tuple[Comoments, ...] | None  # one, or one for each batch of a window
    coefficients: Coefficients | None = None  # of a descent, or of rows fewer than their products
    single_target: bool  # whether targets were given as (n,)
    alpha_: Annotated[float, NONNEGATIVE] = 0.0  # α of a penalty, given or chosen; 0 without one
    errors: ErrorSizes | None = None  # how large the errors of rows are
    forgotten: Forgotten = ()  # sets of rows that were forgotten: of each a key and a digest

    @rule(ARE_DIGESTS)
    def _has_digests(self) -> bool:
        return are_digests(self.forgotten)

    @rule("errors are those of every target, of a model of sums")
    def _has_errors(self) -> bool:
        of_all = self.errors is None or len(self.errors.unit) == len(self.design.targets)
        return of_all and (self.errors is None or self.batches is not None)

    @rule("the table is read as the design asks for")
    def _has_layout(self) -> bool:
        same = are_same(self.layout.names, self.design.columns)
        dense = tuple(
            replace(b, encoding=DENSE.get(b.encoding, b.encoding)) for b in self.layout.blocks
        )
        return same and dense == self.design.blocks

    @rule("sums are of numbers, values and words, none of bins or missing cells")
    def _has_sums_of_terms(self) -> bool:
        return not (self.design.bins or self.design.missing)

    @rule("there is a target, and only one if it was given alone")
    def _has_targets(self) -> bool:
        t = len(self.design.targets)
        return t == 1 or (t > 1 and not self.single_target)

    @rule("there are sums over rows of all terms and targets, or coefficients of them")
    def _has_sums(self) -> bool:
        p, t = len(self.design), len(self.design.targets)
        if self.batches is None:
            found = self.coefficients
            return found is not None and found.coefficients.shape == (p, t)
        alike = all((s.k, s.pooled, s.d) == (1, False, p + t) for s in self.batches)
        of_one_form = len(set(map(type, self.batches))) == 1
        some = any(len(s.code) for s in self.batches)
        return self.coefficients is None and alike and of_one_form and some
