"""
Many labelings of the same rows at once: folds, sums by class and fold, and scores by the
models of folds.

``codes`` and ``folds`` (P, n) are the class and the fold of every row in each of P
labelings; a row is scored by the model of its own fold, one of P · f.
"""

import numpy
import numpy.typing


def stratify(codes: numpy.typing.NDArray[numpy.int64 | numpy.intp], classes: int, f: int, folds: numpy.typing.NDArray[numpy.int64 | numpy.intp]) -> None:
    """
    Write f folds of nearly the same share of every class, as StratifiedKFold of
    scikit-learn has them.
    """

def stratify_bytes(codes: numpy.typing.NDArray[numpy.uint8], classes: int, f: int, folds: numpy.typing.NDArray[numpy.uint8]) -> None:
    """The same of bytes."""

def add_rows(x: numpy.typing.NDArray[numpy.float64], codes: numpy.typing.NDArray[numpy.uint8], folds: numpy.typing.NDArray[numpy.uint8], classes: int, sums: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add the rows of x (n, m) to the sums (P, f · k, m) of their fold and class.
    """

def tally(codes: numpy.typing.NDArray[numpy.uint8], folds: numpy.typing.NDArray[numpy.uint8], classes: int, sizes: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write how many rows every fold and class has, (P, f · k)."""

def start(log_prior: numpy.typing.NDArray[numpy.float64], first: int, folds: numpy.typing.NDArray[numpy.uint8], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """Write log P(c) of the rows from ``first`` on to ``out`` (P, k, rows)."""

def add_squares(x: numpy.typing.NDArray[numpy.float64], first: int, folds: numpy.typing.NDArray[numpy.uint8], mean: numpy.typing.NDArray[numpy.float64], root: numpy.typing.NDArray[numpy.float64], log_scale: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add Σⱼ log_scale − (root (x[j, i] − mean))² of complete rows i from ``first`` on.

    x is (d, n); column j of model g stands in place g · d + j of the tables (k, P · f · d).
    """

def add_table(places: numpy.typing.NDArray[numpy.int32], first: int, folds: numpy.typing.NDArray[numpy.uint8], table: numpy.typing.NDArray[numpy.float64], out: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Add Σⱼ table[g, places[i, j], c] of the rows from ``first`` on.

    ``table`` is (P · f, T, k), k rounded up to eights.
    """

def hits(scores: numpy.typing.NDArray[numpy.float64], first: int, codes: numpy.typing.NDArray[numpy.uint8], folds: numpy.typing.NDArray[numpy.uint8], otherwise: numpy.typing.NDArray[numpy.uint8], hits: numpy.typing.NDArray[numpy.float64]) -> None:
    """
    Count by labeling and fold, (P, f), the rows whose largest score is that of their class.

    Of equal scores the first is the largest; of −∞ alone, that of ``otherwise``.
    """
