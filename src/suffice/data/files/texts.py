"""Folders of texts, one folder for each class, as scikit-learn's ``load_files`` reads them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from suffice.data.files.listing import list_files
from suffice.data.files.version import readable
from suffice.data.split_size import SplitSize
from suffice.data.table import BATCH_ROWS, Table, first_rows, require_columns
from suffice.errors import ReadError

__all__ = ["TextFolders", "text_folders"]

SUFFIXES = ("", ".txt", ".text", ".eml", ".md")
FILES = 1_000  # in one split
SCHEMA = pa.schema({"text": pa.string(), "folder": pa.string()})


def text_folders(path: Any) -> TextFolders | None:
    """The table of a folder whose every file is a text in a folder of its class; else None.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as home:
    ...     for kind in ("ham", "spam"):
    ...         (Path(home) / kind).mkdir()
    ...         _ = (Path(home) / kind / "1.txt").write_text(f"some {kind}")
    ...     text_folders(home).head().to_pylist()
    [{'text': 'some ham', 'folder': 'ham'}, {'text': 'some spam', 'folder': 'spam'}]
    """
    if isinstance(path, list | tuple) and len(path) == 1:
        (path,) = path
    if not isinstance(path, str | Path) or not Path(path).is_dir():
        return None
    home = Path(path)
    inside = [entry for entry in home.iterdir() if not entry.name.startswith((".", "_"))]
    folders = [entry for entry in inside if entry.is_dir() and "=" not in entry.name]
    if len(folders) < 2 or len(folders) < len(inside):
        return None
    files = [file.path for file in list_files(path)]
    depth = len(home.absolute().parts) + 2
    if all(len(file.parts) == depth and file.suffix.lower() in SUFFIXES for file in files):
        return TextFolders(tuple(files))
    return None


@dataclass(frozen=True)
class TextFolders(Table):
    """Files of text, each a row; the folder of each is its class."""

    files: tuple[Path, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """``text`` and ``folder``."""
        return tuple(SCHEMA.names)

    @property
    def remarks(self) -> tuple[str, ...]:
        """What the columns are."""
        kinds = len({file.parent for file in self.files})
        return (
            f"{len(self.files)} texts in {kinds} folders: the columns are 'text', and 'folder' "
            "that says where each is",
        )

    @property
    def _head(self) -> pa.RecordBatch:
        splits = self.splits(dict.fromkeys(self.names))
        return first_rows(chain.from_iterable(s.record_batches() for s in splits), SCHEMA)

    def splits(self, types: Mapping[str, pa.DataType | None]) -> Sequence[TextSplit]:
        """Return one part for every thousand files."""
        require_columns(types, self.names, "the folder")
        starts = range(0, len(self.files), FILES)
        return [TextSplit(self.files[start : start + FILES], tuple(types)) for start in starts]


@dataclass(frozen=True)
class TextSplit:
    """Some of the files."""

    files: tuple[Path, ...]
    names: tuple[str, ...]

    def record_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the rows.

        Raises
        ------
        ReadError
            If a file cannot be read, or is no text in UTF-8.
        """
        for start in range(0, len(self.files), BATCH_ROWS):
            files = self.files[start : start + BATCH_ROWS]
            columns = {"folder": [file.parent.name for file in files]}
            if "text" in self.names:
                columns["text"] = list(map(_text, files))
            yield pa.RecordBatch.from_pydict(
                {name: pa.array(columns[name], pa.string()) for name in self.names}
            )

    def locate(self, row: int) -> str:
        """Name the file."""
        file = self.files[row]
        return f"{file.parent.name}/{file.name}"

    def split_size(self) -> SplitSize:
        """The files and their bytes."""
        return SplitSize(len(self.files), sum(file.stat().st_size for file in self.files))


def _text(file: Path) -> str:
    with readable(file):
        content = file.read_bytes()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{file.parent.name}/{file.name}: byte 0x{content[error.start]:02x} is not UTF-8",
            "a text is written in UTF-8",
            "write it again, or leave it out",
        ) from None
