"""Sums that a database makes: what an estimator needs of a query, as one SELECT, and its answer.

The first statements say what the columns are, as the first rows of a table do: their types, and
those of their cells that decide something, such as the smallest and the largest. A table of these
cells is opened and read in the place of the rows; so columns are of the same kinds, and what breaks
a rule is refused in the same words. Then the sums are asked for, see `suffice.data.sliced_sql`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from math import frexp, ldexp
from typing import Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from suffice.data.databases import Query
from suffice.data.encode import encode
from suffice.data.frames.memory import FramePart, FrameTable
from suffice.data.python_cells import warn_of_alike
from suffice.data.schema import Layout, stored_as
from suffice.data.sliced_sql import (
    BITS,
    COLUMN,
    MADE_BY,
    MOST_SLICES,
    PATTERN,
    ROWS,
    SPOKEN,
    VALUE,
    WEIGHTED_BITS,
    Answer,
    Number,
    Plan,
    Total,
    bare,
    column_of,
    literal,
    number_of,
    quoted,
)
from suffice.errors import DataError, ParameterError, SchemaError
from suffice.families.options import check_boolean
from suffice.models.base.options import incomplete, listed_missing
from suffice.models.design.matrix import Design
from suffice.numerics.exact import DoubleDouble
from suffice.sums.batch import Batch
from suffice.sums.block import HELD, HELD_RULE, BadCell, CodedBlock, RealBlock
from suffice.sums.by_class import ByClass, ClassesByGroup
from suffice.sums.comoments import Comoments
from suffice.sums.counts import Counts
from suffice.sums.keys import Keys, distinct, key_cells
from suffice.sums.moments import Moments
from suffice.sums.vocabulary import FALSE_TRUE, Vocabulary

DIGITS = 53  # of a double
DECLARED = {"number": (40, -80), "whole": (60, 0)}  # below 2^40 in units of 2^-80, or below 2^60
KINDS: Mapping[str, pa.DataType] = {
    "number": pa.float64(),
    "whole": pa.int64(),
    "boolean": pa.bool_(),
    "category": pa.string(),
}
"""What a column may be said to be, and its type."""
EXAMPLES: Mapping[str, tuple[Any, ...]] = {
    "number": (2.0, 5.0),
    "whole": (2, 5),
    "boolean": (False, True),
    "category": ("a", "b"),
}
ROWS_INSTEAD = "read the rows: leave where out"


class Opened(Protocol):
    """A table that an estimator has opened; see `suffice.models.estimator.Opened`."""

    @property
    def method(self) -> Any: ...

    @property
    def reader(self) -> Any: ...

    @property
    def rows(self) -> Any: ...

    def sums(self) -> Any:
        """Return the sums over its rows."""
        ...


Open = Callable[[pa.Table], Opened]


@dataclass(frozen=True)
class Facts:
    """What is known of a column.

    Parameters
    ----------
    name : str
    type : pyarrow.DataType
    cells, others : tuple
        Cells of the rows that count, and of those without a label or weight, that decide what the
        column is: all values of a category; the least and the largest number, a fraction and a 0.
    bounds : (int, int), optional
        e and u, if its numbers are below 2^e and multiples of 2^u.
    missing : int
        How many cells of the rows that count are missing.
    middle : float
        A number near the others.
    nan : bool
        Whether there may be NaN.
    listed : bool
        Whether the cells of a category are all its values.
    """

    name: str
    type: pa.DataType
    cells: tuple[Any, ...]
    others: tuple[Any, ...] = ()
    bounds: tuple[int, int] | None = None
    missing: int = 0
    middle: float = 0.0
    nan: bool = True
    listed: bool = True

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
    """A query, and what is known of its columns.

    Parameters
    ----------
    query, dialect : str
    columns : mapping of str to Facts
        All but the keys.
    label, weight : str, optional
    keys : tuple of str
    exact : bool
    made_by : str
        See `Plan`.
    """

    query: str
    dialect: str
    columns: Mapping[str, Facts]
    label: str | None = None
    weight: str | None = None
    keys: tuple[str, ...] = ()
    exact: bool = True
    made_by: str = ""

    @property
    def table(self) -> Examples:
        """Return a table of the cells that decide what columns are."""
        counted = max([2, *(len(facts.cells) for facts in self.columns.values())])
        others = max([0, *(len(facts.others) for facts in self.columns.values())])
        if self.label is None and self.weight is None:
            others = 0
        columns = {}
        for name, facts in self.columns.items():
            cells, more = facts.cells or (None,), facts.others or (None,)
            if name == self.label:
                more = (None,)
            if name == self.weight and self.label is None:
                more = (0,)
            found = [*islice(cycle(cells), counted), *islice(cycle(more), others)]
            columns[name] = pa.array(found, facts.type)
        return Examples(pa.table(columns))

    def number(self, name: str) -> Number:
        """Return the numbers of a column, cut where it has to be."""
        facts = self.columns[name]
        cell = number_of(name, facts.type, self.dialect, facts.nan)
        if cell is None or facts.bounds is None:
            raise SchemaError(
                f"column {name!r} holds {facts.type}",
                "in a database, numbers are integers, decimals, doubles, booleans, dates and "
                "timestamps",
                "cast it in the query",
            )
        if pa.types.is_boolean(facts.type):
            return Number(cell, self.bits, 1, whole=True, known=True)
        if not self.exact:
            return Number(cell, 0, 0, origin=facts.middle)
        top, unit = facts.bounds
        slices = max(1, -((unit - top) // self.bits))
        if slices > MOST_SLICES:
            raise DataError(
                f"column {name!r} has numbers of 2^{top - 1} and others with digits of 2^{unit}",
                f"sums in a database are exact within {MOST_SLICES * self.bits} binary digits here",
                "round the column in the query, use exact=False, or " + ROWS_INSTEAD,
            )
        return Number(cell, unit + slices * self.bits, slices, slices == 1 and unit == 0)

    @property
    def bits(self) -> int:
        """Return the bits of a slice."""
        return BITS if self.weight is None else WEIGHTED_BITS


# -- what the columns are


def described(
    query: Query,
    database: str,
    ask: Callable[[str], pa.Table],
    label: str | None,
    weight: str | None,
    keys: tuple[str, ...],
    exact: bool,
) -> Described:
    """Ask what the columns of a query are."""
    found = Described(query.text, database, {}, label, weight, keys, exact)
    types = _types(found, ask)
    for role, names in (("label", [label]), ("weight", [weight]), ("key", keys)):
        for name in names:
            if name is not None and name not in types:
                raise SchemaError(
                    f"there is no column {name!r} to be the {role}",
                    f"the columns are {', '.join(map(repr, types))}",
                )
    types = {name: kind for name, kind in types.items() if name not in keys}
    types = {
        name: pa.float64() if pa.types.is_decimal(kind) else kind for name, kind in types.items()
    }
    columns = {name: Facts(name, kind, ()) for name, kind in types.items()}
    found = _looked(replace(found, columns=columns), ask)
    columns = dict(found.columns)
    if label is not None and columns[label].is_text:
        columns[label] = replace(columns[label], cells=EXAMPLES["category"])
    texts = [name for name, facts in columns.items() if facts.is_text and name != label]
    return _with_values(replace(found, columns=columns), ask, texts)


def _types(found: Described, ask: Callable[[str], pa.Table]) -> dict[str, pa.DataType]:
    """Ask for the types of all columns; SQLite has those of cells."""
    nothing = ask(f"SELECT * FROM (\n{bare(found.query)}\n) AS {ROWS} LIMIT 0")
    if found.dialect != "sqlite":
        return {
            one.name: one.type.value_type if pa.types.is_dictionary(one.type) else one.type
            for one in nothing.schema
        }
    kinds = ("integer", "real", "text", "blob")
    counts = [
        f"SUM(TYPEOF({quoted(name)}) = '{kind}') AS t{j}_{kind}"
        for j, name in enumerate(nothing.schema.names)
        for kind in kinds
    ]
    (row,) = ask(_around(found, f"SELECT {', '.join(counts)} FROM {ROWS}")).to_pylist()
    types = {}
    for j, name in enumerate(nothing.schema.names):
        shown = {kind for kind in kinds if row[f"t{j}_{kind}"]}
        if len(shown) > 1 and shown != {"integer", "real"}:
            raise SchemaError(
                f"column {name!r} holds {' and '.join(sorted(shown))}",
                "a column holds numbers or text",
                f"cast it in the query: CAST({name} AS ...)",
            )
        types[name] = {
            "real": pa.float64(),
            "integer": pa.int64(),
            "text": pa.string(),
            "blob": pa.binary(),
        }.get("real" if "real" in shown else next(iter(shown), ""), pa.null())
    return types


def _around(found: Described, select: str, *tables: tuple[str, str]) -> str:
    every = [(ROWS, bare(found.query)), *tables]
    before = ",\n".join(f"{name} AS NOT MATERIALIZED (\n{text}\n)" for name, text in every)
    return f"WITH {before}\n{select}"


def _cells(found: Described) -> tuple[str, str]:
    """Return the table of all cells, and of which rows count: a label, and a weight above 0."""
    dialect, conditions = found.dialect, []
    cells = []
    for j, (name, facts) in enumerate(found.columns.items()):
        number = number_of(name, facts.type, dialect)
        if name in (found.label, found.weight):
            conditions.append(
                f"{number or quoted(name)} {'> 0' if name == found.weight else 'IS NOT NULL'}"
            )
        cells.append(f"{column_of(name, dialect)} AS c{j}")
        cells += [f"{number} AS v{j}"] if number is not None else []
    counts = " AND ".join(conditions)
    cells.append(f"CASE WHEN {counts} THEN 1 ELSE 0 END AS counted" if counts else "1 AS counted")
    return "suffice_cells", f"SELECT {', '.join(cells)} FROM {ROWS}"


def _looked(found: Described, ask: Callable[[str], pa.Table]) -> Described:
    """Look at the least and the largest cells of every column, and count the missing ones."""
    asked = ["counted", "COUNT(*) AS n"]
    for j, (name, facts) in enumerate(found.columns.items()):
        kind = stored_as(facts.type)
        if number_of(name, facts.type, found.dialect) is None or kind == "boolean":
            asked.append(f"COUNT(c{j}) AS n{j}")
            continue
        cell = "v" if kind == "number" else "c"
        asked += [f"COUNT(v{j}) AS n{j}", f"MIN({cell}{j}) AS low{j}", f"MAX({cell}{j}) AS high{j}"]
        if kind != "integer":
            asked.append(f"COUNT(c{j}) AS all{j}")
            asked.append(f"MIN(CASE WHEN v{j} <> ROUND(v{j}) THEN ABS(v{j}) END) AS part{j}")
        if kind == "time":
            asked.append(f"MAX(ABS(v{j})) AS most{j}")
        if not found.exact:
            asked.append(f"AVG(v{j}) AS middle{j}")
    select = f"SELECT {', '.join(asked)} FROM suffice_cells GROUP BY counted"
    answer = ask(_around(found, select, _cells(found))).to_pylist()
    rows = {row["counted"]: row for row in answer}
    columns = {}
    for j, (name, facts) in enumerate(found.columns.items()):
        columns[name] = _fact(facts, [rows.get(counted, {}) for counted in (1, 0)], j)
    return _with_zeros(replace(found, columns=columns), ask)


def _fact(facts: Facts, rows: Sequence[Mapping[str, Any]], j: int) -> Facts:
    """Return what the rows that count, and the others, say of a column."""
    of_some = rows[0]
    missing = of_some.get("n", 0) - of_some.get(f"n{j}", 0)
    nan = any(row.get(f"all{j}", 0) > row[f"n{j}"] for row in rows if row)
    facts = replace(facts, missing=missing, nan=nan)
    kind = stored_as(facts.type)
    if kind == "boolean":
        return replace(facts, cells=(False, True), bounds=(1, 0))
    if f"n{j}" not in of_some or f"low{j}" not in of_some:
        return replace(facts, bounds=(1, 0) if kind in ("integer", "number") else None)
    names = ("low", "high", "part") if kind == "number" else ("low", "high")
    cells, others = (
        tuple(dict.fromkeys(c for c in (row.get(f"{n}{j}") for n in names) if c is not None))
        for row in rows
    )
    facts = replace(facts, cells=cells, others=others, middle=of_some.get(f"middle{j}") or 0.0)
    most: Any = of_some.get(f"most{j}") if kind == "time" else max(map(abs, cells), default=0)
    if kind == "integer" and most > HELD:
        fact = f"column {facts.name!r}: {most}"
        raise DataError(fact, HELD_RULE, f"cast it in the query: CAST({facts.name} AS text)")
    part, most = of_some.get(f"part{j}"), float(most or 0)
    if not np.isfinite(most):
        return replace(facts, bounds=(1, 0))  # it is refused where the column is read
    unit = 0 if part is None else min(0, frexp(part)[1] - DIGITS)
    return replace(facts, bounds=(max(1, unit + 1, frexp(most)[1]), unit))


def _with_zeros(found: Described, ask: Callable[[str], pa.Table]) -> Described:
    """Ask whether columns hold a 0 that hold −1 and 1: these are outcomes if there is none."""
    ends = ((j, name, facts) for j, (name, facts) in enumerate(found.columns.items()))
    doubtful = [(j, name) for j, name, facts in ends if {*facts.cells, *facts.others} == {-1, 1}]
    columns = dict(found.columns)
    for j, name in doubtful:
        select = f"SELECT COUNT(*) AS n FROM suffice_cells WHERE v{j} = 0"
        (row,) = ask(_around(found, select, _cells(found))).to_pylist()
        if row["n"]:
            cells = columns[name].cells
            columns[name] = replace(columns[name], cells=(*cells, 0))
    return replace(found, columns=columns)


def _with_values(
    found: Described, ask: Callable[[str], pa.Table], names: Sequence[str]
) -> Described:
    """Ask for the values of columns that are categories."""
    places = [j for j, name in enumerate(found.columns) if name in names]
    if not places:
        return found
    own_type = found.dialect == "sqlite"
    selects = [
        f"SELECT {j} AS j, counted, {f'c{j}' if own_type else f'CAST(c{j} AS VARCHAR)'} AS cell, "
        f"COUNT(*) AS n FROM suffice_cells WHERE c{j} IS NOT NULL GROUP BY counted, c{j}"
        for j in places
    ]
    answer = ask(_around(found, "\nUNION ALL\n".join(selects), _cells(found))).to_pylist()
    columns = dict(found.columns)
    for j in places:
        name = list(columns)[j]
        facts = columns[name]
        read = value_of(facts.type)
        own = [(row["counted"], read(row["cell"]), row["n"]) for row in answer if row["j"] == j]
        cells, others = ([value for side, value, _ in own if side == s] for s in (1, 0))
        if facts.is_text and not _is_running_text([(value, n) for _, value, n in own]):
            cells, others = cells * 2, others * 2  # words that come again are no running text
        absent = (None,) if facts.missing and found.label is not None else ()
        columns[name] = replace(facts, cells=(*cells, *absent), others=tuple(others))
    return replace(found, columns=columns)


def _is_running_text(values: Sequence[tuple[str, int]]) -> bool:
    """Return whether most cells differ, and are of many words."""
    rows = sum(n for _, n in values)
    words = sum(n * len(value.split()) for value, n in values)
    return 2 * len(values) > rows and words >= 4 * rows


def value_of(kind: pa.DataType) -> Callable[[Any], Any]:
    """Return what makes the values of a type of cells that came as text, or as they are."""
    stored = stored_as(kind)
    if stored == "boolean":
        return lambda cell: cell if isinstance(cell, bool) else cell in ("true", "t", "1", 1)
    return {"integer": int, "number": float}.get(stored or "", str)


# -- what an estimator needs of them


class Block(NamedTuple):
    """What one statistic is made of: places among the numbers or categories of a plan."""

    kind: str  # "moments", "outcomes", "counts" or "joint"
    places: tuple[int, ...]
    pooled: bool = False


@dataclass
class Needs:
    """Collects what the blocks of an estimator need, number by number."""

    found: Described
    cooked: Mapping[str, Mapping[Any, Any]]  # what the strings of a column are read as
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
        facts, dialect = self.found.columns[name], self.found.dialect
        cell = number_of(name, facts.type, dialect)
        if name in self.cooked or cell is None or pa.types.is_boolean(facts.type):
            return self.number(name)
        if threshold is not None:
            bound = literal(float(threshold), dialect)
            cases = f"CASE WHEN {cell} > {bound} THEN 1 WHEN {cell} <= {bound} THEN 0 END"
        else:
            cases = f"CASE {cell} WHEN 1 THEN 1 WHEN {low:.0f} THEN 0 END"
            self.allowed.append(f"{cell} IS NULL OR {cell} IN ({low:.0f}, 1)")
        return self._added(self._of_two(cases))

    def indicator(
        self, name: str, ones: Sequence[Any], zeros: Sequence[Any], missing: int | None = None
    ) -> int:
        """Add 1 for some values of a category, 0 for others, and what a missing cell is."""
        column = column_of(name, self.found.dialect)
        cases = [f"WHEN {column} IS NULL THEN {missing}"] if missing is not None else []
        for outcome, values in ((1, ones), (0, zeros)):
            cells = self._literals(name, values)
            cases += [f"WHEN {column} IN ({cells}) THEN {outcome}"] if cells else []
        return self._added(self._of_two(f"CASE {' '.join(cases or ['WHEN FALSE THEN 0'])} END"))

    def known(self, name: str, values: Sequence[Any]) -> None:
        """Note which values a category may have."""
        column, cells = column_of(name, self.found.dialect), self._literals(name, values)
        self.allowed.append(f"{column} IS NULL" + (f" OR {column} IN ({cells})" if cells else ""))

    def _literals(self, name: str, values: Sequence[Any]) -> str:
        raw = self.cooked.get(name)
        if raw is not None:
            values = [cell for cell, read in raw.items() if read in values and read is not None]
        return ", ".join(literal(value, self.found.dialect) for value in values)

    def _of_two(self, cell: str) -> Number:
        return Number(cell, self.found.bits, 1, whole=True, known=True)

    def _added(self, number: Number) -> int:
        if number not in self.numbers:
            self.numbers.append(number)
        return self.numbers.index(number)


class Asked(NamedTuple):
    """A plan, and the blocks that its answer is put together to."""

    plan: Plan
    blocks: tuple[Block, ...]


def needed(found: Described, opened: Opened, estimator: Any) -> Asked:
    """Return what the sums of an estimator need.

    Raises
    ------
    ParameterError
        If these sums cannot be made in a database.
    """
    name = type(estimator).__name__
    if not opened.method.is_of_sums:
        raise _unmade(name, "it needs rows, for bins of densities, weights or pairs of columns")
    reader, template = opened.reader, opened.sums()
    needs = Needs(found, _cooked(found, opened, name))
    if isinstance(template, ByClass):
        pairs = zip(reader.parts, template.blocks, strict=True)
        blocks = tuple(_block(needs, part, block, reader, name) for part, block in pairs)
    else:
        blocks = (_joint(needs, reader.design, reader.design.targets, template, name),)
    joint = [block for block in blocks if block.kind == "joint"]
    if len(joint) > 1:
        raise _unmade(name, "rows are grouped by the missing cells of one Gaussian at a time")
    squares = {i for block in blocks if block.kind == "moments" for i in block.places}
    plan = Plan(
        found.query,
        found.dialect,
        found.label,
        found.keys,
        None if found.weight is None else found.number(found.weight),
        tuple(needs.numbers),
        tuple(sorted(squares)),
        joint[0].places if joint else (),
        tuple(needs.counted),
        tuple(dict.fromkeys(needs.allowed)),
        bool(found.made_by) or any(facts.missing for facts in found.columns.values()),
        found.made_by,
    )
    return Asked(plan, blocks)


def _unmade(name: str, reason: str) -> ParameterError:
    return ParameterError(f"{name} and sums in a database: {reason}", "", ROWS_INSTEAD)


def _cooked(found: Described, opened: Opened, name: str) -> dict[str, dict[Any, Any]]:
    """Return what strings are read as that spell something else: true and false."""
    shown = opened.rows.table.shown.schema
    texts = [
        facts.name
        for facts in found.columns.values()
        if facts.is_text and facts.name != found.label and facts.name in shown.names
    ]
    cooked = {}
    for text in texts:
        kind = stored_as(shown.field(text).type)
        if kind == "string":
            continue
        if kind != "boolean":
            raise SchemaError(
                f"column {text!r} holds {'dates' if kind == 'time' else 'numbers'} as text",
                "a database sums what it stores as numbers",
                f"cast it in the query: CAST({text} AS ...)",
            )
        parts = opened.rows.table.parts({text: None})
        cells = [c for part in parts for batch in part.record_batches() for c in batch.column(0)]
        raw = found.table.table.column(text).to_pylist()
        cooked[text] = {a: b.as_py() for a, b in zip(raw, cells, strict=True) if a is not None}
    return cooked


def _block(needs: Needs, part: Any, template: Any, reader: Any, name: str) -> Block:
    """Return what a block of a generative classifier needs."""
    layout = reader.layout
    if type(template) is Comoments:
        if part.design is not None:
            return _joint(needs, part.design, (), template, name)
        places = tuple(map(needs.number, part.layout.columns))
        return Block("joint", places, template.pooled)
    if type(template) is Moments:
        return Block("moments", tuple(map(needs.number, part.layout.columns)))
    if type(template) is not Counts or part.design is not None:
        raise _unmade(
            name,
            f"{part.family} of {', '.join(map(repr, part.layout.columns))} needs more than sums of "
            "numbers and their products, and counts of values",
        )
    if part.layout.encoding in ("binary", "outcome"):
        lows = layout.lows(part.layout)
        columns = zip(part.layout.columns, lows.tolist(), strict=True)
        return Block(
            "outcomes", tuple(needs.outcome(c, low, layout.threshold) for c, low in columns)
        )
    first = len(needs.counted)
    needs.counted += part.layout.columns
    return Block("counts", tuple(range(first, len(needs.counted))))


def _joint(needs: Needs, design: Design, targets: Sequence[str], template: Any, name: str) -> Block:
    """Return what the products of the terms of a design need."""
    if type(template) is not Comoments:
        raise _unmade(name, f"it needs {type(template).__name__}, more than products of columns")
    if design.formula is not None or design.words or design.bins:
        raise _unmade(name, "its terms are computed from rows by a formula, or are words")
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
                f"{name} has a term for each value, and the SELECT names them",
                f"list the values: columns={{{column!r}: [...]}}",
            )
        needs.known(column, values)
        cells = _terms_of(design, column)
        for place, term in zip(at.tolist(), cells.T, strict=True):
            ones, zeros = (
                [v for v, t in zip(values, term, strict=False) if t == s] for s in (1, 0)
            )
            missing = None if np.isnan(term[-1]) else int(term[-1])
            places[place] = needs.indicator(column, ones, zeros, missing)
    return Block(
        "joint", (*places.tolist(), *(needs.number(target) for target in targets)), template.pooled
    )


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


def _require_complete(answer: Answer, asked: Asked, opened: Opened, estimator: Any) -> None:
    """Refuse missing cells where a linear model needs all of them."""
    design = getattr(opened.reader, "design", None)
    if design is None or getattr(estimator, "incomplete", "") != "error":
        return
    names = [*(design.column(place) for place in range(len(design))), *design.targets]
    counts = dict.fromkeys(names, 0)
    for text, rows in zip(answer.column(PATTERN), answer.rows.values, strict=True):
        lacking = {name for name, mark in zip(names, text or "", strict=False) if mark == "0"}
        for name in lacking:
            counts[name] += rows
    missing = {name: str(count) for name, count in counts.items() if count}
    if missing:
        raise incomplete(listed_missing(missing), "incomplete='gaussian'")


# -- sums of an answer


def _pairs(total: Total) -> NDArray[np.float64]:
    """Return pairs of doubles of whole numbers times a power of 2, (2, ...)."""
    if total.power is None:
        return np.stack([total.values.astype(np.float64), np.zeros(total.values.shape)])
    found = [_pair(int(n), total.power) for n in total.values.flat]
    return (
        np.array(found).reshape((*total.values.shape, 2)).transpose(-1, *range(total.values.ndim))
    )


def _pair(n: int, power: int) -> tuple[float, float]:
    """Return the double nearest to n 2^power, and what is left of it.

    Examples
    --------
    >>> _pair(2**60 + 1, -60) == (1.0, 2.0**-60)
    True
    """
    top = max(0, n.bit_length() - 1000)  # beyond, no double would hold the number
    unit = 1 << max(0, top)
    high = n / unit
    left = n - int(high) * unit if abs(high) >= 2.0**DIGITS else 0
    return ldexp(high, power + top), ldexp(left / unit, power + top)


def _pivots(x: Total, weight: Total) -> NDArray[np.object_]:
    """Return numbers near Σwx / Σw that doubles hold, in units of x over those of the weight."""
    found = np.zeros(len(x.values), object)
    for g, (total, w) in enumerate(zip(x.values, weight.values, strict=True)):
        mean = int(total) // int(w) if w else 0
        cut = max(0, abs(mean).bit_length() - DIGITS)
        found[g] = (mean >> cut) << cut
    return found


class Centred(NamedTuple):
    """Sums of a column about pivots: as doubles, and as whole numbers for its products."""

    pivot: NDArray[np.float64]
    whole: NDArray[np.object_]
    x: Total


def _centred(number: Number, x: Total, weight: Total) -> Centred:
    if x.power is None:
        return Centred(
            np.where(weight.values > 0, number.origin, 0.0), np.zeros(len(x.values), object), x
        )
    assert weight.power is not None
    pivots = _pivots(x, weight)
    doubles = np.array([ldexp(int(p), x.power - weight.power) for p in pivots], np.float64)
    return Centred(doubles, pivots, x._replace(values=x.values - pivots * weight.values))


def _product(xx: Total, one: Centred, other: Centred, weight: Total) -> Total:
    """Return Σw(x − p)(y − q) = Σwxy − pΣw(y − q) − qΣw(x − p) − pqΣw."""
    if xx.power is None:
        return xx
    p, q = one.whole, other.whole
    left = p * other.x.values + q * one.x.values + p * q * weight.values
    return xx._replace(values=xx.values - left)


def _moments(answer: Answer, plan: Plan, block: Block, place: NDArray[np.intp], k: int) -> Moments:
    d = len(block.places)
    weight, pivot, sums = np.zeros((k, 2, d)), np.zeros((k, d)), np.zeros((k, 4, d))
    for j, i in enumerate(block.places):
        own = answer.total("n", i).by(place, k)
        column = _centred(plan.numbers[i], answer.total("x", i).by(place, k), own)
        square = _product(answer.total("xx", i, i).by(place, k), column, column, own)
        weight[:, :, j], pivot[:, j] = _pairs(own).T, column.pivot
        sums[:, :2, j], sums[:, 2:, j] = _pairs(column.x).T, _pairs(square).T
        if square.power is None:
            sums[:, 2, j] = np.maximum(sums[:, 2, j], _least(sums[:, 0, j], weight[:, 0, j]))
    return Moments(weight, pivot, sums).canonical()


def _least(x: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (Σwx)²/Σw, which is no more than Σwx² but for rounding."""
    return np.asarray(np.divide(x**2, weight, out=np.zeros_like(x), where=weight > 0))


