"""SQL: one SELECT with every probability and the label.

::

    cells    every column that the model reads, as a number or as it is
    step0    its bin in a histogram, or its place among values, found once for all classes
    step1    and more of pairs, and of Gaussians of rows that lack cells
    scores   s_c = log P(c) + Σ_j log p(x_j | c)
    maxima   m = max_c s_c
    weights  w_c = exp(s_c − m)
    answer   P(c | x) = w_c / Σ w

A missing cell is NULL, or NaN in a column of numbers. Where a row gets no answer in Python, its
probabilities are NULL.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, zip_longest
from math import inf, isnan, nan
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.errors import ParameterError, library
from suffice.export import expressions as ex
from suffice.export.log_joint_terms import check_gaps, log_joint, refusing_null
from suffice.families.multivariate_gaussian import LOG_2PI

IMPOSSIBLE = -1e300  # stands for log 0, as not every database has an infinity
SUBSTITUTING = ("spark", "spark2", "databricks", "hive")
NEVER = "-1e290"  # a maximum below: the row is impossible under every class
FAINT = "-708e0"  # exp of less underflows, which PostgreSQL refuses
OF_DAY = ("duckdb", "sqlite", "postgres", "redshift", "materialize", "risingwave")
DATED = (*OF_DAY, "trino", "presto", "athena", "mysql", "spark", "databricks", "bigquery")
DAY, CLOCK = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*", "[0-9][0-9]:[0-9][0-9]*"
MICROSECONDS = {
    "duckdb": "EPOCH_US({})",
    "mysql": "TIMESTAMP_DIFF({}, '1970-01-01', MICROSECOND)",
    "spark": "UNIX_MICROS(CAST({} AS TIMESTAMP))",
    "databricks": "UNIX_MICROS(CAST({} AS TIMESTAMPTZ))",
    "bigquery": "UNIX_MICROS(CAST({} AS TIMESTAMPTZ))",
}
YEAR_2000 = 946_684_800.0  # in seconds since 1970-01-01: the day of a time of day in SQLite
REFUSED = "1e300"  # a number that is none
MOST_PRODUCTS = 17_000  # of Gaussians; 13,244 are 0.6 MB, and 4.8 s of DuckDB
MOST_PAIRS = 180_000  # of one-dependence estimators; 88,000 are 2.3 MB, and 3.8 s of DuckDB
READABLE = 20_000  # characters of a statement that sqlglot indents
MOST_ARGUMENTS = 100  # of a function in SQLite

Columns = Mapping[str, str]
"""The columns that a step selects: SQL by name."""


class Spelling(NamedTuple):
    """The words of a dialect that others write otherwise."""

    double: str = "DOUBLE"
    greatest: str = "GREATEST"
    quote: str = '"'  # of names
    array: str = ""  # 2 to 6 times as fast as nested CASE
    first: str = ""  # of the places in an array
    plan: str = ""  # of a step: else an inlined expression is computed again and again


SPOKEN = {
    "duckdb": Spelling(array="CAST([{}] AS DOUBLE[])", first=" + 1"),
    "postgres": Spelling(
        double="DOUBLE PRECISION",
        array="CAST(ARRAY[{}] AS DOUBLE PRECISION[])",
        first=" + 1",
        plan=" MATERIALIZED",
    ),
    "sqlite": Spelling(double="REAL", greatest="MAX", plan=" MATERIALIZED"),
    "spark": Spelling(quote="`", array="CAST(ARRAY({}) AS ARRAY<DOUBLE>)"),
}
"""Dialects that are written here; others are translated from plain SQL by sqlglot."""


def to_sql(
    model: Any,
    dialect: str,
    table: str | Sequence[str],
    *,
    keep: Sequence[str] = (),
) -> str:
    """Write a fitted model as one SELECT over a table.

    Its columns are those of ``keep``, then ``prediction``, then ``P(label)`` for every class; of a
    regression, the predictions of every target. NULL and unseen values mean what they mean in
    `predict_proba`; a number that Python refuses (infinite, or above 1e150) gives NULL. Strings
    are compared by the rules of the database.

    Parameters
    ----------
    model : fitted estimator
    dialect : str
        "duckdb", "postgres", "sqlite" or "spark"; or another one of sqlglot, such as "bigquery".
    table : str, or sequence of str
        The name of the table, one identifier; or (schema, table), or (catalog, schema, table).
    keep : sequence of str
        Columns to carry over, such as a key: the rows of an answer have no order.

    Returns
    -------
    str

    Raises
    ------
    ParameterError
        If the dialect is unknown, a name is there twice, or the model cannot be written.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> import pyarrow as pa
    >>> rows = pa.table({"size": [1.0, 2.0, 5.0], "kind": ["a", "a", "b"]})
    >>> print(to_sql(NaiveBayes().fit(rows, "kind"), "duckdb", "t").splitlines()[0])
    -- Written by suffice: NaiveBayes.
    """
    name = dialect.lower()
    if name not in SPOKEN:
        check_dialect(dialect)
    joint = log_joint(model)
    check_gaps(joint, MOST_PRODUCTS)
    statement = _Writer(joint, name, tuple(keep)).statement(table)
    if name not in SPOKEN:
        statement = translated(statement, "", name)
    about = [f"Written by suffice: {type(model).__name__}."]
    if needed := refusing_null(joint, MOST_PRODUCTS):
        names = ", ".join(map(ascii, needed))
        about.append(f"A row with a NULL gets NULL: the model needs {names}.")
    if name == "sqlite":
        about.append("SQLite needs its functions LN and EXP (SQLITE_ENABLE_MATH_FUNCTIONS).")
    return "".join(f"-- {line}\n" for line in about) + statement + "\n"


def check_dialect(dialect: str) -> None:
    """Refuse a dialect that sqlglot does not write."""
    sqlglot = library("sqlglot", f"dialect={dialect!r}", "pip install 'suffice[export]'")
    if not dialect or sqlglot.Dialect.get(dialect.lower()) is None:
        raise ParameterError(
            f"dialect={dialect!r}", "it is a dialect of sqlglot: duckdb, postgres, sqlite, spark"
        )


def translated(statement: str, read: str, write: str) -> str:
    """Return a statement in another dialect of sqlglot's."""
    import sqlglot

    pretty = len(statement) <= READABLE
    return str(sqlglot.transpile(statement, read=read, write=write, pretty=pretty)[0])


