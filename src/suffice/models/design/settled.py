"""The design of a first table: the values of its categories, and the words of its texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from suffice.data.schema import Layout, UniformColumns
from suffice.data.source import ArraySource, Part, each_batch
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine
from suffice.errors import SchemaError
from suffice.models.design.feature_columns import Features
from suffice.models.design.matrix import Design
from suffice.models.design.remarks import learnt_rows, without_rows, without_value
from suffice.models.design.words import Counting, Ways, Words, counting
from suffice.phrases import meant
from suffice.sums.batch import Batch
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.counts import CountAccumulator, EventAccumulator
from suffice.sums.vocabulary import Vocabulary

WEIGHT_ROUNDING = 1e-12  # of Σw
MOST_NAMED = 10  # values in an error
ONE = Vocabulary((0,))  # the class of rows without labels
COUNTS: dict[str, Callable[[int], Any]] = {
    "category": CountAccumulator,
    "events": lambda _: EventAccumulator(presence=True),
}


def settled_design(
    source: TableSource | ArraySource,
    found: Features,
    ways: Ways,
    engine: Engine,
    targets: tuple[str, ...] = (),
    with_missing: bool = False,
) -> Design:
    """The terms that columns become; a pass over those columns whose values have to be known.

    ``with_missing`` gives the missing cells of a category a term, where rows show some.
    """
    columns = found.columns
    if isinstance(columns, UniformColumns):
        return Design(columns.names, targets, formula=found.formula)
    coded = tuple(c.name for c in columns if c.kind == "category")
    texts = tuple(c.name for c in columns if c.kind == "text")
    how = counting(ways)
    shown = Shown({}, (), {})
    if coded or (texts and how):
        assert isinstance(source, TableSource)
        shown = _shown(source, found, coded, texts if how else (), how or Counting(), engine)
    values = shown.values
    for name, levels in found.ordered.items():
        _require_levels(name, values[name], levels)
    reference = {
        name: _level(name, values[name].values, given) for name, given in found.reference.items()
    }
    return Design(
        tuple(c.name for c in columns),
        targets,
        values,
        dict(found.ordered),
        shown.words or {name: Words(cast(int, ways)) for name in texts},
        found.formula,
        reference,
        missing=shown.gaps if with_missing else (),
    )


def unused(
    source: TableSource | ArraySource, found: Features, targets: Sequence[str] = ()
) -> tuple[str, ...]:
    """The columns of a table that a formula does not name."""
    if isinstance(source, ArraySource) or found.formula is None:
        return ()
    used = {*found.formula.columns, *targets}
    return tuple(name for name in source.feature_names if name not in used)


class Shown(NamedTuple):
    """Values of categories that rows show, categories that lack a cell, and words of texts."""

    values: dict[str, Vocabulary]
    gaps: tuple[str, ...]
    words: dict[str, Words]


def _shown(
    source: TableSource,
    found: Features,
    coded: tuple[str, ...],
    counted: tuple[str, ...],
    how: Counting,
    engine: Engine,
) -> Shown:
    empty = dict.fromkeys(coded, Vocabulary(()))
    names = {*coded, *counted}
    words = dict.fromkeys(counted, Words(ngrams=how.ngrams))
    blocks = Design(coded + counted, (), empty, words=words).blocks
    layout = Layout(
        blocks,
        tuple(column for column in found.columns if column.name in names),
        label=source.label,
        weight=source.weight,
        label_stored=source.label_stored(),
        ignored=tuple(name for name in source.feature_names if name not in names),
    )
    sums = engine.run(values_shown, layout, source.parts(layout, engine.workers))
    vocabularies = [v for block in sums.blocks for v in block.vocabularies]
    values = dict(zip((*coded, *counted), vocabularies, strict=True))
    if not sums.weight.value.sum():
        raise without_rows(layout.label is not None)
    for name, vocabulary in values.items():
        if not len(vocabulary):
            raise without_value(name, rows=learnt_rows(sums, layout))
    weight = float(sums.weight.value.sum())
    total = sums.blocks[0].total.sum(axis=0) if coded else np.empty(0)
    gone = np.flatnonzero(weight - total > WEIGHT_ROUNDING * weight).tolist()
    texts = sums.blocks[int(bool(coded)) :]
    for name, text in zip(counted, texts, strict=True):
        words[name] = Words.of(how, values.pop(name), text.count.value.sum(axis=0), weight)
    for name, own in words.items():
        if not len(own):
            raise SchemaError(
                f"no word of {name!r} is in {how.min_count:g} rows",
                "min_count is the least number of rows of a word",
                "lower min_count",
            )
    return Shown(values, tuple(coded[j] for j in gone), words)


def values_shown(part: Part, layout: Layout) -> ByClass:
    """Kernel of the first look at categories and texts: the values that each column has."""
    total = ByClassAccumulator(
        [COUNTS[block.encoding](len(block.columns)) for block in layout.blocks]
    )

    def add(batch: Batch) -> None:
        if layout.label is None:
            batch = replace(batch, codes=np.zeros(batch.rows, np.intp), classes=ONE)
        total.add(batch)

    for _ in each_batch(part, layout, add):
        pass
    return total.statistic()


def _require_levels(name: str, values: Vocabulary, levels: Sequence[Any]) -> None:
    """Refuse a value of an ordered category that is none of its levels."""
    for value in values.values:
        if value not in levels:
            raise SchemaError(
                f"column {name!r} has {value!r}",
                f"its levels are {', '.join(map(repr, levels))}",
                "list all levels, the lowest first",
            )


def _level(name: str, values: Sequence[Any], given: Any) -> Any:
    """The value of a category that is given, or the only one that is written so.

    Examples
    --------
    >>> _level("year", (2007, 2008), "2008")
    2008
    """
    written = [value for value in values if str(value) == given]
    for value in (*(v for v in values if v == given), *(written if len(written) == 1 else ())):
        return value
    more = f" and {len(values) - MOST_NAMED} more" if len(values) > MOST_NAMED else ""
    raise SchemaError(
        f"column {name!r} has no value {given!r} to be its reference",
        f"its values are {', '.join(map(repr, values[:MOST_NAMED]))}{more}",
        meant(given, values) or "take one of them",
    )
