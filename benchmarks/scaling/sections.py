"""The sections of the suite: what each measures, and how much of it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from benchmarks.scaling.fits import FITS, MODELS, fits
from benchmarks.scaling.footers import FOOTERS, footers
from benchmarks.scaling.overheads import ENGINES, OVERHEADS, overheads
from benchmarks.scaling.statistics import MERGES, merges

__all__ = ["NAMES", "SECTIONS"]

Section = Callable[[int, Collection[str]], Iterator[Any]]
SECTIONS: Mapping[str, tuple[Section, int]] = {
    FITS: (fits, 4_000_000),  # rows
    MERGES: (merges, 4_000_000),  # rows
    OVERHEADS: (overheads, 2_000),  # ten times the splits
    FOOTERS: (footers, 1_000),  # row groups
}
NAMES = (
    *(model.choice for model in MODELS),
    MERGES,
    *dict.fromkeys(kind for kind, *_ in ENGINES),
    FOOTERS,
)
