"""How a linear model reads tables: the terms that columns become, and numeric targets.

It says whether another model's sums are of the same columns, and what divides the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import Layout
from suffice.data.table_source import TableSource
from suffice.data.targets import ArrayTargets, target_columns
from suffice.engines.engine import Engine
from suffice.errors import DataError, ForgetError, SchemaError
from suffice.models.base.fold_sums import sums_by_place
from suffice.models.base.learnt import ExactReader, Learnt
from suffice.models.base.missing_cells import incomplete, listed_missing
from suffice.models.design.empty_columns import without_value
from suffice.models.design.feature_columns import Predictors, features
from suffice.models.design.matrix import Design
from suffice.models.design.settled import settled_design, unused
from suffice.models.linear.comparison import (
    category_counts,
    check_same_columns,
    compared_rows,
    words_shown,
)
from suffice.models.linear.model import IncompleteRow, missing_cells, summarise
from suffice.phrases import Option
from suffice.statistics.comparison import Comparison
from suffice.statistics.grouped_rows import GroupedRows
from suffice.statistics.lost_digits import Loss

__all__ = ["LinearReader", "Rows", "settled"]

Rows = TableSource | ArrayTargets


@dataclass(frozen=True)
class LinearReader(ExactReader[GroupedRows]):
    """How tables are read, and what rows of numbers they become.

    Parameters
    ----------
    design : Design
        The terms that the columns of the first table become, and its targets.
    single_target : bool
        Whether targets were given as (n,), so that predictions are too.
    """

    design: Design
    single_target: bool

    @property
    def without_targets(self) -> Layout:
        """How a table is read that may have targets, and need not."""
        layout = self.layout
        return replace(layout, ignored=(*layout.ignored, *self.design.targets))

    def layout_of(self, source: Rows) -> Layout:
        """How a table is read with its targets."""
        layout = self.layout
        blocks = (*layout.blocks, self.design.target_block)
        if not isinstance(source, TableSource):
            return replace(layout, blocks=blocks)
        targets = target_columns(source, self.design.targets)
        return replace(layout, blocks=blocks, columns=(*layout.columns, *targets))

    def summarise(self, source: Rows, engine: Engine, gaps: bool) -> GroupedRows:
        """The sums over the rows of a table; see `suffice.models.linear.model.summarise`.

        Raises
        ------
        DataError
            If cells are missing and ``gaps`` are not allowed: they are counted.
        """
        layout = self.layout_of(source)
        splits = source.splits(layout, engine.workers)
        try:
            return engine.run(summarise, (self.design, layout, gaps), splits)
        except IncompleteRow:
            raise self.incomplete(engine, layout, splits) from None

    def summarise_by_place(
        self,
        source: Rows,
        engine: Engine,
        gaps: bool,
        group: NDArray[np.intp],
    ) -> list[GroupedRows]:
        """The sums over the rows of every group; see `suffice.models.base.fold_sums`.

        Raises
        ------
        DataError
            As `summarise` does.
        """
        layout = self.layout_of(source)
        splits = source.splits(layout, engine.workers)
        try:
            params = self.design, layout, gaps
            return sums_by_place(summarise, params, engine, splits, group)
        except IncompleteRow:
            raise self.incomplete(engine, layout, splits) from None

    def incomplete(self, engine: Engine, layout: Layout, splits: Sequence[Any]) -> DataError:
        """The error of missing cells, which are counted for it."""
        *counts, rows = engine.run(missing_cells, (self.design, layout), splits).tolist()
        for place in [j for j, count in enumerate(counts) if count == rows][:1]:
            return without_value(self.design.column(place), self.design.targets)
        places = np.flatnonzero(counts).tolist()
        of_columns = listed_missing({self.design.column(j): str(counts[j]) for j in places})
        return incomplete(of_columns, Option.of("incomplete", "gaussian"))

    def keep(self, names: Sequence[str]) -> Self:
        """The reader of some columns, or products of a formula; tables may still have the rest."""
        design = self.design.keep(names)
        left = tuple(name for name in self.design.columns if name not in set(design.columns))
        columns = self.layout.columns
        if left:
            columns = tuple(column for column in columns if column.name in set(design.columns))
        ignored = (*self.layout.ignored, *left)
        layout = replace(self.layout, blocks=design.blocks, columns=columns, ignored=ignored)
        return replace(self, layout=layout, design=design)

    # -- sums of the same columns

    def column(self, lost: ForgetError | Loss) -> str:
        """The column or target that an error is about."""
        return self.design.column(cast(int, lost.column))

    def check_compatible(
        self, statistic: GroupedRows, other: Self, others: GroupedRows, verb: str
    ) -> None:
        """Refuse sums of other columns, categories or targets."""
        check_same_columns(self.design, other.design, verb)

    def merged(self, other: Self) -> Self:
        """The reader of both models' tables, if they have the same values of categories."""
        mine, theirs = self.design, other.design
        if (mine.categories, mine.words) != (theirs.categories, theirs.words):
            what = "categories" if mine.words == theirs.words else "texts"
            raise SchemaError(
                f"the models differ in the values of their {what}",
                f"only models of the same {what} can be merged",
                "fit one model to the rows of both",
            )
        return self

    def compare(self, statistic: GroupedRows, other: Self, others: GroupedRows) -> Comparison:
        """What divides the rows of two statistics."""
        return compared_rows(statistic, self.design, others, other.design)

    def narrowed(self, statistic: GroupedRows) -> Learnt[Self, GroupedRows]:
        """Drop values and counted words that no row shows any more, from the design and the sums.

        Of a category without a term, the sums do not tell whether a row shows its only value, and
        in a formula they tell it only of a category that is a term itself.
        """
        design = self.design
        coded, counted = design.told_by_sums
        if not coded and not counted:
            return Learnt(self, (statistic,))
        fewer, kept = design.narrowed(
            {name: category_counts(statistic, design, name).vocabularies[0] for name in coded},
            {name: words_shown(statistic, design, name) for name in counted},
        )
        if len(kept) < len(design):
            statistic = statistic.marginal(np.append(kept, np.arange(len(design), statistic.d)))
        return Learnt(replace(self, design=fewer), (statistic,))


def settled(
    source: Rows,
    targets: tuple[str, ...],
    single_target: bool,
    told: Predictors,
    engine: Engine,
) -> LinearReader:
    """The reader of tables like a first one.

    Raises
    ------
    SchemaError
        If there is no column besides the targets, or one has too many categories or words.
    DataError
        If a category has no value.
    """
    rows = source.source if isinstance(source, ArrayTargets) else source
    found = features(rows, told, targets)
    if not found.columns:
        raise SchemaError("the table has no column besides the target", "a model needs features")
    design = settled_design(rows, found, told.words, engine, targets).spanning(told.intercept)
    more = {"design": design, "single_target": single_target}
    reader = LinearReader.of(rows, found.columns, design.blocks, {}, **more)
    ignored = (*reader.layout.ignored, *unused(rows, found, targets))
    return replace(reader, layout=replace(reader.layout, ignored=ignored))
