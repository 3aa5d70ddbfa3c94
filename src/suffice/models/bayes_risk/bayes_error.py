"""A Bayes error, and how well it is known."""

from __future__ import annotations

from dataclasses import dataclass

from suffice.numerics.in_print import Printed, Table

__all__ = ["PHI_ERROR", "BayesError", "between"]

PHI_ERROR = 1e-14  # relative, of a distance and of Φ


@dataclass(frozen=True, repr=False)
class BayesError(Printed):
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

    Examples
    --------
    >>> BayesError(0.0227, 0.0221, 0.0233, 0.99, "monte_carlo")
    value            0.0227
    low              0.0221
    high             0.0233
    confidence         0.99
    method      monte_carlo
    """

    value: float
    low: float
    high: float
    confidence: float
    method: str

    def table(self) -> Table:
        """Return the error, its bounds and its method as a table."""
        digits = significant(self.low, self.high)
        rows = [[name, f"{getattr(self, name):.{digits}g}"] for name in ("value", "low", "high")]
        rows += [["confidence", f"{self.confidence:.6g}"], ["method", self.method]]
        return Table("", ["", ""], rows)


def significant(low: float, high: float) -> int:
    """Digits that bounds leave a value, and two that they do not, from 4 to 15.

    Examples
    --------
    >>> significant(0.123, 0.125), significant(0.1, 0.1)
    (4, 15)
    """
    width = high - low
    if width <= 0:
        return 15
    exponent = int(f"{high / width:e}".partition("e")[2])  # of ten
    return min(15, max(4, exponent + 2))


def between(value: float, slack: float, method: str) -> BayesError:
    """A value that is known up to some slack."""
    return BayesError(value, max(0.0, value - slack), value + slack, 1.0, method)