def _outcomes(answer: Answer, block: Block, place: NDArray[np.intp], k: int) -> Counts:
    counts = np.zeros((2, k, 2 * len(block.places)))
    for j, i in enumerate(block.places):
        every, ones = (answer.total(what, i).by(place, k) for what in ("n", "x"))
        counts[:, :, 2 * j] = _pairs(every._replace(values=every.values - ones.values))
        counts[:, :, 2 * j + 1] = _pairs(ones)
    return Counts((FALSE_TRUE,) * len(block.places), DoubleDouble(*counts))


def _counts(
    answer: Answer, plan: Plan, found: Described, block: Block, place: NDArray[np.intp], k: int
) -> Counts:
    columns, values = np.array(answer.column(COLUMN), object), answer.column(VALUE)
    vocabularies, counts = [], []
    for j in block.places:
        read = value_of(found.columns[plan.counted[j]].type)
        rows = np.flatnonzero(columns == j)
        cells = [read(values[row]) for row in rows]
        vocabulary = Vocabulary.of(cells)
        m = len(vocabulary)
        total = answer.take(rows).weight.by(place[rows] * m + vocabulary.index(cells, -1), k * m)
        counts.append(_pairs(total).reshape(2, k, m))
        vocabularies.append(vocabulary)
    return Counts(tuple(vocabularies), DoubleDouble(*np.concatenate(counts, axis=2))).pruned()


