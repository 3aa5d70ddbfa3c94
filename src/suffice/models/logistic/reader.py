"""How a logistic regression reads tables, and the terms that their columns become."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple, Self

from suffice.data.array_source import ArraySource
from suffice.data.schema import BlockLayout
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine
from suffice.errors import SchemaError
from suffice.models.design.feature_columns import Features, Predictors, features
from suffice.models.design.learnt_bins import with_learnt_bins
from suffice.models.design.matrix import Design
from suffice.models.design.settled import settled_design, unused
from suffice.models.logistic.options import Missing
from suffice.models.reading import LabelReader
from suffice.numerics.rows import is_sparse
from suffice.sums.vocabulary import Vocabulary

MOST_LAID_OUT = 1_000  # columns of a sparse matrix whose numbers are cut


class Cutting(NamedTuple):
    """That numbers are cut into bins.

    Parameters
    ----------
    drop : bool
        Whether rows with a missing cell are left out.
    indicator : bool
        Whether missing cells have terms of their own.
    """

    drop: bool
    indicator: bool

    @classmethod
    def of(cls, incomplete: Missing) -> Self:
        """That of a fit which does this with rows that lack cells."""
        return cls(incomplete == "drop", incomplete == "indicator")


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
    source: TableSource | ArraySource,
    told: Predictors,
    engine: Engine,
    laid_out: bool,
    cutting: Cutting | None = None,
) -> LogisticReader:
    """The reader of tables like a first one.

    Parameters
    ----------
    laid_out : bool
        Whether sparse rows are laid out.
    cutting : Cutting, optional
        Into bins; else numbers are terms.
    """
    found = features(source, told)
    if cutting is not None:
        _check_width(source)
    if found.is_plain and cutting is None:
        return LogisticReader.of(source, found.columns, _blocks(source, found, laid_out), {})
    design = settled_design(source, found, told.words, engine)
    reader = LogisticReader.of(source, found.columns, design.blocks, {}, design=design)
    if cutting is not None:
        parts = source.parts(reader.layout, engine.workers)
        design = with_learnt_bins(design, reader.layout, engine, parts, *cutting)
    reader = replace(reader, design=design.spanning(told.intercept))
    ignored = (*reader.layout.ignored, *unused(source, found))
    return replace(reader, layout=replace(reader.layout, ignored=ignored))


def _check_width(source: TableSource | ArraySource) -> None:
    """Refuse bins of a sparse matrix that is too wide to be laid out."""
    if not isinstance(source, ArraySource) or not is_sparse(source.x):
        return
    if (width := len(source.names)) > MOST_LAID_OUT:
        raise SchemaError(
            f"a sparse matrix has {width:,} columns, which would be cut into bins",
            f"its rows are laid out for that, of at most {MOST_LAID_OUT:,} columns",
            "use numbers='linear'",
        )


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
