"""A missing cell is summed out: against the sum over all its values, in fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pytest

from suffice import NaiveBayes

NAMES = ("a", "b", "c")
VALUES = {"a": ("x", "y", "z"), "b": ("u", "v"), "c": ("p", "q")}
ROWS = [
    ("x", "u", None, 0),
    ("y", None, "p", 1),
    ("x", "v", "q", 0),
    (None, "u", "q", 1),
    ("z", "v", "p", 0),
    ("z", None, None, 1),
    ("y", "u", "q", 1),
]


def table(rows) -> pa.Table:
    cells = list(zip(*rows, strict=True))
    return pa.table({name: pa.array(cells[j], pa.string()) for j, name in enumerate(NAMES)})


def joint(label: int, row: tuple[str, ...]) -> Fraction:
    """P(x, c) of a complete row, every factor from the rows that show its column."""
    labels = [r[-1] for r in ROWS]
    result = Fraction(labels.count(label), len(labels))
    for j, name in enumerate(NAMES):
        shown = [r[j] for r in ROWS if r[-1] == label and r[j] is not None]
        result *= Fraction(shown.count(row[j]) + 1, len(shown) + len(VALUES[name]))
    return result


def brute_force(row: tuple[str | None, ...]) -> list[Fraction]:
    """Add up every way to fill the holes of a row."""
    fillings = product(
        *(VALUES[name] if cell is None else (cell,) for name, cell in zip(NAMES, row, strict=True))
    )
    sums = [Fraction(0), Fraction(0)]
    for full in fillings:
        sums = [total + joint(label, full) for label, total in enumerate(sums)]
    return sums


QUERIES = list(product(*((None, *VALUES[name]) for name in NAMES)))


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    return NaiveBayes.textbook().fit(table(ROWS), [row[-1] for row in ROWS])


def test_every_pattern_of_holes(model):
    found = model.predict_joint_log_proba(table(QUERIES))
    expected = [[float(part) for part in brute_force(row)] for row in QUERIES]
    assert len(QUERIES) == 36
    assert np.exp(found) == pytest.approx(np.array(expected), rel=1e-14)


def test_a_row_of_holes_gets_the_prior(model):
    found = model.predict_proba(table([(None,) * 3]))[0]
    assert found == pytest.approx([3 / 7, 4 / 7], rel=1e-15)
