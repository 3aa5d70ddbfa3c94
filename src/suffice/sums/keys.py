"""Keys of groups of rows: typed values of some columns, one row a group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError, SchemaError, first_line
from suffice.numerics.arrays import Bools, Ints
from suffice.numerics.in_print import listed
from suffice.phrases import meant
from suffice.rules import rule
from suffice.sums.base import Sums
from suffice.sums.block import BadCell
from suffice.sums.counts import first_rows

TYPES = {
    "string": pa.string(),
    "whole number": pa.int64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
    "time": pa.timestamp("us"),
}
"""What a key may be, and how Arrow stores it."""

WHOLE = 2.0**53
RULE = "a key is a string, a whole number, a date or a boolean"
PAIR = 2**31  # more than there are values of a column of keys


@dataclass(frozen=True, eq=False)
class KeyColumn:
    """Keys of one column as a file has them.

    Parameters
    ----------
    name, kind : str
        The column, and which of `TYPES` its values are.
    values : tuple
        Those of the groups (g,); None where one is missing.
    """

    name: str
    kind: str
    values: tuple[Any, ...]

    @rule("values are of a kind of keys")
    def _is_of_kind(self) -> bool:
        try:
            return len(self.column()) == len(self.values)
        except (ArithmeticError, LookupError, NotImplementedError, TypeError, ValueError):
            return False

    def column(self) -> pa.Array[Any]:
        return pa.array(self.values, TYPES[self.kind])


@dataclass(frozen=True, eq=False)
class Keys:
    """Keys of g groups, each once, in order; a missing value is a key, and the last.

    Parameters
    ----------
    names : tuple of str
        The columns.
    columns : tuple of pyarrow.Array
        Their values (g,), of the types `TYPES`.
    size : int
        g; 1 without columns.

    Examples
    --------
    >>> keys = Keys.of({"city": pa.array(["b", None, "a"]), "year": pa.array([1, 2, 3])})
    >>> [keys.key(g) for g in range(len(keys))]
    [('b', 1), (None, 2), ('a', 3)]
    """

    names: tuple[str, ...]
    columns: tuple[pa.Array[Any], ...]
    size: int

    @classmethod
    def none(cls) -> Self:
        """Return the keys of all rows together."""
        return cls((), (), 1)

    @classmethod
    def of(cls, columns: Mapping[str, pa.Array[Any]]) -> Self:
        """Return distinct keys, of which there is a column at least."""
        try:
            cells = tuple(key_cells(name, column) for name, column in columns.items())
        except BadCell as bad:
            fact = f"key {bad.column!r}, row {bad.row}: {bad.value:g}"
            raise DataError(fact, bad.rule, bad.next_step) from None
        return cls(tuple(columns), cells, len(cells[0]))

    @classmethod
    def numbered(cls, numbers: Ints) -> Self:
        return cls(("group",), (pa.array(numbers),), len(numbers))

    def __len__(self) -> int:
        return self.size

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Keys):
            return NotImplemented
        return self.names == other.names and self.columns == other.columns

    def key(self, g: int) -> tuple[Any, ...]:
        return tuple(column[g].as_py() for column in self.columns)

    def take(self, index: Ints) -> Keys:
        places = pa.array(index)
        return Keys(self.names, tuple(c.take(places) for c in self.columns), len(index))

    def column(self, name: str) -> pa.Array[Any]:
        """Return the values of a column; refuse one that is none."""
        if name not in self.names:
            raise ParameterError(
                f"{name!r} is no key of the sums",
                f"they are by {listed(map(repr, self.names))}" if self.names else "they have none",
                meant(name, self.names),
            )
        return self.columns[self.names.index(name)]

    def having(self, name: str, value: Any) -> Bools:
        """Return which groups have a value in a column, or one of several; refuse unknown ones."""
        column = self.column(name)
        several = isinstance(value, list | set | np.ndarray)
        found = np.zeros(len(self), np.bool_)
        for one in value if several else [value]:
            is_one = (
                column.is_null() if one is None else pc.equal(column, _scalar(name, one, column))
            )
            own = np.asarray(pc.fill_null(is_one, False))
            if not own.any():
                known = [x for x in column.unique().to_pylist() if x is not None]
                near = meant(one, list(map(str, known))) if isinstance(one, str) else ""
                raise ParameterError(
                    f"no group has {name}={one!r}",
                    f"its values are {listed(map(repr, known))}" if known else "all are missing",
                    near or "",
                )
            found |= own
        return found

    def only(self, names: Sequence[str]) -> tuple[Keys, Ints]:
        """Return the keys of some columns, each once, and which of them every group has."""
        if not names:
            return Keys.none(), np.zeros(len(self), np.intp)
        chosen = {name: self.column(name) for name in names}
        first, codes = distinct(tuple(chosen.values()))
        return Keys(tuple(names), tuple(chosen.values()), len(self)).take(first), codes

    def joined(self, other: Keys, verb: str) -> tuple[Keys, Ints, Ints]:
        """Return the keys of both, in order, and where each of either's stands among them."""
        if self == other:
            every = np.arange(len(self))
            return self, every, every
        if self.names != other.names:
            raise SchemaError(
                f"the sums are by {listed(map(repr, self.names)) or 'nothing'} here and by "
                f"{listed(map(repr, other.names)) or 'nothing'} there",
                f"only sums by the same columns can be {verb}",
                "take total(by=...) of either",
            )
        columns = []
        for mine, theirs in zip(self.columns, other.columns, strict=True):
            if mine.type != theirs.type:
                mine, theirs = _of_one_type(mine, theirs)
            columns.append(pa.concat_arrays([mine, theirs]))
        first, codes = distinct(columns)
        both = Keys(self.names, tuple(columns), len(codes)).take(first)
        return both, codes[: len(self)], codes[len(self) :]

    def saved(self) -> tuple[KeyColumn, ...]:
        """Return the columns as a file has them."""
        pairs = zip(self.names, self.columns, strict=True)
        return tuple([KeyColumn(n, kind_of(c.type), tuple(c.to_pylist())) for n, c in pairs])

    @classmethod
    def of_file(cls, columns: Sequence[KeyColumn]) -> Self:
        """Return the keys of a file, of whose records each keeps its rule."""
        if not columns:
            return cls.none()
        names = tuple(column.name for column in columns)
        cells = tuple(column.column() for column in columns)
        if len(set(names)) < len(names) or len(set(map(len, cells))) > 1:
            raise DataError("the columns of the keys differ in length, or share a name")
        first, _ = distinct(cells)
        if not np.array_equal(first, np.arange(len(cells[0]))):
            raise DataError("the keys are not in order, or there is one twice")
        return cls(names, cells, len(first))


