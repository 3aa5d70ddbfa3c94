"""PostgreSQL through ADBC: types, streams, and a server that goes away."""

from collections.abc import Iterator
from contextlib import closing
from importlib import import_module
from typing import Any
from urllib.parse import urlsplit

import pyarrow as pa
import pytest
from tests.data.reading import message, read, rows

from suffice import NaiveBayes
from suffice.errors import ParameterError, SchemaError, SufficeError


def test_types(postgresql: Any) -> None:
    query = """
        SELECT 3::int2 AS small, 1.25::numeric AS price, 1.1::numeric(9, 2) AS tax,
               'NaN'::numeric AS hole, 2.5::float4 AS f, true AS b, 'x'::varchar(3) AS s,
               date '2026-01-02' AS d, '{"a":1}'::json AS j, NULL AS nothing
    """
    table = read(query, postgresql.address)
    (row,) = rows(table)
    hole = row.pop("hole")
    assert hole != hole
    assert {name: value for name, value in row.items() if name != "d"} == {
        "small": 3,
        "price": 1.25,
        "tax": 1.1,
        "f": 2.5,
        "b": True,
        "s": "x",
        "j": '{"a":1}',
        "nothing": None,
    }
    assert table.schema.field("price").type == table.schema.field("tax").type == pa.float64()


def test_numeric_without_rows(postgresql: Any) -> None:
    table = read("SELECT 1.5::numeric AS x WHERE false", postgresql.address)
    assert table.schema.field("x").type == pa.float64()
    assert rows(table) == []


def test_numeric_beyond_doubles(postgresql: Any) -> None:
    query = "SELECT CASE i WHEN 9 THEN {} ELSE i END::numeric AS x FROM generate_series(1, 9) i"
    for digits in ("9007199254740994", "123456789012345678.5", "1e22"):
        assert rows(read(query.format(f"'{digits}'::numeric"), postgresql.address))[8] == {
            "x": float(digits)
        }
    asked = query.format("9007199254740993::numeric")
    said = message(lambda: read(asked, postgresql.address))
    assert said.startswith("row 9 of the query, column 'x': 9007199254740993; a whole number ")


@pytest.mark.parametrize("value", ["'1.2.3.4'::inet", "gen_random_uuid()"])
def test_types_that_arrive_as_bytes(postgresql: Any, value: str) -> None:
    said = message(lambda: read(f"SELECT {value} AS x", postgresql.address), SchemaError)
    assert said.startswith("column 'x' of the query holds extension<arrow.")
    assert said.endswith("; it arrives as bytes; cast it in the query: CAST(x AS text).")
    assert len(rows(read(f"SELECT CAST({value} AS text) AS x", postgresql.address))) == 1


def test_many_rows_come_as_a_stream(postgresql: Any) -> None:
    query = "SELECT i, (i % 10)::numeric AS n, 'v' || i % 7 AS s FROM generate_series(1, 400000) i"
    table = read(query, postgresql.address)
    assert len(table.kept) > 1
    found = rows(table)
    assert (len(found), found[-1]) == (400_000, {"i": 400_000, "n": 0.0, "s": "v6"})
    model = NaiveBayes.textbook({"i": "gaussian"}).fit(table, "s")
    assert model.predict(read("SELECT 1 AS i, 1.0::numeric AS n", postgresql.address)).shape == (1,)


def test_bad_queries(postgresql: Any) -> None:
    said = message(lambda: read("SELECT wings", postgresql.address))
    assert said.startswith("the database refuses the query: ")
    assert 'column "wings" does not exist' in said
    said = message(
        lambda: read(
            "SELECT 1 / (i - 300000) FROM generate_series(1, 400000) i", postgresql.address
        )
    )
    assert said.startswith("the query broke off after ")
    assert "division by zero" in said


CHANGES = [
    "WITH d AS (DELETE FROM pet RETURNING legs) SELECT legs FROM d",
    "SELECT legs INTO cat FROM pet",
    "SELECT nextval('number')",
]
REFUSED = "nothing is changed|in a read-only transaction"


def opened(driver: str, server: Any, autocommit: bool) -> Any:
    """A connection of one of the drivers whose databases are told to stay as they are."""
    module = pytest.importorskip(driver, reason=f"{driver} is not installed")
    if driver == "pg8000.dbapi":
        at = urlsplit(server.address)
        connection = module.connect(at.username, at.hostname, at.path[1:], at.port)
    else:
        connection = module.connect(server.address)
    if driver.startswith("adbc"):
        connection.adbc_connection.set_autocommit(autocommit)
    else:
        connection.autocommit = autocommit
    return connection


@pytest.fixture
def pet(postgresql: Any) -> Iterator[Any]:
    """A server with one table, of which another connection tells what is in it."""
    dbapi = import_module("adbc_driver_postgresql.dbapi")
    with dbapi.connect(postgresql.address, autocommit=True) as own, own.cursor() as cursor:
        cursor.execute("CREATE TABLE pet (legs integer)")
        cursor.execute("CREATE SEQUENCE number")
        cursor.execute("INSERT INTO pet VALUES (4)")
        yield cursor
        for kind, name in (("TABLE", "pet"), ("TABLE", "cat"), ("SEQUENCE", "number")):
            cursor.execute(f"DROP {kind} IF EXISTS {name}")


