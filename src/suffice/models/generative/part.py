"""A part of a table: columns and the family that models them; which they are, and their sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.data.schema import DATES, INSTANTS, SPARSE, BlockLayout, Column, Layout, UniformColumns
from suffice.data.source import Part, each_batch
from suffice.errors import ParameterError
from suffice.families import Family
from suffice.families.density import Chosen
from suffice.families.family import Apply, LeaveOneOut
from suffice.models.design.matrix import Design
from suffice.models.generative.terms import (
    TermAccumulator,
    TermParameters,
    shown_terms,
    term_values,
)
from suffice.rules import rule
from suffice.sums.base import Accumulator
from suffice.sums.bins import YEAR_2000, MomentsAndBinsAccumulator
from suffice.sums.block import Encoding
from suffice.sums.by_class import (
    ByClass,
    ByClassAccumulator,
    ClassesByGroup,
    ClassesByGroupAccumulator,
)
from suffice.sums.kept_rows import RowsAccumulator
from suffice.sums.row_sample import Sampled, SampledAccumulator


@dataclass(frozen=True)
class FamilyColumns:
    """One family and the columns that it models."""

    family: Family
    layout: BlockLayout
    # the terms that the columns become, where some are categories and the family is of numbers
    design: Design | None = None

    @rule("the family can read cells in this way")
    def _is_readable(self) -> bool:
        if self.design is None:
            return self.layout.encoding in self.family.encodings
        return self.layout.encoding == "mixed" and "real" in self.family.encodings

    @rule("terms are those of the columns, each of one of them")
    def _has_terms(self) -> bool:
        design = self.design
        if design is None:
            return True
        of_columns = tuple(design.columns) == tuple(self.layout.columns)
        return of_columns and bool(design.categories) and design.is_of_cells and not design.bins

    @property
    def terms(self) -> Sequence[str]:
        """The names of what the family models: columns, or terms."""
        return self.layout.columns if self.design is None else self.design.terms

    @property
    def groups(self) -> int:
        """Return the number of terms of log p(x | c) with a weight of their own.

        Words have one weight, and so have columns that are modelled together.
        """
        together = self.family.joint or self.layout.encoding in ("events", "sparse")
        return 1 if together else len(self.layout.columns)

    def column(self, place: int) -> str:
        return str(self.layout.columns[place] if self.design is None else self.design.column(place))

    def takes(self, statistic: Any) -> bool:
        encoding = self.layout.encoding if self.design is None else "real"
        return self.family.takes(statistic, encoding, len(self.terms))

    def numbers(self, block: Any) -> NDArray[Any]:
        """Rows as the numbers that the family models, NaN where a cell is missing."""
        return block.values if self.design is None else term_values(self.design, block)

    def leave_one_out(self, statistic: Any) -> LeaveOneOut | None:
        # Without a row, indicators of categories may become constant.
        return None if self.design is not None else self.family.leave_one_out(statistic)

    def narrowed(self, statistic: Any) -> tuple[FamilyColumns, Any]:
        """The part and the sums without the terms of values that no row shows."""
        if self.design is None:
            return self, statistic
        fewer = shown_terms(self.design, statistic)
        if fewer == self.design:
            return self, statistic
        return replace(self, design=fewer), statistic.marginal(self.design.places_of(fewer))

    def parameters(self, statistic: Any, apply: Apply, chosen: Chosen | None) -> Any:
        """Estimate the parameters of the columns, or those of what was ``chosen``."""
        family: Any = self.family
        if self.design is not None:
            indicators = self.design.places(list(self.design.categories))
            family = replace(family, outcomes=tuple(indicators.tolist()))
            return TermParameters(family.estimate(statistic), self.design)
        if chosen is not None:
            family = replace(family, choices=chosen.choices)
        return family.estimate_by(statistic, apply)

    def accumulator(self, apart: bool = False) -> Accumulator:
        """An empty accumulator of the sums that the family needs.

        Those ``apart`` share nothing among classes, which are those of groups.
        """
        family = self.family.apart if apart else self.family
        if self.design is not None:
            sums = family.accumulator("real", len(self.design))
            shares = isinstance(sums, RowsAccumulator) and self.family.apart != self.family
            return TermAccumulator(sums, self.design, shares and self.design.is_sparse)
        columns, dates = self.layout.columns, self.layout.dates
        found = family.accumulator(self.layout.encoding, len(columns))
        if dates and isinstance(found, MomentsAndBinsAccumulator):
            origin = np.array([YEAR_2000 * (name in dates) for name in columns])
            return MomentsAndBinsAccumulator(len(columns), origin)
        return found

    def together(self, block: Any) -> Any:
        """Let classes share what the family shares: those of a group were summed apart."""
        return block.together if self.family.apart != self.family else block


FAMILY_OF_KIND = {
    "real": "gaussian",
    "binary": "bernoulli",
    "category": "categorical",
    "text": "multinomial",
}


def parts_of(
    groups: list[tuple[tuple[str, ...], Family]], columns: Mapping[str, Column]
) -> tuple[FamilyColumns, ...]:
    """Join columns of one family and encoding; groups, joint distributions, texts stay apart."""
    blocks: dict[Any, list[str]] = {}
    for names, family in groups:
        encoding = _encoding(family, tuple(map(columns.__getitem__, names)))
        text = encoding == "events" and any(columns[n].stored == "string" for n in names[:1])
        alone = len(names) > 1 or family.joint or text
        key = (family, repr(family), encoding, names if alone else None)
        blocks.setdefault(key, []).extend(names)
    found = []
    for (family, _, encoding, _), joined in blocks.items():
        dates = tuple([n for n in joined if columns[n].reason in (DATES, INSTANTS)])
        found.append(FamilyColumns(family, BlockLayout(encoding, tuple(joined), dates)))
    return tuple(found)


def whole(family: Family, columns: Sequence[Column]) -> tuple[FamilyColumns, ...]:
    """Model all columns by one family, as one block."""
    if isinstance(columns, UniformColumns):
        return (FamilyColumns(family, BlockLayout(_encoding(family, columns), columns.names)),)
    by_name = {column.name: column for column in columns}
    return parts_of([(tuple(by_name), family)], by_name)


def _encoding(family: Family, columns: Sequence[Column]) -> Encoding:
    """Read a text as words where the family can count events, everything else its usual way."""
    looked_at = [columns] if isinstance(columns, UniformColumns) else columns
    if family.encodings == ("count", "events") and all(
        column.reason.endswith(SPARSE) for column in looked_at
    ):
        return "events"
    words = all(column.kind == "text" or column.stored == "string" for column in looked_at)
    if "events" in family.encodings and words:
        if len(columns) > 1 and columns[0].stored == "string":
            raise ParameterError(
                f"families groups the texts {', '.join(repr(c.name) for c in columns)}",
                "a text is modelled on its own",
                "name the columns one by one",
            )
        return "events"
    return family.encodings[0]


def summarise(part: Part, plan: tuple[tuple[FamilyColumns, ...], Layout]) -> ByClass:
    """Kernel of a fit: the statistic of one part."""
    parts, layout = plan
    total = ByClassAccumulator([piece.accumulator() for piece in parts])
    for _ in each_batch(part, layout, total.add):
        pass
    return total.statistic()


def summarise_groups(part: Part, plan: tuple[tuple[FamilyColumns, ...], Layout]) -> ClassesByGroup:
    """Kernel: the statistic of each group of the rows of one part."""
    parts, layout = plan
    total = ClassesByGroupAccumulator([piece.accumulator(apart=True) for piece in parts])
    groups = 0
    for top in each_batch(part, layout, total.add_groups):
        groups = max(groups, top)
    return total.by_group(groups)


def sampled(part: Part, plan: tuple[tuple[FamilyColumns, ...], Layout, int]) -> Sampled:
    """Kernel of a fit that looks at rows again: the statistic of one part, and some rows."""
    pieces, layout, size = plan
    names = [piece.layout.columns for piece in pieces]
    every = ByClassAccumulator([piece.accumulator() for piece in pieces])
    total = SampledAccumulator(every, names, size)
    for _ in each_batch(part, layout, total.add):
        pass
    return total.statistic()
