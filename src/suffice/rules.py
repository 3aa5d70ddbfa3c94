"""Rules of records: they stand beside the fields, and one reader checks them.

A record is a frozen dataclass. Its annotations say what its fields are; `Annotated` adds what types
cannot say of one field, and a method under `rule` what holds among several::

    @dataclass(frozen=True)
    class Groups:
        k: Annotated[int, NONNEGATIVE]
        code: Annotated[NDArray[np.intp], Shape("g"), Index("k")]
        weight: Annotated[NDArray[np.float64], Shape("g", 2), FINITE]

        @rule("groups come in the order of their classes")
        def _in_order(self) -> bool:
            return bool((np.diff(self.code) > 0).all())

A letter stands for one number throughout a record: that of the shapes in which it occurs, or of the
field of that name, a whole number.

Options of a family or an estimator are checked by `check_options`: words (a ``Literal``), True or
False, None, and numbers where a range is given::

    estimation: Estimation = "bayes"
    b0: Annotated[float | None, POSITIVE] = None

Values are checked where they come in from outside: `build` makes no record that breaks a rule.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import cache, partial
from numbers import Real
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np

from suffice.errors import ParameterError
from suffice.hints import dtype_of, fits

R = TypeVar("R")
Letters: TypeAlias = dict[str, int]
SMALLEST, LARGEST = 2.0**-1074, float(np.finfo(np.float64).max)


# -- what a field can be asked to be


@dataclass(frozen=True)
class Within:
    """Numbers from ``least`` to ``most``; NaN is in no range."""

    least: float
    most: float
    text: str = ""

    def bounds(self, letters: Letters) -> tuple[float, float]:
        return self.least, self.most

    def words(self, letters: Letters) -> str:
        return self.text or f"from {self.least:g} to {self.most:g}"


FINITE = Within(-LARGEST, LARGEST, "finite")
NONNEGATIVE = Within(0.0, LARGEST, "finite, 0 or more")
POSITIVE = Within(SMALLEST, LARGEST, "finite, above 0")


@dataclass(frozen=True)
class Index:
    """Places among the things that a letter counts; −1 stands for none, where that may be."""

    letter: str
    or_none: bool = False

    def bounds(self, letters: Letters) -> tuple[float, float]:
        """From 0, or −1, to one below the letter."""
        return -float(self.or_none), letters[self.letter] - 1.0

    def words(self, letters: Letters) -> str:
        least = "-1" if self.or_none else "0"
        return f"from {least} to {self.letter} - 1 = {letters[self.letter] - 1}"


@dataclass(frozen=True, init=False)
class Shape:
    """The shape of an array, or the length of a sequence, in letters and numbers."""

    dims: tuple[str | int, ...]

    def __init__(self, *dims: str | int) -> None:
        object.__setattr__(self, "dims", dims)

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.dims))}{',' * (len(self.dims) == 1)})"


@dataclass(frozen=True)
class Rule:
    """A rule among the fields of a record: a sentence, and the check."""

    sentence: str
    kept_by: Callable[[Any], bool]


def rule(sentence: str) -> Callable[[Callable[[Any], bool]], Rule]:
    """Make a rule of a method that tells whether the record keeps it."""
    return partial(Rule, sentence)


# -- checking


def build(cls: type[R], values: Mapping[str, Any]) -> R:
    """Make a record from values that come from outside.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Shares:
    ...     share: Annotated[float, Within(0, 1)]
    >>> build(Shares, {"share": 0.5})
    Shares(share=0.5)
    >>> build(Shares, {"share": 1.5})
    Traceback (most recent call last):
        ...
    suffice.errors.ParameterError: Shares.share is 1.5; share is from 0 to 1.
    """
    every, _ = _rules(cast(Any, cls))
    expected = {field.name for field in every}
    if values.keys() != expected:
        missing, surplus = expected - values.keys(), values.keys() - expected
        facts = [
            f"{verb} {', '.join(sorted(map(str, names)))}"
            for verb, names in (("lacks", missing), ("has in excess", surplus))
            if names
        ]
        raise ParameterError(
            f"{cls.__name__} {' and '.join(facts)}",
            f"its fields are {', '.join(sorted(expected)) or 'none'}",
        )
    letters = _check_fields(cls, values)
    record = cls(**values)
    _check_rules(record, letters)
    return record


def check(record: Any) -> None:
    """Check a record, and first those in it."""
    values = {f.name: getattr(record, f.name) for f in fields(record) if f.init}
    for value in values.values():
        for inner in _records(value):
            check(inner)
    _check_rules(record, _check_fields(type(record), values))


def shown(value: Any) -> str:
    """A value as a message can show it, whatever its size."""
    if isinstance(value, np.ndarray):
        return f"an array {value.shape} of {value.dtype}"
    try:
        return reprlib.repr(value)
    except ValueError:  # an int of thousands of digits
        return f"a value of type {type(value).__name__}"


def _check_fields(cls: Any, values: Mapping[str, Any]) -> Letters:
    """Check types, then shapes, then numbers; return what the letters stand for."""
    every, _ = _rules(cls)
    for field in every:
        if not fits(field.hint, values[field.name]):
            fact = f"{cls.__name__}.{field.name} is {shown(values[field.name])}"
            raise ParameterError(fact, f"{field.name} is {field.named}")
    letters = {field.name: int(values[field.name]) for field in every if field.hint is int}
    there = [field for field in every if values[field.name] is not None]
    for field in there:
        if field.shape is None:
            continue
        value, dims = values[field.name], field.shape.dims
        found = value.shape if hasattr(value, "shape") else (len(value),)
        pairs = zip(dims, found, strict=False)
        same = (n == (d if isinstance(d, int) else letters.setdefault(d, n)) for d, n in pairs)
        if len(found) != len(dims) or not all(same):
            here = ", ".join(f"{d} = {letters[d]}" for d in dict.fromkeys(dims) if d in letters)
            raise ParameterError(
                f"{cls.__name__}.{field.name} has the shape {found}",
                f"its shape is {field.shape}" + f", where {here}" * bool(here),
            )
    for field in there:
        for within in field.ranges:
            _check_range(cls, field, values[field.name], within, letters)
    return letters


def _check_range(
    cls: Any, field: _Field, value: Any, within: Within | Index, letters: Letters
) -> None:
    """Check that the numbers of a field lie in a range; pairs are judged by their leading parts."""
    if isinstance(value, str):  # a word, where the type allows one
        return
    numbers = np.asarray(getattr(value, "hi", value))
    least, most = within.bounds(letters)
    if not numbers.size or (numbers.min() >= least and numbers.max() <= most):
        return
    place = np.argwhere(~((numbers >= least) & (numbers <= most)))[0].tolist()
    at = f"[{', '.join(map(str, place))}]" if place else ""
    fact = f"{cls.__name__}.{field.name}{at} is {shown(numbers.item(*place))}"
    raise ParameterError(fact, f"{field.name} is {within.words(letters)}")


def _check_rules(record: Any, letters: Letters) -> None:
    """Check what holds among fields."""
    cls: Any = type(record)
    for among in _rules(cls)[1]:
        with np.errstate(all="ignore"):  # what overflows, or is NaN, keeps no rule
            kept = among.kept_by(record)
        if not kept:
            sizes = ", ".join(f"{letter} = {n}" for letter, n in sorted(letters.items()))
            fact = f"a {cls.__name__} with {sizes}" if sizes else f"a {cls.__name__}"
            raise ParameterError(fact, among.sentence)


def _records(value: Any) -> Iterator[Any]:
    """The records that a value is, or holds."""
    if is_dataclass(value):
        yield value
    elif isinstance(value, tuple | list | dict):
        items = value.values() if isinstance(value, dict) else value
        if any(map(is_dataclass, set(map(type, items)))):
            yield from filter(is_dataclass, items)


# -- options


def check_options(options: Any) -> None:
    """Refuse the first option of a dataclass that is none of the values that it may have."""
    cls: Any = type(options)
    for name, default, words, numbers in _allowed(cls):
        given = value = getattr(options, name)
        if given is default:
            continue
        if isinstance(given, np.generic):
            value = given.item()
        if any(isinstance(value, type(word)) and value == word for word in words):
            continue
        is_number = isinstance(value, Real) and not isinstance(value, bool)
        if numbers and is_number and numbers.least <= value <= numbers.most:
            continue
        raise ParameterError(f"{name}={given!r}", _in_words(name, words, numbers))


def _in_words(name: str, words: tuple[Any, ...], numbers: Within | None) -> str:
    """Return the rule of an option in words."""
    if words == (True, False):
        return "it is True or False"
    listed = ("one of " if numbers is None or len(words) > 1 else "") + ", ".join(map(repr, words))
    if numbers is None:
        return f"{name} is {listed}"
    return f"{name} is a number, {numbers.words({})}" + (f", or {listed}" if words else "")


@cache
def _allowed(cls: Any) -> list[tuple[str, Any, tuple[Any, ...], Within | None]]:
    """Return the options of a dataclass that annotations limit.

    Of each its name, its default, the words or constants that it may be, and the range of numbers.
    """
    hints, found = get_type_hints(cls, include_extras=True), []
    for option in fields(cls):
        hint = hints[option.name]
        plain, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
        numbers = next((extra for extra in extras if isinstance(extra, Within)), None)
        members = get_args(plain) if get_origin(plain) in (Union, UnionType) else (plain,)
        words = [_words(member) for member in members]
        if numbers is not None or None not in words:
            known = tuple(word for some in words for word in some or ())
            found.append((option.name, option.default, known, numbers))
    return found


def _words(hint: Any) -> tuple[Any, ...] | None:
    """Return the values of an annotation that has few; else None."""
    if hint is bool:
        return (True, False)
    return get_args(hint) if get_origin(hint) is Literal else (None,) if hint is NoneType else None


# -- the rules of a class


@dataclass(frozen=True)
class _Field:
    """The rules of one field."""

    name: str
    hint: Any  # without what is annotated
    named: str
    shape: Shape | None
    ranges: tuple[Within | Index, ...]


@cache
def _rules(cls: Any) -> tuple[list[_Field], list[Rule]]:
    """Return the rules of a record: of its fields, and among them."""
    hints = get_type_hints(cls, include_extras=True)
    every = [_field(f.name, hints[f.name]) for f in fields(cls) if f.init]
    members = {name: member for base in cls.__mro__[::-1] for name, member in vars(base).items()}
    return every, [member for member in members.values() if isinstance(member, Rule)]


def _field(name: str, hint: Any) -> _Field:
    plain, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    dtype = dtype_of(plain)
    text = plain.__name__ if type(plain) is type else re.sub(r"(\w+\.)+(?=\w)", "", str(plain))
    return _Field(
        name,
        plain,
        text if dtype is None else f"an array of {dtype}",
        next((extra for extra in extras if isinstance(extra, Shape)), None),
        tuple(extra for extra in extras if isinstance(extra, Within | Index)),
    )
