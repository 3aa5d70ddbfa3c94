"""Groups of rows that share a class and a pattern of cells: those of two tables, side by side."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Aligned", "Grouped", "aligned", "moved", "product_index"]

Places = NDArray[np.intp]


class Grouped(Protocol):
    """Sums of groups; see `suffice.statistics.comoments.Comoments` for the shapes."""

    @property
    def pooled(self) -> bool:
        """Whether the classes share their products."""

    @property
    def patterns(self) -> NDArray[np.bool_]:
        """The distinct sets of columns that rows show."""

    @property
    def pattern(self) -> Places:
        """Pattern of every group."""

    @property
    def code(self) -> Places:
        """Class of every group."""

    @property
    def home(self) -> Places:
        """Which products are the group's."""

    @property
    def products(self) -> NDArray[np.float64]:
        """One for each home."""


class Aligned(NamedTuple):
    """Patterns, groups and homes of two tables, and where the groups of each stand among them."""

    patterns: NDArray[np.bool_]
    groups: Places
    home: Places
    mine: Places
    theirs: Places


def aligned(one: Grouped, other: Grouped) -> Aligned:
    """The groups of both, each once, in their order."""
    names = ("patterns", "pattern", "code", "home")
    if all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names) and (
        one.home.min(initial=0) >= 0
    ):
        keys, every = np.stack([one.pattern, one.code], axis=1), np.arange(len(one.pattern))
        return Aligned(one.patterns, keys, one.home, every, every)
    patterns = np.unique(np.concatenate([one.patterns, other.patterns]), axis=0)
    keys, places, counts = np.unique(
        np.concatenate([_keys(one, patterns), _keys(other, patterns)]),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    mine, theirs = np.split(places.reshape(-1), [len(one.pattern)])
    several = counts > 1  # rows of one group, or products of before
    several[mine[one.home >= 0]] = several[theirs[other.home >= 0]] = True
    return Aligned(patterns, keys, product_index(one.pooled, keys, several), mine, theirs)


def _keys(of: Grouped, patterns: NDArray[np.bool_]) -> Places:
    """Pattern and class of every group, (g, 2), the pattern by its number among others."""
    both = np.concatenate([patterns, of.patterns])
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.reshape(-1)[len(patterns) :]
    return np.stack([number[of.pattern], of.code], axis=1).astype(np.intp)


def moved(of: Grouped, home: Places) -> Places:
    """Where the products of a statistic are, given the new homes of its groups."""
    homes = np.zeros(len(of.products), np.intp)
    homes[of.home[of.home >= 0]] = home[of.home >= 0]
    return homes


def product_index(pooled: bool, groups: Places, several: NDArray[np.bool_]) -> Places:
    """Where the groups (g, 2) have products: if they, or one they share them with, need some."""
    owner = groups[:, 0] if pooled else np.arange(len(groups))
    owners = np.unique(owner[several])
    return np.where(np.isin(owner, owners), np.searchsorted(owners, owner), -1)