def _scalar(name: str, value: Any, column: pa.Array[Any]) -> pa.Scalar[Any]:
    """Return a value of the type of a column; a string stands for what it spells."""
    kind = column.type
    try:
        if isinstance(value, str) and kind != pa.string():
            return pa.scalar(value).cast(kind)
        given = pa.scalar(value.item() if isinstance(value, np.generic) else value)
        if given.type == kind or not pa.types.is_string(kind):
            return given.cast(kind)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        pass
    raise ParameterError(
        f"{name}={value!r}", f"the key {name!r} is a {kind_of(kind)}", "give one of its values"
    )


def kind_of(type_: pa.DataType) -> str:
    """Return which of `TYPES` a type of Arrow is."""
    return next(kind for kind, known in TYPES.items() if known == type_)


def key_cells(name: str, column: pa.Array[Any]) -> pa.Array[Any]:
    """Return values of a column of keys in one of `TYPES`.

    Raises
    ------
    BadCell
        If a value is none.
    DataError
        If all are none.
    """
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    kind = column.type
    if pa.types.is_dictionary(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    known = next((type_ for test, type_ in STORED if test(kind)), None)
    if pa.types.is_floating(kind):
        return _whole(name, column)
    if known is None or getattr(kind, "tz", None) is not None:
        raise DataError(f"key {name!r} is of the type {kind}", RULE, "convert the column")
    try:
        return column if kind == known else column.cast(known)
    except pa.ArrowInvalid as error:
        fact = f"key {name!r}: {first_line(error)}"
        raise DataError(fact, RULE, "convert the column") from error


STORED: tuple[tuple[Callable[[pa.DataType], bool], pa.DataType], ...] = (
    (pa.types.is_null, pa.string()),
    (pa.types.is_string, pa.string()),
    (pa.types.is_large_string, pa.string()),
    (pa.types.is_string_view, pa.string()),
    (pa.types.is_integer, pa.int64()),
    (pa.types.is_boolean, pa.bool_()),
    (pa.types.is_date, pa.date32()),
    (pa.types.is_timestamp, pa.timestamp("us")),
)
"""What keys of other types are cast to."""


def _whole(name: str, column: pa.Array[Any]) -> pa.Array[Any]:
    """Whole numbers that are stored as doubles because cells are missing."""
    numbers = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False))
    missing = np.isnan(numbers)
    real = ~missing & ~((np.abs(numbers) <= WHOLE) & (numbers == np.rint(numbers)))
    if real.any():
        row = int(real.argmax())
        raise BadCell(row, name, float(numbers[row]), RULE, "cut the numbers into classes first")
    return pa.array(np.where(missing, 0, numbers).astype(np.int64), mask=missing)


# -- numbering the keys of rows that come batch by batch


