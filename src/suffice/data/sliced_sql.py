"""One SELECT whose sums are exact: doubles are cut into whole numbers, which a database adds.

A column of cells below 2^(e − 1) is cut into S slices of b bits,

::

    r_i = round(x 2^(b(i + 1) − e)),    a_0 = r_0,    a_i = r_i − r_(i − 1) 2^b
    x = Σ_i a_i 2^(e − b(i + 1))

so that |a_i| ≤ 2^(b − 1). Products a_i a_j of one power of 2, at most S, are added in a row, in 64
bits: 8 · 2^50 = 2^53. Sums over rows are those of integers, whose order does not matter. Outside,
they are put together as Python's integers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, product
from math import fsum
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from suffice.data.schema import stored_as
from suffice.errors import DataError, ParameterError

SPOKEN = ("duckdb", "postgres", "sqlite")
BITS, WEIGHTED_BITS = 26, 16  # of a slice: products of two, or of three with the weight
MOST_SLICES = 8  # of a column: 154 binary orders of magnitude between its numbers
HALF = 31  # bits of the lower part of a sum, where the sums of a database have 64
MOST_SUMS = 800  # of a statement; PostgreSQL has room for 1,664 columns, SQLite for 2,000
STEP = 52  # binary orders of magnitude of one factor, which every database writes exactly
ROWS, CELLS, CUT, SLICES = "suffice_rows", "suffice_cells", "suffice_cut", "suffice_slices"
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


def number_of(name: str, kind: pa.DataType, dialect: str) -> str | None:
    """Return the cells of a column as numbers, NULL where missing; None where they are none."""
    column, real = quoted(name), double(dialect)
    if pa.types.is_integer(kind) or pa.types.is_decimal(kind):
        return f"CAST({column} AS {real})"
    if pa.types.is_boolean(kind):
        return f"CASE WHEN {column} THEN 1 WHEN NOT {column} THEN 0 END"
    if pa.types.is_floating(kind):
        number = f"CAST({column} AS {real})"  # SQLite has NULL in the place of NaN
        return f"NULLIF({number}, 'NaN')" if dialect in ("duckdb", "postgres") else number
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


# -- the statement


class Number(NamedTuple):
    """A number of every row, to be summed."""

    cell: str  # its SQL among the columns of the query, NULL where it is missing
    exponent: int = 0  # e: cells are below 2^(e − 1)
    slices: int = 1  # S; 0 where the sums are those of doubles
    is_indicator: bool = False  # whether cells are 0 and 1
    origin: float = 0.0  # what is taken from doubles before they are summed


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

    @property
    def bits(self) -> int:
        return BITS if self.weight is None else WEIGHTED_BITS

    @cached_property
    def factors(self) -> dict[str, Number]:
        """The weight and the numbers, by their names in the statement."""
        weight = {} if self.weight is None else {"w": self.weight}
        return weight | {f"x{i}": number for i, number in enumerate(self.numbers)}

    @cached_property
    def sums(self) -> tuple[Sum, ...]:
        """The sums Σw, Σw of the cells that are there, Σwx, Σwxy; w is 1 without weights."""
        weight = [] if self.weight is None else ["w"]
        found = [*self._sums(("w",), weight)] if weight else []
        for i in range(len(self.numbers)):
            if i not in self.joint:
                found += self._sums(("n", i), weight, f"x{i}_0")
            found += self._sums(("x", i), [*weight, f"x{i}"])
        pairs = [(i, i) for i in self.squares]
        pairs += combinations_with_replacement(self.joint, 2)
        for i, j in dict.fromkeys(pairs):
            found += self._sums(("xx", i, j), [*weight, f"x{i}", f"x{j}"])
        return tuple(found)

    def _sums(self, of: tuple[Any, ...], names: list[str], shown: str = "") -> Iterator[Sum]:
        """Yield the sums of a product of numbers, one for every power of 2."""
        factors = [self.factors[name] for name in names]
        orders: dict[int, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for slices in product(*(range(max(1, number.slices)) for number in factors)):
            parts = (f"{name}_{s}" for name, s in zip(names, slices, strict=True))
            orders[sum(slices)][tuple(sorted(parts))] += 1
        for order, terms in orders.items():
            sql = " + ".join(
                " * ".join([*([str(n)] if n > 1 else []), *term]) or "1"
                for term, n in terms.items()
            )
            sql = f"CASE WHEN {shown} IS NOT NULL THEN {sql} END" if shown else sql
            name = "_".join(map(str, (*of, order)))
            power = sum(number.exponent - self.bits for number in factors) - self.bits * order
            if not all(number.slices for number in factors):
                yield Sum(name, of, None, f"SUM({sql})")
            elif self.dialect == "sqlite":
                yield Sum(f"{name}_high", of, power + HALF, f"SUM(({sql}) >> {HALF})")
                yield Sum(name, of, power, f"SUM(({sql}) & {2**HALF - 1})")
            else:
                yield Sum(name, of, power, f"SUM({sql})")

    def select(self, sums: Sequence[Sum] | None = None) -> str:
        """Return the statement, of these sums or of all.

        Below the sums are the counts of the values of categories, a row for each.
        """
        sums = self.sums if sums is None else sums
        shorts = [f"g{i}" for i in range(len(self.groups))]
        groups = dict(zip(map(quoted, self.groups), shorts, strict=True))
        made_by = {MADE_BY: literal(self.made_by, self.dialect)} if self.made_by else {}
        columns = {PATTERN: "p", COLUMN: "CAST(NULL AS INTEGER)"}
        columns |= {VALUE: as_text("NULL", self.dialect), NUMBER: "COUNT(*)", AMISS: "SUM(amiss)"}
        columns |= {one.name: one.sql for one in sums} | made_by
        found = [select(groups | columns, SLICES, by=[*shorts, "p"])]
        for j in range(len(self.counted)):
            columns |= {PATTERN: "NULL", COLUMN: str(j), AMISS: "0"}
            columns |= {VALUE: as_text(f"c{j}", self.dialect)}
            columns |= {one.name: "NULL" for one in sums if one.of != ("w",)}
            by = [*shorts, f"c{j}"]
            found.append(select(groups | columns, SLICES, f"c{j} IS NOT NULL", by))
        return with_tables(self._tables, "\nUNION ALL\n".join(found), self.dialect)

    @property
    def _tables(self) -> dict[str, str]:
        """The tables in between: the query, its cells, r_i of every number, and a_i.

        ``odd`` and ``amiss`` are NULL in rows without a label, whose numbers may be of any size.
        """
        dialect, factors = self.dialect, self.factors
        names = {f"g{i}": name for i, name in enumerate(self.groups)}
        names |= {f"c{j}": name for j, (name, _) in enumerate(self.counted)}
        kept = {short: short for short in names}
        odd = " OR ".join(f"NOT ({condition})" for condition in self.allowed) or "FALSE"
        cells = {short: column_of(name, dialect) for short, name in names.items()}
        cells |= {"odd": f"CASE WHEN NOT ({self.labelled}) THEN NULL WHEN {odd} THEN 1 ELSE 0 END"}
        cells |= {x: number.cell for x, number in factors.items()}
        cut, slices = dict(kept), dict(kept)
        wrong: dict[str, list[str]] = {"w": [], "x": ["odd = 1"]}
        integer = {"": "DECIMAL(38, 0)", "sqlite": "INTEGER"}.get(dialect, "BIGINT")
        for x, number in factors.items():
            if not number.slices:
                origin = f" - {literal(number.origin, dialect)}" if number.origin else ""
                cut[f"{x}_0"], slices[f"{x}_0"] = f"{x}{origin}", f"{x}_0"
                continue
            for s in range(number.slices):
                y = times(x, self.bits * (s + 1) - number.exponent)
                cut[f"{x}_{s}"] = x if number.is_indicator else f"ROUND({y})"
                before = f" - {times(f'{x}_{s - 1}', self.bits)}" if s else ""
                slice_ = f"CAST({x}_{s}{before} AS {integer})"
                is_right = "COALESCE(amiss, 0) = 0" if x == "w" else "amiss = 0"
                slices[f"{x}_{s}"] = f"CASE WHEN {is_right} THEN {slice_} END"
            if not number.is_indicator:
                bound = times(f"CAST(1 AS {double(dialect)})", number.exponent - 1)
                wrong[x[0]] += [f"ABS({x}) >= {bound}", f"{y} <> ROUND({y})"]
        weight = f"WHEN {' OR '.join(wrong['w'])} THEN 1 " if wrong["w"] else ""
        numbers = " OR ".join(wrong["x"])
        cut["amiss"] = f"CASE {weight}WHEN odd IS NULL THEN NULL WHEN {numbers} THEN 1 ELSE 0 END"
        shown = [f"CASE WHEN x{i}_0 IS NULL THEN '0' ELSE '1' END" for i in self.joint]
        slices |= {"p": " || ".join(shown) or "''", "amiss": "amiss"}
        # PostgreSQL would else compute every slice once for each sum; a view has to stay plain.
        once = " OFFSET 0" if dialect == "postgres" and not self.made_by else ""
        return {
            ROWS: bare(self.query),
            CELLS: select(cells, ROWS),
            CUT: select(cut, CELLS, "w > 0" if self.weight is not None else ""),
            SLICES: select(slices, CUT) + once,
        }

    # -- the answer

    def answer(self, ask: Callable[[str], pa.Table]) -> Answer:
        """Ask for the sums, in as many statements as there is room for."""
        starts = range(0, max(1, len(self.sums)), MOST_SUMS)
        parts = [self.sums[start : start + MOST_SUMS] for start in starts]
        found, *more = (self.read(ask, self.select(part), part) for part in parts)
        for other in more:
            if repr(other.key.to_pylist()) != repr(found.key.to_pylist()):
                raise DataError(
                    "the rows changed between two statements",
                    "the sums are those of one state",
                    "open a transaction, or ask again",
                )
            found = replace(found, totals={**found.totals, **other.totals})
        return found

    def read(self, ask: Callable[[str], pa.Table], statement: str, sums: Sequence[Sum]) -> Answer:
        """Ask for some of the sums by a statement that makes them."""
        names = [*self.groups, PATTERN, COLUMN, VALUE, NUMBER]
        columns = {quoted(name): quoted(name) for name in (*names, AMISS)}
        for one in sums:  # whole numbers of more than 64 bits come as text
            columns[one.name] = one.name if one.power is None else as_text(one.name, self.dialect)
        rows = ask(select(columns, f"(\n{statement}\n) AS suffice_sums"))
        rows = rows.filter(pc.greater(rows.column(NUMBER), 0))
        amiss = sum(int(n or 0) for n in rows.column(AMISS).to_pylist())
        if amiss:
            raise DataError(
                f"{amiss:,} cells are unknown categories, or too large or too fine for the sums",
                "the SELECT was made for others",
                "make the view again, for the values that there are now",
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
