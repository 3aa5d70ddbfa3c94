"""What divides the rows of two linear models: their co-moments, column by column."""

from __future__ import annotations

import numpy as np

from suffice.models.design import Design
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.comoments import Comoments
from suffice.statistics.comparison import Comparison, compared_unlabelled
from suffice.statistics.counts import Counts, nonnegative

__all__ = ["compared_rows"]


def compared_rows(a: Comoments, of_a: Design, b: Comoments, of_b: Design) -> Comparison:
    """Compare the rows of two tables: numbers and targets as Gaussians, categories by their shares.

    Parameters
    ----------
    a, b : Comoments
        The sums over their rows.
    of_a, of_b : Design
        What the columns of the sums are: the same columns and targets, of categories perhaps not
        the same values.
    """
    blocks = [(_numbers(sums, d), _categories(sums, d)) for sums, d in ((a, of_a), (b, of_b))]
    rows = float(a.weight.sum()), float(b.weight.sum())
    names = (*of_a.numbers, *of_a.targets), tuple(of_a.categories)
    return compared_unlabelled(*blocks, rows, names)


def _numbers(statistic: Comoments, design: Design) -> Comoments:
    """The sums of the columns that are numbers, and of the targets."""
    targets = np.arange(len(design), statistic.d)
    return statistic.marginal(np.append(design.places(design.numbers), targets))


def _categories(statistic: Comoments, design: Design) -> Counts:
    """Σw of the rows that show each value of the categories, from the means of its indicators."""
    weight, counts = DoubleDouble(statistic.weight[:, 0], statistic.weight[:, 1]), []
    for name in design.categories:
        places = design.places([name])
        shown = statistic.patterns[:, places].all(axis=1)[statistic.pattern]
        rows = weight[shown]
        total = rows.sum(axis=0)
        others = (rows[:, None] * statistic.mean[:, places][shown]).sum(axis=0)
        first = nonnegative(total - others.sum(axis=0), total)
        counts += [first[None], nonnegative(others, total)]
    vocabularies = tuple(design.categories.values())
    if not vocabularies:
        return Counts((), DoubleDouble.zeros((1, 0)))
    return Counts(vocabularies, DoubleDouble.concatenate(counts)[None]).pruned()