def _comoments(
    answer: Answer, plan: Plan, block: Block, place: NDArray[np.intp], k: int, pooled: bool
) -> Comoments:
    d = len(block.places)
    marks = [text or "1" * d for text in answer.column(PATTERN)]
    cells = [(text, c) for text, c in zip(marks, place.tolist(), strict=True)]
    keys = sorted({key for key in cells if "1" in key[0]})
    of_key = {key: g for g, key in enumerate(keys)}
    some = np.array([row for row, key in enumerate(cells) if key in of_key], np.intp)
    at = np.array([of_key[cells[row]] for row in some], np.intp)
    answer, g = answer.take(some), len(keys)
    weight = answer.weight.by(at, g)
    columns = [
        _centred(plan.numbers[i], answer.total("x", i).by(at, g), weight) for i in block.places
    ]
    sums = np.stack([_pairs(column.x).T for column in columns], axis=2)
    texts = sorted({text for text, _ in keys})
    pattern = np.array([texts.index(text) for text, _ in keys], np.intp)
    home, m = (pattern, len(texts)) if pooled else (np.arange(g), g)
    products = np.zeros((m, 2, d, d))
    for a, i in enumerate(block.places):
        for b, j in enumerate(block.places[a:], start=a):
            both = answer.total("xx", i, j).by(at, g)
            own = _product(both, columns[a], columns[b], weight)
            products[:, :, a, b] = _pairs(own.by(home, m)).T
            if own.power is None and a == b:
                least = np.bincount(home, _least(sums[:, 0, a], _pairs(weight)[0]), m)
                products[:, 0, a, a] = np.maximum(products[:, 0, a, a], least)
    patterns = np.array([[mark == "1" for mark in text] for text in texts], bool).reshape(-1, d)
    pivot = np.stack([column.pivot for column in columns], axis=1)
    tally = np.zeros((g if plan.weight is None else 0, 3), np.int64)
    if plan.weight is None:
        tally[:, 0] = answer.rows.by(at, g).values.astype(np.int64)
    code = np.array([c for _, c in keys], np.intp)
    groups = patterns, pattern, code, _pairs(weight).T.copy()
    pivot = np.where(patterns[pattern], pivot, 0.0)
    return Comoments(k, pooled, *groups, pivot, sums, home, products, tally).canonical()


