"""Sums that a database makes: those of the rows, to the bit."""

import math
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from importlib import import_module
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suffice import (
    AODE,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
    Ridge,
    read_sql,
    sql_of_sums,
)
from suffice.errors import DataError, ParameterError, SchemaError, SufficeError
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

pytestmark = pytest.mark.filterwarnings("ignore::suffice.errors.SufficeWarning")

N = 400
DATABASES = ["duckdb", "sqlite", "postgres"]


def table() -> dict[str, list[Any]]:
    """Rows of every kind of column, and of every kind of cell that a database has."""
    rng = np.random.default_rng(7)
    real = rng.normal(size=N) * 10.0 ** rng.integers(-4, 5, N)
    gap = [None if u < 0.1 else float(x) for u, x in zip(rng.random(N), 1e9 + real, strict=True)]
    names = ["rot", "grün", "b'l\"au", None]
    return {
        "returned": [[None, "no", "yes"][i] for i in rng.choice(3, N, p=[0.05, 0.55, 0.4])],
        "whole": rng.integers(-(2**40), 2**40, N).tolist(),
        "real": real.tolist(),
        "gap": gap,
        "select": (rng.integers(0, 10_000, N) / 100).tolist(),
        'größe "x"': rng.integers(0, 9, N).tolist(),
        "flag": (rng.random(N) < 0.3).tolist(),
        "hue": [names[i] for i in rng.choice(4, N)],
        "weight": rng.choice([0.0, 0.1, 1 / 3, 2.5], N).tolist(),
        "store": [[None, "Ulm", "Bonn"][i] for i in rng.choice(3, N)],
        "month": [None if i == 3 else 2026 + i for i in rng.choice(4, N).tolist()],
    }


TYPES = {int: "BIGINT", float: "DOUBLE PRECISION", bool: "BOOLEAN", str: "TEXT"}


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def filled(execute: Callable[..., Any], rows: dict[str, list[Any]], mark: str = "?") -> None:
    """Make the table sales."""
    kinds = [next(type(c) for c in cells if c is not None) for cells in rows.values()]
    columns = (f"{quoted(n)} {TYPES[k]}" for n, k in zip(rows, kinds, strict=True))
    execute(f"CREATE TABLE sales ({', '.join(columns)})")
    marks = ", ".join(mark if mark == "?" else f"${j + 1}" for j in range(len(rows)))
    for row in zip(*rows.values(), strict=True):
        execute(f"INSERT INTO sales VALUES ({marks})", row)


def connected(kind: str, request: pytest.FixtureRequest) -> Any:
    if kind == "sqlite":
        return sqlite3.connect(":memory:")
    if kind == "duckdb":
        return pytest.importorskip("duckdb").connect()
    server = request.getfixturevalue("postgresql")
    return import_module("adbc_driver_postgresql.dbapi").connect(server.address)