class _Writer:
    """Builds the steps of one statement."""

    def __init__(self, joint: ex.LogJoint, dialect: str, keep: tuple[str, ...]) -> None:
        self.joint, self.dialect, self.keep = joint, dialect, keep
        self.spelling = SPOKEN.get(dialect, Spelling())
        self.k = len(joint.outputs)
        # Members may read the same column, which is then one.
        self.cells = list(dict.fromkeys(joint.columns))
        self.x = [f"x{self.cells.index(column)}" for column in joint.columns]
        self._check()

    def _check(self) -> None:
        names = [name.lower() for name in (*self.keep, *self._answers())]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ParameterError(
                f"the answer would have two columns {twice!r}",
                "its columns have names of their own",
                "rename the column of the table, or do not keep it",
            )
        read = [column.name for column in self.cells]
        unsafe = next((name for name in (*names, *read) if "${" in name), None)
        if unsafe is not None and self.dialect in SUBSTITUTING:
            raise ParameterError(
                f"the name {unsafe!r} holds ${{",
                f"{self.dialect} puts the value of a variable in its place",
                "rename the column or the label",
            )
        terms = [term for one in self.joint.members for term in one.terms]
        pairs = sum(term.terms.size for term in terms if isinstance(term, ex.Pairs))
        if pairs > MOST_PAIRS:
            raise ParameterError(
                f"AODE has {pairs:,} numbers of pairs of values",
                f"SQL writes {MOST_PAIRS:,} at most",
                "write ONNX or JSON, or fit without AODE (candidates= of an average)",
            )

    def _answers(self) -> list[str]:
        """Names of the columns of the answer, after those that are kept."""
        outputs = self.joint.outputs
        if self.joint.task == "classes":
            return ["prediction", *(f"P({label})" for label in outputs)]
        return ["prediction"] if self.k == 1 else [f"prediction of {name}" for name in outputs]

    def statement(self, table: str | Sequence[str]) -> str:
        """Write the whole statement."""
        parts = [table] if isinstance(table, str) else list(table)
        if not 1 <= len(parts) <= 3 or not all(parts):
            raise ParameterError(
                f"table={table!r}", "a table has a name, and may have a schema and a catalog"
            )
        kept = [f"k{i}" for i in range(len(self.keep))]
        members, outputs = range(len(self.joint.members)), range(self.k)
        steps = self._scores(kept)
        answers = [f"s0_{c}" for c in outputs]
        if self.joint.task == "classes":
            scores = [f"s{m}_{c}" for m in members for c in outputs]
            tops = {f"m{m}": self.largest(f"s{m}_{c}" for c in outputs) for m in members}
            weights = {f"w{m}_{c}": faint_exp(f"s{m}_{c} - m{m}") for m in members for c in outputs}
            steps["maxima"] = as_they_are([*kept, *scores]) | tops
            steps["weights"] = as_they_are([*kept, *scores, *tops]) | weights
            usual = self.literal(self.joint.outputs[self.joint.members[0].fallback])
            answers = [f"CASE WHEN m0 <= {NEVER} THEN {usual} {self._labels('s0_', 'm0')} END"]
            answers += [self._probability(0, c) for c in outputs]
        if len(members) > 1:
            shares = {f"s_{c}": self._share(c) for c in outputs}
            steps["shares"] = as_they_are(kept) | shares
            steps["best"] = as_they_are([*kept, *shares]) | {"m": self.largest(shares)}
            answers = [f"CASE {self._labels('s_', 'm')} END", *shares]
        names = map(self.quoted, (*self.keep, *self._answers()))
        last = dict(zip(names, [*kept, *answers], strict=True))
        source, written = ".".join(map(self.quoted, parts)), []
        for step, columns in steps.items():
            name = f"{step}_" if step == parts[-1].lower() else step
            written.append(f"{name} AS{self.spelling.plan} (\n{select(columns, source)}\n)")
            source = name
        return f"WITH {', '.join(written)}\n{select(last, source)}"

    def _share(self, c: int) -> str:
        """The mean of the probabilities of a class."""
        shares = (double(one.share) for one in self.joint.members)
        return " + ".join(
            f"{share} * ({self._probability(m, c)})" for m, share in enumerate(shares)
        )

    def _probability(self, m: int, c: int) -> str:
        total = balanced([f"w{m}_{i}" for i in range(self.k)])
        prior = double(self.joint.members[m].prior[c])
        share = f"w{m}_{c} / ({total})"
        return self.cast(f"CASE WHEN m{m} <= {NEVER} THEN {prior} ELSE {share} END")

    def _labels(self, score: str, top: str) -> str:
        """Every label, where its score is the largest."""
        labels = enumerate(map(self.literal, self.joint.outputs))
        return " ".join(f"WHEN {score}{c} = {top} THEN {label}" for c, label in labels)

    def _scores(self, kept: Sequence[str]) -> dict[str, Columns]:
        """The steps from the table to the scores, by name."""
        cells = {name: self.quoted(of) for name, of in zip(kept, self.keep, strict=True)}
        cells |= {f"x{j}": self._cell(column) for j, column in enumerate(self.cells)}
        # A SELECT without any column is no SELECT.
        steps: dict[str, Columns] = {"cells": cells or {"nothing": "0e0"}}
        members = [
            [TERMS[type(term)](self, f"{m}_{t}", term) for t, term in enumerate(one.terms)]
            for m, one in enumerate(self.joint.members)
        ]
        every = zip_longest(*(one.steps() for one in chain(*members)), fillvalue={})
        for n, found in enumerate(every):
            more = {name: sql for columns in found for name, sql in columns.items()}
            if more:
                steps[f"step{n}"] = {"*": "*"} | more
        steps["scores"] = as_they_are(kept) | {
            f"s{m}_{c}": balanced([self.cast(double(start)), *(one.score(c) for one in terms)])
            for m, terms in enumerate(members)
            for c, start in enumerate(self.joint.members[m].start)
        }
        return steps

    def _cell(self, column: ex.Column) -> str:
        cell = self.quoted(column.name)
        if column.bounds is None:
            return cell
        if column.kind in ("date", "time"):
            return self._seconds(column, cell)
        number = self.cast(cell)
        if self.dialect == "sqlite":  # it has no NaN
            return number
        not_a_number = self.cast("'NaN'")
        return f"NULLIF({number}, {not_a_number})"

    def _seconds(self, column: ex.Column, cell: str) -> str:
        """The seconds of a date since 1970-01-01, or of a time of day since midnight."""
        is_date, dialect = column.kind == "date", self.dialect
        if dialect not in (dialects := DATED if is_date else OF_DAY):
            raise ParameterError(
                f"column {column.name!r} holds {'dates' if is_date else 'times of day'}",
                f"their seconds are written for {', '.join(dialects)}, not {dialect}",
                f"fit the model without it (--ignore {column.name}), or write JSON",
            )
        if dialect == "sqlite":  # cells are text
            whole, of_minute, exact = (
                self.cast(f"STRFTIME('{form}', {cell})") for form in ("%s", "%S", "%f")
            )
            origin = f"({of_minute} + {double(0.0 if is_date else YEAR_2000)})"
            seconds = f"({whole} - {origin}) + {exact}"  # minutes are exact
            form = DAY if is_date else CLOCK
            known = f"WHEN {cell} GLOB '{form}' THEN COALESCE({seconds}, {REFUSED})"
            return f"CASE WHEN {cell} IS NULL THEN NULL {known} ELSE {REFUSED} END"
        if dialect in MICROSECONDS:
            return f"{self.cast(MICROSECONDS[dialect].format(cell))} / 1e6"
        return self.cast(f"EXTRACT(EPOCH FROM {cell})")

    # -- cells and nodes of the log joint, over the cells x0, x1, ...

    def cast(self, made: str) -> str:
        """An expression as a double."""
        return f"CAST({made} AS {self.spelling.double})"

    def quoted(self, name: str) -> str:
        quote = self.spelling.quote
        return f"{quote}{name.replace(quote, 2 * quote)}{quote}"

    def largest(self, numbers: Iterable[str]) -> str:
        """The largest of some numbers."""
        found = list(numbers)
        while len(found) > 1:
            groups = (found[i : i + MOST_ARGUMENTS] for i in range(0, len(found), MOST_ARGUMENTS))
            found = [f"{self.spelling.greatest}({', '.join(group)})" for group in groups]
        return found[0]

    def is_null(self, j: int) -> str:
        """Test that a cell is missing."""
        return f"{self.x[j]} IS NULL"

    def legal(self, j: int) -> str:
        """Test that a cell is a number that is answered."""
        column, x = self.joint.columns[j], self.x[j]
        assert column.bounds is not None
        low, high = map(double, column.bounds)
        rule = f"{x} BETWEEN {low} AND {high}"
        return f"{rule} AND {x} = FLOOR({x})" if column.kind == "whole" else rule

    def literal(self, value: Any) -> str:
        """A value, in two halves where the dialect would put a variable in the place of ${...}."""
        if isinstance(value, bool):
            return str(value).upper()
        if isinstance(value, float):
            return double(value)
        if not isinstance(value, str):
            return str(value)
        text = value.replace("'", "''")
        if self.dialect == "spark":
            text = value.replace("\\", r"\\").replace("'", r"\'")
        if "${" in value and self.dialect in SUBSTITUTING:
            pieces = text.replace("${", "$', '{")
            return f"CONCAT('{pieces}')"
        return f"'{text}'"

    def cell_literal(self, j: int, value: Any) -> str:
        """A value that the cells of a column are compared with."""
        return double(value) if self.joint.columns[j].bounds else self.literal(value)

    def write(self, node: ex.Expression | ex.Numbers, x: str) -> str:
        """Write an expression of one output and the cell x."""
        if not isinstance(node, ex.Expression):
            return double(float(node))
        if node.operation == "cell":
            return x
        of = [self.write(one, x) for one in node.of]
        match node.operation:
            case "sum":
                return f"({' + '.join(of)})"
            case "product":
                return " * ".join(of)
            case "quotient":
                return f"({of[0]} / {of[1]})"
            case "square":
                return f"({of[0]} * {of[0]})"
            case "log":
                return f"LN({of[0]})"
            case "log1p":  # log(1 + u) without cancellation
                u = f"({of[0]})"
                w = f"({self.cast('1e0')} + {u})"
                return f"(CASE WHEN {w} = 1e0 THEN {u} ELSE LN({w}) * ({u} / ({w} - 1e0)) END)"

    def number_at(self, j: int, places: ex.Steps | ex.Values, numbers: Sequence[float]) -> str:
        """Return the number at the place of a cell; NULL of NaN."""
        written = ["NULL" if isnan(one) else self.literal(one) for one in numbers]
        x = self.x[j]
        if isinstance(places, ex.Values):
            if not places.values:
                return written[-1]
            known = (self.cell_literal(j, value) for value in places.values)
            return cases(zip(known, written, strict=False), x, f" ELSE {written[-1]}")

        def between(first: int, last: int) -> str:
            if first == last:
                return written[first]
            half = (first + last + 1) // 2
            start = double(places.starts[half - 1])
            below, above = between(first, half - 1), between(half, last)
            return f"CASE WHEN {x} < {start} THEN {below} ELSE {above} END"

        return between(0, len(places.starts))

    def element(self, numbers: Sequence[float], place: str) -> str:
        """The element of an array at a place, from 0; NULL where the place is, and of NaN."""
        written = ", ".join("NULL" if isnan(n) else double(n) for n in numbers)
        return f"({self.spelling.array.format(written)})[{place}{self.spelling.first}]"


