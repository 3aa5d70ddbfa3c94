"""Readers of linear models: the terms that columns become, and numeric targets.

It says whether another model's sums are of the same columns, and what divides the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.numeric_targets import target_columns
from suffice.data.schema import BlockLayout, Layout
from suffice.data.source import ArraySource
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine
from suffice.errors import ForgetError, ParameterError, SchemaError
from suffice.models.design.feature_columns import moved, widened
from suffice.models.design.matrix import Design
from suffice.models.method import Learnt, SumsReader
from suffice.numerics.exact import DoubleDouble
from suffice.sums.base import ClassSums, nonnegative
from suffice.sums.by_class import Loss
from suffice.sums.comoments import Comoments
from suffice.sums.comparison import Comparison, compared
from suffice.sums.counts import Counts
from suffice.sums.kept_rows import KeptRows
from suffice.sums.vocabulary import Vocabulary


def _blocks(statistic: KeptRows | Comoments, design: Design) -> list[ClassSums]:
    """Co-moments of numbers and targets, then the counts of every category."""
    targets = np.arange(len(design), statistic.d)
    numbers = products_of(statistic.marginal(np.append(_numbers(design), targets)))
    return [numbers, *(category_counts(statistic, design, name) for name in _counted(design))]


def products_of(sums: Any) -> Comoments:
    """Return sums of products of columns, where they may be rows."""
    return cast(Comoments, sums.products() if isinstance(sums, KeptRows) else sums)


def _counted(design: Design) -> Sequence[str]:
    """The categories whose counts follow from the terms: all, but in a formula."""
    return tuple(design.categories) if design.formula is None else ()


def _numbers(design: Design) -> NDArray[np.intp]:
    return np.setdiff1d(np.arange(len(design)), design.places(_counted(design)))


def category_counts(statistic: KeptRows | Comoments, design: Design, name: str) -> Counts:
    """Σw of the rows that show each value of a category: w times the means of its indicators.

    A value that no row shows is not among them.
    """
    places = design.places([name])
    total, sums = statistic.sums_of(places)
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


Rows = TableSource | ArraySource


@dataclass(frozen=True)
class LinearReader(SumsReader[Any]):
    """A reader of tables, with the rows of numbers that they become."""

    design: Design  # the terms that the columns of the first table become, and its targets
    single_target: bool  # whether targets were given as (n,), so that predictions are too
    gaps: bool = False  # whether rows with missing cells are summed too

    @property
    def to_answer(self) -> Layout:
        """Return the layout of a table that may have targets, and need not."""
        layout = self.layout
        return replace(layout, ignored=(*layout.ignored, *self.design.targets))

    def layout_of(self, source: Rows) -> Layout:
        layout = self.layout
        blocks = (*layout.blocks, BlockLayout("real", self.design.targets))
        if not isinstance(source, TableSource):
            return replace(layout, blocks=blocks)
        targets = target_columns(source, self.design.targets)
        return replace(layout, blocks=blocks, columns=(*layout.columns, *targets))

    # -- sums of the same columns

    def column(self, lost: ForgetError | Loss) -> str:
        return self.design.column(cast(int, lost.column))

    def check_compatible(
        self, statistic: Comoments, other: Self, others: Comoments, verb: str
    ) -> None:
        for part, mine in self.design.outline.items():
            theirs = other.design.outline[part]
            if mine == theirs:
                continue
            sides = (mine, set(theirs), "this model"), (theirs, set(mine), "the other")
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

    def merged(self, other: Self) -> Self:
        """The reader of both models' tables, with the values of categories of either."""
        design = self.design.joined(other.design)
        for one in (self, other):
            one._require_terms(design)
        return replace(self, design=design)

    def moved(self, statistic: Any, wider: Self) -> Any:
        return moved(statistic, self.design, wider.design)

    def widened(self, rows: Rows, engine: Engine) -> Self:
        design = widened(self.design, rows, self.layout_of(rows), engine)
        self._require_terms(design)
        return replace(self, design=design)

    def _require_terms(self, wider: Design) -> None:
        """Refuse a second value of a category that has no term: its missing cells are not known."""
        for name, values in self.design.categories.items() if self.gaps else ():
            if len(values) == 1 and len(wider.categories[name]) > 1:
                raise SchemaError(
                    f"the column {name!r} has new values, and had {values.values[0]!r} alone",
                    "the sums of one value do not say in which rows it is missing",
                    "fit one model to the rows of both",
                )

    def compare(self, statistic: Comoments, other: Self, others: Comoments) -> Comparison:
        """Compare numbers as Gaussians, and categories, whose values may differ, by fractions."""
        design, rows = self.design, (statistic.rows, others.rows)
        numbers = tuple(design.terms[place] for place in _numbers(design))
        names = [(*numbers, *design.left), *((name,) for name in _counted(design))]
        blocks = _blocks(statistic, design), _blocks(others, other.design)
        return compared(*blocks, names, rows)

    def narrowed(self, statistic: Comoments) -> Learnt[Self, Comoments]:
        """Drop values and counted words that no row shows any more, from the design and the sums.

        Of a category without a term, the sums do not tell whether a row shows its only value, and
        in a formula they tell it only of a category that is a term itself.
        """
        design = self.design
        coded, counted = design.told_by_sums
        if not coded and not counted:
            return Learnt(self, (statistic,))
        values = {name: category_counts(statistic, design, name).vocabularies[0] for name in coded}
        words: dict[str, Vocabulary] = {}
        for name in counted:
            total, sums = statistic.sums_of(design.places([name]))
            shown = np.flatnonzero(nonnegative(sums, total).hi > 0)
            words[name] = design.words[name].known.take(shown)
        fewer, kept = design.narrowed(values, words)
        if len(kept) < len(design):
            statistic = statistic.marginal(np.append(kept, np.arange(len(design), statistic.d)))
        return Learnt(replace(self, design=fewer), (statistic,))


def refuse_label_names(rows: TableSource) -> None:
    """Refuse other names of labels with a regression."""
    said = rows.table.about.cleaning
    for name in ("label_suffix", "label_map"):
        if said.get(name):
            raise ParameterError(
                f"{name}={said[name]!r} with a regression",
                "its targets are numbers, which have no other names",
                "leave it out",
            )
