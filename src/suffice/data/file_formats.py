"""Formats of files, and the tables that read them."""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Sequence
from contextlib import suppress
from lzma import LZMAError
from pathlib import Path

from suffice.data.files.listing import NO_TABLE, CopiedTable, local_files, with_folders
from suffice.data.files.parquet import PARQUET
from suffice.data.files.parsed import ARFF, EXCEL, JSON, SAS, SPSS, STATA, workbooks
from suffice.data.files.stored import IPC_FILE, IPC_STREAM, StoredFormat, StoredTable
from suffice.data.table import Table
from suffice.data.text.records import unpacked_name, unpacking
from suffice.data.text.table import TextTable
from suffice.data.text_format import TextFormat
from suffice.data.version import no_content, readable
from suffice.errors import ParameterError, ReadError
from suffice.numerics.in_print import listed
from suffice.persist import is_no_table

# A file that is none of these is delimited text.
FORMATS = (PARQUET, IPC_FILE, IPC_STREAM, EXCEL, ARFF, JSON, STATA, SAS, SPSS)
_UNPACK = "unpack it, and give the file that is in it"
_EXPORT = "write its rows as Parquet or CSV with a program that reads it"
FOREIGN = (  # what is not read, by its first bytes, and what to do
    (
        rb"SQLite format 3\0",
        "a SQLite database",
        "read_sql('SELECT * FROM t', 'sqlite:///{}') reads its table t in Python; on a command "
        "line, sqlite3 -header -csv {} 'SELECT * FROM t' > t.csv",
    ),
    (
        rb".{8}DUCK.\0{7}",
        "a DuckDB database",
        "read_sql('SELECT * FROM t', 'duckdb:///{}') reads its table t in Python",
    ),
    (rb"\x93NUMPY", "a NumPy array", "give numpy.load('{}') itself to fit, or write it as CSV"),
    (
        rb"\x80[\x02-\x05][\x80-\x9f\xa0-\xffA-Za-z(\]})]",
        "a pickle",
        "a pickle can run any code when it is opened: if you trust it, "
        "pandas.read_pickle('{}').to_parquet('rows.parquet')",
    ),
    (rb"ORC.{0,99}?[\0-\x08]", "an ORC file", "give pyarrow.orc.read_table('{}') itself"),
    (
        rb"\x89HDF\r\n\x1a\n",
        "an HDF5 file",
        "give pandas.read_hdf('{}') itself, or write it as Parquet",
    ),
    (rb"MATLAB 5\.0 MAT-file", "a MATLAB file", "give an array of scipy.io.loadmat('{}') itself"),
    (
        rb"(?:RD[AX][23]|[XA])\n.{0,9}\0",
        "an R workspace",
        "write the table from R: write.csv(t, 't.csv')",
    ),
    (rb"Obj\x01", "an Avro file", _EXPORT),
    (rb"ASCII SPSS PORT", "a portable SPSS file", _EXPORT),
    (rb"%PDF-", "a PDF document", "copy its table into a spreadsheet, or write it as CSV"),
    (rb"\x89PNG|\xff\xd8\xff|GIF8[79]a", "an image", "a table holds numbers and text"),
    (
        rb"\s*<(?:!DOCTYPE html|html)",
        "a web page",
        "download the file itself, not the page that shows it",
    ),
    (rb"\s*<\?xml", "an XML file", "give pandas.read_xml('{}') itself, or write it as CSV"),
    (
        rb"version https://git-lfs",
        "the pointer of a file kept by Git LFS",
        "git lfs pull brings the file itself",
    ),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive", _UNPACK),
    (rb"Rar!\x1a\x07", "a RAR archive", _UNPACK),
    (rb".{257}ustar[\0 ]", "a tar archive", _UNPACK),
)
_KINDS = (
    "tables are read from delimited text, Parquet, Arrow, JSON, ARFF, workbooks, Stata, SAS and "
    "SPSS"
)
_BINARY = b"\0" * 6  # text has no run of so many in any encoding
BEGINNING = 1 << 16  # bytes: comments may come first


