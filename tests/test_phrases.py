"""Phrases are the strings that they print, and keep their parts."""

from __future__ import annotations

import copy
import pickle
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from suffice.errors import ParameterError, warn
from suffice.phrases import Option, Phrase, PythonOnly

WHOLE = Phrase(
    "use ",
    Option("quote", "None", "CsvFormat"),
    PythonOnly(", or None", Phrase("; or ", Option.of("alpha", 1))),
)


def parts(text: str) -> Any:
    """All that a phrase is made of."""
    if isinstance(text, Phrase):
        return tuple(map(parts, text.parts))
    if isinstance(text, PythonOnly):
        return str(text), parts(text.elsewhere)
    return (text.name, text.value, text.owner) if isinstance(text, Option) else text


def test_a_phrase_is_the_string_that_python_prints() -> None:
    assert WHOLE == "use CsvFormat(quote=None), or None"


def test_the_value_of_an_option_is_source_code() -> None:
    assert Option.of("alpha", "gcv").value == "'gcv'"


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


@pytest.mark.parametrize("again", [pickled, copy.copy, copy.deepcopy])
def test_an_error_keeps_its_options(again: Callable[[Any], Any]) -> None:
    error = again(ParameterError(Option.of("alpha", -1), WHOLE, WHOLE))
    found = [parts(text) for text in (error.fact, error.rule, error.next_step)]
    assert found == [("alpha", "-1", ""), parts(WHOLE), parts(WHOLE)]
    assert str(error) == f"alpha=-1; {WHOLE}; {WHOLE}."


def test_a_warning_keeps_its_options() -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(WHOLE)
    message = caught[0].message
    assert isinstance(message, Warning)
    assert parts(message.args[0]) == parts(WHOLE)