def _labels(answer: Answer, label: str) -> tuple[NDArray[np.intp], Vocabulary]:
    """Return the class of every row of an answer, (r,), −1 of those without a label."""
    cells = answer.groups[label].combine_chunks()
    batch = pa.record_batch({label: cells})
    try:
        found = encode(batch, Layout((), (), label=label))
    except BadCell as bad:
        raise DataError(f"column {label!r}: {bad.value!r}", bad.rule, bad.next_step) from None
    classes = Vocabulary.of(found.classes.values)
    warn_of_alike(classes.values)
    place = np.append(classes.index(found.classes.values, -1), -1)
    return place[found.codes], classes


class InDatabase(NamedTuple):
    """Sums that a database made.

    Parameters
    ----------
    reader : SumsReader
    keys : Keys
    sums : KeptSums
        With an axis of groups where there are keys.
    """

    reader: Any
    keys: Keys
    sums: Any


def _put_together(
    found: Described, asked: Asked, answer: Answer, opened: Opened, by: Sequence[str]
) -> InDatabase:
    """Return the sums of an answer, as those of a table are."""
    rows = len(answer.rows.values)
    keys, group = Keys.none(), np.zeros(rows, np.intp)
    if by:
        cells = {name: key_cells(name, answer.groups[name]) for name in by}
        first, group = distinct(list(cells.values()))
        keys = Keys.of({name: column.take(pa.array(first)) for name, column in cells.items()})
    codes, classes = np.zeros(rows, np.intp), Vocabulary((0,))
    if found.label is not None:
        codes, classes = _labels(answer, found.label)
    g, m = len(keys), len(classes)
    place = np.where(codes >= 0, group * m + codes, -1)
    is_number = np.array([column is None for column in answer.column(COLUMN)], bool)
    counted = np.flatnonzero((place >= 0) & ~is_number)
    summed = np.flatnonzero((place >= 0) & is_number)
    numbers, at = answer.take(summed), place[summed]
    blocks: list[Any] = []
    for block in asked.blocks:
        if block.kind == "moments":
            blocks.append(_moments(numbers, asked.plan, block, at, g * m))
        elif block.kind == "outcomes":
            blocks.append(_outcomes(numbers, block, at, g * m))
        elif block.kind == "joint":
            pooled = block.pooled and not by
            blocks.append(_comoments(numbers, asked.plan, block, at, g * m, pooled))
        else:
            values = answer.take(counted)
            blocks.append(_counts(values, asked.plan, found, block, place[counted], g * m))
    if found.label is None:
        return _narrowed(opened.reader, keys, blocks[0])
    rest = np.flatnonzero((place < 0) & is_number)
    left = DoubleDouble(*_pairs(answer.take(rest).weight.by(group[rest], g)))
    weight = DoubleDouble(*_pairs(numbers.weight.by(at, g * m)))
    if not by:
        sums: Any = ByClass(classes, weight, left[0], tuple(blocks)).pruned()
    else:
        hi, lo = weight.hi.reshape(g, m), weight.lo.reshape(g, m)
        sums = ClassesByGroup(classes, DoubleDouble(hi, lo), left, tuple(blocks)).pruned()
    return _narrowed(opened.reader, keys, sums.canonical())


