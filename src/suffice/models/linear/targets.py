"""Reading tables whose rows have numeric targets, beside the columns or among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from scipy.sparse import issparse
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from suffice.data.array_source import ArraySource
from suffice.data.schema import Column, Layout, UniformColumns
from suffice.data.table_source import TableSource
from suffice.data.targets import ArrayTargets, numeric_targets, target_columns, with_targets
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.models.base.checks import checked_weights, is_array
from suffice.models.base.missing_cells import without_value
from suffice.models.base.tables import ReadsTables
from suffice.models.design.feature_columns import feature_columns
from suffice.models.design.matrix import Design
from suffice.models.linear.model import categories
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["ReadsTargets", "Rows"]

Rows = TableSource | ArrayTargets

MOST_CATEGORIES = 1_000


class ReadsTargets(ReadsTables):
    """An estimator that reads tables whose rows have numeric targets.

    Attributes
    ----------
    design_ : Design
        The terms that the columns of the first table become, and its targets.
    single_target_ : bool
        Whether targets were given as (n,), so that predictions are too.
    """

    categorical: Sequence[str] | None
    design_: Design
    single_target_: bool

    def _layout(self, source: Rows | None) -> Layout:
        """How a table is read: with the targets that this source has, or without any."""
        layout: Layout = self.layout_
        if source is None:
            return replace(layout, ignored=(*layout.ignored, *self.design_.targets))
        blocks = (*layout.blocks, self.design_.target_block)
        if not isinstance(source, TableSource):
            return replace(layout, blocks=blocks)
        targets = target_columns(source, self.design_.targets)
        return replace(layout, blocks=blocks, columns=(*layout.columns, *targets))

    def _open_new(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Open the first table: it settles the columns and how they are read."""
        source, targets = self._open_both(X, y, sample_weight, reset=True)
        rows = source.source if isinstance(source, ArrayTargets) else source
        columns = feature_columns(rows, targets, self.categorical)
        known = self._categories(source, columns) if isinstance(source, TableSource) else {}
        if not columns:
            raise SchemaError(
                "the table has no column besides the target", "a model needs features"
            )
        names = (
            columns.names if isinstance(columns, UniformColumns) else tuple(c.name for c in columns)
        )
        if isinstance(source, TableSource):
            self._settle_columns(X, names)
        self.design_ = Design(names, targets, known)
        ignored = source.ignored
        self.layout_ = Layout(self.design_.blocks, columns, weight=source.weight, ignored=ignored)
        return source

    def _categories(self, source: TableSource, columns: Sequence[Column]) -> dict[str, Vocabulary]:
        """The values of the columns that are categories: a pass over these columns alone."""
        chosen = tuple(column for column in columns if column.kind == "category")
        if not chosen:
            return {}
        names = tuple(column.name for column in chosen)
        blocks = Design(names, (), dict.fromkeys(names, Vocabulary(()))).blocks
        others = tuple(name for name in source.table.names if name not in names)
        layout = Layout(blocks, chosen, ignored=others)
        engine = self._engine_for(source)
        counts = engine.run(categories, layout, source.splits(layout, engine.workers))
        found = dict(zip(names, counts.vocabularies, strict=True))
        for name, values in found.items():
            if not len(values):
                raise without_value(name)
            if len(values) > MOST_CATEGORIES:
                raise SchemaError(
                    f"column {name!r} has {len(values)} categories",
                    f"each becomes a column of its own; {MOST_CATEGORIES} are the most",
                    "leave it out",
                )
        return found

    def _open_more(self, X: Any, y: Any, sample_weight: Any) -> Rows:
        """Open rows with their targets, which must be those of the first fit."""
        check_is_fitted(self)
        source, targets = self._open_both(X, y, sample_weight, reset=False)
        mine = self.design_.targets
        if len(targets) != len(mine):
            raise SchemaError(
                f"there are {len(targets)} targets",
                f"the model has {len(mine)}: {', '.join(map(repr, mine))}",
            )
        if isinstance(source, TableSource) and targets != mine:
            renamed = dict(zip(targets, mine, strict=True))
            raise SchemaError(
                f"the target is called {targets[0]!r}",
                f"the model learnt {mine[0]!r}",
                f"rename the columns {renamed}",
            )
        return source

    def _open_both(
        self, X: Any, y: Any, sample_weight: Any, reset: bool
    ) -> tuple[Rows, tuple[str, ...]]:
        """Open rows with their targets, and say what these are called."""
        if y is None:
            raise ParameterError(
                f"{type(self).__name__} requires y to be passed, but the target y is None",
                "a linear model learns from targets",
                "pass an array or the name of the target column",
            )
        if isinstance(y, str) or _are_names(y):
            named = (y,) if isinstance(y, str) else tuple(y)
            if reset:
                self.single_target_ = isinstance(y, str)
            return cast(TableSource, self._open(X, named, sample_weight, reset)), named
        if issparse(y):
            raise DataError(
                "the targets are a sparse matrix", "targets are dense numbers", "pass y.toarray()"
            )
        values, targets, single = numeric_targets(y)
        source = self._open(X, (), sample_weight, reset)
        if reset:
            self.single_target_ = single
        if isinstance(source, TableSource):
            return with_targets(source, values, targets)
        check_consistent_length(source.x, values)
        return ArrayTargets(source, values), targets

    def _open(
        self,
        X: Any,
        targets: tuple[str, ...] = (),
        sample_weight: Any = None,
        reset: bool = False,
    ) -> TableSource | ArraySource:
        """Open rows; the first (``reset``) settle the columns, the others must have them."""
        if not is_array(X, *targets, sample_weight):
            return self._open_table(X, None, sample_weight, reset)
        x, names = self._open_array(X, (*targets, sample_weight), reset)
        weights = None if sample_weight is None else checked_weights(sample_weight, x.shape[0])
        return ArraySource(x, names, None, weights)


def _are_names(y: Any) -> bool:
    """Tell a list of column names from a list of targets."""
    return isinstance(y, list | tuple) and bool(y) and all(isinstance(name, str) for name in y)