class CellWriter:
    """One column: the place p of its cell, found once for all classes where there are arrays."""

    def __init__(self, writer: _Writer, t: str, term: ex.Term) -> None:
        self.writer, self.t, self.term = writer, t, term
        self.has_place = bool(writer.spelling.array) and writer.k > 1

    def steps(self) -> Iterator[Columns]:
        """Yield the columns of every step before the score."""
        adds = self.term.adds
        if isinstance(adds, ex.Lookup) and self.has_place:
            places = range(adds.by_output.shape[1])
            yield {f"p{self.t}": self.writer.number_at(self.term.column, adds.places, places)}

    def score(self, c: int) -> str:
        """Return the term of a class."""
        writer, term, j, others = self.writer, self.term, self.term.column, inf
        if isinstance(term.adds, ex.Lookup):
            numbers = (term.weight * term.adds.by_output[c]).tolist()
            others = numbers[-1] if isinstance(term.adds.places, ex.Values) else inf
            if self.has_place:
                value = writer.element(numbers, f"p{self.t}")
            else:
                value = writer.number_at(j, term.adds.places, numbers)
        else:
            assert isinstance(term.adds, ex.Expression)  # an export has no texts
            value = writer.write(term.adds.of_output(c), writer.x[j])
            value = value if term.weight == 1 else f"{double(term.weight)} * {value}"
        bounded = writer.joint.columns[j].bounds
        refuses = isnan(others) and term.missing == "refused"
        if not bounded and (refuses or others == 0.0):  # a missing cell is another value
            return writer.cast(value)
        missing = "0e0" if term.missing == "nothing" else "NULL"
        rest = f"WHEN {writer.legal(j)} THEN {value}" if bounded else f"ELSE {value}"
        return writer.cast(f"CASE WHEN {writer.is_null(j)} THEN {missing} {rest} END")


