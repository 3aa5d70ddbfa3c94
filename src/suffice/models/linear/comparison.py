"""What divides the rows of two linear models, column by column, from their co-moments alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.errors import SchemaError
from suffice.models.design.matrix import Design
from suffice.numerics.exact import DoubleDouble
from suffice.statistics.comparison import Comparison, compared_unlabelled
from suffice.statistics.counts import Counts, nonnegative
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.statistic import ClasswiseStatistic
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["category_counts", "check_same_columns", "compared_rows"]


def compared_rows(a: GroupedRows, of_a: Design, b: GroupedRows, of_b: Design) -> Comparison:
    """Compare the rows of two tables: numbers as Gaussians, categories by their fractions.

    Parameters
    ----------
    a, b : Comoments
        The sums over their rows.
    of_a, of_b : Design
        What is summed: the same columns and targets, the values of categories may differ.
    """
    rows = a.rows, b.rows
    numbers = tuple(of_a.terms[place] for place in _numbers(of_a))
    names = [(*numbers, *of_a.targets), *((name,) for name in _counted(of_a))]
    return compared_unlabelled(_blocks(a, of_a), _blocks(b, of_b), rows, names)


def _blocks(statistic: GroupedRows, design: Design) -> list[ClasswiseStatistic]:
    """Co-moments of numbers and targets, then the counts of every category."""
    targets = np.arange(len(design), statistic.d)
    numbers = statistic.marginal(np.append(_numbers(design), targets))
    return [numbers, *(category_counts(statistic, design, name) for name in _counted(design))]


def _counted(design: Design) -> Sequence[str]:
    """The categories whose counts follow from the terms: all, but in a formula."""
    return tuple(design.categories) if design.formula is None else ()


def _numbers(design: Design) -> NDArray[np.intp]:
    """The other terms."""
    return np.setdiff1d(np.arange(len(design)), design.places(_counted(design)))


def category_counts(statistic: GroupedRows, design: Design, name: str) -> Counts:
    """Σw of the rows that show each value of a category: w times the means of its indicators.

    A value that no row shows is not among them.
    """
    places = design.places([name])
    total, sums = _sums(statistic, places)
    if design.has_each_value(name):
        by_level = sums
    elif name in design.ordered:  # sums of this level and those above it
        after = DoubleDouble.concatenate([sums[1:], DoubleDouble.zeros(min(len(places), 1))])
        first = total - (sums[0] if len(places) else DoubleDouble.zeros(()))
        by_level = DoubleDouble.concatenate([first[None], sums - after])
    else:
        by_level = DoubleDouble.concatenate([(total - sums.sum(axis=0))[None], sums])
    count = nonnegative(by_level[design.ranks(name)], total)
    return Counts((design.categories[name],), count[None]).pruned()


def words_shown(statistic: GroupedRows, design: Design, name: str) -> Vocabulary:
    """The words of a text, each counted, that rows show."""
    total, sums = _sums(statistic, design.places([name]))
    return design.words[name].known.take(np.flatnonzero(nonnegative(sums, total).hi > 0))


def _sums(statistic: GroupedRows, places: NDArray[np.intp]) -> tuple[DoubleDouble, DoubleDouble]:
    """Σw of the rows that show some terms, and Σwx of these: w times the means."""
    shown = np.asarray(statistic.patterns[:, places].all(axis=1))[statistic.pattern]
    weight = statistic.group_weight[shown]
    sums = (weight[:, None] * statistic.mean[:, places][shown]).sum(axis=0)
    return weight.sum(axis=0), sums


def check_same_columns(mine: Design, theirs: Design, verb: str) -> None:
    """Refuse two linear models that are not of the same columns, categories and targets.

    Parameters
    ----------
    mine, theirs : Design
        Those of "this model" and "the other" in what the error says.
    verb : str
        What is done to them, such as "merged".

    Raises
    ------
    SchemaError
        Naming the first difference.
    """
    for part, one in mine.outline.items():
        other = theirs.outline[part]
        if one != other:
            sides = (one, set(other), "this model"), (other, set(one), "the other")
            alone = (
                f"{name!r} is among the {part} of {side} only"
                for names, rest, side in sides
                for name in names
                if name not in rest
            )
            raise SchemaError(
                f"the models differ: {next(alone, f'their {part} are in different orders')}",
                f"only models of the same columns can be {verb}",
                "fit both to the same columns",
            )
