"""The statistics that a file may hold."""

from __future__ import annotations

from suffice.numerics.exact import DoubleDouble
from suffice.sums.binned_counts import BinnedCounts
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments
from suffice.sums.counts import Counts
from suffice.sums.events import Events
from suffice.sums.fourth_moments import FourthMoments
from suffice.sums.held_rows import Roots
from suffice.sums.joint_counts import JointCounts
from suffice.sums.loss_sums import LossSums
from suffice.sums.moments import Moments
from suffice.sums.moments_and_bins import MomentsAndBins
from suffice.sums.pair_counts import CutBins, PairCounts, ValueBins
from suffice.sums.vocabulary import Vocabulary

__all__ = ["STATISTICS"]

STATISTICS: tuple[type, ...] = (
    BinnedCounts,
    ByClass,
    Comoments,
    Counts,
    CutBins,
    LossSums,
    DoubleDouble,
    Events,
    FourthMoments,
    JointCounts,
    Moments,
    MomentsAndBins,
    PairCounts,
    Roots,
    ValueBins,
    Vocabulary,
)
"""Sums, and what they are made of."""
