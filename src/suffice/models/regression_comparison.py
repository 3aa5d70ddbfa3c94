"""What divides the rows of two linear models, column by column, from their co-moments alone."""

from __future__ import annotations

import numpy as np

from suffice.models.design import Design
from suffice.numerics.exact import DoubleDouble, two_sum
from suffice.statistics.comoments import Comoments
from suffice.statistics.comparison import Comparison, compared_unlabelled
from suffice.statistics.counts import Counts, nonnegative
from suffice.statistics.statistic import ClasswiseStatistic

__all__ = ["compared_rows"]


def compared_rows(a: Comoments, of_a: Design, b: Comoments, of_b: Design) -> Comparison:
    """Compare the rows of two tables: numbers and targets as Gaussians, categories by their shares.

    Parameters
    ----------
    a, b : Comoments
        The sums over their rows.
    of_a, of_b : Design
        What is summed: the same columns and targets, the values of categories may differ.
    """
    rows = float(a.weight.sum()), float(b.weight.sum())
    names = [(*of_a.numbers, *of_a.targets), *((name,) for name in of_a.categories)]
    return compared_unlabelled(_blocks(a, of_a), _blocks(b, of_b), rows, names)


def _blocks(statistic: Comoments, design: Design) -> list[ClasswiseStatistic]:
    """Co-moments of numbers and targets, then the counts of every category."""
    targets = np.arange(len(design), statistic.d)
    numbers = statistic.marginal(np.append(design.places(design.numbers), targets))
    return [numbers, *(_counts(statistic, design, name) for name in design.categories)]


def _counts(statistic: Comoments, design: Design, name: str) -> Counts:
    """Σw of the rows that show each value of a category: w times the means of its indicators."""
    places = design.places([name])
    shown = np.asarray(statistic.patterns[:, places].all(axis=1))[statistic.pattern]
    weight = DoubleDouble(*two_sum(statistic.weight[:, 0], statistic.weight[:, 1]))[shown]
    total = weight.sum(axis=0)
    others = (weight[:, None] * statistic.mean[:, places][shown]).sum(axis=0)
    first = total - others.sum(axis=0)  # the reference has no indicator
    count = nonnegative(DoubleDouble.concatenate([first[None], others]), total)
    return Counts((design.categories[name],), count[None]).pruned()
