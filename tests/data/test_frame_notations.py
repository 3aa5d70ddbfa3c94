"""Numbers with a mark, grouped digits and dates in columns of strings of frames in memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import suffice
from suffice import NaiveBayes
from suffice.errors import SchemaError, SufficeWarning
from suffice.linear_model import LinearRegression

pytestmark = pytest.mark.filterwarnings("ignore:strings are read:suffice.errors.SufficeWarning")

N = 40
RNG = np.random.default_rng(0)
PRICE = (RNG.random(N) * 5_000).round(2)
FRAME = pd.DataFrame(
    {
        "price": [f"${price:,.2f}" for price in PRICE],
        "share": [f"{i % 7}%" for i in range(N)],
        "people": [f"{i**3:,}" for i in range(N)],
        "day": [f"{1 + i % 28:02}/03/2024" for i in range(N)],
        "y": ["a", "b"] * (N // 2),
    }
)
WRITTEN = {"price": "$1", "share": "1%", "people": "1,000", "day": "DD/MM/YYYY"}
ALL = (
    r"strings are read as numbers or dates, as they are written: 'price' \(\$1\), 'share' \(1%\), "
    r"'day' \(DD/MM/YYYY\), 'people' \(1,000\); give a column a categorical type to keep it as text"
)


def read(**columns: Any) -> dict[str, Any]:
    return suffice.read_table(pa.table(columns)).head().to_pydict()


@pytest.mark.parametrize("table", [FRAME, pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME)])
def test_a_frame_is_read_as_the_same_rows_in_a_file(table, tmp_path: Path):
    with pytest.warns(SufficeWarning, match=ALL):
        model = NaiveBayes.textbook().fit(table, "y")
    assert dict(model.reader_.format.written) == WRITTEN
    FRAME.to_csv(tmp_path / "rows.csv", index=False)
    of_file = NaiveBayes.textbook().fit(tmp_path / "rows.csv", "y")
    assert [column.kind for column in model.schema_] == ["real"] * 4
    expected = of_file.predict_proba(tmp_path / "rows.csv")
    np.testing.assert_array_equal(model.predict_proba(table), expected)
    np.testing.assert_array_equal(model.predict_proba(tmp_path / "rows.csv"), expected)


def test_later_rows_are_read_as_the_first_were(tmp_path: Path):
    whole = LinearRegression().fit(FRAME.drop(columns="y").assign(y=PRICE), "y")
    parts = LinearRegression().fit(FRAME[:20].drop(columns="y").assign(y=PRICE[:20]), "y")
    parts.partial_fit(FRAME[20:].drop(columns="y").assign(y=PRICE[20:]), "y")
    np.testing.assert_array_equal(parts.coef_, whole.coef_)
    parts.save(tmp_path / "model")
    again = suffice.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(FRAME), whole.predict(FRAME))
    row = FRAME.iloc[0].drop("y").to_dict()
    assert again.predict([row]) == whole.predict(FRAME)[:1]
    numbers = FRAME.assign(price=PRICE)  # numbers are what they are
    np.testing.assert_array_equal(again.predict(numbers), whole.predict(FRAME))


def test_a_later_cell_that_does_not_obey_is_named():
    model = NaiveBayes.textbook().fit(FRAME, "y")
    wrong = FRAME.assign(price=["$1.00", "2.00", *FRAME["price"][2:]])
    with pytest.raises(SchemaError, match=r"column 'price', row 1: '2.00' is not written as \$1"):
        model.predict(wrong)


@settings(max_examples=40)
@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20))
def test_grouped_digits_are_the_numbers(numbers):
    cells = [f"{number:,}" for number in numbers]
    expected = numbers if any("," in cell for cell in cells) else cells
    assert read(x=cells)["x"] == expected


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["1,5", "2,25"], [1.5, 2.25]),
        (["1.234,5", "7"], [1234.5, 7.0]),
        (["1,000", "1,5"], ["1,000", "1,5"]),
        (["007", "012"], ["007", "012"]),
        (["$1", None], [1.0, None]),
        (["1 Main Street", "22 Side Road"], ["1 Main Street", "22 Side Road"]),
        (["12:30", "13:45"], ["12:30", "13:45"]),
    ],
)
def test_columns_become_numbers_only_where_every_cell_is_one(cells, expected):
    assert read(x=cells)["x"] == expected


@pytest.mark.parametrize("cells", [["$1", "2"], ["2", "$1"], [*map(str, range(2, 20)), "$1"]])
def test_numbers_of_which_some_have_a_mark_are_told(cells):
    said = (
        r"some cells of column 'x' are numbers in \$, as in \$1, and some lack the mark, as 2: all"
    )
    with pytest.warns(SufficeWarning, match=said):
        assert read(x=cells)["x"] == cells


def test_dates_of_which_nobody_knows_the_day_stay_text():
    rows = pd.DataFrame(
        {"day": ["01/02/2024", "03/04/2024"] * 9, "x": range(18), "y": ["a", "b"] * 9}
    )
    with pytest.warns(SufficeWarning, match="whether the day or the month comes first: 'day'"):
        model = NaiveBayes.textbook().fit(rows, "y")
    assert model.schema_[0].kind == "category"


def test_one_cell_that_does_not_obey_is_named_and_the_column_stays_text():
    rows = FRAME[["price", "y"]].assign(price=[*FRAME["price"][:-1], "free"], x=PRICE)
    said = r"column 'price' would hold numbers in \$, as in \$1, but for 'free': it is kept as text"
    with pytest.warns(SufficeWarning, match=said):
        model = NaiveBayes.textbook({"price": "categorical"}).fit(rows, "y")
    assert model.schema_[0].kind == "category"


def test_a_categorical_type_keeps_the_text():
    rows = FRAME[["price", "y"]].assign(price=FRAME["price"].astype("category"), x=PRICE)
    model = NaiveBayes.textbook({"price": "categorical"}).fit(rows, "y")
    assert model.schema_[0].kind == "category"
    label = pd.DataFrame({"x": PRICE, "y": ["$1", "$2"] * (N // 2)})
    assert NaiveBayes.textbook().fit(label, "y").classes_.tolist() == ["$1", "$2"]
