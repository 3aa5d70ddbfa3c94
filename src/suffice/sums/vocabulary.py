"""A table value → code for class labels, categories and tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from functools import cached_property
from hashlib import blake2b
from itertools import pairwise, repeat
from operator import eq, lt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.errors import SchemaError
from suffice.numerics.arrays import Ints
from suffice.rules import rule

Value = Any  # of one of the kinds: hashable, and ordered in its kind
NUMBERS = bool | int | float | np.number
KINDS = (str, bool, int, float, bytes, date, time, timedelta, Decimal, np.generic)


def hash_of(value: Any) -> np.uint64:
    """The hash of bytes, or of how a value is written; of a number the bits of its double."""
    if isinstance(value, NUMBERS):
        try:
            return np.float64(float(value) + 0.0).view(np.uint64)
        except OverflowError:
            value = hex(int(value))  # a whole number that no double is near
    content = value if isinstance(value, bytes) else str(value).encode()
    return np.uint64(int.from_bytes(blake2b(content, digest_size=8).digest(), "little"))


def _order(value: Value) -> tuple[str, Value]:
    """Sort numbers by value, everything else by kind first, so that mixed kinds can be sorted."""
    return ("", value) if isinstance(value, (bool, int, float)) else (type(value).__name__, value)


@dataclass(frozen=True)
class Vocabulary:
    """Distinct values in sorted order; the code of a value is its position.

    Vocabularies are merged by value, never by code. Equal numbers are one value (1, 1.0 and True),
    written as an integer where one was seen.

    Parameters
    ----------
    values : tuple
        Distinct values, sorted. Build from unsorted values with `Vocabulary.of`.
    closed : bool
        A closed vocabulary is given by the model (the two values of a Bernoulli, the columns of
        a count table); it neither grows nor shrinks.

    Examples
    --------
    >>> Vocabulary.of(["b", "a", "b"]) | Vocabulary.of(["c"])
    Vocabulary(values=('a', 'b', 'c'), closed=False)
    """

    values: tuple[Value, ...]
    closed: bool = False

    @rule("values are distinct and in order, and none is missing")
    def _is_ordered(self) -> bool:
        kinds = set(map(type, self.values))
        if not all(issubclass(kind, KINDS) for kind in kinds):
            return False
        try:
            if not all(map(eq, self.values, self.values)):
                return False
            if len(kinds) == 1:
                return all(map(lt, self.values, self.values[1:]))
            ordered = all(a < b for a, b in pairwise(map(_order, self.values)))
            return ordered and len(self.codes) == len(self.values)
        except (TypeError, ArithmeticError):  # times with and without a zone; a signalling NaN
            return False

    @classmethod
    def of(cls, values: Iterable[Value]) -> Vocabulary:
        values = tuple(values)
        if len(set(map(type, values))) <= 1:
            return cls(tuple(sorted(dict.fromkeys(values))))
        distinct: dict[Value, Value] = {}
        for value in values:
            if value not in distinct or type(value) is int:
                distinct[value] = value
        return cls(tuple(sorted(distinct.values(), key=_order)))

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def codes(self) -> dict[Value, int]:
        return {value: code for code, value in enumerate(self.values)}

    @cached_property
    def hashes(self) -> NDArray[np.uint64]:
        """The hash of each value, equal numbers alike, and one more entry for the code −1."""
        return np.array([*map(hash_of, self.values), 0], np.uint64)

    @cached_property
    def counts_from_zero(self) -> bool:
        """Return whether the values are 0, 1, 2 and so on, or there is none."""
        return self.values == tuple(range(len(self.values)))

    def __or__(self, other: Vocabulary) -> Vocabulary:
        if not other.values or self == other:
            return self
        if not len(self):
            return other
        if self.closed or other.closed:
            raise ValueError(f"a closed vocabulary does not grow: {self.values} | {other.values}")
        return Vocabulary.of((*self.values, *other.values))

    def index(self, values: Iterable[Value], unseen: int) -> Ints:
        """Codes of the given values; ``unseen`` for those that are not here."""
        codes = self.codes
        return np.fromiter(map(codes.get, values, repeat(unseen)), np.intp)

    def take(self, index: Ints) -> Vocabulary:
        """The values at the given codes, which must be increasing."""
        return Vocabulary(tuple(self.values[code] for code in index), self.closed)

    def shown(self, codes: NDArray[Any]) -> tuple[Vocabulary, NDArray[Any]]:
        """Return the values that have some codes, and codes into these; −1, and one past, stay."""
        if self.closed:
            return self, codes
        known = codes[(codes >= 0) & (codes < len(self))]
        used = np.flatnonzero(np.bincount(known, minlength=len(self)))
        place = np.full(len(self) + 1, len(used), codes.dtype)
        place[used] = np.arange(len(used))
        return self.take(used), np.where(codes < 0, codes, place[codes])


FALSE_TRUE = Vocabulary((False, True), closed=True)


def check_one_type(
    mine: Vocabulary, theirs: Vocabulary, one: str, other: str, what: str = "labels"
) -> None:
    """Refuse labels, or values of a category, of two types, such as strings and numbers.

    Parameters
    ----------
    mine, theirs : Vocabulary
        The labels.
    one, other : str
        What they are called.
    what : str
        All of them.
    """
    kinds = _kind(mine.values), _kind(theirs.values)
    if None not in kinds and kinds[0] != kinds[1]:
        raise SchemaError(
            f"{one} are of the type {kinds[0]}, {other} of the type {kinds[1]}",
            f"{what} are of one type",
            "convert them",
        )


def _kind(values: Sequence[Value]) -> str | None:
    """The type of labels; numbers but for Booleans are one. They are known to be of one type."""
    numbers = (isinstance(v, int | float) and not isinstance(v, bool) for v in values)
    kinds = {"number" if n else type(v).__name__ for n, v in zip(numbers, values, strict=True)}
    return min(kinds, default=None)
