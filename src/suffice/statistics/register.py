"""The statistics that a file may hold."""

from __future__ import annotations

from suffice.numerics.exact import DoubleDouble
from suffice.statistics.binned_counts import BinnedCounts
from suffice.statistics.by_class import ByClass
from suffice.statistics.comoments import Comoments
from suffice.statistics.counts import Counts
from suffice.statistics.events import Events
from suffice.statistics.fourth_moments import FourthMoments
from suffice.statistics.joint_counts import JointCounts
from suffice.statistics.loss_sums import LossSums
from suffice.statistics.moments import Moments
from suffice.statistics.moments_and_bins import MomentsAndBins
from suffice.statistics.pair_counts import CutBins, PairCounts, ValueBins
from suffice.statistics.vocabulary import Vocabulary

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
    ValueBins,
    Vocabulary,
)
"""Sums, and what they are made of."""
