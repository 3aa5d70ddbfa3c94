"""Evidence: what each column contributed to one prediction. It adds up to the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.elementary import exp, log_of
from suffice.numerics.in_print import Printed, Table
from suffice.numerics.logspace import log_normalise, row_sums

__all__ = ["Evidence"]

COLUMNS, CLASSES = 30, 5  # of a row in print: those that tell the classes apart the most
DECIBAN = 10 / log_of(10)  # one nat in decibans


@dataclass(frozen=True, repr=False)
class Evidence(Printed):
    """Log-likelihoods of every cell under every class, in nats.

    The log joint is ``log_prior + contributions.sum(axis=1)``; the difference of two classes is
    the evidence for one against the other. A missing cell contributes 0.

    Parameters
    ----------
    columns : tuple of str
        The d columns.
    classes : tuple
        The k labels.
    log_prior : ndarray (k,)
        log P(c).
    contributions : ndarray (n, d, k)
        log p(x_j | c); of columns that are modelled together, log p(x_j | c, those before x_j).
    start : str
        What there is before any column is looked at: the prior. Of a logistic regression it is the
        average row: its scores b_c + x̄ᵀw_c stand in the place of the log prior, and
        (x_j − x̄_j) w_cj in that of log p(x_j | c), up to a term that all classes share.
    """

    columns: tuple[str, ...]
    classes: tuple[Any, ...]
    log_prior: NDArray[np.float64]
    contributions: NDArray[np.float64]
    start: str = "prior"

    def table(self) -> Table:
        """Return the evidence of row 0 for its prediction against the next class, in decibans."""
        n = len(self.contributions)
        if not n:
            return Table("Evidence(0 rows)", [], [])
        joint = self.log_joint[0]
        best, *others = np.argsort(-joint, kind="stable").tolist()
        against = others[0] if others else best
        prior, columns = self.log_odds(best, against)
        order = np.argsort(-np.abs(columns[0]), kind="stable")[:COLUMNS]
        odds = [float(prior), *columns[0][order].tolist()]
        names = [self.start, *(self.columns[j] for j in order.tolist())]
        if left := len(self.columns) - len(order):
            odds.append(float(np.delete(columns[0], order).sum()))
            names.append(f"{left:,} other columns")
        names.append("sum")
        shown = [DECIBAN * value for value in (*odds, sum(odds))]
        return Table(
            f"Row 0 of {n:,}: {self.classes[best]}, with probability "
            f"{self.probabilities[0][best]:.4f}",
            ["", f"decibans for {self.classes[best]}, against {self.classes[against]}"],
            [[name, f"{value:+.2f}"] for name, value in zip(names, shown, strict=True)],
            bars=[*shown[:-1], float("nan")],
        )

    @property
    def log_joint(self) -> NDArray[np.float64]:
        """Return log P(x, c), (n, k)."""
        return self.log_prior + row_sums(self.contributions)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """P(c | x), (n, k)."""
        return exp(log_normalise(self.log_joint, self.log_prior)[0])

    def log_odds(self, c: int, against: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Evidence for class ``c`` against another, in nats.

        Returns
        -------
        prior : ndarray ()
            log P(c) − log P(against).
        columns : ndarray (n, d)
            What every column adds.
        """
        with np.errstate(invalid="ignore"):
            columns = self.contributions[:, :, c] - self.contributions[:, :, against]
        prior = self.log_prior[c] - self.log_prior[against]
        return np.asarray(prior), np.nan_to_num(columns, nan=0.0, posinf=np.inf, neginf=-np.inf)
