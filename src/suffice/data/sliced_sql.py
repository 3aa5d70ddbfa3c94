"""One SELECT whose sums are exact: doubles are cut into whole numbers, which a database adds.

A column of cells below 2^e is cut into S slices of b bits,

::

    y_0 = x 2^(b − e),    a_i = round(y_i),    y_(i + 1) = (y_i − a_i) 2^b
    x = Σ_i a_i 2^(e − b(i + 1))

so that all a_i, and products of two, are whole numbers that a double holds. They are summed as
integers, whose order does not matter; products a_i a_j of one power of 2 are added before. Outside,
the sums are put together as Python's integers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.errors import DataError, ParameterError

SPOKEN = ("duckdb", "postgres", "sqlite")
BITS, WEIGHTED_BITS = 26, 16  # of a slice: products of two, or of three with the weight
MOST_SLICES = 8  # of a column: 155 binary orders of magnitude between its numbers
ROUNDING = "6755399441055744.0"  # 1.5 2^52: added and taken away, it leaves a whole number
HALF = 31  # bits of the lower part of a sum, where the sums of a database have 64
MOST_SUMS = 800  # of a statement; PostgreSQL has room for 1,664 columns, SQLite for 2,000
STEP = 52  # binary orders of magnitude of one factor, which every database writes exactly
ROWS, CELLS, CUT, SLICES = "suffice_rows", "suffice_cells", "suffice_cut", "suffice_slices"
COLUMN, VALUE, PATTERN = "_column", "_value", "_pattern"
NUMBER, AMISS, MADE_BY = "_rows", "_amiss", "_made_by"

Whole = NDArray[np.object_]
"""Python's integers, of any size."""


def quoted(name: str) -> str:
    """Return a name as all databases quote it that are spoken here.

    Examples
    --------
    >>> print(quoted("unit price"))
    "unit price"
    """
    return '"' + name.replace('"', '""') + '"'


