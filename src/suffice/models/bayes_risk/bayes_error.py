"""A Bayes error, and how well it is known."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["PHI_ERROR", "BayesError", "between"]

PHI_ERROR = 1e-14  # relative, of a distance and of Φ


@dataclass(frozen=True)
class BayesError:
    """A Bayes error or Bayes risk, and how well it is known.

    Parameters
    ----------
    value : float
        The answer.
    low, high : float
        Bounds. Rounding, truncation and the error of integration are in them, too.
    confidence : float
        Probability, at least, that chance does not break the bounds: 1 but for Monte Carlo.
    method : {"closed_form", "sum", "quadrature", "monte_carlo"}
        How it was found.
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str


def between(value: float, slack: float, method: str) -> BayesError:
    """A value that is known up to some slack."""
    return BayesError(value, max(0.0, value - slack), value + slack, 1.0, method)
