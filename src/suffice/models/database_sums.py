"""Sums that a database makes: what an estimator needs of a query, as one SELECT, and its answer.

1. `described` asks what the columns are: their types, and those of their cells that decide
   something, such as the smallest and the largest. A table of these cells is opened and read in the
   place of the rows; so columns are of the same kinds, and what breaks a rule is refused in the
   same words. Of a view, `declared` takes what was said when it was made.
2. `needed` finds which numbers, products and counts the estimator needs: a `Plan`.
3. The plan writes the SELECT and reads the answer, see `suffice.data.sliced_sql`.
4. `_put_together` makes of the answer the sums that a pass over the rows makes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from math import frexp, ldexp
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data import sliced_sql as sql
from suffice.data.databases import Query
from suffice.data.encode import encode
from suffice.data.frames.memory import FramePart, FrameTable
from suffice.data.python_cells import warn_of_alike
from suffice.data.schema import Layout, running_text, stored_as
from suffice.data.sliced_sql import Answer, Number, Plan, Total
from suffice.data.table_source import no_column
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.families.options import check_boolean
from suffice.models.base.groups import require_free
from suffice.models.base.options import incomplete, listed_missing
from suffice.models.design.matrix import Design
from suffice.models.opened import Opened
from suffice.numerics.exact import DoubleDouble
from suffice.sums.batch import WEIGHT_RULE, Batch
from suffice.sums.block import HELD, HELD_RULE, BadCell, CodedBlock, RealBlock
from suffice.sums.by_class import ByClass, ClassesByGroup
from suffice.sums.comoments import Comoments
from suffice.sums.counts import Counts
from suffice.sums.keys import Keys, distinct, key_cells
from suffice.sums.moments import Moments
from suffice.sums.vocabulary import FALSE_TRUE, Vocabulary

DIGITS = 53  # of a double
LEAST_POWER = -1074  # of 2, of a double
KINDS: Mapping[str, tuple[pa.DataType, tuple[Any, ...], tuple[int, int] | None]] = {
    "number": (pa.float64(), (2.0, 5.0), (40, -80)),
    "whole": (pa.int64(), (2, 5), (60, 0)),
    "boolean": (pa.bool_(), (False, True), (1, 0)),
    "category": (pa.string(), ("a", "b"), None),
}
"""Kinds of columns of a view: type, cells, and bounds as in `Facts`."""
ROWS_INSTEAD = "read the rows: leave where out"

Ask = Callable[[str], pa.Table]


@dataclass(frozen=True)
class Call:
    """Arguments of `sums` or `sql_of_sums`."""

    estimator: Any
    query: Any
    y: Any
    weight: Any
    by: tuple[str, ...]
    exact: bool = True

    def open(self, table: FrameTable) -> Opened:
        """Return a table as `fit` reads it."""
        return Opened.of(self.estimator, table, self.y, self.weight)

    @property
    def label(self) -> str | None:
        """The column of classes, if there are any."""
        return self.y if "ClassifierMixin" in self.estimator.kind.mixins else None

    def check(self) -> None:
        """Refuse labels and weights that are no names, and keys that are one of them."""
        one = isinstance(self.y, str) or self.label is not None
        named = [("y", name) for name in ([self.y] if one else self.y or [None])]
        named += [] if self.weight is None else [("sample_weight", self.weight)]
        for option, name in named:
            if not isinstance(name, str):
                rule = "in a database it is the name of a column"
                raise ParameterError(f"{option}={name!r}", rule)
        for key in self.by:
            require_free(key, [name for _, name in named])


def sums_elsewhere(where: str, call: Call) -> tuple[Any, Keys, Any]:
    """Return the reader, keys and sums that an estimator needs of a query; no row is read."""
    check_boolean(exact=call.exact)
    if where not in ("database", "view"):
        raise ParameterError(f"where={where!r}", "it is None, 'database' or 'view'")
    if not isinstance(call.query, Query):
        raise ParameterError(
            f"X is a {type(call.query).__name__}",
            "a database makes the sums of a query",
            "pass suffice.read_sql(query, connection)",
        )
    call.check()
    with call.query.asking() as (database, read):

        def ask(statement: str) -> pa.Table:
            return read(statement).mapped()

        if database not in sql.SPOKEN:
            raise ParameterError(
                f"the database is {database or 'unknown'}",
                f"sums are asked of {', '.join(sql.SPOKEN)}",
                "run the SELECT of suffice.sql_of_sums yourself, or " + ROWS_INSTEAD,
            )
        look = _of_database if where == "database" else _of_view
        blocks, answer, opened = look(call, database, ask)
    _require_complete(answer, opened.reader, call.estimator)
    return _put_together(blocks, answer, opened.reader, call)


def _of_database(call: Call, database: str, ask: Ask) -> tuple[Blocks, Answer, Any]:
    """Ask for the sums of the rows of a query."""
    found = described(call, database, ask)
    opened = call.open(found.table)
    of_values = [one.columns for one in opened.reader.layout.blocks if one.encoding == "category"]
    categories = [n for names in of_values for n in names if not found.columns[n].is_text]
    if categories:
        found = _with_values(found, ask, categories)
        opened = call.open(found.table)
    plan, blocks = needed(found, opened)
    return blocks, plan.answer(ask), opened


def _of_view(call: Call, database: str, ask: Ask) -> tuple[Blocks, Answer, Any]:
    """Ask for the sums that a view of `suffice.sql_of_sums` holds."""
    rows = f"(\n{sql.bare(call.query.text)}\n) AS {sql.ROWS}"
    made_by = ask(f"SELECT DISTINCT {sql.MADE_BY} FROM {rows}").column(0).to_pylist()
    if len(made_by) != 1:
        raise DataError(
            "the view has no rows" if not made_by else "the rows are of several views",
            "sums are those of one SELECT of suffice.sql_of_sums",
            "add rows to the table" if not made_by else "name one view",
        )
    try:
        columns, y, weight, by = json.loads(made_by[0])
    except (ValueError, TypeError):
        fact = f"the view was made by {made_by[0]!r}"
        raise DataError(fact, "it is none of sql_of_sums") from None
    for option, given, mine in (("y", call.y, y), ("sample_weight", call.weight, weight)):
        if given != mine:
            raise ParameterError(f"{option}={given!r}", f"the view has {mine!r}")
    if not set(call.by) <= set(by):
        raise ParameterError(f"by={[*call.by]!r}", f"the view is by {by!r}")
    found = declared(replace(call, by=tuple(by)), columns, "", database)
    names = {*ask(f"SELECT * FROM {rows} LIMIT 0").column_names}
    other = ParameterError(
        f"the view has other sums than {type(call.estimator).__name__} needs",
        "it was made for another estimator, or other options",
        "make it with suffice.sql_of_sums of this one",
    )
    if call.label is not None:
        if call.label not in names:
            raise other
        column = ask(f"SELECT DISTINCT {sql.quoted(call.label)} FROM {rows}").column(0)
        cells = tuple(cell for cell in column.to_pylist() if cell is not None)
        facts = Facts(call.label, column.type, cells)
        found = replace(found, columns={**found.columns, call.label: facts})
    opened = call.open(found.table)
    plan, blocks = needed(found, opened)
    if not {one.name for one in plan.sums} <= names:
        raise other
    return blocks, plan.read(ask, sql.bare(call.query.text), plan.sums), opened


# -- what the columns are


@dataclass(frozen=True)
class Facts:
    """Type and deciding cells of a column.

    ``cells`` are of rows that count, ``others`` of rows without a label or weight: all values of a
    category; the least and the largest number, a fraction, a 0.
    """

    name: str
    type: pa.DataType
    cells: tuple[Any, ...] = ()
    others: tuple[Any, ...] = ()
    bounds: tuple[int, int] | None = None  # e and u: numbers below 2^e, multiples of 2^u
    middle: float = 0.0  # a number near the others
    has_nan: bool = True  # or may have NaN, which is missing
    may_miss: bool = True
    listed: bool = True  # whether the cells of a category are all its values

    @property
    def is_text(self) -> bool:
        return stored_as(self.type) == "string"


class ExamplePart(FramePart):
    """Cells of many rows side by side."""

    def locate(self, row: int) -> str:
        return "a row of the query"


class Examples(FrameTable):
    """A table of cells that stand for those of a query."""

    def parts(self, types: Any) -> Sequence[ExamplePart]:
        return [ExamplePart(self.table.select(list(types)), 0)]


@dataclass(frozen=True)
class Described:
    """A query, and facts about its columns: all but the keys."""

    query: str
    dialect: str
    columns: Mapping[str, Facts]
    call: Call
    made_by: str = ""  # see `Plan`
    may_lack: bool = True

    @property
    def table(self) -> Examples:
        """Return a table of the cells that decide what columns are."""
        counted = max([2, *(len(facts.cells) for facts in self.columns.values())])
        others = max([0, *(len(facts.others) for facts in self.columns.values())])
        if self.call.label is None and self.call.weight is None:
            others = 0
        columns = {}
        for name, facts in self.columns.items():
            cells, more = facts.cells or (None,), facts.others or (None,)
            if name == self.call.label:
                more = (None,)
            if name == self.call.weight and self.call.label is None:
                more = (0,)
            found = [*islice(cycle(cells), counted), *islice(cycle(more), others)]
            columns[name] = pa.array(found, facts.type)
        return Examples(pa.table(columns))

    def cell(self, name: str) -> str | None:
        facts = self.columns[name]
        return sql.number_of(name, facts.type, self.dialect, facts.has_nan)

    def numeric(self, name: str) -> str:
        """Return the cells of a column of numbers."""
        facts, cell = self.columns[name], self.cell(name)
        if cell is None:
            raise SchemaError(
                f"column {name!r} holds {facts.type}",
                "in a database, numbers are integers, decimals, doubles, booleans, dates and "
                "timestamps",
                "cast it in the query",
            )
        return cell

    @property
    def labelled(self) -> str:
        """The condition that a row has a label, as SQL."""
        label = self.call.label
        return "1 = 1" if label is None else f"{self.cell(label) or sql.quoted(label)} IS NOT NULL"

    def number(self, name: str) -> Number:
        """Return the numbers of a column, cut where it has to be."""
        facts, cell = self.columns[name], self.numeric(name)
        if pa.types.is_boolean(facts.type):
            return Number(cell)
        if not self.call.exact:
            origin = 0.0 if name == self.call.weight else facts.middle
            cell += f" - {sql.literal(origin, self.dialect)}" if origin else ""
            return Number(cell, is_rough=True, origin=origin, may_miss=facts.may_miss)
        top, unit = facts.bounds or (1, 0)
        weighted = self.call.weight is not None
        digits = sql.WIDEST[weighted]
        if top - unit > digits:
            raise DataError(
                f"column {name!r} has numbers of 2^{top - 1} and others with digits of 2^{unit}",
                f"sums in a database are exact within {digits} binary digits",
                "round the column in the query, use exact=False, or " + ROWS_INSTEAD,
            )
        number = Number(cell, top, unit, pa.types.is_integer(facts.type), may_miss=facts.may_miss)
        if number.is_digit(sql.BITS[self.dialect][weighted]):
            return number._replace(cell=f"CAST({sql.quoted(name)} AS BIGINT)")
        return number

    def around(self, statement: str) -> str:
        """Return a statement about the cells cj of all columns, and their numbers vj.

        Rows are counted that have a label, and a weight above 0.
        """
        cells, condition = {}, self.labelled
        if self.call.weight is not None:
            condition += f" AND {self.numeric(self.call.weight)} > 0"
        for j, name in enumerate(self.columns):
            cells[f"c{j}"] = sql.column_of(name, self.dialect)
            cells[f"v{j}"] = self.cell(name) or "NULL"
        cells["counted"] = f"CASE WHEN {condition} THEN 1 ELSE 0 END"
        tables = {sql.ROWS: sql.bare(self.query), sql.CELLS: sql.select(cells, sql.ROWS)}
        return sql.with_tables(tables, statement, self.dialect)


def described(call: Call, database: str, ask: Ask) -> Described:
    """Ask what the columns of a query are."""
    types = _types(call.query.text, database, ask)
    roles = [("the label", call.label), ("the weight", call.weight)]
    for role, name in (*roles, *(("a key", name) for name in call.by)):
        if name is not None and name not in types:
            raise no_column(name, role, list(types), False)
    columns = {
        name: Facts(name, pa.float64() if pa.types.is_decimal(kind) else kind, has_nan=False)
        for name, kind in types.items()
        if name not in call.by
    }
    found = _with_ends(Described(call.query.text, database, columns, call), ask)
    columns, texts = dict(found.columns), []
    for name, facts in found.columns.items():
        if facts.is_text and name == call.label:
            columns[name] = replace(facts, cells=KINDS["category"][1])
        elif facts.is_text:
            texts.append(name)
    return _with_values(replace(found, columns=columns), ask, texts)


def _types(query: str, database: str, ask: Ask) -> dict[str, pa.DataType]:
    """Ask for the types of all columns; SQLite has those of cells."""
    rows = f"(\n{sql.bare(query)}\n) AS {sql.ROWS}"
    nothing = ask(f"SELECT * FROM {rows} LIMIT 0")
    if database != "sqlite":
        return {
            one.name: one.type.value_type if pa.types.is_dictionary(one.type) else one.type
            for one in nothing.schema
        }
    kinds = {
        "real": pa.float64(),
        "integer": pa.int64(),
        "text": pa.string(),
        "blob": pa.binary(),
    }
    asked = {
        f"{end}{j}": f"{end}(TYPEOF({sql.quoted(name)}))"  # of integer, null, real: NULL is between
        for j, name in enumerate(nothing.schema.names)
        for end in ("MAX", "MIN")
    }
    (row,) = ask(sql.select(asked, rows)).to_pylist()
    types = {}
    for j, name in enumerate(nothing.schema.names):
        ends = (row[f"{end}{j}"] for end in ("MAX", "MIN"))
        shown = [kind for kind in dict.fromkeys(ends) if kind in kinds]
        if len(shown) > 1 and shown != ["real", "integer"]:
            raise SchemaError(
                f"column {name!r} holds {' and '.join(sorted(shown))}",
                "a column holds numbers or text",
                f"cast it in the query: CAST({name} AS ...)",
            )
        types[name] = kinds[shown[0]] if shown else pa.null()
    return types


def _with_ends(found: Described, ask: Ask) -> Described:
    """Look at the least and the largest cells of numbers and times, and at others that decide."""
    call = found.call

    def look(asked: Mapping[str, str]) -> dict[int, dict[str, Any]]:
        shown = {"counted": "counted", "n": "COUNT(*)", **asked}
        answer = ask(found.around(sql.select(shown, sql.CELLS, by=["counted"]))).to_pylist()
        return {1: {}, 0: {}} | {row["counted"]: row for row in answer}

    names = list(found.columns)
    kinds = {j: stored_as(found.columns[n].type) for j, n in enumerate(names) if found.cell(n)}
    kinds = {j: kind for j, kind in kinds.items() if kind != "boolean"}
    ends: dict[str, str] = {}
    for j, kind in kinds.items():
        c, v = f"v{j}" if kind == "number" else f"c{j}", f"v{j}"
        ends |= {f"n{j}": f"COUNT({c})", f"low{j}": f"MIN({c})", f"high{j}": f"MAX({c})"}
        ends |= {f"least{j}": f"MIN(ABS({v}))"} if kind == "number" else {}
        ends |= {f"most{j}": f"MAX(ABS({v}))"} if kind == "time" else {}
        ends |= {} if call.exact else {f"middle{j}": f"AVG({v})"}
    rows = look(ends)
    highest = {names[j]: [row.get(f"high{j}") for row in rows.values()] for j in kinds}
    # NaN is the largest number of a database.
    nan = [name for name, cells in highest.items() if any(cell != cell for cell in cells)]
    if nan:
        shown = {name: replace(found.columns[name], has_nan=True) for name in nan}
        found = replace(found, columns={**found.columns, **shown})
        rows = look(ends)
    more = {}
    for j, kind in kinds.items():
        if any(_is_open(row, j, kind) for row in rows.values()):
            more[f"part{j}"] = f"MIN(CASE WHEN v{j} <> ROUND(v{j}) THEN ABS(v{j}) END)"
            more[f"zero{j}"] = f"MIN(CASE WHEN v{j} = 0 THEN c{j} END)"
        elif kind == "number":
            for row in rows.values():
                row[f"part{j}"] = row.get(f"least{j}")
    for counted, row in look(more).items() if more else ():
        rows[counted] |= row
    columns = {
        name: _fact(facts, rows[1], rows[0], j, name == call.weight)
        for j, (name, facts) in enumerate(found.columns.items())
    }
    if call.weight is not None:
        rest = rows[0]
        without = rest.get("n", 0) > rest.get(f"n{names.index(call.weight)}", 0)
        for cell in columns[call.weight].others + (np.nan,) * without:
            if not cell >= 0:
                raise DataError(f"column {call.weight!r}: {cell}", WEIGHT_RULE)
    may_lack = call.label is not None and "n" in rows[0]
    return replace(found, columns=columns, may_lack=may_lack)


def _is_open(row: Mapping[str, Any], j: int, kind: str | None) -> bool:
    """Return whether the ends of a column do not tell of fractions and zeros between them."""
    low, high = row.get(f"low{j}"), row.get(f"high{j}")
    if low is None or high is None or kind == "integer":
        return (low, high) == (-1, 1)
    return kind == "time" or not row[f"least{j}"] or low % 1 == 0 == high % 1


def _fact(
    facts: Facts, counted: Mapping[str, Any], rest: Mapping[str, Any], j: int, is_weight: bool
) -> Facts:
    """Return the facts about a column; the weights of rows that do not count add up, too."""
    kind = stored_as(facts.type)
    if kind == "boolean":
        return replace(facts, cells=(False, True), bounds=(1, 0))
    if kind not in ("integer", "number", "time"):
        return facts
    names = ("low", "high") if kind == "time" else ("low", "high", "part", "zero")
    found = ([row.get(f"{name}{j}") for name in names] for row in (counted, rest))
    cells, others = (tuple(dict.fromkeys(c for c in row if c is not None)) for row in found)
    if kind == "integer" and max(map(abs, cells), default=0) > HELD:
        fact = f"column {facts.name!r}: {max(cells, key=abs)}"
        raise DataError(fact, HELD_RULE, f"cast it in the query: CAST({facts.name} AS text)")
    of = (counted, rest) if is_weight else (counted,)
    most = max(
        abs(float(row.get(f"{end}{j}") or 0))
        for row in of
        for end in (["most"] if kind == "time" else ["low", "high"])
    )
    part = min((c for row in of if (c := row.get(f"part{j}")) is not None), default=None)
    bounds = (1, 0)  # of infinite cells, which are refused where the column is read
    if np.isfinite(most):
        digits = 24 if pa.types.is_float32(facts.type) else DIGITS
        unit = 0 if part is None else max(LEAST_POWER, min(0, frexp(part)[1] - digits))
        bounds = (max(unit + 1, frexp(most)[1]), unit)
    return replace(
        facts,
        cells=cells,
        others=others,
        bounds=bounds,
        middle=counted.get(f"middle{j}") or 0.0,
        may_miss=counted.get("n", 0) > counted.get(f"n{j}", 0),
    )


def _with_values(found: Described, ask: Ask, names: Sequence[str]) -> Described:
    """Ask for the values of columns that are categories."""
    selects = []
    for j, name in enumerate(found.columns):
        if name in names:
            asked = {"j": str(j), "counted": "counted", "cell": sql.as_text(f"c{j}", found.dialect)}
            asked["n"] = "COUNT(*)"
            selects.append(sql.select(asked, sql.CELLS, by=["counted", f"c{j}"]))
    if not selects:
        return found
    answer = ask(found.around("\nUNION ALL\n".join(selects))).to_pylist()
    columns = dict(found.columns)
    for j, (name, facts) in enumerate(found.columns.items()):
        if name not in names:
            continue
        rows = [row for row in answer if row["j"] == j]
        own = [(row["counted"], sql.value_of(row["cell"], facts.type), row["n"]) for row in rows]
        shown = [(value, n) for _, value, n in own if value is not None]
        words, rows_of = zip(*shown, strict=True) if shown else ((), ())
        cells, others = ([v for side, v, _ in own if side == s and v is not None] for s in (1, 0))
        if facts.is_text and not running_text(pa.array(words, pa.large_string()), rows_of):
            cells, others = cells * 2, others * 2  # words that come again are no running text
        if found.call.label is not None and any(side and value is None for side, value, _ in own):
            cells.append(None)
        columns[name] = replace(facts, cells=tuple(cells), others=tuple(others))
    return replace(found, columns=columns)


def declared(
    call: Call, columns: Sequence[str] | Mapping[str, Any], query: str, dialect: str
) -> Described:
    """Return what is said of the columns of a query, of which a view is made."""
    kinds = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, "number")
    made_by = json.dumps([kinds, call.y, call.weight, call.by])
    more = [] if call.weight is None else [call.weight]
    if call.label is None:
        more += [call.y] if isinstance(call.y, str) else call.y
    kinds |= {name: kinds.get(name, "number") for name in more}
    is_classifier = call.label is not None
    facts = {
        name: _said(name, kind, is_classifier)
        for name, kind in kinds.items()
        if name not in call.by
    }
    if call.label is not None:
        facts[call.label] = _said(call.label, "category", True)
    return Described(query, dialect, facts, call, made_by)


def _said(name: str, kind: Any, missing: bool) -> Facts:
    """Return what a kind, or the values of a category, say of a column."""
    if isinstance(kind, list | tuple) and len(set(map(type, kind))) == 1:
        cells = tuple(kind)
        return Facts(name, pa.array(cells).type, (*cells, *cells, *([None] if missing else [])))
    if not isinstance(kind, str) or kind not in KINDS:
        raise ParameterError(
            f"columns says {kind!r} of {name!r}",
            f"a column is {', '.join(map(repr, KINDS))}, or a list of the values of a category",
        )
    of, cells, bounds = KINDS[kind]
    return Facts(name, of, cells, bounds=bounds, listed=kind != "category")


# -- what an estimator needs of them


class Block(NamedTuple):
    """The numbers or categories of a plan, by index, that one statistic is made of."""

    kind: str  # "moments", "outcomes", "counts" or "joint"
    places: tuple[int, ...]
    pooled: bool = False


Blocks = tuple[Block, ...]
"""The blocks of sums that the answer of a plan becomes."""


@dataclass
class Needs:
    """Collects what the blocks of an estimator need, number by number."""

    found: Described
    cooked: Mapping[str, Mapping[Any, Any]]  # what the strings of a column are read as
    name: str  # of the estimator
    numbers: list[Number] = field(default_factory=list)
    counted: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)

    def number(self, name: str) -> int:
        """Add the numbers of a column."""
        if name in self.cooked:
            return self.indicator(name, [True], [False])
        return self._added(self.found.number(name))

    def outcome(self, name: str, low: float, threshold: float | None) -> int:
        """Add 1 for one outcome of a column and 0 for the other."""
        dialect, cell = self.found.dialect, self.found.cell(name)
        if cell is None or pa.types.is_boolean(self.found.columns[name].type):
            return self.number(name)
        if threshold is not None:
            bound = sql.literal(float(threshold), dialect)
            cases = f"CASE WHEN {cell} > {bound} THEN 1 WHEN {cell} <= {bound} THEN 0 END"
        else:
            cases = f"CASE {cell} WHEN 1 THEN 1 WHEN {low:.0f} THEN 0 END"
            self.allowed.append(f"{cell} IS NULL OR {cell} IN ({low:.0f}, 1)")
        return self._added(Number(cases))

    def indicator(
        self, name: str, ones: Sequence[Any], zeros: Sequence[Any], missing: int | None = None
    ) -> int:
        """Add 1 for some values of a category, 0 for others, and what a missing cell is."""
        column = sql.column_of(name, self.found.dialect)
        cases = [f"WHEN {column} IS NULL THEN {missing}"] if missing is not None else []
        for outcome, values in ((1, ones), (0, zeros)):
            cells = self._literals(name, values)
            cases += [f"WHEN {column} IN ({cells}) THEN {outcome}"] if cells else []
        cell = f"CASE {' '.join(cases or ['WHEN FALSE THEN 0'])} END"
        return self._added(Number(cell))

    def known(self, name: str, values: Sequence[Any]) -> None:
        """Note which values a category may have."""
        column, cells = sql.column_of(name, self.found.dialect), self._literals(name, values)
        self.allowed.append(f"{column} IS NULL" + (f" OR {column} IN ({cells})" if cells else ""))

    def _literals(self, name: str, values: Sequence[Any]) -> str:
        raw = self.cooked.get(name)
        if raw is not None:
            values = [cell for cell, read in raw.items() if read in values and read is not None]
        return ", ".join(sql.literal(value, self.found.dialect) for value in values)

    def _added(self, number: Number) -> int:
        if number not in self.numbers:
            self.numbers.append(number)
        return self.numbers.index(number)

    def unmade(self, reason: str) -> ParameterError:
        return ParameterError(f"{self.name} and sums in a database: {reason}", "", ROWS_INSTEAD)


def needed(found: Described, opened: Any) -> tuple[Plan, Blocks]:
    """Return the plan of the sums that an estimator needs, and the blocks that they make.

    Raises
    ------
    ParameterError
        If these sums cannot be made in a database.
    """
    call = found.call
    needs = Needs(found, _cooked(found, opened), type(call.estimator).__name__)
    if not opened.method.is_of_sums:
        raise needs.unmade("it needs rows, for bins of densities, weights or pairs of columns")
    reader, template = opened.reader, opened.sums()
    if isinstance(template, ByClass):
        pairs = zip(reader.parts, template.blocks, strict=True)
        blocks = tuple(_block(needs, part, block, reader.layout) for part, block in pairs)
    else:
        blocks = (_joint(needs, reader.design, reader.design.targets, template),)
    joint = [block for block in blocks if block.kind == "joint"]
    if len(joint) > 1:
        raise needs.unmade("rows are grouped by the missing cells of one Gaussian at a time")
    squares = {i for block in blocks if block.kind == "moments" for i in block.places}
    plan = Plan(
        found.query,
        found.dialect,
        (*([] if call.label is None else [call.label]), *call.by),
        found.labelled,
        None if call.weight is None else found.number(call.weight),
        tuple(needs.numbers),
        tuple(sorted(squares)),
        joint[0].places if joint else (),
        tuple((name, found.columns[name].type) for name in needs.counted),
        tuple(dict.fromkeys(needs.allowed)),
        found.made_by,
        found.may_lack,
    )
    return plan, blocks


def _cooked(found: Described, opened: Any) -> dict[str, dict[Any, Any]]:
    """Return what strings are read as that spell something else: true and false."""
    rows = opened.rows.table
    cooked = {}
    for text, facts in found.columns.items():
        if not facts.is_text or text == found.call.label or text not in rows.shown.schema.names:
            continue
        kind = stored_as(rows.shown.schema.field(text).type)
        if kind == "string":
            continue
        if kind != "boolean":
            raise SchemaError(
                f"column {text!r} holds {'dates' if kind == 'time' else 'numbers'} as text",
                "a database sums what it stores as numbers",
                f"cast it in the query: CAST({text} AS ...)",
            )
        parts = rows.parts({text: None})
        cells = [c for part in parts for batch in part.record_batches() for c in batch.column(0)]
        raw = found.table.table.column(text).to_pylist()
        cooked[text] = {a: b.as_py() for a, b in zip(raw, cells, strict=True) if a is not None}
    return cooked


def _block(needs: Needs, part: Any, template: Any, layout: Any) -> Block:
    """Return what a block of a generative classifier needs."""
    columns = part.layout.columns
    if type(template) is Comoments:
        if part.design is not None:
            return _joint(needs, part.design, (), template)
        return Block("joint", tuple(map(needs.number, columns)), template.pooled)
    if type(template) is Moments:
        return Block("moments", tuple(map(needs.number, columns)))
    if type(template) is not Counts or part.design is not None:
        raise needs.unmade(
            f"{part.family} of {', '.join(map(repr, columns))} needs more than sums of "
            "numbers and their products, and counts of values"
        )
    if part.layout.encoding in ("binary", "outcome"):
        pairs = zip(columns, layout.lows(part.layout).tolist(), strict=True)
        places = (needs.outcome(name, low, layout.threshold) for name, low in pairs)
        return Block("outcomes", tuple(places))
    needs.counted += columns
    return Block("counts", tuple(range(len(needs.counted) - len(columns), len(needs.counted))))


def _joint(needs: Needs, design: Design, targets: Sequence[str], template: Any) -> Block:
    """Return what the products of the terms of a design need."""
    if type(template) is not Comoments:
        raise needs.unmade(f"it needs {type(template).__name__}, more than products of columns")
    if design.formula is not None or design.words or design.bins:
        raise needs.unmade("its terms are computed from rows by a formula, or are words")
    places = np.zeros(len(design), np.intp)
    for column in design.columns:
        at = design.places([column])
        if column not in design.categories:
            places[at] = needs.number(column)
            continue
        values = design.categories[column].values
        if not needs.found.columns[column].listed:
            raise ParameterError(
                f"column {column!r} is a category",
                f"{needs.name} has a term for each value, and the SELECT names them",
                f"list the values: columns={{{column!r}: [...]}}",
            )
        needs.known(column, values)
        for place, term in zip(at.tolist(), _terms_of(design, column).T, strict=True):
            ones, zeros = (
                [v for v, t in zip(values, term, strict=False) if t == s] for s in (1, 0)
            )
            missing = None if np.isnan(term[-1]) else int(term[-1])
            places[place] = needs.indicator(column, ones, zeros, missing)
    every = (*places.tolist(), *map(needs.number, targets))
    return Block("joint", every, template.pooled)


def _terms_of(design: Design, column: str) -> NDArray[np.float64]:
    """Return the terms of the values of a category and of a missing cell, (m + 1, t)."""
    names, numbers = list(design.categories), len(design.columns) - len(design.categories)
    m = len(design.categories[column])
    codes = np.zeros((m + 1, len(names)), np.intp)
    codes[:, names.index(column)] = [*range(m), -1]
    blocks: list[Any] = [RealBlock(np.zeros((m + 1, numbers)))] if numbers else []
    blocks.append(CodedBlock(codes, tuple(design.categories.values())))
    rows = np.concatenate([x for _, x in design.rows(Batch(m + 1, tuple(blocks)))])
    return np.asarray(rows[:, design.places([column])])


# -- sums of an answer


def _require_complete(answer: Answer, reader: Any, estimator: Any) -> None:
    """Refuse missing cells where a linear model needs all of them."""
    if not hasattr(reader, "design") or getattr(estimator, "incomplete", "") != "error":
        return
    design = reader.design
    names = [*(design.column(place) for place in range(len(design))), *design.targets]
    counts = dict.fromkeys(names, 0)
    for text, rows in zip(answer.column(sql.PATTERN), answer.rows.values, strict=True):
        for name in {name for name, mark in zip(names, text, strict=True) if mark == "0"}:
            counts[name] += rows
    missing = {name: str(count) for name, count in counts.items() if count}
    if missing:
        raise incomplete(listed_missing(missing), "incomplete='gaussian'")


class Placed(NamedTuple):
    """Rows of an answer, and the index of each (r,) among k classes, or classes of groups."""

    answer: Answer
    place: NDArray[np.intp]
    k: int

    @property
    def weight(self) -> Total:
        return self.answer.weight.by(self.place, self.k)

    def total(self, *of: Any) -> Total:
        return self.answer.totals[of].by(self.place, self.k)

    def take(self, which: Any) -> Placed:
        """Return some of the rows."""
        rows, of = np.flatnonzero(which), self.answer.totals.items()
        totals = {name: one._replace(values=one.values[rows]) for name, one in of}
        key = self.answer.key.take(pa.array(rows))
        return Placed(replace(self.answer, key=key, totals=totals), self.place[rows], self.k)


def _pairs(total: Total) -> NDArray[np.float64]:
    """Return pairs of doubles, the nearest ones and what is left of the numbers, (2, n)."""
    high = [float(n) for n in total.values]
    left = [
        0.0 if total.power is None else float(n - int(h))
        for n, h in zip(total.values, high, strict=True)
    ]
    return np.asarray(np.ldexp(np.array([high, left]), total.power or 0))


class Centred(NamedTuple):
    """Sums of a column about pivots: as doubles, and as whole numbers for its products."""

    pivot: NDArray[np.float64]
    whole: NDArray[np.object_]
    x: Total


def _centred(number: Number, x: Total, weight: Total) -> Centred:
    """Return Σw(x − p), where the doubles p are near Σwx / Σw, in units of x over the weight's."""
    whole = np.zeros(len(x.values), object)
    if x.power is None or weight.power is None:
        return Centred(np.where(weight.values > 0, number.origin, 0.0), whole, x)
    for g, (total, w) in enumerate(zip(x.values, weight.values, strict=True)):
        mean = int(total) // int(w) if w else 0
        cut = max(0, abs(mean).bit_length() - DIGITS)
        whole[g] = (mean >> cut) << cut
    pivot = np.array([ldexp(int(p), x.power - weight.power) for p in whole], np.float64)
    return Centred(pivot, whole, x._replace(values=x.values - whole * weight.values))


