"""Rows that a query returns: asked for once, as a stream, and kept in temporary files."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.encode import stored_as
from suffice.data.python_rows import typed_batches
from suffice.data.spool import SpooledTable, first_line, spool, unbroken
from suffice.data.table import first_rows, require_distinct
from suffice.errors import ParameterError, ReadError, SchemaError, SufficeError

__all__ = ["read_sql"]

_ORIGIN = "the query"
_ROWS_FETCHED = 1 << 14
# What changes a database, after blanks and comments.
_CHANGE = re.compile(
    r"(?:\s|--[^\n]*\n|/\*.*?\*/)*"
    r"(alter|create|delete|drop|insert|merge|replace|truncate|update)\b",
    re.IGNORECASE | re.DOTALL,
)


def read_sql(query: str, connection: Any, parameters: Any = None) -> SpooledTable:
    """Read what a query returns, once, into a table that may be read as often as wanted.

    The rows come as a stream and are kept in temporary files (in ``TMPDIR``, removed when the
    table is no longer used), so that every pass of a fit sees the same rows, however many there
    are and whatever happens to the database meanwhile.

    Parameters
    ----------
    query : str
        In the language of the database. One that begins with INSERT, UPDATE or another word for a
        change is refused before anything happens.
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
        If the query is no string or would change the database, ``connection`` is neither a known
        address nor a connection, or a driver is not installed.
    ReadError
        If the database cannot be reached, refuses the query or breaks off, or a cell of an
        untyped database (SQLite) is of another kind than those above it.
    SchemaError
        If two columns share a name, or a type cannot be read.

    Notes
    -----
    Where the driver hands over Python objects, a column is what its cells are
    (`suffice.data.python_rows`). NUMERIC becomes the nearest double.

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
    _refuse_changes(query)
    if not isinstance(connection, str):
        return _answer(query, connection, parameters)
    with _refused(f"{_shown(connection)} cannot be opened", "check the address and the server"):
        opened = _open(connection)
    with closing(opened):
        return _answer(query, opened, parameters)


def _refuse_changes(query: Any) -> None:
    if not isinstance(query, str):
        raise ParameterError(f"query={query!r}", "a query is a string")
    change = _CHANGE.match(query)
    if change:
        raise ParameterError(
            f"the query begins with {change[1].upper()}",
            "rows are read, and nothing is changed",
            "use SELECT",
        )


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
    if type(connection).__module__.partition(".")[0] in ("duckdb", "_duckdb"):
        # A cursor of duckdb is a connection of its own, without registered frames.
        with _refused("the database refuses the query", "correct it"):
            relation = _required(connection.sql(query, params=parameters))
            reader = pa.RecordBatchReader.from_stream(relation)
        return _streamed(reader)
    if not hasattr(connection, "cursor"):
        raise ParameterError(
            f"connection={connection!r}",
            "a connection has a method cursor()",
            "pass an address, or what the driver's connect() returns",
        )
    with _refused("the database does not answer", "connect again"):
        cursor = connection.cursor()
    with closing(cursor):
        with _refused("the database refuses the query", "correct it"):
            cursor.execute(query, *(() if parameters is None else (parameters,)))
            _required(cursor.description)
        if hasattr(cursor, "fetch_record_batch"):
            return _streamed(cursor.fetch_record_batch())
        return _fetched(cursor)


def _required(answer: Any) -> Any:
    if answer is None:
        raise ReadError("the query returns no rows", "a table has columns", "use SELECT")
    return answer


def _streamed(reader: pa.RecordBatchReader) -> SpooledTable:
    """Keep the record batches of a stream."""
    require_distinct(reader.schema.names)
    nothing = _plain(first_rows([], reader.schema))
    return spool(map(_plain, unbroken(reader, _ORIGIN)), nothing.schema, _ORIGIN)


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


def _plain(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Replace the types that a database adds to Arrow's by what they are stored as."""
    columns = [
        _stored(name, column) if isinstance(column, pa.ExtensionArray) else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def _stored(name: str, column: pa.ExtensionArray[Any]) -> pa.Array[Any]:
    if getattr(column.type, "type_name", "") == "numeric":
        return pc.cast(column.storage, pa.float64())
    if stored_as(column.storage.type) is None:
        raise SchemaError(
            f"column {name!r} of the query holds {column.type}",
            "it arrives as bytes",
            f"cast it in the query: CAST({name} AS text)",
        )
    return column.storage


@contextmanager
def _refused(fact: str, next_step: str) -> Iterator[None]:
    """Turn whatever a driver raises into a ReadError; drivers share no class of errors."""
    try:
        yield
    except SufficeError:
        raise
    except Exception as error:
        raise ReadError(f"{fact}: {first_line(error)}", "", next_step) from error