def _narrowed(reader: Any, keys: Keys, sums: Any) -> InDatabase:
    """Leave out the terms of values that no row has; a SELECT may name more."""
    if not keys.names:
        learnt = reader.narrowed(sums)
        return InDatabase(learnt.reader, keys, learnt.statistic)
    return InDatabase(reader, keys, sums)


# -- what is asked by users


def sums_elsewhere(
    where: str,
    estimator: Any,
    query: Any,
    y: Any,
    weight: Any,
    by: Sequence[str],
    exact: bool,
    open_: Open,
) -> InDatabase:
    """Return the sums that an estimator needs of the rows of a query; no row is read.

    Parameters
    ----------
    where : {"database", "view"}
    estimator : FittedFromSums
    query : Query
    y : str or list of str
        The label, or the targets.
    weight : str, optional
    by : sequence of str
        The keys.
    exact : bool
        Whether numbers are cut, so that sums do not depend on the order of rows.
    open_ : callable
        Opens a table for the estimator.
    """
    check_boolean(exact=exact)
    if where == "database":
        return in_database(estimator, query, y, weight, by, exact, open_)
    if where == "view":
        return in_view(estimator, query, y, weight, by, open_)
    raise ParameterError(f"where={where!r}", "it is None, 'database' or 'view'")


