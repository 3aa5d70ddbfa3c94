"""One SELECT whose sums are exact: doubles are cut into slices of few bits.

A column of multiples of 2^u, |x| ≤ 2^t, is cut into the S slices a_s of b bits, S b > t − u, where
r_s is x rounded to multiples of 2^(u_s), u_s = u + b(S − 1 − s):

::

    a_0 = r_0,    a_s = r_s − r_(s−1),    x = Σ_s a_s,    |a_s| ≤ 2^(b−1) 2^(u_s)
    r = (x + C) − C,    C = 1.5 · 2^(52 + u_s),    where |x| ≤ 2^51 2^(u_s)

Two slices at a time are cut from what is left, 2 b ≤ 52. Products of slices of one power of 2, at
most S (S² with a weight), are added in a row. Then

1. as whole numbers of b = 26 (16) bits, in any database and in views: less than 8 · 2^50 = 2^53 in
   a row; or
2. as doubles, in DuckDB, where sums of whole numbers of more than 64 bits are slow: first over
   blocks of 2^k rows, whose sums have at most 2(b − 1) + log2 S + k ≤ 53 bits (3(b − 1) + 2 log2 S
   with a weight), and are exact in any order; then the few blocks as whole numbers. Both are asked
   in the transaction that looked for u and t; the sums Σ a_0² of a block, which bound all others,
   show other numbers.

Outside, the sums are put together as Python's integers.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations_with_replacement, count, groupby, product
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
BITS, WEIGHTED_BITS = 26, 16  # of a slice: products of two, or of three with the weight
MOST_SLICES = 8  # of a column: 154 binary orders of magnitude between its numbers
DIGITS = 53  # of a double
HALF = 31  # bits of the lower part of a sum, where the sums of a database have 64
LEAST_BLOCK = 9  # smaller blocks take longer than more slices
MOST_SUMS = 800  # of a statement; PostgreSQL has room for 1,664 columns, SQLite for 2,000
FAR = 1000  # of powers of 2, the farthest that is written as one double
MOST_BLOCKS = 72  # of doubles: those of eight columns fit the cache of a processor
STEP = 52  # binary orders of magnitude of one factor, which every database writes exactly
ROWS, CELLS, CUT, SLICES = "suffice_rows", "suffice_cells", "suffice_cut", "suffice_slices"
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
    """Return the cells of a column as numbers, NULL where missing; None where they are none."""
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
    if power and abs(power) <= FAR and dialect in ("duckdb", "postgres"):
        return f"{number} * {literal(2.0**power, dialect)}"
    sign, rest = "*" if power >= 0 else "/", abs(power)
    while rest:
        step = min(rest, STEP)
        number, rest = f"{number} {sign} {2**step}.0", rest - step
    return number


# -- the statement


class Number(NamedTuple):
    """A number of every row, to be summed: the cells times 2^scale."""

    cell: str  # its SQL among the columns of the query, NULL where it is missing
    top: int = 0  # t: |x| ≤ 2^t; 0 of an indicator, which is 0 and 1
    unit: int = 0  # u: multiples of 2^u
    scale: int = 0
    is_rough: bool = False  # whether the sums are those of doubles
    origin: float = 0.0  # what was taken from rough numbers
    may_miss: bool = True

    @property
    def width(self) -> int:
        return self.top - self.unit

    @property
    def is_indicator(self) -> bool:
        return not (self.width or self.is_rough)


class Cut(NamedTuple):
    """How numbers are cut, and added: as whole numbers, or as doubles over 2^block rows."""

    bits: int  # b
    block: int | None = None  # k
    is_numbered: bool = False  # whether a group has more rows than a block

    @classmethod
    def of_doubles(cls, width: int, factors: int, least: int, most: int) -> Cut:
        """Return the fewest slices, and the largest blocks of these, of products of factors."""
        for slices in count(1):
            terms = (slices ** (factors - 1) - 1).bit_length()
            for block in range(most, least - 1, -1):
                bits = min(BITS, (DIGITS - terms - block) // factors + 1)
                if bits > 1 and slices * bits > width:
                    return cls(bits, block, block < most)
        raise AssertionError

    def slices(self, number: Number) -> int:
        """Return S."""
        return number.width // self.bits + 1

    def unit(self, number: Number, s: int) -> int:
        return number.unit + self.bits * (self.slices(number) - 1 - s)


class Sum(NamedTuple):
    """A column of the answer: a part of a sum of products, times 2^power; None of doubles."""

    name: str
    of: tuple[Any, ...]
    power: int | None
    sql: str
    unit: int = 0  # doubles of a block are multiples of 2^unit


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
    rows: int  # how many there are of a query
    cut: Cut

    @cached_property
    def factors(self) -> dict[str, Number]:
        """The weight and the numbers, by their names in the statement."""
        weight = {} if self.weight is None else {"w": self.weight}
        return weight | {f"x{i}": number for i, number in enumerate(self.numbers)}

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
        found = [*self._sums(("w",), weight, weight)] if weight else []
        pairs = [(i, i) for i in self.squares]
        pairs += combinations_with_replacement(self.joint, 2)
        for i, number in enumerate(self.numbers):
            if i not in self.joint and number.may_miss:
                found += self._sums(("n", i), weight, weight, f"x{i}_0")
            found += self._sums(("x", i), [*weight, f"x{i}"], [f"x{i}"])
            for one, other in dict.fromkeys(pairs):
                if one == i:
                    names = [*weight, f"x{i}", f"x{other}"]
                    found += self._sums(("xx", i, other), names)
        return tuple(found)

    def _sums(
        self, of: tuple[Any, ...], names: list[str], paired: Sequence[str] = (), shown: str = ""
    ) -> Iterator[Sum]:
        """Yield the sums of a product of numbers, one for every power of 2.

        Two slices at a time are one factor where numbers are paired.
        """
        if not names:
            yield Sum("_".join(map(str, of)), of, 0, f"COUNT({shown})")
            return
        factors = [self.factors[name] for name in names]
        parts = []
        for name, number in zip(names, factors, strict=True):
            last = self.cut.slices(number) - 1
            ends = [*range(1, last, 2), last] if name in paired else range(last + 1)
            pair = "_to" if name in paired else ""
            parts.append([(s, f"{name}{pair if s % 2 else ''}_{s}") for s in ends])
        orders: dict[int, Counter[tuple[str, ...]]] = defaultdict(Counter)
        for one in product(*parts):
            orders[sum(s for s, _ in one)][tuple(sorted(part for _, part in one))] += 1
        top, scale = (sum(self.cut.unit(n, 0) for n in factors), sum(n.scale for n in factors))
        for order, terms in orders.items():
            least = min(terms.values())  # 2 where all terms come twice
            unit = top - self.cut.bits * order
            power = unit + scale + least - 1
            sql = " + ".join(
                " * ".join([f"({first} + {first})" if n > least else first, *more])
                for (first, *more), n in terms.items()
            )
            sql = f"CASE WHEN {shown} IS NOT NULL THEN {sql} END" if shown else sql
            name = "_".join(map(str, (*of, order)))
            if any(number.is_rough for number in factors):
                yield Sum(name, of, None, f"SUM({sql})")
            elif self.dialect == "sqlite":
                yield Sum(f"{name}_high", of, power + HALF, f"SUM(({sql}) >> {HALF})")
                yield Sum(name, of, power, f"SUM(({sql}) & {2**HALF - 1})")
            else:
                yield Sum(name, of, power, f"SUM({sql})", unit)

    def select(self, sums: Sequence[Sum] | None = None) -> str:
        """Return the statement, of these sums or of all.

        Below the sums are the counts of the values of categories, a row for each.
        """
        sums = self.sums if sums is None else sums
        first = tuple(sums[:1]) == self.sums[:1]
        every = [None, *(range(len(self.counted)) if first else ())]
        found = "\nUNION ALL\n".join(self._select(sums, j) for j in every)
        return with_tables(self._tables(self._used(sums)), found, self.dialect)

    def _used(self, sums: Sequence[Sum]) -> dict[str, Number]:
        used = {f"x{i}" for one in sums for i in one.of[1:]} | {"w"}
        used |= {f"x{i}" for i in self.joint if self.pattern == "p"}
        return {x: number for x, number in self.factors.items() if x in used}

    def _select(self, sums: Sequence[Sum], j: int | None) -> str:
        """Return the sums of all numbers, or the counts of the values of category j."""
        by = [f"g{i}" for i in range(len(self.groups))]
        columns = dict(zip(map(quoted, self.groups), by, strict=True))
        columns[PATTERN] = self.pattern if j is None else "NULL"
        columns[COLUMN] = "CAST(NULL AS INTEGER)" if j is None else str(j)
        columns[VALUE] = as_text("NULL" if j is None else f"c{j}", self.dialect)
        own = [one for one in sums if j is None or one.of == ("w",)]
        by += ["p"] * (columns[PATTERN] == "p") if j is None else [f"c{j}"]
        where = "" if j is None else f"c{j} IS NOT NULL"
        is_checked = j is None and (bool(self.allowed) or self.cut.block is None)
        inner = {NUMBER: "COUNT(*)", AMISS: "SUM(amiss)" if is_checked else "0"}
        inner |= {one.name: one.sql for one in own}
        last = {one.name: "NULL" for one in sums}
        last |= {MADE_BY: literal(self.made_by, self.dialect)} if self.made_by else {}
        if self.cut.block is None:
            return select(columns | inner | last | inner, SLICES, where, by)
        odd = [f"{NUMBER} > {2**self.cut.block}"]
        for x, number in self._used(own).items():
            if not number.is_indicator and (j is None or x == "w"):
                s, most = self.cut.slices(number) - 1, min(number.width, self.cut.bits - 1)
                inner |= {
                    f"size_{x}": f"SUM({x}_0 * {x}_0)",
                    f"fine_{x}": f"SUM({x}_{s} * {x}_{s})",
                }
                fine = times(f"fine_{x}", -2 * self.cut.unit(number, s), self.dialect)
                size = times(f"size_{x}", -2 * self.cut.unit(number, 0), self.dialect)
                odd += [
                    f"{size} > {2.0 ** (2 * most + self.cut.block)}",
                    f"{fine} <> FLOOR({fine})",
                ]
        blocks = [*by, *["block"] * (self.cut.is_numbered and bool(own))]
        table = select({name: name for name in by} | inner, SLICES, where, blocks)
        outer = {NUMBER: f"CAST(SUM({NUMBER}) AS BIGINT)"}
        outer[AMISS] = f"SUM({AMISS} + CASE WHEN {' OR '.join(odd)} THEN 1 ELSE 0 END)"
        outer |= last | {
            one.name: f"SUM(TRY_CAST({times(one.name, -one.unit, self.dialect)} AS BIGINT))"
            for one in own
        }
        return select(columns | outer, f"(\n{table}\n) AS suffice_blocks", by=by)

    def _tables(self, factors: Mapping[str, Number]) -> dict[str, str]:
        """The tables in between: the query, its cells, what is cut from them, and the slices.

        Of a number x, d are what is left before two slices are cut, of which h is the first and p
        the sum. Whole numbers are checked for bounds; ``amiss`` marks rows with others.
        """
        dialect, cut = self.dialect, self.cut
        names = {f"g{i}": name for i, name in enumerate(self.groups)}
        names |= {f"c{j}": name for j, (name, _) in enumerate(self.counted)}
        cells = {short: column_of(name, dialect) for short, name in names.items()}
        slices = {short: short for short in names}
        labelled = f"{self.labelled} AND " if self.may_lack else ""
        odd, fine = [f"({labelled}NOT ({condition}))" for condition in self.allowed], []
        if cut.is_numbered:
            cells["block"] = f"(ROW_NUMBER() OVER ()) >> {cut.block}"
            slices["block"] = "block"
        levels: list[dict[str, str]] = []
        for x, number in factors.items():
            cell, last = number.cell, cut.slices(number) - 1
            if self.may_lack and x != "w":
                cell = f"CASE WHEN {self.labelled} THEN {cell} END"
            is_checked = cut.block is None and not (number.is_indicator or number.is_rough)
            if is_checked:
                power = cut.unit(number, 0) + cut.bits - 1
                bound = times(f"CAST(1 AS {double(dialect)})", power, dialect)
                odd.append(f"ABS({cell}) >= {bound}")
                cell = f"CASE WHEN ABS({cell}) < {bound} THEN {cell} END"
            cells[f"{x}_d0"] = cell
            for t in range(last // 2 + 1):
                whole = d = f"{x}_d{t}"
                rest = f"({x}_d{t - 1} - {x}_p{t - 1})" if t else d
                levels += [{}] * (t == len(levels))
                levels[t] = levels[t] | {d: rest}
                if 2 * t + 1 < last:
                    whole = f"{x}_p{t}"
                    levels[t][whole] = self._rounded(rest, cut.unit(number, 2 * t + 1))
                if 2 * t + 1 <= last:
                    h = f"{x}_h{t}"
                    levels[t][h] = self._rounded(rest, cut.unit(number, 2 * t))
                    slices[f"{x}_{2 * t}"] = self._slice(h, number, 2 * t)
                    slices[f"{x}_{2 * t + 1}"] = self._slice(f"({whole} - {h})", number, 2 * t + 1)
                    slices[f"{x}_to_{2 * t + 1}"] = self._slice(whole, number, 2 * t + 1)
                else:
                    slices[f"{x}_{2 * t}"] = self._slice(d, number, 2 * t)
            fine += [f"{d} <> {self._rounded(d, number.unit)}"] * is_checked
        if odd:
            cells["odd"] = f"CASE WHEN {' OR '.join(odd)} THEN 1 ELSE 0 END"
            fine.insert(0, "odd = 1")
        slices["amiss"] = f"CASE WHEN {' OR '.join(fine)} THEN 1 ELSE 0 END" if fine else "0"
        if self.pattern == "p":
            marks = (f"CASE WHEN x{i}_d0 IS NULL THEN '0' ELSE '1' END" for i in self.joint)
            slices["p"] = " || ".join(marks)
        tables = {ROWS: bare(self.query), CELLS: select(cells, ROWS)}
        passed, source = {name: name for name in cells}, CELLS
        where = "" if self.weight is None else "w_d0 > 0" + " OR odd = 1" * bool(odd)
        for t, level in enumerate(levels):
            tables[f"{CUT}{t}"] = select(passed | level, source, "" if t else where)
            passed, source = {name: name for name in passed | level}, f"{CUT}{t}"
        return tables | {SLICES: select(slices, source) + self._once}

    @property
    def _once(self) -> str:
        """Clause by which a database computes slices once, not for each sum; views stay plain."""
        return "" if self.made_by else ONCE.get(self.dialect, "")

    def _rounded(self, number: str, unit: int) -> str:
        """Return a number rounded to a multiple of 2^unit."""
        far = times(f"CAST({3 * 2**51}.0 AS {double(self.dialect)})", unit, self.dialect)
        return f"(({number} + {far}) - {far})"

    def _slice(self, sql: str, number: Number, s: int) -> str:
        if number.is_rough or self.cut.block is not None:
            return sql
        integer = {"": "DECIMAL(38, 0)", "sqlite": "INTEGER"}.get(self.dialect, "BIGINT")
        return f"CAST({times(sql, -self.cut.unit(number, s), self.dialect)} AS {integer})"

    # -- the answer

    def answer(self, ask: Callable[[str], pa.Table]) -> Answer:
        """Ask for the sums, in as many statements as there is room for."""
        if self.cut.block is None and self.dialect == "duckdb" and not self.is_rough:
            return replace(self, cut=self._best_cut(ask)).answer(ask)
        most = MOST_SUMS if self.joint or self.cut.block is None else MOST_BLOCKS
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

    @property
    def is_rough(self) -> bool:
        return any(number.is_rough for number in self.numbers)

    def _best_cut(self, ask: Callable[[str], pa.Table]) -> Cut:
        """Ask how many rows the groups have, if more than one slice depends on it."""
        width = max([0, *(number.width for number in self.factors.values())])
        factors, most = 2 if self.weight is None else 3, self.rows.bit_length()
        cut = Cut.of_doubles(width, factors, most, most)
        if cut.bits > width:
            return cut
        missing = (f"x{i}_d0 IS NULL" for i in self.joint if self.numbers[i].may_miss)
        by = [*(f"g{i}" for i in range(len(self.groups))), *missing]
        where = "" if self.weight is None else "w_d0 > 0"
        rows = select({"n": "COUNT(*)"}, CELLS, where, by)
        asked = select({"k": "COUNT(*)", "n": "MAX(n)"}, f"(\n{rows}\n) AS suffice_groups")
        tables = self._tables(self.factors)
        tables = {name: tables[name] for name in (ROWS, CELLS)}
        (found,) = ask(with_tables(tables, asked, self.dialect)).to_pylist()
        most = max(0, (found["n"] or 1) - 1).bit_length()
        least = min(most, max(LEAST_BLOCK, (4 * found["k"]).bit_length()))
        return Cut.of_doubles(width, factors, least, most)

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
