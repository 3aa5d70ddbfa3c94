"""Numbers, lists and pictures as results print them."""

import math
from typing import Any

import pytest

from suffice.numerics import in_print
from suffice.numerics.in_print import Table


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("percent", 0.1701, "17.0 %"),
        ("percent", 0.99999, "> 99.9 %"),
        ("percent", 0.0001, "< 0.1 %"),
        ("percent", math.nan, "-"),
        ("number", 0.123456, "0.1235"),
        ("number", 1234567.8, "1,234,568"),
        ("short", 0.123456, "0.1235"),
        ("short", "Private", "Private"),
        ("short", None, "missing"),
        ("short", " ", "(empty)"),
        ("short", "x" * 70, "x" * 60 + "..."),
        ("signed", 3.0103, "+3.01"),
        ("signed", -math.inf, "-∞"),
        ("signed", -0.001, "0.00"),
        ("odds", math.log(4), "4 to 1 for"),
        ("odds", -math.log(1500), "1,500 to 1 against"),
        ("odds", 0.0, "even"),
        ("odds", math.inf, "∞ to 1 for"),
        ("odds", 50.0, "5e+21 to 1 for"),
        ("probability", 0.04321, "0.0432"),
        ("probability", 0.0, "<2e-16"),
        ("bound", 1.29e-12, "2e-12"),
        ("bound", 2e-12, "2e-12"),
        ("bound", 9.5e-13, "1e-12"),
        ("criterion", -123456.789, "-123456.79"),
        ("criterion", 0.01234567, "0.01235"),
        ("explained", 0.4559, "0.5441"),
        ("explained", 3.25e-18, "1 − 3.25e-18"),
        ("explained", 0.0, "1"),
        ("listed", "abc", "a, b, c"),
    ],
)
def test_each_number_has_the_digits_that_mean_something(name: str, value: Any, text: str) -> None:
    assert getattr(in_print, name)(value) == text


def test_a_long_list_says_how_many_more_there_are() -> None:
    assert in_print.listed("abcdef", most=4) == "a, b, c, d and 2 more"


def test_a_table_prints_its_columns_below_each_other() -> None:
    table = Table("t", ["", "n"], [["a", "1"], ["<b>", "10"]], ["two rows"])
    assert str(table) == "t\n      n\na     1\n<b>  10\n\ntwo rows"


def test_what_comes_from_the_data_is_no_markup() -> None:
    cell = '<tr><td align="left">&lt;b&gt;</td></tr>'
    table = f"<table><caption>t</caption><tr><th>a</th></tr>{cell}</table>"
    assert Table("t", ["a"], [["<b>"]]).html() == table


def test_of_many_steps_the_first_and_the_last_are_shown() -> None:
    found = in_print.steps("2 of 3", {"alpha": [1.0, 0.5, 0.25], "RSS": [8.0, 7.5, 7.25]}, most=2)
    assert found.rows == [["1", "8"], ["0.25", "7.25"]]


def test_a_bar_is_one_mark_of_a_finite_number() -> None:
    assert in_print.bar(0.5, 1.0).count("<rect") == 1
    assert in_print.bar(math.nan, 1.0) == ""