@pytest.fixture(scope="module", params=DATABASES)
def sales(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A connection to a database with the table sales."""
    with closing(connected(request.param, request)) as connection:
        with closing(connection.cursor()) as cursor:
            run = connection if request.param == "duckdb" else cursor
            if request.param == "postgres":
                cursor.execute("DROP TABLE IF EXISTS sales CASCADE")
            filled(run.execute, table(), "$" if request.param == "postgres" else "?")
        connection.commit()
        yield connection


def flat(value: Any) -> list[float]:
    """The numbers of an array, a number, or a list of arrays."""
    parts = value if isinstance(value, list) else [value]
    return [float(x) for part in parts for x in np.ravel(part)]


REAL = '"returned", "whole", "real", "gap", "select", "größe ""x"""'
CASES = [
    (GaussianNB(), REAL, "returned"),
    (NaiveBayes.textbook(), f"{REAL}, flag, hue", "returned"),
    (CategoricalNB(), 'returned, hue, "größe ""x""", flag', "returned"),
    (BernoulliNB(), "returned, real, flag", "returned"),
    (LinearDiscriminantAnalysis(), REAL, "returned"),
    (LinearDiscriminantAnalysis(), "returned, real, gap, flag, hue", "returned"),
    (QuadraticDiscriminantAnalysis(), REAL, "returned"),
    (LinearRegression(), 'real, whole, "select", flag', "real"),
    (LinearRegression(incomplete="drop"), "real, gap, hue, flag", "real"),
    (LinearRegression(fit_intercept=False), 'real, "select", flag', "real"),
    (Ridge(ordered={"größe": range(9)}), 'real, "select", "größe ""x""" AS größe', "real"),
]


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{type(case[0]).__name__}")
def test_sums_are_those_of_the_rows(sales: Any, case: Any, weight: str | None) -> None:
    estimator, columns, y = case
    columns += "" if weight is None else ", weight"
    rows = estimator.unfitted().fit(read_sql(f"SELECT {columns} FROM sales", sales), y, weight)
    for order in ("real", "real DESC"):
        query = read_sql(f"SELECT {columns} FROM sales ORDER BY {order} LIMIT {N};", sales)
        sums = estimator.sums(query, y, weight, where="database")
        model = estimator.unfitted().fit(sums)
        assert sums == rows.sums_
        assert sums.reader == rows.reader_
        for name in ("theta_", "var_", "class_prior_", "coef_", "intercept_", "feature_log_prob_"):
            if hasattr(rows, name):
                mine, theirs = (flat(getattr(one, name)) for one in (model, rows))
                assert mine == theirs


@pytest.mark.parametrize("by", ["store", ["store", "month"]])
def test_sums_by_group(sales: Any, by: Any) -> None:
    keys = "store, month" if isinstance(by, list) else "store"
    for estimator, columns, y in CASES:
        if estimator.get_params().get("incomplete") == "drop":
            continue
        query = f"SELECT {columns}, {keys} FROM sales"
        found = estimator.sums(read_sql(query, sales), y, by=by, where="database")
        assert found == estimator.sums(read_sql(query, sales), y, by=by)


@pytest.mark.parametrize("weight", [None, "weight"])
def test_doubles_of_the_database(sales: Any, weight: str | None) -> None:
    flag = "CASE WHEN returned = 'no' THEN TRUE ELSE flag END AS flag"
    columns = f'returned, real, "select", {flag}' + ("" if weight is None else ", weight")
    query = read_sql(f"SELECT {columns} FROM sales", sales)
    for estimator in (GaussianNB(), LinearDiscriminantAnalysis()):
        rough = estimator.sums(query, "returned", weight, where="database", exact=False)
        fitted = estimator.unfitted().fit(rough)
        expected = estimator.unfitted().fit(query, "returned", weight)
        for name in ("theta_", "var_", "means_", "coef_", "class_prior_"):
            if hasattr(expected, name):
                mine, theirs = (flat(getattr(one, name)) for one in (fitted, expected))
                np.testing.assert_allclose(mine, theirs, rtol=1e-9)


def test_few_bytes_come_back() -> None:
    database = pytest.importorskip("duckdb").connect()
    numbers = ", ".join(f"random() AS c{j}" for j in range(15))
    database.execute(f"CREATE TABLE t AS SELECT i % 3 AS y, {numbers} FROM range(1000) t(i)")
    columns = [f"c{j}" for j in range(15)]
    select = sql_of_sums(LinearDiscriminantAnalysis(), "t", "y", columns)
    answer = database.execute(select).fetchall()
    assert sum(len(str(cell)) for row in answer for cell in row) < 100_000


# -- cells


def of_cells(cells: list[Any], y: list[Any] | None = None) -> Any:
    """A query of a column x, and a label or target y, in SQLite."""
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE t (x, y)")
    labels = [f"c{i % 2}" for i in range(len(cells))] if y is None else y
    database.executemany("INSERT INTO t VALUES (?, ?)", zip(cells, labels, strict=True))
    return read_sql("SELECT * FROM t", database)


@pytest.mark.parametrize(
    ("estimator", "cells", "y"),
    [
        (GaussianNB(), [1.0, np.inf, 3.0], None),
        (GaussianNB(), [1.0, 1e200, 3.0], None),
        (GaussianNB(), [1, 2**53 + 1, 3], None),
        (GaussianNB(), [1.0, 2.0, 3.0], [0.5, 1.0, 2.0]),
        (GaussianNB(), [b"x", b"y"], None),
        (CategoricalNB(), [0.5, None], [None, None]),
        (NaiveBayes.textbook({"x": "bernoulli"}), [0, 1, 2], None),
        (LinearRegression(), [1.0, None, 3.0], [1.0, 2.0, 4.0]),
        (LinearRegression(), ["a", None, "b"], [1.0, 2.0, 4.0]),
        (LinearRegression(), [1.0, 2.0], ["a", "b"]),
    ],
)
def test_what_rows_refuse(estimator: Any, cells: list[Any], y: list[Any] | None) -> None:
    query = of_cells(cells, y)
    with pytest.raises(SufficeError) as rows:
        estimator.unfitted().fit(query, "y")
    with pytest.raises(type(rows.value)):
        estimator.unfitted().fit(estimator.sums(query, "y", where="database"))


@pytest.mark.parametrize(
    "cells",
    [
        [-1, 1, 1, -1],
        [0, 1, 1, 0],
        [-1, 0, 1, 0],
        [2.0**60, -(2.0**60), 1.0, 3.0],
        [1e9 + 1 / 3, 1e9 + 2 / 3, 1e9, 1e9],
        ["yes", "no", None, "no"],
        [None, None, 1.0, None],
        [0.0, -0.0, 0.0, 0.0],
    ],
)
def test_odd_cells(cells: list[Any]) -> None:
    query, estimator = of_cells(cells, ["a", "a", "b", "b"]), NaiveBayes.textbook()
    expected, found = estimator.sums(query, "y"), estimator.sums(query, "y", where="database")
    assert found == expected
    assert found.reader.layout == expected.reader.layout


CELLS = st.one_of(
    st.none(),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, 2.0**21, 2.0**22 - 0.5, math.nan, 5e-324]),
    st.floats(-1e4, 1e4, allow_subnormal=True),
)


