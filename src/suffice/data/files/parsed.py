"""Files that are read whole: they cannot be cut into parts, and describe what their cells are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import cast

import pyarrow as pa

from suffice.data.files.stored import StoredFormat, StoredSplit
from suffice.data.files.version import FileVersion, version_of
from suffice.data.table import BATCH_ROWS

__all__ = ["ParsedSplit", "parsed_format"]


@dataclass(frozen=True)
class ParsedSplit(StoredSplit):
    """The rows of a file that is parsed whole, once in every process."""

    more: tuple[str, ...] = ()  # what else is to be known of the file, such as its sheet

    @staticmethod
    @abstractmethod
    def parse(path: Path, *more: str) -> pa.Table:
        """Read the file.

        Raises
        ------
        pyarrow.ArrowInvalid
            If it is not what its format demands.
        """

    def _stored(self) -> Iterator[pa.RecordBatch]:
        whole = _parsed(self.parse, self.path, self.version, self.more)
        yield from whole.select([name for name, _ in self.types]).to_batches(BATCH_ROWS)

    def _rows_before(self) -> int:
        return 0


@dataclass(frozen=True)
class ParsedFormat(StoredFormat):
    """A format whose files are parsed whole."""

    more: tuple[str, ...] = ()

    def read(self, path: Path) -> tuple[pa.Schema, list[StoredSplit]]:
        """Return the schema of a file, and its only part."""
        schema, parts = super().read(path)
        return schema, [replace(cast(ParsedSplit, part), more=self.more) for part in parts]


def parsed_format(split: type[ParsedSplit], *more: str) -> StoredFormat:
    """The format of files that a split parses, with what else is to be known of them."""

    def inspect(path: Path) -> tuple[pa.Schema, Sequence[int | None]]:
        whole = _parsed(split.parse, path, version_of(path), more)
        return whole.schema, [whole.num_rows]

    return ParsedFormat(split, inspect, more)


@lru_cache(maxsize=4)
def _parsed(
    parse: Callable[..., pa.Table], path: Path, version: FileVersion | None, more: tuple[str, ...]
) -> pa.Table:
    """The rows of one version of a file; those of a few files are kept for later passes."""
    return parse(path, *more).combine_chunks()
