"""Columns of a linear model: which of a table are read, as what, and the design that they become.

The values of categories and the words of texts are those of a first table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar, cast

import numpy as np
import pyarrow as pa

from suffice.data.schema import Column, Layout, UniformColumns
from suffice.data.source import ArraySource, Part, each_batch
from suffice.data.table import Table
from suffice.data.table_source import TableSource
from suffice.engines.engine import Engine
from suffice.errors import ParameterError, SchemaError
from suffice.models.design.formula import Formula, formula_of
from suffice.models.design.matrix import Design
from suffice.models.design.remarks import (
    learnt_rows,
    weight_missing,
    without_rows,
    without_value,
)
from suffice.models.design.words import Counting, Ways, Words, counting
from suffice.numerics.in_print import listed
from suffice.phrases import meant
from suffice.sums.batch import Batch
from suffice.sums.by_class import ByClass, ByClassAccumulator
from suffice.sums.counts import CountAccumulator, EventAccumulator
from suffice.sums.vocabulary import Vocabulary

R = TypeVar("R", bound=Any)  # a reader
PREDICTORS = ("categorical", "text", "words", "ordered", "formula", "reference")
"""Options that say what columns are, and what they become."""

AS_NUMBERS, AS_STRINGS, TOLD = "as a linear model reads it", "strings or a dictionary", "as told"


@dataclass(frozen=True)
class Predictors:
    """Options of an estimator on its columns."""

    categorical: Sequence[str] | None = None  # columns of numbers that are categories
    text: Sequence[str] | None = None  # columns of words, besides those that read like texts
    words: Ways = 256  # into how many places words are hashed, or how each is counted
    ordered: Mapping[str, Sequence[Any]] | None = None  # levels, the lowest first
    formula: str | None = None  # the terms, where they are not the columns
    reference: Mapping[str, Any] | None = None  # values that others are compared with
    fit_intercept: bool = True


@dataclass(frozen=True)
class Features:
    """The columns that a linear model reads, and what they become besides numbers."""

    columns: Sequence[Column]
    ordered: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # levels
    formula: Formula | None = None
    reference: Mapping[str, Any] = field(default_factory=dict)
    words: Ways = 256
    targets: tuple[str, ...] = ()
    intercept: bool = True

    @property
    def is_plain(self) -> bool:
        texts = not isinstance(self.columns, UniformColumns) and "text" in {
            column.kind for column in self.columns
        }
        return not (texts or self.ordered or self.formula or self.reference)


def features(
    source: TableSource | ArraySource, told: Any, targets: tuple[str, ...] = ()
) -> Features:
    """Decide what the columns are: numbers; texts; categories where there are other strings.

    ``told`` is an estimator with the options of `Predictors`, or these alone.

    Any column may be named as categorical, or as ordered, and columns of strings as texts. Without
    an intercept, columns of true and false are categories: false is not 0 in the target too.
    """
    if not isinstance(told.reference, Mapping | None):
        raise ParameterError(
            f"reference={told.reference!r}",
            "it says of every column which value the others are compared with",
            "write reference={'column': 'value'}",
        )
    known = () if isinstance(source, ArraySource) else source.feature_names
    fit_intercept = bool(told.fit_intercept)
    formula: Formula | None = None
    factors: Sequence[str] = ()
    if told.formula is not None:
        names = source.names if isinstance(source, ArraySource) else known
        label = None if isinstance(source, ArraySource) else source.label
        left = targets or ((label,) if label else ())
        formula, factors = formula_of(told.formula, [n for n in names if n not in targets], left)
        formula = replace(formula, intercept=formula.intercept and fit_intercept)
        if formula.left and not targets:
            raise ParameterError(
                f"the formula's left side has a function of {left[0]}",
                "a classifier predicts labels, which are no numbers",
                "write the label alone",
            )
    levels, reference, texts = told.ordered or {}, told.reference or {}, told.text or ()
    named = {"categorical": told.categorical, "text": texts, "ordered": levels}
    for option, columns in (named | {"reference": reference}).items():
        if columns:
            _require_columns(option, columns, known, targets)
    categorical = (*(told.categorical or ()), *factors)
    for name in texts:
        if name in categorical or name in levels:
            raise ParameterError(f"the column {name!r} is named as text and as a category")
    if isinstance(source, ArraySource):
        if factors:
            raise ParameterError(
                f"the formula has C({factors[0]}), and the rows are an array",
                "columns of an array are numbers",
                "pass a table with named columns",
            )
        columns = UniformColumns(source.names, "number", "real", AS_NUMBERS)
        return Features(columns, formula=formula, targets=targets)
    schema, found, ordered = source.table.shown.schema, [], {}
    doubts = source.table.about.doubts
    computed = formula.functions_of if formula else frozenset[str]()
    intercept = formula.intercept if formula else fit_intercept
    for column in source.columns():
        if column.name in targets or (formula and column.name not in formula.columns):
            continue
        kind = schema.field(column.name).type
        told_so = column.name in categorical or column.name in levels
        told_so |= not intercept and column.stored == "boolean" and column.name not in computed
        read = _read(column, kind, told_so, column.name in texts)
        if column.name in doubts and not (told_so or column.name in texts):
            raise SchemaError(doubts[column.name])
        if read.kind != "real" and column.name in computed:
            raise SchemaError(
                f"column {read.name!r} holds {'text' if read.kind == 'text' else 'categories'}",
                "a formula computes with numbers",
                f"write {read.name} alone, or C({read.name})",
            )
        if read.kind == "category" and (order := _levels(column.name, kind, source.table, levels)):
            ordered[column.name] = order
        found.append(read)
    unordered = {column.name for column in found if column.kind == "category"} - ordered.keys()
    for name in (name for name in reference if name not in unordered):
        raise ParameterError(
            f"reference names the column {name!r}",
            "only the values of a category without an order are compared with one of them",
            f"name it in categorical={[name]!r} too, or leave it out of reference",
        )
    of_table = tuple(found), ordered, formula, reference
    return Features(*of_table, told.words, targets, fit_intercept)


def _read(column: Column, kind: Any, told: bool, as_text: bool) -> Column:
    strings = column.stored == "string"
    if as_text and not strings:
        raise SchemaError(
            f"column {column.name!r} holds no strings", "a text is a string", "leave it out of text"
        )
    if told:
        return replace(column, kind="category", reason=TOLD)
    if as_text or (strings and column.kind == "text"):
        return replace(column, kind="text", reason=TOLD if as_text else column.reason)
    if strings or pa.types.is_dictionary(kind):
        return replace(column, kind="category", reason=AS_STRINGS)
    reason = column.reason if column.stored == "time" else AS_NUMBERS
    return replace(column, kind="real", reason=reason)


def is_coded(column: Column) -> bool:
    return column.kind == "category" and column.reason in (AS_STRINGS, TOLD)


def _levels(
    name: str, kind: Any, table: Table, told: Mapping[str, Sequence[Any]]
) -> tuple[Any, ...]:
    """The levels of a category as told, or as its type states them; none without an order."""
    if name in told:
        levels = tuple(told[name])
        if isinstance(told[name], str) or len(set(levels)) < max(len(levels), 2):
            raise ParameterError(
                f"ordered has {told[name]!r} for {name!r}",
                "levels are distinct, two at least, the lowest first",
                f"write ordered={{{name!r}: ['low', 'high']}}",
            )
        return levels
    if not (pa.types.is_dictionary(kind) and kind.ordered):
        return ()
    levels = tuple(table.head().column(name).dictionary.to_pylist())
    return levels if len(set(levels) - {None}) == len(levels) else ()


def _require_columns(
    option: str,
    given: Sequence[str] | Mapping[str, Any],
    known: Sequence[str],
    targets: Sequence[str],
) -> None:
    chosen = list(given) if isinstance(given, Mapping) else given
    unknown = [] if isinstance(chosen, str) else [n for n in chosen if n not in known]
    if unknown and known:
        others = [name for name in known if name not in targets]
        raise ParameterError(
            f"{option} names the column {unknown[0]!r}",
            f"the columns are {listed(map(repr, others))}",
            meant(unknown[0], others),
        )
    if isinstance(chosen, str) or not set(chosen) <= set(known) - set(targets):
        raise ParameterError(
            f"{option}={chosen!r}",
            "it is a list of names of columns of a table, none of them a target",
            "leave it out, or list columns that the table has",
        )


# -- the design of a first table


ONE = Vocabulary((0,))  # the class of rows without labels
COUNTS: dict[str, Callable[[int], Any]] = {
    "category": CountAccumulator,
    "events": lambda _: EventAccumulator(presence=True),
}


def settled_design(
    source: TableSource | ArraySource,
    found: Features,
    engine: Engine,
    with_missing: bool = False,
) -> Design:
    """The terms that columns become; a pass over those columns whose values have to be known.

    ``with_missing`` gives the missing cells of a category a term, where rows show some.
    """
    columns = found.columns
    if isinstance(columns, UniformColumns):
        return Design(columns.names, found.targets, formula=found.formula)
    coded = tuple(c.name for c in columns if c.kind == "category")
    texts = tuple(c.name for c in columns if c.kind == "text")
    how = counting(found.words)
    values: dict[str, Vocabulary] = {}
    words: dict[str, Words] = {}
    gaps: tuple[str, ...] = ()
    if coded or (texts and how):
        assert isinstance(source, TableSource)
        counted = texts if how else ()
        values, words, gaps = _shown(source, found, coded, counted, how or Counting(), engine)
    for name, levels in found.ordered.items():
        _require_levels(name, values[name], levels)
    reference = {
        name: _level(name, values[name].values, given) for name, given in found.reference.items()
    }
    design = Design(
        tuple(c.name for c in columns),
        found.targets,
        values,
        dict(found.ordered),
        words or {name: Words(int(cast(int, found.words))) for name in texts},
        found.formula,
        reference,
        missing=gaps if with_missing else (),
    )
    return design if found.intercept else design.spanning(False)


def widened(
    design: Design, source: TableSource | ArraySource, layout: Layout, engine: Engine
) -> Design:
    """Return the design with the values and counted words of more rows."""
    counted = {name: words for name, words in design.words.items() if words.is_open}
    names = {*design.categories, *counted}
    blocks = tuple(b for b in design.blocks if b.encoding in COUNTS and names >= {*b.columns})
    if not blocks:
        return design
    layout = replace(layout, blocks=blocks)
    sums = engine.run(values_shown, layout, source.parts(layout, engine.workers))
    shown = _values_of(sums, layout)
    for name, levels in design.ordered.items():
        _require_levels(name, shown[name], levels)
    words = {name: replace(own, known=shown[name]) for name, own in counted.items()}
    categories = {name: shown[name] for name in design.categories}
    return design.joined(
        replace(design, categories=categories, words={**design.words, **words}, reference={})
    )


def moved(sums: Any, design: Design | None, wider: Design | None) -> Any:
    """Return sums of the terms of a design as those of one of more values."""
    if design is None or wider is None or design.terms == wider.terms:
        return sums
    return sums.mapped(*wider.terms_from(design))


def without_unused(reader: R, source: TableSource | ArraySource, found: Features) -> R:
    """Return a reader that leaves out the columns of a table that a formula does not name."""
    if found.formula is None or isinstance(source, ArraySource):
        return reader
    used, layout = {*found.formula.columns, *found.targets}, reader.layout
    unused = [name for name in source.feature_names if name not in used]
    return replace(reader, layout=replace(layout, ignored=(*layout.ignored, *unused)))


def _shown(
    source: TableSource,
    found: Features,
    coded: tuple[str, ...],
    counted: tuple[str, ...],
    how: Counting,
    engine: Engine,
) -> tuple[dict[str, Vocabulary], dict[str, Words], tuple[str, ...]]:
    """Return values of categories, words of texts, and the categories that lack a cell."""
    empty = dict.fromkeys(coded, Vocabulary(()))
    names = {*coded, *counted}
    words = dict.fromkeys(counted, Words(ngrams=how.ngrams))
    layout = Layout(
        Design(coded + counted, (), empty, words=words).blocks,
        tuple(column for column in found.columns if column.name in names),
        label=source.label,
        weight=source.weight,
        label_stored=source.label_stored(),
        ignored=tuple(name for name in source.feature_names if name not in names),
    )
    sums = engine.run(values_shown, layout, source.parts(layout, engine.workers))
    values = _values_of(sums, layout)
    if not sums.weight.value.sum():
        raise without_rows(layout.label is not None)
    for name, vocabulary in values.items():
        if not len(vocabulary):
            raise without_value(name, rows=learnt_rows(sums, layout))
    missing = weight_missing(sums, layout)
    texts = sums.blocks[int(bool(coded)) :]
    weight = float(sums.weight.value.sum())
    for name, text in zip(counted, texts, strict=True):
        words[name] = Words.of(how, values.pop(name), text.count.value.sum(axis=0), weight)
        if not len(words[name]):
            raise SchemaError(
                f"no word of {name!r} is in {how.min_count:g} rows",
                "min_count is the least number of rows of a word",
                "lower min_count",
            )
    return values, words, tuple(name for name in coded if name in missing)


def _values_of(sums: ByClass, layout: Layout) -> dict[str, Vocabulary]:
    columns = (name for block in layout.blocks for name in block.columns)
    shown = (values for block in sums.blocks for values in block.vocabularies)
    return dict(zip(columns, shown, strict=True))


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
    for value in values.values:
        if value not in levels:
            raise SchemaError(
                f"column {name!r} has {value!r}",
                f"its levels are {listed(map(repr, levels))}",
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
    raise SchemaError(
        f"column {name!r} has no value {given!r} to be its reference",
        f"its values are {listed(map(repr, values))}",
        meant(given, values) or "take one of them",
    )