def open_files(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    format: TextFormat | None = None,
    remembered: TextFormat | None = None,
    sheet: str | int | None = None,
    label: str | None = None,
) -> Table:
    r"""Open a file, the files of a folder or glob, or a list of these, as one table.

    Folders and globs are expanded in sorted order; folders named ``column=value`` add that column,
    and what can be read only once, such as a pipe, is copied to a temporary file first
    (`suffice.data.files.listing`), as is what has an address, such as ``https://``. The first bytes
    tell the format; what no other describes is delimited text, written as `format` says, and for
    the rest as is `remembered`, but that a `label` keeps its spelling. Of a workbook, `sheet` is
    the name or the place from 1.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.tsv").write_text("x\ty\n1\tno\n")
    ...     open_files(folder + "/*.tsv").names
    ('x', 'y')
    """
    found, folders = local_files(path)
    stored = _format_of(found[0].path)
    for file in found[1:]:
        other = _format_of(file.path)
        if other != stored:
            kinds = ["CSV" if one is None else one.kind for one in (stored, other)]
            raise ReadError(
                f"{found[0].path.name} is {kinds[0]} and {file.path.name} is {kinds[1]}",
                "files of one table must have the same format",
                "read them apart",
            )
    if stored is not None and format is not None:
        raise ParameterError(
            f"format is given for {found[0].path.name}",
            f"its format, {stored.kind}, describes itself",
            "leave format out",
        )
    if sheet is not None:
        if stored != EXCEL:
            raise ParameterError(
                f"sheet is given for {found[0].path.name}",
                "only workbooks have sheets",
                "leave it out",
            )
        stored = workbooks(sheet)
    files = [file.path for file in found]
    if stored is None:
        table: Table = TextTable(files, format or TextFormat(), remembered, label)
    else:
        table = StoredTable.of(files, stored)
    whole = with_folders(table, found)
    return CopiedTable(whole, folders) if folders else whole


def _format_of(path: Path) -> StoredFormat | None:
    with readable(path), path.open("rb") as file:
        start = file.read(BEGINNING)
    if not start:
        raise no_content(path)
    if is_no_table(start):
        raise ReadError(f"{path.name} holds {NO_TABLE}", _KINDS, "leave it out")
    if start.startswith(b"PK\x03\x04"):
        return _of_archive(path)
    for one in FORMATS:
        if one.begins(start):
            return one
    _refuse_foreign(path, start)
    if unpack := unpacking(start, path):
        start = b""
        with suppress(OSError, EOFError, zlib.error, LZMAError), unpack(path) as packed:
            start = inside = packed.read(BEGINNING)
            if any(one.begins(inside) for one in FORMATS if one != JSON):
                inside = b""
            _refuse_foreign(path, inside)
    name = path.name.lower()
    plain = unpacked_name(name)
    found = next((one for one in FORMATS if Path(plain).suffix in one.suffixes), None)
    if name != plain and found is not None:
        raise ReadError(
            f"{name} is compressed {found.kind}",
            "only delimited text is read so",
            "decompress it",
        )
    if found is None and _BINARY in start:
        step = "check the path, or export its rows with the program that wrote it"
        raise ReadError(f"{path.name} is no text, but of a kind that is not known", _KINDS, step)
    return found


def _refuse_foreign(path: Path, start: bytes) -> None:
    for beginning, what, step in FOREIGN:
        if re.match(beginning, start, re.DOTALL | re.IGNORECASE):
            raise ReadError(
                f"{path.name} is {what}",
                _KINDS,
                step.replace("{}", path.name),
            )


def _of_archive(path: Path) -> StoredFormat:
    """Return the format of workbooks, which are zip archives; refuse other archives."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except zipfile.BadZipFile:
        return EXCEL  # which says what is wrong
    if any(name.startswith(("xl/", "content.xml")) for name in names):
        return EXCEL
    arrays = bool(names) and all(name.endswith(".npy") for name in names)
    raise ReadError(
        f"{path.name} is a zip archive{' of NumPy arrays' if arrays else ''}, of {listed(names)}",
        "a table is one file, or a list of files",
        f"give an array of numpy.load('{path.name}') itself" if arrays else f"unzip {path.name}",
    )
