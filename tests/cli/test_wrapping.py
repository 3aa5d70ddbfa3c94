"""Lines as wide as a terminal."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from suffice.cli.wrapping import for_stream, wrapped


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
