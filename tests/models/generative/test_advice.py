"""What is said of a table that is probably not meant."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes
from suffice.models.generative.described import advice as advised
from suffice.naive_bayes import GaussianNB

N = 60
Y = ["a", "b"] * (N // 2)
X = [float(i * i % 17) for i in range(N)]


def advice(**columns: Any) -> tuple[str, ...]:
    frame = pd.DataFrame({"x": X, **columns, "y": columns.get("y", Y)})
    return tuple(advised(NaiveBayes.textbook().fit(frame, "y").model_))


def test_an_ordinary_table_needs_none() -> None:
    assert advice(colour=["red", "blue", "green"] * (N // 3)) == ()


@pytest.mark.parametrize(
    ("cells", "said"),
    [
        (["red"] * N, "has one value only, 'red': it tells nothing"),
        ([7] * N, "has one value only, 7: it tells nothing"),
        ([0.1] * N, "has one value only, 0.1: it tells nothing"),
        (["low", "high"] * (N // 2), "has one value for each class: if it is a copy of the label"),
        (
            pd.Categorical([f"{i % 30}.50" for i in range(N)]),
            "holds numbers that are kept as text, such as '0.5",
        ),
        (
            pd.Categorical(["?" if i % 25 == 1 else f"{i % 30}.5" for i in range(N)]),
            "would hold numbers if '?' stood for missing cells",
        ),
    ],
)
def test_columns(cells: Any, said: str) -> None:
    (found,) = advice(odd=cells)
    assert found.startswith(f"the column 'odd' {said}")


def test_missing_cells_are_no_values() -> None:
    assert advice(odd=[None, *[0.1] * (N - 1)])[0].startswith("the column 'odd' has one value only")
    assert advice(odd=[None] * (N - 1) + [0.1]) == ()


def test_rare_classes() -> None:
    assert advice(y=["c", *Y[1:]]) == ("the class 'c' has 1 row: its answers are uncertain",)
    assert advice(y=["c", "d", *Y[2:]]) == (
        "the class 'c' has 1 row, and 1 more has fewer than 5: its answers are uncertain",
    )


def test_a_label_that_is_a_quantity() -> None:
    assert advice(y=list(range(N))) == (
        "the label 'y' has 60 numeric values; if it is a quantity, a linear model predicts it",
    )


@pytest.mark.parametrize("kind", [float, str])
def test_labels_of_floats_are_numbers_and_strings_are_none(kind: type) -> None:
    found = advice(y=[kind(i) for i in range(N)])
    assert ("numeric values" in found[0]) == (kind is float)


def test_it_follows_rows_that_are_added_and_forgotten() -> None:
    model = GaussianNB().fit(np.ones((N, 1)), Y)
    (said,) = advised(model.model_)
    assert said == "the column 'x0' has one value only, 1: it tells nothing"
    more = np.arange(2.0)[:, None]
    assert tuple(advised(model.partial_fit(more, ["a", "b"]).model_)) == ()
    assert len(tuple(advised(model.forget(more, ["a", "b"]).model_))) == 1