@settings(deadline=None, max_examples=12)
@given(
    st.lists(st.tuples(CELLS, CELLS), min_size=2, max_size=9),
    st.integers(-60, 60) | st.sampled_from([-1000, 400]),
    st.sampled_from([1, 700]),
    st.sampled_from([None, "w"]),
)
def test_doubles_of_any_size(
    rows: list[tuple[Any, Any]], power: int, times: int, weight: str | None
) -> None:
    rounded = [
        [c and math.ldexp(float(np.rint(c * 2**30)), power - 30) for c in row] for row in rows
    ]
    for cells in (rounded, [[x and x * 1.0 for x in row] for row in rows]):
        table = {"x": [row[0] for row in cells], "z": [row[1] for row in cells]}
        table = {name: pa.array(column * times, pa.float64()) for name, column in table.items()}
        n = len(cells) * times
        table |= {"y": pa.array(["ab"[i % 3 % 2] for i in range(n)])}
        table |= {"w": pa.array([[0.5, 1 / 3, 0.0][i % 3 if weight else 0] for i in range(n)])}
        with closing(pytest.importorskip("duckdb").connect()) as database:
            database.register("t", pa.table(table))
            columns = "x, z, y" + (", w" if weight else "")
            query = read_sql(f"SELECT {columns} FROM t", database)
            for estimator in (GaussianNB(), LinearDiscriminantAnalysis()):
                try:
                    expected = estimator.sums(query, "y", weight)
                except SufficeError:  # numbers too large, or none
                    continue
                try:
                    found = estimator.sums(query, "y", weight, where="database")
                except DataError as error:
                    if "binary digits" not in str(error):
                        raise
                else:
                    assert found == expected


@pytest.mark.parametrize("odd", ["x", "y", "w"])
def test_cells_that_are_no_number(odd: str) -> None:
    cells = {"x": [2.5, 1.0, 0.5, 4.0], "y": [0.0, 1.0, 1.0, 0.0], "w": [1.0, 2.0, 0.5, 1.0]}
    cells[odd][3] = math.nan
    with closing(pytest.importorskip("duckdb").connect()) as database:
        database.register("t", pa.table(cells))
        query = read_sql("SELECT * FROM t", database)
        if odd == "w":
            with pytest.raises(DataError, match="column 'w'"):
                GaussianNB().sums(query, "y", "w", where="database")
        else:
            found = GaussianNB().sums(query, "y", "w", where="database")
            assert found == GaussianNB().sums(query, "y", "w")


@pytest.mark.parametrize("power", [25, 26, 27, 29, 30, 31, 52])
def test_whole_numbers_of_one_digit_or_more(sales: Any, power: int) -> None:
    largest = f"CASE WHEN x % 2 = 0 THEN {2**power} ELSE {-(2**power)} END"
    cells = (
        f'SELECT \'a\' AS y, {largest} - x AS x FROM (SELECT "größe ""x""" AS x FROM sales) AS t'
    )
    query = read_sql(cells, sales)
    for estimator in (GaussianNB(), LinearDiscriminantAnalysis()):
        assert estimator.sums(query, "y", where="database") == estimator.sums(query, "y")


