"""What reading a split takes of memory, and in batches of which size it fits a limit."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

__all__ = ["ENCODED", "STORED", "TEXT", "ReadMemory", "in_batches", "read_memory"]

# Bytes of a cell: 8 of a number or a place in a dictionary, and what allocators lose beside it.
STORED = 9  # as Arrow has it
ENCODED = 8  # in the block of a batch
TEXT = 9  # of a byte of text: as stored, as a string, and as the words that it has


class ReadMemory(NamedTuple):
    """Bytes that a reader of a split holds, and those of every row of a batch.

    ``text`` are those of a row's strings, as they are stored, beside what every cell takes.
    """

    held: int
    row: int
    text: int = 0


NOTHING = ReadMemory(0, 0)


@runtime_checkable
class Limitable(Protocol):
    """A split that can be read in smaller batches."""

    def read_memory(self) -> ReadMemory:
        """What it takes, as far as it is known without reading."""
        ...

    def in_batches(self, rows: int) -> Self:
        """The same in batches of so many rows at most."""
        ...


def read_memory(split: Any) -> ReadMemory:
    """Tell what reading a split takes; nothing where it is not known.

    Examples
    --------
    >>> from pathlib import Path
    >>> from suffice.data.files.parquet import ParquetSplit
    >>> from suffice.data.split_size import SplitSize
    >>> types = (("x", None), ("y", None))
    >>> read_memory(ParquetSplit(Path("a.parquet"), 0, types, size=SplitSize(1_000)))
    ReadMemory(held=16000, row=0, text=0)
    >>> read_memory("another kind")
    ReadMemory(held=0, row=0, text=0)
    """
    return split.read_memory() if isinstance(split, Limitable) else NOTHING


def in_batches(split: Any, rows: int) -> Any:
    """The same split in batches of so many rows at most, where its kind allows it."""
    return split.in_batches(rows) if isinstance(split, Limitable) else split
