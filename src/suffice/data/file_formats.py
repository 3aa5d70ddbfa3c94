"""Which format files have, and the table that reads it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suffice.data.csv.table import CsvFormat, CsvTable
from suffice.data.files.listing import list_files, with_folders
from suffice.data.files.parquet import PARQUET
from suffice.data.files.parsed import ARFF, EXCEL, JSON, with_sheet
from suffice.data.files.pipes import CopiedTable, with_copies, with_local_copies
from suffice.data.files.stored import IPC_FILE, IPC_STREAM, StoredFormat, StoredTable
from suffice.data.files.version import readable
from suffice.data.table import Table
from suffice.errors import ParameterError, ReadError

__all__ = ["open_files"]


@dataclass(frozen=True)
class Signature:
    """How a format is told: by the first bytes of a file, or else by the suffix of its name."""

    format: StoredFormat
    beginning: re.Pattern[bytes]
    suffixes: tuple[str, ...]


# A file that none of these describes is delimited text.
SIGNATURES = (
    Signature(PARQUET, re.compile(rb"PAR1"), (".parquet", ".pq")),
    Signature(IPC_FILE, re.compile(rb"ARROW1\0\0"), (".arrow", ".feather", ".ipc")),
    Signature(IPC_STREAM, re.compile(rb"\xff{4}.{2}\0\0", re.DOTALL), (".arrows",)),
    Signature(
        EXCEL,
        re.compile(rb"PK\x03\x04|\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    ),
    Signature(
        ARFF,
        re.compile(rb"(?:\xef\xbb\xbf)?(?:\s*%[^\n]*\n)*\s*@relation\s", re.IGNORECASE),
        (".arff",),
    ),
    Signature(
        JSON,
        re.compile(rb'(?:\xef\xbb\xbf)?\s*(?:\[\s*)?\{\s*"'),
        (".json", ".jsonl", ".ndjson"),
    ),
)
COMPRESSED = {b"\x28\xb5\x2f\xfd": "zstd", b"BZh": "bzip2", b"\xfd7zXZ": "xz"}
BEGINNING = 1 << 16  # bytes: comments may come first


def open_files(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    format: CsvFormat | None = None,
    remembered: CsvFormat | None = None,
    sheet: str | int | None = None,
) -> Table:
    r"""Open a file, the files of a folder or glob, or a list of these, as one table.

    Parameters
    ----------
    path : path or sequence of paths
        Folders and globs are expanded in sorted order; folders named ``column=value`` add that
        column, and what can be read only once, such as a pipe, is copied to a temporary file first
        (`suffice.data.files.pipes`). The first bytes tell the format: Parquet, Arrow IPC (file or
        stream), Excel or OpenDocument, ARFF, JSON (objects in lines, or an array of them); anything
        else is delimited text, plain or compressed by gzip. What has an address, such as
        ``https://``, is copied first, by fsspec.
    format : CsvFormat, optional
        How delimited text is written.
    remembered : CsvFormat, optional
        How it is written, as far as it is known, if the files are such text.
    sheet : str or int, optional
        Which sheet of workbooks, by its name or its place from 1.

    Returns
    -------
    Table

    Raises
    ------
    ReadError
        If there is no such file, or one cannot be read, or their formats are mixed.
    SchemaError
        If the columns of two files differ.
    ParameterError
        If `format` is given for files that are not delimited text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "a.tsv").write_text("x\ty\n1\tno\n")
    ...     open_files(folder + "/*.tsv").names
    ('x', 'y')
    """
    path, fetched = with_local_copies(path)
    listed, folders = with_copies(list_files(path))
    folders = (*fetched, *folders)
    stored = _common_format([file.path for file in listed])
    if stored is not None:
        _refuse_format(format, listed[0].path, stored.part.kind)
    if sheet is not None:
        if stored != EXCEL:
            raise ParameterError(
                f"sheet is given for {listed[0].path.name}",
                "only workbooks have sheets",
                "leave it out",
            )
        stored = with_sheet(sheet)
    files = [file.path for file in listed]
    table = CsvTable(files, format or remembered) if stored is None else StoredTable(files, stored)
    whole = with_folders(table, listed)
    return CopiedTable(whole, folders) if folders else whole


def _refuse_format(given: CsvFormat | None, file: Path, kind: str) -> None:
    """Refuse to be told how files are written that need no word about it."""
    if given is not None:
        raise ParameterError(
            f"format is given for {file.name}",
            f"its format, {kind}, describes itself",
            "leave format out",
        )


def _common_format(paths: Sequence[Path]) -> StoredFormat | None:
    """The format of all files, if it describes itself.

    Raises
    ------
    ReadError
        If they differ.
    """
    first = _format_of(paths[0])
    for path in paths[1:]:
        other = _format_of(path)
        if other != first:
            kinds = ["CSV" if format is None else format.part.kind for format in (first, other)]
            raise ReadError(
                f"{paths[0].name} is {kinds[0]} and {path.name} is {kinds[1]}",
                "files of one table must have the same format",
                "read them apart",
            )
    return first


def _format_of(path: Path) -> StoredFormat | None:
    with readable(path), path.open("rb") as file:
        start = file.read(BEGINNING)
    for one in SIGNATURES:
        if one.beginning.match(start):
            return one.format
    for mark, method in COMPRESSED.items():
        if start.startswith(mark):
            raise ReadError(
                f"{path.name} is compressed by {method}", "only gzip is read", "decompress it"
            )
    return _format_by_suffix(path.name.lower())


def _format_by_suffix(name: str) -> StoredFormat | None:
    """The format that a name promises."""
    suffix = Path(name.removesuffix(".gz")).suffix
    format = next((one.format for one in SIGNATURES if suffix in one.suffixes), None)
    if name.endswith(".gz") and format is not None:
        raise ReadError(
            f"{name} is compressed {format.part.kind}",
            "gzip is read for delimited text only",
            "decompress it",
        )
    return format