class Growing:
    """A table whose numbers are larger whenever they are read."""

    size = 1.0

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        self.size *= 1e3
        table = pa.table({"x": [self.size / 7, -self.size / 3, 1.0], "y": ["a", "b", "b"]})
        return table.__arrow_c_stream__(requested_schema)


def test_rows_that_change_between_statements() -> None:
    with closing(pytest.importorskip("duckdb").connect()) as database:
        database.register("t", Growing())
        with pytest.raises(DataError, match="statement"):
            GaussianNB().sums(read_sql("SELECT * FROM t", database), "y", where="database")


def test_numbers_too_far_apart() -> None:
    with pytest.raises(DataError, match="'x'"):
        GaussianNB().sums(of_cells([1e-300, 1 / 3, 2.0]), "y", where="database")


def test_strings_that_differ_in_case_only() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE t (hue TEXT COLLATE NOCASE, y TEXT COLLATE NOCASE)")
        rows = [("red", "a"), ("Red", "A"), ("blue", "a"), ("RED", "a")]
        database.executemany("INSERT INTO t VALUES (?, ?)", rows)
        query = read_sql("SELECT * FROM t", database)
        estimator = NaiveBayes.textbook()
        assert estimator.sums(query, "y", where="database") == estimator.sums(query, "y")


def test_tables_without_rows() -> None:
    for estimator in (GaussianNB(), NaiveBayes.textbook(), LinearRegression()):
        with pytest.raises(SufficeError):
            estimator.unfitted().fit(estimator.sums(of_cells([]), "y", where="database"))


def test_parameters_of_queries() -> None:
    with closing(sqlite3.connect(":memory:")) as database:
        filled(database.execute, table())
        text = "SELECT real, returned FROM sales WHERE real > ? -- a remark"
        query = read_sql(text, database, [0.5])
        found = GaussianNB().sums(query, "returned", where="database")
        assert found == GaussianNB().sums(query, "returned")


# -- what is refused


