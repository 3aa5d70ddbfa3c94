"""Rows that a query returns: asked for once, as a stream, and kept in temporary files."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.arrow_columns import stored_as
from suffice.data.databases.python_rows import typed_batches
from suffice.data.databases.query_text import no_rows
from suffice.data.databases.read_only import database_of, read_only, refused
from suffice.data.files.spool import SpooledTable, spool, unbroken
from suffice.data.python_numbers import is_rounded
from suffice.data.table import first_rows, require_distinct
from suffice.errors import ParameterError, ReadError, SchemaError
from suffice.statistics.block import HELD, HELD_RULE, HELD_STEP

__all__ = ["read_sql"]

_ORIGIN = "the query"
_ROWS_FETCHED = 1 << 14


def read_sql(query: str, connection: Any, parameters: Any = None) -> SpooledTable:
    """Read what a query returns, once, into a table that may be read as often as wanted.

    The rows come as a stream and are kept in temporary files (in ``TMPDIR``, removed when the
    table is no longer used), so that every pass of a fit sees the same rows, however many there
    are and whatever happens to the database meanwhile.

    Parameters
    ----------
    query : str
        One statement that returns rows, in the language of the database; one that would change
        anything is refused.
    connection : str or connection
        ``postgresql://user@host/database`` (needs ``suffice[adbc]``), ``sqlite:///file`` or
        ``duckdb:///file`` (needs ``suffice[duckdb]``), opened for reading and closed again; four
        slashes begin an absolute path. Or an open connection, which stays open: of ADBC, of
        duckdb, or of any other driver with DBAPI's ``cursor()``. Memory stays small if the
        driver streams its rows; those three and ``sqlite3`` do.
    parameters : sequence or mapping, optional
        Values for the places that the query leaves open, such as ``?``, as the driver has it.

    Returns
    -------
    Table
        To be given to `fit` or `predict`.

    Raises
    ------
    ParameterError
        If the query is no string, not one statement that returns rows, or would change the
        database; if ``connection`` is neither a known address nor a connection, or a driver is
        not installed.
    ReadError
        If the database cannot be reached, refuses the query or breaks off, or a cell of an
        untyped database (SQLite) is of another kind than those above it.
    SchemaError
        If two columns share a name, or a type cannot be read.

    Notes
    -----
    Nothing is changed, as far as the database can ensure it:

    - SQLite, by ``PRAGMA query_only`` as long as the query runs; a file named by its address is
      opened with ``mode=ro`` besides.
    - PostgreSQL (ADBC, psycopg, psycopg2, pg8000), by a read-only transaction that is rolled back.
      In a transaction of yours it is a savepoint that only reads, and is rolled back to: what you
      did before stays as it is.
    - duckdb, by a read-only transaction around what its parser finds to be one SELECT; a file
      named by its address is opened with ``read_only=True`` besides. In a transaction of yours
      there can be no other, so there a query that holds DELETE or another word of change is
      refused.
    - Any other database, by the text of the query alone: one statement, which begins with SELECT,
      WITH, VALUES, TABLE or FROM and holds no word of change outside strings, quoted names and
      comments.

    No database keeps functions from what they do elsewhere, such as writing a file, calling
    another server, or running Python; where only the text is looked at, nor from changing rows.
    Who must be sure connects as a user who may only read.

    Where the driver hands over Python objects, a column is what its cells are
    (`suffice.data.databases.python_rows`). NUMERIC becomes the nearest double; a whole number
    beyond 2^53 that no double is, is refused.

    Examples
    --------
    >>> import sqlite3
    >>> pets = sqlite3.connect(":memory:")
    >>> _ = pets.execute("CREATE TABLE pet (weight, kind)")
    >>> _ = pets.execute("INSERT INTO pet VALUES (NULL, 'cat'), (4, 'cat'), (7.5, 'dog')")
    >>> read_sql("SELECT * FROM pet", pets).head().to_pylist()[1:]
    [{'weight': 4.0, 'kind': 'cat'}, {'weight': 7.5, 'kind': 'dog'}]
    >>> read_sql("SELECT kind FROM pet WHERE weight > ?", pets, [5]).head().to_pylist()
    [{'kind': 'dog'}]
    >>> pets.close()
    """
    if not isinstance(query, str):
        raise ParameterError(f"query={query!r}", "a query is a string")
    if not isinstance(connection, str):
        return _answer(query, connection, parameters)
    with refused(f"{_shown(connection)} cannot be opened", "check the address and the server"):
        opened = _open(connection)
    with closing(opened):
        return _answer(query, opened, parameters)


# Addresses --------------------------------------------------------------------------------------


def _open(address: str) -> Any:
    scheme, separator, path = address.partition("://")
    if not separator or scheme not in _OPENERS:
        raise ParameterError(
            f"connection is {_shown(address)}",
            f"an address begins with {', '.join(f'{known}://' for known in _OPENERS)}",
            "or pass an open connection",
        )
    return _OPENERS[scheme](address, path.removeprefix("/"))


def _postgresql(address: str, _: str) -> Any:
    return _driver("adbc_driver_postgresql.dbapi", "adbc").connect(address)


def _sqlite(_: str, path: str) -> Any:
    # Opened for reading: SQLite would otherwise make an empty database of a mistyped name.
    return sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)


def _duckdb(_: str, path: str) -> Any:
    opened = _driver("duckdb", "duckdb").connect(path, read_only=True)
    opened.execute("SET enable_progress_bar = false")
    return opened


_OPENERS: Mapping[str, Callable[[str, str], Any]] = {
    "postgresql": _postgresql,
    "postgres": _postgresql,
    "sqlite": _sqlite,
    "duckdb": _duckdb,
}


def _driver(module: str, extra: str) -> Any:
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ParameterError(
            f"this address needs {error.name}",
            "it is not installed",
            f"pip install 'suffice[{extra}]'",
        ) from error


def _shown(address: str) -> str:
    """An address without what may hold a password."""
    scheme, separator, _ = address.partition("://")
    if scheme in ("sqlite", "duckdb"):
        return address
    return f"{scheme}://..." if separator else "a string without ://"


# Answers ----------------------------------------------------------------------------------------


def _answer(query: str, connection: Any, parameters: Any) -> SpooledTable:
    if not hasattr(connection, "cursor"):
        raise ParameterError(
            f"connection={connection!r}",
            "a connection has a method cursor()",
            "pass an address, or what the driver's connect() returns",
        )
    read = _by_relation if database_of(connection) == "duckdb" else _by_cursor
    with read_only(connection, query):
        return read(query, connection, parameters)


def _by_relation(query: str, connection: Any, parameters: Any) -> SpooledTable:
    """Ask duckdb, of which a cursor is a connection of its own, without registered frames."""
    with refused("the database refuses the query", "correct it"):
        relation = _required(connection.sql(query, params=parameters))
        reader = pa.RecordBatchReader.from_stream(relation)
    return _streamed(reader)


def _by_cursor(query: str, connection: Any, parameters: Any) -> SpooledTable:
    with refused("the database does not answer", "connect again"):
        cursor = connection.cursor()
    with closing(cursor):
        with refused("the database refuses the query", "correct it"):
            cursor.execute(query, *(() if parameters is None else (parameters,)))
            _required(cursor.description)
        if hasattr(cursor, "fetch_record_batch"):
            return _streamed(cursor.fetch_record_batch())
        return _fetched(cursor)


def _required(answer: Any) -> Any:
    if answer is None:
        raise no_rows()
    return answer


def _streamed(reader: pa.RecordBatchReader) -> SpooledTable:
    """Keep the record batches of a stream."""
    require_distinct(reader.schema.names)
    nothing = _plain(first_rows([], reader.schema))
    return spool(_all_plain(unbroken(reader, _ORIGIN)), nothing.schema, _ORIGIN)


def _all_plain(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        yield _plain(batch, done)
        done += batch.num_rows


def _fetched(cursor: Any) -> SpooledTable:
    """Keep the rows of a cursor."""
    names = [str(column[0]) for column in cursor.description]
    require_distinct(names)
    nothing = pa.schema([(name, pa.null()) for name in names])
    batches = typed_batches(names, _rows(cursor), _ORIGIN)
    return spool(unbroken(batches, _ORIGIN), nothing, _ORIGIN)


def _rows(cursor: Any) -> Iterator[Sequence[Sequence[Any]]]:
    if isinstance(cursor, sqlite3.Cursor):
        cursor.row_factory = None
    while rows := cursor.fetchmany(_ROWS_FETCHED):
        mappings = isinstance(rows[0], Mapping)
        yield [tuple(row.values()) for row in rows] if mappings else rows


def _plain(batch: pa.RecordBatch, done: int = 0) -> pa.RecordBatch:
    """Replace the types that a database adds to Arrow's by what they are stored as."""
    columns = [
        _stored(name, column, done) if isinstance(column, pa.ExtensionArray) else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _numeric(name: str, digits: pa.Array[Any], done: int) -> pa.Array[Any]:
    """NUMERIC of PostgreSQL, which arrives as text, as doubles."""
    numbers: pa.Array[Any] = pc.cast(digits, pa.float64())
    far = np.abs(numbers.to_numpy(zero_copy_only=False)) >= HELD
    for row in np.flatnonzero(far).tolist():
        if is_rounded(Decimal(digits[row].as_py())):
            where = f"row {done + row + 1} of {_ORIGIN}, column {name!r}: {digits[row]}"
            raise ReadError(where, HELD_RULE, HELD_STEP)
    return numbers


def _stored(name: str, column: pa.ExtensionArray[Any], done: int) -> pa.Array[Any]:
    if getattr(column.type, "type_name", "") == "numeric":
        return _numeric(name, column.storage, done)
    if stored_as(column.storage.type) is None:
        raise SchemaError(
            f"column {name!r} of the query holds {column.type}",
            "it arrives as bytes",
            f"cast it in the query: CAST({name} AS text)",
        )
    return column.storage
