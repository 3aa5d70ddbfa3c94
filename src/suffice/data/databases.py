"""Rows that a query returns: asked for once, as a stream, and kept in temporary files; or sums."""

from __future__ import annotations

import re
import reprlib
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext, suppress
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from suffice.data.files.spool import spool, unbroken
from suffice.data.files.stored import StoredPart, StoredTable
from suffice.data.files.temporary import TemporaryFolder
from suffice.data.python_cells import is_rounded
from suffice.data.schema import stored_as
from suffice.data.table import first_rows, require_distinct
from suffice.errors import (
    ParameterError,
    ReadError,
    SchemaError,
    SufficeError,
    first_line,
    library,
)
from suffice.sums.block import HELD, HELD_RULE, HELD_STEP

ORIGIN = "the query"
ROWS_FETCHED = 1 << 14
NUMBERS = {int, float, Decimal}
RULE = "rows are read, and nothing is changed"
DRIVERS = {  # of connections, by their modules: the database, as sqlglot calls it
    "duckdb": "duckdb",
    "_duckdb": "duckdb",
    "sqlite3": "sqlite",
    "pg8000": "postgres",
    "psycopg": "postgres",
    "psycopg2": "postgres",
    "MySQLdb": "mysql",
    "mysql": "mysql",
    "pymysql": "mysql",
    "oracledb": "oracle",
    "pymssql": "tsql",
    "pyodbc": "tsql",
    "snowflake": "snowflake",
}
SAVEPOINT = "suffice_reads"
# In this transaction, where PostgreSQL has it: hundreds of sums take it 10 s and more.
WITHOUT_JIT = "SELECT set_config(name, 'off', TRUE) FROM pg_settings WHERE name = 'jit'"
BEGINNING = re.compile(r"(?:\s|\(|--[^\n]*(?:\n|$)|/\*.*?\*/)*(\w*)", re.DOTALL)  # comments, a word


class Query(StoredTable):
    """The rows of a query, which are read once, when they are first needed; or sums over them."""

    text: str
    connection: Any
    parameters: Any
    where = ORIGIN
    index = ()

    def __init__(self, text: str, connection: Any, parameters: Any = None) -> None:
        vars(self).update(text=text, connection=connection, parameters=parameters)

    def __repr__(self) -> str:
        return f"read_sql({self.text!r})"

    @cached_property
    def rows(self) -> StoredTable:
        """The rows, kept in temporary files."""
        with self.asking() as (_, ask):
            return ask(self.text)

    @property
    def schema(self) -> pa.Schema:
        return self.rows.schema

    @property
    def kept(self) -> tuple[StoredPart, ...]:
        return self.rows.kept

    @property
    def folder(self) -> TemporaryFolder | None:
        return self.rows.folder

    @contextmanager
    def asking(self) -> Iterator[tuple[str, Callable[[str], StoredTable]]]:
        """Give the database, as sqlglot calls it, and a function that answers statements.

        They see the same rows where the database has transactions that do, and change nothing.
        """
        opened = self.connection
        if isinstance(opened, str):
            fact = f"{_shown(opened)} cannot be opened"
            with _refused(fact, "check the address and the server"):
                opened = _open(opened)
        with nullcontext() if opened is self.connection else closing(opened):
            if not hasattr(opened, "cursor"):
                raise ParameterError(
                    f"connection={opened!r}",
                    "a connection has a method cursor()",
                    "pass an address, or what the driver's connect() returns",
                )
            database = _database_of(opened)
            read = _by_relation if database == "duckdb" else _by_cursor
            guard = _GUARDS.get(database, partial(_by_text, dialect=database))
            with guard(opened, self.text):
                yield database, lambda sql: read(sql, opened, self.parameters)


