"""What the pseudo-counts of a model were chosen from, with the names of its columns."""

from __future__ import annotations

from suffice.models.generative.model import GenerativeModel
from suffice.numerics.dirichlet_evidence import AlphaEvidence

__all__ = ["alpha_evidence"]


def alpha_evidence(model: GenerativeModel) -> AlphaEvidence | None:
    """The evidence of all families that chose α, by their columns; None where none did."""
    parts = zip(model.parts, model.parameters, strict=True)
    found = [
        parameters.alpha_evidence.named(part.layout.columns)
        for part, parameters in parts
        if parameters.alpha_evidence is not None
    ]
    return AlphaEvidence.joined(found) if found else None
