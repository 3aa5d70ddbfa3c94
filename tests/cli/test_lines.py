"""Lines of the command line: parameters as they are typed, and words and tables in a width."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice.cli.messages import for_stream, wrapped
from suffice.cli.output import print_all
from suffice.cli.values import spelled
from suffice.numerics.in_print import Table


@pytest.mark.parametrize(
    ("python", "typed"),
    [
        ("estimation='best'; it is", "--estimation best; it is"),
        ("alpha=-1.0", "--alpha -1.0"),
        ("declare it in missing=..., or not", "declare it in --missing, or not"),
        ("use C=np.inf.", "use --C inf."),
        ("use quote=None where", "use --quote none where"),
        ("use separator=';'", "use --separator ';'"),
        ("written={'day': 'DD/MM/YYYY'}", "--written day=DD/MM/YYYY"),
        ("leave it out: ignore=['gap']", "leave it out: --ignore gap"),
        ("rows, use learnt=False; header=False", "rows, use --new; --no-header"),
        ("column 'alpha=1' has", "column 'alpha=1' has"),
        ("-p alpha=1 is given", "-p alpha=1 is given"),
    ],
)
def test_spellings(python: str, typed: str) -> None:
    assert spelled(python) == typed


@given(st.text("ab 1%\n", max_size=120), st.integers(5, 40))
@settings(max_examples=40, deadline=None)
def test_words_stay_whole_and_in_order(text: str, width: int) -> None:
    folded = wrapped(text, width)
    assert folded.split() == text.split()
    for line in folded.split("\n"):
        assert len(line) <= width or len(line.replace(" %", "%").split()) <= 1


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_gets_short_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    text = "error: one word after another"
    assert for_stream(text, None) == for_stream(text, io.StringIO()) == text
    assert for_stream(text, Terminal()) == "error: one\nword after\nanother"


HEADER = ["", *(f"quantity {i}" for i in range(8))]
ROWS = [[f"row {i}", *(f"{i + j / 7:.6f}" for j in range(8))] for i in range(3)]


@pytest.mark.parametrize("width", [30, 60, 200])
def test_a_table_is_cut_into_parts_that_fit_a_terminal(
    monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setattr("sys.stdout", stream := Terminal())
    print_all([Table("title", HEADER, ROWS)])
    lines = stream.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    cells = " ".join(lines).split()
    assert all(number in cells for row in ROWS for number in row[1:])


def test_words_of_a_last_column_are_folded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stdout", stream := Terminal())
    why = " ".join(f"word{i}" for i in range(20))
    print_all([Table("", ["column", "why"], [["size", why]], left=(0, 1))])
    assert max(map(len, stream.getvalue().splitlines())) <= 60
    assert stream.getvalue().split() == ["column", "why", "size", *why.split()]