def in_database(
    estimator: Any, query: Any, y: Any, weight: Any, by: Sequence[str], exact: bool, open_: Open
) -> InDatabase:
    """Ask for the sums of the rows of a query."""
    label = _checked(estimator, query, y, weight)
    with query.asking() as (database, ask):
        _require_spoken(database)
        found = described(query, database, ask, label, weight, tuple(by), exact)
        opened = open_(found.table)
        categories = [
            name for name in _categories(opened.reader) if not found.columns[name].is_text
        ]
        if categories:
            found = _with_values(found, ask, categories)
            opened = open_(found.table)
        asked = needed(found, opened, estimator)
        answer = asked.plan.answer(ask)
    _require_complete(answer, asked, opened, estimator)
    return _put_together(found, asked, answer, opened, by)


def in_view(
    estimator: Any, query: Any, y: Any, weight: Any, by: Sequence[str], open_: Open
) -> InDatabase:
    """Ask for the sums that a view of `suffice.sql_of_sums` holds."""
    _checked(estimator, query, y, weight)
    with query.asking() as (database, ask):
        text = bare(query.text)
        made_by = ask(f"SELECT DISTINCT {quoted(MADE_BY)} FROM (\n{text}\n) AS {ROWS}")
        found = _read(made_by.column(0).to_pylist(), database)
        asked_for = {"y": y, "sample_weight": weight}
        for name, given in asked_for.items():
            mine = found.weight if name == "sample_weight" else json.loads(found.made_by)["y"]
            if given != mine:
                raise ParameterError(f"{name}={given!r}", f"the view has {mine!r}")
        if not set(by) <= set(found.keys):
            raise ParameterError(f"by={list(by)!r}", f"the view is by {list(found.keys)!r}")
        names = ask(f"SELECT * FROM (\n{text}\n) AS {ROWS} LIMIT 0").column_names
        if found.label is not None:
            label = quoted(found.label)
            column = ask(f"SELECT DISTINCT {label} FROM (\n{text}\n) AS {ROWS}").column(0)
            cells = tuple(cell for cell in column.to_pylist() if cell is not None)
            facts = Facts(found.label, column.type, cells)
            found = replace(found, columns={**found.columns, found.label: facts})
        opened = open_(found.table)
        asked = needed(found, opened, estimator)
        if not {one.name for one in asked.plan.sums} <= set(names):
            raise ParameterError(
                f"the view has other sums than {type(estimator).__name__} needs",
                "it was made for another estimator, or other options",
                "make it with suffice.sql_of_sums of this one",
            )
        answer = asked.plan.read(ask(asked.plan.wrapped(text)))
    _require_complete(answer, asked, opened, estimator)
    return _put_together(found, asked, answer, opened, by)