def _product(xx: Total, one: Centred, other: Centred, weight: Total) -> Total:
    """Return Σw(x − p)(y − q) = Σwxy − pΣw(y − q) − qΣw(x − p) − pqΣw.

    Doubles have been taken from their pivots before; their squares are at least (Σwx)²/Σw.
    """
    p, q, w = one.whole, other.whole, weight.values
    values = xx.values - (p * other.x.values + q * one.x.values + p * q * w)
    if xx.power is None and one is other:
        values = np.maximum(values, one.x.values**2 / np.where(w > 0, w, 1))
    return Total(xx.power, values)


def _moments(rows: Placed, block: Block, _: bool) -> Moments:
    d, k = len(block.places), rows.k
    weight, pivot, sums = np.zeros((k, 2, d)), np.zeros((k, d)), np.zeros((k, 4, d))
    for j, i in enumerate(block.places):
        own = rows.answer.shown(i).by(rows.place, rows.k)
        column = _centred(rows.answer.plan.numbers[i], rows.total("x", i), own)
        square = _product(rows.total("xx", i, i), column, column, own)
        weight[:, :, j], pivot[:, j] = _pairs(own).T, column.pivot
        sums[:, :2, j], sums[:, 2:, j] = _pairs(column.x).T, _pairs(square).T
    return Moments(weight, pivot, sums).canonical()


