"""Tables in a width: nothing is lost, no number is broken, no line is wider."""

from __future__ import annotations

import io
import re

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from suffice.cli.output.fitted_tables import fitted
from suffice.cli.output.tables import grid

WORDS = st.text("abcäß名_-", min_size=1, max_size=30)
TEXTS = st.lists(WORDS, min_size=1, max_size=5).map(" ".join)
NUMBERS = st.floats(-1e9, 1e9).map("{:.6g}".format) | st.just("17.0 → 16.5 %")


def printed(rows: list[list[str]], header: list[str], width: int) -> list[list[str]]:
    """The lines of every part of a table."""
    table = grid(*header)
    for row in rows:
        table.add_row(*row)
    parts = []
    for part in fitted(table, width):
        stream = io.StringIO()
        Console(file=stream, width=width, markup=False, emoji=False).print(part)
        parts.append(stream.getvalue().splitlines())
    return parts


def letters(text: str) -> str:
    return re.sub(r"[\s─]", "", text)


@given(
    st.integers(40, 100),
    st.lists(st.tuples(TEXTS, NUMBERS, NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=4),
)
def test_no_line_is_wider_and_no_number_is_broken(
    width: int, rows: list[tuple[str, str, str, str, str]]
) -> None:
    parts = printed([list(row) for row in rows], ["", "first", "second one", "third", ""], width)
    lines = [line for part in parts for line in part]
    assert all(cell_len(line) <= width for line in lines)
    for row in rows:
        for number in row[1:]:
            assert any(number in line for line in lines)
    names = "".join(letters(row[0]) for row in rows)
    for part in parts:
        shown = sorted(letters("".join(part)))
        assert all(shown.count(letter) >= names.count(letter) for letter in set(names) & set("名ß"))


def test_a_table_that_fits_is_as_it_was() -> None:
    table = grid("model", "rows")
    table.add_row("naive-bayes", "12")
    assert list(fitted(table, 30)) == [table]


def test_columns_stand_closer_and_then_below_each_other() -> None:
    row = ["tiny", "102,254 ± 2,382", "83,456 ± 2,119", "0.5 → 0.0 %"]
    header = ["", "RMSE", "MAE", "missing"]
    assert len(printed([row], header, 60)) == 1
    below = printed([row], header, 44)
    assert [[*filter(None, map(str.split, part))][-1][0] for part in below] == ["tiny", "tiny"]
    assert "missing" in below[1][1]


def test_words_are_broken_after_joints() -> None:
    (lines,) = printed([["a_long_name_of_one_column[level]", "1"]], ["", "rows"], 24)
    cells = [line.split() for line in lines if "─" not in line]
    assert cells == [[], ["rows"], ["a_long_name_of_", "1"], ["one_column["], ["level]"], []]