def declared(
    query: str,
    dialect: str,
    columns: Sequence[str] | Mapping[str, Any],
    y: Any,
    weight: str | None,
    by: Sequence[str],
    is_classifier: bool,
) -> Described:
    """Return what is said of the columns of a query."""
    said = dict(columns) if isinstance(columns, Mapping) else dict.fromkeys(columns, "number")
    more = {} if weight is None else {weight: said.get(weight, "number")}
    if not is_classifier:
        more |= {name: said.get(name, "number") for name in ([y] if isinstance(y, str) else y)}
    said_of = (said | more).items()
    facts = {name: _said(name, kind, is_classifier) for name, kind in said_of if name not in by}
    if is_classifier:
        facts[y] = Facts(y, pa.string(), EXAMPLES["category"])
    of = {"columns": said, "y": y, "weight": weight, "by": [*by], "is_classifier": is_classifier}
    label = y if is_classifier else None
    keys = tuple(by)
    return Described(query, dialect, facts, label, weight, keys, True, json.dumps(of))


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
    bounds = DECLARED.get(kind, (1, 0) if kind == "boolean" else None)
    return Facts(name, KINDS[kind], EXAMPLES[kind], bounds=bounds, listed=kind != "category")


def _read(made_by: Sequence[Any], database: str) -> Described:
    """Return what a view was made by."""
    _require_spoken(database)
    if len(made_by) != 1:
        raise DataError(
            "the view has no rows" if not made_by else "the rows are of several views",
            "sums are those of one SELECT of suffice.sql_of_sums",
            "add rows to the table" if not made_by else "name one view",
        )
    try:
        said = json.loads(made_by[0])
        columns, y, weight, by = (said[name] for name in ("columns", "y", "weight", "by"))
        is_classifier = bool(said["is_classifier"])
    except (ValueError, TypeError, KeyError):
        raise DataError(
            f"the view was made by {made_by[0]!r}", "it is none of sql_of_sums"
        ) from None
    return declared("", database, columns, y, weight, by, is_classifier)