class PairsWriter:
    """One-dependence estimators: bins b, sums u of every parent, their largest v and number q."""

    def __init__(self, writer: _Writer, t: str, term: ex.Pairs) -> None:
        self.writer, self.t, self.term = writer, t, term
        self.d, self.k = range(len(term.columns)), range(writer.k)

    def steps(self) -> Iterator[Columns]:
        """Yield the columns of every step before the score."""
        yield {f"b{self.t}_{i}": self._place(i) for i in self.d}
        yield {f"u{self.t}_{i}_{c}": self._parent(i, c) for i in self.d for c in self.k}
        low = double(IMPOSSIBLE)
        tops = {
            f"v{self.t}_{c}": self.writer.largest(f"COALESCE({u}, {low})" for u in self._u(c))
            for c in self.k
        }
        shown = (f"CASE WHEN {u} IS NULL THEN 0e0 ELSE 1e0 END" for u in self._u(0))
        yield tops | {f"q{self.t}": " + ".join(shown)}

    def _u(self, c: int) -> list[str]:
        return [f"u{self.t}_{i}_{c}" for i in self.d]

    def _place(self, i: int) -> str:
        """The bin of a column among its own; NULL where it is missing."""
        j, places = self.term.columns[i], self.term.places[i]
        bins = [nan if b < 0 else b for b in self.term.bins[i].tolist()]
        made = self.writer.number_at(j, places, bins)
        if not isinstance(places, ex.Steps):
            return made
        missing = f"WHEN {self.writer.is_null(j)} THEN NULL"
        return f"CASE {missing} WHEN {self.writer.legal(j)} THEN {made} END"

    def _parent(self, i: int, c: int) -> str:
        """Log P(c, x) of a parent; NULL of a column that is none."""
        own = slice(*self.term.ends[i : i + 2])
        is_parent = self.looked_up(self.term.parent[own].astype(float), i)
        sums = [self.looked_up(self.term.terms[c, own, own].diagonal(), i)]
        for j in self.d:
            if j != i:
                table = self.term.terms[c, own, slice(*self.term.ends[j : j + 2])]
                sums.append(f"COALESCE({self.looked_up(table, i, j)}, 0e0)")
        return f"CASE WHEN {is_parent} > 0e0 THEN {balanced(sums)} END"

    def looked_up(self, table: NDArray[np.float64], i: int, j: int | None = None) -> str:
        """The number in a table (m,) or (m, m') at the bins of one column, or two; NULL of none."""
        b = f"b{self.t}_{i}"
        if self.writer.spelling.array:
            place = b if j is None else f"{b} * {table.shape[1]} + b{self.t}_{j}"
            return self.writer.element(table.ravel().tolist(), place)
        rows = (double(one) if j is None else self.looked_up(one, j) for one in table)
        return cases(((str(place), made) for place, made in enumerate(rows)), b)

    def score(self, c: int) -> str:
        """Return the term of a class."""
        v, q = f"v{self.t}_{c}", f"q{self.t}"
        shares = (
            f"CASE WHEN {u} IS NULL THEN 0e0 ELSE {faint_exp(f'{u} - {v}')} END" for u in self._u(c)
        )
        known = float(self.term.log_class[c])
        rest = double(0.0 if known == -inf else -known)
        whole = f"({v} + LN(({balanced(list(shares))}) / {q}) + {rest})"
        made = f"{double(self.term.weight)} * {whole}"
        return self.writer.cast(f"CASE WHEN {q} = 0e0 THEN 0e0 ELSE {made} END")


