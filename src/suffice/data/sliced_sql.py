"""One SELECT whose sums are exact: numbers are cut into digits of few bits.

A column of multiples of 2^u, |x| ≤ 2^t, has S digits of b bits, S b ≥ t − u:

::

    u_s = u + b(S − 1 − s),    r_s = round(2^(−u_s) x),    a_s = r_s − 2^b r_(s−1),    a_0 = r_0
    x = Σ_s 2^(u_s) a_s,    |a_0| ≤ 2^b,    |a_s| ≤ 2^(b−1)

No operation rounds but that to r_s. Products of digits of one power of 2 are added in a row, and
are whole numbers of at most 2^53 where digits are doubles, of less than 2^63 where they are
integers (`BITS`). Over the rows they are added as whole numbers, exactly in any order, and put
together outside as Python's integers.

Source: S. M. Rump, T. Ogita and S. Oishi, Accurate floating-point summation part I: faithful
rounding, SIAM Journal on Scientific Computing 31 (2008), section 3, on the extraction of digits.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, groupby, product
from math import fsum
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.schema import stored_as
from suffice.errors import DataError, ParameterError

SPOKEN = ("duckdb", "postgres", "sqlite")
BITS = {"duckdb": (26, 16), "": (26, 16)}  # b, for products of up to two, three: of doubles
BITS |= {"postgres": (30, 20), "sqlite": (30, 20)}  # and of integers, where these are faster
WIDEST = (156, 128)  # t − u: six digits of 26 bits, or eight of 16
INTEGER = {"postgres": "BIGINT", "sqlite": "INTEGER"}  # types of digits; others have doubles
ADDED = 32  # bits of a number of which 2^31 rows have sums of 63
HALF = 31  # bits of the lower part of a longer one, where a database sums in 64
MOST_SUMS = 800  # of a statement; PostgreSQL has room for 1,664 columns, SQLite for 2,000
MOST_VECTORS = 128  # of sums in DuckDB, whose vectors have to fit the cache of a processor
FAR = 1000  # of powers of 2, the farthest that is written as one double
STEP = 52  # binary orders of magnitude of one factor, which every database writes exactly
ROWS, CELLS, SLICES = "suffice_rows", "suffice_cells", "suffice_slices"
ONCE = {"postgres": " OFFSET 0", "sqlite": " LIMIT -1 OFFSET 0"}
COLUMN, VALUE, PATTERN = "_column", "_value", "_pattern"
NUMBER, AMISS, MADE_BY = "_rows", "_amiss", "_made_by"

Whole = NDArray[np.object_]
"""Python's integers, of any size."""


# -- SQL


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def bare(query: str) -> str:
    """Return a query without the semicolon at its end."""
    return query.strip().rstrip(";").rstrip()


def select(columns: Mapping[str, str], table: str, where: str = "", by: Sequence[str] = ()) -> str:
    """Return a SELECT of columns, by their names."""
    found = ", ".join(f"{sql} AS {name}" for name, sql in columns.items())
    found = f"SELECT {found} FROM {table}" + (f" WHERE {where}" if where else "")
    return f"{found} GROUP BY {', '.join(by)}" if by else found


def with_tables(tables: Mapping[str, str], statement: str, dialect: str) -> str:
    """Return a statement behind the tables that it names."""
    plain = " NOT MATERIALIZED" if dialect in SPOKEN else ""
    before = ",\n".join(f"{name} AS{plain} (\n{text}\n)" for name, text in tables.items())
    return f"WITH {before}\n{statement}"


def double(dialect: str) -> str:
    return {"postgres": "DOUBLE PRECISION", "sqlite": "REAL"}.get(dialect, "DOUBLE")


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


def column_of(name: str, dialect: str) -> str:
    """Return a column by which rows are grouped: values that differ are not taken for equal."""
    return f"COALESCE({quoted(name)}, NULL)" if dialect == "sqlite" else quoted(name)


