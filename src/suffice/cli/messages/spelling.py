"""How the command line spells the options that messages name: as what the user types.

The flags come from where the commands declare them: the parameters of estimators from `MODELS`, the
fields of `CsvFormat` from `Reading`, the families of columns from `Roles`.
"""

from __future__ import annotations

import shlex
from ast import literal_eval
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from suffice.cli.options.recipes import CATEGORIES, MODELS
from suffice.cli.options.roles import FAMILIES
from suffice.cli.options.shared import CSV_WORDS, Reading, flag
from suffice.phrases import Option, Phrase, PythonOnly

__all__ = ["flags", "spelled"]

SEARCHLIGHT = {
    "exchange": ("blocks", "volumes"),
    "leave_out": (),
    "permutations": (),
    "zscore": ("run",),
}


@dataclass(frozen=True)
class Flag:
    """A flag of the command line, and the values that it spells in another way.

    Parameters
    ----------
    name : str
        Such as ``--penalty``.
    words : mapping of str to str
        What stands for a value of Python's, given as source code.
    """

    name: str
    words: Mapping[str, str] = field(default_factory=dict)


@cache
def flags() -> dict[str, list[Flag]]:
    """The flags of every option of the library that the command line has, by its name in Python.

    Where there are several, the first that has a word for a value is meant, or else the first.
    """
    found: dict[str, list[Flag]] = {}
    for name, one in _declared():
        if one not in found.setdefault(name, []):
            found[name].append(one)
    return found


def _declared() -> Iterator[tuple[str, Flag]]:
    for field_ in fields(Reading):
        name = field_.name
        yield name, Flag(flag(name), _by_value(CSV_WORDS.get(name, {})))
    for recipe in MODELS.values():
        for option, parameter in recipe.parameters.items():
            yield parameter.name, Flag(flag(option), _by_value(parameter.words))
    for family in FAMILIES:
        yield "families", Flag(flag(family), {f"{{column: {family!r}}}": ""})
    for name, words in SEARCHLIGHT.items():
        yield name, Flag(flag(name), {repr(word): word for word in words})
    for name in CATEGORIES:
        yield name, Flag(flag(name))
    yield "columns", Flag(flag("ignore"))  # of a refit
    yield "ignore", Flag(flag("ignore"))
    yield "level", Flag(flag("level"))
    yield "min_count", Flag(flag("min_count"))  # of an audit
    yield "learnt", Flag(flag("new"), {"False": ""})  # of a calibration
    yield "again", Flag(flag("again"), {"True": ""})  # of a forget


def _by_value(words: Mapping[str, Any]) -> dict[str, str]:
    """Words by the source code of their values; of two words for one value, the first."""
    return {repr(words[word]): word for word in reversed(list(words))}


def spelled(text: str) -> str:
    """A message, or a part of one, as the command line says it.

    Examples
    --------
    >>> spelled(Phrase("1 or more", PythonOnly(", or None"), "; or ", Option("C", "np.inf")))
    '1 or more; or --C inf'
    """
    match text:
        case Phrase():
            return "".join(map(spelled, text.parts))
        case PythonOnly():
            return spelled(text.elsewhere)
        case Option():
            return _option(text)
    return str(text)


def _option(option: Option) -> str:
    named = flags().get(option.name)
    if named is None:
        return str(option)
    found = next((one for one in named if option.value in one.words), named[0])
    value = found.words.get(option.value, option.value.removeprefix("np."))
    to_type = option.owner or value.startswith("[")
    return f"{found.name} {_advised(value) if to_type else value}".strip()


def _advised(value: str) -> str:
    """A value that is to be typed, as a shell wants it."""
    if value == "...":
        return ""
    try:
        meant = literal_eval(value)
        if isinstance(meant, dict):
            return " ".join(shlex.quote(f"{key}={item}") for key, item in meant.items())
        if isinstance(meant, list):
            return " ".join(map(shlex.quote, meant))
        return shlex.quote(meant)
    except (ValueError, SyntaxError, TypeError):
        return value
