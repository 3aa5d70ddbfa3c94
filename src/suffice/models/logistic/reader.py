"""How a logistic regression reads tables, and the terms that their columns become."""

from __future__ import annotations

from dataclasses import dataclass, replace

from suffice.data.array_source import ArraySource
from suffice.data.schema import BlockLayout
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine
from suffice.models.base.reader import LabelReader
from suffice.models.design.feature_columns import Features, Predictors, features
from suffice.models.design.matrix import Design
from suffice.models.design.settled import settled_design, unused
from suffice.numerics.sparse import is_sparse
from suffice.statistics.vocabulary import Vocabulary

__all__ = ["LogisticReader", "settled"]


@dataclass(frozen=True)
class LogisticReader(LabelReader):
    """How tables are read, and what rows of numbers they become.

    Parameters
    ----------
    design : Design, optional
        The terms, where they are more than numbers and unordered categories, whose values the
        first pass of a fit finds.
    """

    design: Design | None = None


def settled(
    source: TableSource | ArraySource, told: Predictors, engine: Engine, laid_out: bool
) -> LogisticReader:
    """The reader of tables like a first one.

    Parameters
    ----------
    laid_out : bool
        Whether sparse rows are laid out.
    """
    found = features(source, told)
    if found.is_plain:
        return LogisticReader.of(source, found.columns, _blocks(source, found, laid_out), {})
    design = settled_design(source, found, told.words, engine)
    reader = LogisticReader.of(source, found.columns, design.blocks, {}, design=design)
    ignored = (*reader.layout.ignored, *unused(source, found))
    return replace(reader, layout=replace(reader.layout, ignored=ignored))


def _blocks(
    source: TableSource | ArraySource, found: Features, laid_out: bool
) -> tuple[BlockLayout, ...]:
    """How the columns are read: numbers together, dense or sparse, then categories."""
    if isinstance(source, ArraySource):
        sparse = is_sparse(source.x) and not laid_out
        return (BlockLayout("sparse" if sparse else "real", source.names),)
    coded = tuple(column.name for column in found.columns if column.kind == "category")
    empty = dict.fromkeys(coded, Vocabulary(()))
    return Design(tuple(column.name for column in found.columns), (), empty).blocks