def _outcomes(rows: Placed, block: Block, _: bool) -> Counts:
    counts = np.zeros((2, rows.k, 2 * len(block.places)))
    for j, i in enumerate(block.places):
        every = rows.answer.shown(i).by(rows.place, rows.k)
        ones = rows.total("x", i)
        counts[:, :, 2 * j] = _pairs(every._replace(values=every.values - ones.values))
        counts[:, :, 2 * j + 1] = _pairs(ones)
    return Counts((FALSE_TRUE,) * len(block.places), DoubleDouble(*counts))


def _counts(rows: Placed, block: Block, _: bool) -> Counts:
    columns = np.array(rows.answer.column(sql.COLUMN), object)
    vocabularies, counts = [], []
    for j in block.places:
        own, kind = rows.take(columns == j), rows.answer.plan.counted[j][1]
        cells = [sql.value_of(cell, kind) for cell in own.answer.column(sql.VALUE)]
        vocabulary = Vocabulary.of(cells)
        m = len(vocabulary)
        total = own.answer.weight.by(own.place * m + vocabulary.index(cells, -1), rows.k * m)
        counts.append(_pairs(total).reshape(2, rows.k, m))
        vocabularies.append(vocabulary)
    return Counts(tuple(vocabularies), DoubleDouble(*np.concatenate(counts, axis=2))).pruned()