class KeyNumbers:
    """Numbers keys in the order in which they come.

    Examples
    --------
    >>> numbers = KeyNumbers(["city", "year"])
    >>> numbers.codes((pa.array(["b", "a", "b"]), pa.array([1, 1, None])))
    array([0, 1, 2])
    >>> numbers.codes((pa.array(["a"]), pa.array([1]))), len(numbers.keys())
    (array([1]), 3)
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._values = [_Values() for _ in names]
        self._pairs = [_Values() for _ in names[1:]]

    def codes(self, columns: Sequence[pa.Array[Any]]) -> Ints:
        """Return the number of the key of every row, (n,)."""
        code, *others = [
            known.codes(key_cells(name, column))
            for known, name, column in zip(self._values, self._names, columns, strict=True)
        ]
        for known, other in zip(self._pairs, others, strict=True):
            code = known.codes(pa.array(code * PAIR + other))
        return code.astype(np.intp, copy=False)

    def keys(self) -> Keys:
        """Return the keys, by their numbers."""
        code = np.arange(len((self._pairs or self._values)[-1]))
        columns = []
        for known, pairs in zip(self._values[:0:-1], self._pairs[::-1], strict=True):
            code, other = np.divmod(np.asarray(pairs.values)[code], PAIR)
            columns.append(known.values.take(pa.array(other)))
        columns.append(self._values[0].values.take(pa.array(code)))
        return Keys(self._names, tuple(columns[::-1]), len(columns[0]))


class _Values:
    """Distinct values in the order in which they came; a missing one is a value."""

    def __init__(self) -> None:
        self.values: pa.Array[Any] = pa.nulls(0)

    def __len__(self) -> int:
        return len(self.values)

    def codes(self, column: pa.Array[Any]) -> NDArray[np.int64]:
        coded = column.dictionary_encode(null_encoding="encode")
        shown = coded.dictionary
        if self.values.type != shown.type:
            self.values, shown = _of_one_type(self.values, shown)
        found = pc.index_in(shown, value_set=self.values)
        new = np.asarray(found.is_null())
        place = np.array(pc.fill_null(found, 0), np.int64)
        if new.any():
            place[new] = len(self.values) + np.arange(np.count_nonzero(new))
            self.values = pa.concat_arrays([self.values, shown.filter(pa.array(new))])
        return np.asarray(place[np.asarray(coded.indices)])


def _of_one_type(mine: pa.Array[Any], theirs: pa.Array[Any]) -> tuple[Any, Any]:
    """Return values as those of one type: where all are missing, of that of the others."""
    if mine.null_count == len(mine):
        return pa.nulls(len(mine), theirs.type), theirs
    if theirs.null_count == len(theirs):
        return mine, pa.nulls(len(theirs), mine.type)
    raise SchemaError(
        f"a key is a {kind_of(mine.type)} here and a {kind_of(theirs.type)} there",
        "keys of a column are of one type",
        "convert the column, and sum the rows again",
    )


@dataclass(frozen=True, eq=False)
class Keyed(Sums):
    """Sums with an axis of groups, and the keys of these.

    Parameters
    ----------
    keys : Keys
    sums : ClassSums
        Group g is what sums call class g.
    """

    keys: Keys
    sums: Any

    def __add__(self, other: Self) -> Self:
        keys, mine, theirs = self.keys.joined(other.keys, "added")
        return type(self)(keys, self.over(keys, mine) + other.over(keys, theirs))

    def over(self, keys: Keys, index: Ints) -> Any:
        """Return the sums over more keys, among which these stand at an index."""
        here = len(index) == len(keys) and np.array_equal(index, np.arange(len(index)))
        return self.sums if here else self.sums.place(index, len(keys))

    def sorted(self) -> Self:
        if not self.keys.names or not len(self.keys):
            return self
        order, _ = distinct(self.keys.columns)
        return type(self)(self.keys.take(order), self.sums.take(order))


# -- order


def distinct(columns: Sequence[pa.Array[Any]]) -> tuple[Ints, Ints]:
    """Return where each distinct row of some columns first stands, in order, and the rows' codes.

    Examples
    --------
    >>> distinct([pa.array(["b", "a", None, "b"])])
    (array([1, 0, 2]), array([1, 0, 2, 1]))
    """
    return first_rows(np.stack([ranked(column) for column in columns], axis=1))


def ranked(column: pa.Array[Any]) -> NDArray[np.int64]:
    """Return the rank of every value among the distinct ones, their number of a missing one."""
    coded = column.dictionary_encode()
    order = np.asarray(pc.sort_indices(coded.dictionary))
    rank = np.empty(len(order) + 1, np.int64)
    rank[order] = np.arange(len(order))
    rank[-1] = len(order)
    return np.asarray(rank[np.asarray(pc.fill_null(coded.indices, len(order)))])
