"""Queries that must not change what they read: what every kind of database is asked to ensure."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from typing import Any

from suffice.data.databases.query_text import (
    POSTGRESQL,
    POSTGRESQL_8,
    SQLITE,
    require_no_change,
    require_one_reading,
    that_begins_with,
)
from suffice.data.files.spool import first_line
from suffice.errors import ReadError, SufficeError

__all__ = ["database_of", "read_only", "refused"]

DRIVERS = {
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "pg8000": "postgresql",
    "psycopg": "postgresql",
    "psycopg2": "postgresql",
}
SAVEPOINT = "suffice_reads"


@contextmanager
def refused(fact: str, next_step: str) -> Iterator[None]:
    """Turn whatever a driver raises into a ReadError; drivers share no class of errors."""
    try:
        yield
    except SufficeError:
        raise
    except Exception as error:
        raise ReadError(f"{fact}: {first_line(error)}", "", next_step) from error


def database_of(connection: Any) -> str:
    """Tell what a connection leads to: duckdb, postgresql, sqlite; nothing of another database.

    Raises
    ------
    ReadError
        If the connection is of ADBC, and broken.

    Examples
    --------
    >>> with closing(sqlite3.connect(":memory:")) as connection:
    ...     database_of(connection)
    'sqlite'
    """
    if isinstance(connection, sqlite3.Connection):
        return "sqlite"
    if hasattr(connection, "adbc_get_info"):
        with refused("the database does not answer", "connect again"):
            vendor = str(connection.adbc_get_info().get("vendor_name")).lower()
        return vendor if vendor in ("postgresql", "sqlite") else ""
    return DRIVERS.get(type(connection).__module__.partition(".")[0], "")


def read_only(connection: Any, query: str) -> AbstractContextManager[None]:
    """Let a query read and not write, as long as the context lasts.

    Raises
    ------
    ParameterError
        If the query is not one statement that returns rows; where the database itself cannot be
        asked to stay as it is, also if it holds a word of change.
    ReadError
        If the database does not answer.
    """
    return _GUARDS.get(database_of(connection), _by_text)(connection, query)


@contextmanager
def _by_text(_: Any, query: str) -> Iterator[None]:
    require_one_reading(query)
    require_no_change(query)
    yield


@contextmanager
def _sqlite(connection: Any, query: str) -> Iterator[None]:
    # Not by an authorizer: one of the user's could not be put back, and full-text and other
    # virtual tables do more than read when they are opened.
    require_one_reading(query, [SQLITE])
    with refused("the database does not answer", "connect again"):
        cursor = connection.cursor()
        if isinstance(cursor, sqlite3.Cursor):
            cursor.row_factory = None
        cursor.execute("PRAGMA query_only")
        before = cursor.fetchone()[0]
    end = [f"PRAGMA query_only = {before}"]
    with closing(cursor), _between("PRAGMA query_only = ON", end, cursor.execute):
        yield


@contextmanager
def _duckdb(connection: Any, query: str) -> Iterator[None]:
    with refused("the database does not answer", "connect again"):
        asked = [connection.sql("SELECT txid_current()").fetchall() for _ in range(2)]
    if asked[0] == asked[1]:  # a transaction of the user's is open, and there can be no other
        require_no_change(query, [POSTGRESQL])
        _require_select(connection, query)
        yield
        return
    _require_select(connection, query)
    with _between("BEGIN TRANSACTION READ ONLY", ["ROLLBACK"], connection.sql):
        yield


def _require_select(connection: Any, query: str) -> None:
    """Refuse what duckdb itself does not call a SELECT: that is wider than the word."""
    with refused("the database refuses the query", "correct it"):
        statements = connection.extract_statements(query)
    if [statement.type.name for statement in statements] != ["SELECT"]:
        require_one_reading(query, [POSTGRESQL])
        require_no_change(query, [POSTGRESQL])
        raise that_begins_with(next(POSTGRESQL.code(query), None))


@contextmanager
def _postgresql(connection: Any, query: str) -> Iterator[None]:
    require_one_reading(query, [POSTGRESQL, POSTGRESQL_8])
    with refused("the database does not answer", "connect again"):
        cursor = connection.cursor()
        try:
            cursor.execute(f"SAVEPOINT {SAVEPOINT}")
            # What comes after it is taken back: that the transaction only reads, too.
            end = [f"ROLLBACK TO SAVEPOINT {SAVEPOINT}", f"RELEASE SAVEPOINT {SAVEPOINT}"]
        except Exception:  # there is no transaction yet
            cursor.execute("BEGIN")
            end = ["ROLLBACK"]
    with closing(cursor), _between("SET TRANSACTION READ ONLY", end, cursor.execute):
        yield


@contextmanager
def _between(first: str, last: Sequence[str], execute: Callable[[str], Any]) -> Iterator[None]:
    """Execute statements before and after a block; if it fails, its error is the one to be seen."""
    try:
        with refused("the database does not answer", "connect again"):
            execute(first)
        yield
    except BaseException:
        with suppress(Exception):
            for statement in last:
                execute(statement)
        raise
    with refused("the database does not answer", "connect again"):
        for statement in last:
            execute(statement)


_GUARDS: Mapping[str, Callable[[Any, str], AbstractContextManager[None]]] = {
    "duckdb": _duckdb,
    "postgresql": _postgresql,
    "sqlite": _sqlite,
}
