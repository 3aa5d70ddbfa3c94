"""Lines of the command line: options as they are typed, words and tables in a width."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console

from suffice.cli.messages.spelling import spelled
from suffice.cli.output.fitted_tables import fitted
from suffice.cli.output.tables import grid
from suffice.cli.wrapping import for_stream, wrapped


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("estimation='best'; it is", "-p estimation=best; it is"),
        ("alpha=-1.0", "-p alpha=-1.0"),
        ("alpha='gcv'", "-p alpha=gcv"),
        ("declare it in missing=..., or not", "declare it in -r missing=..., or not"),
        ("use C=np.inf.", "use -p C=inf."),
        ("use quote=None where", "use -r quote=none where"),
        ("use separator=';'", "use -r separator=';'"),
        ('encoding="latin-1"', "-r encoding=latin-1"),
        ("written={'day': 'DD/MM/YYYY'}", "-r written=day:DD/MM/YYYY"),
        ("write ordered={'a': ['low', 'high']}", "write -p ordered=a:low,high"),
        ("leave it out: ignore=['gap']", "leave it out: --ignore gap"),
        ("rows, use learnt=False", "rows, use --new"),
        ("column 'alpha=1' has", "column 'alpha=1' has"),
        ("-p alpha=1 is given", "-p alpha=1 is given"),
        ("something=1", "something=1"),
    ],
)
def test_spellings(python: str, typed: str) -> None:
    assert spelled(python) == typed


@given(st.text("ab 名%\n", max_size=120), st.integers(5, 40))
def test_words_stay_whole_and_in_order(text: str, width: int) -> None:
    folded = wrapped(text, width)
    assert folded.split() == text.split()
    for line in folded.split("\n"):
        assert cell_len(line) <= width or len(line.replace(" %", "%").split()) <= 1


def test_lines_keep_the_indent_and_a_number_its_sign() -> None:
    assert wrapped("  about 17 % of all", 10) == "  about\n  17 % of\n  all"
    assert wrapped("one\n  two three", 7) == "one\n  two\n  three"


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_gets_short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    text = "error: one word after another"
    assert for_stream(text, None) == for_stream(text, io.StringIO()) == text
    assert for_stream(text, Terminal()) == "error: one\nword after\nanother"
    monkeypatch.setenv("COLUMNS", "0")
    assert for_stream(text, Terminal()) == text


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


@settings(max_examples=40)
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
