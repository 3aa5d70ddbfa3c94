"""Groups of rows that share a class and a pattern of cells: those of two tables, side by side."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["Aligned", "Grouped", "Groups", "aligned", "indexed_products", "moved", "together"]

Indices = NDArray[np.intp]


class Groups(Protocol):
    """Groups of rows; see `suffice.statistics.comoments.Comoments` for the shapes."""

    @property
    def patterns(self) -> NDArray[np.bool_]:
        """The distinct sets of columns that rows show."""

    @property
    def pattern(self) -> Indices:
        """Pattern of every group."""

    @property
    def code(self) -> Indices:
        """Class of every group."""


class Grouped(Groups, Protocol):
    """Sums of groups."""

    @property
    def pooled(self) -> bool:
        """Whether the classes share their products."""

    @property
    def product_index(self) -> Indices:
        """Which products are the group's."""

    @property
    def products(self) -> NDArray[np.float64]:
        """Sums of products, one for each index."""


class Aligned(NamedTuple):
    """Groups of two tables with their product indices, and where those of each stand among them."""

    patterns: NDArray[np.bool_]
    groups: Indices
    product_index: Indices
    mine: Indices
    theirs: Indices


def aligned(one: Grouped, other: Grouped) -> Aligned:
    """The groups of both, each once, in their order."""
    names = ("patterns", "pattern", "code", "product_index")
    if all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names) and (
        one.product_index.min(initial=0) >= 0
    ):
        keys, every = np.stack([one.pattern, one.code], axis=1), np.arange(len(one.pattern))
        return Aligned(one.patterns, keys, one.product_index, every, every)
    patterns, keys, mine, theirs, counts = together(one, other)
    several = counts > 1  # rows of one group, or products of before
    several[mine[one.product_index >= 0]] = several[theirs[other.product_index >= 0]] = True
    return Aligned(patterns, keys, indexed_products(one.pooled, keys, several), mine, theirs)


class Together(NamedTuple):
    """Groups of two tables, each once, where those of each stand, and how many became one."""

    patterns: NDArray[np.bool_]
    groups: Indices
    mine: Indices
    theirs: Indices
    counts: Indices


def together(one: Groups, other: Groups) -> Together:
    """The groups of both, each once, in their order."""
    patterns = np.unique(np.concatenate([one.patterns, other.patterns]), axis=0)
    keys, places, counts = np.unique(
        np.concatenate([_keys(one, patterns), _keys(other, patterns)]),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    mine, theirs = np.split(places.reshape(-1), [len(one.pattern)])
    return Together(patterns, keys, mine, theirs, counts)


def _keys(of: Groups, patterns: NDArray[np.bool_]) -> Indices:
    """Pattern and class of every group, (g, 2), the pattern by its number among others."""
    both = np.concatenate([patterns, of.patterns])
    _, number = np.unique(both, axis=0, return_inverse=True)
    number = number.reshape(-1)[len(patterns) :]
    return np.stack([number[of.pattern], of.code], axis=1).astype(np.intp)


def moved(of: Grouped, product_index: Indices) -> Indices:
    """Where the products of a statistic are, given the new product indices of its groups."""
    index = np.zeros(len(of.products), np.intp)
    index[of.product_index[of.product_index >= 0]] = product_index[of.product_index >= 0]
    return index


def indexed_products(pooled: bool, groups: Indices, several: NDArray[np.bool_]) -> Indices:
    """Where the groups (g, 2) have products: if they, or one they share them with, need some."""
    owner = groups[:, 0] if pooled else np.arange(len(groups))
    owners = np.unique(owner[several])
    return np.where(np.isin(owner, owners), np.searchsorted(owners, owner), -1)
