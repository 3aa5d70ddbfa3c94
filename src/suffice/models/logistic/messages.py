"""Messages of logistic regression: missing cells, and classes that columns separate."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from suffice.data.schema import Layout
from suffice.errors import DataError
from suffice.models.base.missing_cells import listed_missing
from suffice.models.logistic.separation import Separation
from suffice.phrases import Option, Phrase
from suffice.statistics.by_class import ByClass

__all__ = ["listed", "missing_cells_message", "separated"]

NAMED = 5  # columns named


def missing_cells_message(seen: ByClass, layout: Layout) -> str:
    """Say which columns lack how many cells; nothing where all are there."""
    missing: dict[str, str] = {}
    weight = seen.weight.value.sum()
    for block, columns in zip(seen.blocks, layout.blocks, strict=True):
        gone = weight - block.total.sum(axis=0)
        for j in np.flatnonzero(gone > 1e-9 * weight).tolist():
            missing[columns.columns[j]] = f"{gone[j]:g}"
    return listed_missing(missing)


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


def separated(found: Separation, terms: Sequence[str], k: int) -> DataError:
    """Say what separates the k classes, and what to do about it."""
    firth = (" or ", Option.of("penalty", "firth")) if k == 2 else ()
    how = "completely" if found.complete else "quasi-completely"
    if len(found.terms) == 1:
        fact = f"{listed(found.terms, terms)} separates the classes {how}"
    elif found.terms:
        fact = f"{listed(found.terms, terms)} together separate the classes {how}"
    else:
        fact = f"the columns together separate the classes {how}"
    return DataError(
        fact,
        "the likelihood grows with the coefficients for ever",
        Phrase("use a penalty (", Option("C", "1.0"), ")", *firth),
    )
