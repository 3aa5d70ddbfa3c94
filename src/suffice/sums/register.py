"""The statistics that a file may hold."""

from __future__ import annotations

from suffice.numerics.exact import DoubleDouble
from suffice.sums.bins import BinnedCounts, MomentsAndBins
from suffice.sums.by_class import ByClass
from suffice.sums.comoments import Comoments, FourthMoments
from suffice.sums.counts import Counts, Events, JointCounts
from suffice.sums.kept_rows import Roots
from suffice.sums.loss_sums import LossSums
from suffice.sums.moments import Moments
from suffice.sums.pairs import CutBins, PairCounts, ValueBins
from suffice.sums.vocabulary import Vocabulary

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
