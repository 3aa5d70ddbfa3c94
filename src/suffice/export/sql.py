"""SQL: one SELECT with every probability and the label, in any dialect that sqlglot writes.

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

from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from suffice.errors import ParameterError
from suffice.export.expressions import (
    Cell,
    Column,
    Expression,
    Gaussian,
    Log,
    Log1p,
    LogJoint,
    Number,
    Pairs,
    Product,
    Quotient,
    Square,
    Steps,
    Sum,
    Table,
    Term,
    Values,
)
from suffice.export.log_joint_terms import check_gaps, log_joint, refusing_null
from suffice.families.multivariate_gaussian import LOG_2PI

IMPOSSIBLE = -1e300  # stands for log 0, as not every database has an infinity
SUBSTITUTING = ("spark", "spark2", "databricks", "hive")
NEVER = -1e290  # a maximum below: the row is impossible under every class
FAINT = -708.0  # exp of less underflows, which PostgreSQL refuses
WITHOUT_NAN = ("sqlite",)
OF_DAY = ("duckdb", "sqlite", "postgres", "redshift", "materialize", "risingwave")
DATED = (*OF_DAY, "trino", "presto", "athena", "mysql", "spark", "databricks", "bigquery")
DAY, CLOCK = "[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]*", "[0-9][0-9]:[0-9][0-9]*"
YEAR_2000 = 946_684_800.0  # in seconds since 1970-01-01: the day of a time of day in SQLite
REFUSED = 1e300  # a number that is none
MOST_PRODUCTS = 17_000  # of Gaussians; 13,244 are 0.6 MB, and 4.8 s of DuckDB
MOST_PAIRS = 180_000  # of one-dependence estimators; 88,000 are 2.3 MB, and 3.8 s of DuckDB
READABLE = 10_000  # numbers of a statement that is indented
ARRAYS = ("duckdb", "postgres", "spark")  # 2 to 6 times as fast as nested CASE
MATERIALISED = ("sqlite", "postgres")  # else an inlined expression is computed again and again


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
        A dialect of sqlglot: "duckdb", "postgres", "sqlite", "spark", "bigquery", ...
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
    if not dialect or Dialect.get(dialect.lower()) is None:
        raise ParameterError(
            f"dialect={dialect!r}", "it is a dialect of sqlglot: duckdb, postgres, sqlite, spark"
        )
    joint = log_joint(model)
    check_gaps(joint, MOST_PRODUCTS)
    writer = _Writer(joint, dialect.lower(), tuple(keep))
    pretty = joint.integrates(READABLE - writer.pairs)
    statement = writer.select(_table(table)).sql(dialect=dialect, pretty=pretty, comments=False)
    about = [f"Written by suffice: {type(model).__name__}."]
    if needed := refusing_null(joint, MOST_PRODUCTS):
        names = ", ".join(map(ascii, needed))
        about.append(f"A row with a NULL gets NULL: the model needs {names}.")
    if writer.dialect == "sqlite":
        about.append("SQLite needs its functions LN and EXP (SQLITE_ENABLE_MATH_FUNCTIONS).")
    return "".join(f"-- {line}\n" for line in about) + statement + "\n"


class _Writer:
    """Builds the tree of one statement.

    ``terms`` are those of all members, by member and place.
    """

    first_place: int  # in an array

    def __init__(self, joint: LogJoint, dialect: str, keep: tuple[str, ...]) -> None:
        self.joint, self.dialect, self.keep = joint, dialect, keep
        self.k = len(joint.outputs)
        # Members may read the same column, which is then one.
        self.cells = list(dict.fromkeys(joint.columns))
        self.x = [f"x{self.cells.index(column)}" for column in joint.columns]
        self.terms = {
            f"{m}_{t}": term
            for m, one in enumerate(joint.members)
            for t, term in enumerate(one.terms)
        }
        self.pairs = sum(t.terms.size for t in self.terms.values() if isinstance(t, Pairs))
        self.lookups: dict[str, Table] = {}
        if dialect in ARRAYS:
            self.first_place = Dialect.get_or_raise(dialect).INDEX_OFFSET
            tables = {t: term for t, term in self.terms.items() if isinstance(term, Table)}
            self.lookups = tables if self.k > 1 else {}
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
        if self.pairs > MOST_PAIRS:
            raise ParameterError(
                f"AODE has {self.pairs:,} numbers of pairs of values",
                f"SQL writes {MOST_PAIRS:,} at most",
                "write ONNX or JSON, or fit without AODE (candidates= of an average)",
            )

    def _answers(self) -> list[str]:
        """Names of the columns of the answer, after those that are kept."""
        outputs = self.joint.outputs
        if self.joint.task == "classes":
            return ["prediction", *(f"P({label})" for label in outputs)]
        return ["prediction"] if self.k == 1 else [f"prediction of {name}" for name in outputs]

    def select(self, table: exp.Table) -> exp.Select:
        """The whole statement."""
        kept = [f"k{i}" for i in range(len(self.keep))]
        members = range(len(self.joint.members))
        steps = self._scores(table, kept)
        answers = names_of([f"s0_{c}" for c in range(self.k)])
        if self.joint.task == "classes":
            scores = [f"s{m}_{c}" for m in members for c in range(self.k)]
            top = [alias(self._largest(f"s{m}_"), f"m{m}") for m in members]
            steps["maxima"] = _from_last(steps, [*names_of([*kept, *scores]), *top])
            weights = [
                alias(self._weight(m, c), f"w{m}_{c}") for m in members for c in range(self.k)
            ]
            known = [*kept, *scores, *(f"m{m}" for m in members)]
            steps["weights"] = _from_last(steps, [*names_of(known), *weights])
            answers = [self._label(), *(self._probability(0, c) for c in range(self.k))]
            if len(members) > 1:
                answers = self._averaged(steps, kept)
        shown = zip([*names_of(kept), *answers], [*self.keep, *self._answers()], strict=True)
        whole = _from_last(steps, [alias(made, name) for made, name in shown])
        for name, step in steps.items():
            whole = whole.with_(
                exp.to_identifier(name, quoted=True),
                as_=step,
                materialized=True if self.dialect in MATERIALISED else None,
                copy=False,
            )
        return whole

    def _averaged(self, steps: dict[str, exp.Select], kept: list[str]) -> list[exp.Expression]:
        """Add the steps of an average, and return the label and the probabilities."""
        names = [f"s_{c}" for c in range(self.k)]
        sums = [
            added(
                [
                    exp.Mul(this=double(one.share), expression=paren(self._probability(m, c)))
                    for m, one in enumerate(self.joint.members)
                ]
            )
            for c in range(self.k)
        ]
        shares = [alias(made, name) for made, name in zip(sums, names, strict=True)]
        steps["shares"] = _from_last(steps, [*names_of(kept), *shares])
        top = alias(self._largest("s_"), "m")
        steps["best"] = _from_last(steps, [*names_of([*kept, *names]), top])
        return [case(*self._labels("s_", "m")), *names_of(names)]

    def _largest(self, score: str) -> exp.Expression:
        """The largest score of a row."""
        return largest([name_of(f"{score}{c}") for c in range(self.k)])

    def _scores(self, table: exp.Table, kept: list[str]) -> dict[str, exp.Select]:
        """The steps from the table to the scores, by name."""
        steps = {"cells": self._cells().from_(table, copy=False)}
        places = [
            alias(self.number_at(one.places, range(len(one.by_output[0]))), f"p{t}")
            for t, one in self.lookups.items()
        ]
        makers: dict[str, PairsWriter | GaussianWriter] = {}
        for t, term in self.terms.items():
            if isinstance(term, Pairs):
                makers[t] = PairsWriter(self, t, term)
            elif isinstance(term, Gaussian):
                makers[t] = GaussianWriter(self, t, term)
        every = zip_longest([places], *(one.steps() for one in makers.values()), fillvalue=())
        for n, step in enumerate(every):
            more = list(chain.from_iterable(step))
            if more:
                steps[f"step{n}"] = _from_last(steps, [exp.Star(), *more])
        sums = [
            alias(self._score(m, c, makers), f"s{m}_{c}")
            for m in range(len(self.joint.members))
            for c in range(self.k)
        ]
        steps["scores"] = _from_last(steps, [*names_of(kept), *sums])
        return steps

    def _cells(self) -> exp.Select:
        kept = [alias(name_of(name), f"k{i}") for i, name in enumerate(self.keep)]
        cells = [alias(self._cell(column), f"x{j}") for j, column in enumerate(self.cells)]
        # A SELECT without any column is no SELECT.
        nothing = [] if kept or cells else [alias(double(0.0), "nothing")]
        return select(*kept, *cells, *nothing)

    def _cell(self, column: Column) -> exp.Expression:
        cell = name_of(column.name)
        if column.bounds is None:
            return cell
        if column.kind in ("date", "time"):
            return seconds_of(column, self.dialect)
        number = cast(cell)
        if self.dialect in WITHOUT_NAN:
            return number
        return exp.Nullif(this=number, expression=cast(exp.Literal.string("NaN")))

    def _score(self, m: int, c: int, makers: dict[str, Any]) -> exp.Expression:
        one = self.joint.members[m]
        terms = [
            self._term(t, term, c) if isinstance(term, Term | Table) else makers[t].score(c)
            for t, term in ((f"{m}_{i}", term) for i, term in enumerate(one.terms))
        ]
        return balanced([cast(double(one.start[c])), *terms])

    def _term(self, t: str, term: Term | Table, c: int) -> exp.Expression:
        others: float | None = inf
        if isinstance(term, Table):
            numbers = term.numbers(c)
            others = numbers[-1] if isinstance(term.places, Values) else inf
            found = t in self.lookups
            value = (
                self.element(numbers, name_of(f"p{t}"))
                if found
                else self.number_at(term.places, numbers)
            )
        else:
            value = self._factor(term.by_output[c])
            if term.weight != 1:
                value = exp.Mul(this=double(term.weight), expression=value)
        bounded = [j for j in term.columns if self.joint.columns[j].bounds]
        refuses = others is None and term.missing == "refused"
        if not bounded and (refuses or others == 0.0):  # a missing cell is another value
            return cast(value)
        missing = double(0.0) if term.missing == "nothing" else exp.Null()
        first = exp.or_(*map(self.is_null, term.columns), copy=False), missing
        if not bounded:
            return cast(case(first, rest=value))
        legal = exp.and_(*map(self.legal, bounded), copy=False)
        return cast(case(first, (legal, value)))

    def is_null(self, j: int) -> exp.Expression:
        """Test that a cell is missing."""
        return exp.Is(this=name_of(self.x[j]), expression=exp.Null())

    def legal(self, j: int) -> Any:
        """Test that a cell is a number that is answered."""
        column, x = self.joint.columns[j], name_of(self.x[j])
        assert column.bounds is not None
        low, high = map(double, column.bounds)
        rule = exp.Between(this=x, low=low, high=high)
        if column.kind != "whole":
            return rule
        return exp.and_(rule, exp.EQ(this=x.copy(), expression=exp.Floor(this=x.copy())))

    def _weight(self, m: int, c: int) -> exp.Expression:
        return faint_exp(exp.Sub(this=name_of(f"s{m}_{c}"), expression=name_of(f"m{m}")))

    def _labels(self, score: str, top: str) -> list[tuple[Any, Any]]:
        """Every label, where its score is the largest."""
        return [
            (exp.EQ(this=name_of(f"{score}{c}"), expression=name_of(top)), self.literal(label))
            for c, label in enumerate(self.joint.outputs)
        ]

    def _label(self) -> exp.Expression:
        usual = self.literal(self.joint.outputs[self.joint.members[0].fallback])
        return case((never(0), usual), *self._labels("s0_", "m0"))

    def _probability(self, m: int, c: int) -> exp.Expression:
        total = balanced([name_of(f"w{m}_{i}") for i in range(self.k)])
        share = divided(name_of(f"w{m}_{c}"), paren(total))
        return cast(case((never(m), double(self.joint.members[m].prior[c])), rest=share))

    # -- nodes of the log joint, over the cells x0, x1, ...

    def literal(self, value: Any) -> exp.Expression:
        """A value, in two halves where the dialect would put a variable in the place of ${...}."""
        if isinstance(value, str) and self.dialect in SUBSTITUTING and "${" in value:
            pieces = value.replace("${", "$\0{").split("\0")
            return exp.Concat(expressions=[exp.Literal.string(piece) for piece in pieces])
        return plain(value)

    def write(self, node: Expression) -> exp.Expression:
        """Write one node of the tree."""
        match node:
            case Number(value):
                return double(value)
            case Cell(column):
                return name_of(self.x[column])
            case Sum(terms):
                return paren(added([self.write(term) for term in terms]))
            case Product(left, right):
                return exp.Mul(this=self._factor(left), expression=self._factor(right))
            case Quotient(left, right):
                return paren(divided(self._factor(left), self._factor(right)))
            case Square(of):
                return paren(exp.Mul(this=self._factor(of), expression=self._factor(of)))
            case Log(of):
                return exp.Ln(this=self.write(of))
            case Log1p(of):
                return self._log1p(paren(self.write(of)))

    def number_at(self, places: Steps | Values, numbers: Sequence[float | None]) -> exp.Expression:
        """Return the number at the place of a cell."""
        written = [exp.Null() if one is None else plain(one) for one in numbers]
        x = name_of(self.x[places.column])
        if isinstance(places, Values):
            if not places.values:
                return written[-1]
            known = [self.cell_literal(places.column, value) for value in places.values]
            return case(*zip(known, written, strict=False), rest=written[-1], of=x)

        def between(first: int, last: int) -> exp.Expression:
            if first == last:
                return written[first]
            half = (first + last + 1) // 2
            below = exp.LT(this=x.copy(), expression=double(places.starts[half - 1]))
            return case((below, between(first, half - 1)), rest=between(half, last))

        return between(0, len(places.starts))

    def _log1p(self, u: exp.Expression) -> exp.Expression:
        """log(1 + u) without cancellation."""
        w = paren(exp.Add(this=cast(double(1.0)), expression=u))
        rounded = paren(exp.Sub(this=w.copy(), expression=double(1.0)))
        ratio = paren(divided(u.copy(), rounded))
        product = exp.Mul(this=exp.Ln(this=w.copy()), expression=ratio)
        same = exp.EQ(this=w, expression=double(1.0))
        return paren(case((same, u.copy()), rest=product))

    def element(self, numbers: Sequence[float | None], place: exp.Expression) -> exp.Expression:
        """The element of an array at a place, from 0; NULL where the place is."""
        first = (
            exp.Add(this=place, expression=plain(self.first_place)) if self.first_place else place
        )
        wide = exp.Array(expressions=[exp.Null() if n is None else double(n) for n in numbers])
        array = paren(exp.Cast(this=wide, to=exp.DataType.build("array<double>")))
        return exp.Bracket(this=array, expressions=[first], offset=self.first_place)

    def cell_literal(self, j: int, value: Any) -> exp.Expression:
        """A value that the cells of a column are compared with."""
        return double(value) if self.joint.columns[j].bounds else self.literal(value)

    def _factor(self, node: Expression) -> exp.Expression:
        made = self.write(node)
        return paren(made) if isinstance(made, exp.Case | exp.Neg) else made


class PairsWriter:
    """One-dependence estimators: bins b, sums u of every parent, their largest v and number q."""

    def __init__(self, writer: _Writer, t: str, term: Pairs) -> None:
        self.writer, self.t, self.term = writer, t, term
        self.d, self.k = range(len(term.columns)), range(writer.k)

    def steps(self) -> Iterator[Sequence[exp.Alias]]:
        """Yield the columns of every step before the score."""
        yield self._places()
        yield self._parents()
        yield self._sums()

    def _places(self) -> list[exp.Alias]:
        """Return the bin of every column among its own; NULL where it is missing."""
        found = []
        for i, (j, one) in enumerate(zip(self.term.columns, self.term.bins, strict=True)):
            numbers = [None if b is None else int(b) for b in one.by_output[0]]
            made = self.writer.number_at(one.places, numbers)
            if isinstance(one.places, Steps):
                known = (self.writer.legal(j), made)
                made = case((self.writer.is_null(j), exp.Null()), known)
            found.append(alias(made, f"b{self.t}_{i}"))
        return found

    def _parents(self) -> list[exp.Alias]:
        """Return log P(c, x) of every parent, by class; NULL of a column that is none."""
        found = []
        for i in self.d:
            own = slice(*self.term.ends[i : i + 2])
            is_parent = self.looked_up(self.term.parent[own].astype(float), i)
            parent = exp.GT(this=is_parent, expression=double(0.0))
            for c in self.k:
                sums = [self.looked_up(self.term.terms[c, own, own].diagonal(), i)]
                for j in self.d:
                    if j != i:
                        table = self.term.terms[c, own, slice(*self.term.ends[j : j + 2])]
                        both = self.looked_up(table, i, j)
                        sums.append(exp.Coalesce(this=both, expressions=[double(0.0)]))
                found.append(alias(case((parent, balanced(sums))), f"u{self.t}_{i}_{c}"))
        return found

    def looked_up(self, table: NDArray[np.float64], i: int, j: int | None = None) -> exp.Expression:
        """The number in a table (m,) or (m, m') at the bins of one column, or two; NULL of none."""
        b = name_of(f"b{self.t}_{i}")
        if self.writer.dialect in ARRAYS:
            place: exp.Expression = b
            if j is not None:
                wide = exp.Mul(this=b, expression=plain(table.shape[1]))
                place = exp.Add(this=wide, expression=name_of(f"b{self.t}_{j}"))
            return self.writer.element(table.ravel().tolist(), place)
        rows = [double(one) if j is None else self.looked_up(one, j) for one in table]
        return case(*((plain(i), made) for i, made in enumerate(rows)), of=b)

    def _sums(self) -> list[exp.Alias]:
        """Return the largest of the sums of every class, and the number of parents."""
        low = [double(IMPOSSIBLE)]
        tops = [
            alias(largest([exp.Coalesce(this=u, expressions=low) for u in self._u(c)]), self._v(c))
            for c in self.k
        ]
        none = (exp.Is(this=u, expression=exp.Null()) for u in self._u(0))
        return [
            *tops,
            alias(
                added([case((one, double(0.0)), rest=double(1.0)) for one in none]), f"q{self.t}"
            ),
        ]

    def score(self, c: int) -> exp.Expression:
        """Return the term of a class."""
        v, q = name_of(self._v(c)), name_of(f"q{self.t}")
        shares = [
            case(
                (exp.Is(this=u, expression=exp.Null()), double(0.0)),
                rest=faint_exp(exp.Sub(this=u.copy(), expression=v)),
            )
            for u in self._u(c)
        ]
        mean = exp.Ln(this=divided(paren(balanced(shares)), q))
        known = float(self.term.log_class[c])
        rest = double(0.0 if known == -inf else -known)
        whole = paren(added([v, mean, rest]))
        none = exp.EQ(this=q, expression=double(0.0))
        made = exp.Mul(this=double(self.term.weight), expression=whole)
        return cast(case((none, double(0.0)), rest=made))

    def _v(self, c: int) -> str:
        return f"v{self.t}_{c}"

    def _u(self, c: int) -> list[exp.Expression]:
        return names_of([f"u{self.t}_{i}_{c}" for i in self.d])


class GaussianWriter:
    """Columns together: numbers f about an origin, 1 or 0 if a column is shown, and h.

    h is 1 if all are shown, 0 if not, and NULL if a cell is refused. The formulas of rows that
    lack cells are those of `Gaussian`.
    """

    def __init__(self, writer: _Writer, t: str, term: Gaussian) -> None:
        self.writer, self.t, self.term = writer, t, term
        self.integrates = writer.joint.integrates(MOST_PRODUCTS)

    def steps(self) -> Iterator[list[exp.Alias]]:
        """Yield the columns of every step before the score."""
        writer, term = self.writer, self.term
        bounded = [j for j in term.columns if j not in term.values]
        refused = [
            exp.and_(exp.not_(writer.is_null(j)), exp.not_(writer.legal(j))) for j in bounded
        ]
        shown = [case((self._shows(j), double(1.0)), rest=double(0.0)) for j in term.columns]
        every = exp.and_(*map(self._shows, term.columns), copy=False)
        yield [
            *(alias(self._number(i), f"f{self.t}_{i}") for i in range(len(term.features))),
            *(alias(one, f"o{self.t}_{j}") for j, one in zip(term.columns, shown, strict=True)),
            alias(
                case(*((one, exp.Null()) for one in refused), (every, plain(1)), rest=plain(0)),
                f"h{self.t}",
            ),
        ]
        if not self.integrates:
            return
        assert term.covariance is not None
        for j, (owner, _) in enumerate(term.features):
            factors = []
            for m, least in enumerate(term.least[:, j].tolist()):
                own = self._left(m, j, j)
                there = exp.GT(this=name_of(f"o{self.t}_{owner}"), expression=double(0.0))
                known = exp.and_(there, exp.GT(this=own, expression=double(least)), copy=False)
                root = divided(double(1.0), exp.Sqrt(this=own.copy()))
                factors.append(alias(case((known, root), rest=double(0.0)), self._g(m, j)))
            yield factors
            found = []
            for m in range(len(term.covariance)):
                for i in range(j + 1, len(term.features)):
                    product = exp.Mul(this=name_of(self._g(m, j)), expression=self._left(m, i, j))
                    found.append(alias(product, self._l(m, i, j)))
            f = name_of(f"f{self.t}_{j}")
            for c, moved in enumerate(term.offset[:, j].tolist()):
                if len(term.covariance) > 1:
                    found.append(self._white(c, exp.Sub(this=f, expression=double(moved)), c, j))
                else:
                    found.append(self._white(c, double(moved), 0, j))
            if len(term.covariance) == 1:
                found.append(self._white(self.writer.k, f, 0, j))
            yield found

    def _shows(self, j: int) -> exp.Expression:
        """Test that a cell is there, and the value of a category is known."""
        if j not in self.term.values:
            return exp.not_(self.writer.is_null(j), copy=False)
        known = [self.writer.cell_literal(j, value) for value in self.term.values[j]]
        return exp.In(this=name_of(self.writer.x[j]), expressions=known)

    def _number(self, i: int) -> exp.Expression:
        """Return a number of the Gaussian, 0 where the cell is missing or refused."""
        (j, value), origin = self.term.features[i], float(self.term.complete.origin[i])
        x = name_of(self.writer.x[j])
        if j not in self.term.values:
            moved = exp.Sub(this=x, expression=double(origin))
            return case((self.writer.legal(j), moved), rest=double(0.0))
        if value not in self.term.values[j]:  # the indicator of a missing cell
            return double(-origin)
        equal = exp.EQ(this=x, expression=self.writer.cell_literal(j, value))
        return case((equal, double(1.0 - origin)), rest=double(-origin))

    def _left(self, m: int, i: int, j: int) -> exp.Expression:
        """Return v_ij, the covariance given the columns before j."""
        assert self.term.covariance is not None
        known = double(float(self.term.covariance[m, i, j]))
        pairs = [(name_of(self._l(m, i, n)), name_of(self._l(m, j, n))) for n in range(j)]
        return self._less(known, pairs)

    def _white(self, c: int, x: exp.Expression, m: int, j: int) -> exp.Alias:
        """Return z_j of the number x."""
        pairs = [(name_of(self._l(m, j, n)), name_of(self._z(c, n))) for n in range(j)]
        product = exp.Mul(this=name_of(self._g(m, j)), expression=self._less(x, pairs))
        return alias(product, self._z(c, j))

    def _less(
        self, known: exp.Expression, pairs: Sequence[tuple[exp.Expression, exp.Expression]]
    ) -> exp.Expression:
        products = [exp.Mul(this=one, expression=other) for one, other in pairs]
        rest = paren(balanced(products)) if products else double(0.0)
        return paren(exp.Sub(this=known, expression=rest))

    def _g(self, m: int, j: int) -> str:
        return f"g{self.t}_{m}_{j}"

    def _l(self, m: int, i: int, j: int) -> str:
        return f"l{self.t}_{m}_{i}_{j}"

    def _z(self, c: int, j: int) -> str:
        return f"z{self.t}_{c}_{j}"

    def score(self, c: int) -> exp.Expression:
        """Return the term of a class; NULL of missing cells that are not integrated out."""
        known = [(plain(1), self._complete(c))]
        if self.integrates:
            known.append((plain(0), balanced(list(self._marginal(c)))))
        made = cast(case(*known, of=name_of(f"h{self.t}")))
        if self.term.weight == 1:
            return made
        return exp.Mul(this=double(self.term.weight), expression=made)

    def _marginal(self, c: int) -> Iterator[exp.Expression]:
        """Yield the terms of log N of what a row shows, without those that all classes share."""
        for j in range(len(self.term.features)):
            z = name_of(self._z(c, j))
            if self.term.complete.whitening is None:  # of z the mean, δ: δ_j (z_j − δ_j/2)
                half = exp.Mul(this=double(0.5), expression=z)
                of_row = name_of(self._z(self.writer.k, j))
                away = paren(exp.Sub(this=of_row, expression=half))
                yield exp.Mul(this=z.copy(), expression=away)
                continue
            square = exp.Mul(this=z, expression=z.copy())
            yield exp.Mul(this=double(-0.5), expression=square)
            g = name_of(self._g(c, j))
            used = exp.GT(this=g, expression=double(0.0))
            scale = exp.Sub(this=exp.Ln(this=g.copy()), expression=double(0.5 * LOG_2PI))
            yield case((used, scale), rest=double(0.0))

    def _complete(self, c: int) -> exp.Expression:
        form = self.term.complete
        psi = names_of([f"f{self.t}_{i}" for i in range(len(form.origin))])
        constant = double(float(form.constant[c]))
        if form.whitening is None:
            return balanced([constant, *_weighed(form.slope[c], psi)])
        squares = []
        for row, shift in zip(form.whitening[c], form.slope[c].tolist(), strict=True):
            if row.any():
                root = balanced([double(-shift), *_weighed(row, psi)])
                square = exp.Pow(this=root, expression=double(2.0))
                squares.append(exp.Mul(this=double(-0.5), expression=square))
        return balanced([constant, *squares])


def _weighed(weights: NDArray[np.float64], psi: Sequence[exp.Expression]) -> list[exp.Expression]:
    pairs = zip(weights.tolist(), psi, strict=True)
    return [exp.Mul(this=double(w), expression=one.copy()) for w, one in pairs if w]


def seconds_of(column: Column, dialect: str) -> exp.Expression:
    """Return the seconds of a date since 1970-01-01, or of a time of day since midnight."""
    cell, is_date = name_of(column.name), column.kind == "date"
    if dialect not in (dialects := DATED if is_date else OF_DAY):
        raise ParameterError(
            f"column {column.name!r} holds {'dates' if is_date else 'times of day'}",
            f"their seconds are written for {', '.join(dialects)}, not {dialect}",
            f"fit the model without it (--ignore {column.name}), or write JSON",
        )
    if dialect == "sqlite":  # cells are text
        whole, of_minute, exact = (
            cast(exp.Anonymous(this="STRFTIME", expressions=[plain(form), cell.copy()]))
            for form in ("%s", "%S", "%f")
        )
        origin = paren(added([of_minute, double(0.0 if is_date else YEAR_2000)]))
        minutes = paren(exp.Sub(this=whole, expression=origin))  # exact
        found = added([minutes, exact])
        known = exp.Glob(this=cell, expression=plain(DAY if is_date else CLOCK))
        read = exp.Coalesce(this=found, expressions=[double(REFUSED)])
        missing = exp.Is(this=cell.copy(), expression=exp.Null())
        return case((missing, exp.Null()), (known, read), rest=double(REFUSED))
    if dialect == "mysql":
        start, unit = exp.Literal.string("1970-01-01"), exp.var("MICROSECOND")
        ticks: exp.Expression = exp.TimestampDiff(this=cell, expression=start, unit=unit)
    elif dialect in ("duckdb", "spark", "databricks", "bigquery"):
        instant = cell if dialect == "duckdb" else exp.cast(cell, exp.DataType.Type.TIMESTAMPTZ)
        ticks = exp.UnixMicros(this=instant)
    else:
        return cast(exp.Extract(this=exp.var("EPOCH"), expression=cell))
    return divided(cast(ticks), double(1e6))


def _from_last(steps: dict[str, exp.Select], columns: Sequence[exp.Expression]) -> exp.Select:
    """SELECT of columns from the last step."""
    return select(*columns).from_(source(next(reversed(steps))), copy=False)


def _table(name: str | Sequence[str]) -> exp.Table:
    """The table of one identifier, or of a schema and more."""
    parts = [name] if isinstance(name, str) else list(name)
    if not 1 <= len(parts) <= 3 or not all(parts):
        raise ParameterError(
            f"table={name!r}", "a table has a name, and may have a schema and a catalog"
        )
    places = dict(zip(("this", "db", "catalog"), reversed(parts), strict=False))
    return exp.Table(**{k: exp.to_identifier(v, quoted=True) for k, v in places.items()})


def case(
    *pairs: tuple[Any, Any],
    rest: exp.Expression | None = None,
    of: exp.Expression | None = None,
) -> exp.Case:
    """CASE of conditions, or of the values of an expression, with their results."""
    made = exp.Case(this=of)
    for condition, result in pairs:
        made = made.when(condition, result, copy=False)
    return made if rest is None else made.else_(rest, copy=False)


def divided(one: exp.Expression, other: exp.Expression) -> exp.Div:
    """A quotient of doubles."""
    return exp.Div(this=one, expression=other, typed=True, safe=False)


def never(m: int) -> exp.Expression:
    """Test that a row is impossible under every class of a member."""
    return exp.LTE(this=name_of(f"m{m}"), expression=double(NEVER))


def largest(made: Sequence[exp.Expression]) -> exp.Expression:
    """The largest of some numbers."""
    top, *others = made
    return exp.Greatest(this=top, expressions=others) if others else top


def faint_exp(made: exp.Expression) -> exp.Case:
    """The exponential of a number up to 0; 0 where it would underflow."""
    faint = exp.LT(this=made, expression=double(FAINT))
    return case((faint, double(0.0)), rest=exp.Exp(this=made.copy()))


def paren(made: exp.Expression) -> exp.Paren:
    """An expression in parentheses."""
    return exp.Paren(this=made)


def alias(made: exp.Expression, name: str) -> exp.Alias:
    """An expression under a name."""
    return exp.Alias(this=made, alias=exp.to_identifier(name, quoted=True))


def select(*columns: exp.Expression) -> exp.Select:
    """SELECT of columns."""
    return exp.Select(expressions=list(columns))


def source(name: str) -> exp.Table:
    """A step of the statement, as a table."""
    return exp.Table(this=exp.to_identifier(name, quoted=True))


def name_of(name: str) -> exp.Column:
    """A column."""
    return exp.Column(this=exp.to_identifier(name, quoted=True))


def names_of(names: Sequence[str]) -> list[exp.Expression]:
    """Columns."""
    return [name_of(name) for name in names]


def double(value: float) -> exp.Expression:
    """A literal that every dialect reads as a double, as it has an exponent."""
    if value == -inf:
        value = IMPOSSIBLE
    digits = repr(abs(float(value)))
    literal = exp.Literal.number(digits if "e" in digits else f"{digits}e0")
    return exp.Neg(this=literal) if value < 0 else literal


def plain(value: Any) -> exp.Expression:
    if isinstance(value, bool):
        return exp.Boolean(this=value)
    if isinstance(value, str):
        return exp.Literal.string(value)
    if isinstance(value, float):
        return double(value)
    literal = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def cast(made: exp.Expression) -> exp.Cast:
    """An expression as a double."""
    return exp.Cast(this=made, to=exp.DataType(this=exp.DataType.Type.DOUBLE))


def added(terms: Sequence[exp.Expression]) -> exp.Expression:
    total = terms[0]
    for term in terms[1:]:
        total = exp.Add(this=total, expression=term)
    return total


def balanced(terms: Sequence[exp.Expression]) -> exp.Expression:
    """A sum in halves of halves: its depth stays small, and so does its rounding error."""
    if len(terms) <= 8:
        return added(terms)
    half = len(terms) // 2
    return exp.Add(this=paren(balanced(terms[:half])), expression=paren(balanced(terms[half:])))