def _comoments(rows: Placed, block: Block, by_group: bool) -> Comoments:
    plan, d = rows.answer.plan, len(block.places)
    cells = list(zip(rows.answer.column(sql.PATTERN), rows.place.tolist(), strict=True))
    keys = sorted({key for key in cells if "1" in key[0]})
    of_key = {key: g for g, key in enumerate(keys)}
    g, at = len(keys), np.array([of_key.get(cell, -1) for cell in cells], np.intp)
    own = Placed(rows.answer, at, g).take(at >= 0)
    weight = own.weight
    columns = [_centred(plan.numbers[i], own.total("x", i), weight) for i in block.places]
    sums = np.stack([_pairs(column.x).T for column in columns], axis=2)
    texts = sorted({text for text, _ in keys})
    pattern = np.array([texts.index(text) for text, _ in keys], np.intp)
    pooled = block.pooled and not by_group
    home, m = (pattern, len(texts)) if pooled else (np.arange(g), g)
    products = np.zeros((m, 2, d, d))
    for a, i in enumerate(block.places):
        for b, j in enumerate(block.places[a:], start=a):
            both = _product(own.total("xx", i, j), columns[a], columns[b], weight)
            products[:, :, a, b] = _pairs(both.by(home, m)).T
    patterns = np.array([[mark == "1" for mark in text] for text in texts], bool).reshape(-1, d)
    pivot = np.stack([column.pivot for column in columns], axis=1)
    pivot = np.where(patterns[pattern], pivot, 0.0)
    tally = np.zeros((g if plan.weight is None else 0, 3), np.int64)
    if plan.weight is None:
        tally[:, 0] = weight.values.astype(np.int64)
    code = np.array([c for _, c in keys], np.intp)
    groups = patterns, pattern, code, _pairs(weight).T.copy()
    return Comoments(rows.k, pooled, *groups, pivot, sums, home, products, tally).canonical()


