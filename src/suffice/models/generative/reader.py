"""Readers of tables with classes: columns, families and labels, compared between two models."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self, cast

import numpy as np

from suffice.data.schema import Layout
from suffice.engines.engine import Engine
from suffice.errors import ForgetError, SchemaError
from suffice.models.design.feature_columns import moved, widened
from suffice.models.generative.part import FamilyColumns
from suffice.models.method import Learnt, SumsReader
from suffice.models.reading import LabelReader
from suffice.sums.batch import NO_CLASSES
from suffice.sums.by_class import ByClass, Loss
from suffice.sums.comparison import Comparison
from suffice.sums.vocabulary import Vocabulary, check_one_type

NAMED_COLUMNS = 10  # columns named in a sentence


def _reading(layout: Layout) -> dict[str, Any]:
    """Options that say what a cell means."""
    return {
        "binarize": layout.threshold,
        "missing": tuple(sorted(set(layout.missing))),
        "label_suffix": layout.label_suffix,
        "label_map": dict(layout.label_map),
    }


def _difference(
    mine: tuple[FamilyColumns, ...], theirs: tuple[FamilyColumns, ...]
) -> tuple[str, str]:
    """Say what first divides two models, and what the next step is."""
    pairs = [{c: part for part in parts for c in part.layout.columns} for parts in (mine, theirs)]
    same = "fit both with the same options"
    for name in pairs[0] | pairs[1]:
        a, b = (side.get(name) for side in pairs)
        if a is None or b is None:
            return f"column {name!r} is in {'the other' if a is None else 'this model'} only", same
        if a.family != b.family:
            return f"column {name!r} is {a.family} in this model and {b.family} in the other", same
        if a.layout.encoding != b.layout.encoding:
            read = f"{a.layout.encoding} by this model and {b.layout.encoding} by the other"
            return f"column {name!r} is read as {read}", same
    orders = [list(side) for side in pairs]
    if orders[0] == orders[1]:
        return "this model and the other group the same columns in different ways", same
    named, others = (", ".join(map(repr, order[:NAMED_COLUMNS])) for order in orders)
    return (
        f"the columns of this model come in the order {named}, those of the other {others}",
        "fit one of them again, its columns in the order of the other",
    )


@dataclass(frozen=True)
class GenerativeReader(LabelReader, SumsReader[ByClass]):
    """A reader of tables, with the families of their columns."""

    parts: tuple[FamilyColumns, ...] = ()  # families and their columns
    declared: Vocabulary = NO_CLASSES  # labels of which there may be no row
    # a third value of a binary column counts as missing in rows to be answered
    lenient: bool = False

    @property
    def to_answer(self) -> Layout:
        return self.layout.answering if self.lenient else self.layout

    def classes(self, statistic: ByClass) -> Vocabulary:
        """All labels, those included of which there is no row."""
        return statistic.classes | self.declared

    def column(self, lost: ForgetError | Loss) -> str:
        return self.parts[lost.block].column(cast(int, lost.column))

    def narrowed(self, statistic: ByClass) -> Learnt[Self, ByClass]:
        """The reader and the sums without terms of categories that no row shows any more."""
        if all(part.design is None for part in self.parts):
            return super().narrowed(statistic)
        pairs = zip(self.parts, statistic.blocks, strict=True)
        parts, blocks = zip(*(part.narrowed(block) for part, block in pairs), strict=True)
        return Learnt(replace(self, parts=parts), (replace(statistic, blocks=blocks),))

    def check_compatible(self, statistic: ByClass, other: Self, others: ByClass, verb: str) -> None:
        mine, theirs = self.layout, other.layout
        own, others_own = (
            [(part.family, part.layout.encoding, tuple(part.layout.columns)) for part in parts]
            for parts in (self.parts, other.parts)
        )
        if own != others_own:
            fact, next_step = _difference(self.parts, other.parts)
            rule = f"only models of the same columns and families can be {verb}"
            raise SchemaError(f"the models differ: {fact}", rule, next_step)
        for part, of_other in zip(self.parts, other.parts, strict=True):
            if part.design is not None and of_other.design is not None:
                part.design.joined(of_other.design)
        read = _reading(theirs)
        for option, value in _reading(mine).items():
            if value != read[option]:
                raise SchemaError(
                    f"the models differ: {option} is {value!r} in this model and {read[option]!r} "
                    "in the other",
                    f"only models that read their tables in the same way can be {verb}",
                    f"fit both with the same {option}",
                )
        for block, their_block in zip(mine.blocks, theirs.blocks, strict=True):
            if block.encoding != "binary" or mine.threshold is not None:
                continue
            lows = mine.lows(block), theirs.lows(their_block)
            for j in np.flatnonzero(np.abs(lows[0] - lows[1]) > 0)[:1].tolist():
                raise SchemaError(
                    f"the models differ: column {block.columns[j]!r} holds {lows[0][j]:g} and 1 in "
                    f"this model and {lows[1][j]:g} and 1 in the other",
                    f"only models of the same two values can be {verb}",
                    "write both in the same way",
                )
        if None not in (mine.label, theirs.label) and mine.label != theirs.label:
            raise SchemaError(
                f"the models differ: the label of this model is {mine.label!r}, "
                f"that of the other is {theirs.label!r}",
                f"only models of the same label can be {verb}",
                "rename the column if it is the same",
            )
        labels = self.classes(statistic), other.classes(others)
        check_one_type(*labels, "the labels of this model", "those of the other")

    def merged(self, other: Self) -> Self:
        both = self.with_labels(other.label_dtype)
        parts = [
            part
            if part.design is None or theirs.design is None
            else replace(part, design=part.design.joined(theirs.design))
            for part, theirs in zip(self.parts, other.parts, strict=True)
        ]
        return replace(both, parts=tuple(parts), declared=self.declared | other.declared)

    def moved(self, statistic: ByClass, wider: Self) -> ByClass:
        pairs = list(zip(self.parts, wider.parts, strict=True))
        if all(part.design == other.design for part, other in pairs):
            return statistic
        blocks = [
            moved(block, part.design, other.design)
            for block, (part, other) in zip(statistic.blocks, pairs, strict=True)
        ]
        return replace(statistic, blocks=tuple(blocks))

    def widened(self, rows: Any, engine: Engine) -> Self:
        parts = [
            part
            if part.design is None
            else replace(part, design=widened(part.design, rows, self.layout, engine))
            for part in self.parts
        ]
        return replace(self, parts=tuple(parts))

    def compare(self, statistic: ByClass, other: Self, others: ByClass) -> Comparison:
        left_out = self._identifiers(statistic) & other._identifiers(others)
        names = [part.terms for part in self.parts]
        found: Comparison = statistic.compare(others, names, sorted(left_out))
        return found

    def _identifiers(self, statistic: ByClass) -> set[str]:
        return {
            part.layout.columns[j]
            for part, block in zip(self.parts, statistic.blocks, strict=True)
            for j in part.family.left_out(block).tolist()
        }
