"""JSON files: an object a line, or one array of objects; each object is a row."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.json as arrow_json

from suffice.data.files.parsed import ParsedSplit, parsed_format

__all__ = []


@dataclass(frozen=True)
class JsonSplit(ParsedSplit):
    """The rows of a JSON file."""

    kind = "JSON"

    @staticmethod
    def parse(path: Path, *more: str) -> pa.Table:
        """Read the file; a key that an object lacks is a missing cell."""
        with path.open("rb") as file:
            start = file.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()
        if start.startswith(b"["):
            return _array(path)
        # A row has to fit into a block.
        block = min(max(path.stat().st_size, 1 << 16), 1 << 30)
        return arrow_json.read_json(str(path), arrow_json.ReadOptions(block_size=block))


def _array(path: Path) -> pa.Table:
    try:
        rows = json.loads(path.read_bytes())
    except ValueError as error:
        raise pa.ArrowInvalid(str(error)) from error
    for number, row in enumerate(rows, start=1):
        if not isinstance(row, dict):
            raise pa.ArrowInvalid(f"item {number} of the array is no object")
    names = dict.fromkeys(name for row in rows for name in row)
    return pa.table({name: [row.get(name) for row in rows] for name in names})


JSON = parsed_format(JsonSplit)
