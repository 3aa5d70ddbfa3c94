"""Messages of logistic regression: columns by name, and their missing cells."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from suffice.data.schema import Layout
from suffice.models.base.options import listed_missing
from suffice.numerics.in_print import NAMED
from suffice.sums.batch import WEIGHT_ROUNDING
from suffice.sums.by_class import ByClass


def missing_cells_message(seen: ByClass, layout: Layout, own: Collection[str] = ()) -> str:
    """Say which columns lack how many cells; nothing where all are there, or ``own`` terms."""
    missing: dict[str, str] = {}
    weight = seen.weight.value.sum()
    for block, columns in zip(seen.blocks, layout.blocks, strict=True):
        gone = weight - block.total.sum(axis=0)
        for j in np.flatnonzero(gone > WEIGHT_ROUNDING * weight).tolist():
            if columns.columns[j] not in own:
                missing[columns.columns[j]] = f"{gone[j]:g}"
    return listed_missing(missing)


def columns_without_value(seen: ByClass, layout: Layout) -> Iterator[str]:
    """The columns that lack every cell, of a table that has rows."""
    if not seen.weight.value.sum():
        return
    for block, columns in zip(seen.blocks, layout.blocks, strict=True):
        for j in np.flatnonzero(block.total.sum(axis=0) == 0).tolist():
            yield columns.columns[j]


def listed(places: Iterable[int], terms: Sequence[str]) -> str:
    """``column 'a'``, or ``columns 'a', 'b'``, and how many more.

    Examples
    --------
    >>> listed([0, 2], ["a", "b", "c"])
    "columns 'a', 'c'"
    """
    names = [repr(terms[j]) for j in places]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"column{'s' * (len(names) > 1)} {', '.join(names[:NAMED])}{more}"