class GaussianWriter:
    """Columns together: numbers f about an origin, 1 or 0 if a column is shown, and h.

    h is 1 if all are shown, 0 if not, and NULL if a cell is refused. The formulas of rows that
    lack cells are those of `Gaussian`.
    """

    def __init__(self, writer: _Writer, t: str, term: ex.Gaussian) -> None:
        self.writer, self.t, self.term = writer, t, term
        self.integrates = writer.joint.integrates(MOST_PRODUCTS)

    def steps(self) -> Iterator[Columns]:
        """Yield the columns of every step before the score."""
        t, term, writer = self.t, self.term, self.writer
        shows = {j: self._shows(j) for j in term.columns}
        refused = "".join(
            f"WHEN NOT {writer.is_null(j)} AND NOT ({writer.legal(j)}) THEN NULL "
            for j in term.columns
            if j not in term.values
        )
        yield (
            {f"f{t}_{i}": self._number(i) for i in range(len(term.features))}
            | {
                f"o{t}_{j}": f"CASE WHEN {shown} THEN 1e0 ELSE 0e0 END"
                for j, shown in shows.items()
            }
            | {f"h{t}": f"CASE {refused}WHEN {' AND '.join(shows.values())} THEN 1 ELSE 0 END"}
        )
        if not self.integrates:
            return
        assert term.covariance is not None
        s, p, _ = term.covariance.shape
        for j, (owner, _) in enumerate(term.features):
            factors = {}
            for m, least in enumerate(term.least[:, j].tolist()):
                own = self._left(m, j, j)
                known = f"o{t}_{owner} > 0e0 AND {own} > {double(least)}"
                factors[f"g{t}_{m}_{j}"] = f"CASE WHEN {known} THEN 1e0 / SQRT({own}) ELSE 0e0 END"
            yield factors
            found = {
                f"l{t}_{m}_{i}_{j}": f"g{t}_{m}_{j} * {self._left(m, i, j)}"
                for m in range(s)
                for i in range(j + 1, p)
            }
            for c, moved in enumerate(term.offset[:, j].tolist()):
                x = double(moved) if s == 1 else f"f{t}_{j} - {double(moved)}"
                found |= self._white(c, x, 0 if s == 1 else c, j)
            if s == 1:
                found |= self._white(writer.k, f"f{t}_{j}", 0, j)
            yield found

    def _shows(self, j: int) -> str:
        """Test that a cell is there, and the value of a category is known."""
        if j not in self.term.values:
            return f"NOT {self.writer.is_null(j)}"
        known = (self.writer.cell_literal(j, value) for value in self.term.values[j])
        return f"{self.writer.x[j]} IN ({', '.join(known)})"

    def _number(self, i: int) -> str:
        """Return a number of the ex.Gaussian, 0 where the cell is missing or refused."""
        (j, value), origin = self.term.features[i], float(self.term.complete.origin[i])
        x = self.writer.x[j]
        if j not in self.term.values:
            moved = f"{x} - {double(origin)}"
            return f"CASE WHEN {self.writer.legal(j)} THEN {moved} ELSE 0e0 END"
        if value not in self.term.values[j]:  # the indicator of a missing cell
            return double(-origin)
        equal = f"{x} = {self.writer.cell_literal(j, value)}"
        return f"CASE WHEN {equal} THEN {double(1.0 - origin)} ELSE {double(-origin)} END"

    def _left(self, m: int, i: int, j: int) -> str:
        """Return v_ij, the covariance given the columns before j."""
        assert self.term.covariance is not None
        known = double(float(self.term.covariance[m, i, j]))
        one, other = f"l{self.t}_{m}_{i}", f"l{self.t}_{m}_{j}"
        return less(known, [f"{one}_{n} * {other}_{n}" for n in range(j)])

    def _white(self, c: int, x: str, m: int, j: int) -> Columns:
        """Return z_j of the number x."""
        t = self.t
        left = less(x, [f"l{t}_{m}_{j}_{n} * z{t}_{c}_{n}" for n in range(j)])
        return {f"z{t}_{c}_{j}": f"g{t}_{m}_{j} * {left}"}

    def score(self, c: int) -> str:
        """Return the term of a class; NULL of missing cells that are not integrated out."""
        known = [("1", self._complete(c))]
        if self.integrates:
            known.append(("0", balanced(list(self._marginal(c)))))
        made = self.writer.cast(cases(known, f"h{self.t}"))
        return made if self.term.weight == 1 else f"{double(self.term.weight)} * {made}"

    def _marginal(self, c: int) -> Iterator[str]:
        """Yield the terms of log N of what a row shows, without those that all classes share."""
        t = self.t
        for j in range(len(self.term.features)):
            z = f"z{t}_{c}_{j}"
            if self.term.complete.whitening is None:  # of z the mean, δ: δ_j (z_j − δ_j/2)
                yield f"{z} * (z{t}_{self.writer.k}_{j} - 0.5e0 * {z})"
                continue
            yield f"-0.5e0 * {z} * {z}"
            g, scale = f"g{t}_{c}_{j}", double(0.5 * LOG_2PI)
            yield f"CASE WHEN {g} > 0e0 THEN LN({g}) - {scale} ELSE 0e0 END"

    def _complete(self, c: int) -> str:
        form = self.term.complete
        psi = [f"f{self.t}_{i}" for i in range(len(form.origin))]
        constant = double(float(form.constant[c]))
        if form.whitening is None:
            return balanced([constant, *weighed(form.slope[c], psi)])
        squares = []
        for row, shift in zip(form.whitening[c], form.slope[c].tolist(), strict=True):
            if row.any():
                root = balanced([double(-shift), *weighed(row, psi)])
                squares.append(f"-0.5e0 * POWER({root}, 2e0)")
        return balanced([constant, *squares])