def read_sql(query: str, connection: Any, parameters: Any = None) -> Query:
    """Read what a query returns, once, into a table that may be read as often as wanted.

    The rows come as a stream when they are first needed, and are kept in temporary files (in
    ``TMPDIR``, removed when the table is no longer used), so that every pass of a fit sees the same
    rows, however many there are and whatever happens to the database meanwhile. With
    ``where="database"`` the `sums` of an estimator are made where the rows are, and none is read.

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
        To be given to `fit`, `predict` or `sums`; a connection stays open until then. What is
        wrong with the query is said when its rows are asked for.

    Raises
    ------
    ParameterError
        If the query is no string, or would change the database; if ``connection`` is neither a
        known address nor a connection, or a library is not installed.
    ReadError
        If the database cannot be reached, refuses the query or breaks off, or a cell is of another
        kind than those above it, such as a date below numbers.
    SchemaError
        If two columns share a name, or a type cannot be read.

    Notes
    -----
    Nothing is changed, as far as the database can ensure it:

    - SQLite, by ``PRAGMA query_only`` while the query runs; of an address, by ``mode=ro`` besides.
    - PostgreSQL, by a read-only transaction that is rolled back, around what sqlglot finds to be
      one SELECT. In a transaction of yours it is a savepoint that only reads.
    - duckdb, by a read-only transaction around what its parser finds to be one SELECT; of an
      address, by ``read_only=True`` besides.
    - Elsewhere, and within a transaction of yours in duckdb, by the text of the query alone:
      sqlglot (``suffice[export]``) must find it to be one SELECT that changes nothing.

    No database keeps functions from what they do elsewhere, such as writing a file. Who must be
    sure connects as a user who may only read.

    Where the driver hands over Python objects, a column is what its cells are: numbers, text,
    truth values, times. Numbers among text, as SQLite allows, become text, which is then read as
    that of a text file. NUMERIC becomes the nearest double; a whole number beyond 2^53 that no
    double is, is refused.

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
    return Query(query, connection, parameters)


@contextmanager
def _refused(fact: str, next_step: str) -> Iterator[None]:
    """Turn whatever a driver raises into a ReadError; drivers share no class of errors."""
    try:
        yield
    except SufficeError:
        raise
    except Exception as error:
        raise ReadError(f"{fact}: {first_line(error)}", "", next_step) from error


_answering = partial(_refused, "the database does not answer", "connect again")


# Addresses --------------------------------------------------------------------------------------


def _open(address: str) -> Any:
    scheme, separator, path = address.partition("://")
    path, said = path.removeprefix("/"), f"connection is {_shown(address)}"
    match scheme if separator else "":
        case "postgresql" | "postgres":
            driver = library("adbc_driver_postgresql.dbapi", said, "pip install 'suffice[adbc]'")
            return driver.connect(address)
        case "sqlite":
            # Opened for reading: SQLite would otherwise make an empty database of a mistyped name.
            return sqlite3.connect(f"{Path(path).absolute().as_uri()}?mode=ro", uri=True)
        case "duckdb":
            driver = library("duckdb", said, "pip install 'suffice[duckdb]'")
            opened = driver.connect(path, read_only=True)
            opened.execute("SET enable_progress_bar = false")
            return opened
    raise ParameterError(
        said,
        "an address begins with postgresql://, postgres://, sqlite://, duckdb://",
        "or pass an open connection",
    )


def _shown(address: str) -> str:
    """An address without what may hold a password."""
    scheme, separator, _ = address.partition("://")
    if scheme in ("sqlite", "duckdb"):
        return address
    return f"{scheme}://..." if separator else "a string without ://"


# Reading only -----------------------------------------------------------------------------------


def _database_of(connection: Any) -> str:
    if hasattr(connection, "adbc_get_info"):
        with _answering():
            vendor = str(connection.adbc_get_info().get("vendor_name")).lower()
        return {"postgresql": "postgres"}.get(vendor, vendor)
    bases = (base.__module__.partition(".")[0] for base in type(connection).__mro__)
    return next((DRIVERS[base] for base in bases if base in DRIVERS), "")


@contextmanager
def _by_text(_: Any, query: str, dialect: str = "") -> Iterator[None]:
    said = "only the text of the query shows that it changes nothing"
    sqlglot = library("sqlglot", said, "pip install 'suffice[export]'")
    exp = sqlglot.exp
    known = sqlglot.Dialect.get(dialect) is not None
    with _refused("the query cannot be parsed", "correct it, or connect by ADBC"):
        found = sqlglot.parse(query, dialect=dialect if known else None)
    found = [one for one in found if not isinstance(one, exp.Semicolon | None)]
    if len(found) != 1:
        raise ParameterError(
            f"the query has {len(found)} statements",
            "a query is one statement",
            "leave the others out; give a string that holds a semicolon as a parameter",
        )
    changes = (exp.DML, exp.Create, exp.Command, exp.Into, exp.Lock)
    readings = (exp.Query, exp.Values)
    held = [] if isinstance(found[0], readings) else [found[0]]
    held += [one for one in found[0].walk() if isinstance(one, changes)]
    if held:
        raise ParameterError(f"the query holds {held[0].key.upper()}", RULE, "use SELECT")
    yield


@contextmanager
def _of_sqlite(connection: Any, query: str) -> Iterator[None]:
    begins = BEGINNING.match(query)
    if begins is None or begins[1].upper() not in ("SELECT", "WITH", "VALUES"):
        word = begins[1].upper() if begins else ""
        raise ParameterError(
            f"the query begins with {word}" if word else "the query is empty", RULE, "use SELECT"
        )
    # Not by an authorizer: one of the user's could not be put back, and full-text and other
    # virtual tables do more than read when they are opened.
    with _answering():
        cursor = connection.cursor()
        if isinstance(cursor, sqlite3.Cursor):
            cursor.row_factory = None
        cursor.execute("PRAGMA query_only")
        before = cursor.fetchone()[0]
    end = [f"PRAGMA query_only = {before}"]
    with (
        closing(cursor),
        _between("PRAGMA query_only = ON", end, cursor.execute),
        _between(f"SAVEPOINT {SAVEPOINT}", [f"RELEASE {SAVEPOINT}"], cursor.execute),
    ):
        yield


@contextmanager
def _of_duckdb(connection: Any, query: str) -> Iterator[None]:
    with _refused("the database refuses the query", "correct it"):
        kinds = [statement.type.name for statement in connection.extract_statements(query)]
    if kinds != ["SELECT"]:
        raise ParameterError(
            f"duckdb finds {' and '.join(kinds) or 'nothing'} in the query", RULE, "use one SELECT"
        )
    with _answering():
        asked = [connection.sql("SELECT txid_current()").fetchall() for _ in range(2)]
    if asked[0] == asked[1]:  # a transaction of the user's is open, and there can be no other
        with _by_text(connection, query, "duckdb"):
            yield
        return
    with _between("BEGIN TRANSACTION READ ONLY", ["ROLLBACK"], connection.sql):
        yield


@contextmanager
def _of_postgresql(connection: Any, query: str) -> Iterator[None]:
    # Such a transaction may export tables, and a second statement would end it.
    with (
        _by_text(connection, query, "postgres"),
        _answering(),
    ):
        cursor = connection.cursor()
        try:
            cursor.execute(f"SAVEPOINT {SAVEPOINT}")
            # What comes after it is taken back: that the transaction only reads, too.
            end = [f"ROLLBACK TO SAVEPOINT {SAVEPOINT}", f"RELEASE SAVEPOINT {SAVEPOINT}"]
        except Exception:  # there is no transaction yet
            cursor.execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            end = ["ROLLBACK"]
    with closing(cursor), _between("SET TRANSACTION READ ONLY", end, cursor.execute):
        with _answering():
            cursor.execute(WITHOUT_JIT)
        yield


@contextmanager
def _between(first: str, last: Sequence[str], execute: Callable[[str], Any]) -> Iterator[None]:
    """Execute statements before and after a block; if it fails, its error is the one to be seen."""
    try:
        with _answering():
            execute(first)
        yield
    except BaseException:
        with suppress(Exception):
            for statement in last:
                execute(statement)
        raise
    with _answering():
        for statement in last:
            execute(statement)


_GUARDS: Mapping[str, Callable[[Any, str], AbstractContextManager[None]]] = {
    "duckdb": _of_duckdb,
    "postgres": _of_postgresql,
    "sqlite": _of_sqlite,
}


# Answers ----------------------------------------------------------------------------------------


def _by_relation(query: str, connection: Any, parameters: Any) -> StoredTable:
    """Ask duckdb, of which a cursor is a connection of its own, without registered frames."""
    with _refused("the database refuses the query", "correct it"):
        relation = _required(connection.sql(query, params=parameters))
        reader = pa.RecordBatchReader.from_stream(relation)
    return _streamed(reader)


def _by_cursor(query: str, connection: Any, parameters: Any) -> StoredTable:
    with _answering():
        cursor = connection.cursor()
    with closing(cursor):
        with _refused("the database refuses the query", "correct it"):
            cursor.execute(query, *(() if parameters is None else (parameters,)))
            _required(cursor.description)
        if hasattr(cursor, "fetch_record_batch"):
            return _streamed(cursor.fetch_record_batch())
        names = [str(column[0]) for column in cursor.description]
        require_distinct(names)
        nothing = pa.schema([(name, pa.null()) for name in names])
        return spool(unbroken(_fetched(cursor, names), ORIGIN), nothing, ORIGIN)


def _required(answer: Any) -> Any:
    if answer is None:
        raise ReadError("the query returns no rows", "a table has columns", "use SELECT")
    return answer


# Rows of Python objects -------------------------------------------------------------------------


def _fetched(cursor: Any, names: Sequence[str]) -> Iterator[pa.RecordBatch]:
    if isinstance(cursor, sqlite3.Cursor):
        cursor.row_factory = None
    held = [pa.null()] * len(names)
    done = 0
    while rows := cursor.fetchmany(ROWS_FETCHED):
        if isinstance(rows[0], Mapping):
            rows = [tuple(row.values()) for row in rows]
        columns = []
        for j, (name, cells) in enumerate(zip(names, zip(*rows, strict=True), strict=True)):
            columns.append(_column(name, cells, done))
            held[j] = _joined(name, held[j], columns[-1], done)
        yield pa.RecordBatch.from_arrays(columns, names=list(names))
        done += len(rows)


def _column(name: str, cells: Sequence[Any], done: int) -> pa.Array[Any]:
    kinds = {type(cell) for cell in cells if cell is not None}
    if str in kinds and kinds <= {str, *NUMBERS}:
        return pa.array([None if cell is None else str(cell) for cell in cells], pa.string())
    if kinds <= NUMBERS and kinds - {int}:
        for row, cell in enumerate(cells):
            if type(cell) is not float and cell is not None and is_rounded(cell):
                raise ReadError(_where(name, cell, done + row), HELD_RULE, HELD_STEP)
        return pa.array([None if cell is None else float(cell) for cell in cells], pa.float64())
    try:
        return pa.array(cells)
    except (pa.ArrowException, OverflowError):
        known = [(row, cell) for row, cell in enumerate(cells) if cell is not None]
        row, cell = next((p for p in known if _is_other(p[1], known[0][1])), known[0])
        raise _misfit(name, cell, done + row) from None


def _is_other(cell: Any, first: Any) -> bool:
    return type(cell) is not type(first) or (type(cell) is int and not -(2**63) <= cell < 2**63)


def _joined(name: str, held: pa.DataType, column: pa.Array[Any], done: int) -> pa.DataType:
    numbers = {pa.int64(), pa.float64()}
    both = {held, column.type} - {pa.null()}
    if len(both) < 2:
        return both.pop() if both else pa.null()
    if both <= {*numbers, pa.string()}:
        return pa.string() if pa.string() in both else pa.float64()
    row = int(np.argmin(column.is_null().to_numpy(zero_copy_only=False)))
    raise _misfit(name, column[row].as_py(), done + row)


def _where(name: str, cell: Any, row: int) -> str:
    return f"row {row + 1} of {ORIGIN}, column {name!r}: {reprlib.repr(cell)}"


def _misfit(name: str, cell: Any, row: int) -> ReadError:
    return ReadError(
        f"{_where(name, cell, row)} does not fit the cells above it",
        "a column holds numbers, whole numbers of at most 64 bits, text, truth values or times",
        f"cast it in the query: CAST({name} AS ...)",
    )


# Streams of Arrow batches -----------------------------------------------------------------------


def _streamed(reader: pa.RecordBatchReader) -> StoredTable:
    require_distinct(reader.schema.names)
    nothing = _plain(first_rows([], reader.schema), 0)
    return spool(_all_plain(unbroken(reader, ORIGIN)), nothing.schema, ORIGIN)


def _all_plain(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    done = 0
    for batch in batches:
        yield _plain(batch, done)
        done += batch.num_rows


def _plain(batch: pa.RecordBatch, done: int) -> pa.RecordBatch:
    """Replace the types that a database adds to Arrow's by what they are stored as."""
    columns = [
        _stored(name, column, done) if isinstance(column, pa.ExtensionArray) else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


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


def _numeric(name: str, digits: pa.Array[Any], done: int) -> pa.Array[Any]:
    """NUMERIC of PostgreSQL, which arrives as text, as doubles."""
    numbers: pa.Array[Any] = pc.cast(digits, pa.float64())
    far = np.abs(numbers.to_numpy(zero_copy_only=False)) >= HELD
    for row in np.flatnonzero(far).tolist():
        if is_rounded(Decimal(digits[row].as_py())):
            where = f"row {done + row + 1} of {ORIGIN}, column {name!r}: {digits[row]}"
            raise ReadError(where, HELD_RULE, HELD_STEP)
    return numbers
