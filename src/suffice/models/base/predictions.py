"""Predictions of a classifier for the rows of a batch, and tables of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.errors import warn
from suffice.phrases import rows_in_print
from suffice.sums.vocabulary import Vocabulary

__all__ = [
    "Predictions",
    "answered_by_prior",
    "impossible_rows",
    "prediction_tables",
]


@dataclass(frozen=True)
class Predictions:
    """What a classifier says of n rows.

    Parameters
    ----------
    best : ndarray of int (n,)
        Codes of the most probable classes.
    posterior, log_posterior : ndarray (n, k), optional
        P(c | x) and its logarithm, where they are asked for.
    impossible : int
        Rows impossible under every class, which the class prior answers.
    more : mapping of str to ndarray (n,)
        Further columns.
    """

    best: NDArray[np.intp]
    posterior: NDArray[np.float64] | None = None
    log_posterior: NDArray[np.float64] | None = None
    impossible: int = 0
    more: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    def table(self, classes: Vocabulary) -> pa.Table:
        """The answers in columns: ``prediction``, and ``P(c)`` and ``log P(c)`` of every class."""
        labels = classes.values
        columns = {"prediction": pa.array(labels).take(pa.array(self.best))}
        for name, found in (("P", self.posterior), ("log P", self.log_posterior)):
            if found is not None:
                names = (f"{name}({label})" for label in labels)
                columns |= zip(names, map(pa.array, found.T), strict=True)
        return pa.table(columns | {name: pa.array(found) for name, found in self.more.items()})


def prediction_tables(classes: Vocabulary, answers: Iterable[Predictions]) -> Iterator[pa.Table]:
    """Yield a table for every batch; warn at the end of the rows that were impossible."""
    rows = impossible = 0
    for found in answers:
        rows += len(found.best)
        impossible += found.impossible
        yield found.table(classes)
    if impossible:
        warn(impossible_rows(impossible, rows))


def answered_by_prior(impossible: int, rows: int) -> str:
    """Say how many rows no class could have produced, and what was answered.

    Examples
    --------
    >>> answered_by_prior(1, 3)
    '1 of 3 rows is impossible under every class, and was answered by the class prior.'
    """
    one = impossible == 1
    return (
        f"{impossible:,} of {rows_in_print(rows)} {'is' if one else 'are'} impossible under every "
        f"class, and {'was' if one else 'were'} answered by the class prior."
    )


def impossible_rows(impossible: int, rows: int) -> str:
    """Say how many rows no class could have produced."""
    return f"{answered_by_prior(impossible, rows)} Smoothing (alpha > 0) avoids this."
