"""Files that are read whole: they cannot be cut into parts, and describe what their cells are."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import pyarrow as pa

from suffice.data.files.stored import StoredFormat, StoredSplit
from suffice.data.files.version import version_of
from suffice.data.table import BATCH_ROWS

__all__ = ["ParsedSplit", "parsed_format"]


@dataclass(frozen=True)
class ParsedSplit(StoredSplit):
    """The rows of a file that is parsed whole, once in every process."""

    @staticmethod
    @abstractmethod
    def parse(path: Path) -> pa.Table:
        """Read the file.

        Raises
        ------
        pyarrow.ArrowInvalid
            If it is not what its format demands.
        """

    def _stored(self) -> Iterator[pa.RecordBatch]:
        whole = _parsed(self.parse, self.path, self.version and self.version.lasting)
        yield from whole.select([name for name, _ in self.types]).to_batches(BATCH_ROWS)

    def _rows_before(self) -> int:
        return 0


def parsed_format(split: type[ParsedSplit]) -> StoredFormat:
    """The format of files that a split parses."""

    def inspect(path: Path) -> tuple[pa.Schema, Sequence[int | None]]:
        version = version_of(path)
        whole = _parsed(split.parse, path, version and version.lasting)
        return whole.schema, [whole.num_rows]

    return StoredFormat(split, inspect)


@lru_cache(maxsize=4)
def _parsed(parse: Callable[[Path], pa.Table], path: Path, version: object) -> pa.Table:
    """The rows of one version of a file; those of a few files are kept for later passes."""
    return parse(path).combine_chunks()
