"""Evidence: what each column contributed to one prediction. It adds up to the answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.logspace import log_normalise, row_sums

__all__ = ["Evidence"]

DECIBAN = 10 / np.log(10)  # one nat in decibans


@dataclass(frozen=True)
class Evidence:
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
    """

    columns: tuple[str, ...]
    classes: tuple[Any, ...]
    log_prior: NDArray[np.float64]
    contributions: NDArray[np.float64]

    @property
    def log_joint(self) -> NDArray[np.float64]:
        """Return log P(x, c), (n, k)."""
        return self.log_prior + row_sums(self.contributions)

    @property
    def probabilities(self) -> NDArray[np.float64]:
        """P(c | x), (n, k)."""
        return np.exp(log_normalise(self.log_joint, self.log_prior)[0])

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
