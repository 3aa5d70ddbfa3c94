"""Queries: read once, typed by what the cells are, and never half."""

import datetime
import re
import sqlite3
import warnings
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.data.reading import message, read, rows

from suffice import NaiveBayes
from suffice.errors import ParameterError, ReadError, SchemaError, SufficeError


def typed(cells: Sequence[object]) -> Any:
    """A column of these cells, and one of zeros, as a query hands them over."""
    return read("SELECT", Connection([(cell, 0) for cell in cells]))


class TestTypes:
    """What columns of Python objects become."""

    @pytest.mark.parametrize(
        ("cells", "kind", "expected"),
        [
            ([None, None], pa.null(), [None, None]),
            ([None, 1, 2**63 - 1, -(2**63)], pa.int64(), [None, 1, 2**63 - 1, -(2**63)]),
            ([1, None, 0.5], pa.float64(), [1.0, None, 0.5]),
            ([0.5, 2**53 - 1], pa.float64(), [0.5, 2.0**53 - 1]),
            ([2**70, 0.5], pa.float64(), [2.0**70, 0.5]),
            ([Decimal("1.10"), 2, None], pa.float64(), [1.1, 2.0, None]),
            (["a", None, "ü"], pa.string(), ["a", None, "ü"]),
            (
                [None, 1, 0.25, "x", 2**53 + 1],
                pa.string(),
                [None, "1", "0.25", "x", f"{2**53 + 1}"],
            ),
            ([True, None], pa.bool_(), [True, None]),
            ([b"a"], pa.binary(), [b"a"]),
            ([datetime.date(2026, 1, 2)], pa.date32(), [datetime.date(2026, 1, 2)]),
        ],
    )
    def test_every_cell_counts(
        self, cells: list[object], kind: pa.DataType, expected: list[object]
    ) -> None:
        table = typed(cells)
        assert table.schema.field("x").type == kind
        assert [row["x"] for row in rows(table)] == expected

    @pytest.mark.parametrize("size", [1, 5])
    @pytest.mark.parametrize(
        ("cells", "row", "fact"),
        [
            ([True, 1], 2, "1 does not fit"),
            ([1, 2, datetime.date(2026, 1, 1)], 3, "datetime.date(2026, 1, 1) does not fit"),
            ([1, 2**63], 2, "9223372036854775808 does not fit"),
        ],
    )
    def test_a_misfit_is_named(
        self, cells: list[object], row: int, fact: str, size: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("suffice.data.databases.ROWS_FETCHED", size)
        said = message(lambda: typed(cells))
        assert said.startswith(f"row {row} of the query, column 'x': {fact} the cells above it; ")
        assert said.endswith("; cast it in the query: CAST(x AS ...).")

    @pytest.mark.parametrize(
        ("cells", "row"),
        [
            ([0.5, 2**53 + 1], 2),
            ([2**53 + 1, 0.5], 1),
            ([0.5, None, 2**70 + 1, 2**53 + 1], 3),
            ([Decimal("0.5"), Decimal(-(2**53) - 1)], 2),
            ([0.5, 10**400], 2),
        ],
    )
    def test_a_whole_number_is_not_rounded(self, cells: list[object], row: int) -> None:
        said = message(lambda: typed(cells))
        assert said.startswith(f"row {row} of the query, column 'x': ")
        assert said.endswith(
            "; a whole number beyond 2^53 is taken if a double holds it, and never rounded; "
            "subtract a constant from the column; if it names things, make it a category or "
            "strings."
        )


@pytest.fixture
def pets(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "pets.db")
    connection.execute("CREATE TABLE pet (weight, legs INTEGER, kind TEXT)")
    connection.executemany(
        "INSERT INTO pet VALUES (?, ?, ?)", [(None, 4, "cat"), (4, 4, "cat"), (7.5, None, "dog")]
    )
    connection.commit()
    yield connection
    connection.close()


PETS = [
    {"weight": None, "legs": 4, "kind": "cat"},
    {"weight": 4.0, "legs": 4, "kind": "cat"},
    {"weight": 7.5, "legs": None, "kind": "dog"},
]
ONLY = "the database refuses the query: attempt to write a readonly database; "


class TestSqlite:
    def test_by_address_and_by_connection(
        self, pets: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        for where in (pets, "sqlite:///pets.db", f"sqlite:///{tmp_path / 'pets.db'}"):
            assert rows(read("SELECT * FROM pet", where)) == PETS
        pets.row_factory = sqlite3.Row
        assert rows(read("SELECT * FROM pet", pets)) == PETS
        pets.row_factory = lambda cursor, row: {"no": "row"}
        assert rows(read("SELECT * FROM pet", pets)) == PETS

    def test_whole_numbers_above_the_first_fraction(self, pets: sqlite3.Connection) -> None:
        query = """
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)
            SELECT CASE i WHEN 70000 THEN 0.5 WHEN 3 THEN ? ELSE i END AS x FROM n
        """
        assert rows(read(query, pets, [2**60]))[2] == {"x": 2.0**60}
        said = message(lambda: rows(read(query, pets, [2**53 + 1])))
        assert said.startswith("row 3 of the query, column 'x': 9007199254740993; a whole number ")

    def test_numbers_among_text_are_read_as_in_a_text_file(
        self, pets: sqlite3.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("suffice.data.databases.ROWS_FETCHED", 8)
        cells: list[Any] = [i if i % 3 else i + 0.5 for i in range(60)]
        cells[50] = "NA"
        pets.execute("CREATE TABLE lab (x, kind)")
        pets.executemany(
            "INSERT INTO lab VALUES (?, ?)", [(x, "ab"[i % 2]) for i, x in enumerate(cells)]
        )
        path = tmp_path / "lab.csv"
        path.write_text("x,kind\n" + "".join(f"{x},{'ab'[i % 2]}\n" for i, x in enumerate(cells)))
        expected = NaiveBayes().fit(path, "kind")
        with warnings.catch_warnings(record=True, action="always") as said:
            model = NaiveBayes().fit(read("SELECT * FROM lab", pets), "kind")
            pets.execute("UPDATE lab SET x = '<5' WHERE rowid = 9")
            NaiveBayes().fit(read("SELECT * FROM lab", pets), "kind")
        assert model.statistic_ == expected.statistic_
        words = "; ".join(str(one.message) for one in said)
        assert "1 cell of column 'x' stands for a missing value, as 'NA' does" in words
        assert re.search(r"'x' would be numbers but for 1 of .* cells, first '<5' in row 8", words)

    def test_the_rows_stay_when_the_database_changes(self, pets: sqlite3.Connection) -> None:
        table = read("SELECT * FROM pet", pets)
        pets.execute("DELETE FROM pet")
        assert rows(table) == PETS
        assert table.parts({"legs": None})[0].locate(2) == "row 3 of the query"

    def test_no_rows(self, pets: sqlite3.Connection) -> None:
        table = read("SELECT * FROM pet WHERE legs = 5", pets)
        assert table.names == ("weight", "legs", "kind")
        assert rows(table) == []

    @pytest.mark.parametrize(
        ("query", "kind", "said"),
        [
            (
                "SELECT wings FROM pet",
                ReadError,
                "the database refuses the query: no such column: wings; correct it.",
            ),
            (
                "BEGIN",
                ParameterError,
                "the query begins with BEGIN; rows are read, and nothing is changed; use SELECT.",
            ),
            (
                " /* all\nlegs */ -- three\nUpdate pet SET legs = 3",
                ParameterError,
                "the query begins with UPDATE; rows are read, and nothing is changed; use SELECT.",
            ),
            (b"SELECT 1", ParameterError, "query=b'SELECT 1'; a query is a string."),
            (
                "SELECT legs, legs FROM pet",
                SchemaError,
                "column 'legs' is there twice; column names differ; rename one of them.",
            ),
            (
                "SELECT CAST(x'ff' AS TEXT) AS u",
                ReadError,
                "the query broke off after 0 rows: Could not decode to UTF-8 column 'u' with text "
                "'\ufffd'; nothing was learnt from them; begin again.",
            ),
        ],
    )
    def test_bad_queries(
        self, pets: sqlite3.Connection, query: str, kind: type[Exception], said: str
    ) -> None:
        assert message(lambda: read(query, pets), kind) == said
        assert rows(read("SELECT * FROM pet", pets)) == PETS

    @pytest.mark.parametrize(
        ("where", "parameters"), [("legs = ?", (4,)), ("legs = :legs", {"legs": 4})]
    )
    def test_parameters(self, pets: sqlite3.Connection, where: str, parameters: Any) -> None:
        query = f"SELECT * FROM pet WHERE {where}"
        assert rows(read(query, pets, parameters)) == PETS[:2]

    def test_no_database_is_made(self, tmp_path: Path) -> None:
        path = tmp_path / "none.db"
        assert message(lambda: read("SELECT 1", f"sqlite:///{path}")).startswith(
            f"sqlite:///{path} cannot be opened: unable to open database file; "
        )
        assert not path.exists()

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ("SELECT 1; DELETE FROM pet", "the database refuses the query: You can only execute"),
            ("PRAGMA user_version = 7", "the query begins with PRAGMA; rows are read, "),
            ("ATTACH 'new.db' AS new", "the query begins with ATTACH; rows are read, "),
            ("EXPLAIN DELETE FROM pet", "the query begins with EXPLAIN; rows are read, "),
            ("", "the query is empty; rows are read, "),
            (" -- nothing\n;", "the query is empty; rows are read, "),
            ("WITH n(x) AS (SELECT 1) INSERT INTO pet SELECT x, x, 'ant' FROM n RETURNING 1", ONLY),
            ("WITH n(x) AS (SELECT 4) DELETE FROM pet WHERE legs IN n RETURNING kind", ONLY),
            ("WITH n(x) AS (SELECT 4) UPDATE pet SET legs = 5 RETURNING legs", ONLY),
        ],
    )
    def test_a_change_is_refused(self, pets: sqlite3.Connection, query: str, said: str) -> None:
        assert message(lambda: read(query, pets), SufficeError).startswith(said)
        assert pets.execute("PRAGMA user_version").fetchone() == (0,)
        assert rows(read("SELECT * FROM pet", pets)) == PETS

    def test_a_transaction_goes_on(self, pets: sqlite3.Connection) -> None:
        pets.execute("INSERT INTO pet VALUES (0.1, 6, 'ant')")
        assert rows(read("SELECT legs FROM pet WHERE kind = 'ant'", pets)) == [{"legs": 6}]
        assert pets.in_transaction
        message(lambda: read("WITH n AS (SELECT 1) DELETE FROM pet RETURNING 1", pets))
        pets.execute("INSERT INTO pet VALUES (0.2, 8, 'spider')")  # it may write again
        pets.rollback()
        assert rows(read("SELECT * FROM pet", pets)) == PETS

    def test_a_closed_connection(self, pets: sqlite3.Connection) -> None:
        pets.close()
        assert message(lambda: read("SELECT * FROM pet", pets)).startswith(
            "the database does not answer: Cannot operate on a closed database; "
        )

    def test_by_adbc(self, pets: sqlite3.Connection, tmp_path: Path) -> None:
        dbapi = pytest.importorskip("adbc_driver_sqlite.dbapi", reason="no ADBC driver of SQLite")
        with dbapi.connect(str(tmp_path / "pets.db")) as connection:
            assert rows(read("SELECT legs, kind FROM pet", connection)) == [
                {"legs": row["legs"], "kind": row["kind"]} for row in PETS
            ]
            # That driver decides by the first row it sees.
            many = "SELECT NULL AS x FROM pet a, pet b, pet c, pet d, pet e, pet f, pet g, pet h"
            said = message(lambda: read(f"{many} UNION ALL SELECT 0.5", connection))
            assert said.startswith("the query broke off after ")
            query = "WITH n AS (SELECT 1) DELETE FROM pet RETURNING legs"
            assert "attempt to write a readonly database" in message(
                lambda: read(query, connection)
            )
        assert rows(read("SELECT * FROM pet", pets)) == PETS


class Cursor:
    """What DBAPI asks of a cursor, and nothing else."""

    def __init__(self, rows: Sequence[Any], end: Any) -> None:
        self._rows, self._end = list(rows), end
        self.description: Any = [(name, *[None] * 6) for name in ("x", "kind")]
        self.closed = False
        self.query = ""

    def execute(self, query: str) -> None:
        self.query = query

    def fetchmany(self, size: int) -> Any:
        some, self._rows = self._rows[:size], self._rows[size:]
        if not some and isinstance(self._end, Exception):
            raise self._end
        return some or self._end

    def close(self) -> None:
        self.closed = True


class Connection:
    def __init__(self, rows: Sequence[Any], end: Any = ()) -> None:
        self.only = Cursor(rows, end)

    def cursor(self) -> Cursor:
        return self.only


class TestAnyDriver:
    @pytest.mark.parametrize("end", [(), [], None])
    def test_rows(self, end: Any) -> None:
        connection = Connection([(Decimal("1.5"), "a"), [None, "b"]], end)
        assert rows(read("SELECT", connection)) == [
            {"x": 1.5, "kind": "a"},
            {"x": None, "kind": "b"},
        ]
        assert connection.only.closed

    def test_it_breaks_off(self) -> None:
        connection = Connection([(1, "a")] * 20_000, RuntimeError("the line\n is dead."))
        assert message(lambda: read("SELECT", connection)).startswith(
            "the query broke off after 20,000 rows: the line; "
        )
        assert connection.only.closed

    def test_no_columns(self) -> None:
        connection = Connection([])
        connection.only.description = None
        assert message(lambda: read("SELECT", connection)).startswith("the query returns no rows; ")

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ("DROP TABLE pet", "the query holds DROP; rows are read, and nothing is changed; "),
            ("EXPLAIN DELETE FROM pet", "the query holds COMMAND; "),
            ("SELECT 1; SELECT 2", "the query has 2 statements; a query is one statement; "),
            ("-- nothing\n;", "the query has 0 statements; "),
            ("WITH d AS (DELETE FROM pet RETURNING *) SELECT * FROM d", "the query holds DELETE; "),
            ("SELECT * INTO cat FROM pet", "the query holds INTO; "),
            ("SELECT * FROM pet FOR UPDATE", "the query holds LOCK; "),
        ],
    )
    def test_a_change_is_refused_before_it_is_asked_for(self, query: str, said: str) -> None:
        connection = Connection([(1, "a")])
        assert message(lambda: read(query, connection), ParameterError).startswith(said)
        assert connection.only.query == ""

    @pytest.mark.parametrize(
        "query",
        [
            "(SELECT 1) UNION (SELECT 2);;",
            "/* a */ WITH a AS (SELECT 1) SELECT * FROM a -- ;",
            "VALUES (1, ';')",
            "SELECT 'update', \"delete\", updated, replace(a, 'x', 'y') FROM c",
        ],
    )
    def test_a_reading_is_asked(self, query: str) -> None:
        connection = Connection([(1, "a")])
        assert rows(read(query, connection)) == [{"x": 1, "kind": "a"}]
        assert connection.only.query == query

    def test_no_connection(self) -> None:
        assert message(lambda: read("SELECT", 7), ParameterError).startswith("connection=7; ")


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "shown"),
        [
            ("mysql://ann:secret@host/pets", "mysql://..."),
            ("host=here password=secret", "a string without ://"),
            ("", "a string without ://"),
        ],
    )
    def test_unknown(self, address: str, shown: str) -> None:
        assert message(lambda: read("SELECT 1", address), ParameterError).startswith(
            f"connection is {shown}; "
        )

    def test_a_driver_that_is_not_installed(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def absent(name: str) -> None:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

        monkeypatch.setattr("suffice.errors.import_module", absent)
        assert message(
            lambda: read("SELECT 1", "postgresql://host/pets"), ParameterError
        ).startswith("connection is postgresql://...; adbc_driver_postgresql.dbapi is not ")


class TestDuckdb:
    @pytest.fixture
    def duckdb(self) -> Any:
        return pytest.importorskip("duckdb", reason="duckdb is not installed")

    def test_by_address_and_by_connection(self, duckdb: Any, tmp_path: Path) -> None:
        path = tmp_path / "pets.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.execute("CREATE TABLE pet (weight DOUBLE, legs INTEGER, kind VARCHAR)")
            connection.executemany(
                "INSERT INTO pet VALUES (?, ?, ?)", [list(row.values()) for row in PETS]
            )
            assert rows(read("SELECT * FROM pet", connection)) == PETS
            assert connection.execute("SELECT 1").fetchall() == [(1,)]
        assert rows(read("SELECT * FROM pet", f"duckdb:///{path}")) == PETS

    @pytest.mark.parametrize(
        ("query", "first"),
        [
            ("COPY pet TO 'pets.csv'", "COPY"),
            ("EXPORT DATABASE 'copy'", "EXPORT"),
            ("ATTACH 'new.duckdb'", "ATTACH"),
            ("SET threads = 1", "SET"),
            ("INSTALL httpfs", "LOAD"),
            ("LOAD httpfs", "LOAD"),
            ("EXPLAIN ANALYZE DELETE FROM pet", "EXPLAIN"),
            ("CALL pragma_version()", "CALL"),
        ],
    )
    def test_only_one_select_is_read(
        self, duckdb: Any, query: str, first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        with duckdb.connect() as connection:
            connection.execute("CREATE TABLE pet AS SELECT 4 AS legs")
            assert message(lambda: read(query, connection), ParameterError).startswith(
                f"duckdb finds {first} in the query; "
            )
            said = message(lambda: read(f"SELECT 1; {query}", connection), ParameterError)
            assert said.startswith(f"duckdb finds SELECT and {first} in the query; ")
            assert rows(read("FROM pet;", connection)) == [{"legs": 4}]
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize(
        "query",
        [
            "SELECT nextval('number') AS x",
            "WITH d AS (DELETE FROM pet RETURNING legs) SELECT * FROM d",  # one SELECT in duckdb 2
        ],
    )
    def test_the_database_refuses_to_write(self, duckdb: Any, query: str) -> None:
        with duckdb.connect() as connection:
            connection.execute("CREATE SEQUENCE number; CREATE TABLE pet AS SELECT 4 AS legs")
            with pytest.raises(ReadError, match="the database refuses the query"):
                read(query, connection)
            assert connection.execute("FROM pet").fetchall() == [(4,)]
            assert connection.execute("SELECT nextval('number')").fetchall() == [(1,)]

    def test_its_types(self, duckdb: Any) -> None:
        query = """
            SELECT 1.50::DECIMAL(9, 2) AS price, sum(3 * range) AS total,
                   'a'::ENUM('a', 'b') AS size,
                   CASE WHEN range % 2 = 0 THEN 'p' ELSE 'q' END AS kind
            FROM range(100) GROUP BY range
        """
        with duckdb.connect() as connection:
            model = NaiveBayes.textbook().fit(read(query, connection), "kind")
        assert [column.stored for column in model.schema_] == ["number", "number", "string"]

    def test_bad_queries(self, duckdb: Any) -> None:
        with duckdb.connect() as connection:
            said = message(lambda: read("SELECT wings FROM range(3)", connection))
            assert said.startswith("the database refuses the query: Binder Error: ")
            query = "SELECT CASE WHEN range = 1000000 THEN error('boom') ELSE '1' END AS x"
            said = message(lambda: read(f"{query} FROM range(2000000)", connection))
            assert said.startswith("the query broke off after ")
            assert "boom" in said
