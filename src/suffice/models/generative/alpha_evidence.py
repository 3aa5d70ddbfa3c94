"""What the pseudo-counts of a model were chosen from, with the names of its columns."""

from __future__ import annotations

from suffice.families import Parameters
from suffice.models.generative.model import GenerativeModel
from suffice.models.generative.part import FamilyColumns
from suffice.numerics.dirichlet_evidence import AlphaEvidence

__all__ = ["alpha_evidence"]


def alpha_evidence(model: GenerativeModel) -> AlphaEvidence | None:
    """The evidence of all families that chose α, by their columns; None where none did."""
    parts = map(_of_part, model.parts, model.parameters)
    found = [evidence for evidence in parts if evidence is not None]
    return AlphaEvidence.joined(found) if found else None


def _of_part(part: FamilyColumns, parameters: Parameters) -> AlphaEvidence | None:
    evidence = parameters.alpha_evidence
    return None if evidence is None else evidence.named(part.layout.columns)