@pytest.mark.parametrize(
    "estimator",
    [
        NaiveBayes(),
        NaiveBayes.textbook(calibration="weights"),
        MultinomialNB(),
        AODE(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        LinearRegression(formula="y ~ log(x)"),
    ],
)
def test_estimators_that_need_more(estimator: Any) -> None:
    with pytest.raises(ParameterError, match=type(estimator).__name__):
        estimator.sums(of_cells([1.0, 2.0, 3.0], [1, 2, 2]), "y", where="database")


def test_arguments() -> None:
    query = of_cells([1.0, 2.0])
    with pytest.raises(ParameterError, match="where"):
        GaussianNB().sums(query, "y", where="here")
    with pytest.raises(ParameterError, match="read_sql"):
        GaussianNB().sums([[1.0]], "y", where="database")
    with pytest.raises(ParameterError, match="y="):
        GaussianNB().sums(query, [0, 1], where="database")
    with pytest.raises(SchemaError, match="'z'"):
        GaussianNB().sums(query, "z", where="database")
    with pytest.raises(ParameterError, match="LogisticRegression"):
        sql_of_sums(LogisticRegression(), "t", "y", ["x"])
    with pytest.raises(ParameterError, match="'x'"):
        sql_of_sums(GaussianNB(), "t", "y", {"x": "date"})
    with pytest.raises(ParameterError, match="'x'"):
        sql_of_sums(LinearRegression(), "t", "y", {"x": "category"})


# -- views


VIEWS = [
    (GaussianNB(), {"price": "number", "qty": "whole"}, "returned"),
    (NaiveBayes.textbook(), {"price": "number", "hue": "category", "paid": "boolean"}, "returned"),
    (LinearDiscriminantAnalysis(), {"price": "number", "hue": ["a", "b", "ü'x"]}, "returned"),
    (LinearRegression(), {"qty": "whole", "hue": ["a", "b", "ü'x"]}, "price"),
]
COLUMNS = "id INT, returned TEXT, price DOUBLE PRECISION, qty INT, hue TEXT, paid BOOLEAN"


@pytest.mark.parametrize("kind", DATABASES)
def test_a_view_forgets(kind: str, request: pytest.FixtureRequest) -> None:
    rng = np.random.default_rng(3)
    n = 3_000 if kind == "sqlite" else 300
    with closing(connected(kind, request)) as connection:
        cursor = connection if kind == "duckdb" else connection.cursor()
        cursor.execute(f"CREATE TEMPORARY TABLE shop ({COLUMNS})")
        marks = ", ".join("?" if kind != "postgres" else f"${j + 1}" for j in range(6))
        for j, (estimator, columns, y) in enumerate(VIEWS):
            select = sql_of_sums(estimator, "shop", y, columns, dialect=kind)
            cursor.execute(f"CREATE TEMPORARY VIEW shop_sums{j} AS {select}")
        for i in range(n):
            price = float(rng.normal()) * 10.0 ** int(rng.integers(-2, 6))
            words = str(rng.choice(["yes", "no"])), str(rng.choice(["a", "b", "ü'x"]))
            row = (i, words[0], price, int(rng.integers(9)), words[1], bool(rng.random() < 0.4))
            cursor.execute(f"INSERT INTO shop VALUES ({marks})", row)
            if i % 3 == 2:
                cursor.execute(f"DELETE FROM shop WHERE id = {int(rng.integers(i + 1))}")
        for j, (estimator, columns, y) in enumerate(VIEWS):
            view = read_sql(f"SELECT * FROM shop_sums{j}", connection)
            sums = estimator.sums(view, y, where="view")
            fresh = read_sql(f"SELECT {', '.join(columns)}, {y} FROM shop", connection)
            assert sums == estimator.sums(fresh, y)
            with pytest.raises(SufficeError):
                (Ridge() if y == "returned" else GaussianNB()).sums(view, y, where="view")
        cursor.execute("UPDATE shop SET price = 1e20, hue = 'new' WHERE qty = 3")
        for j, (estimator, _, y) in enumerate(VIEWS):
            with pytest.raises(DataError):
                estimator.sums(read_sql(f"SELECT * FROM shop_sums{j}", connection), y, where="view")
        cursor.execute("DELETE FROM shop")
        with pytest.raises(SufficeError):
            estimator.sums(read_sql("SELECT * FROM shop_sums0", connection), y, where="view")


def test_a_view_of_weighted_rows() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        filled(connection.execute, table())
        for estimator in (GaussianNB(), LinearDiscriminantAnalysis()):
            columns, label = {"real": "number", "select": "number"}, "returned"
            select = sql_of_sums(
                estimator, "sales", label, columns, sample_weight="weight", dialect="sqlite"
            )
            rows = read_sql('SELECT real, "select", returned, weight FROM sales', connection)
            view = read_sql(select, connection)
            sums = estimator.sums(view, label, "weight", where="view")
            assert sums == estimator.sums(rows, label, "weight")


@pytest.mark.parametrize("dialect", ["bigquery", "snowflake", "spark", "clickhouse"])
def test_other_dialects_are_parsed(dialect: str) -> None:
    sqlglot = pytest.importorskip("sqlglot")
    for estimator, columns, y in VIEWS:
        for query in ("shop", "SELECT * FROM shop WHERE qty > 3"):
            select = sql_of_sums(estimator, query, y, columns, dialect=dialect)
            (found,) = sqlglot.parse(select, read=dialect)
            assert [t.name for t in found.find_all(sqlglot.exp.Table) if t.name == "shop"]


@pytest.mark.parametrize("weight", ["NULL", "-1.0"])
@pytest.mark.parametrize("y", ["y", "label"])
def test_a_weight_that_is_none_is_refused(weight: str, y: str) -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (x REAL, y REAL, label TEXT, w REAL)")
        rows = [(1.0, 2.0, "a", 1.0), (2.0, 3.0, "b", 0.0), (4.0, 1.0, "a", 2.5)]
        connection.executemany("INSERT INTO t VALUES (?, ?, ?, ?)", rows)
        estimator = LinearRegression() if y == "y" else GaussianNB()
        query = read_sql(f"SELECT x, {y}, w FROM t", connection)
        assert len(estimator.sums(query, y, "w", where="database")) == 1
        bad = f"SELECT x, {y}, w FROM t UNION ALL SELECT 1.0, {y}, {weight} FROM t WHERE x = 1"
        with pytest.raises(DataError, match="column 'w'"):
            estimator.sums(read_sql(bad, connection), y, "w", where="database")
