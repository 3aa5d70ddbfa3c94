"""What the file of an average holds: the entries of every member's own file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from suffice.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from suffice.ensemble.candidates import Candidate
from suffice.linear_model import LogisticRegression
from suffice.models.base.classifier import Classifier
from suffice.models.base.label_sets import Doubts
from suffice.models.base.saved import SavedClassifier
from suffice.naive_bayes import NaiveBayes
from suffice.naive_bayes.aode import AODE
from suffice.rules import rule
from suffice.statistics.vocabulary import Vocabulary
from suffice.tree import named

__all__ = ["SAVED", "SavedAverage", "entries_of", "member_of"]

MEMBERS: Mapping[str, type[Classifier]] = {
    cls.__name__: cls
    for cls in (
        NaiveBayes,
        AODE,
        LogisticRegression,
        LinearDiscriminantAnalysis,
        QuadraticDiscriminantAnalysis,
    )
}
SAVED: dict[str, type] = {
    **{name: kind for cls in MEMBERS.values() for name, kind in cls.saved_types.items()},
    **named(Candidate, Doubts),
}
"""The types that the file of an average may hold."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SavedAverage(SavedClassifier):
    """What the file of an average of classifiers holds besides.

    Parameters
    ----------
    members : tuple of dict
        The entries of every member's file, and its kind.
    judged : tuple of Candidate
        What was found of all candidates.
    doubts : Doubts
        How doubtful the classes of rows were that they had not learnt.
    """

    members: tuple[dict[str, Any], ...]
    judged: tuple[Candidate, ...]
    doubts: Doubts

    @property
    def labels(self) -> tuple[Vocabulary, ...]:
        """Those of the members are checked where they are restored."""
        return ()

    @rule("every member has a share above 0, and these add up to 1")
    def _has_shares(self) -> bool:
        shares = [one.weight for one in self.judged if one.weight]
        whole = abs(sum(shares) - 1) < 1e-9
        return len(shares) == len(self.members) and min(shares, default=0) > 0 and whole

    @rule("there is a member, and each is of a kind that can be averaged")
    def _has_members(self) -> bool:
        return len(self.members) > 0 and all(
            isinstance(entries, dict) and entries.get("kind") in MEMBERS for entries in self.members
        )


def entries_of(member: Classifier) -> dict[str, Any]:
    """What the file of a fitted estimator would hold."""
    return {"kind": type(member).__name__, **member._entries()}


def member_of(entries: dict[str, Any]) -> Classifier:
    """The estimator that such entries are of."""
    content = dict(entries)
    cls = MEMBERS[content.pop("kind")]
    return cls.restored(content)