def number_of(name: str, kind: pa.DataType, dialect: str, has_nan: bool) -> str | None:
    """Return the cells of a column as doubles, NULL where missing; None where they are none."""
    column, real = quoted(name), double(dialect)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return f"CAST({column} AS {real})"
    if pa.types.is_boolean(kind):
        return f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END"
    if pa.types.is_floating(kind):
        number = f"CAST({column} AS {real})"  # SQLite has NULL in the place of NaN
        has_nan = has_nan and dialect in ("duckdb", "postgres")
        return f"NULLIF({number}, 'NaN')" if has_nan else number
    if pa.types.is_date32(kind) or (pa.types.is_timestamp(kind) and kind.unit == "us"):
        if dialect == "postgres":
            return f"CAST(EXTRACT(EPOCH FROM {column}) AS {real})"
        return f"CAST(EPOCH_US({column}) AS {real}) / 1000000.0"
    return None


def as_text(column: str, dialect: str) -> str:
    """Return the values of a column so that columns of all types can stand below each other."""
    text = {"duckdb": "VARCHAR"}.get(dialect, "TEXT")
    return column if dialect == "sqlite" else f"CAST({column} AS {text})"


def value_of(cell: Any, kind: pa.DataType) -> Any:
    """Return the value of a type that `as_text` wrote."""
    stored = stored_as(kind)
    if cell is None or isinstance(cell, bool):
        return cell
    if stored == "boolean":
        return cell in ("true", "t", "1", 1)
    return {"integer": int, "number": float}.get(stored or "", str)(cell)


def times(number: str, power: int, dialect: str) -> str:
    """Return SQL of a number times a power of 2, which is exact."""
    if abs(power) <= FAR and dialect in ("duckdb", "postgres"):
        return f"{number} * {literal(2.0**power, dialect)}" if power else number
    sign, rest = "*" if power >= 0 else "/", abs(power)
    while rest:
        step = min(rest, STEP)
        number, rest = f"{number} {sign} {2**step}.0", rest - step
    return number


# -- the statement


class Number(NamedTuple):
    """A number of every row, to be summed."""

    cell: str  # its SQL among the columns of the query, NULL where it is missing
    top: int = 0  # t: |x| ≤ 2^t; 0 of an indicator, which is 0 and 1
    unit: int = 0  # u: multiples of 2^u
    is_integer: bool = False  # by the type of the column
    is_rough: bool = False  # whether the sums are those of doubles
    origin: float = 0.0  # what was taken from rough numbers
    may_miss: bool = True

    def is_digit(self, bits: int) -> bool:
        """Return whether a number is its only digit: indicators, rough and small whole ones."""
        return self.top == self.unit or (self.is_integer and self.top <= bits)

    def units(self, bits: int) -> range:
        """Return u_s of all digits, of the last one first."""
        return range(self.unit, max(self.top, self.unit + 1), bits)


class Sum(NamedTuple):
    """A column of the answer: a part of a sum of products, times 2^power; None of doubles."""

    name: str
    of: tuple[Any, ...]
    power: int | None
    sql: str