def literal(value: Any, dialect: str) -> str:
    """Return a value of a category as SQL."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return repr(value) if dialect == "sqlite" else f"CAST('{value!r}' AS {double(dialect)})"
    raise ParameterError(
        f"a category has the value {value!r}",
        "in a database, categories are strings, numbers, true and false",
        "cast the column in the query",
    )


def double(dialect: str) -> str:
    """Return the name of the type of doubles."""
    return {"postgres": "DOUBLE PRECISION", "sqlite": "REAL"}.get(dialect, "DOUBLE")


def column_of(name: str, dialect: str) -> str:
    """Return a column by which rows are grouped: values that differ are not taken for equal."""
    return f"COALESCE({quoted(name)}, NULL)" if dialect == "sqlite" else quoted(name)


def number_of(name: str, kind: pa.DataType, dialect: str, nan: bool = True) -> str | None:
    """Return the cells of a column as numbers, NULL where missing; None where they are none.

    ``nan`` is whether there may be NaN, which is missing too.
    """
    column, real = quoted(name), double(dialect)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return f"CAST({column} AS {real})"
    if pa.types.is_boolean(kind):
        return f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END"
    if pa.types.is_floating(kind):
        nan = nan and dialect in ("duckdb", "postgres")  # SQLite has NULL in its place
        return f"NULLIF(CAST({column} AS {real}), 'NaN')" if nan else f"CAST({column} AS {real})"
    if pa.types.is_date32(kind) or (pa.types.is_timestamp(kind) and kind.unit == "us"):
        if dialect == "postgres":
            return f"CAST(EXTRACT(EPOCH FROM {column}) AS {real})"
        return f"CAST(EPOCH_US({column}) AS {real}) / 1000000.0"
    return None


def times(number: str, power: int) -> str:
    """Return SQL of a number times a power of 2, which is exact.

    Examples
    --------
    >>> times("x", 60), times("x", -3)
    ('x * 4503599627370496.0 * 256.0', 'x / 8.0')
    """
    sign, rest = "*" if power >= 0 else "/", abs(power)
    while rest:
        step = min(rest, STEP)
        number, rest = f"{number} {sign} {2**step}.0", rest - step
    return number


@dataclass(frozen=True)
class Number:
    """A number of every row, to be summed.

    Parameters
    ----------
    cell : str
        Its SQL among the columns of the query, NULL where it is missing.
    exponent : int
        e: cells are below 2^e.
    slices : int
        S; 0 where the sums are those of doubles.
    whole : bool
        Whether the cells are the only slice.
    known : bool
        Whether all cells are sure to be so.
    origin : float
        What is taken from doubles before they are summed.
    """

    cell: str
    exponent: int
    slices: int
    whole: bool = False
    known: bool = False
    origin: float = 0.0


class Sum(NamedTuple):
    """A column of the answer: a part of a sum of products, times 2^power; None of doubles."""

    name: str
    of: tuple[Any, ...]
    power: int | None
    sql: str


@dataclass(frozen=True)
class Plan:
    """What is summed of the rows of a query.

    Parameters
    ----------
    query : str
        One SELECT.
    dialect : str
        "duckdb", "postgres" or "sqlite"; others are translated by sqlglot.
    label : str, optional
        Rows are grouped by it.
    keys : tuple of str
        And by these columns.
    weight : Number, optional
    numbers : tuple of Number
    squares : tuple of int
        The numbers whose squares are summed too.
    joint : tuple of int
        The numbers whose products are summed, over rows grouped by which of these are missing.
    counted : tuple of str
        The categories whose values are counted.
    allowed : tuple of str
        What has to hold for every row, as SQL.
    gaps : bool
        Whether numbers may be missing.
    made_by : str
        What the reader of a view has to know; "" where there is none.
    """

    query: str
    dialect: str
    label: str | None = None
    keys: tuple[str, ...] = ()
    weight: Number | None = None
    numbers: tuple[Number, ...] = ()
    squares: tuple[int, ...] = ()
    joint: tuple[int, ...] = ()
    counted: tuple[str, ...] = ()
    allowed: tuple[str, ...] = ()
    gaps: bool = True
    made_by: str = ""

    @property
    def bits(self) -> int:
        """The bits of a slice."""
        return BITS if self.weight is None else WEIGHTED_BITS

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """The columns of sums."""
        return tuple(self._sums())

    def _sums(self) -> Iterator[Sum]:
        factors = [] if self.weight is None else [("w", self.weight)]
        numbers = [(f"x{i}", number) for i, number in enumerate(self.numbers)]
        if factors:
            yield from self._products(("w",), factors)
        for i, number in enumerate(numbers):
            if self.gaps and i not in self.joint:
                yield from self._products(("n", i), factors, f"x{i}_0")
            yield from self._products(("x", i), [*factors, number])
        pairs = [(i, i) for i in self.squares]
        pairs += [(i, j) for a, i in enumerate(self.joint) for j in self.joint[a:]]
        for i, j in dict.fromkeys(pairs):
            yield from self._products(("xx", i, j), [*factors, numbers[i], numbers[j]])

    def _products(
        self, of: tuple[Any, ...], factors: Sequence[tuple[str, Number]], shown: str = ""
    ) -> Iterator[Sum]:
        """Yield the sums of a product of numbers, one for every power of 2."""
        orders: dict[int, dict[tuple[str, ...], int]] = {0: {(): 1}}
        for name, number in factors:
            more: dict[int, dict[tuple[str, ...], int]] = {}
            for order, terms in orders.items():
                for s in range(max(1, number.slices)):
                    held = more.setdefault(order + s, {})
                    for term, times_ in terms.items():
                        longer = tuple(sorted((*term, f"{name}_{s}")))
                        held[longer] = held.get(longer, 0) + times_
            orders = more
        top = sum(number.exponent - self.bits for _, number in factors if number.slices)
        exact = all(number.slices for _, number in factors)
        for order, terms in orders.items():
            parts = [
                " * ".join([*([str(n)] if n > 1 else []), *term]) or "1"
                for term, n in terms.items()
            ]
            sql = " + ".join(parts)
            sql = f"CASE WHEN {shown} IS NOT NULL THEN {sql} END" if shown else sql
            power = top - self.bits * order
            name = "_".join([*map(str, of), str(order)])
            if not exact:
                yield Sum(name, of, None, f"SUM({sql})")
                continue
            if not all(number.whole for _, number in factors):
                sql = f"CAST({sql} AS {self.integer})"
            if self.dialect == "sqlite":
                yield Sum(f"{name}_high", of, power + HALF, f"SUM(({sql}) >> {HALF})")
                yield Sum(name, of, power, f"SUM(({sql}) & {2**HALF - 1})")
            else:
                yield Sum(name, of, power, f"SUM({sql})")

    @property
    def integer(self) -> str:
        """The type of whole numbers of 64 bits, whose sums have more; in SQLite they have not."""
        return {"sqlite": "INTEGER"}.get(
            self.dialect, "BIGINT" if self.is_spoken else "DECIMAL(38, 0)"
        )

    @property
    def is_spoken(self) -> bool:
        return self.dialect in SPOKEN

    # -- the statement

    @property
    def groups(self) -> dict[str, str]:
        """Return the columns that rows are grouped by, and their names on the way."""
        found = {} if self.label is None else {self.label: "l"}
        return found | {name: f"k{i}" for i, name in enumerate(self.keys)}

    def select(self, sums: Sequence[Sum] | None = None) -> str:
        """Return the statement, of these sums or of all."""
        sums = self.sums if sums is None else sums
        text = "VARCHAR" if self.dialect == "duckdb" else "TEXT"
        groups = [f"{short} AS {quoted(name)}" for name, short in self.groups.items()]
        made_by = literal(self.made_by, self.dialect)
        tail = [f"{made_by} AS {quoted(MADE_BY)}"] if self.made_by else []
        columns = [*groups]
        by = [*self.groups.values()]
        if self.joint and self.gaps:
            columns.append(f"p AS {quoted(PATTERN)}")
            by.append("p")
        if self.counted:
            columns.append(f"CAST(NULL AS INTEGER) AS {quoted(COLUMN)}")
            columns.append(f"CAST(NULL AS {text}) AS {quoted(VALUE)}")
        columns += [f"COUNT(*) AS {quoted(NUMBER)}", f"SUM(amiss) AS {quoted(AMISS)}"]
        columns += [f"{one.sql} AS {quoted(one.name)}" for one in sums] + tail
        found = [_select(columns, SLICES, by=by)]
        for j in range(len(self.counted)):
            value = f"c{j}" if self.dialect == "sqlite" else f"CAST(c{j} AS {text})"
            columns = [*groups, *(["NULL"] if self.joint and self.gaps else []), str(j), value]
            columns += ["COUNT(*)", "0", *(one.sql if one.of == ("w",) else "NULL" for one in sums)]
            columns += [made_by] if self.made_by else []
            by = [*self.groups.values(), f"c{j}"]
            found.append(_select(columns, SLICES, f"c{j} IS NOT NULL", by))
        plain = " NOT MATERIALIZED" if self.dialect in SPOKEN else ""
        tables = ",\n".join(f"{name} AS{plain} (\n{text}\n)" for name, text in self._tables)
        return f"WITH {tables}\n" + "\nUNION ALL\n".join(found)

    @property
    def _tables(self) -> Iterator[tuple[str, str]]:
        """Yield the tables in between: the query, its cells, and their slices one by one."""
        dialect, bits, real = self.dialect, self.bits, double(self.dialect)
        kept = [*self.groups.values(), *(f"c{j}" for j in range(len(self.counted)))]
        cells = [f"{column_of(name, dialect)} AS {short}" for name, short in self.groups.items()]
        cells += [f"{column_of(name, dialect)} AS c{j}" for j, name in enumerate(self.counted)]
        odd = " OR ".join(f"NOT ({condition})" for condition in self.allowed)
        cells.append(f"CASE WHEN {odd} THEN 1 ELSE 0 END AS odd" if odd else "0 AS odd")
        numbers = [("w", self.weight)] if self.weight is not None else []
        numbers += [(f"x{i}", one) for i, one in enumerate(self.numbers)]
        cells += [f"{number.cell} AS {x}" for x, number in numbers]
        yield ROWS, bare(self.query)
        yield CELLS, _select(cells, ROWS)
        scaled, wrong = [*kept, "odd"], ["odd = 1"] if odd else []
        for x, number in numbers:
            y = times(x, bits - number.exponent) if number.slices else x
            if number.origin:
                y = f"{x} - {literal(number.origin, dialect)}"
            if not (number.known or not number.slices):
                bound = times(f"CAST(1 AS {real})", number.exponent)
                within = f"CASE WHEN ABS({x}) < {bound} THEN {y} END"
                y = within if self.made_by else y
                scaled.append(f"CASE WHEN ABS({x}) >= {bound} THEN 1 ELSE 0 END AS {x}_out")
                wrong.append(f"{x}_out = 1")
            scaled.append(f"CAST({y} AS {self.integer}) AS {x}" if number.known else f"{y} AS {x}")
        yield f"{CUT}_0", _select(scaled, CELLS, "w > 0" if self.weight is not None else "")
        levels = max([1, *(number.slices for _, number in numbers)])
        flags = [*kept, "odd", *(one.partition(" ")[0] for one in wrong if one != "odd = 1")]
        done: list[str] = []
        for level in range(levels):
            columns = [*flags, *done]
            for x, number in numbers:
                if level >= max(1, number.slices):
                    continue
                slice_ = x if not number.slices or number.known else self.rounded(x)
                if number.whole and not number.known:
                    slice_ = f"CAST({x} AS {self.integer})"
                columns.append(f"{slice_} AS {x}_{level}")
                done.append(f"{x}_{level}")
                if level + 1 < number.slices:
                    columns.append(f"({x} - {slice_}) * {2**bits}.0 AS {x}")
                elif number.slices and not number.known:
                    columns.append(f"{x} AS {x}_last")
                    done.append(f"{x}_last")
                    wrong.append(f"{x}_last <> {x}_{level}")
            yield f"{CUT}_{level + 1}", _select(columns, f"{CUT}_{level}")
        columns = [*kept, *(name for name in done if not name.endswith("_last"))]
        if self.joint and self.gaps:
            shown = (f"CASE WHEN x{i}_0 IS NULL THEN '0' ELSE '1' END" for i in self.joint)
            columns.append(f"{' || '.join(shown)} AS p")
        amiss = " OR ".join(wrong)
        columns.append(f"CASE WHEN {amiss} THEN 1 ELSE 0 END AS amiss" if amiss else "0 AS amiss")
        fence = " OFFSET 0" if dialect == "postgres" and not self.made_by else ""
        yield SLICES, _select(columns, f"{CUT}_{levels}") + fence  # which are computed once

    def rounded(self, y: str) -> str:
        """Return the whole number nearest to one below 2^51."""
        return f"(({y} + {ROUNDING}) - {ROUNDING})" if self.is_spoken else f"ROUND({y})"

    # -- the answer

    def answer(self, ask: Callable[[str], pa.Table]) -> Answer:
        """Ask for the sums, in as many statements as there is room for."""
        found = None
        for first in range(0, max(1, len(self.sums)), MOST_SUMS):
            part = self.sums[first : first + MOST_SUMS]
            answer = self.read(ask(self.wrapped(self.select(part), part)), part)
            found = answer if found is None else found.beside(answer)
        assert found is not None
        return found

    def wrapped(self, select: str, sums: Sequence[Sum] | None = None) -> str:
        """Return a statement of which whole numbers of more than 64 bits come as text."""
        columns = [quoted(name) for name in self.groups]
        columns += [quoted(PATTERN)] if self.joint and self.gaps else []
        columns += [quoted(COLUMN), quoted(VALUE)] if self.counted else []
        columns += [quoted(NUMBER), quoted(AMISS)]
        for one in self.sums if sums is None else sums:
            name = quoted(one.name)
            plain = one.power is None or self.dialect == "sqlite"
            columns.append(name if plain else f"CAST({name} AS VARCHAR) AS {name}")
        return f"SELECT {', '.join(columns)} FROM (\n{select}\n) AS suffice_sums"

    def read(self, rows: pa.Table, sums: Sequence[Sum] | None = None) -> Answer:
        """Read the rows of an answer.

        Raises
        ------
        DataError
            If there are cells that the slices do not hold.
        """
        rows = rows.filter(pc.greater(rows.column(NUMBER), 0))
        amiss = sum(int(n) for n in rows.column(AMISS).to_pylist() if n is not None)
        if amiss:
            raise DataError(
                f"{amiss:,} cells are unknown categories, or too large or too fine for the sums",
                "the SELECT was made for others",
                "make the view again, for the values that there are now",
            )
        parts: dict[tuple[Any, ...], list[tuple[int | None, Whole]]] = {}
        for one in self.sums if sums is None else sums:
            cells = rows.column(one.name).to_pylist()
            read: Any = int if one.power is not None else float
            values = np.array([0 if c is None else read(c) for c in cells] + [None], object)[:-1]
            parts.setdefault(one.of, []).append((one.power, values))
        names = [*self.groups, PATTERN, COLUMN, VALUE, NUMBER]
        kept = {name: rows.column(name) for name in names if name in rows.column_names}
        return Answer(kept, {of: Total.of(part) for of, part in parts.items()})


def _select(columns: Sequence[str], table: str, where: str = "", by: Sequence[str] = ()) -> str:
    found = f"SELECT {', '.join(columns)} FROM {table}"
    found += f" WHERE {where}" if where else ""
    return f"{found} GROUP BY {', '.join(by)}" if by else found


def bare(query: str) -> str:
    """Return a query without the semicolon at its end."""
    return query.strip().rstrip(";").rstrip()


class Total(NamedTuple):
    """A sum of every row of an answer, (r,): whole numbers times 2^power; None of doubles."""

    power: int | None
    values: Whole

    @classmethod
    def of(cls, parts: Sequence[tuple[int | None, Whole]]) -> Total:
        """Put the parts of a sum together."""
        powers = [power for power, _ in parts if power is not None]
        if not powers:
            return cls(None, parts[0][1])
        least = min(powers)
        shifted = (values * (1 << (power - least)) for power, values in parts if power is not None)
        return cls(least, sum(shifted, np.zeros(len(parts[0][1]), object)))

    def by(self, place: NDArray[np.intp], size: int) -> Total:
        """Add the values of all rows of one place."""
        if self.power is None:
            values = [fsum(self.values[place == g]) for g in range(size)]
            return Total(None, np.array([*values, None], object)[:-1])
        found = np.zeros(size, object)
        np.add.at(found, place, self.values)
        return Total(self.power, found)


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of an answer: what they are grouped by, and their sums.

    Parameters
    ----------
    groups : mapping of str to pyarrow.ChunkedArray (r,)
    totals : mapping of tuple to Total (r,)
    """

    groups: Mapping[str, pa.ChunkedArray]
    totals: Mapping[tuple[Any, ...], Total]

    @property
    def rows(self) -> Total:
        """How many rows of the query each is of."""
        return Total(0, np.array([*self.groups[NUMBER].to_pylist(), None], object)[:-1])

    @property
    def weight(self) -> Total:
        """Σw of each."""
        return self.totals.get(("w",), self.rows)

    def total(self, *of: Any) -> Total:
        """Return a sum; where no cell is missing, Σw is that of all rows."""
        return self.totals.get(of, self.weight) if of[0] == "n" else self.totals[of]

    def column(self, name: str) -> list[Any]:
        """Return the values of a column; None in every row where there is none."""
        found = self.groups.get(name)
        return [None] * len(self.groups[NUMBER]) if found is None else found.to_pylist()

    def take(self, rows: NDArray[np.intp]) -> Answer:
        """Return some of the rows."""
        places = pa.array(rows)
        groups = {name: column.take(places) for name, column in self.groups.items()}
        totals = {of: one._replace(values=one.values[rows]) for of, one in self.totals.items()}
        return replace(self, groups=groups, totals=totals)

    def beside(self, other: Answer) -> Answer:
        """Return the sums of two statements over the same rows."""
        mine, theirs = self._order, other._order
        if [key for key, _ in mine] != [key for key, _ in theirs]:
            raise DataError(
                "the rows changed between two statements",
                "the sums are those of one state",
                "open a transaction, or ask again",
            )
        one, two = (
            answer.take(np.array([place for _, place in order], np.intp))
            for answer, order in ((self, mine), (other, theirs))
        )
        return replace(one, totals={**one.totals, **two.totals})

    @property
    def _order(self) -> list[tuple[str, int]]:
        """Return what rows are grouped by and how many they are, in order, and their places."""
        columns = zip(*(column.to_pylist() for column in self.groups.values()), strict=True)
        return sorted((repr(row), place) for place, row in enumerate(columns))
