"""Whole numbers: a category or numbers, by what all rows of a column show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError
from suffice.families.adaptive import Adaptive, AdaptiveParameters, Choice
from suffice.families.categorical import Categorical
from suffice.families.counts.smoothing import settled_alpha
from suffice.families.family import Apply, Family, Parameters, family_named
from suffice.families.kinds.left_out import WholeNumbersLeftOut
from suffice.families.kinds.parameters import CATEGORY, WholeNumbersParameters
from suffice.families.kinds.rule import categories_of
from suffice.families.left_out.rows import LeaveOneOut
from suffice.families.options import (
    Estimation,
    Identifiers,
    Numbers,
    Smoothing,
    Unseen,
    VarianceFloor,
    check_smoothing,
    check_words,
)
from suffice.phrases import Option
from suffice.statistics.block import Encoding
from suffice.statistics.moments_and_bins import MomentsAndBins, MomentsAndBinsAccumulator
from suffice.statistics.statistic import Accumulator
from suffice.statistics.whole_values import counts_of

__all__ = ["WholeNumbers"]


@dataclass(frozen=True)
class WholeNumbers(Family):
    """A categorical or a distribution of numbers for every column, as its values suggest.

    A column is a category if its rows show whole numbers of at most 256 in size only, and at most
    20 of them, each 10 times on average, or two, 0 and 1 or −1 and 1. Else it holds numbers. This
    follows from the sums, so rows that are added, merged or forgotten decide it anew, as one fit of
    all rows does.

    Parameters
    ----------
    numbers : {"adaptive", "gaussian", "histogram", "kernel_density"}
        The family of columns that hold numbers.
    estimation : {"bayes", "mle", "map"}
        How parameters follow from the sums.
    alpha : float, "evidence" or "shared_evidence"
        Pseudo-count of every value of a category, or the one of greatest evidence: see
        `Categorical`.
    unseen : {"ignore", "error", "smooth"}
        What becomes of a value of a category that no row showed: see `Categorical`.
    ddof, variance_floor
        Of Gaussians: see `Gaussian`.
    identifiers : {"keep", "ignore"}
        Numbers that count 20 rows or more: with "ignore" they say nothing of the class.
    choices : tuple of Choice
        What is not to be chosen anew, one for each column; empty to choose.

    Raises
    ------
    ParameterError
        If an option is outside its rule.

    See Also
    --------
    suffice.families.categorical.Categorical
    suffice.families.adaptive.Adaptive

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> rooms, price = [1, 2, 3] * 20, list(range(100, 400, 5))
    >>> model = NaiveBayes().fit({"rooms": rooms, "price": price}, ["old", "new", "new"] * 20)
    >>> [(column.name, column.kind) for column in model.schema_]
    [('rooms', 'category'), ('price', 'real')]
    """

    numbers: Numbers = "adaptive"
    estimation: Estimation = "bayes"
    alpha: Smoothing = 1.0
    unseen: Unseen = "ignore"
    ddof: int = 0
    variance_floor: VarianceFloor = 1e-9
    identifiers: Identifiers = field(default="keep", compare=False)
    choices: tuple[Choice, ...] = field(default=(), compare=False, repr=False)

    encodings: ClassVar[tuple[Encoding, ...]] = ("real",)
    lazy: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_smoothing(self.estimation, self.alpha)
        if isinstance(self.alpha, tuple) and not self.choices:
            raise ParameterError(
                Option.of("alpha", self.alpha), "alpha is one number for the values of all columns"
            )
        check_words(numbers=self.numbers, unseen=self.unseen, identifiers=self.identifiers)
        _ = self._numbers  # which checks the others

    def _categories(self, d: int) -> Categorical:
        return Categorical(self.alpha if d else 1.0, self.estimation, self.unseen)

    @property
    def _numbers(self) -> Family:
        names = "estimation", "ddof", "variance_floor", "identifiers"
        family = family_named(self.numbers, **{name: getattr(self, name) for name in names})
        if not isinstance(family, Adaptive):
            return family
        choices = tuple(c for c in self.choices if c.family != CATEGORY.family)
        return replace(family, choices=choices)

    def accumulator(self, encoding: str, d: int) -> Accumulator:
        """An empty accumulator for d columns."""
        return MomentsAndBinsAccumulator(d)

    def categories(self, statistic: MomentsAndBins) -> NDArray[np.intp]:
        """The columns that are categories, by their place."""
        if self.choices:
            return np.flatnonzero([choice.family == CATEGORY.family for choice in self.choices])
        return categories_of(statistic.bins)

    def divided(self, statistic: MomentsAndBins) -> tuple[Side, Side]:
        """The columns of numbers and of categories, their families, and the sums of these."""
        of_categories = self.categories(statistic)
        of_numbers = np.setdiff1d(np.arange(statistic.d), of_categories)
        sums = statistic.columns(of_numbers) if len(of_categories) else statistic
        numbers = sums.moments if self.numbers == "gaussian" else sums
        counts = counts_of(statistic.bins, of_categories)
        return (
            Side(of_numbers, self._numbers, numbers),
            Side(of_categories, self._categories(len(of_categories)), counts),
        )

    def advice(self, statistic: MomentsAndBins) -> Sequence[tuple[int, str]]:
        """Constants, and copies of the label."""
        found = (
            (int(side.columns[j]), said)
            for side in self.divided(statistic)
            for j, said in side.family.advice(side.sums)
        )
        return sorted(found)

    def left_out(self, statistic: MomentsAndBins) -> NDArray[np.intp]:
        """Numbers of rows, if these are to be ignored."""
        if self.identifiers == "keep":
            return super().left_out(statistic)
        numbers, _ = self.divided(statistic)
        return numbers.columns[numbers.family.left_out(numbers.sums)]

    def estimate(self, statistic: MomentsAndBins) -> WholeNumbersParameters:
        """Decide what every column is, and estimate it."""
        return self.estimate_by(statistic, map)

    def estimate_by(self, statistic: MomentsAndBins, apply: Apply) -> WholeNumbersParameters:
        """Decide what every column is, and estimate it."""
        numbers, categories = self.divided(statistic)
        found = numbers.family.estimate_by(numbers.sums, apply)
        choices = [CATEGORY] * statistic.d
        for place, j in enumerate(numbers.columns.tolist()):
            usual = Choice(self.numbers, 0.0, {})
            choices[j] = found.choices[place] if isinstance(found, AdaptiveParameters) else usual
        return WholeNumbersParameters(
            numbers.columns,
            categories.columns,
            found,
            cast(Categorical, categories.family).estimate(categories.sums),
            tuple(choices),
        )

    def leave_one_out(self, statistic: MomentsAndBins) -> LeaveOneOut:
        """Log-likelihoods of rows by the sums of all others."""
        sides = [side for side in self.divided(statistic) if len(side.columns)]
        found = [side.family.leave_one_out(side.sums) for side in sides]
        return WholeNumbersLeftOut(
            statistic.bins, replace(self, unseen="ignore").estimate(statistic), found
        )

    def estimate_as(self, statistic: MomentsAndBins, choices: Sequence[Choice]) -> Parameters:
        """The same parameters, where it is known what this family would choose."""
        known = replace(self, choices=tuple(choices))
        categories = known.categories(statistic)
        if not np.array_equal(categories, categories_of(statistic.bins)):  # of an altered file
            return self.estimate(statistic)
        return known.estimate(statistic)

    def binned(self, d: int) -> NDArray[np.intp]:
        """Those that are no Gaussians, once that is known."""
        if not self.choices:
            return super().binned(d)
        return np.flatnonzero([choice.family != "gaussian" for choice in self.choices])

    def settled(self, parameters: Parameters) -> WholeNumbers:
        """The same, with what was chosen for these parameters."""
        assert isinstance(parameters, WholeNumbersParameters)
        evidence = parameters.categories.alpha_evidence
        alpha = self.alpha if evidence is None else settled_alpha(self.alpha, evidence)
        unseen: Unseen = "ignore" if self.unseen == "error" else self.unseen
        return replace(
            self,
            choices=parameters.choices,
            alpha=1.0 if isinstance(alpha, str) else alpha,  # which no column has
            unseen=unseen,
        )


class Side(NamedTuple):
    """The columns of one kind, the family that models them, and the sums that it knows."""

    columns: NDArray[np.intp]
    family: Family
    sums: Any