@dataclass(frozen=True)
class Plan:
    """Sums over the rows of a query, as SQL."""

    query: str
    dialect: str  # one of those spoken; "" is translated by sqlglot
    groups: tuple[str, ...]  # the columns that rows are grouped by: the label and the keys
    labelled: str  # whether a row has a label, as SQL; others have no sums but Σw
    weight: Number | None
    numbers: tuple[Number, ...]
    squares: tuple[int, ...]  # the numbers whose squares are summed
    joint: tuple[int, ...]  # those of products, over rows grouped by which of these are missing
    counted: tuple[tuple[str, pa.DataType], ...]  # the categories whose values are counted
    allowed: tuple[str, ...]  # conditions on every row, as SQL
    made_by: str  # columns, label, weight and keys of a view, as JSON; "" of a query
    may_lack: bool  # whether there may be rows without a label

    @cached_property
    def factors(self) -> dict[str, Number]:
        """The weight and the numbers, by their names in the statement."""
        weight = {} if self.weight is None else {"w": self.weight}
        return weight | {f"x{i}": number for i, number in enumerate(self.numbers)}

    @property
    def bits(self) -> int:
        """b, of digits of the products that are summed."""
        return BITS[self.dialect][self.weight is not None]

    @property
    def pattern(self) -> str:
        """Marks of the numbers of products that are there, as SQL; p where rows differ in them."""
        if any(self.numbers[i].may_miss for i in self.joint):
            return "p"
        return literal("1" * len(self.joint), self.dialect)

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """The sums Σw, Σw of the cells that are there, Σwx, Σwxy; w is 1 without weights."""
        weight = [] if self.weight is None else ["w"]
        found = [*self._sums(("w",), weight)] if weight else []
        pairs = {(i, i) for i in self.squares} | {*combinations_with_replacement(self.joint, 2)}
        for i, number in enumerate(self.numbers):
            if i not in self.joint and number.may_miss:
                found += self._sums(("n", i), weight, f"x{i}")
            found += self._sums(("x", i), [*weight, f"x{i}"])
        for i, j in sorted(pairs):
            found += self._sums(("xx", i, j), [*weight, f"x{i}", f"x{j}"])
        return tuple(found)

    def _sums(self, of: tuple[Any, ...], names: list[str], shown: str = "") -> Iterator[Sum]:
        """Yield the sums of a product of numbers where one is shown, one for every power of 2."""
        if not names:
            yield Sum("_".join(map(str, of)), of, 0, f"COUNT({shown})")
            return
        factors, bits = [self.factors[name] for name in names], self.bits
        orders: dict[int, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for digits in product(*(enumerate(n.units(bits)) for n in factors)):
            factor = sorted(f"{x}_{p}" for x, (p, _) in zip(names, digits, strict=True))
            orders[sum(unit for _, unit in digits)][tuple(factor)] += 1
        most = 2 ** sum(min(bits, n.top - n.unit) for n in factors)
        for order, (power, products) in enumerate(orders.items()):
            least = min(products.values())  # 2 where all products come twice
            power += least - 1
            terms = (" * ".join(["2"] * (n > least) + [*term]) for term, n in products.items())
            sql, name = " + ".join(terms), "_".join(map(str, (*of, order)))
            sql = f"CASE WHEN {shown} IS NOT NULL THEN {sql} END" if shown else sql
            if any(number.is_rough for number in factors):
                yield Sum(name, of, None, f"SUM({sql})")
            elif self.dialect == "sqlite" and most * products.total() > 2**ADDED:
                yield Sum(f"{name}_high", of, power + HALF, f"SUM(({sql}) >> {HALF})")
                yield Sum(name, of, power, f"SUM(({sql}) & {2**HALF - 1})")
            elif self.dialect in INTEGER:
                yield Sum(name, of, power, f"SUM({sql})")
            else:
                integer = "BIGINT" if self.dialect else "DECIMAL(38, 0)"
                yield Sum(name, of, power, f"SUM(TRY_CAST({sql} AS {integer}))")

    def select(self, sums: Sequence[Sum]) -> str:
        """Return the statement of some of the sums.

        Below the first are the counts of the values of categories, a row for each.
        """
        first = tuple(sums[:1]) == self.sums[:1]
        every = [None, *(range(len(self.counted)) if first else ())]
        found = "\nUNION ALL\n".join(self._select(sums, j) for j in every)
        return with_tables(self._tables(sums), found, self.dialect)

    def _select(self, sums: Sequence[Sum], j: int | None) -> str:
        """Return the sums of all numbers, or the counts of the values of category j."""
        by = [f"g{i}" for i in range(len(self.groups))]
        columns = dict(zip(map(quoted, self.groups), by, strict=True))
        columns[PATTERN] = self.pattern if j is None else "NULL"
        columns[COLUMN] = "CAST(NULL AS INTEGER)" if j is None else str(j)
        columns[VALUE] = as_text("NULL" if j is None else f"c{j}", self.dialect)
        by += ["p"] * (columns[PATTERN] == "p") if j is None else [f"c{j}"]
        sql = {NUMBER: "COUNT(*)", AMISS: "SUM(amiss)" if j is None else "0"}
        sql |= {one.name: one.sql if j is None or one.of == ("w",) else "NULL" for one in sums}
        sql |= {MADE_BY: literal(self.made_by, self.dialect)} if self.made_by else {}
        conditions = [] if self.weight is None else ["w > 0"]
        conditions += [] if j is None else [f"c{j} IS NOT NULL"]
        return select(columns | sql, SLICES, " AND ".join(conditions), by)

    def _tables(self, sums: Sequence[Sum]) -> dict[str, str]:
        """The tables in between: the query, its cells, and their digits.

        ``amiss`` marks rows with other cells than the sums are made for: values, or numbers that
        are too large or too fine.
        """
        dialect = self.dialect
        used = {f"x{i}" for one in sums for i in one.of[1:]} | {"w"}
        used |= {f"x{i}" for i in self.joint if self.pattern == "p"}
        shown = {f"x{one.of[1]}" for one in self.sums if one.of[0] == "n"} | {"w"}
        names = {f"g{i}": name for i, name in enumerate(self.groups)}
        names |= {f"c{j}": name for j, (name, _) in enumerate(self.counted)}
        cells = {short: column_of(name, dialect) for short, name in names.items()}
        slices = {short: short for short in names}
        labelled = f"{self.labelled} AND " if self.may_lack else ""
        odd = [f"({labelled}NOT ({condition}))" for condition in self.allowed]
        fine = ["odd = 1"]
        for x, number in self.factors.items():
            if x not in used:
                continue
            cell, power = number.cell, number.units(self.bits)[-1]
            if self.may_lack and x != "w":
                cell = f"CASE WHEN {self.labelled} THEN {cell} END"
            if number.top > number.unit:
                most = times(f"CAST(1 AS {double(dialect)})", number.top, dialect)
                odd.append(f"ABS({cell}) > {most}")
            if not number.is_digit(self.bits):
                if dialect == "postgres" and self.made_by:  # it has no TRY_CAST
                    cell = f"CASE WHEN ABS({cell}) <= {most} THEN {cell} END"
                cell = times(cell, -power, dialect)
                if self.made_by and not number.is_integer:
                    last = times(x, power - number.unit, dialect)
                    fine.append(f"{last} <> ROUND({last})")
            cells[x] = cell
            slices |= {x: x} if x in shown else {}
            slices |= self._digits(x, number)
        cells["odd"] = f"CASE WHEN {' OR '.join(odd)} THEN 1 ELSE 0 END" if odd else "0"
        slices["amiss"] = f"CASE WHEN {' OR '.join(fine)} THEN 1 ELSE 0 END"
        if self.pattern == "p":
            marks = (f"CASE WHEN x{i} IS NULL THEN '0' ELSE '1' END" for i in self.joint)
            slices["p"] = " || ".join(marks)
        once = "" if self.made_by else ONCE.get(dialect, "")  # views stay plain
        return {
            ROWS: bare(self.query),
            CELLS: select(cells, ROWS) + once,
            SLICES: select(slices, CELLS) + once,
        }

    def _digits(self, x: str, number: Number) -> dict[str, str]:
        """Return the digits of 2^(−u_0) x by their names, the last one first.

        It is not rounded: numbers are multiples of its unit, or the row of a view is amiss.
        """
        if number.is_digit(self.bits):
            return {f"{x}_0": x}
        shifts = reversed([unit - number.unit for unit in number.units(self.bits)])
        scaled = [times(x, shift, self.dialect) for shift in shifts]
        rounded = [f"ROUND({one})" for one in scaled[1:]]
        carried = [f" - {2**self.bits}.0 * {one}" for one in rounded] + [""]
        found = map("".join, zip([scaled[0], *rounded], carried, strict=True))
        cast = f"CAST({{}} AS {INTEGER[self.dialect]})" if self.dialect in INTEGER else "{}"
        return {f"{x}_{p}": cast.format(digit) for p, digit in enumerate(found)}

    # -- the answer

    def answer(self, ask: Callable[[str], pa.Table]) -> Answer:
        """Ask for the sums, in as many statements as there is room for."""
        most = MOST_VECTORS if self.dialect == "duckdb" else MOST_SUMS
        parts: list[list[Sum]] = [[]]
        for _, group in groupby(self.sums, attrgetter("of")):
            orders = list(group)
            parts += [[]] * (bool(parts[-1]) and len(parts[-1]) + len(orders) > most)
            parts[-1] = parts[-1] + orders
        found, *more = (self.read(ask, self.select(part), part) for part in parts)
        numbers = [r for r, column in enumerate(found.column(COLUMN)) if column is None]
        own = found.key.take(pa.array(numbers, pa.int64())).to_pylist()
        for other in more:
            if repr(other.key.to_pylist()) != repr(own):
                raise DataError(
                    "the rows changed between two statements",
                    "the sums are those of one state",
                    "open a transaction, or ask again",
                )
            totals = {
                of: total.at(numbers, found.key.num_rows) for of, total in other.totals.items()
            }
            found = replace(found, totals={**found.totals, **totals})
        return found

    def read(self, ask: Callable[[str], pa.Table], statement: str, sums: Sequence[Sum]) -> Answer:
        """Ask for some of the sums by a statement that makes them."""
        names = [*self.groups, PATTERN, COLUMN, VALUE, NUMBER]
        columns = {quoted(name): quoted(name) for name in (*names, AMISS)}
        for one in sums:  # PostgreSQL's whole numbers of more than 64 bits come as text
            as_it_is = one.power is None or self.dialect == "duckdb"
            columns[one.name] = one.name if as_it_is else as_text(one.name, self.dialect)
        rows = ask(select(columns, f"(\n{statement}\n) AS suffice_sums"))
        rows = rows.filter(pc.greater(rows.column(NUMBER), 0))
        amiss = sum(int(n or 0) for n in rows.column(AMISS).to_pylist())
        if amiss:
            raise DataError(
                "cells are unknown categories, or too large or too fine for the sums",
                "the SELECT was made for others",
                "make the view again, for the values that there are now"
                if self.made_by
                else "ask for rows that stay the same from one statement to the next",
            )
        keys = list(zip(*(rows.column(name).to_pylist() for name in names), strict=True))
        rows = rows.take(
            pa.array(sorted(range(len(keys)), key=lambda r: repr(keys[r])), pa.int64())
        )
        parts: dict[tuple[Any, ...], list[tuple[int | None, Whole]]] = defaultdict(list)
        for one in sums:
            number: Any = float if one.power is None else int
            cells = [number(cell or 0) for cell in rows.column(one.name).to_pylist()]
            parts[one.of].append((one.power, _objects(cells)))
        totals = {of: Total.of(part) for of, part in parts.items()}
        return Answer(self, rows.select(names), totals)


def _objects(values: Sequence[Any]) -> Whole:
    found = np.empty(len(values), object)
    found[:] = values
    return found


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

    def at(self, rows: Sequence[int], size: int) -> Total:
        """Return these sums in some rows of an answer, and 0 in others."""
        found = np.zeros(size, object)
        found[list(rows)] = self.values
        return self._replace(values=found)

    def by(self, place: NDArray[np.intp], size: int) -> Total:
        """Add the values of all rows of one place."""
        if self.power is None:
            return Total(None, _objects([fsum(self.values[place == g]) for g in range(size)]))
        found = np.zeros(size, object)
        np.add.at(found, place, self.values)
        return Total(self.power, found)


@dataclass(frozen=True, eq=False)
class Answer:
    """The rows of an answer: what they are grouped by (r, ...), and their sums (r,)."""

    plan: Plan
    key: pa.Table
    totals: Mapping[tuple[Any, ...], Total]

    def column(self, name: str) -> list[Any]:
        return list(self.key.column(name).to_pylist())

    @property
    def rows(self) -> Total:
        """The number of rows of the query behind each."""
        return Total(0, _objects(self.column(NUMBER)))

    @property
    def weight(self) -> Total:
        return self.totals.get(("w",), self.rows)

    def shown(self, i: int) -> Total:
        """The weights of the rows where number i is not missing."""
        return self.totals.get(("n", i), self.weight)
