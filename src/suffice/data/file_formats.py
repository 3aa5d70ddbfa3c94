"""Which format files have, and the table that reads it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from suffice.data.csv.table import CsvFormat, CsvTable
from suffice.data.files.hive import with_folders
from suffice.data.files.ipc import IPC_FILE, IPC_STREAM
from suffice.data.files.listing import list_files
from suffice.data.files.parquet import PARQUET
from suffice.data.files.pipes import CopiedTable, with_copies
from suffice.data.files.stored import StoredFormat, StoredTable
from suffice.data.table import Table
from suffice.errors import ParameterError, ReadError

__all__ = ["open_files"]

# Files with other suffixes are delimited text.
FORMATS = {
    ".parquet": PARQUET,
    ".pq": PARQUET,
    ".arrow": IPC_FILE,
    ".feather": IPC_FILE,
    ".ipc": IPC_FILE,
    ".arrows": IPC_STREAM,
}


def open_files(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    format: CsvFormat | None = None,
) -> Table:
    r"""Open a file, the files of a folder or glob, or a list of these, as one table.

    Parameters
    ----------
    path : path or sequence of paths
        Folders and globs are expanded in sorted order; folders named ``column=value`` add that
        column, and what can be read only once, such as a pipe, is copied to a temporary file first
        (`suffice.data.files.pipes`). The suffix tells the format: ``.parquet``, ``.pq``;
        ``.arrow``, ``.feather``, ``.ipc`` (IPC file); ``.arrows`` (IPC stream); anything else is
        delimited text, decompressed where ``.gz`` follows.
    format : CsvFormat, optional
        How delimited text is written.

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
    listed = list_files(path)
    stored = _common_format([file.path for file in listed])
    if stored is not None and format is not None:
        raise ParameterError(
            f"format is given for {listed[0].path.name}",
            f"its format, {stored.split.kind}, describes itself",
            "leave format out",
        )
    listed, folders = with_copies(listed)
    files = [file.path for file in listed]
    table = CsvTable(files, format) if stored is None else StoredTable(files, stored)
    whole = with_folders(table, listed)
    return CopiedTable(whole, folders) if folders else whole


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
            kinds = ["CSV" if format is None else format.split.kind for format in (first, other)]
            raise ReadError(
                f"{paths[0].name} is {kinds[0]} and {path.name} is {kinds[1]}",
                "files of one table must have the same format",
                "read them apart",
            )
    return first


def _format_of(path: Path) -> StoredFormat | None:
    name = path.name.lower()
    format = FORMATS.get(Path(name.removesuffix(".gz")).suffix)
    if name.endswith(".gz") and format is not None:
        raise ReadError(
            f"{path.name} is compressed {format.split.kind}",
            "gzip is read for delimited text only",
            "decompress it",
        )
    return format