MAKERS = {"moments": _moments, "outcomes": _outcomes, "counts": _counts, "joint": _comoments}


def _labels(answer: Answer, label: str) -> tuple[NDArray[np.intp], Vocabulary]:
    """Return the class of every row of an answer, (r,), −1 of those without a label."""
    cells = answer.key.column(label).combine_chunks()
    try:
        found = encode(pa.record_batch({label: cells}), Layout((), (), label=label))
    except BadCell as bad:
        raise DataError(f"column {label!r}: {bad.value!r}", bad.rule, bad.next_step) from None
    classes = Vocabulary.of(found.classes.values)
    warn_of_alike(classes.values)
    place = np.append(classes.index(found.classes.values, -1), -1)
    return place[found.codes], classes


def _put_together(asked: Blocks, answer: Answer, reader: Any, call: Call) -> tuple[Any, Keys, Any]:
    """Return the reader, keys and sums of an answer, as those of a table are."""
    r = answer.key.num_rows
    keys, group = Keys.none(), np.zeros(r, np.intp)
    if call.by:
        cells = {name: key_cells(name, answer.key.column(name)) for name in call.by}
        first, group = distinct(list(cells.values()))
        keys = Keys.of({name: column.take(pa.array(first)) for name, column in cells.items()})
    codes, classes = np.zeros(r, np.intp), Vocabulary((0,))
    if call.label is not None:
        codes, classes = _labels(answer, call.label)
    g, m = len(keys), len(classes)
    is_counted = np.array([column is not None for column in answer.column(sql.COLUMN)], bool)
    every = Placed(answer, group * m + codes, g * m)
    numbers, counted = every.take((codes >= 0) & ~is_counted), every.take((codes >= 0) & is_counted)
    blocks = tuple(
        MAKERS[block.kind](counted if block.kind == "counts" else numbers, block, bool(call.by))
        for block in asked
    )
    sums: Any = blocks[0]
    if call.label is not None:
        rest = Placed(answer, group, g).take((codes < 0) & ~is_counted)
        left, weight = DoubleDouble(*_pairs(rest.weight)), DoubleDouble(*_pairs(numbers.weight))
        if call.by:
            weight = DoubleDouble(weight.hi.reshape(g, m), weight.lo.reshape(g, m))
            sums = ClassesByGroup(classes, weight, left, blocks).pruned().canonical()
        else:
            sums = ByClass(classes, weight, left[0], blocks).pruned().canonical()
    if call.by:
        return reader, keys, sums
    learnt = reader.narrowed(sums)  # without the terms of values that no row has
    (statistic,) = learnt.batches
    return learnt.reader, keys, statistic