def is_classifier(estimator: Any) -> bool:
    return "ClassifierMixin" in estimator.kind.mixins


def _checked(estimator: Any, query: Any, y: Any, weight: Any) -> str | None:
    """Return the label; refuse what is no query, and labels and weights that are no columns."""
    if not isinstance(query, Query):
        raise ParameterError(
            f"X is a {type(query).__name__}",
            "a database makes the sums of a query",
            "pass suffice.read_sql(query, connection)",
        )
    names = [y] if isinstance(y, str) or is_classifier(estimator) else (y or [None])
    for option, name in (*(("y", name) for name in names), ("sample_weight", weight)):
        if not (isinstance(name, str) or (name is None and option == "sample_weight")):
            raise ParameterError(f"{option}={name!r}", "in a database it is the name of a column")
    return y if is_classifier(estimator) else None


def _require_spoken(database: str) -> None:
    if database not in SPOKEN:
        raise ParameterError(
            f"the database is {database or 'unknown'}",
            f"sums are asked of {', '.join(SPOKEN)}",
            "run the SELECT of suffice.sql_of_sums yourself, or " + ROWS_INSTEAD,
        )


def _categories(reader: Any) -> list[str]:
    """Return the columns that are read as categories."""
    parts = getattr(reader, "parts", ())
    blocks = [part.layout for part in parts if part.layout.encoding == "category"]
    designs = [part.design for part in parts if part.design is not None]
    designs += [reader.design] if hasattr(reader, "design") else []
    names = [name for block in blocks for name in block.columns]
    return [*names, *(name for design in designs for name in design.categories)]
