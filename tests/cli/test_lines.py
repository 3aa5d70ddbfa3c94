"""Lines of the command line: parameters as they are typed, and words and tables in a width."""

from __future__ import annotations

import io
import math
from typing import Any

import pytest

from suffice.cli.output import print_all
from suffice.cli.values import listed, short_options, spelled, value_of, written_value
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


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("C", "inf", math.inf),
        ("penalty", "none", None),
        ("costs", "[[0,1],[5,0]]", [[0, 1], [5, 0]]),
        ("class_weight", "spam:5,ham:1", {"spam": 5, "ham": 1}),
        ("families", "x:poisson", {"x": "poisson"}),
        ("ordered", "size:S,M,L", {"size": ["S", "M", "L"]}),
        ("written", "day=YYYY-MM-DD HH:MM", {"day": "YYYY-MM-DD HH:MM"}),
    ],
)
def test_a_value_is_read_by_the_name_of_its_parameter(name: str, text: str, value: Any) -> None:
    assert value_of(name, text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("firth", "firth"),
        (None, "none"),
        (0.5, "0.5"),
        (["a", "b"], "a,b"),
        ({"a": ["low", "high"]}, "a:low,high"),
    ],
)
def test_values_are_written_as_they_are_typed(value: Any, text: str) -> None:
    assert written_value(value) == text


def test_a_name_that_holds_a_comma_stands_in_quotes() -> None:
    names = "age", "sex", "race", "price, net", "day"
    assert listed(["age, sex", "race", '"price, net", day']) == names


def test_parameters_are_options_too() -> None:
    words = ["a.csv", "--missing", "x", "--no-header"]
    short = ["a.csv", "-r", "missing=x", "-r", "header=false"]
    assert short_options(words, ["--label", "-r"], "") == short


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


HEADER = ["", *(f"quantity {i}" for i in range(8))]
ROWS = [[f"row {i}", *(f"{i + j / 7:.6f}" for j in range(8))] for i in range(3)]


@pytest.mark.parametrize("width", [30, 60, 200])
def test_a_table_is_cut_to_fit_a_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
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