def legs(cursor: Any) -> list[int]:
    cursor.execute("SELECT legs FROM pet ORDER BY legs")
    return [row[0] for row in cursor.fetchall()]


@pytest.mark.parametrize("query", CHANGES)
def test_an_address_is_only_read(postgresql: Any, pet: Any, query: str) -> None:
    with pytest.raises(SufficeError, match=REFUSED):
        read(query, postgresql.address)
    assert legs(pet) == [4]
    pet.execute("SELECT nextval('number')")
    assert pet.fetchall() == [(1,)]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("SELECT 1; DELETE FROM pet", "the query has 2 statements; "),
        ("SELECT '\\' ; DELETE FROM pet --'", "the query has 2 statements; "),
        ("COPY pet TO PROGRAM 'cat'", "the query holds COPY; "),
        ("EXPLAIN ANALYZE DELETE FROM pet", "the query holds COMMAND; "),
    ],
)
def test_one_statement_is_read(postgresql: Any, pet: Any, query: str, said: str) -> None:
    assert message(lambda: read(query, postgresql.address), ParameterError).startswith(said)
    assert legs(pet) == [4]


@pytest.mark.parametrize("autocommit", [False, True])
@pytest.mark.parametrize(
    "driver", ["adbc_driver_postgresql.dbapi", "psycopg", "psycopg2", "pg8000.dbapi"]
)
class TestConnections:
    def test_nothing_is_changed(
        self, postgresql: Any, pet: Any, driver: str, autocommit: bool
    ) -> None:
        for query in CHANGES:
            with closing(opened(driver, postgresql, autocommit)) as connection:
                with pytest.raises(SufficeError, match=REFUSED):
                    read(query, connection)
                connection.rollback() if not autocommit else None
                with closing(connection.cursor()) as cursor:  # it may write again
                    cursor.execute("INSERT INTO pet VALUES (8)")
                    cursor.execute("DELETE FROM pet WHERE legs = 8")
                connection.commit() if not autocommit else None
        assert legs(pet) == [4]

    def test_a_transaction_goes_on(
        self, postgresql: Any, pet: Any, driver: str, autocommit: bool
    ) -> None:
        with closing(opened(driver, postgresql, autocommit)) as connection:
            with closing(connection.cursor()) as cursor:
                if autocommit:
                    cursor.execute("BEGIN")
                cursor.execute("INSERT INTO pet VALUES (8)")
                query = "SELECT legs FROM pet ORDER BY legs;"
                assert rows(read(query, connection)) == [{"legs": 4}, {"legs": 8}]
                assert legs(pet) == [4]
                cursor.execute("INSERT INTO pet VALUES (6)")
                if autocommit:
                    cursor.execute("COMMIT")
            connection.commit() if not autocommit else None
        assert legs(pet) == [4, 6, 8]


class Falling:
    """A connection whose server stops after the first batch."""

    def __init__(self, connection: Any, server: Any) -> None:
        self._connection, self._server = connection, server

    def cursor(self) -> Any:
        cursor, server = self._connection.cursor(), self._server
        whole = cursor.fetch_record_batch

        def falling() -> Iterator[pa.RecordBatch]:
            for number, batch in enumerate(whole()):
                if number == 1:
                    server.stop()
                yield batch

        class Reader:
            def __init__(self) -> None:
                self._batches = falling()
                self._first = next(self._batches)
                self.schema = self._first.schema

            def __iter__(self) -> Iterator[pa.RecordBatch]:
                yield self._first
                yield from self._batches

        cursor.fetch_record_batch = Reader
        return cursor


def test_a_server_that_goes_away_on_the_way(postgresql: Any) -> None:
    from adbc_driver_postgresql import dbapi

    query = "SELECT i, repeat('y', 100) AS s FROM generate_series(1, 5000000) i"
    try:
        with dbapi.connect(postgresql.address) as connection:
            said = message(lambda: read(query, Falling(connection, postgresql)))
    finally:
        postgresql.start()
    assert said.startswith("the query broke off after ")
    assert "server closed the connection unexpectedly" in said
    assert said.endswith("; nothing was learnt from them; begin again.")
    assert rows(read("SELECT 1 AS x", postgresql.address)) == [{"x": 1}]


def test_a_server_that_is_not_there(postgresql: Any) -> None:
    address = f"postgresql://ann:secret@127.0.0.1:{postgresql.port}/postgres?connect_timeout=5"
    postgresql.stop()
    try:
        said = message(lambda: read("SELECT 1", address))
    finally:
        postgresql.start()
    assert said.startswith("postgresql://... cannot be opened: ")
    assert f"port {postgresql.port} failed" in said
    assert "Connection refused" in said
    assert "secret" not in said
    assert said.endswith("; check the address and the server.")