TERMS: dict[type, Any] = {
    ex.Term: CellWriter,
    ex.Pairs: PairsWriter,
    ex.Gaussian: GaussianWriter,
}


# -- pieces of SQL


def select(columns: Columns, source: str) -> str:
    """SELECT of columns from a step or a table."""
    shown = (sql if sql == name else f"{sql} AS {name}" for name, sql in columns.items())
    return "SELECT\n  " + ",\n  ".join(shown) + f"\nFROM {source}"


def as_they_are(names: Iterable[str]) -> dict[str, str]:
    """Columns of the step before."""
    return {name: name for name in names}


def cases(pairs: Iterable[tuple[str, str]], of: str, rest: str = "") -> str:
    """CASE of the values of an expression, with their results."""
    found = " ".join(f"WHEN {value} THEN {result}" for value, result in pairs)
    return f"CASE {of} {found}{rest} END"


def faint_exp(number: str) -> str:
    """The exponential of a number up to 0; 0 where it would underflow."""
    return f"CASE WHEN {number} < {FAINT} THEN 0e0 ELSE EXP({number}) END"


def less(known: str, products: Sequence[str]) -> str:
    """A number less a sum."""
    return f"({known} - ({balanced(products)}))" if products else f"({known})"


def weighed(weights: NDArray[np.float64], psi: Sequence[str]) -> list[str]:
    return [f"{double(w)} * {one}" for w, one in zip(weights.tolist(), psi, strict=True) if w]


def double(value: float) -> str:
    """A literal that every dialect reads as a double, as it has an exponent."""
    digits = repr(IMPOSSIBLE if value == -inf else float(value))
    return digits if "e" in digits else f"{digits}e0"


def balanced(terms: Sequence[str]) -> str:
    """A sum in halves of halves: its depth stays small, and so does its rounding error."""
    if len(terms) <= 8:
        return " + ".join(terms)
    half = len(terms) // 2
    return f"({balanced(terms[:half])}) + ({balanced(terms[half:])})"
